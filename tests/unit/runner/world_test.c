/* world: what a connect string becomes in each world. */
#include "runner/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static const char *config(const char *text, const char *ca) {
  static char out[256];
  assert_true(world_config(text, "127.0.0.1:9000", ca, out, sizeof out));
  return out;
}

static void names_of_the_runner_are_replaced(void **state) {
  (void)state;
  assert_string_equal(config("ws::addr=${server};", NULL), "ws::addr=127.0.0.1:9000;");
  assert_string_equal(config("ws::addr=${server},a.test:${port};x=${y};", NULL), "ws::addr=127.0.0.1:9000,a.test:9000;x=${y};");
  assert_string_equal(config("", NULL), "");
}

static void over_tls_ws_becomes_wss_that_trusts_the_ca(void **state) {
  (void)state;
  assert_string_equal(config("ws::addr=${server};", "/tmp/ca.pem"), "wss::tls_roots=/tmp/ca.pem;addr=127.0.0.1:9000;");
  assert_string_equal(config("wss::addr=${server};tls_roots=${ca};", "/tmp/ca.pem"),
                      "wss::addr=127.0.0.1:9000;tls_roots=/tmp/ca.pem;");
}

static void what_does_not_fit_is_told(void **state) {
  (void)state;
  char out[32];
  const size_t whole = strlen("wss::tls_roots=ca;addr=h:1;");
  for (size_t n = 1; n <= whole; n++) assert_false(world_config("ws::addr=${server};", "h:1", "ca", out, n));
  assert_true(world_config("ws::addr=${server};", "h:1", "ca", out, whole + 1));
}

static void the_ca_is_a_private_file_that_goes(void **state) {
  (void)state;
  struct world_options w = {0};
  struct stat st;
  char why[256], path[512];
  assert_true(world_tls_prepare(&w, why, sizeof why));
  assert_non_null(w.identity);
  snprintf(path, sizeof path, "%s", w.ca);
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  world_tls_forget(&w);
  assert_int_equal(stat(path, &st), -1);
  assert_null(w.identity);
  world_tls_forget(&w); /* nothing more to forget */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_of_the_runner_are_replaced),
      cmocka_unit_test(over_tls_ws_becomes_wss_that_trusts_the_ca),
      cmocka_unit_test(what_does_not_fit_is_told),
      cmocka_unit_test(the_ca_is_a_private_file_that_goes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
