/* Points are run side by side, and a client that takes its process with it is a failure like any other. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "life_kit.h"
#include "sweep/report.h"

static struct sweep_set set; /* zero between tests */
static struct kit_life kit;

static void prepare(void) {
  memset(&set, 0, sizeof set);
  kit_life(&kit, TWO_FRAMES);
  set.life = kit.life;
  assert_true(sweep_prepare(&set));
  assert_string_equal(set.broken, "");
}

static void clear(void) {
  sweep_points_free(&set.points);
  kit_life_end(&kit);
}

static void all_points_of_a_life_pass(void **state) {
  struct sweep_outcome outcome;
  (void)state;
  prepare();
  struct sweep_job *jobs = calloc(set.points.count, sizeof *jobs);
  assert_non_null(jobs);
  for (size_t i = 0; i < set.points.count; i++) jobs[i] = (struct sweep_job){&set, &set.points.at[i]};
  assert_true(sweep_run(jobs, set.points.count, 2, 0, NULL, &outcome));
  struct sweep_report r = {"x", &set, 1, jobs, set.points.count, &outcome, 1.0, 0};
  struct sweep_counts n = sweep_count(&r, NULL, SWEEP_KIND_COUNT);
  assert_int_equal(n.points, set.points.count);
  assert_int_equal(n.failed, 0);
  assert_int_equal(n.unfired, 0);
  assert_int_equal(sweep_exit_code(&r), 0);
  assert_true(sweep_distinct_states(&r) > 10);
  sweep_outcome_free(&outcome);
  free(jobs);
  clear();
}

/* The second of three jobs has no life at all: its process dies. */
static void a_process_that_dies_is_one_failure(void **state) {
  static struct sweep_set nobody;
  struct sweep_outcome outcome;
  (void)state;
  prepare();
  struct sweep_job jobs[] = {{&set, &set.points.at[0]}, {&nobody, &set.points.at[1]}, {&set, &set.points.at[2]}};
  assert_true(sweep_run(jobs, 3, 1, 0, NULL, &outcome));
  assert_int_equal(outcome.results[0].fate, SWEEP_PASSED);
  assert_int_equal(outcome.results[1].fate, SWEEP_FAILED);
  assert_int_equal(outcome.results[2].fate, SWEEP_PASSED);
  assert_int_equal(outcome.failures, 1);
  assert_int_equal(outcome.failure[0].job, 1);
  assert_false(outcome.failure[0].viewed); /* its report must not speak of a loop that nobody saw */
  assert_true(strncmp(outcome.failure[0].why, "the client died", 15) == 0 ||
              strncmp(outcome.failure[0].why, "the client ended its process", 28) == 0); /* a sanitizer exits */
  sweep_outcome_free(&outcome);
  clear();
}

static void a_fault_that_meets_nothing_is_red(void **state) {
  struct sweep_point nowhere;
  struct sweep_outcome outcome;
  (void)state;
  prepare();
  assert_true(sweep_point_parse("send/1/d9999/EPIPE", &nowhere));
  struct sweep_job jobs[] = {{&set, &set.points.at[0]}, {&set, &nowhere}};
  assert_true(sweep_run(jobs, 2, 2, 0, NULL, &outcome));
  struct sweep_report r = {"x", &set, 1, jobs, 2, &outcome, 1.0, 0};
  assert_int_equal(sweep_count(&r, NULL, SWEEP_KIND_COUNT).unfired, 1);
  assert_int_equal(sweep_exit_code(&r), 1);
  sweep_outcome_free(&outcome);
  clear();
}

static void a_life_that_fails_by_itself_is_told(void **state) {
  (void)state;
  memset(&set, 0, sizeof set);
  kit_life(&kit, LIFE_TEXT("    - publish: {rows: 2, schema: tiny, flush: each}\n    - drain: {within: 5s}\n",
                           "  - {connection: 1, ack: hold}\n"));
  set.life = kit.life;
  assert_true(sweep_prepare(&set));
  assert_non_null(strstr(set.broken, "drain: acknowledged up to FSN -1 of 1"));
  struct sweep_report r = {.program = "x", .sets = &set, .set_count = 1};
  assert_int_equal(sweep_exit_code(&r), 1);
  clear();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_points_of_a_life_pass),
      cmocka_unit_test(a_process_that_dies_is_one_failure),
      cmocka_unit_test(a_fault_that_meets_nothing_is_red),
      cmocka_unit_test(a_life_that_fails_by_itself_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
