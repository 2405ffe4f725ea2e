#include "ws/connection.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/errno_text.h"
#include "qwp/wire.h"
#include "ws/impl.h"

#define EXPLAIN_BYTES 640 /* a sentence of a layer below, cut if longer */

/* ---- life -------------------------------------------------------------------------- */

struct qwp_ws *qwp_ws_new(const struct qwp_ops *ops, const struct qwp_ws_config *config) {
  struct qwp_ws *ws = ops->mem->alloc(ops->mem_ctx, sizeof *ws);
  if (!ws) return NULL;
  memset(ws, 0, sizeof *ws);
  ws->ops = ops;
  ws->config = config;
  ws->state = QWP_WS_CLOSED;
  ws->sock = -1;
  qwp_tx_init(&ws->tx, ops, &ws->counters);
  qwp_rx_init(&ws->rx, ops, config->rx_initial_bytes, config->rx_max_bytes, &ws->counters);
  qwp_messages_init(&ws->messages, ops, config->rx_max_bytes);
  return ws;
}

void qwp_ws_del(struct qwp_ws *ws) {
  if (!ws) return;
  qwp_ws_close(ws);
  qwp_tx_free(&ws->tx);
  qwp_rx_free(&ws->rx);
  qwp_messages_free(&ws->messages);
  ws->ops->mem->free(ws->ops->mem_ctx, ws);
}

void qwp_ws_close(struct qwp_ws *ws) {
  if (ws->state == QWP_WS_CLOSED) return;
  ws->ops->net->close(ws->ops->net_ctx, ws->sock);
  ws->sock = -1;
  ws->state = QWP_WS_CLOSED;
  qwp_tx_reset(&ws->tx);
  qwp_rx_reset(&ws->rx);
  qwp_messages_reset(&ws->messages);
}

enum qwp_ws_state qwp_ws_state(const struct qwp_ws *ws) { return ws->state; }
qwp_sock qwp_ws_sock(const struct qwp_ws *ws) { return ws->sock; }
const struct qwp_ws_peer *qwp_ws_peer(const struct qwp_ws *ws) { return &ws->peer; }
const struct qwp_ws_counters *qwp_ws_counters(const struct qwp_ws *ws) { return &ws->counters; }

enum qwp_status qwp_ws_lost(struct qwp_error *err, int sys_errno, const char *what) {
  if (sys_errno == 0) return qwp_fail(err, QWP_CONN_LOST, "%s", what);
  char text[QWP_ERRNO_TEXT_BYTES];
  qwp_fail(err, QWP_CONN_LOST, "%s: %s", what, qwp_errno_text(sys_errno, text, sizeof text));
  if (err) err->sys_errno = sys_errno;
  return QWP_CONN_LOST;
}

enum qwp_status qwp_ws_broken(const struct qwp_ws *ws, struct qwp_error *err, int sys_errno, const char *what) {
  const struct qwp_net_ops *net = ws->ops->net;
  char text[EXPLAIN_BYTES];
  enum qwp_status st = net->explain ? net->explain(ws->ops->net_ctx, ws->sock, text, sizeof text) : QWP_OK;
  if (st == QWP_OK) return qwp_ws_lost(err, sys_errno, what);
  qwp_fail(err, st, "%s", text);
  if (err) err->sys_errno = sys_errno;
  return st;
}

/* ---- sending -------------------------------------------------------------------------- */

size_t qwp_ws_wire_bytes(size_t n) { return qwp_frame_header_bytes(n) + n; }

static enum qwp_status no_key(const struct qwp_ws *ws, struct qwp_error *err) {
  return qwp_ws_lost(err, ws->tx.keys.sys_errno, "no random bytes for a mask key");
}

