/* message - from the bytes of a server to whole messages and control frames.
 *
 * Bytes in, one item out; knows no socket. Adds to the frame codec what needs the
 * memory of a connection: fragments are joined, control frames may stand between
 * them [WS-004], and what only the sequence makes wrong is refused [WS-007].
 */
#ifndef QWP_WS_MESSAGE_H
#define QWP_WS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "qwp/ops.h"
#include "qwp/status.h"

/* Close codes of our own making (RFC 6455, 7.4.1). */
#define QWP_CLOSE_PROTOCOL 1002u
#define QWP_CLOSE_BAD_TEXT 1007u
#define QWP_CLOSE_TOO_BIG 1009u
#define QWP_CLOSE_NO_CODE 1005u /* never on the wire: a Close without a payload */

struct qwp_messages {
  bool open;             /* a message has begun and its last fragment has not come */
  unsigned opcode;       /* of the open message */
  struct qwp_bytes body; /* its payload so far */
  size_t max_bytes;      /* largest frame (header included), largest message */
};

enum qwp_item_kind {
  QWP_ITEM_NONE,   /* a fragment was taken; nothing to hand over yet */
  QWP_ITEM_MESSAGE,/* opcode TEXT or BINARY, payload, n */
  QWP_ITEM_PING,   /* payload, n */
  QWP_ITEM_PONG,
  QWP_ITEM_CLOSE   /* close_code; payload and n are the reason */
};

struct qwp_item {
  enum qwp_item_kind kind;
  unsigned opcode;
  size_t used;            /* bytes of the input that the frame took */
  const uint8_t *payload; /* into the input, or into `body` for joined fragments: valid until
                           * the input moves and the next call */
  size_t n;
  unsigned close_code;    /* of a Close, QWP_CLOSE_NO_CODE if it had none */
  const char *why;        /* of a violation: what was wrong */
  unsigned answer_code;   /* of a violation: the code of the Close it deserves */
};

void qwp_messages_init(struct qwp_messages *m, const struct qwp_ops *ops, size_t max_bytes);
void qwp_messages_free(struct qwp_messages *m);
/* A new connection begins: an unfinished message is forgotten. */
void qwp_messages_reset(struct qwp_messages *m);

/* Takes the frame at p[0..n). QWP_OK: *item; QWP_AGAIN: the frame is not whole yet;
 * QWP_CONN_PROTOCOL: item->why and item->answer_code; QWP_NOMEM. A frame that cannot
 * fit max_bytes is refused by its header alone. */
QWP_MUST_USE enum qwp_status qwp_messages_next(struct qwp_messages *m, const uint8_t *p, size_t n,
                                               struct qwp_item *item);

/* Whether a peer may put this code into a Close: 1000-1003, 1007-1014, 3000-4999 [WS-007]. */
bool qwp_close_code_valid(unsigned code);

#endif
