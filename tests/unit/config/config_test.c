#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/key_table.h"
#include "fail_mem.h"
#include "qwp/ops.h"

/* Every block a config took must come back: counted over the whole program. */
static struct fail_mem mem;
static struct qwp_ops ops;

static struct qwp_config parsed(const char *text) {
  struct qwp_config c;
  struct qwp_error err;
  if (qwp_config_parse(text, &ops, &c, &err) != QWP_OK) fail_msg("%s: %s", text, err.text);
  return c;
}

/* The error of a string that must be refused. */
static struct qwp_error refused(const char *text) {
  struct qwp_config c;
  struct qwp_error err;
  qwp_error_clear(&err);
  if (qwp_config_parse(text, &ops, &c, &err) == QWP_OK) fail_msg("accepted: %s", text);
  assert_int_equal(err.code, QWP_CONFIG);
  /* Empty, so that nothing needs to be freed. */
  assert_int_equal(c.endpoint_count, 0);
  assert_null(c.endpoints);
  assert_null(c.client_id);
  assert_null(c.authorization);
  return err;
}

struct refusal {
  const char *text, *key, *words; /* words: "|"-separated, all must be in the error */
};

static void check_refusals(const struct refusal *cases, size_t n) {
  for (size_t i = 0; i < n; i++) {
    struct qwp_error err = refused(cases[i].text);
    if (strcmp(err.key, cases[i].key) != 0) fail_msg("%s: key \"%s\": %s", cases[i].text, err.key, err.text);
    char words[256];
    snprintf(words, sizeof words, "%s", cases[i].words);
    for (char *at = words, *word; (word = strtok_r(at, "|", &at));) {
      if (!strstr(err.text, word)) fail_msg("%s: no \"%s\" in: %s", cases[i].text, word, err.text);
    }
  }
}

#define REFUSALS(cases) check_refusals(cases, sizeof cases / sizeof cases[0])

static void defaults(void **state) {
  (void)state;
  struct qwp_config c = parsed("ws::addr=db;");
  assert_int_equal(c.endpoint_count, 1);
  assert_string_equal(c.endpoints[0].host, "db");
  assert_int_equal(c.endpoints[0].port, 9000);
  assert_null(c.authorization);
  assert_string_equal(c.client_id, "qwpkit/0.1.0");
  assert_int_equal(c.auto_flush_rows, 1000);
  assert_int_equal(c.auto_flush_interval_ms, 100);
  assert_int_equal(c.auto_flush_bytes, 0);
  assert_int_equal(c.max_name_bytes, 127);
  assert_int_equal(c.initial_connect, QWP_CONNECT_OFF);
  assert_int_equal(c.auth_timeout_ms, 15000);
  assert_int_equal(c.connect_timeout_ms, 0);
  assert_int_equal(c.reconnect_max_duration_ms, 300000);
  assert_int_equal(c.reconnect_initial_backoff_ms, 100);
  assert_int_equal(c.reconnect_max_backoff_ms, 5000);
  assert_int_equal(c.max_frame_rejections, 4);
  assert_int_equal(c.poison_window_ms, 5000);
  assert_int_equal(c.close_flush_timeout_ms, 5000);
  assert_int_equal(c.sf_max_segment_bytes, 4 << 20);
  assert_int_equal(c.sf_max_total_bytes, 128 << 20);
  assert_int_equal(c.sf_append_deadline_ms, 30000);
  qwp_config_free(&c, &ops);
}

