/* ring - the store of frames between the producer and the send loop.
 *
 * Frames are numbered by FSN from 0, for ever. They stand in segments, in order:
 *
 *   segment:  | header 24 | frame | frame | ... | free |
 *   frame:    | crc32c u32 | length i32 | payload |        (crc is 0 in memory mode)
 *
 * the layout of a segment file, so that the same walk serves a store on disk.
 * A frame is published by one release store of the segment's `published` offset,
 * after its bytes are in place; the loop reads that offset with acquire and never
 * looks beyond it. A full segment is sealed by linking its successor.
 *
 * Threads: one producer calls publish; one loop thread calls the cursor functions
 * and trim. The FSN marks may be read by any thread.
 */
#ifndef QWP_STORE_RING_H
#define QWP_STORE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qwp/ops.h"
#include "qwp/status.h"

#define QWP_SEGMENT_HEADER_BYTES 24
#define QWP_FRAME_HEADER_BYTES 8

struct qwp_segment;
struct qwp_ring;

/* segment_bytes: size of one segment, its header counted; total_bytes: of all of them
 * (>= 2 segments).
 * Takes no memory for segments before the first publish. NULL = out of memory. */
struct qwp_ring *qwp_ring_new(const struct qwp_ops *ops, size_t segment_bytes, size_t total_bytes);
void qwp_ring_del(struct qwp_ring *ring);

/* Copies one frame in. QWP_OK and *fsn; QWP_BACKPRESSURE: no room before the loop
 * trims; QWP_TOO_LARGE: it can never fit a segment; QWP_NOMEM. Nothing changed
 * unless OK. n > 0. */
enum qwp_status qwp_ring_publish(struct qwp_ring *ring, const uint8_t *payload, size_t n, int64_t *fsn);

size_t qwp_ring_max_frame(const struct qwp_ring *ring); /* largest payload a segment takes */
int64_t qwp_ring_published(const struct qwp_ring *ring); /* highest FSN, -1 = none */
int64_t qwp_ring_acked(const struct qwp_ring *ring);
int64_t qwp_ring_bytes(const struct qwp_ring *ring);     /* of all segments held */

/* A place in the log: the frame `fsn` is the next one read. */
struct qwp_cursor {
  struct qwp_segment *segment; /* NULL before the first publish */
  size_t offset;
  int64_t fsn;
};

enum qwp_ring_look {
  QWP_RING_FRAME,       /* *payload and *n are set; valid until trim passes the frame */
  QWP_RING_END,         /* nothing more is published */
  QWP_RING_SEGMENT_END, /* the segment is sealed and read to its end: call qwp_cursor_next_segment */
  QWP_RING_HALF,        /* a header is visible, its payload not yet within `published` (P121-17) */
  QWP_RING_CORRUPT      /* a length that cannot be */
};

/* Puts *c on the frame `fsn`, acked < fsn <= published + 1. */
void qwp_ring_seek(struct qwp_ring *ring, struct qwp_cursor *c, int64_t fsn);

/* Looks at the frame under the cursor; does not move it. */
enum qwp_ring_look qwp_ring_look(struct qwp_ring *ring, struct qwp_cursor *c, const uint8_t **payload, size_t *n);

/* Past the frame just looked at. */
void qwp_cursor_advance(struct qwp_cursor *c, size_t n);

/* Into the next segment, after the sealed one's published offset was read again
 * and found at the cursor (P121-18). false: there was one more frame, look again. */
bool qwp_cursor_next_segment(struct qwp_cursor *c);

/* Everything up to and including fsn is acknowledged: frees whole segments that lie
 * below it (one of them is kept for the next publish and stays in qwp_ring_bytes).
 * Values at or below the mark, or above published, change nothing. *c is the loop's
 * cursor: at the end of a segment that goes it is moved into the next one, and a
 * segment it has not read to its end stays. */
void qwp_ring_trim(struct qwp_ring *ring, struct qwp_cursor *c, int64_t fsn);

#endif
