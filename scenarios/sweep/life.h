/* life - a reference life: an ordinary scenario, of which a sweep runs the client and the server, but does not judge
 * the expectations. Rows are flushed by steps only, so that which rows a frame holds depends on nothing else. */
#ifndef SWEEP_LIFE_H
#define SWEEP_LIFE_H

#include "runner/observation.h"
#include "send/loop.h"
#include "sweep/census.h"

struct sweep_life {
  char name[64]; /* of the file, without folder and extension */
  const struct scn_scenario *scenario;
  bool tells_errors; /* a step must end with an error: how a life behind a fault ends is open then */
};

/* A life of this scenario. false: it cannot be one, and `why` says so. */
bool life_of(const struct scn_scenario *s, struct sweep_life *out, char *why, size_t why_n);

/* Rows of the frames 0 to fsn, -1 = none: what an acknowledgement up to there speaks for. */
int64_t life_rows_through(const struct sweep_life *life, int64_t fsn);

/* One run and what it left behind. */
struct life_run {
  struct observation o;
  bool fired, spent, viewed; /* probe.h */
  struct qwp_loop_view view;
};
/* point: NULL = nothing goes wrong; census: NULL = not counted; journal: kept, as the runner keeps it. Rows that must
 * be at the server: those acknowledged; all, if no call failed. */
void life_run(const struct sweep_life *life, const struct sweep_point *point, struct census *census, bool journal,
              struct life_run *out);
void life_run_free(struct life_run *r);

#endif
