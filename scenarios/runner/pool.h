/* pool - runs jobs in worker processes, so that a crash or a hang is one job's verdict and no more. */
#ifndef SCN_POOL_H
#define SCN_POOL_H

#include "runner/job.h"

struct pool_options {
  struct world_options world;
  int workers;            /* 1.. */
  bool in_process;        /* no workers: for a debugger */
  int journal_fd;         /* or -1 */
  int64_t job_limit_ns;   /* real time one job may take before it counts as hanging; INT64_MAX = none */
  int64_t run_limit_ns;   /* real time all of them may take together; 0 = none */
  void (*on_done)(void *ctx, const struct job *j); /* in the order they end */
  void *ctx;
  /* What a worker does with a job; NULL = job_run. */
  void (*run)(struct job *j, const struct world_options *w, int journal_fd);
};

/* Runs all that are not done yet; returns when no worker is left. A job that a worker died of is that job's error; one
 * that no worker finished, or that the run's time did not suffice for, is an error too. A worker that ends badly with
 * no job in hand (a leak report at its exit, say) is nobody's verdict: jobs->trouble tells of it. false: no worker
 * could be started. */
bool pool_run(struct jobs *jobs, const struct pool_options *o);

#endif
