/* batch - published frames, one behind the other, into one write.
 *
 * Each frame passes the same checks in the same order before it joins (P121-16): end of
 * what is published or of the segment, header whole, length sane, payload whole, cap,
 * dictionary guard; then it is appended, counted, and the mirror learns its symbols. A
 * check that fails ends the batch *before* that frame. The caller writes what was
 * appended and builds again: a batch that ends empty says why, and only then the reason
 * takes effect. So the outside sees what a loop of one frame a write would have sent.
 *
 * The batch is at most QWP_BATCH_CAP wire bytes, a larger frame goes alone (P121-08,
 * P121-09). The cap is a constant: it does not follow the send buffer's capacity
 * (P121-10) and is no setting (P121-11), as it bounds how long acknowledgements wait.
 */
#ifndef QWP_SEND_BATCH_H
#define QWP_SEND_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "send/inflight.h"
#include "send/mirror.h"
#include "store/ring.h"
#include "ws/connection.h"

#define QWP_BATCH_CAP 65536u /* wire bytes */

enum qwp_batch_end {
  QWP_BATCH_END,         /* everything published is in */
  QWP_BATCH_FULL,        /* the next frame does not fit any more */
  QWP_BATCH_SEGMENT_END, /* the segment is sealed: step into the next one first (P121-18) */
  QWP_BATCH_HALF,        /* the next frame is not whole yet (P121-17) */
  QWP_BATCH_CORRUPT,     /* no frame can be where the next one should be */
  QWP_BATCH_TOO_LARGE,   /* the next frame exceeds this server's cap */
  QWP_BATCH_GAP,         /* the next frame's dictionary does not join what the server was told (P121-19) */
  QWP_BATCH_DICT_FULL,   /* the mirror is at its ceiling (P121-34) */
  QWP_BATCH_FAILED       /* *err: no memory, or no mask key; what was appended must be rolled back (P121-29) */
};

/* What a batch is built from and what it moves. All borrowed. */
struct qwp_batch_builder {
  struct qwp_ring *ring;
  struct qwp_cursor *cursor;
  struct qwp_ws *ws;
  struct qwp_inflight *inflight;
  struct qwp_mirror *mirror;
  int64_t peer_cap;      /* bytes of a message, 0 = none */
  struct qwp_error *err; /* written where the end is QWP_BATCH_FAILED */
};

struct qwp_batch_result {
  enum qwp_batch_end end;
  size_t frames;
  size_t wire_bytes;
};

/* Begins a batch in `inflight` and appends to the empty send buffer of `ws`. */
struct qwp_batch_result qwp_batch_build(const struct qwp_batch_builder *b);

#endif
