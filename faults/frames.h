/* frames - walks the WebSocket headers of what the client sends [RFC 6455, 5.2].
 *
 * Only to know where frames begin and which are control frames: payloads are skipped,
 * nothing is judged. Any bytes are survived; garbage makes garbage numbers.
 */
#ifndef FAULT_FRAMES_H
#define FAULT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames {
  int64_t data_frames;   /* data frames begun so far */
  uint64_t payload_left; /* of the frame we are in */
  uint8_t header[14];
  uint8_t have;          /* bytes of a header that is not complete */
  bool control;          /* the frame we are in */
};

struct frames_seen { /* in one run of bytes */
  int64_t first_data;    /* number of the first data frame that begins here, 0 = none */
  int64_t target_at;     /* where the wanted one begins, -1 = not here */
  bool data;             /* a byte of a data frame */
  bool control;          /* a byte of a control frame */
};

/* Walks n bytes on. target = a data frame looked for, 0 = none. */
void frames_walk(struct frames *f, const uint8_t *p, size_t n, int64_t target, struct frames_seen *seen);

#endif
