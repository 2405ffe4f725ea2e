/* repeat - a message that differs from the last one that went the long way in values alone.
 *
 * A sender of small messages sends the same bytes over and over but for the values. Once such a
 * message has gone the long way (decoded, judged, appended, committed), every message of the same
 * length whose other bytes are the same would be judged the same: what the bytes before the values
 * meant they mean again (a dictionary only grows; a plan that no longer holds is noticed). So its
 * values go into the table at once, past block and pending rows:
 *
 *   header  empty delta section  name  row_count  schema  00 │ values │ 00 │ values ...
 *   └─────────────────────── head, equal ──────────────────┘ └ any ┘  =  └ any ┘
 *
 * Only where any eight bytes are a value: LONG columns without nulls, stored as they are, at the
 * levels DIGEST and COUNT, outside of a deferred group. Everything else is no repetition and takes
 * the long way; that both ways end alike is what tests/unit/mock/repeat_test.c holds.
 */
#ifndef MOCK_REPEAT_H
#define MOCK_REPEAT_H

#include <stddef.h>
#include <stdint.h>

#include "core/tables.h"

#define MOCK_REPEAT_HEAD_BYTES 256u /* longer heads are not remembered */

struct mock_plan;

struct mock_repeat { /* all zero = nothing is remembered */
  const struct mock_plan *plan; /* where the values go; NULL = nothing is remembered */
  uint64_t schema;              /* for which the plan was made */
  size_t message_n, head_n, rows;
  size_t stride;                /* from the values of one column to those of the next */
  uint8_t head[MOCK_REPEAT_HEAD_BYTES];
};

/* The message m[0..n) brought this block, which p has just been given. It is remembered, if it is of
 * a form that can be repeated; else what was remembered is forgotten. */
void mock_repeat_learn(struct mock_repeat *r, const struct mock_pending *p, const uint8_t *m, size_t n,
                       const struct mock_block *block);
/* The message turned out to be refused, deferred, or noted for something. */
static inline void mock_repeat_forget(struct mock_repeat *r) { r->plan = NULL; }

/* If m[0..n) repeats what is remembered: makes its rows visible, as mock_tables_commit does, and
 * returns how many. 0 = it does not; nothing was done. */
size_t mock_repeat_commit(const struct mock_repeat *r, struct mock_pending *p, const uint8_t *m, size_t n,
                          void (*each)(void *arg, const char *name, size_t n, int64_t seq_txn), void *arg);

#endif
