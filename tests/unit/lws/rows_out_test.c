/* Rows as JSON lines: every kind of value once, and what JSON has no word for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <cmocka.h>

#include "lws/rows_out.h"
#include "mock_kit.h"

/* Everything mock_rows_out writes, in text. */
static void written(const struct kit *k, char *text, size_t size) {
  FILE *f = tmpfile();
  assert_non_null(f);
  assert_true(mock_rows_out(f, k->tables));
  rewind(f);
  text[fread(text, 1, size - 1, f)] = '\0';
  fclose(f);
}


/* [[1, -2.5, inf]], [] of shape 2147483647 by 0, [[nan]], null. */
static void arrays_are_nested_lists(void **state) {
  (void)state;
  struct kit k;
  struct kit_bytes b;
  char text[1024];
  const double elements[] = {1, -2.5, HUGE_VAL, (double)NAN};
  uint64_t bits[4];
  memcpy(bits, elements, sizeof bits);
  kit_open(&k, MOCK_ROWS_FULL);
  kit_begin(&b, QWP_FLAG_DELTA, 1);
  kit_delta(&b, 0, "");
  kit_block(&b, "T", 4, 2);
  kit_define(&b, "a", QWP_TYPE_DOUBLE_ARRAY);
  kit_define(&b, "", QWP_TYPE_TIMESTAMP);
  kit_u8(&b, QWP_NULLS_BITMAP), kit_u8(&b, 8);
  kit_u8(&b, 2), kit_le(&b, 1, 4), kit_le(&b, 3, 4);
  for (size_t i = 0; i < 3; i++) kit_le(&b, bits[i], 8);
  kit_u8(&b, 2), kit_le(&b, INT32_MAX, 4), kit_le(&b, 0, 4);
  kit_u8(&b, 2), kit_le(&b, 1, 4), kit_le(&b, 1, 4), kit_le(&b, bits[3], 8);
  kit_u8(&b, QWP_NULLS_NONE);
  for (size_t i = 0; i < 4; i++) kit_le(&b, 5, 8);
  if (!kit_send(&k, &b)) fail_msg("refused at %zu: %s", k.err.offset, k.err.text);
  written(&k, text, sizeof text);
  kit_close(&k);
  static const char *const shown[] = {"[[1,-2.5,\"inf\"]]", "[]", "[[null]]", "null"};
  char expected[1024];
  size_t n = 0;
  for (int i = 0; i < 4; i++)
    n += (size_t)snprintf(expected + n, sizeof expected - n,
                          "{\"table\":\"T\",\"row\":%d,\"connection\":1,\"wireSeq\":0,\"values\":{\"a\":%s,"
                          "\"timestamp\":5}}\n", i, shown[i]);
  assert_string_equal(text, expected);
}