enum qwp_status qwp_ws_append(struct qwp_ws *ws, unsigned opcode, const uint8_t *payload, size_t n,
                              struct qwp_error *err) {
  if (ws->state != QWP_WS_OPEN) return qwp_fail(err, QWP_MISUSE, "a frame for a connection that is not open");
  enum qwp_status st = qwp_tx_append(&ws->tx, opcode, payload, n);
  switch (st) {
    case QWP_OK: return QWP_OK;
    case QWP_CONN_LOST: return no_key(ws, err);
    case QWP_NOMEM: return qwp_fail(err, st, "out of memory for the send buffer");
    default: return qwp_fail(err, st, "a frame behind a Close");
  }
}

size_t qwp_ws_pending(const struct qwp_ws *ws) { return qwp_tx_pending(&ws->tx); }

/* What an attempt to send came to: QWP_OK = nothing is left, or bytes were taken. */
static enum qwp_status sent(const struct qwp_ws *ws, ssize_t r, struct qwp_error *err) {
  if (r >= 0) return QWP_OK;
  if (r == -EAGAIN) return QWP_AGAIN;
  if (ws->tx.keys.sys_errno != 0) return no_key(ws, err);
  return qwp_ws_broken(ws, err, (int)-r, "cannot send");
}

enum qwp_status qwp_ws_flush(struct qwp_ws *ws, struct qwp_error *err) {
  if (ws->state != QWP_WS_OPEN) return qwp_fail(err, QWP_MISUSE, "flush of a connection that is not open");
  ssize_t r;
  do {
    r = qwp_tx_send_once(&ws->tx, ws->sock);
  } while (r > 0);
  return sent(ws, r, err);
}

static enum qwp_status queue_control(struct qwp_ws *ws, enum qwp_control_kind kind, const uint8_t *payload, size_t n) {
  if (ws->state != QWP_WS_OPEN) return QWP_MISUSE;
  return qwp_tx_control(&ws->tx, kind, payload, n);
}

enum qwp_status qwp_ws_pong(struct qwp_ws *ws, const uint8_t *payload, size_t n) {
  return queue_control(ws, QWP_CONTROL_PONG, payload, n);
}

enum qwp_status qwp_ws_send_close(struct qwp_ws *ws, unsigned code) {
  const uint8_t payload[2] = {(uint8_t)(code >> 8), (uint8_t)code};
  bool empty = code == 0 || code == QWP_CLOSE_NO_CODE;
  if (!empty && !qwp_close_code_valid(code)) return QWP_MISUSE;
  return queue_control(ws, QWP_CONTROL_CLOSE, payload, empty ? 0 : sizeof payload);
}

bool qwp_ws_control_pending(const struct qwp_ws *ws) { return qwp_tx_control_pending(&ws->tx); }
bool qwp_ws_starved(const struct qwp_ws *ws) { return ws->tx.shortages > 1; }

/* ---- waiting -------------------------------------------------------------------------- */

/* One blocking call's wait: its deadline is set once, and a wake() that comes meanwhile
 * is for somebody else, so it is raised again at the end. */
struct waiting {
  struct qwp_ws *ws;
  int64_t timeout_ns, deadline_ns;
  bool begun, woken;
};

/* Waits for `interest`. QWP_OK: try again; QWP_TIMEOUT; QWP_AGAIN: this world does not
 * block; QWP_CONN_LOST. */
static enum qwp_status await(struct waiting *w, unsigned interest, struct qwp_error *err) {
  const struct qwp_ops *ops = w->ws->ops;
  if (w->timeout_ns <= 0) return QWP_TIMEOUT;
  if (!w->begun) w->deadline_ns = qwp_deadline(ops->clock->now_ns(ops->clock_ctx), w->timeout_ns);
  w->begun = true;
  for (;;) {
    int64_t left_ns = QWP_NEVER;
    if (w->deadline_ns != QWP_NEVER) left_ns = w->deadline_ns - ops->clock->now_ns(ops->clock_ctx);
    if (left_ns <= 0) return QWP_TIMEOUT;
    /* A starved socket is writable all the while: only time helps (CASE-82). */
    bool pause = interest == QWP_WRITABLE && qwp_ws_starved(w->ws);
    if (pause && left_ns > QWP_WS_STARVED_PAUSE_NS) left_ns = QWP_WS_STARVED_PAUSE_NS;
    int r = ops->net->wait(ops->net_ctx, w->ws->sock, pause ? 0 : interest, left_ns);
    if (r == -EAGAIN) return QWP_AGAIN;
    if (r < 0 && r != -EINTR) return qwp_ws_broken(w->ws, err, -r, "cannot wait for the socket");
    if (r > 0 && (unsigned)r & QWP_WOKEN) w->woken = true;
    if (r > 0 && (unsigned)r & interest) return QWP_OK;
    if (r == 0 && pause) return QWP_OK;
  }
}