static void every_field_is_set(void **state) {
  (void)state;
  struct qwp_config c = parsed(
      "ws::addr=a:1,b:2;addr=c:3;client_id=me/1;token=tok;auto_flush=on;auto_flush_rows=11;auto_flush_interval=12;"
      "auto_flush_bytes=64k;max_name_len=16;initial_connect_retry=async;auth_timeout_ms=13;connect_timeout=14;"
      "reconnect_max_duration_millis=15;reconnect_initial_backoff_millis=17;reconnect_max_backoff_millis=16;"
      "max_frame_rejections=1;poison_min_escalation_window_millis=0;close_flush_timeout_millis=-1;"
      "sf_max_segment_bytes=1k;sf_max_total_bytes=2k;sf_append_deadline_millis=18;");
  assert_int_equal(c.endpoint_count, 3); /* addr accumulates in order */
  assert_string_equal(c.endpoints[0].host, "a");
  assert_string_equal(c.endpoints[1].host, "b");
  assert_string_equal(c.endpoints[2].host, "c");
  assert_int_equal(c.endpoints[2].port, 3);
  assert_string_equal(c.authorization, "Bearer tok");
  assert_string_equal(c.client_id, "me/1");
  assert_int_equal(c.auto_flush_rows, 11);
  assert_int_equal(c.auto_flush_interval_ms, 12);
  assert_int_equal(c.auto_flush_bytes, 65536);
  assert_int_equal(c.max_name_bytes, 16);
  assert_int_equal(c.initial_connect, QWP_CONNECT_ASYNC);
  assert_int_equal(c.auth_timeout_ms, 13);
  assert_int_equal(c.connect_timeout_ms, 14);
  assert_int_equal(c.reconnect_max_duration_ms, 15);
  assert_int_equal(c.reconnect_initial_backoff_ms, 17);
  assert_int_equal(c.reconnect_max_backoff_ms, 16);
  assert_int_equal(c.max_frame_rejections, 1);
  assert_int_equal(c.poison_window_ms, 0);
  assert_int_equal(c.close_flush_timeout_ms, -1);
  assert_int_equal(c.sf_max_segment_bytes, 1024);
  assert_int_equal(c.sf_max_total_bytes, 2048);
  assert_int_equal(c.sf_append_deadline_ms, 18);
  qwp_config_free(&c, &ops);
}

/* FLUSH-001, P121-39 */
static void flush_triggers(void **state) {
  (void)state;
  struct qwp_config c =
      parsed("ws::addr=h;auto_flush_rows=off;auto_flush_interval=OFF;auto_flush_bytes=Off;auto_flush=ON;");
  assert_int_equal(c.auto_flush_rows, QWP_CONFIG_OFF);
  assert_int_equal(c.auto_flush_interval_ms, QWP_CONFIG_OFF);
  assert_int_equal(c.auto_flush_bytes, QWP_CONFIG_OFF);
  qwp_config_free(&c, &ops);
  c = parsed("ws::addr=h;auto_flush_bytes=0;");
  assert_int_equal(c.auto_flush_bytes, QWP_CONFIG_OFF);
  assert_int_equal(c.auto_flush_rows, 1000);
  qwp_config_free(&c, &ops);
  static const struct refusal cases[] = {
      {"ws::addr=h;auto_flush=off;", "auto_flush", "auto_flush_rows|auto_flush_interval|auto_flush_bytes"},
      {"ws::addr=h;auto_flush=off;auto_flush_rows=5;", "auto_flush", "auto_flush_rows"},
      {"ws::addr=h;auto_flush=true;", "auto_flush", "off, on"},
      {"ws::addr=h;auto_flush_rows=0;", "auto_flush_rows", "=0|1 to 2147483647|or off"},
      {"ws::addr=h;auto_flush_rows=2147483648;", "auto_flush_rows", "or off"},
      {"ws::addr=h;auto_flush_interval=0;", "auto_flush_interval", "milliseconds"},
      {"ws::addr=h;auto_flush_bytes=4x;", "auto_flush_bytes", "suffix"},
      {"ws::addr=h;auto_flush_bytes=99999999t;", "auto_flush_bytes", "64 bits"},
  };
  REFUSALS(cases);
}

