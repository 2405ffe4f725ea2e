/* mask_keys: keys that are not drawn afresh are told, random ones are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>
#include <string.h>

#include "core/mask_keys.h"
#include "mock_rig.h"

#define IN_A_ROW "mask keys repeat from frame to frame"
#define IN_A_CIRCLE "mask keys come round again"

/* A bijection (the end of murmur3), so that no two keys below are equal by chance. */
static uint32_t scattered(uint64_t i) {
  uint32_t x = (uint32_t)i + 0x9E3779B9u;
  x = (x ^ x >> 16) * 0x85EBCA6Bu;
  x = (x ^ x >> 13) * 0xC2B2AE35u;
  return x ^ x >> 16;
}

static const char *take(struct mock_mask_keys *k, uint32_t key) {
  uint8_t bytes[4];
  memcpy(bytes, &key, 4);
  return mock_mask_keys_take(k, bytes) ? mock_mask_keys_judge(k) : NULL;
}

/* The frame at which the keys of one period are told, 0 = not among n. */
static uint64_t told_at(const uint32_t *period, size_t period_n, uint64_t n, const char **wrong) {
  struct mock_mask_keys k;
  mock_mask_keys_init(&k);
  for (uint64_t i = 0; i < n; i++)
    if ((*wrong = take(&k, period[i % period_n])) != NULL) return i + 1;
  return 0;
}

/* ---- alone ---------------------------------------------------------------------------- */

static void one_key_for_all_frames_is_told_at_the_third(void **state) {
  (void)state;
  const uint32_t keys[] = {0, 1, 0x04030201, UINT32_MAX};
  const char *wrong;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    assert_int_equal(told_at(&keys[i], 1, 10, &wrong), 3);
    assert_string_equal(wrong, IN_A_ROW);
    assert_int_equal(told_at(&keys[i], 1, 2, &wrong), 0);
  }
}

static void a_key_for_each_write_is_told_when_a_second_write_repeats_its_own(void **state) {
  (void)state;
  const uint32_t pairs[] = {7, 7, 9, 9}, far[] = {7, 7, 1, 2, 3, 4, 5, 6, 9, 9};
  const char *wrong;
  assert_int_equal(told_at(pairs, 4, 4, &wrong), 4);
  assert_string_equal(wrong, IN_A_ROW);
  assert_int_equal(told_at(far, 10, 10, &wrong), 0); /* 8 frames apart: two coincidences */
  assert_int_equal(told_at(far + 1, 9, 9, &wrong), 0);
}

static void single_coincidences_and_zero_keys_are_let_pass(void **state) {
  (void)state;
  const uint32_t twice[] = {7, 7, 1, 2, 3, 4, 5, 6, 8}, zero[] = {0, 1, 2, 0, 3, 4, 0, 5, 6},
                 zeros_first[] = {0, 0, 1, 2, 3, 4}, sometimes[] = {1, 2, 1, 3, 1, 4, 1, 5};
  const char *wrong;
  assert_int_equal(told_at(twice, 9, 9, &wrong), 0);
  assert_int_equal(told_at(zero, 9, 9, &wrong), 0);
  assert_int_equal(told_at(zeros_first, 6, 6, &wrong), 0);
  assert_int_equal(told_at(sometimes, 8, 8, &wrong), 0);
}

static void a_circle_of_keys_is_told_within_three_rounds(void **state) {
  (void)state;
  static uint32_t period[5000];
  for (size_t i = 0; i < 5000; i++) period[i] = scattered(i);
  const char *wrong;
  for (size_t n = 2; n <= 5000; n = n * 3 / 2) {
    const uint64_t at = told_at(period, n, 3 * n + 1, &wrong);
    assert_true(at > n);
    assert_string_equal(wrong, IN_A_CIRCLE);
  }
}

static void a_million_random_keys_are_fresh(void **state) {
  (void)state;
  struct mock_mask_keys k;
  mock_mask_keys_init(&k);
  size_t looks = 0;
  for (uint64_t i = 0; i < 1000000; i++) {
    const uint32_t key = scattered(i);
    uint8_t bytes[4];
    memcpy(bytes, &key, 4);
    if (!mock_mask_keys_take(&k, bytes)) continue;
    looks++;
    assert_null(mock_mask_keys_judge(&k));
  }
  assert_int_equal(looks, 19); /* at 2, 4, 8, ... 524288: the closer look is rare */
}

static void it_is_told_once(void **state) {
  (void)state;
  struct mock_mask_keys k;
  mock_mask_keys_init(&k);
  size_t told = 0;
  for (int i = 0; i < 100; i++) told += take(&k, 5) != NULL;
  assert_int_equal(told, 1);
}

/* ---- in a conversation ------------------------------------------------------------------ */

static void judge_all(struct rig *r, const struct mock_script *s) {
  rig_start_as(r, s, MOCK_ROWS_FULL, MOCK_JOURNAL_FULL, false);
}

