/* The store: publish, walk, trim, back-pressure; then producer and loop on two threads. */
#include "store/ring.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "fail_mem.h"
#include "store/segment.h"

#define SEGMENT 536 /* 24 + 32 frames of 8 + 8 bytes */

static struct fail_mem mem;
static struct qwp_ops ops;

static struct qwp_ring *ring_of(size_t segments) {
  ops = fail_mem_ops(&mem);
  struct qwp_ring *ring = qwp_ring_new(&ops, SEGMENT, segments * SEGMENT);
  assert_non_null(ring);
  return ring;
}

static enum qwp_status publish(struct qwp_ring *ring, int64_t id) {
  int64_t fsn = -1;
  enum qwp_status st = qwp_ring_publish(ring, (const uint8_t *)&id, sizeof id, &fsn);
  if (st == QWP_OK) assert_int_equal(fsn, id);
  return st;
}

/* Reads one frame of eight bytes, across segments. */
static bool next(struct qwp_ring *ring, struct qwp_cursor *c, int64_t *id) {
  const uint8_t *p;
  size_t n;
  for (;;) {
    enum qwp_ring_look look = qwp_ring_look(ring, c, &p, &n);
    if (look == QWP_RING_SEGMENT_END) {
      qwp_cursor_next_segment(c);
      continue;
    }
    if (look != QWP_RING_FRAME) return false;
    assert_int_equal(n, sizeof *id);
    memcpy(id, p, sizeof *id);
    qwp_cursor_advance(c, n);
    return true;
  }
}

/* With nobody reading. */
static void trim(struct qwp_ring *ring, int64_t fsn) {
  struct qwp_cursor nobody = {0};
  qwp_ring_trim(ring, &nobody, fsn);
}

static void del(struct qwp_ring *ring) {
  qwp_ring_del(ring);
  assert_int_equal(mem.live, 0);
}

static void frames_come_back_in_order_across_segments(void **state) {
  (void)state;
  struct qwp_ring *ring = ring_of(10);
  assert_int_equal(qwp_ring_published(ring), -1);
  assert_int_equal(qwp_ring_bytes(ring), 0); /* no memory before the first publish */
  struct qwp_cursor c;
  qwp_ring_seek(ring, &c, 0);
  int64_t id;
  assert_false(next(ring, &c, &id));
  for (int64_t i = 0; i < 100; i++) assert_int_equal(publish(ring, i), QWP_OK);
  assert_int_equal(qwp_ring_bytes(ring), 4 * SEGMENT);
  for (int64_t i = 0; i < 100; i++) {
    assert_true(next(ring, &c, &id));
    assert_int_equal(id, i);
    assert_int_equal(c.fsn, i + 1);
  }
  assert_false(next(ring, &c, &id));
  for (int64_t i = 0; i <= 100; i++) {
    qwp_ring_seek(ring, &c, i);
    assert_int_equal(c.fsn, i);
    assert_int_equal(next(ring, &c, &id), i < 100);
    if (i < 100) assert_int_equal(id, i);
  }
  del(ring);
}

static void trim_frees_whole_segments_and_keeps_one_at_hand(void **state) {
  (void)state;
  struct qwp_ring *ring = ring_of(10);
  for (int64_t i = 0; i < 100; i++) publish(ring, i);
  trim(ring, 30);
  assert_int_equal(qwp_ring_bytes(ring), 4 * SEGMENT);
  trim(ring, 31); /* the first segment: becomes the spare */
  assert_int_equal(qwp_ring_bytes(ring), 4 * SEGMENT);
  assert_int_equal(qwp_ring_acked(ring), 31);
  trim(ring, 20);
  trim(ring, 100);
  assert_int_equal(qwp_ring_acked(ring), 31); /* behind, and beyond: nothing */
  trim(ring, 99);
  assert_int_equal(qwp_ring_bytes(ring), 2 * SEGMENT); /* the active one and the spare */
  uint64_t calls = mem.calls;
  for (int64_t i = 100; i < 150; i++) publish(ring, i);
  assert_int_equal(mem.calls, calls); /* the spare was used */
  struct qwp_cursor c;
  int64_t id;
  qwp_ring_seek(ring, &c, 100);
  for (int64_t i = 100; i < 150; i++) {
    assert_true(next(ring, &c, &id));
    assert_int_equal(id, i);
  }
  del(ring);
}

