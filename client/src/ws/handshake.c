/* From a TCP connect to the 101: CLOSED -> CONNECTING -> UPGRADING -> OPEN.
 *
 * The request is built when the connection is opened, so that whatever can fail in it
 * fails before a socket exists, and waits in the send batch until TCP is there. The
 * answer is read into the receive buffer; what stands behind its blank line stays
 * there as the first frames [UPG-RSP-008]. */
#include <errno.h>
#include <string.h>

#include "ws/impl.h"

/* Builds the request with a fresh key into the batch, and notes the answer it deserves. */
static enum qwp_status prepare_request(struct qwp_ws *ws, const char *host_header, struct qwp_error *err) {
  uint8_t random[QWP_UPGRADE_KEY_BYTES];
  char key[QWP_UPGRADE_KEY_TEXT];
  int r = ws->ops->clock->entropy(ws->ops->clock_ctx, random, sizeof random);
  if (r != 0) return qwp_ws_lost(err, -r, "no random bytes for the upgrade key");
  qwp_upgrade_key(random, key);
  enum qwp_status st = qwp_upgrade_accept(key, ws->accept);
  if (st != QWP_OK) return qwp_fail(err, st, "cannot compute a SHA-1 digest");

  const struct qwp_upgrade_request request = {.path = ws->config->path,
                                              .host = host_header,
                                              .key = key,
                                              .client_id = ws->config->client_id,
                                              .authorization = ws->config->authorization};
  st = qwp_upgrade_write(&request, &ws->tx.batch);
  if (st == QWP_MISUSE) return qwp_fail(err, st, "a header of the upgrade request holds a control character");
  if (st != QWP_OK) return qwp_fail(err, st, "out of memory for the upgrade request");
  return QWP_OK;
}

/* The request may leave: from here on the answer is awaited. */
static void begin_upgrade(struct qwp_ws *ws, int64_t now_ns) {
  ws->state = QWP_WS_UPGRADING;
  ws->deadline_ns = qwp_deadline(now_ns, ws->config->auth_timeout_ns);
}

enum qwp_status qwp_ws_open(struct qwp_ws *ws, const struct qwp_addr *addr, const char *host_header, int64_t now_ns,
                            struct qwp_error *err) {
  if (ws->state != QWP_WS_CLOSED) return qwp_fail(err, QWP_MISUSE, "the connection is open already");
  ws->peer = (struct qwp_ws_peer){.version = 0};
  ws->scanned = 0;
  enum qwp_status st = prepare_request(ws, host_header, err);
  if (st != QWP_OK) {
    qwp_tx_reset(&ws->tx);
    return st;
  }

  int r = ws->ops->net->connect(ws->ops->net_ctx, addr, &ws->sock);
  if (r != 0 && r != -EINPROGRESS) {
    ws->sock = -1;
    qwp_tx_reset(&ws->tx);
    return qwp_ws_lost(err, -r, "cannot connect");
  }
  ws->state = QWP_WS_CONNECTING;
  ws->deadline_ns = qwp_deadline(now_ns, ws->config->connect_timeout_ns);
  if (r == 0) begin_upgrade(ws, now_ns);
  return QWP_OK;
}

static enum qwp_status finish_connect(struct qwp_ws *ws, int64_t now_ns, unsigned *interest, struct qwp_error *err) {
  int r = ws->ops->net->connected(ws->ops->net_ctx, ws->sock);
  if (r == -EINPROGRESS || r == -EAGAIN || r == -EINTR) {
    *interest = QWP_WRITABLE;
    return QWP_AGAIN;
  }
  if (r != 0) return qwp_ws_lost(err, -r, "cannot connect");
  begin_upgrade(ws, now_ns);
  return QWP_OK;
}

static enum qwp_status write_request(struct qwp_ws *ws, int64_t now_ns, unsigned *interest, struct qwp_error *err) {
  while (qwp_tx_pending(&ws->tx) > 0) {
    ssize_t r = qwp_tx_send_once(&ws->tx, ws->sock);
    if (r == -EAGAIN) {
      *interest = QWP_WRITABLE;
      return QWP_AGAIN;
    }
    if (r < 0) return qwp_ws_broken(ws, err, (int)-r, "cannot send the upgrade request");
  }
  /* The wait for the answer counts from the request's last byte [UPG-RSP-009]. */
  ws->deadline_ns = qwp_deadline(now_ns, ws->config->auth_timeout_ns);
  return QWP_OK;
}

