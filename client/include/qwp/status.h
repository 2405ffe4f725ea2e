/* status.h - how a call can end, and the record that tells the story.
 *
 * Codes come in families of a hundred, by what the caller does next:
 *   0    it worked
 *   1xx  try again: nothing is lost, the same call may succeed later
 *   2xx  the connection is gone: the send loop opens another one; a producer
 *        never sees this family [RECON-006]
 *   3xx  refused for good: the sender is finished, close it
 *   4xx  local storage: the frame was not accepted, what was accepted is kept
 *   5xx  misuse: the call or the connect string is wrong
 *   6xx  out of memory: the call changed nothing
 */
#ifndef QWP_STATUS_H
#define QWP_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__GNUC__)
#define QWP_MUST_USE __attribute__((warn_unused_result))
#define QWP_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define QWP_MUST_USE
#define QWP_PRINTF(f, a)
#endif

/* What the shared library exports: everything else in it is hidden. */
#if defined(__cplusplus)
#define QWP_LINKAGE extern "C"
#else
#define QWP_LINKAGE
#endif
#if defined(__GNUC__)
#define QWP_API QWP_LINKAGE __attribute__((visibility("default")))
#else
#define QWP_API QWP_LINKAGE
#endif

enum qwp_status {
  QWP_OK = 0,

  QWP_AGAIN = 100,        /* would block; wait for readiness */
  QWP_TIMEOUT = 101,      /* the call's own deadline passed */
  QWP_BACKPRESSURE = 102, /* the store is full and did not drain within sf_append_deadline_millis [SF-CAP-003] */

  QWP_CONN_LOST = 200,    /* EOF, reset, or an errno of the socket layer */
  QWP_CONN_PROTOCOL = 201,/* the peer broke WebSocket or QWP framing [WS-007] */
  QWP_CONN_UPGRADE = 202, /* an answer other than a proper 101; transient per endpoint [FAIL-010] */
  QWP_CONN_ROLE = 203,    /* 421 with a role: the node takes no writes [FAIL-006] */
  QWP_CONN_TIMEOUT = 204, /* connect_timeout or auth_timeout_ms passed */
  QWP_CONN_CLOSED = 205,  /* the peer sent Close */
  QWP_CONN_TLS = 206,     /* no TLS with this server: its certificate, its name, or the protocol [TLS-002] */

  QWP_AUTH = 300,         /* 401 or 403 [FAIL-009] */
  QWP_REJECTED = 301,     /* a terminal status for a frame (0x03, 0x05, 0x08) */
  QWP_POISONED = 302,     /* the same frame was refused max_frame_rejections times */
  QWP_CONNECT = 303,      /* first connect failed in mode off or sync; text names the last endpoint */
  QWP_ROLE = 304,         /* first connect: every endpoint rejects by role [FAIL-013] */

  QWP_TOO_LARGE = 400,    /* a message does not fit the cap or a segment; rows are kept */
  QWP_DICT_FULL = 401,    /* more than QWP_MAX_SYMBOLS_CLIENT symbols */
  QWP_RESEND = 402,       /* stored frames cannot be replayed as they are (dictionary gap) */

  QWP_CONFIG = 500,       /* connect string; the error names the key and the rule */
  QWP_MISUSE = 501,       /* call out of order, for example flush with an open row */
  QWP_NAME = 502,         /* table or column name that the server would refuse */
  QWP_TYPE = 503,         /* a known column was given another type */
  QWP_VALUE = 504,        /* a value that cannot be sent (negative timestamp, invalid UTF-8) */

  QWP_NOMEM = 600
};

/* Name of a code as written above, for example "QWP_TOO_LARGE". Never NULL. */
QWP_API const char *qwp_status_name(enum qwp_status code);

/* Room for 1024 bytes of a server's own words, and ours around them. */
#define QWP_ERROR_TEXT_BYTES 1280

/* One failure, told in full. Fixed size, no ownership: copy it freely. Every
 * public call takes an optional one; it is written only when the call fails. */
struct qwp_error {
  enum qwp_status code;
  int sys_errno;        /* errno behind it, or 0 */
  int server_status;    /* QWP_ST_* of a refusal, or -1 */
  int http_status;      /* of a refused upgrade, or 0 */
  int close_code;       /* of a WebSocket Close, or -1 */
  int64_t message_seq;  /* wireSeq the server named, or -1 */
  int64_t from_fsn;     /* frames concerned, inclusive, or -1 */
  int64_t to_fsn;
  bool in_doubt;        /* false: nothing was queued and the input is intact [API-003] */
  char key[64];         /* connect-string key, table or column concerned; "" if none */
  char text[QWP_ERROR_TEXT_BYTES]; /* one sentence for a person, UTF-8; never holds a secret */
};

/* Empties *err (all "none" values). */
QWP_API void qwp_error_clear(struct qwp_error *err);

/* Clears *err and fills code and text; does nothing for NULL. Returns code, so
 * that a failing function can end in `return qwp_fail(err, QWP_NAME, ...)`. */
QWP_API enum qwp_status qwp_fail(struct qwp_error *err, enum qwp_status code, const char *fmt, ...)
    QWP_PRINTF(3, 4);

/* Sets the text alone; what does not fit is cut at a character boundary, as it is by
 * qwp_fail. No argument may be err->text itself. */
QWP_API void qwp_error_say(struct qwp_error *err, const char *fmt, ...) QWP_PRINTF(2, 3);

#endif
