/* The pool: each way a worker can end reaches the exit code, and a job that nobody finished is no green. */
#define _GNU_SOURCE
#include "runner/pool.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct scn_file file;
static struct jobs jobs;
static int told; /* jobs that on_done heard of */

static void begin(size_t count) {
  static const char text[] =
      "claim: It holds.\ncites: [P121-27]\nkills: [m]\nclient: {config: x}\nexpect: {loop.sent: 1}\n";
  struct scn_problem problem;
  if (!scn_read("x.yaml", text, strlen(text), &file, &problem)) fail_msg("%s", problem.text);
  for (size_t i = 0; i < count; i++) jobs_add(&jobs, file.scenarios, SCN_SIM);
  told = 0;
}

static int end(void **state) {
  (void)state;
  jobs_free(&jobs);
  scn_file_free(&file);
  return 0;
}

static void count(void *ctx, const struct job *j) {
  (void)ctx;
  told += j->done;
}

static bool ran(int workers, void (*run)(struct job *, const struct world_options *, int)) {
  struct pool_options o = {
      .workers = workers, .journal_fd = -1, .job_limit_ns = INT64_MAX, .on_done = count, .run = run};
  return pool_run(&jobs, &o);
}

static size_t number(const struct job *j) { return (size_t)(j - jobs.at); }

/* ---- what a worker may do with a job; the changes are its own process's, as job_run's are ---- */

static void pass(struct job *j, const struct world_options *w, int fd) {
  (void)w, (void)fd;
  j->verdict = VERDICT_PASSED;
  j->done = true;
}

static void leave_badly(void) { _exit(23); }

/* As under a leak checker, which speaks when all is done. */
static void pass_and_leave_badly(struct job *j, const struct world_options *w, int fd) {
  if (number(j) == 0) atexit(leave_badly);
  pass(j, w, fd);
}

static void die_at_the_second(struct job *j, const struct world_options *w, int fd) {
  if (number(j) == 1) raise(SIGKILL);
  pass(j, w, fd);
}

static void end_at_the_second(struct job *j, const struct world_options *w, int fd) {
  if (number(j) == 1) _exit(9);
  pass(j, w, fd);
}

static void bus_error_at_the_second(struct job *j, const struct world_options *w, int fd) {
  signal(SIGBUS, SIG_DFL); /* the test program has a handler for it */
  if (number(j) == 1) raise(SIGBUS);
  pass(j, w, fd);
}

/* Somebody's alarm, not ours: no time was over. */
static void alarm_at_the_second(struct job *j, const struct world_options *w, int fd) {
  if (number(j) == 1) raise(SIGALRM);
  pass(j, w, fd);
}

/* Deaf to whatever can be caught, and stopped besides: as a thread that waits for ever in a system call, or worse. */
static void stop_at_the_second(struct job *j, const struct world_options *w, int fd) {
  if (number(j) == 1) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    raise(SIGSTOP);
    for (;;) pause();
  }
  pass(j, w, fd);
}

static void fail_the_last(struct job *j, const struct world_options *w, int fd) {
  pass(j, w, fd);
  if (number(j) + 1 == jobs.count) j->verdict = VERDICT_FAILED;
}

/* ---- */

static void all_pass(void **state) {
  (void)state;
  for (int workers = 1; workers <= 3; workers++) {
    begin(5);
    assert_true(ran(workers, pass));
    assert_int_equal(jobs_with(&jobs, VERDICT_PASSED), 5);
    assert_int_equal(told, 5);
    assert_string_equal(jobs.trouble, "");
    assert_int_equal(jobs_exit_code(&jobs), 0);
    end(NULL);
  }
}

static void a_worker_that_ends_badly_after_its_jobs_is_trouble(void **state) {
  (void)state;
  for (int workers = 1; workers <= 3; workers++) {
    begin(5);
    assert_true(ran(workers, pass_and_leave_badly));
    assert_int_equal(jobs_with(&jobs, VERDICT_PASSED), 5); /* no job is to blame */
    assert_string_equal(jobs.trouble, "a worker process ended with exit code 23 with no scenario in hand");
    assert_int_equal(jobs_exit_code(&jobs), 3);
    end(NULL);
  }
}

static void a_job_that_a_worker_dies_of_is_an_error_and_the_others_run(void **state) {
  (void)state;
  static const struct {
    void (*run)(struct job *, const struct world_options *, int);
    const char *why;
  } deaths[] = {
      {die_at_the_second, "x.yaml: the process that ran it died of signal 9 (Killed)"},
      {end_at_the_second, "x.yaml: the process that ran it ended with exit code 9"},
      {bus_error_at_the_second, "x.yaml: the process that ran it died of signal 7 (Bus error)"},
      {alarm_at_the_second, "x.yaml: the process that ran it died of signal 14 (Alarm clock)"},
  };
  for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
    begin(5);
    assert_true(ran(1, deaths[i].run));
    assert_int_equal(jobs.at[1].verdict, VERDICT_ERROR);
    assert_string_equal(jobs.at[1].why, deaths[i].why);
    assert_int_equal(jobs_with(&jobs, VERDICT_PASSED), 4);
    assert_int_equal(told, 5);
    assert_string_equal(jobs.trouble, "");
    assert_int_equal(jobs_exit_code(&jobs), 3);
    end(NULL);
  }
}

