/* UTF-8 validity, against an arithmetic definition of it, over all sequences of up to three bytes and
 * the edges of four. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

/* Decodes by arithmetic and refuses what is not the shortest form of a scalar value. */
static bool model_valid(const uint8_t *p, size_t n) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  while (n) {
    size_t len = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
    if (!len || len > n) return false;
    uint32_t c = len == 1 ? p[0] : p[0] & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++) {
      if (p[i] >> 6 != 2) return false;
      c = c << 6 | (p[i] & 0x3Fu);
    }
    if (c < least[len] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return false;
    p += len;
    n -= len;
  }
  return true;
}

static void up_to_three_bytes(void **state) {
  (void)state;
  for (uint32_t v = 0; v < 1u << 24; v++) {
    uint8_t p[3] = {(uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};
    for (size_t n = v ? 3 : 1; n <= 3; n++)
      if (qwp_utf8_valid(p, n) != model_valid(p, n)) fail_msg("%02x %02x %02x", p[0], p[1], p[2]);
  }
}

static void four_bytes_at_the_edges(void **state) {
  (void)state;
  static const uint8_t edge[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF};
  for (unsigned first = 0xE0; first <= 0xFF; first++)
    for (unsigned second = 0; second <= 0xFF; second++)
      for (size_t i = 0; i < sizeof edge; i++)
        for (size_t k = 0; k < sizeof edge; k++) {
          uint8_t p[4] = {(uint8_t)first, (uint8_t)second, edge[i], edge[k]};
          assert_int_equal(qwp_utf8_valid(p, 4), model_valid(p, 4));
        }
}

/* The first character alone, whatever follows it: the shortest valid beginning, if one of up to four bytes is. */
static void the_first_character(void **state) {
  (void)state;
  static const uint8_t seconds[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF};
  for (unsigned first = 0; first <= 0xFF; first++)
    for (size_t i = 0; i < sizeof seconds; i++)
      for (size_t n = 1; n <= 5; n++) {
        uint8_t p[5] = {(uint8_t)first, seconds[i], 0x80, 0xBF, 'a'};
        size_t want = 0;
        for (size_t k = n < 4 ? n : 4; k > 0; k--)
          if (model_valid(p, k)) want = k;
        assert_int_equal(qwp_utf8_char(p, n), want);
      }
}

/* A bad byte is found wherever it lies relative to the eight-byte steps, and nothing past the end is read. */
static void at_every_place(void **state) {
  (void)state;
  for (size_t n = 0; n <= 40; n++) {
    char *text = malloc(n ? n : 1); /* its own block, so that a sanitizer sees a read beyond it */
    assert_non_null(text);
    memset(text, 'a', n);
    assert_true(qwp_utf8_valid(text, n));
    for (size_t i = 0; i < n; i++) {
      text[i] = (char)0xC3; /* needs a continuation that does not come */
      assert_false(qwp_utf8_valid(text, n));
      text[i] = 'a';
      if (i + 1 == n) continue;
      memcpy(text + i, "\xC3\xA9", 2);
      assert_true(qwp_utf8_valid(text, n));
      memcpy(text + i, "aa", 2);
    }
    free(text);
  }
  assert_true(qwp_utf8_valid(NULL, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(up_to_three_bytes),
      cmocka_unit_test(four_bytes_at_the_edges),
      cmocka_unit_test(the_first_character),
      cmocka_unit_test(at_every_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
