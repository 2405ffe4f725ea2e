#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "workload/workload.h"

static struct workload_value row[WORKLOAD_MAX_COLUMNS];
static char scratch[4096];
static const char *table;

static size_t make(enum workload_schema schema, int64_t k) {
  const struct workload w = {.schema = schema, .rows = 1, .frame_bytes = 64};
  memset(scratch, '#', sizeof scratch);
  return workload_row(&w, k, &table, row, scratch, sizeof scratch);
}

static void narrow_row(void **state) {
  (void)state;
  assert_int_equal(make(WORKLOAD_NARROW, 17), 4);
  assert_string_equal(table, "narrow");
  assert_string_equal(row[0].column, "sym");
  assert_int_equal(row[0].type, WORKLOAD_SYMBOL);
  assert_int_equal(row[0].text_n, 2);
  assert_memory_equal(row[0].text, "s1", 2);
  assert_string_equal(row[1].column, "id");
  assert_int_equal(row[1].i, 17);
  assert_true(row[2].d == -95.75);
  assert_string_equal(row[3].column, "");
  assert_int_equal(row[3].type, WORKLOAD_TS_NS);
  assert_true(row[3].i == WORKLOAD_T_NS + 17000);
}

static void tiny_row(void **state) {
  (void)state;
  assert_int_equal(make(WORKLOAD_TINY, 5), 1);
  assert_string_equal(table, "t");
  assert_string_equal(row[0].column, "i");
  assert_int_equal(row[0].i, 5);
}

static void padded_row(void **state) {
  (void)state;
  assert_int_equal(make(WORKLOAD_PADDED, 3), 2);
  assert_string_equal(table, "p");
  assert_int_equal(row[0].i, 3);
  assert_int_equal(row[1].text_n, 13); /* 64 - 51 */
  assert_memory_equal(row[1].text, "defghijklmnop", 13);
}

/* The layout of one row of `padded`, byte by byte, against the formula. */
static void pad_sizes(void **state) {
  (void)state;
  static const struct { int64_t frame, pad; } sizes[] = {
    {50, -1}, {51, 0}, {64, 13}, {131, 80}, {132, -1}, {133, -1}, {134, 81},
    {65543, 65490}, {65544, -1}, {65549, -1}, {65550, 65491}, {70014, 69955}, {0, -1}, {-1, -1},
  };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    assert_true(workload_pad_bytes(sizes[i].frame) == sizes[i].pad);
  }
}

static void symbol_rows(void **state) {
  (void)state;
  assert_int_equal(make(WORKLOAD_SYMBOLS, 12), 3);
  assert_int_equal(row[0].text_n, 5);
  assert_memory_equal(row[0].text, "sym12", 5);
  const struct workload wide = {.schema = WORKLOAD_SYMBOLS, .symbol_bytes = 9};
  assert_int_equal(workload_row(&wide, 12, &table, row, scratch, sizeof scratch), 3);
  assert_int_equal(row[0].text_n, 9);
  assert_memory_equal(row[0].text, "sym12....", 9);
}

static void types_have_nulls_by_rule(void **state) {
  (void)state;
  for (int64_t k = 0; k < 10; k++) {
    assert_int_equal(make(WORKLOAD_TYPES, k), 9);
    assert_false(row[0].null);
    assert_false(row[8].null);
    for (size_t j = 1; j < 8; j++) assert_int_equal(row[j].null, (k + (int64_t)j) % 5 == 0);
  }
  assert_int_equal(make(WORKLOAD_TYPES, 3), 9);
  assert_true(row[1].b);
  assert_true(row[2].i == -3000009);
  assert_true(row[3].d == -2.625);
  assert_memory_equal(row[4].text, "t3", 2);
  assert_int_equal(row[5].text_n, 3);
  assert_memory_equal(row[5].text, "\xce\xbb" "3", 3);
  assert_true(row[6].i == WORKLOAD_T_NS / 1000 + 3);
  assert_true(row[7].i == WORKLOAD_T_NS + 3);
}

static void tables_in_turn(void **state) {
  (void)state;
  static const char *const names[] = {"a", "b", "c", "a"};
  for (int64_t k = 0; k < 4; k++) {
    assert_int_equal(make(WORKLOAD_TABLES, k), 2);
    assert_string_equal(table, names[k]);
    assert_int_equal(row[1].type, WORKLOAD_TS_US);
    assert_true(row[1].i == WORKLOAD_T_NS / 1000 + k);
  }
}

static void refusals(void **state) {
  (void)state;
  const struct workload narrow = {.schema = WORKLOAD_NARROW}, padded = {.schema = WORKLOAD_PADDED, .frame_bytes = 50};
  assert_int_equal(workload_row(&narrow, -1, &table, row, scratch, sizeof scratch), 0);
  assert_int_equal(workload_row(&narrow, 0, &table, row, scratch, 2), 0); /* "s0" and its NUL need 3 */
  assert_int_equal(workload_row(&narrow, 0, &table, row, scratch, 3), 4);
  assert_int_equal(workload_row(&padded, 0, &table, row, scratch, sizeof scratch), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(narrow_row),  cmocka_unit_test(tiny_row),    cmocka_unit_test(padded_row),
    cmocka_unit_test(pad_sizes),   cmocka_unit_test(symbol_rows), cmocka_unit_test(types_have_nulls_by_rule),
    cmocka_unit_test(tables_in_turn), cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
