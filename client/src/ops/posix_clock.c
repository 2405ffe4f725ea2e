#include <errno.h>
#include <sys/random.h>
#include <time.h>

#include "ops/posix.h"

static int64_t read_clock(clockid_t which) {
  struct timespec t;
  clock_gettime(which, &t); /* cannot fail for these two clocks */
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t now_ns(void *ctx) {
  (void)ctx;
  return read_clock(CLOCK_MONOTONIC);
}

static int64_t wall_ns(void *ctx) {
  (void)ctx;
  return read_clock(CLOCK_REALTIME);
}

static int entropy(void *ctx, void *buf, size_t n) {
  (void)ctx;
  unsigned char *p = buf;
  while (n > 0) {
    ssize_t r = getrandom(p, n, 0);
    if (r < 0 && errno == EINTR) continue;
    if (r < 0) return -errno;
    p += r;
    n -= (size_t)r;
  }
  return 0;
}

const struct qwp_clock_ops qwp_posix_clock = {.now_ns = now_ns, .wall_ns = wall_ns, .entropy = entropy};
