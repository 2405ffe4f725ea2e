#include "send/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "qwp/ops.h"

static void each_status_has_its_policy(void **state) {
  (void)state;
  for (int status = 1; status < 256; status++) {
    enum qwp_policy expect = QWP_POLICY_RETRIABLE;
    if (status == 0x03 || status == 0x05 || status == 0x08) expect = QWP_POLICY_TERMINAL;
    if (status == 0x0C) expect = QWP_POLICY_RETRIABLE_OTHER;
    assert_int_equal(qwp_policy_of((uint8_t)status), expect);
  }
  assert_string_equal(qwp_policy_category(0x0D), "DICTIONARY_GAP");
  assert_string_equal(qwp_policy_category(0x0A), "UNKNOWN"); /* egress only */
  assert_string_equal(qwp_policy_category(0x7f), "UNKNOWN");
}

static void only_1000_and_1001_are_orderly(void **state) {
  (void)state;
  for (int code = -1; code < 5000; code++)
    assert_int_equal(qwp_policy_orderly_close(code), code == 1000 || code == 1001);
}

static void poison_takes_strikes_and_time(void **state) {
  (void)state;
  struct qwp_poison p;
  qwp_poison_init(&p, 4, 5000);
  for (int i = 0; i < 4; i++) assert_false(qwp_poison_strike(&p, 7, i * 1000));
  assert_false(qwp_poison_strike(&p, 7, 4999));
  assert_true(qwp_poison_strike(&p, 7, 5000));

  qwp_poison_init(&p, 4, 5000); /* long apart: the count decides */
  for (int i = 0; i < 3; i++) assert_false(qwp_poison_strike(&p, 7, i * 10000));
  assert_true(qwp_poison_strike(&p, 7, 30000));

  qwp_poison_init(&p, 1, 0);
  assert_true(qwp_poison_strike(&p, 0, 0));
}

static void progress_or_another_frame_starts_over(void **state) {
  (void)state;
  struct qwp_poison p;
  qwp_poison_init(&p, 2, 0);
  assert_false(qwp_poison_strike(&p, 7, 0));
  qwp_poison_acked(&p, 6); /* behind the suspect: no reset */
  assert_int_equal(p.strikes, 1);
  assert_false(qwp_poison_strike(&p, 8, 1));
  assert_int_equal(p.strikes, 1);
  assert_int_equal(p.first_ns, 1);
  qwp_poison_acked(&p, 8);
  assert_int_equal(p.strikes, 0);
  assert_false(qwp_poison_strike(&p, 8, 2));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_status_has_its_policy),
      cmocka_unit_test(only_1000_and_1001_are_orderly),
      cmocka_unit_test(poison_takes_strikes_and_time),
      cmocka_unit_test(progress_or_another_frame_starts_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
