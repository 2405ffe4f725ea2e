/* The default driver, with a real thread and the real world; no server is needed: what is
 * tested is that the thread starts, is woken, waited for, and ends. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "qwp/sender.h"
#include "store/ring.h"

#define NOBODY "ws::addr=127.0.0.1:1;" /* tcpmux: refused at once */

static void a_refused_first_connect_ends_the_thread(void **state) {
  (void)state;
  struct qwp_error err;
  assert_null(qwp_sender_create(NOBODY "initial_connect_retry=off;", NULL, &err));
  assert_int_equal(err.code, QWP_CONNECT);
  assert_int_equal(err.sys_errno, ECONNREFUSED);
}

static void rows_are_taken_without_a_server_and_close_is_bounded(void **state) {
  (void)state;
  struct qwp_error err;
  qwp_sender *s = qwp_sender_create(NOBODY "initial_connect_retry=async;close_flush_timeout_millis=50;"
                                           "reconnect_initial_backoff_millis=1;reconnect_max_backoff_millis=1;",
                                    NULL, &err);
  assert_non_null(s);
  for (int i = 0; i < 5000; i++) {
    assert_true(qwp_table(s, "t", &err) && qwp_long(s, "v", i, &err) && qwp_at_ns(s, i, &err));
    assert_true(qwp_sender_flush(s, NULL, &err));
  }
  assert_false(qwp_sender_drain(s, 20, &err));
  assert_int_equal(err.code, QWP_TIMEOUT);
  assert_int_equal(qwp_sender_published_fsn(s), 4999);
  assert_int_equal(qwp_sender_acked_fsn(s), -1);
  assert_false(qwp_sender_close(s, &err));
  assert_int_equal(err.code, QWP_TIMEOUT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_refused_first_connect_ends_the_thread),
      cmocka_unit_test(rows_are_taken_without_a_server_and_close_is_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
