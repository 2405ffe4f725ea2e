/* A place has one name, and the name alone repeats it. */
#include "sweep/point.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static struct sweep_point parsed(const char *text) {
  struct sweep_point p;
  if (!sweep_point_parse(text, &p)) fail_msg("%s is no place", text);
  return p;
}

static void a_name_says_the_place_and_back(void **state) {
  static const char *const names[] = {
      "send/1/u0/rst", "send/2/d340/EPIPE", "recv/1/d2/again", "recv/1/d2@189/fin", "recv/3/u17/ETIMEDOUT",
      "server/2/77/fin",  "server/1/1/rst",        "call/send/12/ENOBUFS",    "call/wait/3/EINTR/ever",
      "call/close/1/rst", "call/entropy/2/EIO",    "call/connect/1/ECONNREFUSED/ever", "alloc/45", "alloc/1/ever",
      "send/1/d9/short"};
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct sweep_point p = parsed(names[i]);
    char text[SWEEP_POINT_TEXT];
    sweep_point_text(&p, text);
    assert_string_equal(text, names[i]);
  }
}

static void what_is_no_place_is_refused(void **state) {
  static const char *const names[] = {
      "", "send", "send/1", "send/1/u", "send/1/u1", "send/1/u1/", "send/1/u1/EWHAT", "send/1/u-1/rst", "send/0/u1/rst",
      "send/1/x1/rst", "send/1/u1/rst ", "send/1/u1/rst/ever", "send/1/d1@9/rst", "recv/1/u1@9/rst", "recv/1/d1@0/rst",
      "server/1/0/rst", "server/1/5/again", "server/1/5/EPIPE", "call/send/0/EPIPE", "call/fly/1/EPIPE",
      "call/close/1/EPIPE", "call/connect/1/again", "alloc/0", "alloc/x", "alloc/1/never",
      "send/1/u99999999999999999999/rst"};
  struct sweep_point p;
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (sweep_point_parse(names[i], &p)) fail_msg("%s was taken for a place", names[i]);
}

static void a_byte_is_one_rule_of_its_connection_and_phase(void **state) {
  struct sweep_point p = parsed("send/2/d340/EPIPE");
  struct fault_rule r[SWEEP_RULES_MAX];
  (void)state;
  assert_int_equal(sweep_point_rules(&p, r), 1);
  assert_int_equal(r[0].point, FAULT_SEND);
  assert_int_equal(r[0].connection, 2);
  assert_int_equal(r[0].phase, FAULT_PHASE_DATA);
  assert_int_equal(r[0].kind, FAULT_KIND_ANY);
  assert_int_equal(r[0].byte, 340);
  assert_int_equal(r[0].act, FAULT_DO_ERRNO);
  assert_int_equal(r[0].err, EPIPE);
  assert_int_equal(r[0].repeat, FAULT_ONCE);
  assert_null(fault_rule_problem(&r[0]));
}

static void a_byte_that_comes_with_the_101_is_cut_off_from_it(void **state) {
  struct sweep_point p = parsed("recv/1/d2@189/rst");
  struct fault_rule r[SWEEP_RULES_MAX];
  (void)state;
  assert_int_equal(sweep_point_rules(&p, r), 2);
  assert_int_equal(r[0].phase, FAULT_PHASE_DATA);
  assert_int_equal(r[0].byte, 2);
  assert_int_equal(r[1].phase, FAULT_PHASE_UPGRADE);
  assert_int_equal(r[1].byte, 191);
  assert_int_equal(r[1].act, FAULT_DO_SHORT);
  assert_null(fault_rule_problem(&r[1]));
}

static void what_fails_for_ever_at_no_cost_takes_time(void **state) {
  static const struct {
    const char *name;
    size_t rules;
  } cases[] = {{"call/wait/3/ENOMEM/ever", 2}, {"call/wait/3/ENOMEM", 1},      {"call/send/3/EINTR/ever", 2},
               {"call/send/3/EPIPE/ever", 1},  {"call/send/3/ENOBUFS/ever", 1}, {"alloc/3/ever", 1}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct sweep_point p = parsed(cases[i].name);
    struct fault_rule r[SWEEP_RULES_MAX];
    assert_int_equal(sweep_point_rules(&p, r), cases[i].rules);
    assert_int_equal(r[0].nth, 3);
    if (cases[i].rules < 2) continue;
    assert_int_equal(r[1].act, FAULT_DO_DELAY_BEFORE);
    assert_int_equal(r[1].value, 1000000);
    assert_int_equal(r[1].repeat, FAULT_FOREVER);
  }
}

static void the_server_s_end_is_no_rule(void **state) {
  struct sweep_point p = parsed("server/2/77/fin");
  struct fault_rule r[SWEEP_RULES_MAX];
  (void)state;
  assert_int_equal(sweep_point_rules(&p, r), 0);
}

static void harmless_is_what_a_connection_outlives(void **state) {
  static const struct {
    const char *name;
    bool harmless;
  } cases[] = {{"send/1/d9/short", true},      {"recv/1/d9/again", true},       {"send/1/d9/rst", false},
               {"send/1/d9/EPIPE", false},     {"recv/1/d9/fin", false},        {"call/send/1/ENOBUFS", true},
               {"call/send/1/EINTR", true},    {"call/send/1/EIO", false},      {"call/send/1/ENOBUFS/ever", false},
               {"call/recv/1/EINTR", true},    {"call/recv/1/ENOMEM", false},   {"call/wait/1/ENOMEM", true},
               {"call/wait/1/rst", false},     {"call/connect/1/EINTR", false}, {"server/1/5/fin", false},
               {"alloc/1", false},             {"call/entropy/1/EIO", false}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct sweep_point p = parsed(cases[i].name);
    if (sweep_point_harmless(&p) != cases[i].harmless) fail_msg("%s", cases[i].name);
  }
}

static void each_kind_has_its_column(void **state) {
  static const struct {
    const char *name, *kind;
  } cases[] = {{"send/1/d9/short", "short"},   {"recv/1/d9/again", "again"}, {"send/1/d9/rst", "rst"},
               {"send/1/d9/EPIPE", "errno"},   {"recv/1/d9/fin", "fin"},     {"call/send/1/rst", "call"},
               {"call/send/1/EIO/ever", "call ever"}, {"server/1/5/fin", "srv fin"}, {"server/1/5/rst", "srv rst"},
               {"alloc/1", "alloc"},           {"alloc/1/ever", "alloc ever"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct sweep_point p = parsed(cases[i].name);
    assert_string_equal(sweep_kind_name(sweep_point_kind(&p)), cases[i].kind);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_name_says_the_place_and_back),
      cmocka_unit_test(what_is_no_place_is_refused),
      cmocka_unit_test(a_byte_is_one_rule_of_its_connection_and_phase),
      cmocka_unit_test(a_byte_that_comes_with_the_101_is_cut_off_from_it),
      cmocka_unit_test(what_fails_for_ever_at_no_cost_takes_time),
      cmocka_unit_test(the_server_s_end_is_no_rule),
      cmocka_unit_test(harmless_is_what_a_connection_outlives),
      cmocka_unit_test(each_kind_has_its_column),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
