/* soak - a client that lives long against a mock that resets it now and then, and what its memory does meanwhile. */
#ifndef SCN_SOAK_H
#define SCN_SOAK_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/samples.h"

struct soak_options {
  int64_t seconds;      /* about: it ends when all resets have happened */
  int64_t resets;       /* connections, each ended by a reset and an outage in which connects are refused */
  int64_t outage_ms;
  const char *client;   /* program and arguments; the connect string is put behind them */
};

enum { SOAK_RSS, SOAK_FDS, SOAK_SERIES };

struct soak_result {
  struct samples series[SOAK_SERIES];
  int64_t looks;        /* times that a look was tried */
  int64_t connections, frames, violations, resets;
  char violation[256];  /* the first; "" = none */
};

/* Runs it and fills *r (free it in any case). false: `why` says what kept it from running to its end: a mock that cannot
 * listen or whose thread ended, a client that cannot be started or that ended by itself or of a signal. */
bool soak_run(const struct soak_options *o, struct soak_result *r, char *why, size_t why_n);
void soak_result_free(struct soak_result *r);

#endif
