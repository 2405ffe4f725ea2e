/* answers - OKs and errors that have been decided and do not leave yet.
 *
 * Two scripted modes hold them back: a delay (each leaves that much later) and a burst
 * (none leaves until K are there). Order is kept: what waits behind another never
 * leaves before it.
 */
#ifndef MOCK_ANSWERS_H
#define MOCK_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/out.h"

struct mock_answer {
  int64_t due_ns;  /* INT64_MAX = held until released */
  size_t n;        /* bytes of the frame */
  int64_t seq;
  unsigned status; /* QWP_ST_* */
  size_t tables;
};

struct mock_answers { /* a queue: what left stays in front until it is worth moving the rest */
  struct mock_out bytes;
  size_t bytes_gone;
  struct mock_answer *list;
  size_t gone, count, cap;
};

void mock_answers_free(struct mock_answers *q);

/* Writes nothing itself: the caller appends the frame to q->bytes, then names it. false = out of memory. */
bool mock_answers_add(struct mock_answers *q, struct mock_answer a);
/* The oldest, if it is due by now, and its bytes. */
const struct mock_answer *mock_answers_due(const struct mock_answers *q, int64_t now_ns, const uint8_t **p);
int64_t mock_answers_next_ns(const struct mock_answers *q); /* when the oldest is due; INT64_MAX = never */
void mock_answers_pop(struct mock_answers *q);
/* Everything that is held becomes due at that time. */
void mock_answers_release(struct mock_answers *q, int64_t due_ns);
void mock_answers_drop(struct mock_answers *q); /* none of it will ever leave */

#endif
