/* Every refusal: its line, its key, and the hint. */
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

/* The text must be refused with exactly this line. */
static void refused(const char *text, const char *want) {
  assert_false(scn_read("f.yaml", text, strlen(text), &file, &problem));
  assert_string_equal(problem.text, want);
  assert_null(file.scenarios);
  assert_null(file.arena);
}

/* The same for lines that follow a good file of five lines. */
#define GOOD "claim: It holds.\ncites: [A-1]\nkills: [m]\nclient: {config: x}\nexpect: {loop.sent: 8}\n"
static void refused_behind(const char *more, const char *want) {
  char text[2048];
  snprintf(text, sizeof text, GOOD "%s", more);
  refused(text, want);
}

static void keys(void **state) {
  (void)state;
  refused_behind("kils: [x]\n", "f.yaml:6: kils: no such key here, nearest valid key 'kills'");
  refused_behind("bananas: 1\n", "f.yaml:6: bananas: no such key here");
  refused_behind("claim: Again.\n", "f.yaml:6: claim: given twice, first in line 1");
  refused_behind("server:\n  - {connection: 1, upgarde: accept}\n",
                "f.yaml:7: upgarde: no such key here, nearest valid key 'upgrade'");
  refused_behind("? [a]\n: 1\n", "f.yaml:6: a key must be a single word");
  refused("claim: It holds.\ncites: [A-1]\nclient: {config: x}\nexpect: {}\n",
          "f.yaml:1: kills: missing: Mutants (files in tests/mutants) this scenario must go red on.");
}

static void forms(void **state) {
  (void)state;
  refused_behind("seed: x\n", "f.yaml:6: seed: expected a whole number");
  refused_behind("seed: [1]\n", "f.yaml:6: seed: expected a whole number");
  refused_behind("net: {delay: 5}\n", "f.yaml:6: delay: expected a time such as 5s, 100ms, 10us");
  refused_behind("net: {peer_inside_send: yes}\n", "f.yaml:6: peer_inside_send: expected true or false");
  refused_behind("server: {connection: 1}\n", "f.yaml:6: server: expected a list of mappings");
  refused_behind("worlds: [simm]\n", "f.yaml:6: worlds: 'simm' is not one of sim|live|tls, nearest valid word 'sim'");
  refused_behind("connections: several\n", "f.yaml:6: connections: expected one of scripted|any");
  refused_behind("connections: many\n",
          "f.yaml:6: connections: 'many' is not one of scripted|any, nearest valid word 'any'");
  refused_behind("net: 5\n", "f.yaml:6: net: expected a mapping");
}

static void counters(void **state) {
  (void)state;
  refused("claim: It holds.\ncites: [A-1]\nkills: [m]\nclient: {config: x}\nexpect:\n  loop.snet: 8\n",
          "f.yaml:6: loop.snet: no such counter, nearest valid counter 'loop.sent'");
  refused("claim: It holds.\ncites: [A-1]\nkills: [m]\nclient: {config: x}\nexpect:\n  srv.conn[2].frame: 8\n",
          "f.yaml:6: srv.conn[2].frame: no such counter, nearest valid counter 'srv.conn[].frames'");
  refused("claim: It holds.\ncites: [A-1]\nkills: [m]\nclient: {config: x}\nexpect:\n  srv.conn[x].frames: 8\n",
          "f.yaml:6: srv.conn[x].frames: the bracket holds a connection number, from 1");
  refused("claim: It holds.\ncites: [A-1]\nkills: [m]\nclient: {config: x}\nexpect: {loop.sent: ~8}\n",
          "f.yaml:5: loop.sent: '~8' is no comparison: write 5, \"<= 5\", \"!= 0\" or \"1..4\"");
  refused("claim: It holds.\ncites: [A-1]\nkills: [m]\nclient: {config: x}\nexpect: {client.error: AUTH}\n",
          "f.yaml:5: client.error: 'AUTH' is no status name such as QWP_REJECTED, nor none, nor ok");
  refused("claim: It holds.\ncites: [A-1]\nkills: [m]\nclient: {config: x}\nexpect: {io.trace: [sent]}\n",
          "f.yaml:5: io.trace: 'sent' is no call: send(asked)->taken, send(asked)->again, poll_w, poll_r");
  refused("claim: It holds.\ncites: [A-1]\nkills: [m]\nclient: {config: x}\nexpect: {io.trace: [0 x poll_w]}\n",
          "f.yaml:5: io.trace: '0 x poll_w': how often? 1 to 10000");
  refused("claim: It holds.\ncites: [A-1]\nkills: [m]\nclient: {config: x}\n"
          "expect: {io.trace: [9999 x poll_w, 2 x poll_w]}\n", "f.yaml:5: io.trace: more than 10000 calls");
  refused("claim: It holds.\ncites: [A-1]\nkills: [m]\nclient: {config: x}\nexpect: {time.virtual_ns: 5}\n",
          "f.yaml:5: time.virtual_ns: is known in the simulated world only: write expect_sim");
  refused_behind("worlds: [live]\nworlds_may_differ: Whenever it drops.\n",
                 "f.yaml:7: worlds_may_differ: this scenario has one world only, so there is nothing to compare; leave it out");
  refused_behind("worlds: [live]\nexpect_sim: {loop.sent: 8}\n",
                 "f.yaml:7: expect_sim: the scenario does not run in the world sim");
}

