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

struct verdict {
  bool acts;             /* act is one of ERRNO, AGAIN, RST, FIN */
  enum fault_do act;
  int err;
  int64_t delay_before_ns, delay_after_ns;
  size_t limit;          /* offer no more than this; SIZE_MAX = all */
  struct flip {
    uint64_t bit;        /* from the first byte of the call */
    size_t rule;         /* for match_undo, if the byte did not go through */
  } flips[FLIPS_MAX];
  unsigned flip_count;
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
void match_undo(struct matcher *m, size_t rule); /* it fired, but nothing came of it */
void matcher_event(struct matcher *m, const char *name);
struct rule_state matcher_state(struct matcher *m, size_t rule);

static inline void verdict_clear(struct verdict *v) {
  v->acts = false;
  v->delay_before_ns = v->delay_after_ns = 0;
  v->limit = SIZE_MAX;
  v->flip_count = 0;
}

#endif
