/* Rows into columns: what is known, what is refused, what a cancelled row leaves. Values are read back
 * through the columns here; their bytes on the wire are the encoder's tests. */
#include "rows_kit.h"

#include <stdio.h>
#include <stdlib.h>

static const struct qwp_table *table_at(struct rows_kit *k, size_t i) { return qwp_batch_table_at(k->batch, i); }

static const struct qwp_column *column_at(struct rows_kit *k, size_t t, uint32_t i) {
  assert_true(i < table_at(k, t)->known);
  return &table_at(k, t)->columns[i];
}

/* "name:code" of the known columns, in order. */
static void expect_columns(struct rows_kit *k, size_t table, const char *want) {
  const struct qwp_table *t = table_at(k, table);
  char got[512] = "";
  for (uint32_t i = 0; i < t->known; i++) {
    size_t at = strlen(got);
    const struct qwp_column *c = &t->columns[i];
    snprintf(got + at, sizeof got - at, "%s%.*s:%02x", i ? " " : "", (int)c->name_bytes, c->name_bytes ? c->name : "",
             c->code);
  }
  assert_string_equal(got, want);
}

/* The column's rows as text: one value or a dot for null, by row. Fixed types as numbers. */
static void expect_values(struct rows_kit *k, size_t table, uint32_t column, const char *want) {
  const struct qwp_table *t = table_at(k, table);
  const struct qwp_column *c = column_at(k, table, column);
  const struct qwp_extent *x = qwp_column_finished(c, t->rows);
  char got[512] = "";
  uint32_t value = 0;
  for (uint32_t row = 0; row < t->rows; row++) {
    size_t at = strlen(got);
    if (row) got[at++] = ' ';
    if (qwp_column_is_null(c, x, row)) {
      snprintf(got + at, sizeof got - at, ".");
      continue;
    }
    if (c->type->shape == QWP_SHAPE_BITS) {
      snprintf(got + at, sizeof got - at, "%u", c->data.data[value]);
    } else if (c->type->shape == QWP_SHAPE_TEXT) {
      uint32_t from = value ? qwp_get_u32(c->ends.data + 4 * (value - 1)) : 0;
      snprintf(got + at, sizeof got - at, "%.*s", (int)(qwp_get_u32(c->ends.data + 4 * value) - from),
               (const char *)c->data.data + from);
    } else if (c->type->shape == QWP_SHAPE_CODED) {
      snprintf(got + at, sizeof got - at, "%u", c->data.data[value]); /* ids below 128 */
    } else {
      snprintf(got + at, sizeof got - at, "%lld", (long long)qwp_get_u64(c->data.data + 8 * value));
    }
    value++;
  }
  assert_int_equal(value, x->values);
  assert_string_equal(got, want);
}

static void expect_failure(struct rows_kit *k, enum qwp_status got, enum qwp_status want, const char *text) {
  assert_int_equal(got, want);
  assert_int_equal(k->err.code, want);
  if (text) assert_string_equal(k->err.text, text);
}

static void a_long(struct rows_kit *k, const char *table, const char *col, int64_t v) {
  KIT_OK(kit_table(k, table));
  KIT_OK(kit_long(k, col, v));
  KIT_OK(kit_at_now(k));
}

/* ---- order and nulls ------------------------------------------------------------- */

static void columns_in_order_of_first_use(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_varchar(&k, "text", "x"));
  KIT_OK(kit_bool(&k, "flag", true));
  KIT_OK(kit_at_us(&k, 1));
  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_timestamp(&k, "when", QWP_TYPE_TIMESTAMP_NANOS, -5)); /* only the designated one may not be negative */
  KIT_OK(kit_symbol(&k, "sym", "a"));
  KIT_OK(kit_timestamp(&k, "then", QWP_TYPE_TIMESTAMP, 6));
  KIT_OK(kit_double(&k, "d", 0.0));
  KIT_OK(kit_at_us(&k, 2));
  expect_columns(&k, 0, "text:0f flag:01 :0a when:10 sym:09 then:0a d:07");
  expect_values(&k, 0, 0, "x .");
  expect_values(&k, 0, 1, "1 .");
  expect_values(&k, 0, 2, "1 2");
  expect_values(&k, 0, 3, ". -5");
  expect_values(&k, 0, 4, ". 0");
  expect_values(&k, 0, 5, ". 6");
  assert_int_equal(qwp_batch_rows(k.batch), 2);
  kit_free(&k);
}

