/* options: the command line of qwp-mock. What it says goes to stderr, kept here by a pipe of its own. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lws/options.h"

static char said[2048];

/* Reads a line of words; fills `said`. */
static bool read_line(struct options *o, const char *line) {
  static char copy[512];
  char *argv[16] = {"qwp-mock"};
  int argc = 1, both[2], kept = dup(2);
  snprintf(copy, sizeof copy, "%s", line);
  for (char *p = strtok(copy, " "); p; p = strtok(NULL, " ")) argv[argc++] = p;
  assert_int_equal(pipe(both), 0);
  dup2(both[1], 2);
  const bool good = options_read(o, argc, argv);
  fflush(stderr);
  dup2(kept, 2);
  close(kept);
  close(both[1]);
  ssize_t n = read(both[0], said, sizeof said - 1);
  close(both[0]);
  assert_true(n >= 0);
  said[n] = '\0';
  return good;
}

static void without_options_everything_is_kept(void **state) {
  (void)state;
  struct options o;
  assert_true(read_line(&o, ""));
  assert_int_equal(o.port, 0);
  assert_int_equal(o.rows, MOCK_ROWS_FULL);
  assert_int_equal(o.level, MOCK_JOURNAL_FULL);
  assert_string_equal(said, "");
}

static void every_option_is_taken(void **state) {
  (void)state;
  struct options o;
  assert_true(read_line(&o, "--port 9000 --script s --profile jul2026 --rows digest --journal j --journal-level summary "
                            "--hex --follow"));
  assert_int_equal(o.port, 9000);
  assert_string_equal(o.script, "s");
  assert_int_equal(o.profile, MOCK_PROFILE_JUL2026);
  assert_true(o.profile_set && o.hex && o.follow);
  assert_int_equal(o.rows, MOCK_ROWS_DIGEST);
  assert_string_equal(o.journal, "j");
  assert_int_equal(o.level, MOCK_JOURNAL_SUMMARY);
  assert_true(read_line(&o, "--json f --rows-out r --strict --fail-on-violation"));
  assert_string_equal(o.json, "f");
  assert_string_equal(o.rows_out, "r");
  assert_true(o.strict && o.fail_on_violation && !o.tls);
  assert_true(read_line(&o, "--tls --ca-out c"));
  assert_true(o.tls);
  assert_string_equal(o.ca_out, "c");
  assert_true(read_line(&o, "--script s --seed 18446744073709551615"));
  assert_true(o.seed == UINT64_MAX);
  assert_true(read_line(&o, "--help") && o.help);
  assert_true(read_line(&o, "--version") && o.version);
  assert_string_equal(said, "");
}

static void what_is_wrong_is_told_with_its_remedy(void **state) {
  (void)state;
  const struct { const char *line, *says; } cases[] = {
    {"--port 65536", "--port: '65536' is no port: 1 to 65535, or 0 for one from the system"},
    {"--port -1", "--port: '-1' is no port"},
    {"--port 80x", "--port: '80x' is no port"},
    {"--rows some", "--rows: 'some' is none of: full digest count"},
    {"--profile new", "--profile: 'new' is none of: doc jul2026"},
    {"--journal-level x --follow", "--journal-level: 'x' is none of: off summary full"},
    {"--nothing", "try: qwp-mock --help"},
    {"--port", "try: qwp-mock --help"},
    {"script.yaml", "'script.yaml': no argument is taken (a script is given by --script FILE)"},
    {"--rows-out r --rows count", "--rows-out: no values are kept: it needs --rows full"},
    {"--rows-out r --rows digest", "--rows-out: no values are kept: it needs --rows full"},
    {"--hex", "--hex: nothing shows the payloads: it needs --journal FILE or --follow"},
    {"--json - --rows-out -", "-: only one of --journal, --json and --rows-out can be standard output"},
    {"--script s --seed -5", "--seed: '-5' is no number from 1 to 18446744073709551615"},
    {"--script s --seed 0", "--seed: '0' is no number"},
    {"--script s --seed 18446744073709551616", "--seed: '18446744073709551616' is no number"},
    {"--seed 5", "--seed: nothing is chosen: it needs --script FILE"},
    {"--ca-out c", "--ca-out: there is no CA: it needs --tls"},
    {"--journal-level full", "--journal-level: there is no journal: it needs --journal FILE or --follow"},
  };
  struct options o;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (read_line(&o, cases[i].line)) fail_msg("taken: %s", cases[i].line);
    if (!strstr(said, cases[i].says)) fail_msg("%s: %s", cases[i].line, said);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(without_options_everything_is_kept),
    cmocka_unit_test(every_option_is_taken),
    cmocka_unit_test(what_is_wrong_is_told_with_its_remedy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
