#include "client/put_row.h"

#include "qwp/wire.h"

static bool set_column(qwp_sender *s, const struct workload_value *v, struct qwp_error *err) {
  static const unsigned types[] = {
      [WORKLOAD_BOOL] = QWP_TYPE_BOOLEAN,   [WORKLOAD_LONG] = QWP_TYPE_LONG,       [WORKLOAD_DOUBLE] = QWP_TYPE_DOUBLE,
      [WORKLOAD_SYMBOL] = QWP_TYPE_SYMBOL,  [WORKLOAD_VARCHAR] = QWP_TYPE_VARCHAR, [WORKLOAD_TS_US] = QWP_TYPE_TIMESTAMP,
      [WORKLOAD_TS_NS] = QWP_TYPE_TIMESTAMP_NANOS,
  };
  if (v->null) return qwp_null(s, v->column, types[v->type], err);
  switch (v->type) {
    case WORKLOAD_BOOL: return qwp_bool(s, v->column, v->b, err);
    case WORKLOAD_LONG: return qwp_long(s, v->column, v->i, err);
    case WORKLOAD_DOUBLE: return qwp_double(s, v->column, v->d, err);
    case WORKLOAD_SYMBOL: return qwp_symbol_n(s, v->column, v->text, v->text_n, err);
    case WORKLOAD_VARCHAR: return qwp_varchar_n(s, v->column, v->text, v->text_n, err);
    case WORKLOAD_TS_US: return qwp_timestamp_us(s, v->column, v->i, err);
    case WORKLOAD_TS_NS: return qwp_timestamp_ns(s, v->column, v->i, err);
  }
  return false;
}

static bool end_row(qwp_sender *s, const struct workload_value *designated, struct qwp_error *err) {
  if (!designated) return qwp_at_now(s, err);
  return designated->type == WORKLOAD_TS_US ? qwp_at_us(s, designated->i, err) : qwp_at_ns(s, designated->i, err);
}

bool put_row(qwp_sender *s, const struct workload *w, int64_t k, char *scratch, size_t scratch_n,
             struct qwp_error *err) {
  const char *table;
  struct workload_value values[WORKLOAD_MAX_COLUMNS];
  size_t n = workload_row(w, k, &table, values, scratch, scratch_n);
  if (!qwp_table(s, table, err)) return false;
  const struct workload_value *designated = NULL;
  for (size_t i = 0; i < n; i++) {
    if (values[i].column[0] == '\0') {
      designated = &values[i];
    } else if (!set_column(s, &values[i], err)) {
      qwp_cancel_row(s);
      return false;
    }
  }
  if (end_row(s, designated, err)) return true;
  qwp_cancel_row(s); /* it may have been left open; a finished one stays */
  return false;
}
