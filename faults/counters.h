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
#define COUNTER_ID(field, name) COUNTER_##field,
  FAULT_COUNTERS(COUNTER_ID)
#undef COUNTER_ID
  COUNTERS
};

struct counters {
  _Atomic int64_t v[COUNTERS];
};

static inline void counter_add(struct counters *c, enum counter which, int64_t n) {
  atomic_fetch_add_explicit(&c->v[which], n, memory_order_relaxed);
}

void counters_read(const struct counters *c, struct fault_counters *out);

#endif
