/* clock - time that moves only when the world does, and seeded entropy. */
#include "sim/internal.h"

static int64_t clock_now(void *ctx) { return ((struct sim *)ctx)->now_ns; }

static int64_t clock_wall(void *ctx) { return sim_wall_ns(ctx); }

static int clock_entropy(void *ctx, void *buf, size_t n) {
  prng_fill(&((struct sim *)ctx)->entropy, buf, n);
  return 0;
}

const struct qwp_clock_ops sim_clock_ops = {clock_now, clock_wall, clock_entropy};

int64_t sim_now_ns(const struct sim *s) { return s->now_ns; }
int64_t sim_wall_ns(const struct sim *s) { return s->now_ns + s->wall_minus_now_ns; }
void sim_set_wall(struct sim *s, int64_t ns) { s->wall_minus_now_ns = ns - s->now_ns; }