static void values_of_each_kind(void **state) {
  (void)state;
  struct kit k;
  struct kit_bytes b;
  char text[1024];
  const double infinite = HUGE_VAL, tenth = 0.1;
  uint64_t bits;
  kit_open(&k, MOCK_ROWS_FULL);
  kit_begin(&b, QWP_FLAG_DELTA, 1);
  kit_delta(&b, 0, "a\"b");
  kit_block(&b, "T", 1, 8);
  kit_define(&b, "flag", QWP_TYPE_BOOLEAN);
  kit_define(&b, "n", QWP_TYPE_LONG);
  kit_define(&b, "d", QWP_TYPE_DOUBLE);
  kit_define(&b, "inf", QWP_TYPE_DOUBLE);
  kit_define(&b, "none", QWP_TYPE_VARCHAR);
  kit_define(&b, "v", QWP_TYPE_VARCHAR);
  kit_define(&b, "bin", QWP_TYPE_BINARY);
  kit_define(&b, "sym", QWP_TYPE_SYMBOL);
  kit_u8(&b, QWP_NULLS_NONE), kit_u8(&b, 1);
  kit_u8(&b, QWP_NULLS_NONE), kit_le(&b, (uint64_t)-7, 8);
  memcpy(&bits, &tenth, 8);
  kit_u8(&b, QWP_NULLS_NONE), kit_le(&b, bits, 8);
  memcpy(&bits, &infinite, 8);
  kit_u8(&b, QWP_NULLS_NONE), kit_le(&b, bits, 8);
  kit_u8(&b, QWP_NULLS_BITMAP), kit_u8(&b, 1), kit_le(&b, 0, 4);
  kit_u8(&b, QWP_NULLS_NONE), kit_le(&b, 0, 4), kit_le(&b, 3, 4), kit_put(&b, "\xCE\xBB\n", 3);
  kit_u8(&b, QWP_NULLS_NONE), kit_le(&b, 0, 4), kit_le(&b, 2, 4), kit_put(&b, "\x00\xFE", 2);
  kit_u8(&b, QWP_NULLS_NONE), kit_varint(&b, 0);
  if (!kit_send(&k, &b)) fail_msg("refused at %zu: %s", k.err.offset, k.err.text);
  written(&k, text, sizeof text);
  kit_close(&k);
  const char *stamp = strstr(text, ",\"timestamp\":"); /* the server's own; what it is is the tables' matter */
  assert_non_null(stamp);
  text[stamp - text] = '\0';
  assert_string_equal(text, "{\"table\":\"T\",\"row\":0,\"connection\":1,\"wireSeq\":0,\"values\":{\"flag\":true,\"n\":-7,"
                            "\"d\":0.10000000000000001,\"inf\":\"inf\",\"none\":null,\"v\":\"\xCE\xBB\\u000a\","
                            "\"bin\":\"00fe\",\"sym\":\"a\\\"b\"");
}

static void put_row(struct kit *k, const char *table, int64_t id) {
  struct kit_bytes b;
  kit_begin(&b, QWP_FLAG_DELTA, 1);
  kit_delta(&b, 0, "");
  kit_block(&b, table, 1, 2);
  kit_define(&b, "id", QWP_TYPE_LONG);
  kit_define(&b, "", QWP_TYPE_TIMESTAMP);
  kit_u8(&b, QWP_NULLS_NONE), kit_le(&b, (uint64_t)id, 8);
  kit_u8(&b, QWP_NULLS_NONE), kit_le(&b, 5, 8);
  assert_true(kit_send(k, &b));
}

static void tables_in_order_and_rows_as_they_came(void **state) {
  (void)state;
  struct kit k;
  char text[1024];
  kit_open(&k, MOCK_ROWS_FULL);
  put_row(&k, "y", 2);
  put_row(&k, "x", 3);
  put_row(&k, "y", 1);
  written(&k, text, sizeof text);
  kit_close(&k);
  assert_string_equal(
      text, "{\"table\":\"y\",\"row\":0,\"connection\":1,\"wireSeq\":0,\"values\":{\"id\":2,\"timestamp\":5}}\n"
            "{\"table\":\"y\",\"row\":1,\"connection\":1,\"wireSeq\":2,\"values\":{\"id\":1,\"timestamp\":5}}\n"
            "{\"table\":\"x\",\"row\":0,\"connection\":1,\"wireSeq\":1,\"values\":{\"id\":3,\"timestamp\":5}}\n");
}

static void nothing_is_known_of_rows_that_were_not_kept(void **state) {
  (void)state;
  struct kit k;
  char text[64];
  kit_open(&k, MOCK_ROWS_DIGEST);
  put_row(&k, "y", 2);
  written(&k, text, sizeof text);
  kit_close(&k);
  assert_string_equal(text, "");
}

static void a_full_disk_is_told(void **state) {
  (void)state;
  struct kit k;
  FILE *f = fopen("/dev/full", "w");
  assert_non_null(f);
  setvbuf(f, NULL, _IONBF, 0);
  kit_open(&k, MOCK_ROWS_FULL);
  put_row(&k, "y", 2);
  assert_false(mock_rows_out(f, k.tables));
  kit_close(&k);
  fclose(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_of_each_kind),
      cmocka_unit_test(arrays_are_nested_lists),
      cmocka_unit_test(tables_in_order_and_rows_as_they_came),
      cmocka_unit_test(nothing_is_known_of_rows_that_were_not_kept),
      cmocka_unit_test(a_full_disk_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
