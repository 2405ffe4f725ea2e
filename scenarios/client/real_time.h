/* real_time - the monotonic clock, for what takes real time: a run, a child, a pause. Simulated time is another. */
#ifndef SCN_REAL_TIME_H
#define SCN_REAL_TIME_H

#include <stdint.h>
#include <time.h>

static inline int64_t real_time_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

#endif
