#include "send/endpoints.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fail_mem.h"

static struct fail_mem mem;
static struct qwp_ops ops;

static struct qwp_endpoints list(size_t n) {
  ops = fail_mem_ops(&mem);
  struct qwp_endpoints e;
  assert_true(qwp_endpoints_init(&e, &ops, n));
  return e;
}

static void a_round_tries_each_once_in_order(void **state) {
  (void)state;
  struct qwp_endpoints e = list(3);
  for (int round = 0; round < 50; round++) {
    for (int i = 0; i < 3; i++) {
      assert_int_equal(qwp_endpoints_pick(&e), i);
      qwp_endpoints_mark(&e, i, QWP_TRANSPORT_ERROR);
    }
    assert_int_equal(qwp_endpoints_pick(&e), -1);
    qwp_endpoints_new_round(&e);
  }
  qwp_endpoints_free(&e);
  assert_int_equal(mem.live, 0);
}

static void the_better_state_wins(void **state) {
  (void)state;
  struct qwp_endpoints e = list(5);
  const enum qwp_health h[] = {QWP_TOPOLOGY_REJECT, QWP_TRANSPORT_ERROR, QWP_TRANSIENT_REJECT, QWP_UNKNOWN,
                             QWP_HEALTHY};
  for (int i = 0; i < 5; i++) e.states[i].health = h[i];
  for (int i = 4; i >= 0; i--) assert_int_equal(qwp_endpoints_pick(&e), i);
  qwp_endpoints_free(&e);
}

static void a_broken_one_goes_behind_its_peers_and_may_be_tried_at_once(void **state) {
  (void)state;
  struct qwp_endpoints e = list(2);
  assert_int_equal(qwp_endpoints_pick(&e), 0);
  qwp_endpoints_mark(&e, 0, QWP_HEALTHY);
  qwp_endpoints_lost(&e, 0);
  assert_int_equal(qwp_endpoints_pick(&e), 1);
  qwp_endpoints_mark(&e, 1, QWP_TRANSPORT_ERROR);
  assert_int_equal(qwp_endpoints_pick(&e), 0);
  qwp_endpoints_free(&e);
}

static void a_new_round_remembers_only_the_last_healthy_one(void **state) {
  (void)state;
  struct qwp_endpoints e = list(3);
  qwp_endpoints_mark(&e, 0, QWP_HEALTHY);
  qwp_endpoints_mark(&e, 2, QWP_HEALTHY);
  e.states[1].health = QWP_TOPOLOGY_REJECT;
  qwp_endpoints_new_round(&e);
  assert_int_equal(e.states[0].health, QWP_UNKNOWN);
  assert_int_equal(e.states[1].health, QWP_UNKNOWN);
  assert_int_equal(qwp_endpoints_pick(&e), 2);
  qwp_endpoints_free(&e);
}

static void no_memory_needs_no_free(void **state) {
  (void)state;
  ops = fail_mem_ops(&mem);
  mem.fail_at = 1;
  struct qwp_endpoints e;
  assert_false(qwp_endpoints_init(&e, &ops, 3));
  assert_int_equal(mem.live, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_round_tries_each_once_in_order),
      cmocka_unit_test(the_better_state_wins),
      cmocka_unit_test(a_broken_one_goes_behind_its_peers_and_may_be_tried_at_once),
      cmocka_unit_test(a_new_round_remembers_only_the_last_healthy_one),
      cmocka_unit_test(no_memory_needs_no_free),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
