/* catchup - the mirror as dictionary frames, for a server that knows nothing yet.
 *
 *   | header 12: flags 0x09, no tables | start varint | count varint | entries |
 *
 * Contiguous ids from 0 [WIRE-DICT-007..009]. The frames carry the defer flag, so the
 * server answers none of them and nobody waits (C-04 of the specification's list). One
 * frame is at most the server's cap and, as one write should hold it, 64 KiB on the wire;
 * an entry too long for that goes alone, up to the cap.
 */
#ifndef QWP_SEND_CATCHUP_H
#define QWP_SEND_CATCHUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "qwp/status.h"
#include "send/inflight.h"
#include "send/mirror.h"
#include "ws/connection.h"

/* Appends the frame that begins with id *next_id to out (which must be empty) and moves
 * *next_id behind its last entry. cap: bytes of a whole message, 0 = the server named none.
 * QWP_OK; QWP_TOO_LARGE: the entry *next_id alone exceeds the cap; QWP_NOMEM. */
enum qwp_status qwp_catchup_frame(const struct qwp_mirror *m, size_t *next_id, int64_t cap, struct qwp_bytes *out);

/* The catch-up of one connection: where it stands, and a frame that did not fit the last
 * write. */
struct qwp_catchup {
  size_t next_id;
  struct qwp_bytes frame; /* built, not appended yet; empty = none */
};

void qwp_catchup_init(struct qwp_catchup *c, const struct qwp_ops *ops);
void qwp_catchup_free(struct qwp_catchup *c);
void qwp_catchup_restart(struct qwp_catchup *c); /* a new connection, or the old one is gone */
bool qwp_catchup_done(const struct qwp_catchup *c, const struct qwp_mirror *m);

/* Fills the empty send buffer of ws with the next frames, as many as one write may hold,
 * and counts them in inflight. QWP_OK: at least one; otherwise the codes of
 * qwp_catchup_frame and qwp_ws_append with the reason in err, and what was appended must be
 * rolled back. */
enum qwp_status qwp_catchup_build(struct qwp_catchup *c, const struct qwp_mirror *m, struct qwp_ws *ws,
                                  struct qwp_inflight *inflight, int64_t cap, struct qwp_error *err);

#endif
