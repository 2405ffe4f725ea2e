#include "store/segment.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "store/ring.h"

#define LENGTH_OFFSET 4 /* of the length field in a frame header */

struct qwp_segment *qwp_segment_new(const struct qwp_ops *ops, size_t size, int64_t base_fsn) {
  if (size > SIZE_MAX - sizeof(struct qwp_segment)) return NULL;
  struct qwp_segment *s = ops->mem->alloc(ops->mem_ctx, sizeof *s + size);
  if (!s) return NULL;
  s->size = size;
  memset(s->bytes, 0, QWP_SEGMENT_HEADER_BYTES);
  qwp_segment_reset(s, base_fsn);
  return s;
}

void qwp_segment_del(const struct qwp_ops *ops, struct qwp_segment *s) {
  if (s) ops->mem->free(ops->mem_ctx, s);
}

void qwp_segment_reset(struct qwp_segment *s, int64_t base_fsn) {
  s->base_fsn = base_fsn;
  atomic_init(&s->published, (size_t)QWP_SEGMENT_HEADER_BYTES);
  atomic_init(&s->next, NULL);
}

size_t qwp_segment_max_frame(size_t size) {
  const size_t overhead = QWP_SEGMENT_HEADER_BYTES + QWP_FRAME_HEADER_BYTES;
  if (size <= overhead) return 0;
  size_t room = size - overhead;
  return room > INT32_MAX ? (size_t)INT32_MAX : room;
}

bool qwp_segment_fits(const struct qwp_segment *s, size_t n) {
  size_t room = s->size - atomic_load_explicit(&s->published, memory_order_relaxed);
  return room >= QWP_FRAME_HEADER_BYTES && n <= room - QWP_FRAME_HEADER_BYTES;
}

void qwp_segment_append(struct qwp_segment *s, const uint8_t *payload, size_t n) {
  size_t at = atomic_load_explicit(&s->published, memory_order_relaxed);
  assert(qwp_segment_fits(s, n));
  qwp_set_u32(s->bytes + at, 0);
  qwp_set_u32(s->bytes + at + LENGTH_OFFSET, (uint32_t)n);
  memcpy(s->bytes + at + QWP_FRAME_HEADER_BYTES, payload, n);
  /* The hand-over: whoever sees the new offset sees the bytes below it. */
  atomic_store_explicit(&s->published, at + QWP_FRAME_HEADER_BYTES + n, memory_order_release);
}

enum qwp_segment_frame qwp_segment_frame(const struct qwp_segment *s, size_t offset, const uint8_t **payload,
                                         size_t *n) {
  size_t published = atomic_load_explicit(&s->published, memory_order_acquire);
  if (offset >= published) return QWP_SEGMENT_NONE;
  size_t visible = published - offset;
  if (visible < QWP_FRAME_HEADER_BYTES) return QWP_SEGMENT_HALF;
  uint32_t length = qwp_get_u32(s->bytes + offset + LENGTH_OFFSET);
  if (length == 0 || length > s->size - offset - QWP_FRAME_HEADER_BYTES) return QWP_SEGMENT_CORRUPT;
  if (length > visible - QWP_FRAME_HEADER_BYTES) return QWP_SEGMENT_HALF;
  *payload = s->bytes + offset + QWP_FRAME_HEADER_BYTES;
  *n = length;
  return QWP_SEGMENT_WHOLE;
}
