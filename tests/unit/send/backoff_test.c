#include "send/backoff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "qwp/ops.h"

#define MS QWP_NS_PER_MS

static void a_pause_lies_in_base_to_twice_base(void **state) {
  (void)state;
  struct qwp_backoff b;
  const int64_t base_ms[] = {100, 200, 400, 800, 800, 800};
  const uint64_t chance[] = {0, 1, UINT64_MAX, 0x123456789abcdefu};
  for (size_t c = 0; c < 4; c++) {
    qwp_backoff_init(&b, 100 * MS, 800 * MS);
    for (size_t i = 0; i < 6; i++) {
      assert_int_equal(b.base_ns, base_ms[i] * MS);
      int64_t pause_ns = qwp_backoff_next(&b, chance[c]);
      assert_true(pause_ns >= base_ms[i] * MS && pause_ns < 2 * base_ms[i] * MS);
    }
    qwp_backoff_reset(&b);
    assert_int_equal(b.base_ns, 100 * MS);
  }
  qwp_backoff_init(&b, 100 * MS, 800 * MS);
  assert_int_equal(qwp_backoff_next(&b, 0), 100 * MS);
  assert_int_equal(qwp_backoff_next(&b, (uint64_t)(200 * MS) - 1), 400 * MS - 1);
}

static void no_pair_of_keys_makes_a_busy_loop(void **state) {
  (void)state;
  const int64_t pairs[][2] = {{0, 0}, {0, 100 * MS}, {500 * MS, 100 * MS}, {QWP_NEVER, QWP_NEVER}, {-5, -7}};
  for (size_t i = 0; i < 5; i++) {
    struct qwp_backoff b;
    qwp_backoff_init(&b, pairs[i][0], pairs[i][1]);
    for (int k = 0; k < 100; k++) assert_true(qwp_backoff_next(&b, UINT64_MAX) >= MS);
    assert_true(b.base_ns <= b.max_ns);
  }
}

static void a_role_reject_starts_over(void **state) {
  (void)state;
  struct qwp_backoff b;
  qwp_backoff_init(&b, 50 * MS, 2000 * MS);
  for (int i = 0; i < 4; i++) qwp_backoff_next(&b, 0);
  assert_int_equal(qwp_backoff_role(&b, 0), 50 * MS);
  assert_int_equal(qwp_backoff_next(&b, 0), 50 * MS);
}

static void a_dose_doubles_six_times_up_to_the_maximum(void **state) {
  (void)state;
  struct qwp_backoff b;
  qwp_backoff_init(&b, 10 * MS, 5000 * MS);
  const int64_t expect_ms[] = {10, 20, 40, 80, 160, 320, 640, 640, 640};
  for (int i = 0; i < 9; i++) assert_int_equal(qwp_backoff_dose(&b, i + 1, 0), expect_ms[i] * MS);
  qwp_backoff_init(&b, 100 * MS, 300 * MS);
  assert_int_equal(qwp_backoff_dose(&b, 5, 0), 300 * MS);
  assert_int_equal(b.base_ns, 100 * MS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pause_lies_in_base_to_twice_base),
      cmocka_unit_test(no_pair_of_keys_makes_a_busy_loop),
      cmocka_unit_test(a_role_reject_starts_over),
      cmocka_unit_test(a_dose_doubles_six_times_up_to_the_maximum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