/* INIT-004 */
static void reconnect_keys_promote_the_first_connect(void **state) {
  (void)state;
  static const struct {
    const char *keys;
    enum qwp_initial_connect mode;
  } cases[] = {
      {"reconnect_max_duration_millis=300000;", QWP_CONNECT_SYNC}, /* explicit, though the default */
      {"reconnect_initial_backoff_millis=1;", QWP_CONNECT_SYNC},
      {"reconnect_max_backoff_millis=1;", QWP_CONNECT_SYNC},
      {"reconnect_max_backoff_millis=1;initial_connect_retry=off;", QWP_CONNECT_OFF},
      {"initial_connect_retry=False;reconnect_max_backoff_millis=1;", QWP_CONNECT_OFF},
      {"initial_connect_retry=async;reconnect_max_backoff_millis=1;", QWP_CONNECT_ASYNC},
      {"initial_connect_retry=on;", QWP_CONNECT_SYNC},
      {"initial_connect_retry=true;", QWP_CONNECT_SYNC},
      {"initial_connect_retry=SYNC;", QWP_CONNECT_SYNC},
      {"auth_timeout_ms=1;", QWP_CONNECT_OFF},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[128];
    snprintf(text, sizeof text, "ws::addr=h;%s", cases[i].keys);
    struct qwp_config c = parsed(text);
    assert_int_equal(c.initial_connect, cases[i].mode);
    qwp_config_free(&c, &ops);
  }
}

/* AUTH-002, AUTH-003, AUTH-004, CONF-010; values by an independent base64. */
static void credentials(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"username=joe;password=x;", "Basic am9lOng="},
      {"user=joe;pass=x;", "Basic am9lOng="},
      {"username=admin;password=quest;", "Basic YWRtaW46cXVlc3Q="},
      {"username=j\xC3\xB6;password=p;;ssw;;rd:\xE2\x82\xAC;", "Basic asO2OnA7c3N3O3JkOuKCrA=="},
      {"token=abc;;d;", "Bearer abc;d"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[128];
    snprintf(text, sizeof text, "ws::addr=h;%s", cases[i][0]);
    struct qwp_config c = parsed(text);
    assert_string_equal(c.authorization, cases[i][1]);
    qwp_config_free(&c, &ops);
  }
  static const struct refusal refusals[] = {
      {"ws::addr=h;username=u;", "username", "password"},
      {"ws::addr=h;password=p;", "password", "username"},
      {"ws::addr=h;token=t;username=u;password=p;", "token", "username|password"},
      {"ws::addr=h;user=u;token=t;", "token", "username"},
      {"ws::addr=h;pass=p;token=t;", "token", "password"},
      {"ws::addr=h;username=a:b;password=p;", "username", "colon"},
      {"ws::addr=h;username=;password=p;", "username", "empty"},
      {"ws::addr=h;username=u;password=;", "password", "empty"},
      {"ws::addr=h;token=;", "token", "empty"},
  };
  REFUSALS(refusals);
}

static void keys_once_only(void **state) {
  (void)state;
  static const struct refusal cases[] = {
      {"ws::addr=h;max_name_len=20;max_name_len=20;", "max_name_len", "twice"},
      {"ws::addr=h;username=u;user=u;password=p;", "user", "username and user are the same key"},
      {"ws::addr=h;pass=p;password=p;username=u;", "password", "pass and password are the same key"},
      {"ws::addr=h;target=any;target=any;", "target", "twice"},
      {"ws::addr=h;addr=h;", "addr", "duplicate addr entry: h:9000"},
  };
  REFUSALS(cases);
}

static void schemas(void **state) {
  (void)state;
  static const struct refusal cases[] = {
      {"WSS::addr=h;", "schema", "WSS|ws or wss"},
      {"WS::addr=h;", "schema", "WS|ws or wss"},
      {"http::addr=h;", "schema", "http|ws or wss"},
      {"qwpws::addr=h;", "schema", "qwpws|ws or wss"},
      {"foo::addr=x;", "schema", "foo"},
      {"", "schema", "ws::addr"},
      {"addr=h;", "schema", "two colons"},
      {"ws::", "addr", "required"},
      {"ws::client_id=x;", "addr", "required"},
      {"ws::addr=;", "addr", "empty"},
  };
  REFUSALS(cases);
}

