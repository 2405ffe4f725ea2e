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
    snprintf(o->violation, sizeof o->violation, "%s violated at connection %d, wireSeq %" PRId64 ", offset %" PRId64 ": %s",
             v->requirement, v->connection, v->wire_seq, v->offset, v->text);
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
