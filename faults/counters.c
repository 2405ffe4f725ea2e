#include "counters.h"

void counters_read(const struct counters *c, struct fault_counters *out) {
#define COUNTER_READ(field, name, help) out->field = atomic_load_explicit(&c->v[COUNTER_##field], memory_order_relaxed);
  FAULT_COUNTERS(COUNTER_READ)
#undef COUNTER_READ
}
