#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

#include "core/reader.h"
#include "core/utf8.h"
#include "qwp/wire.h"

struct seen {
  size_t count, offset;
  char requirement[24];
};

static void on_violation(void *ctx, const char *requirement, size_t offset, const char *text) {
  struct seen *s = ctx;
  (void)text;
  s->count++;
  s->offset = offset;
  strncpy(s->requirement, requirement, sizeof s->requirement - 1);
}

/* One varint out of a buffer of exactly n bytes. */
static bool read_one(const uint8_t *bytes, size_t n, uint64_t *value, size_t *used, struct seen *seen,
                     struct mock_decode_error *err) {
  uint8_t *p = malloc(n ? n : 1);
  assert_non_null(p);
  if (n) memcpy(p, bytes, n);
  *seen = (struct seen){0};
  const struct mock_decode_sink sink = {.ctx = seen, .on_violation = on_violation};
  struct mock_reader r = {.base = p, .p = p, .end = p + n, .sink = &sink, .err = err};
  const bool ok = mock_reader_varint(&r, value);
  *used = mock_reader_offset(&r);
  free(p);
  return ok;
}

static size_t shortest(uint64_t v, uint8_t *out) {
  size_t n = 0;
  for (; v >= 128; v >>= 7) out[n++] = (uint8_t)(v | 128);
  out[n++] = (uint8_t)v;
  return n;
}

static void varints_at_every_length_boundary(void **state) {
  (void)state;
  for (unsigned bits = 0; bits <= 64; bits++) {
    const uint64_t top = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    for (unsigned plus = 0; plus < 2; plus++) {
      uint8_t bytes[10];
      struct seen seen;
      struct mock_decode_error err;
      uint64_t value;
      size_t used;
      const uint64_t v = top + plus; /* 2^bits - 1 and 2^bits (0 at the end) */
      const size_t n = shortest(v, bytes);
      assert_true(read_one(bytes, n, &value, &used, &seen, &err));
      assert_true(value == v);
      assert_int_equal(used, n);
      assert_int_equal(seen.count, 0);
      for (size_t cut = 0; cut < n; cut++) {
        assert_false(read_one(bytes, cut, &value, &used, &seen, &err));
        assert_string_equal(err.text, "incomplete varint: buffer underflow");
        assert_int_equal(err.status, QWP_ST_PARSE_ERROR);
        assert_int_equal(err.offset, cut);
      }
    }
  }
}

static void varints_beyond_64_bits_or_ten_bytes_are_refused(void **state) {
  (void)state;
  static const struct {
    uint8_t bytes[12];
    size_t n;
  } cases[] = {
    {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02}, 10}, /* bit 64 */
    {{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, 11},
    {{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}, 10},
    {{0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7F}, 10},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct seen seen;
    struct mock_decode_error err;
    uint64_t value;
    size_t used;
    assert_false(read_one(cases[i].bytes, cases[i].n, &value, &used, &seen, &err));
    assert_string_equal(err.text, "varint overflow: too many continuation bytes");
    assert_int_equal(err.offset, 9);
  }
}

static void longer_forms_are_read_and_noted_where_they_begin(void **state) {
  (void)state;
  static const struct {
    uint8_t bytes[10];
    size_t n;
    uint64_t value;
  } cases[] = {
    {{0x82, 0x00}, 2, 2},
    {{0x80, 0x80, 0x00}, 3, 0},
    {{0xFF, 0x81, 0x80, 0x00}, 4, 255},
    {{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, 10, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct seen seen;
    struct mock_decode_error err;
    uint64_t value;
    size_t used;
    assert_true(read_one(cases[i].bytes, cases[i].n, &value, &used, &seen, &err));
    assert_true(value == cases[i].value);
    assert_int_equal(used, cases[i].n);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.offset, 0);
    assert_string_equal(seen.requirement, "WIRE-ENC-002");
  }
}

static void take_gives_what_is_there_and_no_more(void **state) {
  (void)state;
  const uint8_t bytes[4] = {1, 2, 3, 4};
  struct mock_decode_error err;
  struct mock_reader r = {.base = bytes, .p = bytes, .end = bytes + 4, .err = &err};
  assert_null(mock_reader_take(&r, 5));
  assert_null(mock_reader_take(&r, UINT64_MAX));
  assert_int_equal(mock_reader_offset(&r), 0);
  assert_ptr_equal(mock_reader_take(&r, 3), bytes);
  assert_ptr_equal(mock_reader_take(&r, 0), bytes + 3);
  assert_null(mock_reader_take(&r, 2));
  assert_ptr_equal(mock_reader_take(&r, 1), bytes + 3);
  assert_int_equal(mock_reader_left(&r), 0);
}

static void numbers_are_little_endian(void **state) {
  (void)state;
  const uint8_t b[8] = {0x01, 0x82, 0x03, 0x84, 0x05, 0x86, 0x07, 0x88};
  assert_int_equal(mock_load16(b), 0x8201);
  assert_int_equal(mock_load32(b), 0x84038201);
  assert_true(mock_load64(b) == UINT64_C(0x8807860584038201));
}

static void utf8_as_unicode_defines_it(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t n, valid;
  } cases[] = {
    {"", 0, 0},
    {"a\0b", 3, 3},
    {"\xC2\x80\xDF\xBF", 4, 4},
    {"\xE0\xA0\x80\xEF\xBF\xBF", 6, 6},
    {"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 8, 8},
    {"\xED\x9F\xBF", 3, 3},
    {"a\xFF", 2, 1},
    {"\xC0\x80", 2, 0},         /* overlong */
    {"\xC1\xBF", 2, 0},
    {"\xE0\x9F\xBF", 3, 0},
    {"\xF0\x8F\xBF\xBF", 4, 0},
    {"\xED\xA0\x80", 3, 0},     /* surrogate */
    {"\xF4\x90\x80\x80", 4, 0}, /* above U+10FFFF */
    {"\xF5\x80\x80\x80", 4, 0},
    {"ab\xC3", 3, 2},           /* cut */
    {"\xE2\x82", 2, 0},
    {"\xF0\x9F\x98", 3, 0},
    {"\x80", 1, 0},
    {"\xC3(", 2, 0},
    {"\xE2\x82(", 3, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(mock_utf8_valid_prefix((const uint8_t *)cases[i].text, cases[i].n), cases[i].valid);
  for (size_t at = 0; at < 17; at++) {
    uint8_t text[17];
    memset(text, 'x', sizeof text);
    assert_true(mock_utf8_is_ascii(text, sizeof text));
    text[at] = 0x80;
    assert_false(mock_utf8_is_ascii(text, sizeof text));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(varints_at_every_length_boundary),
    cmocka_unit_test(varints_beyond_64_bits_or_ten_bytes_are_refused),
    cmocka_unit_test(longer_forms_are_read_and_noted_where_they_begin),
    cmocka_unit_test(take_gives_what_is_there_and_no_more),
    cmocka_unit_test(numbers_are_little_endian),
    cmocka_unit_test(utf8_as_unicode_defines_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
