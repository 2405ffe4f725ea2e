/* segment - one block of frames in a row, and the offset up to which they are published.
 *
 *   | header 24 | crc32c u32 | length i32 | payload | crc32c u32 | length i32 | ... | free |
 *                 `---------- one frame ---------'
 *
 * Offsets count from the start of the block, header included, as in a segment file. In
 * memory mode header and crc stay zero: nobody reads them, and the walk is the same.
 *
 * The producer alone writes; the loop alone reads and frees. They meet in two atomics:
 * `published` (release store after the bytes, acquire load before them) and `next`,
 * which seals the segment: it is set once, after the last frame here was published.
 */
#ifndef QWP_STORE_SEGMENT_H
#define QWP_STORE_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qwp/ops.h"

struct qwp_segment {
  _Atomic(size_t) published;           /* offset behind the last published frame */
  _Atomic(struct qwp_segment *) next;  /* successor; not NULL = sealed */
  size_t size;                         /* of bytes[] */
  int64_t base_fsn;                    /* FSN of the first frame */
  uint8_t bytes[];
};

/* An empty segment of `size` bytes whose first frame will be base_fsn. NULL = out of memory. */
struct qwp_segment *qwp_segment_new(const struct qwp_ops *ops, size_t size, int64_t base_fsn);
void qwp_segment_del(const struct qwp_ops *ops, struct qwp_segment *s);

/* Makes a segment empty again; nobody else may hold it. */
void qwp_segment_reset(struct qwp_segment *s, int64_t base_fsn);

/* Payload bytes that the largest frame of a segment of `size` may have; 0 if none fits. */
size_t qwp_segment_max_frame(size_t size);

/* Producer: whether a frame of n payload bytes fits into what is free. */
bool qwp_segment_fits(const struct qwp_segment *s, size_t n);
/* Producer: appends a frame that fits and publishes it. */
void qwp_segment_append(struct qwp_segment *s, const uint8_t *payload, size_t n);

/* Loop: what stands at `offset`. */
enum qwp_segment_frame { QWP_SEGMENT_NONE, QWP_SEGMENT_WHOLE, QWP_SEGMENT_HALF, QWP_SEGMENT_CORRUPT };
enum qwp_segment_frame qwp_segment_frame(const struct qwp_segment *s, size_t offset, const uint8_t **payload,
                                         size_t *n);

#endif
