/* The error record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "qwp/status.h"

static void an_empty_error_says_none_everywhere(void **state) {
  (void)state;
  struct qwp_error err;
  memset(&err, 0x55, sizeof err);
  qwp_error_clear(&err);
  assert_int_equal(err.code, QWP_OK);
  assert_int_equal(err.server_status, -1);
  assert_int_equal(err.close_code, -1);
  assert_true(err.message_seq == -1 && err.from_fsn == -1 && err.to_fsn == -1);
  assert_int_equal(err.http_status, 0);
  assert_false(err.in_doubt);
  assert_string_equal(err.key, "");
  assert_string_equal(err.text, "");
  qwp_error_clear(NULL);
}

static void fail_fills_and_returns_the_code(void **state) {
  (void)state;
  struct qwp_error err;
  qwp_error_clear(&err);
  err.close_code = 1002; /* of an earlier failure */
  assert_int_equal(qwp_fail(&err, QWP_TOO_LARGE, "%d of %s", 7, "rows"), QWP_TOO_LARGE);
  assert_int_equal(err.code, QWP_TOO_LARGE);
  assert_string_equal(err.text, "7 of rows");
  assert_int_equal(err.close_code, -1);
  assert_int_equal(qwp_fail(NULL, QWP_NAME, "%s", "nobody listens"), QWP_NAME);
}

static void long_texts_are_cut(void **state) {
  (void)state;
  struct qwp_error err;
  char text[2000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  qwp_fail(&err, QWP_VALUE, "%s", text);
  assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void a_long_text_is_cut_between_characters(void **state) {
  (void)state;
  static const char *const character[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  for (size_t kind = 0; kind < 3; kind++) {
    size_t n = strlen(character[kind]);
    for (size_t shift = 0; shift < n; shift++) {
      struct qwp_error err = {.code = QWP_REJECTED};
      char text[2 * sizeof err.text];
      memset(text, 'x', sizeof text);
      for (size_t i = shift; i + n < sizeof text; i += n) memcpy(text + i, character[kind], n);
      text[sizeof text - 1] = '\0';
      qwp_error_say(&err, "%s", text);
      assert_int_equal(err.code, QWP_REJECTED);
      assert_int_equal(strlen(err.text), shift + (sizeof err.text - 1 - shift) / n * n);
    }
  }
}

static void a_text_that_fits_keeps_its_last_character(void **state) {
  (void)state;
  struct qwp_error err;
  qwp_fail(&err, QWP_NAME, "%s", "caf\xc3\xa9");
  assert_string_equal(err.text, "caf\xc3\xa9");
}

static void every_code_has_its_name(void **state) {
  (void)state;
  assert_string_equal(qwp_status_name(QWP_OK), "QWP_OK");
  assert_string_equal(qwp_status_name(QWP_BACKPRESSURE), "QWP_BACKPRESSURE");
  assert_string_equal(qwp_status_name(QWP_CONN_LOST), "QWP_CONN_LOST");
  assert_string_equal(qwp_status_name(QWP_POISONED), "QWP_POISONED");
  assert_string_equal(qwp_status_name(QWP_RESEND), "QWP_RESEND");
  assert_string_equal(qwp_status_name(QWP_VALUE), "QWP_VALUE");
  assert_string_equal(qwp_status_name(QWP_NOMEM), "QWP_NOMEM");
  assert_string_equal(qwp_status_name((enum qwp_status)9999), "unknown status");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_error_says_none_everywhere),
      cmocka_unit_test(fail_fills_and_returns_the_code),
      cmocka_unit_test(long_texts_are_cut),
      cmocka_unit_test(a_long_text_is_cut_between_characters),
      cmocka_unit_test(a_text_that_fits_keeps_its_last_character),
      cmocka_unit_test(every_code_has_its_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
