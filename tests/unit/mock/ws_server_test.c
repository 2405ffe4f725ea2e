/* ws_server: one frame's header, its mask, the answer to a Close. */
#include "../../testlib/mock_rig.h"

#include "core/ws_server.h"

static void every_broken_header_is_told_and_by_its_requirement(void **state) {
  (void)state;
  const struct { uint8_t p[10]; size_t n; const char *requirement; } cases[] = {
    {{0x82, 0x01}, 2, "WS-001"},                                  /* unmasked */
    {{0x92}, 1, "MAL-ING-014"}, {{0xA2}, 1, "MAL-ING-014"}, {{0xC2}, 1, "MAL-ING-014"}, /* RSV */
    {{0x83}, 1, "MAL-ING-014"}, {{0x87}, 1, "MAL-ING-014"},       /* reserved opcodes */
    {{0x8B}, 1, "MAL-ING-014"}, {{0x8F}, 1, "MAL-ING-014"},
    {{0x09}, 1, "MAL-ING-014"}, {{0x0A}, 1, "MAL-ING-014"}, {{0x08}, 1, "MAL-ING-014"}, /* FIN = 0 */
    {{0x89, 0xFE, 0x00, 0x7E}, 4, "MAL-ING-014"},                 /* control of 126 */
    {{0x88, 0x81}, 2, "MAL-ING-014"},                             /* Close of one byte */
    {{0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0}, 10, "MAL-ING-014"}, /* top bit */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct mock_ws_frame f;
    for (size_t n = 0; n < cases[i].n; n++) assert_int_equal(mock_ws_parse(cases[i].p, n, &f), MOCK_WS_MORE);
    assert_int_equal(mock_ws_parse(cases[i].p, cases[i].n, &f), MOCK_WS_BROKEN);
    assert_string_equal(f.requirement, cases[i].requirement);
    assert_non_null(f.wrong);
  }
}

static void check_header(size_t payload_n, unsigned form, size_t header_n, bool minimal) {
  uint8_t p[MOCK_WS_HEADER_MAX] = {0x82, (uint8_t)(0x80 | form)};
  size_t length_n = form < 126 ? 0 : form == 126 ? 2 : 8;
  for (size_t i = 0; i < length_n; i++) p[2 + i] = (uint8_t)((uint64_t)payload_n >> (8 * (length_n - 1 - i)));
  memcpy(p + 2 + length_n, "KEY!", 4);
  struct mock_ws_frame f;
  for (size_t n = 0; n < header_n; n++) assert_int_equal(mock_ws_parse(p, n, &f), MOCK_WS_MORE);
  assert_int_equal(mock_ws_parse(p, header_n, &f), MOCK_WS_HEADER);
  assert_int_equal(f.header_n, header_n);
  assert_int_equal(f.payload_n, payload_n);
  assert_int_equal(f.minimal, minimal);
  assert_memory_equal(f.key, "KEY!", 4);
  assert_true(f.fin);
  assert_int_equal(f.opcode, 2);
}

static void both_length_forms_are_read_and_a_long_one_is_noticed(void **state) {
  (void)state;
  check_header(0, 0, 6, true);
  check_header(125, 125, 6, true);
  check_header(126, 126, 8, true);
  check_header(65535, 126, 8, true);
  check_header(65536, 127, 14, true);
  check_header(5, 126, 8, false);
  check_header(125, 126, 8, false);
  check_header(65535, 127, 14, false);
  check_header(0, 127, 14, false);
}

/* The short way of telling a frame agrees with the whole one wherever it speaks, and speaks of what it should. */
static void a_usual_frame_is_told_as_any_other(void **state) {
  (void)state;
  size_t usual = 0;
  for (unsigned first = 0; first < 256; first++)
    for (unsigned second = 0; second < 256; second++) {
      uint8_t p[6 + 130] = {(uint8_t)first, (uint8_t)second, 0, 9, 'K', 'E', 'Y', '!'};
      const size_t whole = 6 + (second & 0x7F);
      for (size_t n = 0; n <= sizeof p; n++) {
        struct mock_ws_frame f, g;
        const bool expected = first == 0x82 && second >= 0x80 && second <= 0x80 + 125 && n >= whole;
        assert_int_equal(mock_ws_parse_usual(p, n, &f), expected);
        if (!expected) continue;
        usual++;
        assert_int_equal(mock_ws_parse(p, n, &g), MOCK_WS_HEADER);
        assert_true(f.fin == g.fin && f.minimal == g.minimal && f.opcode == g.opcode);
        assert_true(f.header_n == g.header_n && f.payload_n == g.payload_n);
        assert_memory_equal(f.key, g.key, 4);
      }
    }
  assert_int_equal(usual, 126 * 131 - 125 * 126 / 2); /* lengths 0..125, each from its whole frame on */
}

static void unmasking_equals_the_definition_at_every_length_and_offset(void **state) {
  (void)state;
  static const uint8_t key[4] = {0x11, 0x9E, 0x00, 0xFF};
  uint8_t src[160], dst[160], want[160];
  for (size_t i = 0; i < sizeof src; i++) src[i] = (uint8_t)(i * 37 + 5);
  for (size_t at = 0; at < 9; at++) {
    for (size_t n = 0; n + at <= 140; n++) {
      memset(dst, 0xEE, sizeof dst);
      memset(want, 0xEE, sizeof want);
      for (size_t i = 0; i < n; i++) want[i] = src[at + i] ^ key[i % 4];
      mock_ws_unmask(dst, src + at, n, key);
      assert_memory_equal(dst, want, sizeof dst);
    }
  }
  for (size_t n = 0; n <= sizeof src; n++) { /* in place */
    memcpy(dst, src, sizeof src);
    mock_ws_unmask(dst, dst, n, key);
    for (size_t i = 0; i < sizeof src; i++) assert_int_equal(dst[i], i < n ? src[i] ^ key[i % 4] : src[i]);
  }
}

static void a_close_is_answered_as_the_server_does(void **state) {
  (void)state;
  const unsigned cases[][2] = {
    {0, 1000}, {999, 1000}, {1000, 1000}, {1001, 1001}, {1002, 1002}, {1003, 1003}, {1004, 1002}, {1005, 1000},
    {1006, 1000}, {1007, 1007}, {1011, 1011}, {1014, 1014}, {1015, 1000}, {1016, 1016}, {1999, 1999}, {2000, 1002}, {2999, 1002},
    {3000, 3000}, {4000, 4000}, {4999, 4999}, {5000, 1000}, {65535, 1000}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(mock_ws_close_echo(cases[i][0]), cases[i][1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_broken_header_is_told_and_by_its_requirement),
    cmocka_unit_test(both_length_forms_are_read_and_a_long_one_is_noticed),
    cmocka_unit_test(a_usual_frame_is_told_as_any_other),
    cmocka_unit_test(unmasking_equals_the_definition_at_every_length_and_offset),
    cmocka_unit_test(a_close_is_answered_as_the_server_does),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
