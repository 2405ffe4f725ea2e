/* What a good file comes to, part by part. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "language/scenario.h"

static struct scn_file file;
static struct scn_problem problem;

static const struct scn_scenario *read(const char *text) {
  if (!scn_read("dir/x.yaml", text, strlen(text), &file, &problem)) fail_msg("%s", problem.text);
  return file.scenarios;
}

static int forget(void **state) {
  (void)state;
  scn_file_free(&file);
  return 0;
}

#define HEAD "claim: It holds.\ncites: [P121-27, OBS-003]\nkills: [a-mutant]\n"
#define CLIENT "client: {config: \"ws::addr=${server};\"}\n"
#define EXPECT "expect: {loop.sent: 8}\n"

static void defaults(void **state) {
  (void)state;
  const struct scn_scenario *s = read(HEAD CLIENT EXPECT);
  assert_int_equal(file.count, 1);
  assert_string_equal(s->path, "dir/x.yaml");
  assert_string_equal(s->name, "dir/x");
  assert_string_equal(s->claim, "It holds.");
  assert_int_equal(s->cite_count, 2);
  assert_string_equal(s->cites[1], "OBS-003");
  assert_int_equal(s->kill_count, 1);
  assert_true(s->worlds[SCN_SIM] && s->worlds[SCN_LIVE] && !s->worlds[SCN_TLS]);
  assert_string_equal(s->config, "ws::addr=${server};");
  assert_int_equal(s->step_count, 0);
  assert_int_equal(s->server.entry_count, 0);
  assert_int_equal(s->faults.rule_count, 0);
  assert_int_equal(s->allow, 0);
  assert_false(s->any_connections);
  assert_int_equal(s->expect_count, 1);
  assert_int_equal(s->expect[0].line, 5);
}

static void top(void **state) {
  (void)state;
  const struct scn_scenario *s = read(HEAD CLIENT EXPECT
      "worlds: [sim, tls]\nallow: [loss, doubles]\nprofile: jul2026\ndisputed: C-17.\nconnections: any\nseed: 7\n"
      "worlds_may_differ: The drop comes when it comes.\n"
      "net: {delay: 10us, send_buffer: 4KiB, recv_buffer: 1, chunk_max: 7, peer_inside_send: true}\n");
  assert_true(s->worlds[SCN_SIM] && !s->worlds[SCN_LIVE] && s->worlds[SCN_TLS]);
  assert_int_equal(s->allow, SCN_ALLOW_LOSS | SCN_ALLOW_DOUBLES);
  assert_string_equal(s->profile, "jul2026");
  assert_string_equal(s->disputed, "C-17.");
  assert_string_equal(s->worlds_may_differ, "The drop comes when it comes.");
  assert_true(s->any_connections);
  assert_int_equal(s->seed, 7);
  assert_int_equal(s->net.delay_ns, 10000);
  assert_int_equal(s->net.send_buffer_bytes, 4096);
  assert_int_equal(s->net.recv_buffer_bytes, 1);
  assert_int_equal(s->net.chunk_max, 7);
  assert_true(s->net.peer_inside_send);
}

static void jitter(void **state) {
  (void)state;
  assert_int_equal(read(HEAD CLIENT EXPECT)->net.jitter_ns, 0);
  scn_file_free(&file);
  assert_int_equal(read(HEAD CLIENT EXPECT "net: {jitter: 0..2ms}\n")->net.jitter_ns, 2000000);
  scn_file_free(&file);
  assert_int_equal(read(HEAD CLIENT EXPECT "net: {jitter: 5us}\n")->net.jitter_ns, 5000);
}

static void steps(void **state) {
  (void)state;
  const struct scn_scenario *s = read(HEAD EXPECT "worlds: [sim]\nclient:\n  config: x\n  steps:\n"
      "    - hold: loop\n    - publish: {rows: 8, schema: padded, frame_bytes: 64, flush: each}\n    - release: loop\n"
      "    - publish: {rows: 2, flush: every 3, error: QWP_TOO_LARGE}\n    - flush: {}\n"
      "    - drain: {within: 5s, timeout: 100ms, error: QWP_TIMEOUT}\n"
      "    - wait: {loop.acks: \">= 3\", within: 2s}\n    - advance: 24h\n    - expect: {ring.acked: -1}\n"
      "    - close: {error: QWP_TIMEOUT}\n");
  static const enum scn_step_kind kinds[] = {SCN_HOLD, SCN_PUBLISH, SCN_RELEASE, SCN_PUBLISH, SCN_FLUSH,
                                             SCN_DRAIN, SCN_WAIT, SCN_ADVANCE, SCN_EXPECT, SCN_CLOSE};
  assert_int_equal(s->step_count, 10);
  for (size_t i = 0; i < 10; i++) assert_int_equal(s->steps[i].kind, kinds[i]);
  assert_int_equal(s->steps[0].line, 9);
  assert_int_equal(s->steps[1].work.rows, 8);
  assert_int_equal(s->steps[1].work.schema, WORKLOAD_PADDED);
  assert_int_equal(s->steps[1].work.frame_bytes, 64);
  assert_int_equal(s->steps[1].flush, SCN_FLUSH_EACH);
  assert_null(s->steps[1].error);
  assert_int_equal(s->steps[3].flush, SCN_FLUSH_EVERY);
  assert_int_equal(s->steps[3].every, 3);
  assert_true(s->steps[3].expect_error);
  assert_string_equal(s->steps[3].error, "QWP_TOO_LARGE");
  assert_true(s->steps[5].within_ns == INT64_C(5000000000));
  assert_int_equal(s->steps[5].timeout_ms, 100);
  assert_int_equal(s->steps[6].fact_count, 1);
  assert_string_equal(s->steps[6].facts[0].name, "loop.acks");
  assert_int_equal(s->steps[6].facts[0].op, SCN_GE);
  assert_true(s->steps[7].advance_ns == INT64_C(86400000000000));
  assert_int_equal(s->steps[8].facts[0].value, -1);
}

static void entries(void **state) {
  (void)state;
  const struct scn_scenario *s = read(HEAD CLIENT EXPECT "server:\n"
      "  - {connection: 1, upgrade: {status: 421, headers: {X-QuestDB-Role: REPLICA, Server: none}, body: no}}\n"
      "  - {connection: 2, advertise: {cap: 16384, version: none, role: PRIMARY}, ack: {up-to: 2}}\n"
      "  - {connection: any, upgrade: {die_after: 20}, ack: {mode: each, delay: 5ms}}\n"
      "  - {reader: 1, upgrade: hang}\n"
      "  - {connection: 2, reset: {at_frame: 5, frames: data}}\n"
      "server_settings: {profile: jul2026, strict: refuse, send_buffer: 4KiB, blocking_acks: true,"
      " refuse_connects: 3}\n");
  const struct mock_entry *e = s->server.entries;
  assert_int_equal(s->server.entry_count, 4); /* the two of connection 2 are one */
  assert_int_equal(e[0].upgrade, MOCK_UPGRADE_STATUS);
  assert_int_equal(e[0].status, 421);
  assert_int_equal(e[0].header_count, 2);
  assert_string_equal(e[0].headers[0].value, "REPLICA");
  assert_null(e[0].headers[1].value);
  assert_string_equal(e[0].body, "no");
  assert_true(e[1].has_cap);
  assert_int_equal(e[1].cap, 16384);
  assert_string_equal(e[1].version, "");
  assert_string_equal(e[1].role, "PRIMARY");
  assert_int_equal(e[1].ack, MOCK_ACK_UPTO);
  assert_int_equal(e[1].ack_value, 2);
  assert_int_equal(e[1].rule_count, 1);
  assert_int_equal(e[1].rules[0].action, MOCK_DO_RESET);
  assert_true(e[1].rules[0].only_data);
  assert_int_equal(e[2].connection, MOCK_ANY);
  assert_int_equal(e[2].upgrade, MOCK_UPGRADE_DIE);
  assert_int_equal(e[2].die_after_bytes, 20);
  assert_int_equal(e[2].ack, MOCK_ACK_EACH);
  assert_int_equal(e[2].ack_delay_ns, 5000000);
  assert_true(e[3].reader);
  assert_int_equal(e[3].upgrade, MOCK_UPGRADE_HANG);
  assert_int_equal(s->server.profile, MOCK_PROFILE_JUL2026);
  assert_true(s->server.strict_refuse);
  assert_int_equal(s->server.send_buffer_bytes, 4096);
  assert_true(s->server.blocking_acks);
  assert_int_equal(s->server.refuse_connects, 3);
}

