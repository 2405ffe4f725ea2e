#include "match.h"

#include <stdlib.h>
#include <string.h>

#include "splitmix.h"

bool matcher_init(struct matcher *m, const struct fault_plan *plan, uint64_t seed) {
  static const struct fault_plan none = {0};
  *m = (struct matcher){.plan = plan ? plan : &none, .seed = seed};
  size_t n = m->plan->rule_count;
  m->states = calloc(n ? n : 1, sizeof *m->states);
  if (!m->states) return false;
  for (size_t i = 0; i < n; i++) {
    const struct fault_rule *r = &m->plan->rules[i];
    if (fault_rule_problem(r)) m->states[i].over = true;
    else m->used[r->point] = true;
  }
  pthread_mutex_init(&m->lock, NULL);
  return true;
}

void matcher_free(struct matcher *m) {
  pthread_mutex_destroy(&m->lock);
  free(m->states);
}

static bool fits(const struct fault_rule *r, const struct call *c) {
  if (r->point != c->point) return false;
  if (r->connection != 0 && r->connection != c->connection) return false;
  if (r->least_bytes > 0 && c->n < (uint64_t)r->least_bytes) return false;
  if (c->point == FAULT_RECV && c->received != (r->act == FAULT_DO_CORRUPT)) return false;
  bool phased = c->point == FAULT_SEND || c->point == FAULT_RECV || c->point == FAULT_WAIT;
  if (phased && r->phase != FAULT_PHASE_ANY && r->phase != c->phase) return false;
  if (c->point != FAULT_SEND || c->phase == FAULT_PHASE_UPGRADE || r->kind == FAULT_KIND_ANY) return true;
  return c->control == (r->kind == FAULT_KIND_CONTROL);
}

/* Where in the call the rule's place lies: 0 if it names none, -1 = not in this call. */
static int64_t place(const struct fault_rule *r, const struct call *c) {
  if (r->byte >= 0) {
    int64_t at = r->byte - c->offset;
    return at >= 0 && at < (int64_t)c->n ? at : -1;
  }
  if (r->frame == 0) return 0;
  if (!c->frames || r->frame <= c->frames->data_frames) return -1;
  struct frames walk = *c->frames;
  struct frames_seen seen;
  frames_walk(&walk, c->bytes, c->n, r->frame, &seen);
  return seen.target_at;
}

/* The first pick that the rule fires at, and how many such there were among so many picks. */
static int64_t first_pick(const struct fault_rule *r) { return r->nth > 0 ? r->nth : r->every > 1 ? r->every : 1; }

static int64_t turns(const struct fault_rule *r, int64_t picks) {
  int64_t behind = picks - first_pick(r);
  return behind < 0 ? 0 : behind / (r->every > 1 ? r->every : 1) + 1;
}

/* Could it fire at the next pick, or at a later one? */
static bool spent(const struct fault_rule *r, const struct rule_state *s) {
  if (s->over) return true;
  int64_t times = r->repeat == FAULT_ONCE ? 1 : r->repeat == FAULT_TIMES ? r->times : INT64_MAX;
  return (r->nth == 0 ? s->fired : turns(r, s->picks)) >= times;
}

static bool is_its_turn(const struct fault_rule *r, int64_t picks) {
  return turns(r, picks) > turns(r, picks - 1);
}

/* One of value..value_to, the same whenever seed, rule and pick are: a number of each pick's own, so that no rule's
 * choices hang on how often another one chose. */
static int64_t choose(const struct matcher *m, size_t rule, int64_t pick) {
  const struct fault_rule *r = &m->plan->rules[rule];
  if (r->value_to <= r->value) return r->value;
  uint64_t of_rule = m->seed ^ (uint64_t)rule << 48;
  uint64_t of_pick = splitmix(&of_rule) + (uint64_t)pick;
  uint64_t draw = splitmix(&of_pick);
  return r->value + (int64_t)(draw % ((uint64_t)(r->value_to - r->value) + 1));
}

static bool cuts(enum fault_do act) {
  return act == FAULT_DO_ERRNO || act == FAULT_DO_SHORT || act == FAULT_DO_AGAIN || act == FAULT_DO_RST ||
         act == FAULT_DO_FIN || act == FAULT_DO_CHUNK;
}

static void limit_to(struct verdict *v, size_t n) {
  if (n < v->limit) v->limit = n;
}

