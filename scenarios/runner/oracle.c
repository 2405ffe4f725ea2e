#include "runner/oracle.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qwp/wire.h"

#define MAX_MOCK_COLUMNS 64

struct oracle {
  const struct scn_scenario *scenario;
  const struct facts *facts;
  const struct mock_tables *tables;
  int64_t given;      /* rows the sender got */
  unsigned char *seen;
  char *scratch;
  size_t scratch_n;
  bool doubled;
  int64_t first_double;
  char *why;
  size_t why_n;
};

static bool wrong(struct oracle *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool wrong(struct oracle *o, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  vsnprintf(o->why, o->why_n, fmt, args);
  va_end(args);
  return false;
}

/* The publish step that row k came from: the client says where each began. */
static const struct workload *work_of(const struct oracle *o, int64_t k) {
  const struct workload *found = NULL;
  int n = 0;
  for (size_t i = 0; i < o->scenario->step_count; i++) {
    const struct scn_step *s = &o->scenario->steps[i];
    if (s->kind != SCN_PUBLISH) continue;
    char name[40];
    snprintf(name, sizeof name, "client.first_row[%d]", ++n);
    int64_t first = facts_get(o->facts, name, INT64_MAX);
    if (first <= k) found = &s->work;
  }
  return found;
}

/* ---- one row ---- */

struct arrived {
  int64_t k;      /* the number it carries */
  int connection; /* where it came from */
  int64_t wire_seq;
};

static bool same_text(const struct mock_value *v, const struct workload_value *w) {
  return v->as.text.n == w->text_n && memcmp(v->as.text.p, w->text, w->text_n) == 0;
}

static bool same_double(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* BOOLEAN has no null on the wire: it is written as false [WIRE-NULL-012]. */
static bool null_holds(const struct mock_value *v, const struct workload_value *w) {
  return w->type == WORKLOAD_BOOL ? !v->null && !v->as.b : v->null;
}

static const uint8_t wire_type[] = {
    [WORKLOAD_BOOL] = QWP_TYPE_BOOLEAN,   [WORKLOAD_LONG] = QWP_TYPE_LONG,       [WORKLOAD_DOUBLE] = QWP_TYPE_DOUBLE,
    [WORKLOAD_SYMBOL] = QWP_TYPE_SYMBOL,  [WORKLOAD_VARCHAR] = QWP_TYPE_VARCHAR, [WORKLOAD_TS_US] = QWP_TYPE_TIMESTAMP,
    [WORKLOAD_TS_NS] = QWP_TYPE_TIMESTAMP_NANOS,
};

static bool value_holds(const struct mock_value *v, const struct workload_value *w) {
  if (v->type != wire_type[w->type]) return false;
  if (w->null) return null_holds(v, w);
  if (v->null) return false;
  switch (w->type) {
    case WORKLOAD_BOOL: return v->as.b == w->b;
    case WORKLOAD_DOUBLE: return same_double(v->as.d, w->d);
    case WORKLOAD_SYMBOL:
    case WORKLOAD_VARCHAR: return same_text(v, w);
    case WORKLOAD_LONG:
    case WORKLOAD_TS_US:
    case WORKLOAD_TS_NS: return v->as.i == w->i;
  }
  return false;
}

static void show_text(const char *p, size_t n, char *out, size_t cap) {
  snprintf(out, cap, "\"%.*s\"%s", (int)(n < 40 ? n : 40), p, n > 40 ? "..." : "");
}

static void show_expected(const struct workload_value *w, char *out, size_t n) {
  if (w->null && w->type != WORKLOAD_BOOL)
    snprintf(out, n, "null");
  else if (w->type == WORKLOAD_SYMBOL || w->type == WORKLOAD_VARCHAR)
    show_text(w->text, w->text_n, out, n);
  else if (w->type == WORKLOAD_DOUBLE)
    snprintf(out, n, "%.17g", w->d);
  else if (w->type == WORKLOAD_BOOL)
    snprintf(out, n, "%s", w->b && !w->null ? "true" : "false");
  else
    snprintf(out, n, "%" PRId64, w->i);
}

static void show_value(const struct mock_value *v, char *out, size_t n) {
  if (v->null)
    snprintf(out, n, "null");
  else if (v->type == QWP_TYPE_SYMBOL || v->type == QWP_TYPE_VARCHAR)
    show_text(v->as.text.p, v->as.text.n, out, n);
  else if (v->type == QWP_TYPE_DOUBLE)
    snprintf(out, n, "%.17g", v->as.d);
  else if (v->type == QWP_TYPE_BOOLEAN)
    snprintf(out, n, "%s", v->as.b ? "true" : "false");
  else
    snprintf(out, n, "%" PRId64, v->as.i);
}

/* The designated column has no name on the wire and the name `timestamp` in a table. */
static bool is_column(const char *mock_name, const char *wanted) {
  if (*wanted) return strcmp(mock_name, wanted) == 0;
  return *mock_name == '\0' || strcmp(mock_name, "timestamp") == 0;
}

/* The server stamps a row that came without a designated timestamp, by its own clock; a time among those of the
 * workload is no stamp, it was sent. */
static bool is_server_stamp(const struct oracle *o, const char *name, const struct mock_value *v) {
  if (!is_column(name, "")) return false;
  int64_t first = v->type == QWP_TYPE_TIMESTAMP ? WORKLOAD_T_NS / 1000 : WORKLOAD_T_NS;
  return v->as.i < first || v->as.i > first + 1000 * o->given;
}

/* A column of the table that the row's rule does not name belongs to other rows: this one has no value there. A BOOLEAN
 * that a message has for other rows of it is false [WIRE-NULL-012]. */
static bool no_other_value(struct oracle *o, size_t table, const struct arrived *a, const struct mock_value *values,
                           const struct workload_value *expected, size_t n) {
  size_t columns = mock_table_columns(o->tables, table);
  for (size_t c = 0; c < columns; c++) {
    const char *name = mock_table_column(o->tables, table, c, NULL);
    size_t i = 0;
    while (i < n && !is_column(name, expected[i].column)) i++;
    if (i < n || values[c].null || (values[c].type == QWP_TYPE_BOOLEAN && !values[c].as.b)) continue;
    if (is_server_stamp(o, name, &values[c])) continue;
    char seen[64];
    show_value(&values[c], seen, sizeof seen);
    return wrong(o, "row %" PRId64 " of table %s (connection %d, wireSeq %" PRId64 "): column \"%s\" is %s, and the row "
                 "has no such column", a->k, mock_table_name(o->tables, table), a->connection, a->wire_seq, name, seen);
  }
  return true;
}

/* "row 97 of table types (connection 1, wireSeq 3): column "l" is 5, expected 7"; types too where they differ. */
static bool wrong_value(struct oracle *o, const struct arrived *a, const char *table, const struct mock_value *v,
                        const struct workload_value *w) {
  char seen[64], wanted[64], types[40] = "";
  show_value(v, seen, sizeof seen);
  show_expected(w, wanted, sizeof wanted);
  if (v->type != wire_type[w->type])
    snprintf(types, sizeof types, " (type 0x%02x, expected 0x%02x)", (unsigned)v->type, (unsigned)wire_type[w->type]);
  return wrong(o, "row %" PRId64 " of table %s (connection %d, wireSeq %" PRId64 "): column \"%s\" is %s, expected %s%s",
               a->k, table, a->connection, a->wire_seq, w->column, seen, wanted, types);
}

static bool row_holds(struct oracle *o, size_t table, const struct arrived *a, const struct mock_value *values) {
  const int64_t k = a->k;
  const struct workload *work = work_of(o, k);
  if (!work) return wrong(o, "row %" PRId64 " was never given to the sender", k);
  const char *table_name;
  struct workload_value expected[WORKLOAD_MAX_COLUMNS];
  size_t n = workload_row(work, k, &table_name, expected, o->scratch, o->scratch_n);
  const char *stands_in = mock_table_name(o->tables, table);
  if (strcmp(table_name, stands_in) != 0)
    return wrong(o, "row %" PRId64 " stands in table %s, not in %s", k, stands_in, table_name);
  size_t columns = mock_table_columns(o->tables, table);
  for (size_t i = 0; i < n; i++) {
    size_t c = 0;
    while (c < columns && !is_column(mock_table_column(o->tables, table, c, NULL), expected[i].column)) c++;
    if (c == columns && expected[i].null) continue; /* a column that has only nulls may be left out */
    if (c == columns) return wrong(o, "table %s has no column \"%s\"", table_name, expected[i].column);
    if (value_holds(&values[c], &expected[i])) continue;
    return wrong_value(o, a, table_name, &values[c], &expected[i]);
  }
  return no_other_value(o, table, a, values, expected, n);
}

/* ---- all rows ---- */

static size_t id_column(const struct mock_tables *t, size_t table) {
  size_t columns = mock_table_columns(t, table);
  for (size_t c = 0; c < columns; c++)
    if (strcmp(mock_table_column(t, table, c, NULL), "id") == 0) return c;
  for (size_t c = 0; c < columns; c++)
    if (strcmp(mock_table_column(t, table, c, NULL), "i") == 0) return c;
  return columns;
}

static bool table_holds(struct oracle *o, size_t table) {
  size_t columns = mock_table_columns(o->tables, table), id = id_column(o->tables, table);
  const char *name = mock_table_name(o->tables, table);
  if (columns > MAX_MOCK_COLUMNS) return wrong(o, "table %s has %zu columns", name, columns);
  if (id == columns) return wrong(o, "table %s has no row numbers", name);
  int64_t last_new = -1;
  for (size_t row = 0; row < mock_table_rows(o->tables, table); row++) {
    struct mock_value values[MAX_MOCK_COLUMNS];
    struct arrived a;
    if (!mock_table_row(o->tables, table, row, values, &a.connection, &a.wire_seq))
      return wrong(o, "row %zu is gone", row);
    int64_t k = a.k = values[id].as.i;
    if (values[id].null || k < 0 || k >= o->given)
      return wrong(o, "table %s holds row %" PRId64 ", which was never given to the sender", name, k);
    if (!(o->scenario->allow & SCN_ALLOW_VALUES) && !row_holds(o, table, &a, values)) return false;
    if (o->seen[k]) {
      if (!o->doubled) o->first_double = k;
      o->doubled = true;
      continue;
    }
    o->seen[k] = 1;
    if (k < last_new && !(o->scenario->allow & SCN_ALLOW_ORDER))
      return wrong(o, "row %" PRId64 " of table %s arrived after row %" PRId64 " (connection %d, wireSeq %" PRId64 ")", k,
                   name, last_new, a.connection, a.wire_seq);
    last_new = k > last_new ? k : last_new;
  }
  return true;
}

static bool all_there(struct oracle *o) {
  int64_t accepted = facts_get(o->facts, "client.rows_accepted", 0);
  for (int64_t k = 0; k < accepted; k++)
    if (!o->seen[k]) return wrong(o, "row %" PRId64 " of %" PRId64 " accepted ones is lost", k, accepted);
  return true;
}

static bool no_needless_double(struct oracle *o) {
  bool lost_connection = facts_get(o->facts, "srv.conns", 0) > 1;
  if (!o->doubled || lost_connection || (o->scenario->allow & SCN_ALLOW_DOUBLES)) return true;
  return wrong(o, "row %" PRId64 " arrived twice although no connection was lost", o->first_double);
}

static size_t scratch_bytes(const struct scn_scenario *s) {
  size_t most = 1;
  for (size_t i = 0; i < s->step_count; i++) {
    size_t need = workload_scratch_bytes(&s->steps[i].work);
    if (need > most) most = need;
  }
  return most;
}

bool oracle_rows(const struct scn_scenario *s, const struct facts *facts, const struct mock_tables *tables, char *why,
                 size_t why_n) {
  struct oracle o = {.scenario = s, .facts = facts, .tables = tables, .why = why, .why_n = why_n,
                     .given = facts_get(facts, "client.rows", 0)};
  o.scratch_n = scratch_bytes(s);
  o.seen = calloc((size_t)o.given + 1, 1);
  o.scratch = malloc(o.scratch_n);
  bool ok = o.seen && o.scratch ? true : wrong(&o, "out of memory");
  for (size_t t = 0; ok && t < mock_table_count(tables); t++) ok = table_holds(&o, t);
  if (ok && !(s->allow & SCN_ALLOW_LOSS)) ok = all_there(&o);
  if (ok) ok = no_needless_double(&o);
  free(o.seen);
  free(o.scratch);
  return ok;
}