static void entries_for_many(void **state) {
  (void)state;
  const struct scn_scenario *s = read(HEAD CLIENT EXPECT "server:\n"
      "  - {connection: 1..50, ack: {lag: 20}, reset: {at_frame: 40..400}}\n"
      "  - {connection: 50, upgrade: {cut: 90, pause: 5ms}, advertise: {cap: 4096}}\n"
      "  - {connection: 51, upgrade: {pieces: 1}, fin: {at_time: 0..5ms}}\n");
  const struct mock_entry *e = s->server.entries;
  assert_int_equal(s->server.entry_count, 51);
  for (int i = 0; i < 50; i++) {
    assert_int_equal(e[i].connection, i + 1);
    assert_int_equal(e[i].ack, MOCK_ACK_LAG);
    assert_int_equal(e[i].ack_value, 20);
    assert_int_equal(e[i].rule_count, 1);
    assert_int_equal(e[i].rules[0].n, 40);
    assert_int_equal(e[i].rules[0].n_to, 400);
    assert_int_equal(e[i].has_cap, i == 49);
  }
  assert_int_equal(e[49].upgrade, MOCK_UPGRADE_ACCEPT);
  assert_int_equal(e[49].upgrade_cut_bytes, 90);
  assert_int_equal(e[49].upgrade_pause_ns, 5000000);
  assert_int_equal(e[50].upgrade_piece_bytes, 1);
  assert_int_equal(e[50].upgrade_pause_ns, 1000000);
  assert_int_equal(e[50].ack, MOCK_ACK_SERVER);
  assert_int_equal(e[50].rules[0].trigger, MOCK_AT_TIME);
  assert_int_equal(e[50].rules[0].n, 0);
  assert_int_equal(e[50].rules[0].n_to, 5000000);
}

