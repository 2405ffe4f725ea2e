/* counters - the numbers of faults.h, readable from any thread.
 *
 * Relaxed: a counter orders nothing. Whoever wants exact values reads them after a
 * hand-over that orders memory (the gate, a join).
 */
#ifndef FAULT_COUNTERS_H
#define FAULT_COUNTERS_H

#include <stdatomic.h>

#include "faults.h"

enum counter {
#define COUNTER_ID(field, name, help) COUNTER_##field,
  FAULT_COUNTERS(COUNTER_ID)
#undef COUNTER_ID
  COUNTERS
};

struct counters {
  _Atomic int64_t v[COUNTERS];
};

/* What it was before. */
static inline int64_t counter_add(struct counters *c, enum counter which, int64_t n) {
  return atomic_fetch_add_explicit(&c->v[which], n, memory_order_relaxed);
}

/* To v, unless it is as high already. */
static inline void counter_raise(struct counters *c, enum counter which, int64_t v) {
  int64_t was = atomic_load_explicit(&c->v[which], memory_order_relaxed);
  while (was < v && !atomic_compare_exchange_weak_explicit(&c->v[which], &was, v, memory_order_relaxed,
                                                           memory_order_relaxed)) continue;
}

void counters_read(const struct counters *c, struct fault_counters *out);

#endif
