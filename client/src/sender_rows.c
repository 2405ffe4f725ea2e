/* Rows in. Each call checks that the sender is usable and hands the value to the batch;
 * the end of a row looks at the auto-flush triggers. */
#include <string.h>

#include "qwp/wire.h"
#include "sender_impl.h"

bool qwp_table_n(qwp_sender *s, const char *name, size_t n, struct qwp_error *err) {
  return qwp_sender_usable(s, err) && qwp_batch_table(s->batch, name, n, err) == QWP_OK;
}

bool qwp_table(qwp_sender *s, const char *name, struct qwp_error *err) {
  return qwp_table_n(s, name, strlen(name), err);
}

bool qwp_bool(qwp_sender *s, const char *column, bool v, struct qwp_error *err) {
  return qwp_sender_usable(s, err) && qwp_batch_bool(s->batch, column, strlen(column), v, err) == QWP_OK;
}

bool qwp_long(qwp_sender *s, const char *column, int64_t v, struct qwp_error *err) {
  return qwp_sender_usable(s, err) && qwp_batch_long(s->batch, column, strlen(column), v, err) == QWP_OK;
}

bool qwp_double(qwp_sender *s, const char *column, double v, struct qwp_error *err) {
  return qwp_sender_usable(s, err) && qwp_batch_double(s->batch, column, strlen(column), v, err) == QWP_OK;
}

bool qwp_symbol_n(qwp_sender *s, const char *column, const char *v, size_t n, struct qwp_error *err) {
  if (!qwp_sender_usable(s, err)) return false;
  if (qwp_batch_symbol(s->batch, column, strlen(column), v, n, err) != QWP_OK) return false;
  qwp_count_set(&s->symbol_count, (int64_t)qwp_symbols_count(s->symbols));
  return true;
}

bool qwp_symbol(qwp_sender *s, const char *column, const char *v, struct qwp_error *err) {
  return qwp_symbol_n(s, column, v, strlen(v), err);
}

bool qwp_varchar_n(qwp_sender *s, const char *column, const char *v, size_t n, struct qwp_error *err) {
  return qwp_sender_usable(s, err) && qwp_batch_varchar(s->batch, column, strlen(column), v, n, err) == QWP_OK;
}

bool qwp_varchar(qwp_sender *s, const char *column, const char *v, struct qwp_error *err) {
  return qwp_varchar_n(s, column, v, strlen(v), err);
}

static bool timestamp(qwp_sender *s, const char *column, unsigned type, int64_t v, struct qwp_error *err) {
  return qwp_sender_usable(s, err) &&
         qwp_batch_timestamp(s->batch, column, strlen(column), type, v, err) == QWP_OK;
}

bool qwp_timestamp_us(qwp_sender *s, const char *column, int64_t us, struct qwp_error *err) {
  return timestamp(s, column, QWP_TYPE_TIMESTAMP, us, err);
}

bool qwp_timestamp_ns(qwp_sender *s, const char *column, int64_t ns, struct qwp_error *err) {
  return timestamp(s, column, QWP_TYPE_TIMESTAMP_NANOS, ns, err);
}

bool qwp_null(qwp_sender *s, const char *column, unsigned type, struct qwp_error *err) {
  return qwp_sender_usable(s, err) && qwp_batch_null(s->batch, column, strlen(column), type, err) == QWP_OK;
}

void qwp_cancel_row(qwp_sender *s) { qwp_batch_cancel(s->batch); }

/* ---- the end of a row ------------------------------------------------------------------- */

static int64_t row_clock(qwp_sender *s) {
  qwp_count_add(&s->row_clock_reads, 1);
  return qwp_sender_now(s);
}

static bool rows_due(const qwp_sender *s, size_t pending_rows) {
  int64_t limit = s->config.auto_flush_rows;
  return limit != QWP_CONFIG_OFF && pending_rows >= (uint64_t)limit;
}

/* Only a size that was set is a trigger; the server's cap bounds it to 90 % [CAP-002]. */
static bool bytes_due(const qwp_sender *s) {
  int64_t limit = s->config.auto_flush_bytes;
  if (limit <= 0) return false;
  int64_t cap = qwp_loop_cap(s->loop);
  if (cap > 0 && limit > cap / 10 * 9) limit = cap / 10 * 9;
  return qwp_batch_bytes(s->batch) >= (uint64_t)limit;
}

/* Age is looked at on the next row, there is no timer (P121-38). The row that was just
 * stamped is not asked for its age, it is zero (P121-35); without an interval no clock is
 * read at all (P121-36). */
static bool interval_due(qwp_sender *s, size_t pending_rows) {
  if (s->config.auto_flush_interval_ms == QWP_CONFIG_OFF) return false;
  if (pending_rows == 1) s->first_row_ns = row_clock(s);
  return pending_rows > 1 && row_clock(s) - s->first_row_ns >= qwp_config_ns(s->config.auto_flush_interval_ms);
}

static bool flush_due(qwp_sender *s) {
  size_t pending_rows = qwp_batch_rows(s->batch);
  return rows_due(s, pending_rows) || bytes_due(s) || interval_due(s, pending_rows);
}

static bool end_row(qwp_sender *s, unsigned type, int64_t v, struct qwp_error *err) {
  if (!qwp_sender_usable(s, err)) return false;
  if (qwp_batch_at(s->batch, type, v, err) != QWP_OK) return false;
  qwp_count_add(&s->rows, 1);
  if (flush_due(s)) return qwp_sender_publish(s, QWP_APPEND_DEADLINE, NULL, err);
  qwp_sender_show_pending(s);
  return true;
}

bool qwp_at_us(qwp_sender *s, int64_t us, struct qwp_error *err) { return end_row(s, QWP_TYPE_TIMESTAMP, us, err); }

bool qwp_at_ns(qwp_sender *s, int64_t ns, struct qwp_error *err) {
  return end_row(s, QWP_TYPE_TIMESTAMP_NANOS, ns, err);
}

bool qwp_at_now(qwp_sender *s, struct qwp_error *err) { return end_row(s, 0, 0, err); }
