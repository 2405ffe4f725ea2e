/* DOUBLE_ARRAY columns in tables: who is made, what fits, what is kept; and LONG_ARRAY, which never is. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "core/arrays.h"
#include "mock_kit.h"

#define NEVER "long arrays are not supported, only double arrays"

/* A cell of column `c`; dims 0 = null. */
struct value {
  unsigned dims;
  uint32_t lengths[3];
  double first;
};

static const struct value null_value = {0};

static void begin(struct kit_bytes *b, size_t rows, unsigned type) {
  kit_begin(b, QWP_FLAG_DELTA, 1);
  kit_delta(b, 0, "");
  kit_block(b, "t", rows, 1);
  kit_define(b, "c", type);
}

static bool send_typed(struct kit *k, unsigned type, size_t rows, const struct value *values) {
  struct kit_bytes b;
  unsigned nulls = 0;
  begin(&b, rows, type);
  for (size_t i = 0; i < rows; i++) nulls |= (unsigned)(values[i].dims == 0) << i;
  kit_u8(&b, nulls ? QWP_NULLS_BITMAP : QWP_NULLS_NONE);
  if (nulls) kit_u8(&b, nulls);
  for (size_t i = 0; i < rows; i++)
    if (values[i].dims) kit_array(&b, values[i].dims, values[i].lengths, values[i].first);
  return kit_send(k, &b);
}

static bool send(struct kit *k, size_t rows, const struct value *values) {
  return send_typed(k, QWP_TYPE_DOUBLE_ARRAY, rows, values);
}

static void assert_refused(const struct kit *k, const char *text) {
  assert_int_equal(k->err.status, QWP_ST_SCHEMA_MISMATCH);
  assert_string_equal(k->err.text, text);
}

static void assert_row(const struct kit *k, size_t row, const char *expected) {
  char text[512];
  kit_row(k, 0, row, text, sizeof text);
  assert_string_equal(text, expected);
}

/* ---- values ---------------------------------------------------------------------------- */

static void values_are_kept_row_major(void **state) {
  (void)state;
  struct kit k;
  kit_open(&k, MOCK_ROWS_FULL);
  const struct value values[] = {{2, {2, 3}, 1}, null_value, {2, {1, 1}, -0.5}, {2, {3, 2}, 7}};
  assert_true(send(&k, 4, values));
  kit_reconnect(&k);
  assert_row(&k, 0, "[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], \"<now>\"]");
  assert_row(&k, 1, "[null, \"<now>\"]");
  assert_row(&k, 2, "[[[-0.5]], \"<now>\"]");
  assert_row(&k, 3, "[[[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]], \"<now>\"]");
  kit_close(&k);
}

/* null, [0], [2,0], [0,5] are four values [WIRE-ARR-005]. */
static void empty_arrays_keep_their_shape(void **state) {
  (void)state;
  struct kit k;
  struct mock_value v[2];
  kit_open(&k, MOCK_ROWS_FULL);
  const struct value values[] = {{2, {2, 0}, 0}, null_value, {2, {0, 5}, 0}};
  assert_true(send(&k, 3, values));
  for (size_t row = 0; row < 3; row++) {
    assert_true(mock_table_row(k.tables, 0, row, v, NULL, NULL));
    assert_int_equal(v[0].type, QWP_TYPE_DOUBLE_ARRAY);
    assert_int_equal(v[0].null, row == 1);
    if (row == 1) continue;
    assert_int_equal(v[0].as.array->dims, 2);
    assert_int_equal(v[0].as.array->n, 0);
    assert_memory_equal(v[0].as.array->lengths, values[row].lengths, 8);
  }
  kit_close(&k);
}

static void elements_are_bits(void **state) {
  (void)state;
  static const uint64_t bits[] = {UINT64_C(0x7FF8000000000000), UINT64_C(0x8000000000000000), 1,
                                  UINT64_C(0xFFF0000000000000)};
  struct kit k;
  struct kit_bytes b;
  struct mock_value v[2];
  kit_open(&k, MOCK_ROWS_FULL);
  begin(&b, 1, QWP_TYPE_DOUBLE_ARRAY);
  kit_u8(&b, QWP_NULLS_NONE), kit_u8(&b, 1), kit_le(&b, 4, 4);
  for (size_t i = 0; i < 4; i++) kit_le(&b, bits[i], 8);
  assert_true(kit_send(&k, &b));
  assert_true(mock_table_row(k.tables, 0, 0, v, NULL, NULL));
  assert_int_equal(v[0].as.array->n, 4);
  assert_memory_equal(v[0].as.array->data, bits, sizeof bits);
  assert_row(&k, 0, "[[null, -0.0, 5e-324, null], \"<now>\"]");
  kit_close(&k);
}

