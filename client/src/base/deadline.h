/* deadline - a point in time from a time and a span. */
#ifndef QWP_BASE_DEADLINE_H
#define QWP_BASE_DEADLINE_H

#include <stdint.h>

#include "qwp/ops.h"

/* now + span (>= 0), or QWP_NEVER if that is past the end of time. */
static inline int64_t qwp_deadline(int64_t now_ns, int64_t span_ns) {
  return span_ns > QWP_NEVER - now_ns ? QWP_NEVER : now_ns + span_ns;
}

#endif
