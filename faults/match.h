/* match - which rules of a plan fit a call, and what they make of it.
 *
 * Every call of a point that has rules passes here once; a point without rules costs
 * one look at a flag. Rules are numbered state behind one lock, as allocations and
 * clock reads come from any thread.
 */
#ifndef FAULT_MATCH_H
#define FAULT_MATCH_H

#include <pthread.h>
#include <stdint.h>

#include "frames.h"
#include "plan.h"

struct call {
  enum fault_point point;
  int connection;              /* 0 = none */
  enum fault_phase phase;      /* FAULT_PHASE_ANY = the call has none, as a wait without a socket */
  bool control;                /* a send of control frames only */
  int64_t offset;              /* in the stream of its phase, of the first byte offered */
  size_t n;                    /* bytes offered; of a finished recv: bytes got; of an allocation: asked for */
  bool received;               /* a recv looked at again when its bytes are there: flips only */
  const uint8_t *bytes;        /* of a send */
  const struct frames *frames; /* walker before these bytes; NULL before the 101, and where they are opaque */
  bool opaque;                 /* ciphertext: no frame has a place in it */
};

#define FLIPS_MAX 8
#define TRIES_MAX 16

struct verdict {
  bool acts;             /* act is one of ERRNO, AGAIN, RST, FIN */
  enum fault_do act;
  int err;
  int64_t delay_before_ns, delay_after_ns;
  size_t limit;          /* offer no more than this; SIZE_MAX = all */
  uint64_t flips[FLIPS_MAX]; /* bits, from the first byte of the call */
  struct try {           /* a cut or flip that hangs on what the call moves */
    size_t rule;
    uint64_t bytes;      /* so many must move for it to have fired; 0 = it was not its turn */
  } tries[TRIES_MAX];
  unsigned flip_count, try_count;
};

struct rule_state {
  int64_t calls;  /* fit point, connection, phase and kind */
  int64_t picks;  /* of these, at the place the rule names */
  int64_t fired;
  bool over;      /* its event came, or it makes no sense */
  bool blind;     /* it names a frame, and a call that fits carried ciphertext */
};

struct matcher {
  const struct fault_plan *plan;
  uint64_t seed;
  struct rule_state *states;
  bool used[FAULT_POINTS];
  pthread_mutex_t lock;
};

/* seed: of the choices that rules with a range make. false = out of memory. */
bool matcher_init(struct matcher *m, const struct fault_plan *plan, uint64_t seed);
void matcher_free(struct matcher *m);

static inline bool matcher_uses(const struct matcher *m, enum fault_point p) { return m->used[p]; }
void match(struct matcher *m, const struct call *c, struct verdict *out);
/* Tells what came of the call: `moved` bytes, or 0 or less. A flip of a byte that did not go through, and a cut that
 * the call did not reach, did not fire; a call that moved nothing is none of those that they count, unless the plan
 * itself kept it from being made. */
void match_settle(struct matcher *m, const struct verdict *v, int64_t moved);
void matcher_event(struct matcher *m, const char *name);
struct rule_state matcher_state(struct matcher *m, size_t rule);

static inline void verdict_clear(struct verdict *v) {
  v->acts = false;
  v->delay_before_ns = v->delay_after_ns = 0;
  v->limit = SIZE_MAX;
  v->flip_count = v->try_count = 0;
}

#endif