static void claims(void **state) {
  (void)state;
  refused("claim: It holds\ncites: [A-1]\nkills: [m]\nclient: {config: x}\nexpect: {}\n",
          "f.yaml:1: claim: must be a sentence that ends with a period");
  refused("claim: It holds. It does.\ncites: [A-1]\nkills: [m]\nclient: {config: x}\nexpect: {}\n",
          "f.yaml:1: claim: must be one sentence, this has several");
  refused("claim: It holds.\ncites: [A-1]\nkills: []\nclient: {config: x}\nexpect: {}\n",
          "f.yaml:3: kills: names none: a scenario says which wrong code it finds");
  refused("claim: It holds.\ncites: [a b]\nkills: [m]\nclient: {config: x}\nexpect: {}\n",
          "f.yaml:2: cites: 'a b' is no name of this kind");
}

static void steps_refused(const char *steps, const char *want) {
  char text[2048];
  snprintf(text, sizeof text,
           "claim: It holds.\ncites: [A-1]\nkills: [m]\nexpect: {}\nclient:\n  config: x\n  steps:\n%s", steps);
  refused(text, want);
}

static void steps(void **state) {
  (void)state;
  steps_refused("    - {hold: loop, release: loop}\n", "f.yaml:8: steps: a step has one key, this has 2");
  steps_refused("    - hold: loop\n", "f.yaml:8: hold: the loop is never released");
  steps_refused("    - release: loop\n", "f.yaml:8: release: the loop is not held");
  steps_refused("    - probe: {send: \"GET / HTTP/1.1\\r\\n\\r\\n\"}\n",
               "f.yaml:8: send: a whole request head is no probe: leave out the blank line");
  steps_refused("    - advance: 24h\n", "f.yaml:8: advance: only virtual time can be moved: write worlds: [sim]");
  steps_refused("    - close: {}\n    - flush: {}\n", "f.yaml:9: flush: comes after close");
  steps_refused("    - publish: {rows: 0}\n", "f.yaml:8: rows: 0 is not within 1 and 1000000000");
  steps_refused("    - publish: {rows: 1, frame_bytes: 64}\n", "f.yaml:8: frame_bytes: needs schema: padded");
  steps_refused("    - publish: {rows: 1, schema: padded, frame_bytes: 132, flush: each}\n",
               "f.yaml:8: frame_bytes: no frame of this schema has 132 wire bytes: at least 51, and not 132, 133 or "
               "65544 to 65549");
  steps_refused("    - publish: {rows: 1, schema: padded, frame_bytes: 64}\n",
               "f.yaml:8: flush: schema padded is one row a frame: write flush: each or acked");
  steps_refused("    - wait: {withn: 5s}\n", "f.yaml:8: withn: no such counter, nearest valid key 'within'");
  steps_refused("    - wait: {srv.frames: 5}\n",
               "f.yaml:8: srv.frames: a step knows the client's counters only: judge this in expect");
  steps_refused("    - wait: {within: 5s}\n", "f.yaml:8: wait: names no counter to wait for");
  steps_refused("    - drain: {error: QWP_TIMEOT}\n",
               "f.yaml:8: error: 'QWP_TIMEOT' is no word of this key, nearest valid word 'QWP_TIMEOUT'");
}

