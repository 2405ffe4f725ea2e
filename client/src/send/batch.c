#include "send/batch.h"

#include "encode/message.h"
#include "qwp/wire.h"

/* Whether the frame may follow what the server was told, and room in the mirror for it. */
static enum qwp_batch_end guard_dictionary(const struct qwp_batch_builder *b, const uint8_t *payload, size_t n,
                                           struct qwp_delta_view *delta) {
  if (qwp_message_delta(payload, n, delta) != QWP_OK) return QWP_BATCH_CORRUPT;
  switch (qwp_mirror_admit(b->mirror, delta)) {
    case QWP_OK: return QWP_BATCH_END;
    case QWP_DICT_FULL: return QWP_BATCH_DICT_FULL;
    case QWP_NOMEM:
      qwp_fail(b->err, QWP_NOMEM, "out of memory for the symbols of a frame");
      return QWP_BATCH_FAILED;
    default: return QWP_BATCH_GAP;
  }
}

/* What stands under the cursor, as far as the store can tell. QWP_BATCH_END with *n > 0
 * means: a whole frame. */
static enum qwp_batch_end look(const struct qwp_batch_builder *b, const uint8_t **payload, size_t *n) {
  *n = 0;
  switch (qwp_ring_look(b->ring, b->cursor, payload, n)) {
    case QWP_RING_FRAME: return QWP_BATCH_END;
    case QWP_RING_END: return QWP_BATCH_END;
    case QWP_RING_SEGMENT_END: return QWP_BATCH_SEGMENT_END;
    case QWP_RING_HALF: return QWP_BATCH_HALF;
    case QWP_RING_CORRUPT: break;
  }
  return QWP_BATCH_CORRUPT;
}

struct qwp_batch_result qwp_batch_build(const struct qwp_batch_builder *b) {
  struct qwp_batch_result r = {.end = QWP_BATCH_END};
  qwp_inflight_begin(b->inflight);
  for (;;) {
    const uint8_t *payload;
    size_t n;
    r.end = look(b, &payload, &n);
    if (n == 0) break;

    size_t w = qwp_ws_wire_bytes(n);
    r.end = QWP_BATCH_FULL;
    if (r.frames > 0 && r.wire_bytes + w > QWP_BATCH_CAP) break;

    r.end = QWP_BATCH_TOO_LARGE;
    if (b->peer_cap > 0 && n > (uint64_t)b->peer_cap) break;

    struct qwp_delta_view delta;
    r.end = guard_dictionary(b, payload, n, &delta);
    if (r.end != QWP_BATCH_END) break;

    r.end = QWP_BATCH_FAILED;
    if (qwp_ws_append(b->ws, QWP_WS_BINARY, payload, n, b->err) != QWP_OK) break;
    r.frames++;
    r.wire_bytes += w;
    /* After the append, before the batch is written: a frame that fails on the wire has
     * taught the mirror all the same (P121-33). */
    qwp_mirror_extend(b->mirror, &delta);
    qwp_cursor_advance(b->cursor, n);
    qwp_inflight_append(b->inflight);
  }
  return r;
}