static void rules(void **state) {
  (void)state;
  const struct scn_scenario *s = read(HEAD CLIENT EXPECT "server:\n  - connection: 1\n"
      "    nack: {status: 0x06, at_frame: 3, text: full}\n    close: {code: 1001, at_byte: 99, reason: bye}\n"
      "    stall: {for: 2s, at_frame: 1}\n    drain: {rate: 108}\n    raw: {hex: \"8900\", on: ping}\n"
      "    ping: [{at_frame: 1, payload: a}, {at_frame: 2}]\n    ok: {seq: 100, at_time: 5ms}\n"
      "    refuse: {connects: 50, at_frame: 5}\n    release: {on: close}\n");
  const struct mock_rule *r = s->server.entries[0].rules;
  assert_int_equal(s->server.entries[0].rule_count, 10);
  assert_int_equal(r[6].action, MOCK_DO_NACK);
  assert_int_equal(r[6].code, 6);
  assert_int_equal(r[6].n, 3);
  assert_string_equal(r[6].text, "full");
  assert_int_equal(r[6].line, 8);
  assert_int_equal(r[9].action, MOCK_DO_CLOSE);
  assert_int_equal(r[9].trigger, MOCK_AT_BYTE);
  assert_int_equal(r[9].n, 99);
  assert_int_equal(r[9].code, 1001);
  assert_true(r[8].duration_ns == INT64_C(2000000000));
  assert_int_equal(r[7].action, MOCK_DO_DRAIN);
  assert_int_equal(r[7].rate, 108);
  assert_int_equal(r[7].trigger, MOCK_ON_UPGRADE);
  assert_int_equal(r[5].trigger, MOCK_ON_PING);
  assert_int_equal(r[5].raw_n, 2);
  assert_int_equal(r[5].raw[0], 0x89);
  assert_int_equal(r[3].action, MOCK_DO_PING);
  assert_int_equal(r[3].raw_n, 1);
  assert_int_equal(r[4].n, 2);
  assert_int_equal(r[4].raw_n, 0);
  assert_int_equal(r[2].value, 100);
  assert_int_equal(r[2].trigger, MOCK_AT_TIME);
  assert_int_equal(r[2].n, 5000000);
  assert_int_equal(r[0].value, 50);
  assert_int_equal(r[1].trigger, MOCK_ON_CLOSE);
}