/* A connection with a Sec-WebSocket-Key of its own. */
static struct rig_peer *another(struct rig *r) {
  char text[] = RIG_WRITE_HEAD;
  char *key = strstr(text, "dGhl");
  key[0] = (char)('A' + r->peer_count);
  struct rig_peer *p = rig_connect(r);
  assert_non_null(p);
  rig_feed(p, text, sizeof text - 1);
  rig_forget(p);
  return p;
}

/* The frames of every road through the mock: short, long, a Ping, cut by the end of a read. */
static void send_frame(struct rig_peer *p, int kind, int64_t id, uint32_t key_word) {
  static struct rig_bytes b;
  uint8_t message[64], key[4];
  static const char text[200];
  memcpy(key, &key_word, 4);
  b.n = 0;
  if (kind == 1) rig_frame_masked(&b, 0x89, "ping", 4, key);
  else rig_frame_masked(&b, 0x82, message, rig_message(message, 0, id), key);
  if (kind == 2) {
    b.n = 0;
    rig_frame_masked(&b, 0x82, text, sizeof text, key); /* refused; judged all the same */
  }
  const size_t first = kind == 3 ? 5 : b.n;
  rig_feed(p, b.p, first);
  if (first < b.n) rig_feed(p, b.p + first, b.n - first);
}

static void one_key_is_a_violation_on_every_road(void **state) {
  (void)state;
  for (int kind = 0; kind < 4; kind++)
    for (uint32_t key = 0; key < 2; key++) {
      struct rig r;
      judge_all(&r, NULL);
      struct rig_peer *p = another(&r);
      for (int i = 0; i < 2; i++) send_frame(p, kind, i, key);
      assert_int_equal(mock_violation_count(r.m), 0);
      for (int i = 2; i < 9; i++) send_frame(p, kind, i, key);
      assert_int_equal(mock_violation_count(r.m), 1);
      assert_string_equal(mock_violation_at(r.m, 0)->requirement, "WS-001");
      assert_string_equal(mock_violation_at(r.m, 0)->text, IN_A_ROW);
      assert_int_equal(mock_violation_at(r.m, 0)->connection, 1);
      if (kind == 0) assert_int_equal(rig_facts(&r).rows, 9); /* noted, and served */
      rig_stop(&r);
    }
}

static void fresh_keys_are_none(void **state) {
  (void)state;
  struct rig r;
  judge_all(&r, NULL);
  uint64_t drawn = 0;
  for (int c = 0; c < 3; c++) {
    struct rig_peer *p = another(&r);
    for (int i = 0; i < 50; i++) send_frame(p, i % 2 ? 3 : i % 4 == 0 ? 1 : 0, i, scattered(drawn++));
  }
  assert_int_equal(mock_violation_count(r.m), 0);
  rig_stop(&r);
}

/* A generator that begins anew with every connection. */
static void the_same_keys_on_a_second_connection_are_a_violation(void **state) {
  (void)state;
  struct rig r;
  judge_all(&r, NULL);
  struct rig_peer *p = another(&r), *q = another(&r);
  for (uint64_t i = 0; i < 5; i++) send_frame(p, 0, (int64_t)i, scattered(i));
  send_frame(q, 0, 5, scattered(0));
  assert_int_equal(mock_violation_count(r.m), 0);
  for (uint64_t i = 1; i < 5; i++) send_frame(q, 0, 5 + (int64_t)i, scattered(i));
  assert_int_equal(mock_violation_count(r.m), 1);
  assert_string_equal(mock_violation_at(r.m, 0)->requirement, "WS-001");
  assert_int_equal(mock_violation_at(r.m, 0)->connection, 2);
  rig_stop(&r);
}

static void replayed_frames_may_have_one_key(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r), *q = rig_client(&r);
  for (int i = 0; i < 9; i++) send_frame(p, 0, i, 0);
  for (int i = 9; i < 18; i++) send_frame(q, 0, i, 0);
  assert_int_equal(mock_violation_count(r.m), 0);
  rig_stop(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_key_for_all_frames_is_told_at_the_third),
    cmocka_unit_test(a_key_for_each_write_is_told_when_a_second_write_repeats_its_own),
    cmocka_unit_test(single_coincidences_and_zero_keys_are_let_pass),
    cmocka_unit_test(a_circle_of_keys_is_told_within_three_rounds),
    cmocka_unit_test(a_million_random_keys_are_fresh),
    cmocka_unit_test(it_is_told_once),
    cmocka_unit_test(one_key_is_a_violation_on_every_road),
    cmocka_unit_test(fresh_keys_are_none),
    cmocka_unit_test(the_same_keys_on_a_second_connection_are_a_violation),
    cmocka_unit_test(replayed_frames_may_have_one_key),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
