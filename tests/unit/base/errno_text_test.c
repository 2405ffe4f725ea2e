/* The text of an errno: the system's, cut to fit, and a text for every number. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/errno_text.h"

static void every_errno_has_a_text(void **state) {
  (void)state;
  char text[QWP_ERRNO_TEXT_BYTES];
  for (int number = 1; number < 134; number++) {
    assert_ptr_equal(qwp_errno_text(number, text, sizeof text), text);
    assert_true(text[0] != '\0' && strlen(text) < sizeof text);
    if (number == EPIPE) assert_string_equal(text, strerror(EPIPE));
    if (number == ENOBUFS) assert_string_equal(text, strerror(ENOBUFS));
  }
}

static void a_number_that_is_none_has_one_too(void **state) {
  (void)state;
  static const int numbers[] = {-1, 100000, INT_MAX, INT_MIN};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    char text[QWP_ERRNO_TEXT_BYTES] = "";
    qwp_errno_text(numbers[i], text, sizeof text);
    assert_non_null(strchr(text, 'r')); /* "Unknown error N", or "error N" */
  }
}

/* Nothing is written behind the room, and what is there ends. */
static void cut_to_fit(void **state) {
  (void)state;
  for (size_t cap = 1; cap < 40; cap++) {
    char text[48];
    memset(text, '#', sizeof text);
    qwp_errno_text(ENOBUFS, text, cap);
    assert_non_null(memchr(text, '\0', cap));
    for (size_t i = cap; i < sizeof text; i++) assert_int_equal(text[i], '#');
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_errno_has_a_text),
      cmocka_unit_test(a_number_that_is_none_has_one_too),
      cmocka_unit_test(cut_to_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