static void faults(void **state) {
  (void)state;
  const struct scn_scenario *s = read(HEAD CLIENT EXPECT "faults:\n"
      "  - {at: client.send, connection: 1, nth: 1, do: EPIPE}\n"
      "  - {at: client.recv, byte: 90, do: chunk 7,"
      " times: forever}\n"
      "  - {at: client.send, frame: 3, do: short 40, kind: any}\n  - {at: client.connect, do: ECONNREFUSED,"
      " times: 20}\n"
      "  - {at: client.wait, phase: upgrade, do: delay-before 5ms, until: released}\n"
      "  - {at: client.alloc, bytes: 16KiB, nth: 3, do: ENOMEM}\n"
      "  - {at: client.send, do: short 1..7, every: 2}\n"
      "  - {at: client.recv, do: delay-return 0..5ms, every: 3, times: 4}\n"
      "  - {at: client.entropy, nth: 2, do: EIO}\n");
  const struct fault_rule *r = s->faults.rules;
  assert_int_equal(s->faults.rule_count, 9);
  assert_int_equal(r[0].act, FAULT_DO_ERRNO);
  assert_int_equal(r[0].err, EPIPE);
  assert_int_equal(r[0].connection, 1);
  assert_int_equal(r[0].nth, 1);
  assert_true(r[0].byte == -1);
  assert_int_equal(r[0].repeat, FAULT_ONCE);
  assert_int_equal(r[0].line, 7);
  assert_int_equal(r[1].act, FAULT_DO_CHUNK);
  assert_int_equal(r[1].value, 7);
  assert_int_equal(r[1].byte, 90);
  assert_int_equal(r[1].connection, 0);
  assert_int_equal(r[1].repeat, FAULT_FOREVER);
  assert_int_equal(r[2].act, FAULT_DO_SHORT);
  assert_int_equal(r[2].value, 40);
  assert_int_equal(r[2].kind, FAULT_KIND_ANY);
  assert_int_equal(r[3].point, FAULT_CONNECT);
  assert_int_equal(r[3].err, ECONNREFUSED);
  assert_int_equal(r[3].repeat, FAULT_TIMES);
  assert_int_equal(r[3].times, 20);
  assert_int_equal(r[4].phase, FAULT_PHASE_UPGRADE);
  assert_int_equal(r[4].act, FAULT_DO_DELAY_BEFORE);
  assert_int_equal(r[4].value, 5000000);
  assert_int_equal(r[4].repeat, FAULT_UNTIL);
  assert_string_equal(r[4].until, "released");
  assert_int_equal(r[6].value, 1);
  assert_int_equal(r[6].value_to, 7);
  assert_int_equal(r[6].every, 2);
  assert_int_equal(r[6].repeat, FAULT_FOREVER);
  assert_int_equal(r[7].value, 0);
  assert_int_equal(r[7].value_to, 5000000);
  assert_int_equal(r[7].repeat, FAULT_TIMES);
  assert_int_equal(r[7].times, 4);
  assert_int_equal(r[8].err, EIO);
  assert_int_equal(r[5].least_bytes, 16384);
  assert_int_equal(r[5].nth, 3);
}

static void facts(void **state) {
  (void)state;
  const struct scn_scenario *s = read(HEAD CLIENT "expect:\n  srv.frames: 1..4\n  io.send: \"<= 5\"\n"
      "  srv.conn[2].frames: 3\n  srv.conn[2].end: close 1000\n  srv.rows[narrow]: 8\n "
      " srv.violation[WIRE-DICT-004]: 1\n"
      "  srv.dict[1]: 4\n  client.error: QWP_AUTH\n  client.error.text: 401\n"
      "  io.trace: [\"send(100)->40\", \"send(60)->again\", poll_w, \"send(60)->60\"]\n");
  const struct scn_fact *f = s->expect;
  assert_int_equal(s->expect_count, 10);
  assert_int_equal(f[0].source, SCN_FROM_MOCK);
  assert_int_equal(f[0].op, SCN_RANGE);
  assert_int_equal(f[0].to, 4);
  assert_int_equal(f[1].source, SCN_FROM_FAULTS);
  assert_int_equal(f[2].source, SCN_FROM_CONN);
  assert_string_equal(f[2].name, "srv.conn[2].frames");
  assert_string_equal(f[2].field, "frames");
  assert_int_equal(f[2].index, 2);
  assert_string_equal(f[3].text, "close 1000");
  assert_int_equal(f[4].source, SCN_FROM_TABLE);
  assert_string_equal(f[4].selector, "narrow");
  assert_string_equal(f[5].selector, "WIRE-DICT-004");
  assert_int_equal(f[6].source, SCN_FROM_DICT);
  assert_int_equal(f[6].index, 1);
  assert_string_equal(f[7].text, "QWP_AUTH");
  assert_int_equal(f[8].op, SCN_MATCH);
  assert_int_equal(f[9].source, SCN_FROM_TRACE);
  assert_int_equal(f[9].item_count, 4);
  assert_string_equal(f[9].items[1], "send(60)->again");
}