static void a_full_store_pushes_back_and_loses_nothing(void **state) {
  (void)state;
  struct qwp_ring *ring = ring_of(2);
  int64_t i = 0;
  while (publish(ring, i) == QWP_OK) i++;
  assert_int_equal(i, 64);
  assert_int_equal(publish(ring, i), QWP_BACKPRESSURE);
  assert_int_equal(qwp_ring_published(ring), 63);
  trim(ring, 30);
  assert_int_equal(publish(ring, i), QWP_BACKPRESSURE); /* the segment is not free yet */
  trim(ring, 31);
  assert_int_equal(publish(ring, i), QWP_OK);
  struct qwp_cursor c;
  int64_t id;
  qwp_ring_seek(ring, &c, 32);
  for (int64_t k = 32; k <= 64; k++) {
    assert_true(next(ring, &c, &id));
    assert_int_equal(id, k);
  }
  del(ring);
}

static void sizes_have_an_exact_edge(void **state) {
  (void)state;
  struct qwp_ring *ring = ring_of(4);
  uint8_t big[SEGMENT] = {0};
  int64_t fsn;
  assert_int_equal(qwp_ring_max_frame(ring), SEGMENT - 32);
  assert_int_equal(qwp_ring_publish(ring, big, SEGMENT - 31, &fsn), QWP_TOO_LARGE);
  assert_int_equal(qwp_ring_bytes(ring), 0);
  assert_int_equal(qwp_ring_publish(ring, big, SEGMENT - 32, &fsn), QWP_OK);
  assert_int_equal(qwp_ring_publish(ring, big, 1, &fsn), QWP_OK);
  assert_int_equal(qwp_ring_bytes(ring), 2 * SEGMENT);
  del(ring);
  assert_int_equal(qwp_segment_max_frame(32), 0);
  assert_int_equal(qwp_segment_max_frame(33), 1);
}

static void no_memory_changes_nothing(void **state) {
  (void)state;
  struct qwp_ring *ring = ring_of(4);
  for (int64_t i = 0; i < 33; i++) {
    if (i % 32 == 0) {
      mem.fail_at = mem.calls + 1;
      assert_int_equal(publish(ring, i), QWP_NOMEM);
      assert_int_equal(qwp_ring_published(ring), i - 1);
      assert_int_equal(qwp_ring_bytes(ring), i / 32 * SEGMENT);
    }
    assert_int_equal(publish(ring, i), QWP_OK);
  }
  del(ring);
  ops = fail_mem_ops(&mem);
  mem.fail_at = 1;
  assert_null(qwp_ring_new(&ops, SEGMENT, 2 * SEGMENT));
}

/* P121-17, by hand: every published offset inside the frame hides it. */
static void a_frame_is_seen_whole_or_not_at_all(void **state) {
  (void)state;
  struct qwp_ring *ring = ring_of(2);
  publish(ring, 0);
  publish(ring, 1);
  struct qwp_cursor c;
  qwp_ring_seek(ring, &c, 1);
  const uint8_t *p;
  size_t n;
  for (size_t visible = 1; visible < 16; visible++) {
    atomic_store(&c.segment->published, c.offset + visible);
    assert_int_equal(qwp_ring_look(ring, &c, &p, &n), QWP_RING_HALF);
  }
  atomic_store(&c.segment->published, c.offset);
  assert_int_equal(qwp_ring_look(ring, &c, &p, &n), QWP_RING_END);
  atomic_store(&c.segment->published, c.offset + 16);
  assert_int_equal(qwp_ring_look(ring, &c, &p, &n), QWP_RING_FRAME);
  const uint32_t bad[] = {0, 0x80000000u, 0xffffffffu, SEGMENT - 24 - 16 - 8 + 1};
  for (size_t i = 0; i < 4; i++) {
    qwp_set_u32(c.segment->bytes + c.offset + 4, bad[i]);
    assert_int_equal(qwp_ring_look(ring, &c, &p, &n), QWP_RING_CORRUPT);
  }
  del(ring);
}

/* P121-18, the two reads taken apart: the loop has found the end, then the last frame and
 * the seal come, then the loop acts on what it found. */
static void a_frame_between_the_end_and_the_seal_is_not_skipped(void **state) {
  (void)state;
  struct qwp_ring *ring = ring_of(4);
  for (int64_t i = 0; i < 31; i++) publish(ring, i);
  struct qwp_cursor c;
  int64_t id;
  qwp_ring_seek(ring, &c, 31);
  const uint8_t *p;
  size_t n;
  assert_int_equal(qwp_ring_look(ring, &c, &p, &n), QWP_RING_END);
  assert_false(qwp_cursor_next_segment(&c)); /* not sealed */
  publish(ring, 31); /* fills the segment */
  publish(ring, 32); /* seals it */
  assert_false(qwp_cursor_next_segment(&c));
  assert_true(next(ring, &c, &id));
  assert_int_equal(id, 31);
  assert_int_equal(qwp_ring_look(ring, &c, &p, &n), QWP_RING_SEGMENT_END);
  assert_true(qwp_cursor_next_segment(&c));
  assert_true(next(ring, &c, &id));
  assert_int_equal(id, 32);
  del(ring);
}