static void server(void **state) {
  (void)state;
  refused_behind("server:\n  - {upgrade: accept}\n", "f.yaml:7: server: an entry has one of connection and reader");
  refused_behind("server:\n  - {connection: 1, ack: each}\n  - {connection: 1, ack: hold}\n",
                "f.yaml:8: ack: given for this connection already, in the entry of line 7");
  refused_behind("server:\n  - {connection: 1..9, ack: each}\n  - {connection: 7..12, ack: hold}\n",
                "f.yaml:8: ack: given for this connection already, in the entry of line 7");
  refused_behind("server:\n  - {connection: 1..1001}\n", "f.yaml:7: connection: more than 1000 connections");
  refused_behind("server:\n  - {connection: 9..1}\n",
                "f.yaml:7: connection: '9..1': the lower end of a range comes first");
  refused_behind("server:\n  - {connection: 9..}\n",
                "f.yaml:7: connection: expected a whole number or a range such as 1..50 or one of any");
  refused_behind("server:\n  - {connection: 1, reset: {at_frame: 0..4}}\n",
                "f.yaml:7: at_frame: 0..4 is less than 1");
  refused_behind("server:\n  - {connection: 1, reset: {}}\n",
                "f.yaml:7: reset: needs one of at_frame, at_byte, at_time and on, this has 0");
  refused_behind("server:\n  - {connection: 1, reset: {at_frame: 1, at_byte: 2}}\n",
                "f.yaml:7: reset: needs one of at_frame, at_byte, at_time and on, this has 2");
  refused_behind("server:\n  - {connection: 1, upgrade: {cut: 1, pieces: 2}}\n",
                "f.yaml:7: upgrade: cut and pieces exclude each other");
  refused_behind("server:\n  - {connection: 1, upgrade: {cut: 1, die_after: 2}}\n",
                "f.yaml:7: upgrade: an answer that dies has no cut and no pieces: die_after says where it ends");
  refused_behind("server:\n  - {connection: 1, upgrade: {pause: 1ms}}\n",
                "f.yaml:7: pause: belongs to cut or pieces; delay is the time before an answer");
  refused_behind("server:\n  - {connection: 1, ack: {up-to: 1, burst: 2}}\n",
                "f.yaml:7: ack: mode, up-to, burst, lag and lie exclude each other");
  refused_behind("server:\n  - {connection: 1, nack: {at_frame: 1}}\n",
          "f.yaml:7: status: missing: Status byte of the answer.");
  refused_behind("server:\n  - {connection: 1, raw: {hex: \"8\", at_frame: 1}}\n",
          "f.yaml:7: hex: expected pairs of hex digits");
}

#define NO_LOSS ": a byte stream does not lose bytes: use net: {jitter: 0..2ms} for late segments, or do: corrupt"

static void loss(void **state) {
  (void)state;
  refused_behind("net: {loss: 10%}\n", "f.yaml:6: loss" NO_LOSS);
  refused_behind("net: {packet_loss: 1}\n", "f.yaml:6: packet_loss" NO_LOSS);
  refused_behind("faults:\n  - {at: client.send, do: loss 10%}\n", "f.yaml:7: do" NO_LOSS);
  refused_behind("faults:\n  - {at: client.send, do: drop, nth: 1}\n", "f.yaml:7: do" NO_LOSS);
  refused_behind("faults:\n  - {at: client.send, do: delay-before 1ms, loss: 5}\n", "f.yaml:7: loss" NO_LOSS);
  refused_behind("faults:\n  - {at: client.send, do: lossy}\n", /* not the word */
                "f.yaml:7: do: expected a word that --explain lists");
  refused_behind("net: {jitter: 1ms..2ms}\n", "f.yaml:6: jitter: begins at 0: what all segments share is delay");
  refused_behind("net: {jitter: 2ms..0ms}\n", "f.yaml:6: jitter: '2ms..0ms': the lower end of a range comes first");
  refused_behind("net: {jitter: 2}\n",
                "f.yaml:6: jitter: expected a time such as 5s, 100ms, 10us or a range such as 0..2ms");
  refused_behind("net: {jitter: 61m}\n", "f.yaml:6: jitter: is an hour at most");
  refused_behind("net: {jitter: 1ms, peer_inside_send: true}\n",
                "f.yaml:6: jitter: peer_inside_send has no time on the way");
}

