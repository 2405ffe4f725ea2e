/* TLS in a scenario: what an entry comes to, and what does not fit a world. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "language/scenario.h"

#define HEAD "claim: It holds.\ncites: [TLS-001]\nkills: [a-mutant]\n"
#define EXPECT "expect: {loop.sent: 8}\n"
#define WS "client: {config: \"ws::addr=${server};\"}\n"
#define WSS "client: {config: \"wss::addr=a.test:${port};tls_roots=${ca};\"}\n"
#define TLS "worlds: [tls]\n"

static struct scn_file file;
static struct scn_problem problem;

static int forget(void **state) {
  (void)state;
  scn_file_free(&file);
  return 0;
}

static const struct scn_scenario *read(const char *text) {
  if (!scn_read("f.yaml", text, strlen(text), &file, &problem)) fail_msg("%s", problem.text);
  return file.scenarios;
}

static void refused(const char *text, const char *want) {
  assert_false(scn_read("f.yaml", text, strlen(text), &file, &problem));
  assert_string_equal(problem.text, want);
}

static void an_entry_says_how_its_handshake_goes(void **state) {
  (void)state;
  const struct scn_scenario *s = read(
      HEAD TLS WSS "server:\n"
                   "  - {connection: 1, tls: {certificate: no-intermediate, handshake: {die_after: 40}, record_bytes: 7,"
                   " close_notify: false, tickets: 0, ask_certificate: true, version: \"1.3\"}}\n"
                   "  - {connection: 2, tls: {handshake: hang}}\n  - {connection: 3}\n" EXPECT);
  const struct mock_tls_script *t = &s->server.entries[0].tls;
  assert_true(t->given && t->no_close_notify && t->tickets_given && t->ask_certificate);
  assert_int_equal(t->line, 7);
  assert_int_equal(t->certificate, MOCK_CERT_NO_INTERMEDIATE);
  assert_int_equal(t->handshake, MOCK_TLS_DIE);
  assert_int_equal(t->die_after_bytes, 40);
  assert_int_equal(t->record_bytes, 7);
  assert_int_equal(t->tickets, 0);
  assert_int_equal(t->version, 13);
  assert_int_equal(s->server.entries[1].tls.handshake, MOCK_TLS_HANG);
  assert_false(s->server.entries[1].tls.no_close_notify);
  assert_false(s->server.entries[2].tls.given);
  assert_string_equal(s->config, "wss::addr=a.test:${port};tls_roots=${ca};"); /* the runner's names stay */
}

static void actions_hang_on_triggers(void **state) {
  (void)state;
  const struct scn_scenario *s = read(HEAD TLS WS "server:\n  - {connection: 1, ok: {seq: 0, at_frame: 1},"
                                                  " key_update: {at_frame: 10}, ticket: [{at_frame: 1}, {at_time: 5ms}]}\n" EXPECT);
  const struct mock_entry *e = &s->server.entries[0];
  assert_int_equal(e->rule_count, 4);
  assert_int_equal(e->rules[0].action, MOCK_DO_TICKET); /* what is said of TLS goes before the answers */
  assert_int_equal(e->rules[1].trigger, MOCK_AT_TIME);
  assert_int_equal(e->rules[2].action, MOCK_DO_KEY_UPDATE);
  assert_int_equal(e->rules[2].n, 10);
  assert_int_equal(e->rules[3].action, MOCK_DO_OK);
}

static void values_that_are_none(void **state) {
  (void)state;
#define ENTRY(more) HEAD TLS WSS "server:\n  - {connection: 1, " more "}\n" EXPECT
  refused(ENTRY("tls: {certificate: bad}"),
          "f.yaml:7: certificate: expected one of good|other-name|expired|self-signed|no-intermediate");
  refused(ENTRY("tls: {record_bytes: 16385}"), "f.yaml:7: record_bytes: 16385 is not within 1 and 16384 bytes");
  refused(ENTRY("tls: {handshake: {}}"),
          "f.yaml:7: die_after: missing: RST behind so many bytes of the server's handshake.");
  refused(ENTRY("tls: {version: \"1.2\", tickets: 1}"), "f.yaml:7: tickets: are of TLS 1.3");
  refused(ENTRY("tls: {version: \"1.2\"}, key_update: {at_frame: 1}"),
          "f.yaml:7: key_update: is of TLS 1.3, and this connection speaks 1.2 only");
  refused(HEAD TLS WSS "server:\n  - {reader: 1, tls: {certificate: good}}\n" EXPECT,
          "f.yaml:7: tls: belongs to an entry with connection: a reader is known by its request");
#undef ENTRY
}

