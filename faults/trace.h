/* trace - the calls on the net table, one after another. The loop's thread only. */
#ifndef FAULT_TRACE_H
#define FAULT_TRACE_H

#include "faults.h"

struct trace {
  bool on;
  void (*on_call)(void *ctx, const struct fault_trace *call); /* or NULL */
  void *on_call_ctx;
  struct fault_trace *entries;
  size_t count, cap;
  size_t lost; /* once one is lost, none is kept: what there is has no hole */
};

void trace_add(struct trace *t, const struct fault_trace *entry);
void trace_free(struct trace *t);

#endif
