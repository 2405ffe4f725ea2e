#include "sim/stream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "qwp/ops.h"

#define FIRST_RING_BYTES 4096u
#define FIRST_SEGMENTS 8u

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

void stream_init(struct stream *st, size_t send_cap, size_t recv_cap) {
  *st = (struct stream){.send_cap = send_cap, .recv_cap = recv_cap};
}

void stream_free(struct stream *st) {
  free(st->ring);
  free(st->segments);
}

size_t stream_room(const struct stream *st) { return st->send_cap - (size_t)(st->written - st->arrived); }

size_t stream_unread(const struct stream *st) { return (size_t)(st->arrived - st->taken); }

/* ---- the ring ----------------------------------------------------------------- */

static size_t ring_at(const struct stream *st, uint64_t position) {
  return (size_t)(position & (st->ring_bytes - 1));
}

static void ring_copy_in(struct stream *st, uint64_t position, const uint8_t *p, size_t n) {
  size_t at = ring_at(st, position);
  size_t head = least(n, st->ring_bytes - at);
  memcpy(st->ring + at, p, head);
  if (n > head) memcpy(st->ring, p + head, n - head);
}

static void ring_copy_out(const struct stream *st, uint64_t position, uint8_t *p, size_t n) {
  size_t at = ring_at(st, position);
  size_t head = least(n, st->ring_bytes - at);
  memcpy(p, st->ring + at, head);
  if (n > head) memcpy(p + head, st->ring, n - head);
}

static bool ring_reserve(struct stream *st, size_t need) {
  if (need <= st->ring_bytes) return true;
  size_t bytes = st->ring_bytes ? st->ring_bytes : FIRST_RING_BYTES;
  while (bytes < need) bytes *= 2; /* need <= both caps together: no overflow */
  uint8_t *ring = malloc(bytes);
  if (!ring) return false;
  struct stream grown = *st;
  grown.ring = ring;
  grown.ring_bytes = bytes;
  for (uint64_t at = st->taken; at < st->written;) { /* piece by piece, as the old ring wraps */
    size_t from = ring_at(st, at);
    size_t piece = least((size_t)(st->written - at), st->ring_bytes - from);
    ring_copy_in(&grown, at, st->ring + from, piece);
    at += piece;
  }
  free(st->ring);
  *st = grown;
  return true;
}

/* ---- segments ------------------------------------------------------------------ */

static struct stream_segment *segment_at(const struct stream *st, size_t i) {
  return &st->segments[(st->first_segment + i) & (st->segment_cap - 1)];
}

static bool segment_push(struct stream *st, uint64_t end, int64_t due_ns) {
  if (st->segment_count > 0) {
    struct stream_segment *last = segment_at(st, st->segment_count - 1);
    if (last->due_ns == due_ns) {
      last->end = end;
      return true;
    }
  }
  if (st->segment_count == st->segment_cap) {
    size_t cap = st->segment_cap ? st->segment_cap * 2 : FIRST_SEGMENTS;
    struct stream_segment *grown = malloc(cap * sizeof *grown);
    if (!grown) return false;
    for (size_t i = 0; i < st->segment_count; i++) grown[i] = *segment_at(st, i);
    free(st->segments);
    st->segments = grown;
    st->segment_cap = cap;
    st->first_segment = 0;
  }
  st->segment_count++;
  *segment_at(st, st->segment_count - 1) = (struct stream_segment){.end = end, .due_ns = due_ns};
  return true;
}

static void segments_trim(struct stream *st) {
  while (st->segment_count > 0 && segment_at(st, 0)->end <= st->arrived) {
    st->first_segment = (st->first_segment + 1) & (st->segment_cap - 1);
    st->segment_count--;
  }
}

/* ---- the sender's end ------------------------------------------------------------ */

long stream_write(struct stream *st, const uint8_t *p, size_t n, int64_t due_ns) {
  n = least(n, stream_room(st));
  if (n == 0) return 0;
  if (!ring_reserve(st, (size_t)(st->written - st->taken) + n)) return -1;
  if (!segment_push(st, st->written + n, due_ns)) return -1;
  ring_copy_in(st, st->written, p, n);
  st->written += n;
  return (long)n;
}

void stream_finish(struct stream *st, int64_t due_ns) {
  if (st->fin || st->rst) return;
  st->fin = true;
  st->fin_due_ns = due_ns;
}

void stream_abort(struct stream *st, int64_t due_ns) {
  if (st->rst) return;
  uint64_t window_end = st->taken + st->recv_cap;
  if (st->written > window_end) { /* the rest never left the sender, nor did a FIN behind it */
    st->written = window_end;
    if (!st->fin_arrived) st->fin = false;
  }
  st->rst = true;
  st->rst_due_ns = due_ns;
}

void stream_purge(struct stream *st) {
  st->written = st->arrived;
  st->segment_count = 0;
  if (!st->fin_arrived) st->fin = false;
  if (!st->rst_arrived) st->rst = false;
}

/* ---- the way ---------------------------------------------------------------------- */

int64_t stream_due(const struct stream *st) {
  if (st->arrived < st->written) {
    return stream_unread(st) < st->recv_cap ? segment_at(st, 0)->due_ns : QWP_NEVER;
  }
  if (st->fin && !st->fin_arrived) return st->fin_due_ns;
  if (st->rst && !st->rst_arrived) return st->rst_due_ns;
  return QWP_NEVER;
}

enum stream_event stream_deliver(struct stream *st, size_t max, int64_t now_ns) {
  if (st->arrived == st->written) {
    if (st->fin && !st->fin_arrived) {
      st->fin_arrived = true;
      return STREAM_FIN;
    }
    st->rst_arrived = true;
    return STREAM_RST;
  }
  uint64_t end = st->arrived;
  for (size_t i = 0; i < st->segment_count && segment_at(st, i)->due_ns <= now_ns; i++) end = segment_at(st, i)->end;
  if (end > st->written) end = st->written; /* an abort cut the last segment */
  assert(end > st->arrived);
  size_t n = least((size_t)(end - st->arrived), st->recv_cap - stream_unread(st));
  st->arrived += least(n, max);
  segments_trim(st);
  if (st->arrived == st->written) st->segment_count = 0;
  return STREAM_BYTES;
}

/* ---- the receiver's end ------------------------------------------------------------- */

size_t stream_take(struct stream *st, uint8_t *buf, size_t n) {
  n = least(n, stream_unread(st));
  if (n == 0) return 0;
  ring_copy_out(st, st->taken, buf, n);
  st->taken += n;
  return n;
}

const uint8_t *stream_peek(const struct stream *st, size_t *n) {
  size_t unread = stream_unread(st);
  if (unread == 0) {
    *n = 0;
    return NULL;
  }
  size_t at = ring_at(st, st->taken);
  *n = least(unread, st->ring_bytes - at);
  return st->ring + at;
}

void stream_skip(struct stream *st, size_t n) {
  assert(n <= stream_unread(st));
  st->taken += n;
}
