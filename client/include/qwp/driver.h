/* driver.h - who turns the send loop, and how a producer waits for it.
 *
 * The send loop is a state machine: step(now) does what is due and says when and
 * for what it wants to be called again. By default a thread of the library does
 * that (worker.c). Whoever wants another arrangement, such as a simulated world
 * with one thread, hands the sender a driver.
 */
#ifndef QWP_DRIVER_H
#define QWP_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "qwp/ops.h"

struct qwp_loop; /* the send loop of one sender */

/* What a step leaves behind. */
struct qwp_want {
  qwp_sock sock;       /* socket to watch, or -1 */
  unsigned interest;   /* QWP_READABLE | QWP_WRITABLE, 0 = only wake and deadline */
  int64_t deadline_ns; /* step again at this time at the latest; QWP_NEVER */
  bool again;          /* a long backlog was interrupted: step again at once, with a new time */
  bool stopped;        /* the loop has ended; never step it again */
};

/* Does what is due at now_ns, of a backlog a bounded part. Never blocks, but for name
 * resolution. Called by one thread at a time. After it, the driver calls qwp_loop_wait,
 * then steps again. */
QWP_API struct qwp_want qwp_loop_step(struct qwp_loop *loop, int64_t now_ns);

/* Performs the wait that *want asks for through the net table (so it is counted
 * and can be made to fail); with want->again there is none, and the result is 0.
 * Result as of qwp_net_ops.wait; -EAGAIN means that the world will call step when
 * something is due. */
QWP_API int qwp_loop_wait(struct qwp_loop *loop, const struct qwp_want *want, int64_t now_ns);

struct qwp_driver {
  void *ctx;
  /* The loop is ready to be stepped, from now until stop(). 0 or -errno. */
  int (*start)(void *ctx, struct qwp_loop *loop);
  /* There is something new for a loop that may be asleep. Producer thread. */
  void (*wake)(void *ctx);
  /* Blocks the producer until progress() was called since `seen` was read, or
   * deadline_ns has come; the caller tests its own condition again. The one hook
   * through which every blocking API call waits. */
  void (*wait)(void *ctx, uint64_t seen, int64_t deadline_ns);
  /* Number of progress() calls so far; read it before testing the condition. */
  uint64_t (*seen)(void *ctx);
  /* The loop moved: acknowledged, connected, stopped, latched an error. Loop thread. */
  void (*progress)(void *ctx);
  /* Returns when no step is running and none will be. Producer thread. */
  void (*stop)(void *ctx);
};

#endif
