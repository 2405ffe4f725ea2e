/* upgrade - the HTTP upgrade as bytes: request out, response in. Knows no socket.
 *
 * The request is one block, written in one go. The response parser takes the head of
 * the answer from a growing buffer and gives one of three answers: bytes used, more, bad.
 * Whether the head is a proper 101 is a second question (qwp_upgrade_check), so that a
 * refusal keeps its status and role.
 */
#ifndef QWP_WS_UPGRADE_H
#define QWP_WS_UPGRADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "qwp/status.h"

#define QWP_UPGRADE_KEY_BYTES 16        /* random bytes of Sec-WebSocket-Key */
#define QWP_UPGRADE_KEY_TEXT 25         /* in base64, with the NUL */
#define QWP_UPGRADE_ACCEPT_TEXT 29      /* base64 of a SHA-1, with the NUL */
#define QWP_UPGRADE_HEAD_MAX 32768u     /* largest response head taken, blank line included */
#define QWP_UPGRADE_LINE_MAX 8192u      /* longest line of it */

struct qwp_upgrade_request {
  const char *path;
  const char *host;
  const char *key;           /* base64, 24 characters */
  const char *client_id;     /* NULL or "" = no header */
  const char *authorization; /* NULL = no header */
};

/* Turns 16 random bytes into the text of Sec-WebSocket-Key. */
void qwp_upgrade_key(const uint8_t random[QWP_UPGRADE_KEY_BYTES], char out[QWP_UPGRADE_KEY_TEXT]);

/* The one right Sec-WebSocket-Accept for a key: base64(SHA-1(key + GUID)) [UPG-RSP-001].
 * QWP_NOMEM if the digest is not to be had. */
QWP_MUST_USE enum qwp_status qwp_upgrade_accept(const char *key, char out[QWP_UPGRADE_ACCEPT_TEXT]);

/* Appends the request: Host, Upgrade, Connection, Sec-WebSocket-Key, -Version,
 * X-QWP-Max-Version, X-QWP-Client-Id, Authorization; one space behind each colon, no
 * Origin [UPG-REQ-001, 003, 004]. QWP_MISUSE if a value holds a control character (it
 * could add a header); QWP_NOMEM. *out is then as it was. */
QWP_MUST_USE enum qwp_status qwp_upgrade_write(const struct qwp_upgrade_request *request, struct qwp_bytes *out);

/* What a response head says. */
struct qwp_upgrade_response {
  int status;              /* 100 to 999 */
  bool upgrade_websocket;  /* Upgrade has the token websocket */
  bool connection_upgrade; /* Connection has the token upgrade */
  bool unasked;            /* an extension or sub-protocol that was not offered */
  char accept[64];         /* the first Sec-WebSocket-Accept; "" if absent or too long to be right */
  int64_t version;         /* X-QWP-Version; 1 if absent [UPG-RSP-004], -1 if not a number */
  int64_t max_batch;       /* X-QWP-Max-Batch-Size; 0 if absent, malformed or not positive */
  char role[32];           /* X-QuestDB-Role, cut to fit; "" if absent */
  char reason[64];         /* reason phrase of the status line, for a person */
  unsigned seen;           /* which single headers came already; a second one does not count */
};

/* Reads the response head at p[0..n). Returns the bytes it takes (blank line included);
 * 0 = not all of it is here; -1 = bad, and *why says so: no HTTP/1.x status line, a line
 * or head over its limit, a folded or malformed header line. `scanned` is the n of the
 * last call that returned 0 (0 at first): those bytes are not searched again. */
long qwp_upgrade_parse(const uint8_t *p, size_t n, size_t scanned, struct qwp_upgrade_response *out,
                       const char **why);

/* NULL if a response is a proper 101 to our request, else what is wrong with it, as part
 * of a sentence: status, Upgrade, Connection, Accept (compared exactly), what was not
 * offered, and a QWP version we do not speak [UPG-RSP-001, 003]. */
const char *qwp_upgrade_check(const struct qwp_upgrade_response *response, const char *accept);

#endif
