/* connection - one WebSocket connection of a client over the net table.
 *
 * Non-blocking throughout, but for the two calls whose names end in _wait. Knows no
 * QWP message: payload bytes in, payload bytes out. Life:
 *
 *   CLOSED -open-> CONNECTING -> UPGRADING -> OPEN -> CLOSED
 *
 * Sending. Data frames are appended, masked with a fresh random key each
 * [WS-001], into one batch buffer back to back with exact header sizes
 * (P121-12), then flushed: send first, wait only when the socket is full
 * (P121-01). Control frames (pong, close) are built in a small buffer of
 * their own (P121-21) and leave at a frame boundary. Bytes left over when the
 * connection dies are dropped with it (P121-23).
 *
 * Receiving. One buffer, parsed in place; consumed frames do not move the rest;
 * cursors rewind when it is empty; a partial tail is moved once, right before the
 * next receive and before the growth test (P121-41..43). It doubles only when one
 * frame does not fit, up to rx_max_bytes, and never shrinks (P121-46).
 */
#ifndef QWP_WS_CONNECTION_H
#define QWP_WS_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qwp/ops.h"
#include "qwp/status.h"

struct qwp_ws;

enum qwp_ws_state { QWP_WS_CLOSED, QWP_WS_CONNECTING, QWP_WS_UPGRADING, QWP_WS_OPEN };

/* What one connection is asked to be. Strings are borrowed for the object's life. */
struct qwp_ws_config {
  const char *path;          /* QWP_PATH_WRITE */
  const char *client_id;     /* X-QWP-Client-Id */
  const char *authorization; /* value of the header, or NULL */
  int64_t auth_timeout_ns;   /* wait for the 101, from the request's last byte [UPG-RSP-009] */
  int64_t connect_timeout_ns;/* QWP_NEVER = the operating system's */
  size_t rx_initial_bytes;   /* 65536 */
  size_t rx_max_bytes;       /* largest frame taken, header included; >= rx_initial_bytes, and
                              * >= 32768 to take every upgrade answer */
};

/* What the 101 said. */
struct qwp_ws_peer {
  int version;          /* X-QWP-Version, 1 if absent [UPG-RSP-004] */
  int64_t max_batch;    /* X-QWP-Max-Batch-Size; 0 = no cap */
  char role[32];        /* X-QuestDB-Role, "" if absent; also of a 421 */
};

struct qwp_ws_counters { /* lives across connections */
  int64_t tx_capacity, tx_copied_bytes; /* payload bytes copied into the batch: once each */
  int64_t rx_capacity, rx_grows, rx_moves, rx_moved_bytes;
  int64_t pings; /* received, each answered by a pong */
};

/* One message from the peer, fragments joined. The payload points into the
 * receive buffer (or the joined fragments) and is valid during the call only. Returns QWP_OK to go on, or
 * a code that ends the receive call with it. */
typedef enum qwp_status (*qwp_ws_on_message)(void *ctx, unsigned opcode, const uint8_t *payload, size_t n);

/* ops and config are borrowed. NULL = out of memory. */
struct qwp_ws *qwp_ws_new(const struct qwp_ops *ops, const struct qwp_ws_config *config);
void qwp_ws_del(struct qwp_ws *ws); /* closes first; NULL is fine */

enum qwp_ws_state qwp_ws_state(const struct qwp_ws *ws);
qwp_sock qwp_ws_sock(const struct qwp_ws *ws); /* -1 when closed */
const struct qwp_ws_peer *qwp_ws_peer(const struct qwp_ws *ws);
const struct qwp_ws_counters *qwp_ws_counters(const struct qwp_ws *ws);

/* Begins to connect to addr; host_header is the value of Host (not kept). QWP_OK = go on
 * with the handshake. Else still CLOSED: QWP_CONN_LOST (no socket, no route, no entropy),
 * QWP_NOMEM, QWP_MISUSE (not CLOSED, or a header value with a control character). */
enum qwp_status qwp_ws_open(struct qwp_ws *ws, const struct qwp_addr *addr, const char *host_header,
                            int64_t now_ns, struct qwp_error *err);

/* Does what can be done: finish the connect, write the request, read the answer.
 * QWP_OK = the connection is OPEN (bytes behind the 101 are kept, [UPG-RSP-008]).
 * QWP_AGAIN = *interest and *deadline_ns say what to wait for. Else it is CLOSED:
 * QWP_CONN_LOST, _TLS, _TIMEOUT, _UPGRADE, _ROLE, QWP_AUTH, or QWP_NOMEM; err tells (http_status,
 * peer role). Messages that came behind the 101 wait in the buffer, not in the socket:
 * call qwp_ws_receive once before the first wait. */
enum qwp_status qwp_ws_handshake(struct qwp_ws *ws, int64_t now_ns, unsigned *interest,
                                 int64_t *deadline_ns, struct qwp_error *err);

