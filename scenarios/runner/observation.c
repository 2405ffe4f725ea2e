#include "runner/observation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tables.h"
#include "runner/oracle.h"

void observation_init(struct observation *o) {
  memset(o, 0, sizeof *o);
  facts_init(&o->facts);
}

void observation_free(struct observation *o) {
  facts_free(&o->facts);
  buffer_free(&o->journal);
}

void observe_unfired(void *arg, const char *text) {
  struct observation *o = arg;
  size_t n = strlen(o->unfired);
  snprintf(o->unfired + n, sizeof o->unfired - n, "%s%s", n ? "\n" : "", text);
}

static void connection_facts(struct observation *o, const struct mock *m, int conn) {
  struct mock_conn_facts c;
  if (!mock_conn_facts(m, conn, &c)) return;
  const struct {
    const char *field;
    int64_t value;
  } numbers[] = {{"frames", c.frames}, {"catchup", c.catchup},   {"dict", c.dict},         {"oks", c.oks},
                 {"errors", c.errors}, {"bytes_in", c.bytes_in}, {"rows", c.rows},         {"next_seq", c.next_seq},
                 {"last_ok", c.last_ok}};
  char name[64];
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    snprintf(name, sizeof name, "srv.conn[%d].%s", conn, numbers[i].field);
    facts_number(&o->facts, name, numbers[i].value);
  }
  snprintf(name, sizeof name, "srv.conn[%d].end", conn);
  facts_text(&o->facts, name, c.end);
  const struct {
    const char *field, *value;
  } texts[] = {{"tls", c.tls}, {"sni", c.sni}, {"tls_end", c.tls_end}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    snprintf(name, sizeof name, "srv.conn[%d].%s", conn, texts[i].field);
    facts_text(&o->facts, name, texts[i].value);
  }
  snprintf(name, sizeof name, "srv.conn[%d].pong", conn);
  facts_text(&o->facts, name, c.pong);
  snprintf(name, sizeof name, "srv.dict[%d]", conn);
  facts_number(&o->facts, name, c.dict);
}

static void table_facts(struct observation *o, const struct mock_tables *t) {
  for (size_t i = 0; i < mock_table_count(t); i++) {
    char name[192];
    snprintf(name, sizeof name, "srv.rows[%s]", mock_table_name(t, i));
    facts_number(&o->facts, name, (int64_t)mock_table_rows(t, i));
  }
}

/* Does the scenario speak of this requirement's violations, or of their number? Then its word counts. */
static bool expects_violation(const struct scn_scenario *s, const char *requirement) {
  for (size_t i = 0; i < s->expect_count; i++) {
    const struct scn_fact *e = &s->expect[i];
    if (e->source == SCN_FROM_VIOLATION && strcmp(e->selector, requirement) == 0) return true;
  }
  return (s->allow & SCN_ALLOW_VIOLATIONS) != 0;
}

static void violation_facts(struct observation *o, const struct scn_scenario *s, const struct mock *m) {
  for (size_t i = 0; i < mock_violation_count(m); i++) {
    const struct mock_violation *v = mock_violation_at(m, i);
    char name[64];
    snprintf(name, sizeof name, "srv.violation[%s]", v->requirement);
    facts_number(&o->facts, name, facts_get(&o->facts, name, 0) + 1);
    if (o->violation[0] || expects_violation(s, v->requirement)) continue;
    snprintf(o->violation, sizeof o->violation,
             "%s violated at connection %d, wireSeq %" PRId64 ", offset %" PRId64 ": %s", v->requirement, v->connection,
             v->wire_seq, v->offset, v->text);
  }
}

void observe_mock(struct observation *o, const struct scn_scenario *s, const struct mock *m) {
  struct mock_facts f;
  mock_facts(m, &f);
#define ADD(field, name, help) facts_add(&o->facts, name, f.field);
  MOCK_COUNTERS(ADD)
#undef ADD
  o->reader_count = (size_t)f.readers;
  for (int conn = 1; conn <= f.conns; conn++) connection_facts(o, m, conn);
  table_facts(o, mock_tables(m));
  violation_facts(o, s, m);
  mock_unfired(m, observe_unfired, o);
  if (!oracle_rows(s, &o->facts, mock_tables(m), o->rows_why, sizeof o->rows_why) && !o->rows_why[0])
    snprintf(o->rows_why, sizeof o->rows_why, "the rows are wrong");
}

/* ---- twins ---- */

static int line_length(const struct buffer *b, size_t start) {
  const char *end = start < b->n ? memchr(b->at + start, '\n', b->n - start) : NULL;
  return (int)(end ? (size_t)(end - b->at) - start : start < b->n ? b->n - start : 0);
}

static bool journals_equal(const struct buffer *a, const struct buffer *b, char *why, size_t why_n) {
  size_t i = 0, line = 1, start = 0;
  while (i < a->n && i < b->n && a->at[i] == b->at[i]) {
    if (a->at[i] == '\n') {
      line++;
      start = i + 1;
    }
    i++;
  }
  if (i == a->n && i == b->n) return true;
  snprintf(why, why_n, "two runs of one seed differ at journal line %zu: %.*s | %.*s", line, line_length(a, start),
           a->at ? a->at + start : "", line_length(b, start), b->at ? b->at + start : "");
  return false;
}

static void show_fact(const struct fact *f, char *out, size_t n) {
  if (!f)
    snprintf(out, n, "nothing");
  else if (f->is_text)
    snprintf(out, n, "%s", f->text);
  else
    snprintf(out, n, "%" PRId64, f->number);
}

static bool fact_equal(const struct fact *x, const struct fact *y) {
  if (!x || !y || strcmp(x->name, y->name) != 0 || x->is_text != y->is_text) return false;
  return x->is_text ? strcmp(x->text, y->text) == 0 : x->number == y->number;
}

/* What no journal shows, say a count of allocations, must come out the same as well. */
static bool facts_equal(const struct facts *a, const struct facts *b, char *why, size_t why_n) {
  size_t most = a->count > b->count ? a->count : b->count;
  for (size_t i = 0; i < most; i++) {
    const struct fact *x = i < a->count ? &a->at[i] : NULL, *y = i < b->count ? &b->at[i] : NULL;
    if (fact_equal(x, y)) continue;
    char one[128], other[128];
    show_fact(x, one, sizeof one);
    show_fact(y, other, sizeof other);
    snprintf(why, why_n, "two runs of one seed differ in %s: %s | %s", x ? x->name : y->name, one, other);
    return false;
  }
  return true;
}

bool observations_equal(const struct observation *a, const struct observation *b, char *why, size_t why_n) {
  return journals_equal(&a->journal, &b->journal, why, why_n) && facts_equal(&a->facts, &b->facts, why, why_n);
}
