/* report - what a sweep came to: a table by life and kind, the failures with the command that repeats each, JSON. */
#ifndef SWEEP_REPORT_H
#define SWEEP_REPORT_H

#include <stdio.h>

#include "sweep/workers.h"

struct sweep_report {
  const char *program;
  const struct sweep_set *sets;
  size_t set_count;
  const struct sweep_job *jobs;
  size_t job_count;
  const struct sweep_outcome *outcome; /* NULL: nothing was run, a life is broken */
  double seconds;
  size_t show;        /* failures in full */
};

struct sweep_counts {
  size_t points; /* run, but for those that are spent */
  size_t failed, unfired, spent;
};
/* Of one life (NULL = all) and kind (SWEEP_KIND_COUNT = all). */
struct sweep_counts sweep_count(const struct sweep_report *r, const struct sweep_set *set, enum sweep_kind kind);
/* Different states of the loop in which a fault met it. */
size_t sweep_distinct_states(const struct sweep_report *r);

void sweep_print(const struct sweep_report *r, FILE *out);
bool sweep_write_json(const struct sweep_report *r, const char *path);
/* 0 all is well; 1 a failure, a life that is broken by itself, or a fault that met nothing; 4 nothing ran. */
int sweep_exit_code(const struct sweep_report *r);

#endif
