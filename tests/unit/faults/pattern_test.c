/* Rules that fire now and then, and rules whose value is chosen anew each time. */
#include <errno.h>

#include "kit.h"

static uint8_t wire[4096];

/* Sends one data frame of 64 bytes; what came of it. */
static long send_once(struct kit *k) { return kit_send(k, wire, kit_frame(wire, 2, 58)); }

static void every_second_call(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_RECV, .act = FAULT_DO_AGAIN, .every = 2, .repeat = FAULT_FOREVER)};
  struct kit k;
  char c;
  kit_open(&k, rules, 1);
  sn_feed(&k.sn, "abcd", 4);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(kit_recv(&k, &c, 1), 1);
    assert_int_equal(kit_recv(&k, &c, 1), -EAGAIN);
  }
  assert_int_equal(faults_fired(k.f, 0), 4);
  kit_end(&k);
}

static void two_patterns_alternate(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_SEND, .nth = 1, .act = FAULT_DO_SHORT, .value = 5, .every = 2, .repeat = FAULT_FOREVER),
      RULE(.point = FAULT_SEND, .act = FAULT_DO_AGAIN, .every = 2, .repeat = FAULT_FOREVER)};
  struct kit k;
  kit_open(&k, rules, 2);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(send_once(&k), 5);
    assert_int_equal(send_once(&k), -EAGAIN);
  }
  kit_end(&k);
}

static void times_counts_what_fired(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_SEND, .nth = 2, .act = FAULT_DO_AGAIN, .every = 3, .repeat = FAULT_TIMES, .times = 2)};
  const long expected[] = {64, -EAGAIN, 64, 64, -EAGAIN, 64, 64, 64, 64};
  struct kit k;
  kit_open(&k, rules, 1);
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) assert_int_equal(send_once(&k), expected[i]);
  assert_int_equal(faults_unfired(k.f, NULL, NULL), 0);
  kit_end(&k);
}

/* ---- ranges -------------------------------------------------------------------------- */

#define PICKS 200

static void shorts_of(uint64_t seed, int64_t from, int64_t to, long out[PICKS]) {
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_SEND, .act = FAULT_DO_SHORT, .value = from, .value_to = to, .repeat = FAULT_FOREVER)};
  struct kit k;
  kit_new_seeded(&k, rules, 1, seed);
  kit_upgrade(&k);
  for (int i = 0; i < PICKS; i++) out[i] = send_once(&k);
  kit_end(&k);
}

static void a_range_is_used_whole_and_kept(void **state) {
  (void)state;
  long seen[PICKS];
  int counts[8] = {0};
  shorts_of(1, 1, 7, seen);
  for (int i = 0; i < PICKS; i++) {
    assert_in_range(seen[i], 1, 7);
    counts[seen[i]]++;
  }
  for (int v = 1; v <= 7; v++) assert_true(counts[v] > 0);
  shorts_of(1, 7, 7, seen); /* one value is no choice */
  for (int i = 0; i < PICKS; i++) assert_int_equal(seen[i], 7);
}

static void a_seed_repeats_its_choices(void **state) {
  (void)state;
  long one[PICKS], again[PICKS], other[PICKS];
  shorts_of(42, 1, 50, one);
  shorts_of(42, 1, 50, again);
  shorts_of(43, 1, 50, other);
  assert_memory_equal(one, again, sizeof one);
  assert_memory_not_equal(one, other, sizeof one);
}

/* How often one rule chose does not move what another chooses. */
static void rules_choose_on_their_own(void **state) {
  (void)state;
  long alone[PICKS];
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_SEND, .act = FAULT_DO_SHORT, .value = 1, .value_to = 50, .repeat = FAULT_FOREVER),
      RULE(.point = FAULT_RECV, .act = FAULT_DO_DELAY_BEFORE, .value = 0, .value_to = 9, .repeat = FAULT_FOREVER)};
  struct kit k;
  char c;
  shorts_of(5, 1, 50, alone);
  kit_new_seeded(&k, rules, 2, 5);
  kit_upgrade(&k);
  for (int i = 0; i < PICKS; i++) {
    assert_int_equal(send_once(&k), alone[i]);
    kit_recv(&k, &c, 1);
  }
  assert_in_range(k.delayed_ns, 1, 9 * PICKS);
  kit_end(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_second_call),          cmocka_unit_test(two_patterns_alternate),
      cmocka_unit_test(times_counts_what_fired),    cmocka_unit_test(a_range_is_used_whole_and_kept),
      cmocka_unit_test(a_seed_repeats_its_choices), cmocka_unit_test(rules_choose_on_their_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
