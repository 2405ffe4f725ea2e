/* The verdict: green only if nothing at all is wrong, and each thing that is wrong alone makes it red. */
#include "runner/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "claim: It holds.\ncites: [P121-27]\nkills: [a-mutant]\n"
#define CLIENT "client: {config: \"ws::addr=${server};\"}\n"
#define SERVER "server:\n  - {connection: 1, upgrade: accept}\n"
#define EXPECT "expect: {loop.sent: 8}\n" /* line 7 of GOOD */
#define GOOD HEAD CLIENT SERVER EXPECT

static struct scn_file file;
static struct observation seen;
static char why[512];

/* A run in which all went well. */
static void begin(const char *text) {
  struct scn_problem problem;
  if (!scn_read("x.yaml", text, strlen(text), &file, &problem)) fail_msg("%s", problem.text);
  observation_init(&seen);
  seen.client_ok = true;
  facts_number(&seen.facts, "srv.conns", 1);
  facts_text(&seen.facts, "srv.conn[1].end", "close 1000");
  facts_number(&seen.facts, "loop.sent", 8);
  facts_number(&seen.facts, "io.hs_bytes_out", 200);
  facts_number(&seen.facts, "io.bytes_out", 700);
  facts_number(&seen.facts, "srv.bytes_in", 900);
}

static void end(void) {
  observation_free(&seen);
  scn_file_free(&file);
}

static enum verdict judged(void) { return judge(file.scenarios, &seen, why, sizeof why); }

static void all_well_is_green(void **state) {
  (void)state;
  begin(GOOD);
  assert_int_equal(judged(), VERDICT_PASSED);
  assert_string_equal(why, "");
  end();
}

static void assert_red(const char *sentence) {
  assert_int_equal(judged(), VERDICT_FAILED);
  assert_string_equal(why, sentence);
}

static void a_step_that_failed_is_red(void **state) {
  (void)state;
  begin(GOOD);
  seen.client_ok = false;
  seen.client_line = 4;
  strcpy(seen.client_why, "publish: refused");
  assert_red("x.yaml:4: publish: refused");
  end();
}

static void a_fault_that_did_not_fire_is_red(void **state) {
  (void)state;
  begin(GOOD);
  observe_unfired(&seen, "line 12: client.send EPIPE did not fire (0 such calls were made)");
  observe_unfired(&seen, "line 13: another");
  assert_red("x.yaml:12: client.send EPIPE did not fire (0 such calls were made); line 13: another");
  end();
}

static void what_did_not_fire_is_told_behind_what_it_caused(void **state) {
  (void)state;
  begin(GOOD);
  observe_unfired(&seen, "line 12: client.send EPIPE did not fire");
  seen.client_ok = false;
  seen.client_line = 4;
  strcpy(seen.client_why, "wait: loop.acks");
  assert_red("x.yaml:4: wait: loop.acks; and x.yaml:12: client.send EPIPE did not fire");
  strcpy(seen.harness, "the client hangs");
  assert_int_equal(judged(), VERDICT_ERROR);
  assert_string_equal(why, "x.yaml: the client hangs; and x.yaml:12: client.send EPIPE did not fire");
  end();
}

#define STEPS(steps) HEAD "client: {config: \"ws::addr=${server};\", steps: [" steps "]}\n" SERVER EXPECT
#define PUBLISH "{publish: {rows: 8, schema: tiny, flush: none}}"

static void told(int64_t rows, int64_t accepted) {
  facts_number(&seen.facts, "client.rows", rows);
  facts_number(&seen.facts, "client.rows_accepted", accepted);
}

/* A client is not asked how much it had to do. */
static void fewer_rows_than_the_steps_publish_are_red(void **state) {
  (void)state;
  begin(STEPS(PUBLISH ", {flush: {}}"));
  told(8, 8);
  assert_int_equal(judged(), VERDICT_PASSED);
  told(7, 7);
  assert_red("x.yaml: the client gave 7 rows, its steps publish 8");
  told(8, 7);
  assert_red("x.yaml: 7 rows were accepted, the steps that succeeded flushed 8");
  end();
  begin(STEPS(PUBLISH ", {close: {error: QWP_REJECTED}}")); /* what was never flushed may stay */
  told(8, 0);
  assert_int_equal(judged(), VERDICT_PASSED);
  end();
}

/* ---- no evidence is no proof (CASE-100) ---- */