static void a_job_that_hangs_is_ended_and_the_others_run(void **state) {
  (void)state;
  for (int workers = 1; workers <= 3; workers += 2) {
    begin(5);
    struct pool_options o = {.workers = workers, .journal_fd = -1, .job_limit_ns = 1000000000, .on_done = count,
                             .run = stop_at_the_second};
    assert_true(pool_run(&jobs, &o));
    assert_int_equal(jobs.at[1].verdict, VERDICT_ERROR);
    assert_string_equal(jobs.at[1].why, "x.yaml: hangs: ended after 1 s of real time");
    assert_int_equal(jobs_with(&jobs, VERDICT_PASSED), 4);
    assert_int_equal(told, 5);
    assert_int_equal(jobs_exit_code(&jobs), 3);
    end(NULL);
  }
}

/* One deadline for all of them, whatever their number: it does not grow with the jobs that hang. */
static void the_run_as_a_whole_is_bounded(void **state) {
  (void)state;
  begin(5);
  struct pool_options o = {.workers = 1, .journal_fd = -1, .job_limit_ns = INT64_MAX, .run_limit_ns = 1000000000,
                           .on_done = count, .run = stop_at_the_second};
  assert_true(pool_run(&jobs, &o));
  assert_int_equal(jobs.at[0].verdict, VERDICT_PASSED);
  assert_string_equal(jobs.at[1].why, "x.yaml: was not run to its end: the time of the whole run, 1 s, was over");
  for (size_t i = 2; i < 5; i++)
    assert_string_equal(jobs.at[i].why, "x.yaml: was not begun: the time of the whole run, 1 s, was over");
  assert_int_equal(jobs_with(&jobs, VERDICT_ERROR), 4);
  assert_int_equal(told, 5);
  assert_int_equal(jobs_exit_code(&jobs), 3);
}

static void what_is_done_before_the_run_is_not_run(void **state) {
  (void)state;
  for (int workers = 0; workers <= 2; workers++) {
    begin(3);
    jobs.at[1].done = true;
    jobs.at[1].verdict = VERDICT_ERROR;
    struct pool_options o = {.workers = workers, .in_process = workers == 0, .journal_fd = -1, .job_limit_ns = INT64_MAX,
                             .on_done = count, .run = pass};
    assert_true(pool_run(&jobs, &o));
    assert_int_equal(told, 2);
    assert_int_equal(jobs.at[1].verdict, VERDICT_ERROR);
    assert_int_equal(jobs_with(&jobs, VERDICT_PASSED), 2);
    end(NULL);
  }
}

static void a_failure_is_one_with_and_without_workers(void **state) {
  (void)state;
  begin(3);
  assert_true(ran(2, fail_the_last));
  assert_int_equal(jobs_exit_code(&jobs), 1);
  end(NULL);
  begin(3);
  struct pool_options o = {.in_process = true, .journal_fd = -1, .on_done = count, .run = fail_the_last};
  assert_true(pool_run(&jobs, &o));
  assert_int_equal(told, 3);
  assert_int_equal(jobs_exit_code(&jobs), 1);
}

/* The slot between taking a number and saying so: who dies there takes the job along, and nobody knows which. */
static size_t dropped;
static void drop(struct job *j, const struct world_options *w, int fd) {
  pass(j, w, fd);
  j->done = number(j) != dropped;
}

static void a_job_that_was_never_done_is_an_error(void **state) {
  (void)state;
  begin(3);
  dropped = 1;
  struct pool_options o = {.in_process = true, .journal_fd = -1, .run = drop};
  assert_true(pool_run(&jobs, &o));
  assert_int_equal(jobs_with(&jobs, VERDICT_PASSED), 2);
  assert_int_equal(jobs_exit_code(&jobs), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(all_pass, end),
      cmocka_unit_test_teardown(a_worker_that_ends_badly_after_its_jobs_is_trouble, end),
      cmocka_unit_test_teardown(a_job_that_a_worker_dies_of_is_an_error_and_the_others_run, end),
      cmocka_unit_test_teardown(a_job_that_hangs_is_ended_and_the_others_run, end),
      cmocka_unit_test_teardown(the_run_as_a_whole_is_bounded, end),
      cmocka_unit_test_teardown(what_is_done_before_the_run_is_not_run, end),
      cmocka_unit_test_teardown(a_failure_is_one_with_and_without_workers, end),
      cmocka_unit_test_teardown(a_job_that_was_never_done_is_an_error, end),
  };
  alarm(30); /* a pool that waits for ever fails its own test */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
