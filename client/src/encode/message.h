/* message - one QWP message from the pending rows: header, dictionary delta, table blocks.
 *
 *   | header 12 | start varint | count varint | count x (len varint, text) | table blocks |
 */
#ifndef QWP_ENCODE_MESSAGE_H
#define QWP_ENCODE_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "qwp/status.h"
#include "rows/batch.h"
#include "rows/symbols.h"

/* How nulls of a type are written. */
enum qwp_null_form { QWP_NULL_BITMAP, QWP_NULL_SENTINEL };

struct qwp_encoding {
  uint8_t flags;       /* QWP_FLAG_DELTA always; QWP_FLAG_DEFER when asked. With QWP_FLAG_GORILLA
                          timestamp columns carry the encoding byte QWP_TS_RAW. */
  size_t dict_start;   /* first dictionary id of the delta: symbols_sent, or 0 for the dense form */
  size_t dict_end;     /* one past the last id: symbols_count, or highest referenced + 1 */
  enum qwp_null_form nulls[32]; /* by QWP_TYPE_*; BOOLEAN is always a sentinel */
};

/* The encoding of this client: flags 0x08, delta from symbols_sent to symbols_count,
 * bitmap nulls but for BOOLEAN (and BYTE, SHORT, CHAR) [WIRE-NULL-012]. */
void qwp_encoding_default(struct qwp_encoding *e, const struct qwp_symbols *symbols);
/* The dense form: from 0 to the highest id that this batch refers to. */
void qwp_encoding_dense(struct qwp_encoding *e, const struct qwp_batch *batch);

/* Exact size of the message; nothing is written. */
size_t qwp_message_size(const struct qwp_batch *batch, const struct qwp_symbols *symbols, const struct qwp_encoding *e);

/* Appends the message to out. QWP_OK, QWP_TOO_LARGE (payload over QWP_MAX_PAYLOAD_BYTES or too
 * many tables), QWP_NOMEM; out is unchanged unless OK. */
enum qwp_status qwp_message_encode(const struct qwp_batch *batch, const struct qwp_symbols *symbols,
                                   const struct qwp_encoding *e, struct qwp_bytes *out, struct qwp_error *err);

/* A frame as the send loop sees it: just the dictionary section. QWP_OK, or
 * QWP_CONN_PROTOCOL if the bytes are no message (cannot happen to frames of ours). */
struct qwp_delta_view {
  uint64_t start, count;
  const uint8_t *entries; /* count x (len varint, text) */
  size_t entries_bytes;
  uint8_t flags;
};
enum qwp_status qwp_message_delta(const uint8_t *message, size_t n, struct qwp_delta_view *out);

#endif