#define RSS HEAD CLIENT SERVER "expect: {client.rss: \"< 100000000\"}\n"

static void memory_that_nobody_looked_at_is_an_error(void **state) {
  (void)state;
  begin(RSS);
  seen.world = SCN_LIVE;
  facts_number(&seen.facts, "client.samples", 0);
  assert_int_equal(judged(), VERDICT_ERROR);
  assert_string_equal(why, "x.yaml: 0 samples for client.rss: no evidence is no proof");
  seen.client_ok = false; /* what went wrong is known here, and it is the client's */
  assert_int_equal(judged(), VERDICT_FAILED);
  seen.client_ok = true;
  facts_number(&seen.facts, "client.samples", 2);
  facts_number(&seen.facts, "client.rss", 100000000);
  assert_int_equal(judged(), VERDICT_FAILED);
  facts_number(&seen.facts, "client.rss", 99999999);
  assert_int_equal(judged(), VERDICT_PASSED);
  end();
}

static void memory_in_a_world_without_it_is_unsupported(void **state) {
  (void)state;
  begin(RSS);
  assert_int_equal(judged(), VERDICT_UNSUPPORTED);
  assert_string_equal(why, "x.yaml: client.rss does not exist in the simulated world, where the client is no process of "
                           "its own");
  end();
}

static void a_balance_that_could_not_be_taken_is_an_error(void **state) {
  (void)state;
  begin(GOOD);
  seen.world = SCN_LIVE;
  seen.own_client = true;
  facts_number(&seen.facts, "mem.live", 0);
  facts_number(&seen.facts, "net.open", 0);
  facts_number(&seen.facts, "client.samples", 0);
  assert_int_equal(judged(), VERDICT_ERROR);
  assert_string_equal(why, "x.yaml: 0 samples for proc.threads: no evidence is no proof");
  facts_number(&seen.facts, "client.samples", 1); /* it can look, and keeps silent: that is its own fault */
  assert_red("x.yaml: proc.threads was not told after the close");
  facts_number(&seen.facts, "proc.threads", 0);
  facts_number(&seen.facts, "proc.fds", 0);
  assert_int_equal(judged(), VERDICT_PASSED);
  end();
}

static void what_a_client_lacks_is_unsupported(void **state) {
  (void)state;
  begin(STEPS(PUBLISH));
  strcpy(seen.unsupported, "knows no rows");
  seen.client_ok = false;
  assert_int_equal(judged(), VERDICT_UNSUPPORTED);
  assert_string_equal(why, "x.yaml: knows no rows");
  end();
}

static void a_connection_outside_the_script_is_red(void **state) {
  (void)state;
  begin(GOOD);
  facts_number(&seen.facts, "srv.conns", 2);
  assert_red("x.yaml: connection 2 is not in the script (`connections: any` allows it)");
  end();
  begin(GOOD "connections: any\n");
  facts_number(&seen.facts, "srv.conns", 2);
  facts_text(&seen.facts, "srv.conn[2].end", "close 1000");
  assert_int_equal(judged(), VERDICT_PASSED);
  end();
}

static void a_connection_that_never_came_is_red(void **state) {
  (void)state;
  begin(HEAD CLIENT SERVER "  - {connection: 2, upgrade: accept}\n" EXPECT);
  assert_red("x.yaml:7: connection 2 never came (1 did)");
  end();
}

static void a_violation_is_red(void **state) {
  (void)state;
  begin(GOOD);
  strcpy(seen.violation, "WS-001 violated");
  assert_red("x.yaml: WS-001 violated");
  end();
}

static void an_expectation_that_does_not_hold_is_red(void **state) {
  (void)state;
  begin(GOOD);
  facts_number(&seen.facts, "loop.sent", 7);
  assert_int_equal(judged(), VERDICT_FAILED);
  assert_non_null(strstr(why, "x.yaml:7: "));
  assert_non_null(strstr(why, "loop.sent"));
  end();
}

static void wrong_rows_are_red(void **state) {
  (void)state;
  begin(GOOD);
  strcpy(seen.rows_why, "row 1 of 3 accepted ones is lost");
  assert_red("x.yaml: row 1 of 3 accepted ones is lost");
  end();
}

