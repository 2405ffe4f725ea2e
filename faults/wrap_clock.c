/* wrap_clock - counts clock reads, makes them late, and spoils entropy. Any thread. */
#include "layer.h"

static int64_t read_clock(struct faults *f, int64_t (*read)(void *ctx)) {
  struct verdict v;
  counter_add(&f->counters, COUNTER_clock, 1);
  faults_plain_call(f, FAULT_CLOCK, 0, &v); /* a clock can only be late */
  int64_t t = read(f->under->clock_ctx);
  faults_pass_time(f, v.delay_after_ns);
  return t;
}

static int64_t clock_now(void *ctx) {
  struct faults *f = ctx;
  return read_clock(f, f->under->clock->now_ns);
}

static int64_t clock_wall(void *ctx) {
  struct faults *f = ctx;
  return read_clock(f, f->under->clock->wall_ns);
}

static int clock_entropy(void *ctx, void *buf, size_t n) {
  struct faults *f = ctx;
  if (!matcher_uses(&f->matcher, FAULT_ENTROPY)) return f->under->clock->entropy(f->under->clock_ctx, buf, n);
  struct verdict v;
  struct call c = {.point = FAULT_ENTROPY, .phase = FAULT_PHASE_ANY, .n = n};
  match(&f->matcher, &c, &v);
  faults_pass_time(f, v.delay_before_ns);
  int result = v.acts ? -v.err : f->under->clock->entropy(f->under->clock_ctx, buf, n);
  for (unsigned i = 0; result == 0 && i < v.flip_count; i++)
    ((uint8_t *)buf)[v.flips[i] / 8] ^= (uint8_t)(1u << (v.flips[i] % 8));
  match_settle(&f->matcher, &v, result == 0 ? (int64_t)n : 0);
  faults_pass_time(f, v.delay_after_ns);
  return result;
}

const struct qwp_clock_ops faults_clock_ops = {clock_now, clock_wall, clock_entropy};
