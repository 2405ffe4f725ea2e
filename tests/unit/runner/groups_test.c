/* groups: one fault of a matrix is one group, and a reason is one short sentence. */
#include "runner/groups.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "runner/job.h"

static const struct scn_scenario one = {.path = "a/b.yaml", .name = "a/b[n=1]"};
static const struct scn_scenario other = {.path = "a/c.yaml", .name = "a/c"};

static struct job job(const struct scn_scenario *s, enum scn_world w, enum verdict v, const char *why) {
  struct job j = {.scenario = s, .world = w, .verdict = v};
  snprintf(j.why, sizeof j.why, "%s", why);
  return j;
}

static void one_cause_is_one_group(void **state) {
  (void)state;
  const struct job jobs[] = {
      job(&one, SCN_SIM, VERDICT_FAILED, "a/b.yaml:12: srv.frames: expected 2, seen 1"),
      job(&one, SCN_SIM, VERDICT_FAILED, "a/b.yaml:12: srv.frames: expected 30, seen 12"),
      job(&one, SCN_SIM, VERDICT_FAILED, "a/b.yaml:12: srv.rows: expected 2, seen 1"),   /* another sentence */
      job(&one, SCN_LIVE, VERDICT_FAILED, "a/b.yaml:12: srv.frames: expected 2, seen 1"), /* world */
      job(&one, SCN_SIM, VERDICT_ERROR, "a/b.yaml:12: srv.frames: expected 2, seen 1"),  /* verdict */
      job(&other, SCN_SIM, VERDICT_FAILED, "a/c.yaml:12: srv.frames: expected 2, seen 1"), /* file */
  };
  static const size_t counts[] = {1, 2, 1, 1, 1, 1};
  struct groups g = {0};
  for (size_t i = 0; i < 6; i++) {
    char key[256];
    groups_red_key(&jobs[i], key, sizeof key);
    assert_int_equal(groups_add(&g, key, &jobs[i]), counts[i]);
  }
  assert_int_equal(g.count, 5);
  assert_ptr_equal(g.at[0].first, &jobs[0]);
  groups_free(&g);
}

static void a_key_is_cut_to_its_place(void **state) {
  (void)state;
  const struct job j = job(&one, SCN_SIM, VERDICT_FAILED, "a/b.yaml: abc");
  char key[26];
  groups_red_key(&j, key, sizeof key);
  assert_string_equal(key, "failed sim a/b.yaml abc");
  groups_red_key(&j, key, 22);
  assert_string_equal(key, "failed sim a/b.yaml a");
  groups_red_key(&j, key, 5);
  assert_string_equal(key, "fail");
}

static void a_reason_is_the_first_sentence(void **state) {
  (void)state;
  static const char *const table[][2] = {
      {"a/b.yaml:3: knows no rows", "knows no rows"},
      {"a/b.yaml: no faults. And more.", "no faults"},
      {"a/b.yaml: v1.2 is old; get a new one", "v1.2 is old"},
      {"a/b.yaml: 113 rows are many.", "113 rows are many"}, /* digits of the sentence are no line */
      {"another.yaml: why", "another.yaml: why"},
  };
  char key[256];
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const struct job j = job(&one, SCN_LIVE, VERDICT_UNSUPPORTED, table[i][0]);
    groups_reason_key(&j, key, sizeof key);
    assert_string_equal(key, table[i][1]);
  }
  struct job j = job(&one, SCN_LIVE, VERDICT_UNSUPPORTED, "a/b.yaml: ");
  size_t head = strlen(j.why);
  memset(j.why + head, 'x', 79);
  strcpy(j.why + head + 79, "\xc3\xa4\xc3\xa4"); /* a character that would be cut is left out */
  groups_reason_key(&j, key, sizeof key);
  assert_int_equal(strlen(key), 79);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_cause_is_one_group),
      cmocka_unit_test(a_key_is_cut_to_its_place),
      cmocka_unit_test(a_reason_is_the_first_sentence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
