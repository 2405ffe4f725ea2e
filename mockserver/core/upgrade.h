/* upgrade - the HTTP request head: parsed, judged, answered.
 *
 * Pure: bytes of a head in, a verdict and the bytes of an answer out. The order of the
 * checks is the server's (July 2026): content of GET, length of POST, path, method, then
 * the handshake headers in their own order, then the role. The first that fails answers.
 *
 * Header values are taken as the server takes them: exactly one character behind the
 * colon is skipped and nothing is trimmed, so `Upgrade:websocket` is refused.
 */
#ifndef MOCK_UPGRADE_H
#define MOCK_UPGRADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/out.h"
#include "core/script.h"

#define MOCK_HEAD_MAX_BYTES 65536 /* a longer head ends the connection unanswered */

struct mock_slice {
  const char *p; /* NULL = absent */
  size_t n;
};

enum mock_target { MOCK_TARGET_UNKNOWN, MOCK_TARGET_WRITE, MOCK_TARGET_READ };

/* A parsed head. Slices point into the head; of a repeated header the first counts. */
struct mock_request {
  struct mock_slice method, path; /* path without query string, as sent */
  enum mock_target target;        /* after collapsing runs of '/' */
  struct mock_slice origin, upgrade, connection, key, version, client_id, max_version;
  struct mock_slice content_length, transfer_encoding, content_type;
  bool durable_ack;               /* X-QWP-Request-Durable-Ack: true, any case */
  uint64_t body_bytes;            /* Content-Length; 0 without one */
  bool body_chunked;
};

/* How many of the n bytes are the head, blank line included; 0 = more is needed.
 * *from remembers how far it has looked, 0 at first. */
size_t mock_head_end(const uint8_t *p, size_t n, size_t *from);

/* Parses a whole head. false: no HTTP request line, or a line that is no header. */
bool mock_request_parse(const uint8_t *head, size_t n, struct mock_request *r);

enum mock_verdict_kind {
  MOCK_VERDICT_UPGRADE, /* 101 */
  MOCK_VERDICT_KEEP,    /* an ordinary HTTP answer; the connection takes another request */
  MOCK_VERDICT_CLOSE    /* answer, then the connection is closed */
};

struct mock_verdict {
  enum mock_verdict_kind kind;
  int status;           /* 101, 400, 404, 405, 421, 426 */
  const char *text;     /* body of a 400; for 405 the answer names the method itself */
  struct mock_slice at; /* the value at fault, in the head; absent = none stands there */
};

/* role: of the node, NULL = STANDALONE; REPLICA and PRIMARY_CATCHUP refuse ingress with 421. */
struct mock_verdict mock_request_judge(const struct mock_request *r, const char *role);

/* Writes the answer to a refused request, as the server does it. */
void mock_answer_refusal(struct mock_out *o, const struct mock_request *r, const struct mock_verdict *v,
                         const char *role, int64_t wall_ns);

/* Writes the 101: Upgrade, Connection, Sec-WebSocket-Accept, X-QWP-Version, then on ingress
 * X-QuestDB-Role and X-QWP-Max-Batch-Size. cap <= 0 leaves the last out; e (or NULL) may
 * replace, drop and add headers. */
void mock_answer_101(struct mock_out *o, const struct mock_request *r, const struct mock_entry *e, int64_t cap);

/* Writes a scripted status with its headers and body. */
void mock_answer_status(struct mock_out *o, const struct mock_entry *e);

/* The 28 characters and NUL of Sec-WebSocket-Accept for a key. */
void mock_accept_key(const char *key, size_t n, char accept[29]);

#endif