static void end_wait(const struct waiting *w) {
  if (w->woken) w->ws->ops->net->wake(w->ws->ops->net_ctx);
}

enum qwp_status qwp_ws_flush_wait(struct qwp_ws *ws, int64_t timeout_ns, struct qwp_error *err) {
  if (ws->state != QWP_WS_OPEN) return qwp_fail(err, QWP_MISUSE, "flush of a connection that is not open");
  struct waiting w = {.ws = ws, .timeout_ns = timeout_ns};
  enum qwp_status st;
  do {
    ssize_t r = qwp_tx_send_once(&ws->tx, ws->sock); /* first try, then look at the time (P121-03) */
    st = sent(ws, r, err);
    if (st == QWP_OK && qwp_ws_pending(ws) == 0 && !qwp_ws_control_pending(ws)) break;
    if (st == QWP_AGAIN) {
      st = await(&w, QWP_WRITABLE, err);
    } else if (st == QWP_OK && timeout_ns <= 0) {
      st = QWP_TIMEOUT;
    }
  } while (st == QWP_OK);
  end_wait(&w);
  if (st == QWP_TIMEOUT) qwp_fail(err, st, "the socket did not take the bytes in time");
  return st;
}

/* ---- receiving -------------------------------------------------------------------------- */

/* Control frames leave now if the stream stands at a frame boundary: whoever reads a
 * Close will not flush again. One attempt; what does not fit is dropped with the
 * connection. */
static void send_last_words(struct qwp_ws *ws, unsigned close_code) {
  (void)qwp_ws_send_close(ws, close_code); /* refused if our own Close went first: one is enough */
  if (qwp_ws_pending(ws) > 0) return;
  while (qwp_tx_control_pending(&ws->tx) && qwp_tx_send_once(&ws->tx, ws->sock) > 0) continue;
}

static enum qwp_status closed_by_peer(struct qwp_ws *ws, const struct qwp_item *item, struct qwp_error *err) {
  /* The reason stays valid: sending does not touch the receive buffer. */
  send_last_words(ws, item->close_code);
  char reason[QWP_FRAME_CONTROL_MAX + 1];
  for (size_t i = 0; i < item->n; i++) reason[i] = item->payload[i] < 0x20 ? ' ' : (char)item->payload[i];
  reason[item->n] = '\0';
  qwp_fail(err, QWP_CONN_CLOSED, "the server closed the connection with code %u%s%s", item->close_code,
           item->n ? ": " : "", reason);
  if (err) err->close_code = (int)item->close_code;
  return QWP_CONN_CLOSED;
}

static enum qwp_status broken_by_peer(struct qwp_ws *ws, const struct qwp_item *item, struct qwp_error *err) {
  send_last_words(ws, item->answer_code);
  return qwp_fail(err, QWP_CONN_PROTOCOL, "the server broke the WebSocket protocol: %s", item->why);
}

static enum qwp_status handle(struct qwp_ws *ws, const struct qwp_item *item, qwp_ws_on_message on_message, void *ctx,
                              struct qwp_error *err) {
  switch (item->kind) {
    case QWP_ITEM_MESSAGE:
      return on_message(ctx, item->opcode, item->payload, item->n);
    case QWP_ITEM_CLOSE:
      return closed_by_peer(ws, item, err);
    case QWP_ITEM_PING:
      ws->counters.pings++;
      (void)qwp_ws_pong(ws, item->payload, item->n); /* refused only behind our own Close */
      return QWP_OK;
    case QWP_ITEM_PONG:
    case QWP_ITEM_NONE:
      break;
  }
  return QWP_OK;
}

