/* loop - the send loop of one sender: connect, replay, send, read answers, connect again.
 *
 *   BACKOFF -> CONNECTING -> UPGRADING -> CATCHUP -> RUNNING -> CLOSING -> STOPPED
 *      ^------------'------------'-----------'---------'
 *
 * qwp_loop_step (qwp/driver.h) does what is due and never blocks, but for name resolution;
 * a long backlog takes several steps. While RUNNING one pass is: one receive attempt, one
 * batch, one flush; so with a backlog there is a receive attempt between any two writes
 * (P121-14). The socket is waited for only when it is full, and then for both directions
 * (P121-01, CASE-31).
 *
 * Any failure of the connection ends in another connection or, for the few reasons of
 * RECON-010, in STOPPED with an error latched. Time alone ends nothing [RECON-001].
 *
 * A server that breaks WebSocket framing [WS-007], or sends an answer that cannot be read
 * [MAL-RSP-001] or is not binary [WS-002], is left like a broken line [RECON-007]: nothing
 * it said is applied, the connection is replaced, what is not acknowledged is replayed. It
 * is no strike against a frame: such bytes are no verdict on what was sent, and a proxy in
 * the way, or a server just replaced, may be well a moment later; the reference clients
 * recycle here as well. What keeps this from becoming a storm is the growing pause between
 * connections that bring no progress [NACK-022].
 *
 * Threads: step, and all that hangs on it, belong to the loop's thread. What a producer
 * may call is in the second half of this header.
 */
#ifndef QWP_SEND_LOOP_H
#define QWP_SEND_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "qwp/driver.h"
#include "qwp/ops.h"
#include "qwp/sender.h"
#include "qwp/status.h"
#include "store/ring.h"

struct qwp_loop;

struct qwp_loop_options { /* everything is borrowed for the loop's life */
  const struct qwp_ops *ops;
  const struct qwp_driver *driver;
  const struct qwp_config *config;
  struct qwp_ring *ring;
  void (*log)(void *ctx, enum qwp_log_level level, const char *line);
  void *log_ctx;
};

/* NULL = out of memory. */
struct qwp_loop *qwp_loop_new(const struct qwp_loop_options *o);
/* The driver has stopped. Closes the socket if one is still open. NULL is fine. */
void qwp_loop_del(struct qwp_loop *loop);

/* ---- for an observer ------------------------------------------------------------ */

/* Where the loop stands at this moment, in numbers that tell two situations apart. */
struct qwp_loop_view {
  int state;              /* BACKOFF 0, CONNECTING, UPGRADING, CATCHUP, RUNNING, CLOSING, STOPPED 6 */
  int ws_state;           /* enum qwp_ws_state */
  bool batch_open;        /* a batch is in the send buffer, its flush not complete */
  int unsent;             /* enum qwp_ws_unsent: where in the batch the socket stopped */
  bool control_half_out;
  int64_t catchup_next, catchup_all; /* symbols told on this connection, and all there are */
  int64_t in_flight;      /* frames appended and not acknowledged */
  int64_t held_acks;      /* of these, frames that an OK named too early */
  int64_t backlog;        /* frames published and not appended */
  int64_t replay_target, connects, backoff_ns, idle_recycles, strikes;
};

/* On the loop's thread, also from inside a call it makes. Changes nothing. */
struct qwp_loop_view qwp_loop_view(const struct qwp_loop *loop);

/* ---- for the producer, any state ------------------------------------------------- */

/* A frame was published: wakes the loop if it sleeps because it had none, and only then. */
void qwp_loop_published(struct qwp_loop *loop);

/* Say goodbye and stop: Close 1000, FIN, and a bounded wait for the end of the stream. */
void qwp_loop_request_close(struct qwp_loop *loop);

bool qwp_loop_stopped(const struct qwp_loop *loop);
bool qwp_loop_was_connected(const struct qwp_loop *loop);

/* The largest message the server of the newest connection takes; 0 = it named no cap, or
 * there was no connection yet [CAP-005]. */
int64_t qwp_loop_cap(const struct qwp_loop *loop);

/* The terminal error; never changes once it is there. false: none. */
bool qwp_loop_error(const struct qwp_loop *loop, struct qwp_error *out);
bool qwp_loop_latched(const struct qwp_loop *loop);

/* Fills in the loop's and the ring's numbers. */
void qwp_loop_metrics(const struct qwp_loop *loop, struct qwp_metrics *out);

#endif