/* An array larger than what the store allocates at a time. */
static void a_large_array_is_kept_whole(void **state) {
  (void)state;
  enum { N = 40000 };
  struct kit k;
  struct mock_value v[2];
  struct kit_bytes head;
  kit_open(&k, MOCK_ROWS_FULL);
  begin(&head, 1, QWP_TYPE_DOUBLE_ARRAY);
  kit_u8(&head, QWP_NULLS_NONE), kit_u8(&head, 2), kit_le(&head, N / 4, 4), kit_le(&head, 4, 4);
  const size_t n = head.n + N * 8;
  for (size_t i = 0; i < 4; i++) head.p[8 + i] = (uint8_t)((n - 12) >> (8 * i));
  uint8_t *message = malloc(n);
  assert_non_null(message);
  memcpy(message, head.p, head.n);
  for (size_t i = 0; i < N; i++) {
    const double d = (double)i / 8;
    memcpy(message + head.n + i * 8, &d, 8);
  }
  assert_true(kit_message(&k, message, n));
  free(message);
  assert_true(mock_table_row(k.tables, 0, 0, v, NULL, NULL));
  assert_int_equal(v[0].as.array->n, N);
  for (size_t i = 0; i < N; i++) assert_true(v[0].as.array->data[i] == (double)i / 8);
  kit_close(&k);
}

/* ---- dimensions -------------------------------------------------------------------------- */

static void a_column_has_one_number_of_dimensions(void **state) {
  (void)state;
  struct kit k;
  kit_open(&k, MOCK_ROWS_FULL);
  const struct value one = {1, {1}, 1}, two = {2, {1, 2}, 1}, three = {3, {1, 1, 1}, 1};
  const struct value mixed[] = {null_value, two, three};
  assert_true(send(&k, 1, &two));
  assert_false(send(&k, 1, &one));
  assert_refused(&k, "array dimensionality mismatch [column=c, expected=DOUBLE[][], actual=DOUBLE[]]");
  assert_false(send(&k, 1, &three));
  assert_refused(&k, "array dimensionality mismatch [column=c, expected=DOUBLE[][], actual=DOUBLE[][][]]");
  assert_false(send(&k, 3, mixed));
  assert_refused(&k, "array dimensionality mismatch in QWP batch [column=c, expectedDims=2, actualDims=3]");
  assert_true(send(&k, 1, &null_value)); /* tells no dimensions, so fits */
  assert_true(send(&k, 1, &two));        /* and the same schema again, with values */
  assert_int_equal(mock_table_rows(k.tables, 0), 3);
  assert_row(&k, 1, "[null, \"<now>\"]");
  assert_row(&k, 2, "[[[1.0, 2.0]], \"<now>\"]");
  kit_close(&k);
}

static void mixed_dimensions_make_no_table(void **state) {
  (void)state;
  struct kit k;
  kit_open(&k, MOCK_ROWS_FULL);
  const struct value mixed[] = {{2, {1, 1}, 1}, {1, {1}, 1}};
  assert_false(send(&k, 2, mixed));
  assert_refused(&k, "array dimensionality mismatch in QWP batch [column=c, expectedDims=2, actualDims=1]");
  assert_int_equal(mock_table_count(k.tables), 0);
  kit_close(&k);
}

/* Left out of a new table, and made by the first block that has a value. */
static void a_column_without_a_value_is_left_out(void **state) {
  (void)state;
  struct kit k;
  uint8_t type;
  kit_open(&k, MOCK_ROWS_FULL);
  const struct value one = {1, {2}, 3};
  for (size_t i = 0; i < 2; i++) {
    assert_true(send(&k, 1, &null_value)); /* a new table, then one that is there */
    assert_int_equal(mock_table_columns(k.tables, 0), 1);
  }
  assert_true(send(&k, 1, &one));
  assert_int_equal(mock_table_columns(k.tables, 0), 2);
  assert_string_equal(mock_table_column(k.tables, 0, 1, &type), "c");
  assert_int_equal(type, QWP_TYPE_DOUBLE_ARRAY);
  assert_row(&k, 1, "[\"<now>\", null]");
  assert_row(&k, 2, "[\"<now>\", [3.0, 4.0]]");
  kit_close(&k);
}

/* ---- other types ---------------------------------------------------------------------------- */