/* Whether it fired is known when the call is made. A cut right before the call (a short of 0) is done already. */
static bool hangs_on_bytes(const struct fault_rule *r) {
  if (r->act == FAULT_DO_SHORT || r->act == FAULT_DO_CHUNK) return r->value > 0 || r->value_to > 0;
  return r->act == FAULT_DO_CORRUPT;
}

/* Does what the rule says to the verdict, with its value for this pick. false = it came to nothing on this call. */
static bool apply(const struct fault_rule *r, int64_t value, int64_t at, const struct call *c, struct verdict *v,
                  struct try *try) {
  switch (r->act) {
    case FAULT_DO_DELAY_BEFORE: v->delay_before_ns += value; return true;
    case FAULT_DO_DELAY_AFTER: v->delay_after_ns += value; return true;
    case FAULT_DO_SHORT: case FAULT_DO_CHUNK:
      if (value == 0) return true; /* the cut before this call was all that was asked */
      if ((uint64_t)value >= c->n) return false;
      limit_to(v, (size_t)value);
      try->bytes = (uint64_t)value;
      return true;
    case FAULT_DO_CORRUPT: {
      uint64_t bit = (uint64_t)at * 8 + (uint64_t)value;
      if (bit / 8 >= c->n || v->flip_count == FLIPS_MAX) return false;
      v->flips[v->flip_count++] = bit;
      try->bytes = bit / 8 + 1;
      return true;
    }
    case FAULT_DO_ERRNO: case FAULT_DO_AGAIN: case FAULT_DO_RST: case FAULT_DO_FIN:
      if (v->acts) return false;
      v->acts = true;
      v->act = r->act;
      v->err = r->err;
      return true;
  }
  return false;
}

static void consider(struct matcher *m, size_t i, const struct call *c, struct verdict *v) {
  const struct fault_rule *r = &m->plan->rules[i];
  struct rule_state *s = &m->states[i];
  if (!fits(r, c)) return;
  s->calls++;
  if (r->frame > 0 && c->opaque) s->blind = true;
  if (spent(r, s)) return;
  int64_t at = place(r, c);
  if (at < 0) return;
  if (at > 0 && cuts(r->act)) {
    limit_to(v, (size_t)at);
    return;
  }
  bool hangs = hangs_on_bytes(r);
  if (hangs && v->try_count == TRIES_MAX) return;
  struct try try = {.rule = i};
  s->picks++;
  if (is_its_turn(r, s->picks) && apply(r, choose(m, i, s->picks), at, c, v, &try)) s->fired++;
  if (hangs) v->tries[v->try_count++] = try;
}

void match(struct matcher *m, const struct call *c, struct verdict *out) {
  verdict_clear(out);
  pthread_mutex_lock(&m->lock);
  for (size_t i = 0; i < m->plan->rule_count; i++) consider(m, i, c, out);
  pthread_mutex_unlock(&m->lock);
}

/* by_plan: another rule kept the call from being made. */
static void settle(struct matcher *m, const struct try *try, uint64_t moved, bool by_plan) {
  const struct fault_rule *r = &m->plan->rules[try->rule];
  bool missed = moved < try->bytes;
  if (missed) m->states[try->rule].fired--;
  /* A byte that did not go through is in a later call. */
  if (!by_plan && (moved == 0 || (missed && r->act == FAULT_DO_CORRUPT))) m->states[try->rule].picks--;
}

void match_settle(struct matcher *m, const struct verdict *v, int64_t moved) {
  if (v->try_count == 0) return;
  pthread_mutex_lock(&m->lock);
  bool by_plan = v->acts && v->act != FAULT_DO_FIN;
  for (unsigned i = 0; i < v->try_count; i++) settle(m, &v->tries[i], moved > 0 ? (uint64_t)moved : 0, by_plan);
  pthread_mutex_unlock(&m->lock);
}

void matcher_event(struct matcher *m, const char *name) {
  pthread_mutex_lock(&m->lock);
  for (size_t i = 0; i < m->plan->rule_count; i++) {
    const struct fault_rule *r = &m->plan->rules[i];
    if (r->repeat == FAULT_UNTIL && strcmp(r->until, name) == 0) m->states[i].over = true;
  }
  pthread_mutex_unlock(&m->lock);
}

struct rule_state matcher_state(struct matcher *m, size_t rule) {
  pthread_mutex_lock(&m->lock);
  struct rule_state s = m->states[rule];
  pthread_mutex_unlock(&m->lock);
  return s;
}
