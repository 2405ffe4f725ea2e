/* Who writes what: the producer moves `tail` and links segments behind it; the loop moves
 * `head` and frees in front of it. `head` is the producer's once, for the first segment.
 * The two never touch the same segment's lifetime: trim stops before an unsealed one. */
#include "store/ring.h"

#include <assert.h>

#include "store/segment.h"

struct qwp_ring {
  const struct qwp_ops *ops;
  size_t segment_bytes;
  int64_t total_bytes;

  _Atomic(struct qwp_segment *) head;  /* oldest; NULL before the first publish */
  struct qwp_segment *tail;            /* producer only: the one being filled */
  _Atomic(struct qwp_segment *) spare; /* one trimmed segment kept for the producer */

  _Atomic(int64_t) published; /* highest FSN, -1 = none */
  _Atomic(int64_t) acked;
  _Atomic(int64_t) bytes;     /* of segments held, the spare included */
};

struct qwp_ring *qwp_ring_new(const struct qwp_ops *ops, size_t segment_bytes, size_t total_bytes) {
  struct qwp_ring *ring = ops->mem->alloc(ops->mem_ctx, sizeof *ring);
  if (!ring) return NULL;
  ring->ops = ops;
  ring->segment_bytes = segment_bytes;
  ring->total_bytes = total_bytes > INT64_MAX ? INT64_MAX : (int64_t)total_bytes;
  ring->tail = NULL;
  atomic_init(&ring->head, NULL);
  atomic_init(&ring->spare, NULL);
  atomic_init(&ring->published, -1);
  atomic_init(&ring->acked, -1);
  atomic_init(&ring->bytes, 0);
  return ring;
}

void qwp_ring_del(struct qwp_ring *ring) {
  if (!ring) return;
  struct qwp_segment *s = atomic_load(&ring->head);
  while (s) {
    struct qwp_segment *next = atomic_load(&s->next);
    qwp_segment_del(ring->ops, s);
    s = next;
  }
  qwp_segment_del(ring->ops, atomic_load(&ring->spare));
  ring->ops->mem->free(ring->ops->mem_ctx, ring);
}

/* ---- producer ------------------------------------------------------------------- */

/* The next segment to fill: the spare one, or a new one if the cap allows. */
static enum qwp_status take_segment(struct qwp_ring *ring, int64_t base_fsn, struct qwp_segment **out) {
  struct qwp_segment *s = atomic_exchange_explicit(&ring->spare, NULL, memory_order_acquire);
  if (s) {
    qwp_segment_reset(s, base_fsn);
    *out = s;
    return QWP_OK;
  }
  int64_t held = atomic_load_explicit(&ring->bytes, memory_order_relaxed);
  int64_t size = (int64_t)ring->segment_bytes;
  if (held > ring->total_bytes - size) return QWP_BACKPRESSURE;
  s = qwp_segment_new(ring->ops, ring->segment_bytes, base_fsn);
  if (!s) return QWP_NOMEM;
  atomic_fetch_add_explicit(&ring->bytes, size, memory_order_relaxed);
  *out = s;
  return QWP_OK;
}

/* Links a segment that already holds its first frame, so that a reader which follows
 * the link always finds something. */
static void link_segment(struct qwp_ring *ring, struct qwp_segment *s) {
  if (ring->tail)
    atomic_store_explicit(&ring->tail->next, s, memory_order_release);
  else
    atomic_store_explicit(&ring->head, s, memory_order_release);
  ring->tail = s;
}

enum qwp_status qwp_ring_publish(struct qwp_ring *ring, const uint8_t *payload, size_t n, int64_t *fsn) {
  assert(n > 0);
  if (n > qwp_ring_max_frame(ring)) return QWP_TOO_LARGE;
  int64_t next = atomic_load_explicit(&ring->published, memory_order_relaxed) + 1;
  struct qwp_segment *s = ring->tail;
  bool fresh = !s || !qwp_segment_fits(s, n);
  if (fresh) {
    enum qwp_status st = take_segment(ring, next, &s);
    if (st != QWP_OK) return st;
  }
  /* The number first: a loop that has seen, sent and trimmed the frame must find that
   * it was published. */
  atomic_store_explicit(&ring->published, next, memory_order_release);
  qwp_segment_append(s, payload, n);
  if (fresh) link_segment(ring, s);
  *fsn = next;
  return QWP_OK;
}

/* ---- marks ------------------------------------------------------------------------ */

size_t qwp_ring_max_frame(const struct qwp_ring *ring) { return qwp_segment_max_frame(ring->segment_bytes); }