static void gaps_are_null(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  for (int64_t row = 0; row < 30; row++) {
    KIT_OK(kit_table(&k, "t"));
    KIT_OK(kit_long(&k, "all", row));
    if (row == 1 || row == 19 || row == 20) KIT_OK(kit_long(&k, "some", row));
    if (row == 7) KIT_OK(kit_null(&k, "none", QWP_TYPE_DOUBLE));
    KIT_OK(kit_at_now(&k));
  }
  expect_columns(&k, 0, "all:05 some:05 none:07");
  expect_values(&k, 0, 0, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29");
  expect_values(&k, 0, 1, ". 1 . . . . . . . . . . . . . . . . . 19 20 . . . . . . . . .");
  expect_values(&k, 0, 2, ". . . . . . . . . . . . . . . . . . . . . . . . . . . . . .");
  kit_free(&k);
}

static void tables_in_order_of_first_use(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  a_long(&k, "b", "x", 1);
  a_long(&k, "a", "x", 2);
  a_long(&k, "B", "x", 3); /* table names are case-sensitive */
  a_long(&k, "b", "x", 4);
  assert_int_equal(qwp_batch_tables(k.batch), 3);
  expect_values(&k, 0, 0, "1 4");
  expect_values(&k, 1, 0, "2");
  expect_values(&k, 2, 0, "3");
  assert_int_equal(qwp_batch_rows(k.batch), 4);
  qwp_batch_clear(k.batch); /* then the next message has an order, and tables, of its own */
  a_long(&k, "a", "x", 5);
  a_long(&k, "b", "x", 6);
  assert_int_equal(qwp_batch_tables(k.batch), 2);
  expect_values(&k, 0, 0, "5");
  expect_values(&k, 1, 0, "6");
  kit_free(&k);
}

static void known_over_a_clear(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_long(&k, "a", 1));
  KIT_OK(kit_varchar(&k, "b", "x"));
  KIT_OK(kit_at_ns(&k, 5));
  qwp_batch_clear(k.batch);
  assert_int_equal(qwp_batch_rows(k.batch), 0);
  assert_int_equal(qwp_batch_bytes(k.batch), 0);
  a_long(&k, "t", "c", 2);
  expect_columns(&k, 0, "a:05 b:0f :10 c:05");
  expect_values(&k, 0, 0, ".");
  expect_values(&k, 0, 1, ".");
  expect_values(&k, 0, 2, ".");
  expect_values(&k, 0, 3, "2");
  KIT_OK(kit_table(&k, "t"));
  expect_failure(&k, kit_double(&k, "A", 1.0), QWP_TYPE, "column 'A' is LONG and cannot become DOUBLE");
  kit_free(&k);
}

/* ---- one row ----------------------------------------------------------------------- */

static void the_first_value_wins(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_long(&k, "Price", 1));
  KIT_OK(kit_long(&k, "pRICE", 2));
  KIT_OK(kit_null(&k, "price", QWP_TYPE_LONG));
  expect_failure(&k, kit_double(&k, "price", 3), QWP_TYPE, "column 'price' is LONG and cannot become DOUBLE");
  KIT_OK(kit_null(&k, "other", QWP_TYPE_LONG)); /* no value yet: the next one is the first */
  KIT_OK(kit_long(&k, "other", 4));
  KIT_OK(kit_symbol(&k, "s", "first"));
  KIT_OK(kit_symbol(&k, "s", "second")); /* ignored, so it takes no id */
  KIT_OK(kit_at_now(&k));
  expect_columns(&k, 0, "Price:05 other:05 s:09");
  expect_values(&k, 0, 0, "1");
  expect_values(&k, 0, 1, "4");
  assert_int_equal(qwp_symbols_count(k.symbols), 1);
  a_long(&k, "t", "PRICE", 5); /* and in the next row the same column again */
  expect_values(&k, 0, 0, "1 5");
  kit_free(&k);
}

/* Names with the same ASCII letters in another case are one column; no other characters are folded. */
static void column_names_fold_ascii(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_long(&k, "a@Z", 1));
  KIT_OK(kit_long(&k, "A`z", 2));
  KIT_OK(kit_long(&k, "a@z", 3));
  KIT_OK(kit_at_now(&k));
  expect_columns(&k, 0, "a@Z:05 A`z:05");
  kit_free(&k);
}

