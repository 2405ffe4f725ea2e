#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/number.h"

#define UNTOUCHED INT64_C(-77)

struct number_case {
  const char *text;
  enum qwp_number_result result;
  int64_t value;
};

static void check(enum qwp_number_result (*read)(const char *, int64_t *), const struct number_case *cases, size_t n) {
  for (size_t i = 0; i < n; i++) {
    int64_t v = UNTOUCHED;
    enum qwp_number_result result = read(cases[i].text, &v);
    int64_t wanted = cases[i].result == QWP_NUMBER_OK ? cases[i].value : UNTOUCHED;
    if (result != cases[i].result || v != wanted) {
      fail_msg("\"%s\": result %d, value %lld", cases[i].text, (int)result, (long long)v);
    }
  }
}

#define CHECK(read, cases) check(read, cases, sizeof cases / sizeof cases[0])

static void decimal_numbers(void **state) {
  (void)state;
  static const struct number_case cases[] = {
      {"0", QWP_NUMBER_OK, 0},
      {"007", QWP_NUMBER_OK, 7},
      {"-1", QWP_NUMBER_OK, -1},
      {"-0", QWP_NUMBER_OK, 0},
      {"9223372036854775807", QWP_NUMBER_OK, INT64_MAX},
      {"9223372036854775808", QWP_NUMBER_OVERFLOW, 0},
      {"9223372036854775810", QWP_NUMBER_OVERFLOW, 0},
      {"-9223372036854775808", QWP_NUMBER_OK, INT64_MIN},
      {"-9223372036854775809", QWP_NUMBER_OVERFLOW, 0},
      {"99999999999999999999999999999999999999999", QWP_NUMBER_OVERFLOW, 0},
      {"99999999999999999999x", QWP_NUMBER_MALFORMED, 0},
      {"", QWP_NUMBER_MALFORMED, 0},
      {"-", QWP_NUMBER_MALFORMED, 0},
      {"--1", QWP_NUMBER_MALFORMED, 0},
      {"+1", QWP_NUMBER_MALFORMED, 0},
      {" 1", QWP_NUMBER_MALFORMED, 0},
      {"1 ", QWP_NUMBER_MALFORMED, 0},
      {"1.5", QWP_NUMBER_MALFORMED, 0},
      {"1k", QWP_NUMBER_MALFORMED, 0},
      {"0x10", QWP_NUMBER_MALFORMED, 0},
  };
  CHECK(qwp_number_read, cases);
}

/* CONF-011 */
static void sizes(void **state) {
  (void)state;
  static const struct number_case cases[] = {
      {"64k", QWP_NUMBER_OK, 65536},
      {"4MB", QWP_NUMBER_OK, 4194304},
      {"1t", QWP_NUMBER_OK, INT64_C(1) << 40},
      {"1Kb", QWP_NUMBER_OK, 1024},
      {"2g", QWP_NUMBER_OK, INT64_C(2) << 30},
      {"3tB", QWP_NUMBER_OK, INT64_C(3) << 40},
      {"0", QWP_NUMBER_OK, 0},
      {"0t", QWP_NUMBER_OK, 0},
      {"9223372036854775807", QWP_NUMBER_OK, INT64_MAX},
      {"8388607t", QWP_NUMBER_OK, INT64_C(8388607) << 40},
      {"8388608t", QWP_NUMBER_OVERFLOW, 0},
      {"99999999t", QWP_NUMBER_OVERFLOW, 0},
      {"9223372036854775808", QWP_NUMBER_OVERFLOW, 0},
      {"9007199254740992k", QWP_NUMBER_OVERFLOW, 0},
      {"4x", QWP_NUMBER_MALFORMED, 0},
      {"-1", QWP_NUMBER_MALFORMED, 0},
      {"1kk", QWP_NUMBER_MALFORMED, 0},
      {"1kbb", QWP_NUMBER_MALFORMED, 0},
      {"1b", QWP_NUMBER_MALFORMED, 0},
      {"1 k", QWP_NUMBER_MALFORMED, 0},
      {"k", QWP_NUMBER_MALFORMED, 0},
      {"", QWP_NUMBER_MALFORMED, 0},
      {"1.5m", QWP_NUMBER_MALFORMED, 0},
      {"99999999999999999999x", QWP_NUMBER_MALFORMED, 0},
  };
  CHECK(qwp_number_read_size, cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(decimal_numbers),
      cmocka_unit_test(sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