int64_t qwp_ring_published(const struct qwp_ring *ring) {
  return atomic_load_explicit(&ring->published, memory_order_acquire);
}

int64_t qwp_ring_acked(const struct qwp_ring *ring) {
  return atomic_load_explicit(&ring->acked, memory_order_acquire);
}

int64_t qwp_ring_bytes(const struct qwp_ring *ring) {
  return atomic_load_explicit(&ring->bytes, memory_order_relaxed);
}

/* ---- loop ------------------------------------------------------------------------- */

void qwp_ring_seek(struct qwp_ring *ring, struct qwp_cursor *c, int64_t fsn) {
  assert(fsn > qwp_ring_acked(ring) && fsn <= qwp_ring_published(ring) + 1);
  struct qwp_segment *s = atomic_load_explicit(&ring->head, memory_order_acquire);
  struct qwp_segment *next;
  while (s && (next = atomic_load_explicit(&s->next, memory_order_acquire)) && next->base_fsn <= fsn) s = next;
  *c = (struct qwp_cursor){.segment = s, .offset = QWP_SEGMENT_HEADER_BYTES, .fsn = s ? s->base_fsn : fsn};
  const uint8_t *payload;
  size_t n;
  while (c->fsn < fsn && qwp_ring_look(ring, c, &payload, &n) == QWP_RING_FRAME) qwp_cursor_advance(c, n);
}

enum qwp_ring_look qwp_ring_look(struct qwp_ring *ring, struct qwp_cursor *c, const uint8_t **payload, size_t *n) {
  if (!c->segment) {
    c->segment = atomic_load_explicit(&ring->head, memory_order_acquire);
    c->offset = QWP_SEGMENT_HEADER_BYTES;
    if (!c->segment) return QWP_RING_END;
  }
  switch (qwp_segment_frame(c->segment, c->offset, payload, n)) {
    case QWP_SEGMENT_WHOLE: return QWP_RING_FRAME;
    case QWP_SEGMENT_HALF: return QWP_RING_HALF;
    case QWP_SEGMENT_CORRUPT: return QWP_RING_CORRUPT;
    case QWP_SEGMENT_NONE: break;
  }
  bool sealed = atomic_load_explicit(&c->segment->next, memory_order_acquire) != NULL;
  return sealed ? QWP_RING_SEGMENT_END : QWP_RING_END;
}

void qwp_cursor_advance(struct qwp_cursor *c, size_t n) {
  c->offset += QWP_FRAME_HEADER_BYTES + n;
  c->fsn++;
}

bool qwp_cursor_next_segment(struct qwp_cursor *c) {
  if (!c->segment) return false;
  struct qwp_segment *next = atomic_load_explicit(&c->segment->next, memory_order_acquire);
  if (!next) return false;
  /* A frame may have come in between the look that found the end and the seal. Now that
   * the seal is seen, the offset is final. */
  if (c->offset < atomic_load_explicit(&c->segment->published, memory_order_acquire)) return false;
  c->segment = next;
  c->offset = QWP_SEGMENT_HEADER_BYTES;
  return true;
}

/* Keeps one trimmed segment at hand: a fresh one costs a page fault every 4 KiB. */
static void give_back(struct qwp_ring *ring, struct qwp_segment *s) {
  struct qwp_segment *none = NULL;
  if (atomic_compare_exchange_strong_explicit(&ring->spare, &none, s, memory_order_release, memory_order_relaxed))
    return;
  qwp_segment_del(ring->ops, s);
  atomic_fetch_sub_explicit(&ring->bytes, (int64_t)ring->segment_bytes, memory_order_relaxed);
}

void qwp_ring_trim(struct qwp_ring *ring, struct qwp_cursor *c, int64_t fsn) {
  if (fsn <= qwp_ring_acked(ring) || fsn > qwp_ring_published(ring)) return;
  struct qwp_segment *s = atomic_load_explicit(&ring->head, memory_order_acquire);
  struct qwp_segment *next;
  while ((next = atomic_load_explicit(&s->next, memory_order_acquire)) && next->base_fsn - 1 <= fsn) {
    /* The cursor leaves now that the seal is seen: a moment earlier this may have been the newest segment. */
    if (s == c->segment && !qwp_cursor_next_segment(c)) break;
    atomic_store_explicit(&ring->head, next, memory_order_relaxed);
    give_back(ring, s);
    s = next;
  }
  atomic_store_explicit(&ring->acked, fsn, memory_order_release);
}