static void rows_that_are_none(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  expect_failure(&k, kit_long(&k, "a", 1), QWP_MISUSE, "no row is open: name its table first");
  expect_failure(&k, kit_symbol(&k, "a", "b"), QWP_MISUSE, NULL);
  expect_failure(&k, kit_null(&k, "a", QWP_TYPE_LONG), QWP_MISUSE, NULL);
  expect_failure(&k, kit_at_now(&k), QWP_MISUSE, NULL);
  KIT_OK(kit_table(&k, "t"));
  assert_true(qwp_batch_row_open(k.batch));
  expect_failure(&k, kit_table(&k, "t"), QWP_MISUSE, "a row is open: end it with at or take it back first");
  expect_failure(&k, kit_at_now(&k), QWP_MISUSE, "the row has no column and no timestamp");
  assert_true(qwp_batch_row_open(k.batch));
  KIT_OK(kit_at_us(&k, 0)); /* a timestamp alone is a row */
  assert_false(qwp_batch_row_open(k.batch));
  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_null(&k, "a", QWP_TYPE_LONG)); /* and so is a column named without a value */
  KIT_OK(kit_at_now(&k));
  assert_int_equal(qwp_batch_rows(k.batch), 2);
  expect_columns(&k, 0, ":0a a:05");
  kit_free(&k);
}

static void names_are_checked(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  expect_failure(&k, kit_table(&k, ""), QWP_NAME, "table name '' must not be empty");
  expect_failure(&k, kit_table(&k, " t"), QWP_NAME, "table name ' t' must not begin or end with a space");
  assert_string_equal(k.err.key, " t");
  assert_int_equal(qwp_batch_known(k.batch), 0);
  KIT_OK(kit_table(&k, "t"));
  expect_failure(&k, kit_long(&k, "", 1), QWP_NAME, "column name '' must not be empty");
  expect_failure(&k, kit_long(&k, "a.b", 1), QWP_NAME, "column name 'a.b' must not contain a dot");
  KIT_OK(kit_at_us(&k, 1));
  KIT_OK(kit_table(&k, "t"));
  expect_failure(&k, kit_timestamp(&k, "", QWP_TYPE_TIMESTAMP, 1), QWP_NAME, NULL); /* not by the back door */
  KIT_OK(kit_at_us(&k, 2));
  expect_columns(&k, 0, ":0a");
  kit_free(&k);
}

static void values_are_checked(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  KIT_OK(kit_table(&k, "t"));
  expect_failure(&k, kit_varchar(&k, "a", "x\xC3"), QWP_VALUE, "column 'a' was given a text that is not UTF-8");
  expect_failure(&k, kit_symbol(&k, "b", "\xED\xA0\x80"), QWP_VALUE, "column 'b' was given a text that is not UTF-8");
  /* A length that no message can carry is refused before a byte is looked at [WIRE-VAR-007]. */
  expect_failure(&k, qwp_batch_varchar(k.batch, "a", 1, "x", (size_t)1 << 31, &k.err), QWP_VALUE, NULL);
  expect_failure(&k, qwp_batch_symbol(k.batch, "b", 1, "x", QWP_SYMBOL_BYTES_MAX + 1, &k.err), QWP_VALUE, NULL);
  expect_failure(&k, kit_null(&k, "c", 0x08), QWP_TYPE, "column 'c' was given type 0x08, which is none");
  expect_failure(&k, kit_null(&k, "c", 999), QWP_TYPE, NULL);
  expect_failure(&k, kit_timestamp(&k, "c", QWP_TYPE_LONG, 1), QWP_TYPE, NULL);
  assert_int_equal(qwp_symbols_count(k.symbols), 0);
  KIT_OK(kit_at_us(&k, 1));
  expect_columns(&k, 0, ":0a"); /* none of the refused made a column */
  kit_free(&k);
}

/* ---- the designated timestamp --------------------------------------------------------- */

