/* The oracle, shown rows that are right and rows that are wrong in every way it knows. */
#define _GNU_SOURCE
#include "runner/oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mock_kit.h"

#define SCENARIO(more) \
  "claim: It holds.\ncites: [P121-27]\nkills: [a-mutant]\n" more \
  "client:\n  config: ws::addr=${server};\n  steps:\n    - publish: {rows: 3, schema: tiny}\nexpect: {loop.sent: 1}\n"

struct setting {
  struct kit kit;
  struct scn_file file;
  struct facts facts;
  char why[256];
};

#define NARROW \
  "claim: It holds.\ncites: [P121-27]\nkills: [a-mutant]\n" \
  "client:\n  config: ws::addr=${server};\n  steps:\n    - publish: {rows: 3, schema: narrow}\nexpect: {loop.sent: 1}\n"

/* Three rows of the schema `tiny` were given to the sender and accepted: table "t", LONG "i" = 0, 1, 2. */
static void begin(struct setting *s, const char *text) {
  struct scn_problem problem;
  memset(s, 0, sizeof *s);
  kit_open(&s->kit, MOCK_ROWS_FULL);
  if (!scn_read("x.yaml", text, strlen(text), &s->file, &problem)) fail_msg("%s", problem.text);
  facts_init(&s->facts);
  facts_number(&s->facts, "client.rows", 3);
  facts_number(&s->facts, "client.rows_accepted", 3);
  facts_number(&s->facts, "client.first_row[1]", 0);
  facts_number(&s->facts, "srv.conns", 1);
}

static void end(struct setting *s) {
  facts_free(&s->facts);
  scn_file_free(&s->file);
  kit_close(&s->kit);
}

/* One row arrives: `column` = v in `table`. */
static void arrive(struct setting *s, const char *table, const char *column, int64_t v) {
  struct kit_bytes b;
  kit_begin(&b, QWP_FLAG_DELTA, 1);
  kit_delta(&b, 0, "");
  kit_block(&b, table, 1, 1);
  kit_define(&b, column, QWP_TYPE_LONG);
  kit_u8(&b, 0);
  kit_le(&b, (uint64_t)v, 8);
  assert_true(kit_send(&s->kit, &b));
}

static void arrive_in_order(struct setting *s, const int64_t *ids, size_t n) {
  for (size_t i = 0; i < n; i++) arrive(s, "t", "i", ids[i]);
}

#define ARRIVE(s, ...) \
  arrive_in_order(s, (const int64_t[]){__VA_ARGS__}, sizeof(const int64_t[]){__VA_ARGS__} / sizeof(int64_t))

static bool holds(struct setting *s) {
  s->why[0] = '\0';
  return oracle_rows(s->file.scenarios, &s->facts, s->kit.tables, s->why, sizeof s->why);
}

static void rows_that_are_all_there_are_right(void **state) {
  (void)state;
  struct setting s;
  begin(&s, SCENARIO(""));
  ARRIVE(&s, 0, 1, 2);
  assert_true(holds(&s));
  end(&s);
}

static void a_lost_row_is_named(void **state) {
  (void)state;
  struct setting s;
  begin(&s, SCENARIO(""));
  ARRIVE(&s, 0, 2);
  assert_false(holds(&s));
  assert_string_equal(s.why, "row 1 of 3 accepted ones is lost");
  facts_number(&s.facts, "client.rows_accepted", 1); /* what the sender refused is not lost */
  assert_true(holds(&s));
  end(&s);

  begin(&s, SCENARIO("allow: [loss]\n"));
  ARRIVE(&s, 0, 2);
  assert_true(holds(&s));
  end(&s);
}

static void a_row_that_nobody_gave_is_named(void **state) {
  (void)state;
  struct setting s;
  begin(&s, SCENARIO(""));
  ARRIVE(&s, 0, 1, 2, 3);
  assert_false(holds(&s));
  assert_string_equal(s.why, "table t holds row 3, which was never given to the sender");
  end(&s);
}

