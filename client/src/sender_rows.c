/* Rows in. Each call checks that the sender is usable and hands the value to the batch;
 * the end of a row looks at the auto-flush triggers. */
#include <stdio.h>
#include <string.h>

#include "encode/message.h"
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

/* A text that no message could carry must not get an id: ids go out in their order, so all
 * that come later would wait for it. The least message for it is its entry alone. */
static bool symbol_fits(const qwp_sender *s, const char *column, const char *v, size_t n, struct qwp_error *err) {
  size_t id = qwp_symbols_count(s->symbols);
  size_t least = qwp_message_bytes(s->symbols, id, id, 0) + qwp_varint_size(n) + n;
  if (n > QWP_SYMBOL_BYTES_MAX || least <= qwp_sender_message_max(s)) return true; /* the former the batch refuses */
  if (qwp_symbols_known(s->symbols, v, n)) return true;
  qwp_sender_too_large(s, least, "the symbol makes a message of", "it is not taken", err);
  if (err) snprintf(err->key, sizeof err->key, "%s", column);
  return false;
}

bool qwp_symbol_n(qwp_sender *s, const char *column, const char *v, size_t n, struct qwp_error *err) {
  if (!qwp_sender_usable(s, err) || !symbol_fits(s, column, v, n, err)) return false;
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

void qwp_cancel_row(qwp_sender *s) {
  qwp_batch_cancel(s->batch);
  qwp_sender_show_pending(s);
}

/* ---- the end of a row ------------------------------------------------------------------- */

static int64_t row_clock(qwp_sender *s) {
  qwp_count_add(&s->row_clock_reads, 1);
  return qwp_sender_now(s);
}

static bool rows_due(const qwp_sender *s, size_t pending_rows) {
  int64_t limit = s->config.auto_flush_rows;
  return limit != QWP_CONFIG_OFF && pending_rows >= (uint64_t)limit;
}

/* The byte trigger; 0 = none. Unset it is 90 % of the server's cap, and never more: the rest is
 * for header, dictionary and the row that reaches it (P108-30). The cap is that of the newest
 * connection [CAP-005]; while none is known nothing is clamped, and unset is off (P108-32). */
static int64_t byte_limit(const struct qwp_sender *s) {
  int64_t limit = s->config.auto_flush_bytes, cap = qwp_loop_cap(s->loop);
  if (limit == QWP_CONFIG_OFF) return 0; /* stays off [CAP-003] */
  if (cap <= 0) return limit;
  int64_t most = cap / 10 * 9 + cap % 10 * 9 / 10;
  return limit == 0 || limit > most ? most : limit;
}

static bool bytes_due(const struct qwp_sender *s) {
  int64_t limit = byte_limit(s);
  return limit > 0 && qwp_count_get(&s->pending_bytes) >= limit;
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

/* ---- the size of a row ------------------------------------------------------------------ */

/* Size of the message with the open row and `blocks` bytes of tables, whose delta begins where
 * `told` symbols are known to the server. */
static size_t size_with_row(const struct qwp_sender *s, size_t told, size_t blocks) {
  size_t start = s->dense_dictionary ? 0 : told;
  size_t end = qwp_batch_ids_end_with_row(s->batch);
  return qwp_message_bytes(s->symbols, start, end > start ? end : start, blocks);
}

/* The same for a message of the open row alone, the rows before it sent. */
static size_t size_of_row(const struct qwp_sender *s) {
  size_t sent = qwp_symbols_sent(s->symbols), ids_end = qwp_batch_ids_end(s->batch);
  return size_with_row(s, ids_end > sent ? ids_end : sent, qwp_batch_bytes_of_row(s->batch));
}

/* Whether the sender decides what goes into a message. With all triggers off, or
 * auto_flush_bytes=off, the application does [CAP-003]. */
static bool splits_by_itself(const struct qwp_sender *s) {
  const struct qwp_config *c = &s->config;
  if (c->auto_flush_bytes == QWP_CONFIG_OFF) return false;
  return byte_limit(s) > 0 || c->auto_flush_rows != QWP_CONFIG_OFF || c->auto_flush_interval_ms != QWP_CONFIG_OFF;
}

/* The stamped row would not fit with the rows before it: they go first. If it would not even
 * fit alone it is taken back, they are kept [CAP-006]. */
static bool make_room(struct qwp_sender *s, size_t most, struct qwp_error *err) {
  size_t alone = size_of_row(s);
  if (alone > most) {
    qwp_cancel_row(s);
    qwp_sender_too_large(s, alone, "the row makes a message of", "it is taken back, earlier rows are kept", err);
    return false;
  }
  if (qwp_batch_rows(s->batch) == 0 || !splits_by_itself(s)) return true;
  return qwp_sender_publish(s, QWP_APPEND_DEADLINE, NULL, err);
}

static bool end_row(qwp_sender *s, unsigned type, int64_t v, struct qwp_error *err) {
  if (!qwp_sender_usable(s, err)) return false;
  if (qwp_batch_stamp(s->batch, type, v, err) != QWP_OK) return false;
  size_t most = qwp_sender_message_max(s);
  size_t blocks = qwp_batch_bytes_with_row(s->batch);
  if (size_with_row(s, qwp_symbols_sent(s->symbols), blocks) > most) {
    if (!make_room(s, most, err)) return false;
    blocks = qwp_batch_bytes_with_row(s->batch);
  }
  qwp_batch_end_row(s->batch);
  qwp_count_add(&s->rows, 1);
  qwp_count_set(&s->pending_rows, (int64_t)qwp_batch_rows(s->batch));
  qwp_count_set(&s->pending_bytes, (int64_t)blocks);
  return !flush_due(s) || qwp_sender_publish(s, QWP_APPEND_DEADLINE, NULL, err);
}

bool qwp_at_us(qwp_sender *s, int64_t us, struct qwp_error *err) { return end_row(s, QWP_TYPE_TIMESTAMP, us, err); }

bool qwp_at_ns(qwp_sender *s, int64_t ns, struct qwp_error *err) {
  return end_row(s, QWP_TYPE_TIMESTAMP_NANOS, ns, err);
}

bool qwp_at_now(qwp_sender *s, struct qwp_error *err) { return end_row(s, 0, 0, err); }
