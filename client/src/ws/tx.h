/* tx - what a connection has to send: a batch of data frames, and control frames.
 *
 * The batch buffer holds masked frames back to back, each header of its exact size,
 * so that one write carries many frames and the bytes are those of one write each
 * (P121-12). Nothing in it ever moves: a short write advances `sent`, and both
 * cursors rewind when all of it is taken. A frame is in it whole or not at all.
 *
 * Control frames wait in slots of their own, one of a kind, and are built in a small
 * buffer when they begin to leave, so that they never touch a batch in construction
 * (P121-21) and never land inside a frame: a batch that has begun leaves first, and a
 * control frame that has begun leaves before the next batch.
 */
#ifndef QWP_WS_TX_H
#define QWP_WS_TX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "qwp/ops.h"
#include "qwp/status.h"
#include "ws/connection.h"
#include "ws/frame.h"
#include "ws/keys.h"

enum qwp_control_kind { QWP_CONTROL_PONG, QWP_CONTROL_CLOSE, QWP_CONTROL_KINDS };

struct qwp_control { /* a control frame that has not begun to leave */
  bool set;
  uint8_t n;
  uint8_t payload[QWP_FRAME_CONTROL_MAX];
};

struct qwp_tx {
  const struct qwp_ops *ops;
  struct qwp_ws_counters *counters; /* the tx_ fields are kept here */
  struct qwp_keys keys;

  struct qwp_bytes batch;
  size_t sent; /* bytes of the batch that the socket took */

  struct qwp_control waiting[QWP_CONTROL_KINDS]; /* leave in this order: nothing follows a Close */
  uint8_t out[QWP_CONTROL_KINDS * (2 + QWP_FRAME_MASK_BYTES + QWP_FRAME_CONTROL_MAX)];
  size_t out_len, out_sent; /* control frames that are leaving */
  bool close_left;          /* a Close has begun to leave: no frame may follow it */
  int64_t shortages;        /* sends that found no kernel buffers, since the last that took bytes */
};

void qwp_tx_init(struct qwp_tx *tx, const struct qwp_ops *ops, struct qwp_ws_counters *counters);
void qwp_tx_free(struct qwp_tx *tx);

/* Forgets all that was pending, with the connection it was meant for (P121-23). */
void qwp_tx_reset(struct qwp_tx *tx);

/* Appends one masked frame. QWP_NOMEM, QWP_CONN_LOST (no entropy), QWP_MISUSE (behind
 * a Close): the batch is as it was. Must not be called once its first byte has left. */
QWP_MUST_USE enum qwp_status qwp_tx_append(struct qwp_tx *tx, unsigned opcode, const uint8_t *payload, size_t n);

/* Queues a control frame; replaces one of its kind that has not begun to leave.
 * QWP_MISUSE: n > 125, or a Close has begun to leave. */
QWP_MUST_USE enum qwp_status qwp_tx_control(struct qwp_tx *tx, enum qwp_control_kind kind, const uint8_t *payload,
                                            size_t n);

size_t qwp_tx_pending(const struct qwp_tx *tx);      /* bytes of the batch not yet taken */
bool qwp_tx_control_pending(const struct qwp_tx *tx); /* waiting, or partly out */

/* One attempt to send what comes next: a half-sent control buffer, else the batch,
 * else control frames that wait. Returns bytes taken (> 0), 0 = nothing is pending,
 * -EAGAIN = the socket is full (also after ENOBUFS and ENOMEM, CASE-82), or -errno:
 * the connection is dead. */
ssize_t qwp_tx_send_once(struct qwp_tx *tx, qwp_sock sock);

#endif
