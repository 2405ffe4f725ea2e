#include "send/backoff.h"

#include "qwp/ops.h"

#define LARGEST_NS (INT64_MAX / 4) /* so that doubling and jitter cannot overflow */
#define DOSE_DOUBLINGS_MAX 6

static int64_t clamp(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

static int64_t jitter(int64_t base, uint64_t random) { return base + (int64_t)(random % (uint64_t)base); }

static int64_t doubled(int64_t base, int64_t max) { return base > max / 2 ? max : base * 2; }

void qwp_backoff_init(struct qwp_backoff *b, int64_t initial_ns, int64_t max_ns) {
  b->max_ns = clamp(max_ns, QWP_NS_PER_MS, LARGEST_NS);
  b->initial_ns = clamp(initial_ns, QWP_NS_PER_MS, b->max_ns);
  b->base_ns = b->initial_ns;
}

int64_t qwp_backoff_next(struct qwp_backoff *b, uint64_t random) {
  int64_t pause_ns = jitter(b->base_ns, random);
  b->base_ns = doubled(b->base_ns, b->max_ns);
  return pause_ns;
}

int64_t qwp_backoff_role(struct qwp_backoff *b, uint64_t random) {
  qwp_backoff_reset(b);
  return jitter(b->initial_ns, random);
}

void qwp_backoff_reset(struct qwp_backoff *b) { b->base_ns = b->initial_ns; }

int64_t qwp_backoff_dose(const struct qwp_backoff *b, int64_t times, uint64_t random) {
  int64_t dose_ns = b->initial_ns;
  int64_t doublings = clamp(times - 1, 0, DOSE_DOUBLINGS_MAX);
  while (doublings-- > 0) dose_ns = doubled(dose_ns, b->max_ns);
  return jitter(dose_ns, random);
}
