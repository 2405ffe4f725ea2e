/* addr: CONF-007, CONF-008, CONF-009. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/hosts.h"
#include "fail_mem.h"

static struct fail_mem mem;
static struct qwp_ops ops;

/* "host port|host port|" for a list that is taken, the error's text for another. */
static const char *read_hosts(const char *list) {
  static char out[512];
  struct qwp_config c;
  struct qwp_error err;
  memset(&c, 0, sizeof c);
  qwp_error_clear(&err);
  int n = 0;
  out[0] = '\0';
  if (qwp_hosts_add(&c, &ops, list, &err) != QWP_OK) {
    assert_int_equal(err.code, QWP_CONFIG);
    assert_string_equal(err.key, "addr");
    snprintf(out, sizeof out, "%.500s", err.text);
  } else {
    for (size_t i = 0; i < c.endpoint_count; i++) {
      n += snprintf(out + n, sizeof out - (size_t)n, "%s %d|", c.endpoints[i].host, c.endpoints[i].port);
    }
  }
  qwp_config_free(&c, &ops);
  return out;
}

static void accepted(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"h", "h 9000|"},
      {"h:1", "h 1|"},
      {"h:65535", "h 65535|"},
      {"127.0.0.1:9000", "127.0.0.1 9000|"},
      {"a,b:9001,c", "a 9000|b 9001|c 9000|"},
      {" a , b:9001 ", "a 9000|b 9001|"},
      {"h:1,h:2", "h 1|h 2|"},
      {"[::1]", "::1 9000|"},
      {"[::1]:9001,[2001:db8::2]", "::1 9001|2001:db8::2 9000|"},
      {"[fe80::1%eth0]:9000", "fe80::1%eth0 9000|"},
      {"my-host_1.example.com.", "my-host_1.example.com. 9000|"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_string_equal(read_hosts(cases[i][0]), cases[i][1]);
  }
}

static void refused(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"", "an entry is empty"},
      {",h", "an entry is empty"},
      {"h,", "an entry is empty"},
      {"a,,b", "an entry is empty"},
      {"a, ,b", "an entry is empty"},
      {"h,h:9000", "duplicate addr entry: h:9000;"},
      {"h:9000,H", "duplicate addr entry: h:9000;"},
      {"[::1],[::1]:9000", "duplicate addr entry: [::1]:9000;"},
      {"h:", "from 1 to 65535"},
      {"h:0", "from 1 to 65535"},
      {"h:65536", "from 1 to 65535"},
      {"h:70000", "from 1 to 65535"},
      {"h:99999999999999999999", "from 1 to 65535"},
      {"h:-1", "from 1 to 65535"},
      {"h:+1", "from 1 to 65535"},
      {"h:9x", "from 1 to 65535"},
      {"[::1]:", "from 1 to 65535"},
      {"::1:9000", "needs brackets"},
      {"::1", "needs brackets"},
      {"a:1:2", "needs brackets"},
      {":9000", "the host is missing"},
      {"[::1", "without \"]\""},
      {"[::1]9000", "only :port"},
      {"[]", "must hold an IPv6 address"},
      {"[h]:9000", "must hold an IPv6 address"},
      {"[::1%]", "must hold an IPv6 address"},
      {"[::1%a/b]", "must hold an IPv6 address"},
      {"[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]", "must hold an IPv6 address"},
      {"a b", "ASCII letters"},
      {"a/b", "ASCII letters"},
      {"a]", "ASCII letters"},
      {"h\xC3\xA9", "ASCII letters"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *text = read_hosts(cases[i][0]);
    if (!strstr(text, cases[i][1])) fail_msg("%s: %s", cases[i][0], text);
  }
}

static void credentials_in_a_list_are_not_shown(void **state) {
  (void)state;
  const char *text = read_hosts("joe:hunter2,x@db:9000");
  assert_null(strstr(text, "hunter2"));
  assert_non_null(strstr(text, "username and password"));
}

static void long_entries_are_cut_at_a_character(void **state) {
  (void)state;
  char host[256];
  memset(host, 'a', sizeof host);
  memcpy(host + 79, "\xE2\x82\xAC", 3);
  host[255] = '\0';
  const char *text = read_hosts(host);
  assert_non_null(strstr(text, "aaa: a host name has at most 253 bytes"));
  host[253] = '\0';
  text = read_hosts(host);
  assert_non_null(strstr(text, "aaa: a host name is made of ASCII"));
  memset(host, 'a', 253);
  assert_int_equal(strlen(read_hosts(host)), 253 + strlen(" 9000|"));
}

static void at_most_1024_entries(void **state) {
  (void)state;
  char *list = malloc(1025 * 8);
  assert_non_null(list);
  struct qwp_config c;
  memset(&c, 0, sizeof c);
  size_t n = 0;
  for (int i = 0; i < 1024; i++) n += (size_t)snprintf(list + n, 8, "%sh%d", i ? "," : "", i);
  assert_int_equal(qwp_hosts_add(&c, &ops, list, NULL), QWP_OK);
  assert_int_equal(c.endpoint_count, 1024);
  assert_string_equal(c.endpoints[1023].host, "h1023");
  struct qwp_error err;
  assert_int_equal(qwp_hosts_add(&c, &ops, "more", &err), QWP_CONFIG);
  assert_non_null(strstr(err.text, "at most 1024 entries"));
  assert_int_equal(c.endpoint_count, 1024);
  qwp_config_free(&c, &ops);
  free(list);
}

static int nothing_leaks(void **state) {
  (void)state;
  assert_int_equal(mem.live, 0);
  return 0;
}

int main(void) {
  ops = fail_mem_ops(&mem);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accepted),
      cmocka_unit_test(at_most_1024_entries),
      cmocka_unit_test(credentials_in_a_list_are_not_shown),
      cmocka_unit_test(long_entries_are_cut_at_a_character),
      cmocka_unit_test(refused),
  };
  return cmocka_run_group_tests(tests, NULL, nothing_leaks);
}