static void facts_of_the_simulated_world(void **state) {
  (void)state;
  const struct scn_scenario *s = read(
      HEAD CLIENT "expect: {loop.sent: 8}\n"
      "expect_sim:\n  time.virtual_ns: \">= 5000000\"\n  io.max_send_run: 64\n"
      "  io.trace: [\"2 x send(64)->64\", poll_w, \"3 x send(9)->again\"]\n");
  const struct scn_fact *f = s->expect;
  assert_int_equal(s->expect_count, 4);
  assert_false(f[0].only_sim);
  for (int i = 1; i < 4; i++) assert_true(f[i].only_sim);
  assert_int_equal(f[1].source, SCN_FROM_WORLD);
  assert_int_equal(f[1].value, 5000000);
  assert_int_equal(f[2].value, 64);
  static const char *const calls[] = {"send(64)->64", "send(64)->64", "poll_w", "send(9)->again", "send(9)->again",
                                      "send(9)->again"};
  assert_int_equal(f[3].item_count, 6);
  for (int i = 0; i < 6; i++) assert_string_equal(f[3].items[i], calls[i]);
  scn_file_free(&file);
  s = read(HEAD CLIENT "worlds: [sim]\nexpect: {time.virtual_ns: 7}\n"); /* one world: no second section is needed */
  assert_false(s->expect[0].only_sim);
}

static void matrix_cross(void **state) {
  (void)state;
  read(HEAD CLIENT EXPECT "matrix: {errno: [EPIPE, ENOBUFS], byte: [0..2]}\n"
      "faults:\n  - {at: client.send, byte: \"${byte}\", do: \"${errno}\"}\n");
  assert_int_equal(file.count, 6);
  assert_string_equal(file.scenarios[0].name, "dir/x[errno=EPIPE,byte=0]");
  assert_string_equal(file.scenarios[5].name, "dir/x[errno=ENOBUFS,byte=2]");
  for (int i = 0; i < 6; i++) {
    assert_int_equal(file.scenarios[i].faults.rules[0].byte, i % 3);
    assert_int_equal(file.scenarios[i].faults.rules[0].err, i < 3 ? EPIPE : ENOBUFS);
  }
}

static void matrix_lines(void **state) {
  (void)state;
  read(HEAD "client: {config: \"ws::addr=${server};x=${a}${b};\"}\nexpect: {loop.sent: \"<= ${b}\"}\n"
      "matrix: [{a: 1, b: 2}, {b: 4, a: 3}]\n");
  assert_int_equal(file.count, 2);
  assert_string_equal(file.scenarios[1].name, "dir/x[a=3,b=4]");
  assert_string_equal(file.scenarios[1].config, "ws::addr=${server};x=34;");
  assert_int_equal(file.scenarios[0].expect[0].value, 2);
}

static void server_script(void **state) {
  (void)state;
  char path[] = "scn-test-XXXXXX";
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  FILE *f = fdopen(fd, "w");
  assert_non_null(f);
  fputs("server: [{connection: any, ack: each}]\nserver_settings: {max_symbols: 9}\n", f);
  fclose(f);
  const bool ok = scn_read_server(path, &file, &problem);
  const int64_t max_symbols = ok ? file.scenarios[0].server.max_symbols : -1;
  scn_file_free(&file);
  const bool whole = scn_read_file(path, &file, &problem); /* no scenario: claim is missing */
  remove(path);
  assert_true(ok);
  assert_int_equal(max_symbols, 9);
  assert_false(whole);
  assert_non_null(strstr(problem.text, "claim: missing"));
}

int main(void) {
#define T(f) cmocka_unit_test_teardown(f, forget)
  const struct CMUnitTest tests[] = {
    T(defaults), T(top), T(jitter), T(steps), T(entries), T(entries_for_many), T(rules), T(faults), T(facts),
    T(facts_of_the_simulated_world), T(matrix_cross), T(matrix_lines), T(server_script),
  };
#undef T
  return cmocka_run_group_tests(tests, NULL, NULL);
}
