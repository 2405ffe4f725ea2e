/* stream - one direction of a connection: the bytes, and what ends them.
 *
 *        taken          arrived                written
 *   ───────┼───────────────┼──────────────────────┼───▶ position in the stream
 *          │ receive buffer │ send buffer, on its way │
 *          │ <= recv_cap    │ <= send_cap             │ then FIN, then RST
 *
 * One ring holds everything between `taken` and `written`; it starts empty and grows
 * as bytes come, so that a short scenario never pays for 256 KiB. Bytes become due
 * delay after they were written and arrive when the receive buffer has room. A byte
 * leaves the send buffer when it arrives (the acknowledgement's way back is not modelled).
 */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream_segment { /* bytes up to `end` may arrive from due_ns on */
  uint64_t end;
  int64_t due_ns;
};

struct stream {
  uint8_t *ring;
  size_t ring_bytes; /* a power of two, or 0 */
  uint64_t taken, arrived, written;
  size_t send_cap, recv_cap;
  struct stream_segment *segments; /* oldest first, starting at first_segment, in a ring */
  size_t first_segment, segment_count, segment_cap;
  bool fin, fin_arrived;
  int64_t fin_due_ns;
  bool rst, rst_arrived;
  int64_t rst_due_ns;
};

enum stream_event { STREAM_BYTES, STREAM_FIN, STREAM_RST };

void stream_init(struct stream *st, size_t send_cap, size_t recv_cap); /* caps > 0 */
void stream_free(struct stream *st);

size_t stream_room(const struct stream *st);   /* of the send buffer */
size_t stream_unread(const struct stream *st); /* in the receive buffer */

/* Takes up to n bytes into the send buffer. Bytes taken, 0 = full, -1 = out of memory. */
long stream_write(struct stream *st, const uint8_t *p, size_t n, int64_t due_ns);
/* FIN behind the last byte written. */
void stream_finish(struct stream *st, int64_t due_ns);
/* RST. What the receive window has let onto the wire still arrives before it; what
 * waited in the send buffer for room is gone. */
void stream_abort(struct stream *st, int64_t due_ns);
/* Drops everything that has not arrived, and the FIN and RST behind it. */
void stream_purge(struct stream *st);

/* When the next bytes, FIN or RST arrive; QWP_NEVER = nothing will, as things are. */
int64_t stream_due(const struct stream *st);
/* Lets the next thing arrive: at most max bytes of what is due at now_ns. Call only when
 * stream_due() <= now_ns. */
enum stream_event stream_deliver(struct stream *st, size_t max, int64_t now_ns);

/* Moves up to n unread bytes to buf. */
size_t stream_take(struct stream *st, uint8_t *buf, size_t n);
/* Unread bytes that lie in one piece, without taking them. *n = how many. */
const uint8_t *stream_peek(const struct stream *st, size_t *n);
void stream_skip(struct stream *st, size_t n);

#endif