static void what_is_left_open_is_red(void **state) {
  (void)state;
  static const char *const names[] = {"mem.live", "net.open", "proc.threads", "proc.fds"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    begin(GOOD);
    facts_number(&seen.facts, names[i], i % 2 ? -1 : 1); /* one too few is as wrong */
    assert_int_equal(judged(), VERDICT_FAILED);
    assert_non_null(strstr(why, names[i]));
    end();
  }
  begin(GOOD "allow: [leaks]\n");
  facts_number(&seen.facts, "mem.live", 1);
  assert_int_equal(judged(), VERDICT_PASSED);
  end();
}

/* Of our own client silence is a leak that nobody sees; an adapter may not know. */
static void what_our_own_client_does_not_tell_is_red(void **state) {
  (void)state;
  static const struct {
    enum scn_world world;
    const char *told[4];
    const char *missing;
  } table[] = {
      {SCN_SIM, {"mem.live", "net.open"}, NULL},
      {SCN_SIM, {"net.open"}, "mem.live"},
      {SCN_SIM, {"mem.live"}, "net.open"},
      {SCN_LIVE, {"mem.live", "net.open", "proc.threads", "proc.fds"}, NULL},
      {SCN_LIVE, {"mem.live", "net.open", "proc.fds"}, "proc.threads"},
      {SCN_LIVE, {"mem.live", "net.open", "proc.threads"}, "proc.fds"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    begin(GOOD);
    seen.world = table[i].world;
    for (size_t k = 0; k < 4 && table[i].told[k]; k++) facts_number(&seen.facts, table[i].told[k], 0);
    assert_int_equal(judged(), VERDICT_PASSED);
    seen.own_client = true;
    assert_int_equal(judged(), table[i].missing ? VERDICT_FAILED : VERDICT_PASSED);
    if (table[i].missing) assert_non_null(strstr(why, table[i].missing));
    end();
  }
}

/* ---- bytes of both ends ---- */

#define PROBING \
  HEAD "client: {config: \"ws::addr=${server};\", steps: [probe: {}, probe: {send: \"12345\"}]}\n" SERVER EXPECT
#define CLEAN "close 1000"

/* Sent are 900, and 5 by the probes where the file has some. */
static void bytes_that_nobody_counted_are_an_error(void **state) {
  (void)state;
  static const struct {
    const char *file;
    enum scn_world world;
    int64_t received, unmatched, attempts;
    const char *end;
    enum verdict verdict;
  } table[] = {
      {GOOD, SCN_LIVE, 900, 0, 0, CLEAN, VERDICT_PASSED},
      {GOOD, SCN_LIVE, 901, 0, 0, CLEAN, VERDICT_ERROR},
      {GOOD, SCN_LIVE, 899, 0, 0, CLEAN, VERDICT_ERROR},
      {GOOD, SCN_SIM, 899, 0, 0, CLEAN, VERDICT_ERROR},
      {GOOD, SCN_LIVE, 899, 0, 0, "fin", VERDICT_ERROR},
      {GOOD, SCN_LIVE, 899, 0, 0, "reset", VERDICT_PASSED}, /* a reset loses bytes, and makes none */
      {GOOD, SCN_LIVE, 901, 0, 0, "reset", VERDICT_ERROR},
      {GOOD, SCN_LIVE, 899, 0, 0, "script close 1001", VERDICT_PASSED},
      {GOOD, SCN_LIVE, 899, 1, 0, CLEAN, VERDICT_PASSED}, /* a connection of which no end is known */
      {GOOD, SCN_LIVE, 899, 0, 1, CLEAN, VERDICT_PASSED},
      {GOOD, SCN_TLS, 600, 0, 0, CLEAN, VERDICT_PASSED}, /* less, for the client's are records */
      {GOOD, SCN_TLS, 901, 0, 0, CLEAN, VERDICT_ERROR},
      {PROBING, SCN_LIVE, 905, 2, 0, CLEAN, VERDICT_PASSED},
      {PROBING, SCN_LIVE, 906, 2, 0, CLEAN, VERDICT_ERROR},
      {PROBING, SCN_LIVE, 904, 2, 0, CLEAN, VERDICT_ERROR},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    begin(table[i].file);
    seen.world = table[i].world;
    facts_number(&seen.facts, "srv.bytes_in", table[i].received);
    facts_number(&seen.facts, "srv.unmatched", table[i].unmatched);
    facts_number(&seen.facts, "srv.attempts", table[i].attempts);
    facts_text(&seen.facts, "srv.conn[1].end", table[i].end);
    file.scenarios[0].allow |= SCN_ALLOW_UNCLEAN_END | SCN_ALLOW_LEAKS;
    assert_int_equal(judged(), table[i].verdict); /* another client that counts is taken at its word */
    seen.own_client = true;
    assert_int_equal(judged(), table[i].verdict);
    end();
  }
}

static void a_client_that_does_not_count_is_not_asked(void **state) {
  (void)state;
  begin(GOOD "allow: [leaks]\n");
  facts_free(&seen.facts);
  facts_number(&seen.facts, "srv.conns", 1);
  facts_text(&seen.facts, "srv.conn[1].end", "close 1000");
  facts_number(&seen.facts, "loop.sent", 8);
  facts_number(&seen.facts, "srv.bytes_in", 950);
  assert_int_equal(judged(), VERDICT_PASSED);
  facts_number(&seen.facts, "io.bytes_out", 1); /* one of two numbers is no sum */
  assert_int_equal(judged(), VERDICT_PASSED);
  end();
}

static void the_sentence_tells_both_numbers(void **state) {
  (void)state;
  begin(GOOD "allow: [leaks]\n");
  seen.own_client = true;
  facts_number(&seen.facts, "srv.bytes_in", 950);
  assert_int_equal(judged(), VERDICT_ERROR);
  assert_string_equal(why, "x.yaml: the server received 950 bytes, the client's counters know of 900: some went round "
                           "them");
  facts_number(&seen.facts, "srv.bytes_in", 850);
  assert_int_equal(judged(), VERDICT_ERROR);
  assert_string_equal(why, "x.yaml: the server received 850 bytes of 900 that were counted, though every connection "
                           "ended in order");
  facts_free(&seen.facts);
  assert_int_equal(judged(), VERDICT_ERROR);
  assert_string_equal(why, "x.yaml: the bytes of both ends were not told, so they cannot be compared");
  end();
}

static void the_last_connection_ends_with_the_clients_close(void **state) {
  (void)state;
  static const struct {
    const char *how;
    bool clean;
  } table[] = {
      {"close 1000", true},   {"refused 401", true},       {"script reset", true}, {"script close 1011", true},
      {"close 1001", false},  {"close without code", false}, {"fin", false},       {"reset", false},
      {"open", false},        {"sent close 1002", false},  {"bad request", false}, {"dropped", false},
      {"tls unknown ca", true}, {"handshake failed", false}, {"bad record", false},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    begin(GOOD);
    facts_text(&seen.facts, "srv.conn[1].end", table[i].how);
    assert_int_equal(judged(), table[i].clean ? VERDICT_PASSED : VERDICT_FAILED);
    if (!table[i].clean) assert_non_null(strstr(why, table[i].how));
    end();
  }
  begin(GOOD "allow: [unclean-end]\n");
  facts_text(&seen.facts, "srv.conn[1].end", "fin");
  assert_int_equal(judged(), VERDICT_PASSED);
  end();
}

static void only_the_last_connection_is_asked_how_it_ended(void **state) {
  (void)state;
  begin(GOOD "connections: any\n");
  facts_number(&seen.facts, "srv.conns", 2);
  facts_text(&seen.facts, "srv.conn[1].end", "reset");
  facts_text(&seen.facts, "srv.conn[2].end", "close 1000");
  assert_int_equal(judged(), VERDICT_PASSED);
  facts_text(&seen.facts, "srv.conn[1].end", "close 1000");
  facts_text(&seen.facts, "srv.conn[2].end", "fin");
  assert_red("x.yaml: connection 2, the last, ended with \"fin\", not with the client's Close 1000"
             " (`allow: [unclean-end]` lifts this)");
  end();
}

static void what_only_the_simulated_world_has_is_judged_there_only(void **state) {
  (void)state;
  begin(GOOD "expect_sim: {io.send: 1}\n");
  facts_number(&seen.facts, "io.send", 2);
  assert_red("x.yaml:8: io.send: expected 1, seen 2");
  seen.world = SCN_LIVE;
  assert_int_equal(judged(), VERDICT_PASSED);
  end();
  begin(HEAD CLIENT SERVER "expect: {}\nexpect_sim: {loop.sent: 8}\n");
  assert_int_equal(judged(), VERDICT_PASSED);
  seen.world = SCN_LIVE;
  assert_red("x.yaml: nothing is expected: a scenario without `expect` proves nothing");
  end();
}

static void nothing_observed_is_red(void **state) {
  (void)state;
  begin(HEAD CLIENT EXPECT);
  facts_number(&seen.facts, "srv.conns", 0);
  assert_red("x.yaml: nothing was observed: no connection was ever tried");
  end();
}

static void a_run_that_the_harness_lost_is_no_verdict(void **state) {
  (void)state;
  begin(GOOD);
  strcpy(seen.harness, "the mock cannot listen");
  strcpy(seen.rows_why, "no rows");
  assert_int_equal(judged(), VERDICT_ERROR);
  assert_string_equal(why, "x.yaml: the mock cannot listen");
  end();
}

static void a_disputed_one_counts_apart(void **state) {
  (void)state;
  begin(GOOD "disputed: C-17.\n");
  assert_int_equal(judged(), VERDICT_DISPUTED);
  facts_number(&seen.facts, "loop.sent", 7);
  assert_int_equal(judged(), VERDICT_DISPUTED);
  assert_non_null(strstr(why, "loop.sent")); /* and still says what differs */
  end();
}

static void a_sender_that_cannot_be_made_is_told_by_its_connect_string(void **state) {
  (void)state;
  begin(GOOD);
  observe_unfired(&seen, "line 12: client.send EPIPE did not fire");
  facts_text(&seen.facts, "client.create", "QWP_CONFIG");
  seen.client_ok = false;
  strcpy(seen.client_why, "create: no such key");
  assert_red("x.yaml:4: create: no such key");
  facts_text(&seen.facts, "client.create", "ok");
  assert_red("x.yaml: create: no such key; and x.yaml:12: client.send EPIPE did not fire");
  end();
}

static void the_violated_requirement_is_found_in_the_sentence(void **state) {
  (void)state;
  char id[40] = "";
  strcpy(why, "x.yaml: WIRE-FLAG-002 violated at connection 1, wireSeq 0, offset 5: no");
  assert_true(verdict_violated(why, id, sizeof id));
  assert_string_equal(id, "WIRE-FLAG-002");
  assert_false(verdict_violated("x.yaml:7: loop.sent: expected 8, seen 7", id, sizeof id));
  assert_false(verdict_violated("x.yaml:  violated at connection 1", id, sizeof id));
  assert_false(verdict_violated("WS-001 violated at connection 1", id, sizeof id)); /* no file before it */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_well_is_green),
      cmocka_unit_test(a_step_that_failed_is_red),
      cmocka_unit_test(a_fault_that_did_not_fire_is_red),
      cmocka_unit_test(what_did_not_fire_is_told_behind_what_it_caused),
      cmocka_unit_test(fewer_rows_than_the_steps_publish_are_red),
      cmocka_unit_test(memory_that_nobody_looked_at_is_an_error),
      cmocka_unit_test(memory_in_a_world_without_it_is_unsupported),
      cmocka_unit_test(a_balance_that_could_not_be_taken_is_an_error),
      cmocka_unit_test(what_a_client_lacks_is_unsupported),
      cmocka_unit_test(a_connection_outside_the_script_is_red),
      cmocka_unit_test(a_connection_that_never_came_is_red),
      cmocka_unit_test(a_violation_is_red),
      cmocka_unit_test(an_expectation_that_does_not_hold_is_red),
      cmocka_unit_test(wrong_rows_are_red),
      cmocka_unit_test(what_is_left_open_is_red),
      cmocka_unit_test(what_our_own_client_does_not_tell_is_red),
      cmocka_unit_test(bytes_that_nobody_counted_are_an_error),
      cmocka_unit_test(a_client_that_does_not_count_is_not_asked),
      cmocka_unit_test(the_sentence_tells_both_numbers),
      cmocka_unit_test(the_last_connection_ends_with_the_clients_close),
      cmocka_unit_test(only_the_last_connection_is_asked_how_it_ended),
      cmocka_unit_test(what_only_the_simulated_world_has_is_judged_there_only),
      cmocka_unit_test(nothing_observed_is_red),
      cmocka_unit_test(a_run_that_the_harness_lost_is_no_verdict),
      cmocka_unit_test(a_disputed_one_counts_apart),
      cmocka_unit_test(a_sender_that_cannot_be_made_is_told_by_its_connect_string),
      cmocka_unit_test(the_violated_requirement_is_found_in_the_sentence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