static void faults(void **state) {
  (void)state;
  refused_behind("faults:\n  - {at: client.sned, do: EPIPE}\n",
                "f.yaml:7: at: 'client.sned' is no word of this key, nearest valid word 'client.send'");
  refused_behind("faults:\n  - {at: client.send, do: short 7..1}\n",
                "f.yaml:7: do: 'short 7..1': the lower end of a range comes first");
  refused_behind("faults:\n  - {at: client.send, do: short 1...7}\n",
                "f.yaml:7: do: 'short 1...7' is not how 'short' is written: see --explain fault.do");
  refused_behind("faults:\n  - {at: client.send, frame: 1, byte: 2, do: EPIPE}\n",
                "f.yaml:7: faults: byte and frame exclude each other");
  refused_behind("faults:\n  - {at: client.recv, frame: 1, do: EPIPE}\n",
                "f.yaml:7: frame: only client.send carries data frames");
  refused_behind("faults:\n  - {at: client.send, bytes: 4KiB, do: ENOMEM}\n",
                "f.yaml:7: bytes: is the size of an allocation: at client.alloc; a place in a stream is byte");
  refused_behind("faults:\n  - {at: client.connect, do: short 1}\n",
                "f.yaml:7: do: this call carries no bytes: at client.send or client.recv");
}

static void matrix(void **state) {
  (void)state;
  refused_behind("matrix: {byte: [1]}\nseed: ${bite}\n",
          "f.yaml:7: bite: no such name in matrix, nearest valid name 'byte'");
  refused_behind("matrix: {a: [1..4096], b: [1..2]}\n", "f.yaml:6: matrix: more than 4096 lines");
  refused_behind("matrix: {a: [-9223372036854775807..9223372036854775807]}\n", "f.yaml:6: a: more than 4096 values");
  refused_behind("matrix: [{a: 1}, {b: 1}]\n", "f.yaml:6: a: missing in this line of matrix");
  refused_behind("matrix: {server: [1]}\n", "f.yaml:6: matrix: ${server} is the address of the mock");
  refused_behind("matrix: []\n", "f.yaml:6: matrix: has no line");
}

static void hostile(void **state) {
  (void)state;
  refused("", "f.yaml:1: the file is empty");
  refused("[1]\n", "f.yaml:1: expected a mapping of keys");
  refused("a: [\n", "f.yaml:2: not YAML: did not find expected node content");
  refused(GOOD "---\nb: 1\n", "f.yaml:7: a second document: a file has one");
  refused(GOOD "server: &s\n  - {connection: 1, nack: *s}\n", "f.yaml:7: connection: no such key here");
  char *big = calloc(1, 1048578);
  assert_non_null(big);
  memset(big, '#', 1048577);
  assert_false(scn_read("f.yaml", big, 1048577, &file, &problem));
  assert_string_equal(problem.text, "f.yaml:1: larger than 1 MiB");
  free(big);
}

/* One list of a thousand pings, meant three hundred times: small as text, large as a tree. */
static void aliases_are_bounded(void **state) {
  (void)state;
  static char text[65536];
  size_t n = (size_t)snprintf(text, sizeof text, GOOD "server:\n  - connection: 1\n    ping: &p\n");
  for (int i = 0; i < 1000; i++) n += (size_t)snprintf(text + n, sizeof text - n, "      - {at_frame: 1}\n");
  for (int i = 2; i <= 300; i++) {
    n += (size_t)snprintf(text + n, sizeof text - n, "  - {connection: %d, ping: *p}\n", i);
  }
  assert_false(scn_read("f.yaml", text, n, &file, &problem));
  assert_string_equal(problem.text, "f.yaml:796: ping: more than 200000 values");
  assert_null(file.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(keys),   cmocka_unit_test(forms),  cmocka_unit_test(counters), cmocka_unit_test(claims),
    cmocka_unit_test(steps),  cmocka_unit_test(server), cmocka_unit_test(faults),   cmocka_unit_test(matrix),
    cmocka_unit_test(hostile), cmocka_unit_test(loss),   cmocka_unit_test(aliases_are_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
