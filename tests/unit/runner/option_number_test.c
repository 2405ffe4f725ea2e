/* A number on a command line is digits and nothing else, within its bounds, or it is refused and *out stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/option_number.h"

static void digits_within_the_bounds_are_taken(void **state) {
  (void)state;
  uint64_t n = 0;
  assert_true(option_number("x", "-n", "7", 7, 9, &n));
  assert_int_equal(n, 7);
  assert_true(option_number("x", "-n", "9", 7, 9, &n));
  assert_int_equal(n, 9);
  assert_true(option_number("x", "-n", "010", 1, 10, &n)); /* ten, not eight */
  assert_int_equal(n, 10);
  assert_true(option_number("x", "-n", "18446744073709551615", 1, UINT64_MAX, &n));
  assert_true(n == UINT64_MAX);
}

static void all_else_is_refused(void **state) {
  (void)state;
  static const char *const wrong[] = {"", " ", " 8", "8 ", "+8", "-8", " -8", "8x", "0x8", "8.0", "6", "10",
                                      "18446744073709551616", "-18446744073709551608"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    uint64_t n = 3;
    assert_false(option_number("x", "-n", wrong[i], 7, 9, &n));
    assert_int_equal(n, 3);
  }
  uint64_t n = 3;
  assert_false(option_number("x", "-n", "18446744073709551616", 1, UINT64_MAX, &n));
  assert_false(option_number("x", "-n", " -1", 1, UINT64_MAX, &n));
  assert_int_equal(n, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(digits_within_the_bounds_are_taken),
      cmocka_unit_test(all_else_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
