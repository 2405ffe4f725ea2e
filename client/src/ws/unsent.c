/* Where the socket has stopped taking bytes: read and not touched. */
#include <assert.h>

#include "ws/impl.h"

/* One past the frame that begins at p, the next one of the batch; *header = bytes before its payload. */
static size_t frame_bytes(const uint8_t *p, size_t left, size_t *header) {
  struct qwp_frame frame;
  const char *why;
  int n = qwp_frame_decode(p, left, &frame, &why);
  assert(n > 0 && frame.length <= left - (size_t)n); /* whole, and of our own making */
  *header = (size_t)n;
  return *header + (size_t)frame.length;
}

enum qwp_ws_unsent qwp_ws_unsent(const struct qwp_ws *ws) {
  const struct qwp_tx *tx = &ws->tx;
  if (qwp_tx_pending(tx) == 0) return QWP_UNSENT_NONE;
  if (tx->sent == 0) return QWP_UNSENT_BOUNDARY;
  if (ws->state != QWP_WS_OPEN) return QWP_UNSENT_PAYLOAD; /* of the upgrade request */
  for (size_t at = 0; at < tx->batch.len;) {
    size_t header, n = frame_bytes(tx->batch.data + at, tx->batch.len - at, &header);
    if (tx->sent == at) return QWP_UNSENT_BOUNDARY;
    if (tx->sent < at + n) return tx->sent < at + header ? QWP_UNSENT_HEADER : QWP_UNSENT_PAYLOAD;
    at += n;
  }
  return QWP_UNSENT_BOUNDARY;
}

bool qwp_ws_control_half_out(const struct qwp_ws *ws) {
  return ws->tx.out_sent > 0 && ws->tx.out_sent < ws->tx.out_len;
}
