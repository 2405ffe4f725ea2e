/* workers - the runs of a sweep, in processes side by side.
 *
 * A client that crashes, or that neither ends nor makes a call, takes its process with it: the point is a failure with
 * that reason, and another process goes on behind it. Results lie in memory that all share.
 */
#ifndef SWEEP_WORKERS_H
#define SWEEP_WORKERS_H

#include "sweep/judge.h"

struct sweep_set { /* a life, what it does by itself, and its points */
  struct sweep_life life;
  struct sweep_measure measure;
  struct sweep_points points;
  char broken[320]; /* why the life fails with no fault at all; "" = it does not */
};

struct sweep_job {
  const struct sweep_set *set;
  const struct sweep_point *point;
};

enum sweep_fate {
  SWEEP_PENDING, SWEEP_PASSED, SWEEP_FAILED,
  SWEEP_UNFIRED, /* the fault never met its place: the life took another course before it */
  SWEEP_SPENT    /* the server's script had ended the connection there */
};

struct sweep_result {
  uint8_t fate;
  uint64_t state; /* hash of the loop's view at the moment of the fault; 0 = there was no loop */
};

struct sweep_failure {
  size_t job;
  bool viewed; /* else nobody saw the loop: there was none, or the process died */
  struct qwp_loop_view view;
  char why[320];
};

#define SWEEP_FAILURES_KEPT 4096

struct sweep_outcome {
  struct sweep_result *results; /* by job */
  size_t failures;              /* also those that were not kept */
  struct sweep_failure *failure;
  size_t mapped_bytes;          /* of all of it */
  void *mapping;
};

/* Runs all jobs in `workers` processes; ends early once there are stop_after failures (0 = never). progress is called
 * now and then with the number of jobs done; may be NULL. false: no process or memory was to be had, errno says why. */
bool sweep_run(const struct sweep_job *jobs, size_t count, int workers, size_t stop_after,
               void (*progress)(size_t done, size_t count), struct sweep_outcome *out);
void sweep_outcome_free(struct sweep_outcome *o);

/* One job in this process. */
void sweep_run_one(const struct sweep_job *job, struct sweep_result *result, struct sweep_failure *failure);

/* Makes the reference run of a life twice, in a process of its own, and then here: census, measure, points. false:
 * no memory or no process; a life that is wrong by itself is told in `broken`. */
bool sweep_prepare(struct sweep_set *set);

#endif