/* The loop has read and sent the newest segment to its end, the seal comes, then the acknowledgement: the segment goes,
 * and the cursor must not stay in it. */
static void a_seal_between_the_end_and_the_trim_takes_the_cursor_along(void **state) {
  (void)state;
  struct qwp_ring *ring = ring_of(2);
  for (int64_t i = 0; i < 32; i++) publish(ring, i);
  struct qwp_cursor c;
  int64_t id;
  qwp_ring_seek(ring, &c, 31);
  assert_true(next(ring, &c, &id));
  assert_false(next(ring, &c, &id)); /* at the end of the newest */
  assert_int_equal(publish(ring, 32), QWP_OK);
  qwp_ring_trim(ring, &c, 31);
  for (int64_t i = 33; i < 96; i++) assert_int_equal(publish(ring, i), QWP_OK);
  for (int64_t i = 32; i < 96; i++) { /* the first segment is filled anew meanwhile */
    assert_true(next(ring, &c, &id));
    assert_int_equal(id, i);
  }
  del(ring);
}

static void a_segment_not_read_to_its_end_stays(void **state) {
  (void)state;
  struct qwp_ring *ring = ring_of(2);
  for (int64_t i = 0; i < 33; i++) publish(ring, i);
  struct qwp_cursor c;
  int64_t id;
  qwp_ring_seek(ring, &c, 31);
  qwp_ring_trim(ring, &c, 31); /* ahead of the reader: a caller's mistake that must not become a wild pointer */
  assert_true(next(ring, &c, &id));
  assert_int_equal(id, 31);
  qwp_ring_trim(ring, &c, 32);
  assert_true(next(ring, &c, &id));
  assert_int_equal(id, 32);
  del(ring);
}

/* P121-18, on two threads: 50 000 frames, 32 a segment, trimmed while they are written. */
#define FRAMES 50000

static void *produce(void *arg) {
  struct qwp_ring *ring = arg;
  for (int64_t i = 0; i < FRAMES;) {
    int64_t fsn;
    if (qwp_ring_publish(ring, (const uint8_t *)&i, sizeof i, &fsn) == QWP_OK)
      i++;
    else
      sched_yield();
  }
  return NULL;
}

static void *plain_alloc(void *ctx, size_t n) {
  (void)ctx;
  return malloc(n);
}
static void *plain_realloc(void *ctx, void *p, size_t n) {
  (void)ctx;
  return realloc(p, n);
}
static void plain_free(void *ctx, void *p) {
  (void)ctx;
  free(p);
}

static void two_threads_lose_nothing(void **state) {
  (void)state;
  static const struct qwp_mem_ops plain = {plain_alloc, plain_realloc, plain_free};
  struct qwp_ops own = {.mem = &plain};
  struct qwp_ring *ring = qwp_ring_new(&own, SEGMENT, 4 * SEGMENT);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, produce, ring), 0);
  struct qwp_cursor c;
  qwp_ring_seek(ring, &c, 0);
  for (int64_t expect = 0; expect < FRAMES;) {
    int64_t id;
    if (!next(ring, &c, &id)) {
      sched_yield();
      continue;
    }
    assert_int_equal(id, expect);
    qwp_ring_trim(ring, &c, expect);
    assert_int_equal(qwp_ring_acked(ring), expect);
    expect++;
  }
  pthread_join(thread, NULL);
  qwp_ring_del(ring);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_come_back_in_order_across_segments),
      cmocka_unit_test(trim_frees_whole_segments_and_keeps_one_at_hand),
      cmocka_unit_test(a_full_store_pushes_back_and_loses_nothing),
      cmocka_unit_test(sizes_have_an_exact_edge),
      cmocka_unit_test(no_memory_changes_nothing),
      cmocka_unit_test(a_frame_is_seen_whole_or_not_at_all),
      cmocka_unit_test(a_frame_between_the_end_and_the_seal_is_not_skipped),
      cmocka_unit_test(a_seal_between_the_end_and_the_trim_takes_the_cursor_along),
      cmocka_unit_test(a_segment_not_read_to_its_end_stays),
      cmocka_unit_test(two_threads_lose_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
