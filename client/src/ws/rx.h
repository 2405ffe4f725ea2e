/* rx - the receive buffer of a connection: parsed in place, moved lazily.
 *
 *   data      head            tail            cap
 *    | consumed | not parsed yet | room to read |
 *
 * Consuming a frame moves `head` only. When everything is consumed both cursors
 * rewind to 0, which costs nothing. Otherwise the rest (the beginning of one frame)
 * is moved to the front once, by qwp_rx_compact right before the next receive and
 * before the growth test of qwp_rx_make_room, so that the write offset and the room
 * at every receive are those of a buffer that compacts after each frame, at none of
 * its cost (P121-41..44).
 *
 * Growth: the buffer doubles when it is full of one unfinished frame, up to `max`,
 * and never shrinks (P121-46). A length that a peer merely announces allocates nothing.
 */
#ifndef QWP_WS_RX_H
#define QWP_WS_RX_H

#include <stddef.h>
#include <stdint.h>

#include "qwp/ops.h"
#include "qwp/status.h"
#include "ws/connection.h"

struct qwp_rx {
  uint8_t *data;
  size_t head, tail; /* head <= tail <= cap */
  size_t cap;        /* 0 before the first make_room */
  size_t initial, max;
  const struct qwp_ops *ops;
  struct qwp_ws_counters *counters; /* the rx_ fields are kept here */
};

/* ops and counters are borrowed. 0 < initial <= max. */
void qwp_rx_init(struct qwp_rx *rx, const struct qwp_ops *ops, size_t initial, size_t max,
                 struct qwp_ws_counters *counters);
void qwp_rx_free(struct qwp_rx *rx);

/* Forgets the bytes of a finished connection; the memory stays. */
void qwp_rx_reset(struct qwp_rx *rx);

/* Moves a partial tail to the front. Payload pointers into the buffer die here. */
void qwp_rx_compact(struct qwp_rx *rx);

/* At least one byte of room at `tail`. QWP_TOO_LARGE: the buffer is full at its
 * maximum. QWP_NOMEM: as it was. */
QWP_MUST_USE enum qwp_status qwp_rx_make_room(struct qwp_rx *rx);

/* One recv into all of the room (tried again at once after -EINTR). Bytes read, 0 = end
 * of stream, -EAGAIN = nothing there, -errno. There must be room. */
ssize_t qwp_rx_recv(struct qwp_rx *rx, qwp_sock sock);

/* n bytes at head are done with. They stay readable until the next compact or recv. */
void qwp_rx_consume(struct qwp_rx *rx, size_t n);

#endif
