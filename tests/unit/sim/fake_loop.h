/* fake_loop - a send loop that a test scripts: the two symbols that the driver of the
 * simulated world calls. Include it in one file of a program. */
#ifndef FAKE_LOOP_H
#define FAKE_LOOP_H

#include "sim/sim.h"

struct qwp_loop {
  const struct qwp_ops *ops;
  struct qwp_want (*step)(struct qwp_loop *loop, int64_t now_ns);
  void *ctx;
  int steps;
  int wait_fails; /* -errno that the next waits give without reaching the world; 0 = none */
};

struct qwp_want qwp_loop_step(struct qwp_loop *loop, int64_t now_ns) {
  loop->steps++;
  return loop->step(loop, now_ns);
}

int qwp_loop_wait(struct qwp_loop *loop, const struct qwp_want *want, int64_t now_ns) {
  if (loop->wait_fails != 0) return loop->wait_fails;
  int64_t timeout = want->deadline_ns == QWP_NEVER ? QWP_NEVER : want->deadline_ns - now_ns;
  return loop->ops->net->wait(loop->ops->net_ctx, want->sock, want->interest, timeout < 0 ? 0 : timeout);
}

#endif
