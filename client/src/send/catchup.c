#include "send/catchup.h"

#include <assert.h>

#include "qwp/wire.h"
#include "send/batch.h"

#define WIRE_HEADER_BYTES 8 /* WebSocket header of a payload up to 65 535 bytes */
#define CHUNK_BYTES (65536u - WIRE_HEADER_BYTES)
#define MESSAGE_MAX QWP_MAX_PAYLOAD_BYTES

/* Size of a frame with ids first..end-1. */
static size_t frame_bytes(const struct qwp_mirror *m, size_t first, size_t end) {
  size_t entries = qwp_mirror_offset(m, end) - qwp_mirror_offset(m, first);
  return QWP_HEADER_BYTES + qwp_varint_size(first) + qwp_varint_size(end - first) + entries;
}

/* One past the last id of the largest frame from `first` that keeps to `limit`; at least
 * one entry. */
static size_t frame_end(const struct qwp_mirror *m, size_t first, size_t limit) {
  size_t end = first + 1;
  while (end < m->count && frame_bytes(m, first, end + 1) <= limit) end++;
  return end;
}

enum qwp_status qwp_catchup_frame(const struct qwp_mirror *m, size_t *next_id, int64_t cap, struct qwp_bytes *out) {
  size_t first = *next_id;
  assert(first < m->count && out->len == 0);
  size_t cap_bytes = cap > 0 && (uint64_t)cap < MESSAGE_MAX ? (size_t)cap : MESSAGE_MAX;
  size_t limit = cap_bytes < CHUNK_BYTES ? cap_bytes : CHUNK_BYTES;
  size_t end = frame_end(m, first, limit);
  size_t size = frame_bytes(m, first, end);
  if (size > cap_bytes) return QWP_TOO_LARGE;
  enum qwp_status st = qwp_bytes_reserve(out, size);
  if (st != QWP_OK) return QWP_NOMEM;

  qwp_put_u32(out, QWP_MAGIC);
  qwp_put_u8(out, QWP_VERSION);
  qwp_put_u8(out, QWP_FLAG_DEFER | QWP_FLAG_DELTA);
  qwp_put_u16(out, 0);
  qwp_put_u32(out, (uint32_t)(size - QWP_HEADER_BYTES));
  qwp_put_varint(out, first);
  qwp_put_varint(out, end - first);
  size_t from = qwp_mirror_offset(m, first);
  qwp_put(out, m->entries.data + from, qwp_mirror_offset(m, end) - from);
  assert(out->len == size);
  *next_id = end;
  return QWP_OK;
}

void qwp_catchup_init(struct qwp_catchup *c, const struct qwp_ops *ops) {
  c->next_id = 0;
  qwp_bytes_init(&c->frame, ops, MESSAGE_MAX);
}

void qwp_catchup_free(struct qwp_catchup *c) { qwp_bytes_free(&c->frame); }

void qwp_catchup_restart(struct qwp_catchup *c) {
  c->next_id = 0;
  c->frame.len = 0;
}

bool qwp_catchup_done(const struct qwp_catchup *c, const struct qwp_mirror *m) {
  return c->next_id == m->count && c->frame.len == 0;
}

enum qwp_status qwp_catchup_build(struct qwp_catchup *c, const struct qwp_mirror *m, struct qwp_ws *ws,
                                  struct qwp_inflight *inflight, int64_t cap, struct qwp_error *err) {
  size_t used = 0;
  qwp_inflight_begin(inflight);
  while (!qwp_catchup_done(c, m)) {
    if (c->frame.len == 0) {
      enum qwp_status st = qwp_catchup_frame(m, &c->next_id, cap, &c->frame);
      if (st == QWP_TOO_LARGE) return qwp_fail(err, st, "a symbol is larger than the server takes");
      if (st != QWP_OK) return qwp_fail(err, st, "out of memory for a dictionary frame");
    }
    size_t w = qwp_ws_wire_bytes(c->frame.len);
    if (used > 0 && used + w > QWP_BATCH_CAP) break;
    enum qwp_status st = qwp_ws_append(ws, QWP_WS_BINARY, c->frame.data, c->frame.len, err);
    if (st != QWP_OK) return st;
    used += w;
    c->frame.len = 0;
    qwp_inflight_append_catchup(inflight);
  }
  return QWP_OK;
}