/* Hands over every whole frame of the buffer; *frames says how many. A frame is consumed
 * before its handler runs: consuming only moves a cursor, and the handler may end the
 * call, or the connection. */
static enum qwp_status hand_over(struct qwp_ws *ws, size_t *frames, qwp_ws_on_message on_message, void *ctx,
                                 struct qwp_error *err) {
  struct qwp_rx *rx = &ws->rx;
  for (*frames = 0;; ++*frames) {
    struct qwp_item item;
    enum qwp_status st = qwp_messages_next(&ws->messages, rx->data + rx->head, rx->tail - rx->head, &item);
    if (st == QWP_AGAIN) return QWP_OK;
    if (st == QWP_CONN_PROTOCOL) return broken_by_peer(ws, &item, err);
    if (st != QWP_OK) return qwp_fail(err, st, "out of memory for a fragmented message");
    qwp_rx_consume(rx, item.used);
    st = handle(ws, &item, on_message, ctx, err);
    if (st != QWP_OK) return st;
  }
}

/* What one recv came to. */
static enum qwp_status received(const struct qwp_ws *ws, ssize_t r, struct qwp_error *err) {
  if (r > 0) return QWP_OK;
  if (r == -EAGAIN) return QWP_AGAIN;
  if (r == 0) return qwp_ws_broken(ws, err, 0, "the server ended the connection without a Close");
  return qwp_ws_broken(ws, err, (int)-r, "cannot receive");
}

static enum qwp_status no_room(enum qwp_status st, struct qwp_error *err) {
  return qwp_fail(err, st, "no room for a frame in the receive buffer");
}

enum qwp_status qwp_ws_receive(struct qwp_ws *ws, qwp_ws_on_message on_message, void *ctx, struct qwp_error *err) {
  if (ws->state != QWP_WS_OPEN) return qwp_fail(err, QWP_MISUSE, "receive on a connection that is not open");
  size_t frames;
  enum qwp_status st = hand_over(ws, &frames, on_message, ctx, err);
  if (st != QWP_OK || frames > 0) return st;

  qwp_rx_compact(&ws->rx);
  st = qwp_rx_make_room(&ws->rx);
  if (st != QWP_OK) return no_room(st, err);
  st = received(ws, qwp_rx_recv(&ws->rx, ws->sock), err);
  if (st != QWP_OK) return st;
  return hand_over(ws, &frames, on_message, ctx, err);
}

enum qwp_status qwp_ws_receive_wait(struct qwp_ws *ws, int64_t timeout_ns, qwp_ws_on_message on_message, void *ctx,
                                    struct qwp_error *err) {
  if (ws->state != QWP_WS_OPEN) return qwp_fail(err, QWP_MISUSE, "receive on a connection that is not open");
  size_t frames;
  enum qwp_status st = hand_over(ws, &frames, on_message, ctx, err);
  if (st != QWP_OK || frames > 0) return st;

  qwp_rx_compact(&ws->rx);
  st = qwp_rx_make_room(&ws->rx);
  if (st != QWP_OK) return no_room(st, err);
  struct waiting w = {.ws = ws, .timeout_ns = timeout_ns};
  do {
    st = received(ws, qwp_rx_recv(&ws->rx, ws->sock), err);
  } while (st == QWP_AGAIN && (st = await(&w, QWP_READABLE, err)) == QWP_OK);
  end_wait(&w);
  if (st == QWP_TIMEOUT) return qwp_fail(err, st, "nothing arrived in time");
  if (st != QWP_OK) return st;
  return hand_over(ws, &frames, on_message, ctx, err);
}