/* The whole head is here: a proper 101, or which refusal it is. */
static enum qwp_status judge(struct qwp_ws *ws, const struct qwp_upgrade_response *response, struct qwp_error *err) {
  memcpy(ws->peer.role, response->role, sizeof ws->peer.role);
  const char *wrong = qwp_upgrade_check(response, ws->accept);
  if (!wrong) {
    ws->peer.version = (int)response->version;
    ws->peer.max_batch = response->max_batch;
    return QWP_OK;
  }

  enum qwp_status st = QWP_CONN_UPGRADE;
  if (response->status == 401 || response->status == 403) {
    st = qwp_fail(err, QWP_AUTH, "the server refuses the credentials: %d %s", response->status, response->reason);
  } else if (response->status == 421 && response->role[0]) {
    st = qwp_fail(err, QWP_CONN_ROLE, "the server takes no writes in its role %s", response->role);
  } else {
    qwp_fail(err, QWP_CONN_UPGRADE, "the answer to the upgrade, %d %s, %s", response->status, response->reason, wrong);
  }
  if (err) err->http_status = response->status;
  return st;
}

static enum qwp_status read_answer(struct qwp_ws *ws, unsigned *interest, struct qwp_error *err) {
  struct qwp_rx *rx = &ws->rx;
  for (;;) {
    enum qwp_status st = qwp_rx_make_room(rx);
    if (st == QWP_TOO_LARGE) st = QWP_CONN_UPGRADE;
    if (st != QWP_OK) return qwp_fail(err, st, "no room for the answer to the upgrade");
    ssize_t r = qwp_rx_recv(rx, ws->sock);
    if (r == -EAGAIN) {
      *interest = QWP_READABLE;
      return QWP_AGAIN;
    }
    if (r == 0) return qwp_ws_broken(ws, err, 0, "the server hung up instead of answering the upgrade");
    if (r < 0) return qwp_ws_broken(ws, err, (int)-r, "cannot read the answer to the upgrade");

    struct qwp_upgrade_response response;
    const char *why;
    long used = qwp_upgrade_parse(rx->data, rx->tail, ws->scanned, &response, &why);
    if (used < 0) return qwp_fail(err, QWP_CONN_UPGRADE, "the server's answer to the upgrade is %s", why);
    ws->scanned = rx->tail;
    if (used == 0) continue;
    qwp_rx_consume(rx, (size_t)used);
    return judge(ws, &response, err);
  }
}

static enum qwp_status advance(struct qwp_ws *ws, int64_t now_ns, unsigned *interest, struct qwp_error *err) {
  enum qwp_status st = QWP_OK;
  if (ws->state == QWP_WS_CONNECTING) st = finish_connect(ws, now_ns, interest, err);
  if (st == QWP_OK && qwp_tx_pending(&ws->tx) > 0) st = write_request(ws, now_ns, interest, err);
  if (st == QWP_OK) st = read_answer(ws, interest, err);
  return st;
}

static const char *what_took_too_long(const struct qwp_ws *ws) {
  if (ws->state == QWP_WS_CONNECTING) return "no connection within connect_timeout";
  if (qwp_tx_pending(&ws->tx) > 0) return "the server did not take the upgrade request within auth_timeout_ms";
  return "no answer to the upgrade within auth_timeout_ms";
}

enum qwp_status qwp_ws_handshake(struct qwp_ws *ws, int64_t now_ns, unsigned *interest, int64_t *deadline_ns,
                                 struct qwp_error *err) {
  if (ws->state == QWP_WS_OPEN) return QWP_OK;
  if (ws->state == QWP_WS_CLOSED) return qwp_fail(err, QWP_MISUSE, "the connection is not being opened");
  enum qwp_status st = advance(ws, now_ns, interest, err);
  if (st == QWP_OK) {
    const struct qwp_net_ops *net = ws->ops->net;
    if (net->opened) net->opened(ws->ops->net_ctx, ws->sock);
    ws->state = QWP_WS_OPEN;
    return QWP_OK;
  }
  if (st == QWP_AGAIN && now_ns < ws->deadline_ns) {
    *deadline_ns = ws->deadline_ns;
    return QWP_AGAIN;
  }
  if (st == QWP_AGAIN) {
    st = qwp_fail(err, QWP_CONN_TIMEOUT, "%s", what_took_too_long(ws));
  }
  qwp_ws_close(ws);
  return st;
}
