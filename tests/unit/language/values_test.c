#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "language/values.h"
#include "language/words.h"
#include "plan.h"

static void ints(void **state) {
  (void)state;
  int64_t v = 0;
  assert_true(scn_value_int("0", &v));
  assert_int_equal(v, 0);
  assert_true(scn_value_int("-7", &v));
  assert_int_equal(v, -7);
  assert_true(scn_value_int("0x0d", &v));
  assert_int_equal(v, 13);
  assert_true(scn_value_int("9223372036854775807", &v));
  assert_true(v == INT64_MAX);
  static const char *const bad[] = {"", "-", "0x", "+1", " 1", "1 ", "1e3", "9223372036854775808", "0xg",
    "--1", "1_000"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(scn_value_int(bad[i], &v));
}

static void durations(void **state) {
  (void)state;
  static const struct { const char *text; int64_t ns; } good[] = {
    {"0", 0}, {"7ns", 7}, {"10us", 10000}, {"100ms", 100000000}, {"5s", INT64_C(5000000000)},
    {"3m", INT64_C(180000000000)}, {"24h", INT64_C(86400000000000)},
  };
  int64_t ns = -1;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    assert_true(scn_value_duration(good[i].text, &ns));
    assert_true(ns == good[i].ns);
  }
  static const char *const bad[] = {"", "5", "5 s", "s", "-5s", "5sec", "2562048h", "99999999999999999999s", "1.5s"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(scn_value_duration(bad[i], &ns));
}

static void sizes(void **state) {
  (void)state;
  int64_t n = 0;
  assert_true(scn_value_size("64KiB", &n));
  assert_int_equal(n, 65536);
  assert_true(scn_value_size("2MiB", &n));
  assert_int_equal(n, 2097152);
  assert_true(scn_value_size("30000", &n));
  assert_int_equal(n, 30000);
  assert_false(scn_value_size("64KB", &n));
  assert_false(scn_value_size("-1", &n));
  assert_false(scn_value_size("9223372036854775807KiB", &n));
}

static void hex_bytes(void **state) {
  (void)state;
  uint8_t bytes[4] = {0};
  size_t used = 0;
  assert_true(scn_value_hex("89 00fF", bytes, sizeof bytes, &used));
  assert_int_equal(used, 3);
  assert_int_equal(bytes[0], 0x89);
  assert_int_equal(bytes[1], 0x00);
  assert_int_equal(bytes[2], 0xff);
  assert_true(scn_value_hex("", bytes, sizeof bytes, &used));
  assert_int_equal(used, 0);
  assert_true(scn_value_hex("010203040506", bytes, sizeof bytes, &used)); /* more than fits: counted, not written */
  assert_int_equal(used, 6);
  assert_false(scn_value_hex("8", bytes, sizeof bytes, &used));
  assert_false(scn_value_hex("8 9", bytes, sizeof bytes, &used));
  assert_false(scn_value_hex("0x89", bytes, sizeof bytes, &used));
}

static void compares(const char *text, enum scn_compare op, int64_t value, int64_t to) {
  enum scn_compare got_op;
  int64_t got_value, got_to;
  assert_true(scn_value_compare(text, &got_op, &got_value, &got_to));
  assert_int_equal(got_op, op);
  assert_true(got_value == value);
  assert_true(got_to == to);
}

static void comparisons(void **state) {
  (void)state;
  compares("5", SCN_EQ, 5, 0);
  compares("== 5", SCN_EQ, 5, 0);
  compares("<= 5", SCN_LE, 5, 0);
  compares(">=5", SCN_GE, 5, 0);
  compares("< 5", SCN_LT, 5, 0);
  compares("> -1", SCN_GT, -1, 0);
  compares("!= 0", SCN_NE, 0, 0);
  compares("1..4", SCN_RANGE, 1, 4);
  compares("-1..0", SCN_RANGE, -1, 0);
  enum scn_compare op;
  int64_t a, b;
  assert_false(scn_value_compare("4..1", &op, &a, &b));
  assert_false(scn_value_compare("~ 5", &op, &a, &b));
  assert_false(scn_value_compare("", &op, &a, &b));
  assert_false(scn_value_compare("1..", &op, &a, &b));
}

static void choices(void **state) {
  (void)state;
  int64_t p = -1;
  assert_int_equal(scn_value_choice("each|end|every N|wait D|chunk S", "end", &p), 1);
  assert_int_equal(p, 0);
  assert_int_equal(scn_value_choice("each|end|every N|wait D|chunk S", "every 7", &p), 2);
  assert_int_equal(p, 7);
  assert_int_equal(scn_value_choice("each|end|every N|wait D|chunk S", "wait 5ms", &p), 3);
  assert_true(p == 5000000);
  assert_int_equal(scn_value_choice("each|end|every N|wait D|chunk S", "chunk 1KiB", &p), 4);
  assert_int_equal(p, 1024);
  assert_int_equal(scn_value_choice("each|end|every N", "every", &p), -1);
  assert_int_equal(scn_value_choice("each|end|every N", "every 1..7", &p), -1);
  int64_t to;
  assert_int_equal(scn_value_choice_range("each|every N..|wait D..", "every 1..7", &p, &to), 1);
  assert_int_equal(p, 1);
  assert_int_equal(to, 7);
  assert_int_equal(scn_value_choice_range("each|every N..|wait D..", "wait 0..5ms", &p, &to), 2);
  assert_int_equal(p, 0);
  assert_int_equal(to, 5000000);
  assert_int_equal(scn_value_choice_range("each|every N..|wait D..", "every 7", &p, &to), 1);
  assert_int_equal(p, 7);
  assert_int_equal(to, 7);
  assert_int_equal(scn_value_choice_range("each|every N..|wait D..", "every 7..1", &p, &to), -1);
  assert_int_equal(scn_value_choice_range("each|every N..|wait D..", "every -1..1", &p, &to), -1);
  assert_int_equal(scn_value_choice_range("each|every N..|wait D..", "every 1..", &p, &to), -1);
  assert_int_equal(scn_value_choice("each|end|every N", "every x", &p), -1);
  assert_int_equal(scn_value_choice("each|end|every N", "every -1", &p), -1);
  assert_int_equal(scn_value_choice("each|end|every N", "eac", &p), -1);
  assert_int_equal(scn_value_choice("each|end|every N", "", &p), -1);
}

static void distances(void **state) {
  (void)state;
  assert_int_equal(scn_distance("claim", "claim"), 0);
  assert_int_equal(scn_distance("clam", "claim"), 1);
  assert_int_equal(scn_distance("calim", "claim"), 1); /* neighbours swapped */
  assert_int_equal(scn_distance("", "abc"), 3);
  assert_int_equal(scn_distance("kitten", "sitting"), 3);
}

/* An index of a choice list is cast to its enum, so each list must have all of it. */
static void words_cover_their_enums(void **state) {
  (void)state;
  static const struct { const char *words; size_t count; } lists[] = {
    {SCN_WORDS_WORLDS, SCN_WORLDS}, {SCN_WORDS_SCHEMA, WORKLOAD_SCHEMAS}, {SCN_WORDS_POINT, FAULT_POINTS},
    {SCN_WORDS_ACK, MOCK_ACK_HOLD + 1}, {SCN_WORDS_FLUSH, SCN_FLUSH_EVERY + 1}, {SCN_WORDS_ALLOW, 7},
    {SCN_WORDS_PROFILE, MOCK_PROFILE_JUL2026 + 1}, {SCN_WORDS_PHASE, FAULT_PHASE_ANY + 1},
    {SCN_WORDS_KIND, FAULT_KIND_ANY + 1}, {SCN_WORDS_DO, 17},
  };
  char word[64];
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    assert_true(scn_choice_word(lists[i].words, lists[i].count - 1, word, sizeof word));
    assert_false(scn_choice_word(lists[i].words, lists[i].count, word, sizeof word));
  }
  for (int s = 0; s < WORKLOAD_SCHEMAS; s++) {
    assert_true(scn_choice_word(SCN_WORDS_SCHEMA, (size_t)s, word, sizeof word));
    assert_string_equal(word, workload_schema_name((enum workload_schema)s));
  }
  for (int w = 0; w < SCN_WORLDS; w++) {
    assert_true(scn_choice_word(SCN_WORDS_WORLDS, (size_t)w, word, sizeof word));
    assert_string_equal(word, scn_world_name((enum scn_world)w));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(ints),        cmocka_unit_test(durations), cmocka_unit_test(sizes),
    cmocka_unit_test(hex_bytes),    cmocka_unit_test(comparisons), cmocka_unit_test(choices),
    cmocka_unit_test(distances),   cmocka_unit_test(words_cover_their_enums),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