/* CONF-005 */
static void unknown_keys(void **state) {
  (void)state;
  static const struct refusal cases[] = {
      {"ws::addr=h;foo=1;", "foo", "unknown key foo|the nearest key is "},
      {"ws::ADDR=h;", "ADDR", "unknown key ADDR|the nearest key is addr"},
      {"ws::addr=h;auto_flush_row=1;", "auto_flush_row", "the nearest key is auto_flush_rows"},
      {"ws::addr=h;pasword=hunter2;", "pasword", "the nearest key is password"},
  };
  REFUSALS(cases);
  char text[2048];
  memcpy(text, "ws::addr=h;", 11);
  memset(text + 11, 'k', 1500);
  memcpy(text + 1511, "=1;", 4);
  struct qwp_error err = refused(text);
  assert_int_equal(strlen(err.key), sizeof err.key - 1);
}

/* CONF-012 and the ranges of the vocabulary, at their edges. */
static void ranges(void **state) {
  (void)state;
  static const struct {
    const char *key, *accepted, *refused;
  } cases[] = {
      {"auth_timeout_ms", "1", "0"},
      {"auth_timeout_ms", "9223372036854775807", "9223372036854775808"},
      {"connect_timeout", "1", "0"},
      {"connect_timeout", "2147483647", "2147483648"},
      {"max_name_len", "16", "15"},
      {"max_frame_rejections", "1", "0"},
      {"poison_min_escalation_window_millis", "0", "-1"},
      {"reconnect_max_duration_millis", "1", "0"},
      {"reconnect_initial_backoff_millis", "1", "0"},
      {"reconnect_max_backoff_millis", "1", "0"},
      {"close_flush_timeout_millis", "-9223372036854775808", "-9223372036854775809"},
      {"close_flush_timeout_millis", "0", "+0"},
      {"sf_append_deadline_millis", "1", "0"},
      {"sf_max_segment_bytes", "55", "54"},
      {"sf_max_total_bytes", "8m", "8388607"},
      {"sf_max_segment_bytes", "4MB", "4 MB"},
      {"durable_ack_keepalive_interval_millis", "-5", "x"},
      {"max_background_drainers", "0", "-1"},
      {"sender_id", "a-Z_9", "a.b"},
      {"client_id", "any text", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[128];
    snprintf(text, sizeof text, "ws::addr=h;%s=%s;", cases[i].key, cases[i].accepted);
    struct qwp_config c = parsed(text);
    qwp_config_free(&c, &ops);
    snprintf(text, sizeof text, "ws::addr=h;%s=%s;", cases[i].key, cases[i].refused);
    struct qwp_error err = refused(text);
    assert_string_equal(err.key, cases[i].key);
  }
}

static void store_sizes_fit_each_other(void **state) {
  (void)state;
  static const struct refusal cases[] = {
      {"ws::addr=h;sf_max_segment_bytes=60;sf_max_total_bytes=119;", "sf_max_total_bytes", "sf_max_segment_bytes"},
      {"ws::addr=h;sf_max_total_bytes=4m;", "sf_max_total_bytes", "twice"},
      {"ws::addr=h;sf_max_segment_bytes=1;", "sf_max_segment_bytes", "at least 55|smallest frame"},
      {"ws::addr=h;sf_max_total_bytes=9223372036854775807;sf_max_segment_bytes=4611686018427387904;",
       "sf_max_total_bytes", "twice"},
  };
  REFUSALS(cases);
  struct qwp_config c = parsed("ws::addr=h;sf_max_total_bytes=120;sf_max_segment_bytes=60;");
  assert_int_equal(c.sf_max_total_bytes, 120);
  qwp_config_free(&c, &ops);
  c = parsed("ws::addr=h;sf_max_segment_bytes=100m;"); /* the default grows with it */
  assert_int_equal(c.sf_max_total_bytes, INT64_C(200) << 20);
  qwp_config_free(&c, &ops);
  c = parsed("ws::addr=h;sf_max_segment_bytes=9223372036854775807;");
  assert_int_equal(c.sf_max_total_bytes, INT64_MAX);
  qwp_config_free(&c, &ops);
}

/* Every row of the table does what its action says. */
static void actions(void **state) {
  (void)state;
  size_t count, ignored = 0, reserved = 0, unsupported = 0;
  const struct qwp_key *table = qwp_key_table(&count);
  for (size_t i = 0; i < count; i++) {
    const struct qwp_key *key = &table[i];
    char text[256];
    snprintf(text, sizeof text, "ws::addr=h;%s=no value for it;", key->name);
    if (key->action == QWP_KEY_IGNORED) { /* CONF-006 */
      struct qwp_config c = parsed(text);
      qwp_config_free(&c, &ops);
      snprintf(text, sizeof text, "ws::addr=h;%s=;", key->name);
      c = parsed(text);
      qwp_config_free(&c, &ops);
      snprintf(text, sizeof text, "ws::addr=h;%s=\t;", key->name);
      assert_string_equal(refused(text).key, key->name);
      ignored++;
    } else if (key->action == QWP_KEY_REFUSED) {
      struct qwp_error err = refused(text);
      assert_string_equal(err.key, key->name);
      assert_non_null(strstr(err.text, key->hint));
      reserved++;
    } else if (key->only && !key->only[0]) {
      struct qwp_error err = refused(text);
      assert_string_equal(err.key, key->name);
      assert_non_null(strstr(err.text, "this version of the client does not support the key"));
      unsupported++;
    }
  }
  assert_int_equal(ignored, 30);
  assert_int_equal(reserved, 31);
  assert_int_equal(unsupported, 6);
}

/* What needs a feature that does not exist yet is refused, never taken and ignored. */
static void words_not_supported_yet(void **state) {
  (void)state;
  static const struct refusal cases[] = {
      {"ws::addr=h;request_durable_ack=on;", "request_durable_ack", "=on|does not support|use off"},
      {"ws::addr=h;transaction=on;", "transaction", "does not support|use off"},
      {"ws::addr=h;sf_durability=periodic;", "sf_durability", "does not support|use memory"},
      {"ws::addr=h;sf_durability=flush;", "sf_durability", "does not support"},
      {"ws::addr=h;sf_durability=x;", "sf_durability", "must be one of memory, periodic"},
      {"ws::addr=h;drain_orphans=true;", "drain_orphans", "does not support|use off"},
      {"ws::addr=h;on_schema_error=terminal;", "on_schema_error", "does not support|use auto"},
      {"ws::addr=h;sf_dir=/x;", "sf_dir", "does not support"},
      {"wss::addr=h;tls_roots=/x;tls_roots_password=p;", "tls_roots_password", "does not support|PEM"},
      {"ws::addr=h;transaction=off;commit_rows=3;", "transaction", "commit_rows"},
      {"ws::addr=h;transaction=off;commit_interval_ms=3;", "transaction", "commit_interval_ms"},
  };
  REFUSALS(cases);
  struct qwp_config c = parsed(
      "ws::addr=h;request_durable_ack=OFF;transaction=off;sf_durability=memory;drain_orphans=false;"
      "on_server_error=auto;on_schema_error=auto;on_parse_error=auto;on_internal_error=auto;"
      "on_security_error=auto;on_write_error=Auto;");
  qwp_config_free(&c, &ops);
}

static void tls(void **state) {
  (void)state;
  static const struct refusal cases[] = {
      {"ws::addr=h;tls_verify=on;", "tls_verify", "needs schema wss"},
      {"ws::addr=h;tls_verify=unsafe_off;", "tls_verify", "needs schema wss"},
      {"ws::addr=h;tls_roots=/x;", "tls_roots", "needs schema wss"},
      {"ws::addr=h;tls_ca=os_roots;", "tls_ca", "needs schema wss"},
      {"ws::addr=h;tls_roots_password=p;", "tls_roots_password", "does not support"},
      {"wss::addr=h;tls_roots_password=p;", "tls_roots_password", "does not support"}, /* TLS-005 */
      {"wss::addr=h;tls_verify=off;", "tls_verify", "=off|must be one of on, unsafe_off (in lower case)"}, /* TLS-003 */
      {"wss::addr=h;tls_verify=ON;", "tls_verify", "lower case"},
      {"wss::addr=h;tls_roots=;", "tls_roots", "empty"},
      {"wss::addr=h;tls_verify=unsafe_off;tls_roots=/x;", "tls_verify", "unsafe_off|tls_roots"}, /* TLS-004 */
      {"wss::addr=h;tls_ca=pem_file;", "tls_ca", "pem_file|needs tls_roots"},
      {"wss::addr=h;tls_ca=os_roots;tls_roots=/x;", "tls_ca", "os_roots|tls_roots"},
      {"wss::addr=h;tls_ca=webpki_roots;", "tls_ca", "webpki_roots|os_roots, pem_file|no root store comes with"},
      {"wss::addr=h;tls_ca=webpki_and_os_roots;", "tls_ca", "no root store comes with"},
      {"wss::addr=h;tls_ca=PEM_FILE;tls_roots=/x;", "tls_ca", "lower case"},
  };
  REFUSALS(cases);
  struct qwp_config c = parsed("wss::addr=h;");
  assert_true(c.tls && c.tls_verify && !c.tls_roots);
  assert_int_equal(c.endpoints[0].port, 9000); /* TLS-001 */
  qwp_config_free(&c, &ops);
  c = parsed("wss::addr=h:9443;tls_ca=pem_file;tls_verify=on;tls_roots=/etc/a;;b.pem;");
  assert_true(c.tls && c.tls_verify);
  assert_string_equal(c.tls_roots, "/etc/a;b.pem");
  qwp_config_free(&c, &ops);
  c = parsed("wss::addr=h;tls_verify=unsafe_off;tls_ca=os_roots;");
  assert_true(c.tls && !c.tls_verify && !c.tls_roots);
  qwp_config_free(&c, &ops);
  c = parsed("ws::addr=h;");
  assert_true(!c.tls && !c.tls_roots);
  qwp_config_free(&c, &ops);
}

static void secrets_are_never_shown(void **state) {
  (void)state;
  static const char *const cases[] = {
      "ws::addr=h;username=u;password=x;hunter2=5;",   /* unescaped ";" */
      "ws::addr=h;username=u;password=x;hunter2;",
      "ws::addr=h;token=x;;y;hunter2=5;",
      "ws::addr=h;auth=x;hunter2=5;",
      "ws::addr=h;username=u;password=hunter2\t;",
      "ws::addr=h;username=u;password=hunter2;password=hunter2;",
      "ws::addr=h;password=hunter2;",
      "ws::addr=h;token=hunter2;username=u;",
      "ws::addr=h;token_x=hunter2;",
      "ws::addr=h;tls_roots_password=hunter2;",
      "ws::addr=u:hunter2@h:9000;",
      "ws::addr=h;username=u:hunter2;password=p;",
      "ws::addr=h;passwd=hunter2;",
      "wss::addr=h;token=hunter2;username=u;",
      "wss::addr=h;tls_roots=/x;tls_roots_password=hunter2;",
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct qwp_error err = refused(cases[i]);
    if (strstr(err.text, "hunter2") || strstr(err.key, "hunter2")) fail_msg("%s: %s", cases[i], err.text);
  }
}

static void long_values_are_cut(void **state) {
  (void)state;
  char text[1024] = "ws::addr=h;max_name_len=";
  size_t n = strlen(text);
  memset(text + n, '9', 39);
  memcpy(text + n + 39, "\xE2\x82\xAC", 4); /* a character across the 40th byte */
  struct qwp_error err = refused(text);
  assert_non_null(strstr(err.text, "999...: must be"));
  assert_null(strstr(err.text, "\xE2"));
}

static void milliseconds_to_nanoseconds(void **state) {
  (void)state;
  assert_int_equal(qwp_config_ns(0), 0);
  assert_int_equal(qwp_config_ns(5), 5000000);
  assert_int_equal(qwp_config_ns(-5), -5000000);
  assert_int_equal(qwp_config_ns(INT64_C(9223372036854)), INT64_C(9223372036854000000));
  assert_int_equal(qwp_config_ns(INT64_C(9223372036855)), QWP_NEVER);
  assert_int_equal(qwp_config_ns(INT64_MAX), QWP_NEVER);
  assert_int_equal(qwp_config_ns(INT64_MIN), INT64_MIN);
}

static void error_record_is_optional(void **state) {
  (void)state;
  struct qwp_config c;
  assert_int_equal(qwp_config_parse("ws::addr=h;foo=1;", &ops, &c, NULL), QWP_CONFIG);
  assert_int_equal(qwp_config_parse("ws::addr=h,;", &ops, &c, NULL), QWP_CONFIG);
  assert_int_equal(qwp_config_parse(NULL, &ops, &c, NULL), QWP_CONFIG);
}

/* Each allocation of a parse fails once: QWP_NOMEM, nothing stays behind, and the next parse is whole. */
static void each_allocation_fails_once(void **state) {
  (void)state;
  static const char *const texts[] = {
      "ws::addr=a,b:1,[::1]:2,d,e;client_id=me;username=u;password=p;;w;",
      "wss::addr=a;addr=b;token=t;tls_roots=/r;",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    int64_t live = mem.live;
    uint64_t begun = mem.calls;
    struct qwp_config c = parsed(texts[i]);
    uint64_t calls = mem.calls - begun;
    qwp_config_free(&c, &ops);
    /* copy, endpoints by powers of two, hosts, client_id, tls_roots, credentials */
    assert_int_equal(calls, i == 0 ? 1 + 4 + 5 + 1 + 0 + 2 : 1 + 2 + 2 + 1 + 1 + 1);
    for (uint64_t n = 1; n <= calls; n++) {
      struct qwp_error err;
      mem.fail_at = mem.calls + n;
      assert_int_equal(qwp_config_parse(texts[i], &ops, &c, &err), QWP_NOMEM);
      assert_int_equal(err.code, QWP_NOMEM);
      assert_null(c.endpoints);
      assert_int_equal(mem.live, live);
    }
    mem.fail_at = 0;
    c = parsed(texts[i]);
    qwp_config_free(&c, &ops);
    assert_int_equal(mem.live, live);
  }
}

static int nothing_leaks(void **state) {
  (void)state;
  assert_int_equal(mem.live, 0);
  return 0;
}

int main(void) {
  ops = fail_mem_ops(&mem);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(actions),
      cmocka_unit_test(credentials),
      cmocka_unit_test(defaults),
      cmocka_unit_test(each_allocation_fails_once),
      cmocka_unit_test(error_record_is_optional),
      cmocka_unit_test(every_field_is_set),
      cmocka_unit_test(flush_triggers),
      cmocka_unit_test(keys_once_only),
      cmocka_unit_test(long_values_are_cut),
      cmocka_unit_test(milliseconds_to_nanoseconds),
      cmocka_unit_test(ranges),
      cmocka_unit_test(reconnect_keys_promote_the_first_connect),
      cmocka_unit_test(schemas),
      cmocka_unit_test(tls),
      cmocka_unit_test(secrets_are_never_shown),
      cmocka_unit_test(store_sizes_fit_each_other),
      cmocka_unit_test(unknown_keys),
      cmocka_unit_test(words_not_supported_yet),
  };
  return cmocka_run_group_tests(tests, NULL, nothing_leaks);
}
