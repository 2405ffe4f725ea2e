/* The grammar alone: CONF-001, CONF-003, CONF-004. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/connect_string.h"
#include "fail_mem.h"

static struct fail_mem mem;
static struct qwp_ops ops;

/* Writes what the grammar reads: "schema|key=value|key=value|", or "!key" in place
 * of the entry that is refused, "?key" where its value is. */
static const char *read_all(const char *text) {
  static char out[512];
  struct qwp_connect_string s;
  struct qwp_error err;
  qwp_error_clear(&err);
  if (qwp_connect_string_init(&s, &ops, text, &err) != QWP_OK) {
    assert_int_equal(err.code, QWP_CONFIG);
    assert_true(err.text[0] != '\0');
    return "!";
  }
  int n = snprintf(out, sizeof out, "%s|", s.schema);
  for (;;) {
    struct qwp_pair pair;
    enum qwp_pair_result result = qwp_connect_string_next(&s, &pair, &err);
    if (result == QWP_PAIR_END) break;
    const char *mark = result == QWP_PAIR_BAD ? "!" : qwp_pair_check(&pair, &err) != QWP_OK ? "?" : "";
    if (mark[0]) {
      assert_int_equal(err.code, QWP_CONFIG);
      snprintf(out + n, sizeof out - (size_t)n, "%s%s", mark, err.key);
      break;
    }
    n += snprintf(out + n, sizeof out - (size_t)n, "%s=%s|", pair.key, pair.value);
  }
  qwp_connect_string_free(&s);
  return out;
}

static void pairs(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"ws::addr=h;", "ws|addr=h|"},
      {"ws::addr=h", "ws|addr=h|"},
      {"ws::a=1;b=2", "ws|a=1|b=2|"},
      {"ws::", "ws|"},
      {"ws::a=;b=;", "ws|a=|b=|"},
      {"ws::a= x ;", "ws|a= x |"},
      {"ws::a=b=c;", "ws|a=b=c|"},
      {"ws::a=x::y;", "ws|a=x::y|"},
      {"http_2::A9_=1;", "http_2|A9_=1|"},
      /* ";;" is one ";" (CONF-003) */
      {"ws::p=p;;ssw;;rd;q=1;", "ws|p=p;ssw;rd|q=1|"},
      {"ws::p=x;;", "ws|p=x;|"},
      {"ws::p=x;;;", "ws|p=x;|"},
      {"ws::p=x;;;q=1", "ws|p=x;|q=1|"},
      {"ws::p=;;;;", "ws|p=;;|"},
      {"ws::p=;;;q=1;", "ws|p=;|q=1|"},
      {"ws::p=h\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80;", "ws|p=h\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80|"},
      {"ws::p=\xC2\xA0;", "ws|p=\xC2\xA0|"}, /* U+00A0 is no control character */
      {"ws::p=\xED\x9F\xBF\xF4\x8F\xBF\xBF;", "ws|p=\xED\x9F\xBF\xF4\x8F\xBF\xBF|"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_string_equal(read_all(cases[i][0]), cases[i][1]);
  }
}

static void refusals(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"", "!"},
      {"ws", "!"},
      {"ws:addr=h;", "!"},
      {"::addr=h;", "!"},
      {" ws::addr=h;", "!"},
      {"w-s::addr=h;", "!"},
      {"addr=h;", "!"},
      {"ws::;", "ws|!"},
      {"ws::=1;", "ws|!"},
      {"ws:: a=1;", "ws|!"},
      {"ws::a=1; b=2;", "ws|a=1|!"},
      {"ws::a;", "ws|!a"},
      {"ws::a", "ws|!a"},
      {"ws::a =1;", "ws|!a"},
      {"ws::a-b=1;", "ws|!a"},
      {"ws::\xC3\xA9=1;", "ws|!"},
      /* control characters (CONF-004) */
      {"ws::a=\t;", "ws|?a"},
      {"ws::a=x\r;", "ws|?a"},
      {"ws::a=\ny;", "ws|?a"},
      {"ws::a=\x1F;", "ws|?a"},
      {"ws::a=\x7F;", "ws|?a"},
      {"ws::a=\xC2\x80;", "ws|?a"},
      {"ws::a=\xC2\x85;", "ws|?a"},
      {"ws::a=\xC2\x9F;", "ws|?a"},
      /* not UTF-8: a lone C1 byte, cut, overlong, surrogate, beyond U+10FFFF */
      {"ws::a=\x85;", "ws|?a"},
      {"ws::a=\xC3;", "ws|?a"},
      {"ws::a=\xE2\x82", "ws|?a"},
      {"ws::a=\xC0\xAF;", "ws|?a"},
      {"ws::a=\xE0\x9F\xBF;", "ws|?a"},
      {"ws::a=\xED\xA0\x80;", "ws|?a"},
      {"ws::a=\xF0\x8F\xBF\xBF;", "ws|?a"},
      {"ws::a=\xF4\x90\x80\x80;", "ws|?a"},
      {"ws::a=\xF5\x80\x80\x80;", "ws|?a"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_string_equal(read_all(cases[i][0]), cases[i][1]);
  }
}

static void length_is_bounded(void **state) {
  (void)state;
  char *text = malloc(QWP_CONNECT_STRING_MAX_BYTES + 2);
  assert_non_null(text);
  memset(text, 'x', QWP_CONNECT_STRING_MAX_BYTES + 1);
  memcpy(text, "ws::a=", 6);
  text[QWP_CONNECT_STRING_MAX_BYTES + 1] = '\0';
  struct qwp_connect_string s;
  assert_int_equal(qwp_connect_string_init(&s, &ops, text, NULL), QWP_CONFIG);
  text[QWP_CONNECT_STRING_MAX_BYTES] = '\0';
  assert_int_equal(qwp_connect_string_init(&s, &ops, text, NULL), QWP_OK);
  struct qwp_pair pair;
  assert_int_equal(qwp_connect_string_next(&s, &pair, NULL), QWP_PAIR);
  assert_int_equal(strlen(pair.value), QWP_CONNECT_STRING_MAX_BYTES - 6);
  assert_int_equal(qwp_connect_string_next(&s, &pair, NULL), QWP_PAIR_END);
  qwp_connect_string_free(&s);
  free(text);
  assert_int_equal(qwp_connect_string_init(&s, &ops, NULL, NULL), QWP_CONFIG);
}

/* The rest of a password with an unescaped ";" is not shown. */
static void entry_after_a_secret_is_hidden(void **state) {
  (void)state;
  struct qwp_connect_string s;
  struct qwp_error err;
  assert_int_equal(qwp_connect_string_init(&s, &ops, "ws::password=abc;hunter2;", &err), QWP_OK);
  struct qwp_pair pair;
  assert_int_equal(qwp_connect_string_next(&s, &pair, &err), QWP_PAIR);
  s.after_secret = pair.key;
  assert_int_equal(qwp_connect_string_next(&s, &pair, &err), QWP_PAIR_BAD);
  assert_null(strstr(err.text, "hunter2"));
  assert_string_equal(err.key, "password");
  assert_non_null(strstr(err.text, ";;"));
  qwp_connect_string_free(&s);
}

static int nothing_leaks(void **state) {
  (void)state;
  assert_int_equal(mem.live, 0);
  return 0;
}

int main(void) {
  ops = fail_mem_ops(&mem);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(entry_after_a_secret_is_hidden),
      cmocka_unit_test(length_is_bounded),
      cmocka_unit_test(pairs),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, nothing_leaks);
}
