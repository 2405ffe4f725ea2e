/* response - one ingress answer of the server, from bytes to values.
 *
 *   OK           | 00     | sequence i64 | tables u16 | tables x (len u16, name, seqTxn i64) |
 *   durable ack  | 02     |                tables u16 | the same entries                     |
 *   error        | status | sequence i64 | len u16    | text                                 |
 *
 * Bare: no QWP header [RESP-OK-002]. Strict, as a watermark hangs on it: bytes behind the
 * last field, lengths beyond the payload, an empty or non-UTF-8 table name refuse the whole
 * answer [MAL-RSP-001]. An error text may have any length that u16 can say, also none.
 */
#ifndef QWP_SEND_RESPONSE_H
#define QWP_SEND_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qwp/status.h"

enum qwp_response_kind { QWP_RESPONSE_OK, QWP_RESPONSE_DURABLE, QWP_RESPONSE_ERROR };

struct qwp_response {
  enum qwp_response_kind kind;
  uint8_t status;
  int64_t sequence;      /* wireSeq; -1 of a durable ack. As read: may be negative or too high */
  unsigned table_count;  /* of OK and durable ack; their entries are checked and not kept */
  const uint8_t *text;   /* of an error; not NUL-terminated, not checked */
  size_t text_bytes;
};

/* QWP_OK or QWP_CONN_PROTOCOL, then *why says what is wrong. */
enum qwp_status qwp_response_parse(const uint8_t *payload, size_t n, struct qwp_response *out, const char **why);

/* Copies an error text for people: at most cap - 1 bytes, cut at a character boundary;
 * control characters and bytes that are no UTF-8 become '?'. */
void qwp_response_text(const struct qwp_response *r, char *out, size_t cap);

#endif