static void order_is_that_of_first_arrivals(void **state) {
  (void)state;
  struct setting s;
  begin(&s, SCENARIO(""));
  ARRIVE(&s, 0, 2, 1);
  assert_false(holds(&s));
  assert_non_null(strstr(s.why, "row 1 of table t arrived after row 2"));
  end(&s);

  begin(&s, SCENARIO("allow: [order]\n"));
  ARRIVE(&s, 0, 2, 1);
  assert_true(holds(&s));
  end(&s);
}

static void a_row_comes_twice_only_after_a_loss(void **state) {
  (void)state;
  struct setting s;
  begin(&s, SCENARIO(""));
  ARRIVE(&s, 0, 1, 1, 2);
  assert_false(holds(&s));
  assert_string_equal(s.why, "row 1 arrived twice although no connection was lost");
  facts_number(&s.facts, "srv.conns", 2);
  assert_true(holds(&s));
  end(&s);

  begin(&s, SCENARIO("allow: [doubles]\n"));
  ARRIVE(&s, 0, 1, 1, 2);
  assert_true(holds(&s));
  end(&s);
}

/* The row of the wrong table has the right number: only its place is wrong. */
static void a_row_in_the_wrong_table_is_named(void **state) {
  (void)state;
  struct setting s;
  begin(&s, SCENARIO(""));
  ARRIVE(&s, 0, 1);
  arrive(&s, "u", "i", 2);
  assert_false(holds(&s));
  assert_string_equal(s.why, "row 2 stands in table u, not in t");
  end(&s);
}

static void a_missing_column_is_named(void **state) {
  (void)state;
  struct setting s;
  begin(&s, SCENARIO(""));
  for (int64_t k = 0; k < 3; k++) arrive(&s, "t", "id", k);
  assert_false(holds(&s));
  assert_string_equal(s.why, "table t has no column \"i\"");
  end(&s);

  begin(&s, SCENARIO("allow: [values]\n"));
  for (int64_t k = 0; k < 3; k++) arrive(&s, "t", "id", k);
  assert_true(holds(&s));
  end(&s);
}

/* A row of the schema `tiny` that brings a second value along: a column of other rows, or a time that no rule has. */
static void arrive_with_more(struct setting *s, int64_t i, const char *column, uint8_t type, uint64_t v, size_t bytes) {
  struct kit_bytes b;
  kit_begin(&b, QWP_FLAG_DELTA, 1);
  kit_delta(&b, 0, "");
  kit_block(&b, "t", 1, 2);
  kit_define(&b, "i", QWP_TYPE_LONG);
  kit_define(&b, column, type);
  kit_u8(&b, 0);
  kit_le(&b, (uint64_t)i, 8);
  kit_u8(&b, 0);
  kit_le(&b, v, bytes);
  if (!kit_send(&s->kit, &b)) fail_msg("%s", s->kit.err.text);
}

