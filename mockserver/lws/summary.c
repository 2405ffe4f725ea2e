#include "summary.h"

#include <string.h>

#include "core/journal.h"
#include "core/tables.h"

/* ---- for a person ------------------------------------------------------------------- */

static void print_unfired(void *arg, const char *text) { fprintf(arg, "  not reached: %s\n", text); }

void summary_print(FILE *f, const struct mock *m) {
  struct mock_facts x;
  struct mock_conn_facts c;
  const struct mock_tables *t = mock_tables(m);
  mock_facts(m, &x);
  fprintf(f, "connections %lld (readers %lld, unmatched %lld, refused %lld)\n", (long long)x.conns,
          (long long)x.readers, (long long)x.unmatched, (long long)x.refused);
  for (int i = 1; i <= 100 && mock_conn_facts(m, i, &c); i++)
    fprintf(f, "  %d: frames %lld, catch-up %lld, rows %lld, last ok %lld, end: %s\n", i, (long long)c.frames,
            (long long)c.catchup, (long long)c.rows, (long long)c.last_ok, c.end);
  if (x.conns > 100) fprintf(f, "  ... and %lld more\n", (long long)x.conns - 100);
  fprintf(f, "frames %lld, catch-up %lld, dropped %lld, bytes %lld\n", (long long)x.frames, (long long)x.catchup,
          (long long)x.dropped, (long long)x.bytes);
  fprintf(f, "rows %lld (", (long long)x.rows);
  if (x.rows_unique > 0) /* some table numbers its rows: only those can be told apart */
    fprintf(f, "unique %lld, doubled %lld, ", (long long)x.rows_unique, (long long)x.rows_doubled);
  fprintf(f, "rolled back %lld) in %lld commits\n", (long long)x.rolled_back_rows, (long long)x.commits);
  for (size_t i = 0; i < mock_table_count(t); i++)
    fprintf(f, "  %s: %zu rows\n", mock_table_name(t, i), mock_table_rows(t, i));
  fprintf(f, "answers: %lld OK, %lld errors\n", (long long)x.oks, (long long)x.errors);
  mock_unfired(m, print_unfired, f);
  fprintf(f, "violations %lld\n", (long long)x.violations);
  for (size_t i = 0; i < mock_violation_count(m); i++) {
    const struct mock_violation *v = mock_violation_at(m, i);
    fprintf(f, "  connection %d, message %lld, offset %lld: %s: %s\n", v->connection, (long long)v->wire_seq,
            (long long)v->offset, v->requirement, v->text);
  }
}

/* ---- for a program -------------------------------------------------------------------- */

static void text(struct mock_out *o, const char *key, const char *s) {
  mock_out_text(o, key);
  mock_json_string(o, s, strlen(s));
}

static void number(struct mock_out *o, const char *key, int64_t v) {
  mock_out_text(o, key);
  mock_out_decimal(o, v);
}

static void counters(struct mock_out *o, const struct mock *m) {
  struct mock_facts x;
  mock_facts(m, &x);
  mock_out_text(o, "\"counters\":{");
#define COUNTER(field, name, help) number(o, "\"" name "\":", x.field), mock_out_text(o, ",");
  MOCK_COUNTERS(COUNTER)
#undef COUNTER
  if (o->n) o->n--; /* the comma behind the last one */
  mock_out_text(o, "}");
}

static void tables(struct mock_out *o, const struct mock_tables *t, bool digests) {
  mock_out_text(o, ",\"tables\":[");
  for (size_t i = 0; i < mock_table_count(t); i++) {
    text(o, i ? ",{\"name\":" : "{\"name\":", mock_table_name(t, i));
    number(o, ",\"rows\":", (int64_t)mock_table_rows(t, i));
    number(o, ",\"columns\":", (int64_t)mock_table_columns(t, i));
    if (digests) {
      char digest[24];
      snprintf(digest, sizeof digest, "%016llx", (unsigned long long)mock_table_digest(t, i));
      text(o, ",\"digest\":", digest);
    }
    mock_out_text(o, "}");
  }
  mock_out_text(o, "]");
}

static void connections(struct mock_out *o, const struct mock *m) {
  struct mock_conn_facts c;
  mock_out_text(o, ",\"connections\":[");
  for (int i = 1; mock_conn_facts(m, i, &c); i++) {
    number(o, i > 1 ? ",{\"connection\":" : "{\"connection\":", i);
    number(o, ",\"frames\":", c.frames);
    number(o, ",\"catchup\":", c.catchup);
    number(o, ",\"dict\":", c.dict);
    number(o, ",\"oks\":", c.oks);
    number(o, ",\"errors\":", c.errors);
    number(o, ",\"bytes\":", c.bytes_in);
    number(o, ",\"rows\":", c.rows);
    number(o, ",\"last_ok\":", c.last_ok);
    text(o, ",\"end\":", c.end);
    mock_out_text(o, "}");
  }
  mock_out_text(o, "]");
}

static void violations(struct mock_out *o, const struct mock *m) {
  mock_out_text(o, ",\"violations\":[");
  for (size_t i = 0; i < mock_violation_count(m); i++) {
    const struct mock_violation *v = mock_violation_at(m, i);
    text(o, i ? ",{\"requirement\":" : "{\"requirement\":", v->requirement);
    number(o, ",\"connection\":", v->connection);
    number(o, ",\"seq\":", v->wire_seq);
    number(o, ",\"offset\":", v->offset);
    text(o, ",\"text\":", v->text);
    mock_out_text(o, "}");
  }
  mock_out_text(o, "]");
}

struct list {
  struct mock_out *o;
  size_t n;
};

static void add_unfired(void *arg, const char *line) {
  struct list *l = arg;
  text(l->o, l->n++ ? "," : "", line);
}

bool summary_json(FILE *f, const struct mock *m, enum mock_rows rows) {
  struct mock_out o = {0};
  struct list unfired = {.o = &o};
  mock_out_text(&o, "{");
  counters(&o, m);
  tables(&o, mock_tables(m), rows == MOCK_ROWS_DIGEST);
  connections(&o, m);
  violations(&o, m);
  mock_out_text(&o, ",\"unfired\":[");
  mock_unfired(m, add_unfired, &unfired);
  mock_out_text(&o, "]}\n");
  bool good = !o.failed && fwrite(o.p, 1, o.n, f) == o.n;
  mock_out_free(&o);
  return good;
}
