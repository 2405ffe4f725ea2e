#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "qwp/ops.h"

#define FIRST_ENTRIES 64u

static bool reserve(struct trace *t) {
  if (t->count < t->cap) return true;
  if (t->cap >= FAULT_TRACE_MAX) return false;
  size_t cap = t->cap ? t->cap * 2 : FIRST_ENTRIES;
  struct fault_trace *entries = realloc(t->entries, cap * sizeof *entries);
  if (!entries) return false;
  t->entries = entries;
  t->cap = cap;
  return true;
}

void trace_add(struct trace *t, const struct fault_trace *entry) {
  if (t->on_call) t->on_call(t->on_call_ctx, entry);
  if (!t->on) return;
  if (t->lost > 0 || !reserve(t)) {
    t->lost++;
    return;
  }
  t->entries[t->count++] = *entry;
}

void trace_free(struct trace *t) { free(t->entries); }

static void result_text(int64_t result, char *out, size_t n) {
  const char *name = result < 0 && result > -4096 ? fault_errno_name((int)-result) : NULL;
  if (result == -EAGAIN) snprintf(out, n, "again");
  else if (name) snprintf(out, n, "%s", name);
  else snprintf(out, n, "%lld", (long long)result);
}

void fault_trace_text(const struct fault_trace *t, char *out, size_t n) {
  char result[24];
  result_text(t->result, result, sizeof result);
  switch (t->point) {
    case FAULT_SEND: snprintf(out, n, "send(%zu)->%s", t->asked, result); return;
    case FAULT_RECV: snprintf(out, n, "recv(%zu)->%s", t->asked, result); return;
    case FAULT_CONNECT: snprintf(out, n, "connect->%s", result); return;
    case FAULT_CLOSE: snprintf(out, n, "close"); return;
    case FAULT_WAIT:
      snprintf(out, n, (t->interest & QWP_WRITABLE) ? "poll_w" : (t->interest & QWP_READABLE) ? "poll_r" : "idle");
      return;
    default: snprintf(out, n, "%s", fault_point_name(t->point)); return;
  }
}