static void a_value_that_belongs_to_no_column_of_the_row_is_named(void **state) {
  (void)state;
  static const struct {
    const char *column;
    uint8_t type;
    uint64_t v;
    size_t bytes;
    const char *why;
  } table[] = {
      {"px", QWP_TYPE_LONG, 7, 8, "row 2 of table t (connection 1, wireSeq 2): column \"px\" is 7, and the row has no such column"},
      {"b", QWP_TYPE_BOOLEAN, 1, 1, "row 2 of table t (connection 1, wireSeq 2): column \"b\" is true, and the row has no such column"},
      {"b", QWP_TYPE_BOOLEAN, 0, 1, ""}, /* the null of a BOOLEAN */
      {"", QWP_TYPE_TIMESTAMP_NANOS, WORKLOAD_T_NS, 8,
       "row 2 of table t (connection 1, wireSeq 2): column \"timestamp\" is 1700000000000000, and the row has no such column"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    struct setting s;
    begin(&s, SCENARIO(""));
    ARRIVE(&s, 0, 1);
    arrive_with_more(&s, 2, table[i].column, table[i].type, table[i].v, table[i].bytes);
    assert_int_equal(holds(&s), *table[i].why == '\0');
    assert_string_equal(s.why, table[i].why);
    end(&s);
  }
}

struct narrow { /* what row 0 of the schema `narrow` looks like on the wire */
  uint64_t symbol;
  double px;
  int64_t at_ns;
  bool px_null;
};

static void arrive_narrow(struct setting *s, const struct narrow *row, int64_t id) {
  struct kit_bytes b;
  uint64_t bits;
  memcpy(&bits, &row->px, sizeof bits);
  kit_begin(&b, QWP_FLAG_DELTA, 1);
  kit_delta(&b, 0, "s0|s1|s2");
  kit_block(&b, "narrow", 1, 4);
  kit_define(&b, "sym", QWP_TYPE_SYMBOL);
  kit_define(&b, "id", QWP_TYPE_LONG);
  kit_define(&b, "px", QWP_TYPE_DOUBLE);
  kit_define(&b, "", QWP_TYPE_TIMESTAMP_NANOS);
  kit_u8(&b, 0);
  kit_varint(&b, row->symbol);
  kit_u8(&b, 0);
  kit_le(&b, (uint64_t)id, 8);
  kit_u8(&b, row->px_null);
  if (row->px_null) kit_u8(&b, 1);
  else kit_le(&b, bits, 8);
  kit_u8(&b, 0);
  kit_le(&b, (uint64_t)row->at_ns, 8);
  if (!kit_send(&s->kit, &b)) fail_msg("%s", s->kit.err.text);
}

/* Rows 0 to 2, of which row 1 is as told. */
static bool narrow_holds(const struct narrow *second, char *why) {
  struct setting s;
  begin(&s, NARROW);
  arrive_narrow(&s, &(struct narrow){0, -100, WORKLOAD_T_NS, false}, 0);
  arrive_narrow(&s, second, 1);
  arrive_narrow(&s, &(struct narrow){2, -99.5, WORKLOAD_T_NS + 2000, false}, 2);
  bool ok = holds(&s);
  strcpy(why, s.why);
  end(&s);
  return ok;
}

#define AT "row 1 of table narrow (connection 1, wireSeq 1): "

static void a_wrong_value_is_named(void **state) {
  (void)state;
  const struct {
    struct narrow row;
    const char *why;
  } table[] = {
      {{1, -99.75, WORKLOAD_T_NS + 1000, false}, ""},
      {{2, -99.75, WORKLOAD_T_NS + 1000, false}, AT "column \"sym\" is \"s2\", expected \"s1\""},
      {{1, 99.75, WORKLOAD_T_NS + 1000, false}, AT "column \"px\" is 99.75, expected -99.75"},
      {{1, -99.75, WORKLOAD_T_NS + 1000, true}, AT "column \"px\" is null, expected -99.75"},
      {{1, -99.75, WORKLOAD_T_NS + 1001, false}, AT "column \"\" is 1700000000000001001, expected 1700000000000001000"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    char why[256];
    assert_int_equal(narrow_holds(&table[i].row, why), i == 0);
    assert_string_equal(why, table[i].why);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_that_are_all_there_are_right),
      cmocka_unit_test(a_lost_row_is_named),
      cmocka_unit_test(a_row_that_nobody_gave_is_named),
      cmocka_unit_test(order_is_that_of_first_arrivals),
      cmocka_unit_test(a_row_comes_twice_only_after_a_loss),
      cmocka_unit_test(a_row_in_the_wrong_table_is_named),
      cmocka_unit_test(a_missing_column_is_named),
      cmocka_unit_test(a_value_that_belongs_to_no_column_of_the_row_is_named),
      cmocka_unit_test(a_wrong_value_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
