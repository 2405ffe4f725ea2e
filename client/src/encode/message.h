/* message - one QWP message from the pending rows: header, dictionary delta, table blocks.
 *
 *   | header 12 | start varint | count varint | count x (len varint, text) | table blocks |
 *
 * payload_length counts what follows the header and is written last. Version 1, little-endian, nothing
 * after the last block [WIRE-HDR-001, WIRE-HDR-005, WIRE-HDR-007].
 */
#ifndef QWP_ENCODE_MESSAGE_H
#define QWP_ENCODE_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "qwp/status.h"
#include "rows/batch.h"
#include "rows/symbols.h"
#include "rows/type.h"

struct qwp_encoding {
  uint8_t flags;       /* QWP_FLAG_DELTA always [WIRE-FLAG-003]; QWP_FLAG_DEFER when asked. With
                          QWP_FLAG_GORILLA timestamp columns carry the encoding byte QWP_TS_RAW. */
  size_t dict_start;   /* first dictionary id of the delta: symbols_sent, or 0 for the dense form */
  size_t dict_end;     /* one past the last id */
  enum qwp_null_form nulls[QWP_TYPE_CODES]; /* by QWP_TYPE_*; types without a sentinel take the bitmap */
};

/* The encoding of this client: flags 0x08, delta from symbols_sent to the highest id that this batch refers
 * to, bitmap nulls but for BOOLEAN (and BYTE, SHORT, CHAR) [WIRE-NULL-012]. */
void qwp_encoding_default(struct qwp_encoding *e, const struct qwp_batch *batch, const struct qwp_symbols *symbols);
/* The dense form: from 0 to the highest id that this batch refers to. */
void qwp_encoding_dense(struct qwp_encoding *e, const struct qwp_batch *batch);

/* Exact size of a message with these dictionary entries and so many bytes of table blocks. */
size_t qwp_message_bytes(const struct qwp_symbols *symbols, size_t dict_start, size_t dict_end, size_t block_bytes);

/* Exact size of the message; nothing is written. Rows, columns and values of an open row are no part of it,
 * here and below. */
size_t qwp_message_size(const struct qwp_batch *batch, const struct qwp_symbols *symbols, const struct qwp_encoding *e);

/* Appends the message to out. A batch without rows makes a message without tables. QWP_OK; QWP_TOO_LARGE (the
 * message, header included, over QWP_MAX_PAYLOAD_BYTES [LIMIT-001], or over the limit of out); QWP_MISUSE (flags
 * without QWP_FLAG_DELTA or with reserved bits, a dictionary range that is none, or one that ends below an id
 * that the rows refer to [WIRE-SYM-002]); QWP_NOMEM. out is unchanged unless OK. */
enum qwp_status qwp_message_encode(const struct qwp_batch *batch, const struct qwp_symbols *symbols,
                                   const struct qwp_encoding *e, struct qwp_bytes *out, struct qwp_error *err);

/* A frame as the send loop sees it: just the dictionary section, whose entries are checked to lie within the
 * payload. QWP_OK, or QWP_CONN_PROTOCOL if the bytes are no message with a section (cannot happen to frames of
 * ours). entries points into message. */
struct qwp_delta_view {
  uint64_t start, count;
  const uint8_t *entries; /* count x (len varint, text) */
  size_t entries_bytes;
  uint8_t flags;
};
enum qwp_status qwp_message_delta(const uint8_t *message, size_t n, struct qwp_delta_view *out);

#endif