static void designated_units_do_not_mix(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  KIT_OK(kit_table(&k, "t"));
  expect_failure(&k, kit_at_us(&k, -1), QWP_VALUE, "a designated timestamp before 1970 cannot be stored");
  expect_failure(&k, qwp_batch_at(k.batch, QWP_TYPE_LONG, 1, &k.err), QWP_TYPE, NULL);
  KIT_OK(kit_at_us(&k, 0));
  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_long(&k, "a", 1));
  expect_failure(&k, kit_at_ns(&k, 1), QWP_TYPE,
                 "table 't' holds rows with a designated timestamp in the other unit; flush them first");
  assert_true(qwp_batch_row_open(k.batch)); /* the row is as it was: */
  KIT_OK(kit_at_us(&k, 3));
  expect_values(&k, 0, 0, "0 3");
  expect_values(&k, 0, 1, ". 1");
  KIT_OK(kit_table(&k, "other")); /* another table is another column */
  KIT_OK(kit_at_ns(&k, 4));
  kit_free(&k);
}

/* The unit belongs to the batch: after a clear, or while no row of it has a value, the other may come. */
static void designated_unit_may_change_between_batches(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_at_us(&k, 1));
  qwp_batch_clear(k.batch);
  a_long(&k, "t", "a", 7);
  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_at_ns(&k, 2));
  expect_columns(&k, 0, ":10 a:05");
  expect_values(&k, 0, 0, ". 2");
  expect_values(&k, 0, 1, "7 .");
  kit_free(&k);
}

static void at_now_mixes(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  a_long(&k, "t", "a", 1);
  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_long(&k, "a", 2));
  KIT_OK(kit_at_ns(&k, 20));
  a_long(&k, "t", "a", 3);
  expect_columns(&k, 0, "a:05 :10");
  expect_values(&k, 0, 1, ". 20 .");
  kit_free(&k);
}

/* ---- cancel ------------------------------------------------------------------------------ */

static void a_cancelled_row_leaves_nothing(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  qwp_batch_cancel(k.batch); /* without one: no effect */
  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_varchar(&k, "text", "one"));
  KIT_OK(kit_symbol(&k, "sym", "a"));
  KIT_OK(kit_at_us(&k, 1));
  a_long(&k, "t", "n", 1);
  size_t bytes = qwp_batch_bytes(k.batch);

  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_varchar(&k, "text", "gone"));
  KIT_OK(kit_symbol(&k, "sym", "b"));
  KIT_OK(kit_bool(&k, "fresh", true));
  KIT_OK(kit_null(&k, "fresh2", QWP_TYPE_LONG));
  KIT_OK(kit_long(&k, "n", 2));
  assert_int_equal(qwp_batch_bytes(k.batch), bytes); /* nor does it count while it is open */
  expect_columns(&k, 0, "text:0f sym:09 :0a n:05");
  expect_values(&k, 0, 0, "one .");
  expect_values(&k, 0, 1, "0 .");
  qwp_batch_cancel(k.batch);
  assert_false(qwp_batch_row_open(k.batch));
  assert_int_equal(qwp_batch_bytes(k.batch), bytes);
  assert_int_equal(qwp_symbols_count(k.symbols), 1); /* its symbol has no id any more */

  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_long(&k, "fresh", 9)); /* free to be of another type now */
  KIT_OK(kit_varchar(&k, "text", "two"));
  KIT_OK(kit_at_us(&k, 3));
  expect_columns(&k, 0, "text:0f sym:09 :0a n:05 fresh:05");
  expect_values(&k, 0, 0, "one . two");
  expect_values(&k, 0, 1, "0 . .");
  expect_values(&k, 0, 2, "1 . 3");
  expect_values(&k, 0, 3, ". 1 .");
  expect_values(&k, 0, 4, ". . 9");
  assert_int_equal(qwp_batch_ids_end(k.batch), 1); /* and no row refers to it */
  kit_free(&k);
}

static void a_cancelled_first_row_leaves_no_table(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  a_long(&k, "a", "x", 1);
  KIT_OK(kit_table(&k, "b"));
  KIT_OK(kit_long(&k, "x", 2));
  assert_int_equal(qwp_batch_known(k.batch), 2);
  qwp_batch_cancel(k.batch);
  assert_int_equal(qwp_batch_known(k.batch), 1);
  assert_int_equal(qwp_batch_tables(k.batch), 1);
  a_long(&k, "c", "x", 3);
  a_long(&k, "b", "x", 4);
  a_long(&k, "a", "x", 5);
  assert_int_equal(qwp_batch_tables(k.batch), 3);
  assert_memory_equal(table_at(&k, 1)->name, "c", 1);
  assert_memory_equal(table_at(&k, 2)->name, "b", 1);
  KIT_OK(kit_table(&k, "d"));
  qwp_batch_clear(k.batch); /* takes the open row with it */
  assert_false(qwp_batch_row_open(k.batch));
  assert_int_equal(qwp_batch_tables(k.batch), 0);
  assert_int_equal(qwp_batch_known(k.batch), 3);
  kit_free(&k);
}