static void a_plain_world_has_no_tls(void **state) {
  (void)state;
  refused(HEAD WS "server:\n  - {connection: 1, tls: {certificate: good}}\n" EXPECT,
          "f.yaml:6: tls: speaks of TLS: the scenario needs worlds: [tls]");
  refused(HEAD "worlds: [live, tls]\n" WS "server:\n  - {connection: 1, ticket: {at_frame: 1}}\n" EXPECT,
          "f.yaml:7: ticket: speaks of TLS: the scenario needs worlds: [tls]");
  refused(HEAD WSS EXPECT, "f.yaml:4: config: wss speaks TLS: the scenario needs worlds: [tls]");
  read(HEAD "client: {config: \"wss::addr=${server};\", create_error: QWP_CONFIG}\n" EXPECT); /* it meets nobody */
}

static void over_tls_no_call_is_counted_that_is_one_in_plain(void **state) {
  (void)state;
#define BOTH HEAD "worlds: [sim, live, tls]\n"
#define REMEDY "counts socket calls, which carry records under TLS: write expect_sim, or a file of its own with worlds: [tls]"
  refused(BOTH WS "expect: {io.send: 3}\n", "f.yaml:6: io.send: " REMEDY);
  refused(BOTH WS "expect:\n  io.trace: [poll_w]\n", "f.yaml:7: io.trace: " REMEDY);
  refused(BOTH "client:\n  config: ws::addr=${server};\n  steps:\n    - wait: {io.poll_w: 1}\n" EXPECT,
          "f.yaml:8: io.poll_w: " REMEDY);
  read(BOTH WS "expect: {loop.sent: 1, io.connects: 1}\nexpect_sim: {io.send: 3}\n");
  forget(NULL);
  read(HEAD TLS WS "expect: {io.poll_w: 2}\n"); /* written for TLS: it speaks of records */
  forget(NULL);
#define FAULT "faults:\n  - {at: client.send, do: EPIPE, "
#define UNSEEN "cannot be seen under TLS: select by nth, use a trigger of the server, or leave tls out of worlds"
  refused(BOTH WS FAULT "frame: 2}\n" EXPECT, "f.yaml:7: frame: " UNSEEN);
  refused(HEAD TLS WS FAULT "kind: control}\n" EXPECT, "f.yaml:7: kind: " UNSEEN);
  read(BOTH WS FAULT "nth: 2}\n" EXPECT);
}

static void a_config_for_the_world_tls(void **state) {
  (void)state;
  refused(BOTH "client: {config: \"ws::addr=127.0.0.1:1;\"}\n" EXPECT,
          "f.yaml:5: config: in the world tls it begins with ws::addr=${server} (and becomes wss with the CA), or with wss::");
  refused(BOTH "client: {config: \"ws::addr=${server};\", receiver: true}\n" EXPECT,
          "f.yaml:5: receiver: speaks no TLS: leave tls out of worlds");
  refused(HEAD "matrix: {ca: [1]}\n" WS EXPECT, "f.yaml:4: matrix: ${ca} is the file with the CA of the world tls");
  refused(HEAD "matrix: {port: [1]}\n" WS EXPECT, "f.yaml:4: matrix: ${port} is the port of the mock");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(an_entry_says_how_its_handshake_goes, forget),
      cmocka_unit_test_teardown(actions_hang_on_triggers, forget),
      cmocka_unit_test_teardown(values_that_are_none, forget),
      cmocka_unit_test_teardown(a_plain_world_has_no_tls, forget),
      cmocka_unit_test_teardown(over_tls_no_call_is_counted_that_is_one_in_plain, forget),
      cmocka_unit_test_teardown(a_config_for_the_world_tls, forget),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