/* Wire bytes of a client frame with a payload of n: n + 6, n + 8 or n + 14. */
size_t qwp_ws_wire_bytes(size_t n);

/* Appends one frame to the batch buffer. Else the batch is unchanged: QWP_NOMEM;
 * QWP_CONN_LOST, no random mask key is to be had (there is no fallback, CASE-49); QWP_MISUSE, not
 * OPEN or behind a Close. err says which. Must not be called while a flush is unfinished. */
enum qwp_status qwp_ws_append(struct qwp_ws *ws, unsigned opcode, const uint8_t *payload, size_t n,
                              struct qwp_error *err);

size_t qwp_ws_pending(const struct qwp_ws *ws); /* wire bytes of the batch not yet taken by the socket */

/* Where in the batch the socket has stopped taking bytes. Of an upgrade request everything behind its first byte is
 * payload. */
enum qwp_ws_unsent { QWP_UNSENT_NONE, QWP_UNSENT_BOUNDARY, QWP_UNSENT_HEADER, QWP_UNSENT_PAYLOAD };
enum qwp_ws_unsent qwp_ws_unsent(const struct qwp_ws *ws);
bool qwp_ws_control_half_out(const struct qwp_ws *ws); /* the first bytes of a control frame are taken, not all */

/* Sends what is pending, batch first unless a control frame is half out. QWP_OK =
 * all of it taken; QWP_AGAIN = the socket is full, wait for writable and call
 * again; QWP_CONN_LOST, QWP_CONN_TLS. A short write goes on at once behind what was taken (P121-02).
 * After ENOBUFS or ENOMEM: QWP_AGAIN (CASE-82). Never waits. */
enum qwp_status qwp_ws_flush(struct qwp_ws *ws, struct qwp_error *err);

/* The same, but waits while the socket is full, up to timeout_ns for all of it together
 * (P121-04). With a timeout of 0 it makes one attempt: QWP_OK if that was taken in full,
 * else QWP_TIMEOUT (P121-03). In a world that does not block: QWP_AGAIN. Does not read
 * meanwhile, so it is for a connection's last bytes, not for data. */
enum qwp_status qwp_ws_flush_wait(struct qwp_ws *ws, int64_t timeout_ns, struct qwp_error *err);

/* Queue a control frame; it leaves with the next flush, at a frame boundary. A newer
 * one replaces one of its kind that has not begun to leave. QWP_MISUSE: n > 125, not
 * OPEN, a Close has begun to leave (nothing follows it), or a code that is not for the
 * wire. Close codes 0 and 1005 make an empty payload. */
enum qwp_status qwp_ws_pong(struct qwp_ws *ws, const uint8_t *payload, size_t n);
enum qwp_status qwp_ws_send_close(struct qwp_ws *ws, unsigned code);
bool qwp_ws_control_pending(const struct qwp_ws *ws);

/* The kernel has had no buffers (ENOBUFS, ENOMEM) more than once in a row. The socket may
 * count as writable all the while: let this time pass before the next attempt (CASE-82). */
#define QWP_WS_STARVED_PAUSE_NS QWP_NS_PER_MS
bool qwp_ws_starved(const struct qwp_ws *ws);

/* Reads once without blocking and hands over every complete message. Pings are
 * answered by itself (queued: flush when qwp_ws_control_pending). QWP_OK = read
 * something; QWP_AGAIN = nothing there; QWP_CONN_LOST, _TLS = EOF or an errno;
 * QWP_CONN_CLOSED = Close arrived (err->close_code, 1005 if it named none; echoed unless
 * a batch is half out); QWP_CONN_PROTOCOL = a frame no server may send [WS-007] (a Close
 * with 1002, 1007 or 1009 was tried); QWP_NOMEM; or what on_message returned. The last
 * 2xx leaves the socket to qwp_ws_close.
 *
 * Complete messages that are in the buffer already (behind the 101, or after on_message
 * ended the last call) are handed over without a recv; else there is exactly one recv.
 * Text messages are handed over too: refusing them is the caller's [WS-002]. on_message
 * may queue control frames, and may close the connection. */
enum qwp_status qwp_ws_receive(struct qwp_ws *ws, qwp_ws_on_message on_message, void *ctx, struct qwp_error *err);

/* The same, but waits for the first byte up to timeout_ns: QWP_TIMEOUT. In a world that
 * does not block: QWP_AGAIN. */
enum qwp_status qwp_ws_receive_wait(struct qwp_ws *ws, int64_t timeout_ns, qwp_ws_on_message on_message,
                                    void *ctx, struct qwp_error *err);

/* Lets go of the socket; what was pending is forgotten. The buffers stay for the
 * next open. */
void qwp_ws_close(struct qwp_ws *ws);

#endif