/* ---- limits --------------------------------------------------------------------------------- */

static void columns_are_limited(void **state) {
  (void)state;
  struct rows_kit k;
  char name[16];
  kit_init(&k);
  KIT_OK(kit_table(&k, "t"));
  for (unsigned i = 0; i < QWP_MAX_COLUMNS; i++) {
    snprintf(name, sizeof name, "c%u", i);
    KIT_OK(kit_null(&k, name, QWP_TYPE_LONG));
  }
  expect_failure(&k, kit_long(&k, "more", 1), QWP_TOO_LARGE,
                 "table 't' has 2048 columns, the most a block can have");
  expect_failure(&k, kit_at_us(&k, 1), QWP_TOO_LARGE, NULL); /* the designated timestamp is one of them */
  KIT_OK(kit_at_now(&k));
  assert_int_equal(table_at(&k, 0)->known, QWP_MAX_COLUMNS);
  kit_free(&k);
}

static void rows_are_limited(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  for (unsigned i = 0; i < QWP_MAX_ROWS; i++) a_long(&k, "t", "a", i);
  expect_failure(&k, kit_table(&k, "t"), QWP_TOO_LARGE,
                 "table 't' has 1000000 rows waiting, the most a block can have: flush");
  assert_false(qwp_batch_row_open(k.batch));
  a_long(&k, "other", "a", 1);
  qwp_batch_clear(k.batch);
  a_long(&k, "t", "a", 1);
  kit_free(&k);
}

static void symbols_are_limited(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  qwp_batch_del(k.batch);
  qwp_symbols_del(k.symbols);
  k.symbols = qwp_symbols_new(&k.ops, 1);
  k.batch = qwp_batch_new(&k.ops, k.symbols, 127);
  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_symbol(&k, "s", "a"));
  expect_failure(&k, kit_symbol(&k, "s2", "b"), QWP_DICT_FULL, NULL);
  KIT_OK(kit_at_us(&k, 1));
  expect_columns(&k, 0, "s:09 :0a");
  kit_free(&k);
}

/* Once a batch has been through a cycle, further cycles of the same shape allocate nothing. */
static void a_steady_state_does_not_allocate(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  uint64_t calls = 0;
  for (int cycle = 0; cycle < 3; cycle++) {
    if (cycle == 1) calls = k.mem.calls;
    for (int64_t i = 0; i < 1000; i++) {
      KIT_OK(kit_table(&k, i % 3 ? "a" : "b"));
      KIT_OK(kit_symbol(&k, "sym", i % 2 ? "x" : "y"));
      KIT_OK(kit_double(&k, "price", 1.5));
      if (i % 5) KIT_OK(kit_varchar(&k, "text", "some words"));
      if (i % 7 == 0) KIT_OK(kit_bool(&k, "flag", true));
      KIT_OK(kit_at_ns(&k, i));
    }
    qwp_batch_clear(k.batch);
  }
  assert_int_equal(k.mem.calls, calls);
  kit_free(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_in_order_of_first_use),
      cmocka_unit_test(gaps_are_null),
      cmocka_unit_test(tables_in_order_of_first_use),
      cmocka_unit_test(known_over_a_clear),
      cmocka_unit_test(the_first_value_wins),
      cmocka_unit_test(column_names_fold_ascii),
      cmocka_unit_test(rows_that_are_none),
      cmocka_unit_test(names_are_checked),
      cmocka_unit_test(values_are_checked),
      cmocka_unit_test(designated_units_do_not_mix),
      cmocka_unit_test(designated_unit_may_change_between_batches),
      cmocka_unit_test(at_now_mixes),
      cmocka_unit_test(a_cancelled_row_leaves_nothing),
      cmocka_unit_test(a_cancelled_first_row_leaves_no_table),
      cmocka_unit_test(columns_are_limited),
      cmocka_unit_test(rows_are_limited),
      cmocka_unit_test(symbols_are_limited),
      cmocka_unit_test(a_steady_state_does_not_allocate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
