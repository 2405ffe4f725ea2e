/* pieces - the answer to an upgrade, leaving in pieces (CASE-50, CASE-51).
 *
 * Pure bookkeeping: how much of what waits to be written may leave now. It speaks of the
 * first bytes that a connection writes, the answer and what stands behind it in the same
 * write; when they have left it lets everything pass.
 */
#ifndef MOCK_PIECES_H
#define MOCK_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/script.h"

struct mock_pieces {
  bool armed;       /* the first write is still to come */
  bool once;        /* one cut: behind the pause all the rest leaves */
  size_t size;      /* of a piece */
  size_t left;      /* bytes that leave in pieces; 0 = whatever comes may leave */
  int64_t pause_ns;
  int64_t at_ns;    /* nothing leaves before; INT64_MAX = no pause is on */
};

void mock_pieces_init(struct mock_pieces *p, const struct mock_entry *e); /* e NULL = all at once */

/* How many of the n bytes that wait may leave in one write now; 0 = not before at_ns. */
size_t mock_pieces_allow(struct mock_pieces *p, size_t n, int64_t now_ns);
/* So many were taken, of the last number allowed. */
void mock_pieces_took(struct mock_pieces *p, size_t n, int64_t now_ns);

#endif
