/* What is computed from a client's calls: the trace as text, and the longest run of sends. */
#include "client/facts.h"

#include <errno.h>

#include "../faults/kit.h"

static uint8_t bytes[4096];

static void send_frame(struct kit *k, size_t wire) {
  kit_frame(bytes, 2, wire - (wire > 131 ? 8 : 6));
  assert_int_equal(kit_send(k, bytes, wire), wire);
}

static void receive(struct kit *k, size_t n) {
  uint8_t into[64];
  if (n) sn_feed(&k->sn, bytes, n);
  (void)kit_recv(k, into, sizeof into);
}

static int64_t longest(struct kit *k) {
  struct facts f;
  facts_init(&f);
  facts_of_trace(&f, k->f);
  const int64_t n = facts_get(&f, "io.max_send_run", -1);
  facts_free(&f);
  return n;
}

static void a_run_ends_at_a_receive_attempt(void **state) {
  (void)state;
  struct kit k;
  kit_open(&k, NULL, 0);
  assert_int_equal(longest(&k), 0); /* the upgrade is no data */
  send_frame(&k, 100);
  send_frame(&k, 60);
  receive(&k, 0); /* an attempt, though nothing came */
  send_frame(&k, 150);
  assert_int_equal(longest(&k), 160);
  (void)kit_wait(&k, QWP_READABLE | QWP_WRITABLE); /* to wait is not to read */
  send_frame(&k, 50);
  assert_int_equal(longest(&k), 200);
  receive(&k, 2);
  kit_frame(bytes, 8, 200); /* a Close is no data */
  assert_int_equal(kit_send(&k, bytes, 208), 208);
  assert_int_equal(longest(&k), 200);
  kit_end(&k);
}

static void a_run_belongs_to_one_connection(void **state) {
  (void)state;
  struct kit k;
  kit_open(&k, NULL, 0);
  send_frame(&k, 100);
  kit_close(&k);
  kit_upgrade(&k);
  send_frame(&k, 90);
  assert_int_equal(longest(&k), 100);
  kit_end(&k);
}

static void only_what_was_taken_counts(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.line = 1, .point = FAULT_SEND, .nth = 1, .act = FAULT_DO_SHORT, .value = 40),
      RULE(.line = 2, .point = FAULT_SEND, .nth = 2, .act = FAULT_DO_AGAIN),
  };
  struct kit k;
  kit_open(&k, rules, 2);
  kit_frame(bytes, 2, 94);
  assert_int_equal(kit_send(&k, bytes, 100), 40);
  assert_int_equal(kit_send(&k, bytes + 40, 60), -EAGAIN);
  assert_int_equal(kit_send(&k, bytes + 40, 60), 60);
  assert_int_equal(longest(&k), 100);
  struct facts f;
  facts_init(&f);
  facts_of_trace(&f, k.f);
  assert_string_equal(facts_find(&f, "io.trace")->text, "send(100)->40\nsend(60)->again\nsend(60)->60\n");
  facts_free(&f);
  kit_end(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_ends_at_a_receive_attempt),
      cmocka_unit_test(a_run_belongs_to_one_connection),
      cmocka_unit_test(only_what_was_taken_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