static void long_arrays_are_refused_whatever_the_table(void **state) {
  (void)state;
  struct kit k;
  kit_open(&k, MOCK_ROWS_FULL);
  const struct value one = {1, {2}, 3};
  assert_false(send_typed(&k, QWP_TYPE_LONG_ARRAY, 1, &one));
  assert_refused(&k, NEVER);
  assert_false(send_typed(&k, QWP_TYPE_LONG_ARRAY, 1, &null_value));
  assert_refused(&k, NEVER);
  assert_int_equal(mock_table_count(k.tables), 0);
  assert_true(send(&k, 1, &null_value)); /* a table without the column */
  assert_false(send_typed(&k, QWP_TYPE_LONG_ARRAY, 1, &one));
  assert_refused(&k, NEVER);
  assert_int_equal(mock_table_columns(k.tables, 0), 1);
  assert_true(send(&k, 1, &one)); /* with it */
  assert_false(send_typed(&k, QWP_TYPE_LONG_ARRAY, 1, &one));
  assert_refused(&k, NEVER);
  kit_close(&k);
}

static void an_array_is_no_time(void **state) {
  (void)state;
  struct kit k;
  struct kit_bytes b;
  const uint32_t one = 1;
  kit_open(&k, MOCK_ROWS_FULL);
  kit_begin(&b, QWP_FLAG_DELTA, 1);
  kit_delta(&b, 0, "");
  kit_block(&b, "t", 1, 1);
  kit_define(&b, "timestamp", QWP_TYPE_DOUBLE_ARRAY);
  kit_u8(&b, QWP_NULLS_NONE), kit_array(&b, 1, &one, 1);
  assert_false(kit_send(&k, &b));
  assert_int_equal(k.err.status, QWP_ST_INTERNAL_ERROR);
  assert_string_equal(k.err.text, "designated timestamp cannot be read from DOUBLE_ARRAY");
  kit_close(&k);
}

static void the_name_of_a_type_has_its_dimensions(void **state) {
  (void)state;
  char name[MOCK_ARRAY_NAME_BYTES], *p = name;
  mock_array_type_name(1, name);
  assert_string_equal(name, "DOUBLE[]");
  mock_array_type_name(32, name);
  assert_int_equal(strlen(name), 6 + 64);
  for (p += 6; *p; p += 2) assert_memory_equal(p, "[]", 2);
}

/* ---- digest ------------------------------------------------------------------------------------ */

static uint64_t digest_of(size_t rows, const struct value *values) {
  struct kit k;
  kit_open(&k, MOCK_ROWS_DIGEST);
  assert_true(send(&k, 1, &(const struct value){values[0].dims, {1, 1, 1}, 0})); /* the column is there */
  assert_true(send(&k, rows, values));
  const uint64_t digest = mock_table_digest(k.tables, 0);
  kit_close(&k);
  return digest;
}

static void the_digest_is_over_shape_and_elements(void **state) {
  (void)state;
  const struct value all[][2] = {
    {{2, {2, 3}, 1}, null_value}, {{2, {3, 2}, 1}, null_value}, {{2, {1, 6}, 1}, null_value},
    {{2, {2, 3}, 2}, null_value}, {{2, {2, 0}, 0}, null_value}, {{2, {0, 2}, 0}, null_value},
    {{2, {2, 3}, 1}, {2, {2, 3}, 1}}};
  enum { N = sizeof all / sizeof *all };
  uint64_t digests[N];
  for (size_t i = 0; i < N; i++) {
    digests[i] = digest_of(2, all[i]);
    for (size_t j = 0; j < i; j++) assert_false(digests[i] == digests[j]);
  }
  const struct value turned[] = {null_value, {2, {2, 3}, 1}};
  struct kit k;
  kit_open(&k, MOCK_ROWS_DIGEST);
  assert_true(send(&k, 1, &(const struct value){2, {1, 1}, 0}));
  assert_true(send(&k, 2, turned));
  assert_true(mock_table_digest(k.tables, 0) == digests[0]);
  kit_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(values_are_kept_row_major),
    cmocka_unit_test(empty_arrays_keep_their_shape),
    cmocka_unit_test(elements_are_bits),
    cmocka_unit_test(a_large_array_is_kept_whole),
    cmocka_unit_test(a_column_has_one_number_of_dimensions),
    cmocka_unit_test(mixed_dimensions_make_no_table),
    cmocka_unit_test(a_column_without_a_value_is_left_out),
    cmocka_unit_test(long_arrays_are_refused_whatever_the_table),
    cmocka_unit_test(an_array_is_no_time),
    cmocka_unit_test(the_name_of_a_type_has_its_dimensions),
    cmocka_unit_test(the_digest_is_over_shape_and_elements),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
