#include "ws/tx.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "qwp/wire.h"
#include "ws/retry.h"

void qwp_tx_init(struct qwp_tx *tx, const struct qwp_ops *ops, struct qwp_ws_counters *counters) {
  *tx = (struct qwp_tx){.ops = ops, .counters = counters};
  qwp_keys_init(&tx->keys, ops);
  qwp_bytes_init(&tx->batch, ops, SIZE_MAX / 4);
}

void qwp_tx_free(struct qwp_tx *tx) { qwp_bytes_free(&tx->batch); }

void qwp_tx_reset(struct qwp_tx *tx) {
  tx->batch.len = 0;
  tx->sent = 0;
  tx->out_len = tx->out_sent = 0;
  tx->close_left = false;
  tx->keys.sys_errno = 0;
  tx->shortages = 0;
  for (int kind = 0; kind < QWP_CONTROL_KINDS; kind++) tx->waiting[kind].set = false;
}

enum qwp_status qwp_tx_append(struct qwp_tx *tx, unsigned opcode, const uint8_t *payload, size_t n) {
  assert(tx->sent == 0);
  if (tx->close_left) return QWP_MISUSE;
  size_t header = qwp_frame_header_bytes(n);
  if (n > SIZE_MAX / 4 - header) return QWP_NOMEM;
  /* Everything that can fail comes before the first byte: whole or not at all (CASE-83). */
  if (qwp_bytes_reserve(&tx->batch, header + n) != QWP_OK) return QWP_NOMEM;
  tx->counters->tx_capacity = (int64_t)tx->batch.cap;
  uint8_t key[QWP_FRAME_MASK_BYTES];
  enum qwp_status st = qwp_keys_next(&tx->keys, key);
  if (st != QWP_OK) return st;

  uint8_t *at = tx->batch.data + tx->batch.len;
  qwp_frame_encode(at, opcode, n, key);
  qwp_frame_mask(at + header, payload, n, key);
  tx->batch.len += header + n;
  tx->counters->tx_copied_bytes += (int64_t)n;
  return QWP_OK;
}

enum qwp_status qwp_tx_control(struct qwp_tx *tx, enum qwp_control_kind kind, const uint8_t *payload, size_t n) {
  if (n > QWP_FRAME_CONTROL_MAX || tx->close_left) return QWP_MISUSE;
  struct qwp_control *control = &tx->waiting[kind];
  control->set = true;
  control->n = (uint8_t)n;
  if (n) memcpy(control->payload, payload, n);
  return QWP_OK;
}

size_t qwp_tx_pending(const struct qwp_tx *tx) { return tx->batch.len - tx->sent; }

static bool control_waits(const struct qwp_tx *tx) {
  for (int kind = 0; kind < QWP_CONTROL_KINDS; kind++) {
    if (tx->waiting[kind].set) return true;
  }
  return false;
}

bool qwp_tx_control_pending(const struct qwp_tx *tx) { return tx->out_sent < tx->out_len || control_waits(tx); }

static unsigned control_opcode(int kind) {
  static const uint8_t opcodes[QWP_CONTROL_KINDS] = {
      [QWP_CONTROL_PONG] = QWP_WS_PONG, [QWP_CONTROL_CLOSE] = QWP_WS_CLOSE};
  return opcodes[kind];
}

/* Masks what waits into the control buffer, back to back. Nothing is built if a key
 * cannot be had. */
static enum qwp_status build_controls(struct qwp_tx *tx) {
  uint8_t keys[QWP_CONTROL_KINDS][QWP_FRAME_MASK_BYTES];
  for (int kind = 0; kind < QWP_CONTROL_KINDS; kind++) {
    if (!tx->waiting[kind].set) continue;
    enum qwp_status st = qwp_keys_next(&tx->keys, keys[kind]);
    if (st != QWP_OK) return st;
  }
  uint8_t *at = tx->out;
  for (int kind = 0; kind < QWP_CONTROL_KINDS; kind++) {
    struct qwp_control *control = &tx->waiting[kind];
    if (!control->set) continue;
    at += qwp_frame_encode(at, control_opcode(kind), control->n, keys[kind]);
    qwp_frame_mask(at, control->payload, control->n, keys[kind]);
    at += control->n;
    control->set = false;
    if (kind == QWP_CONTROL_CLOSE) tx->close_left = true;
  }
  tx->out_len = (size_t)(at - tx->out);
  tx->out_sent = 0;
  return QWP_OK;
}

/* send() with the errnos sorted: > 0 taken, -EAGAIN full, else dead. */
static ssize_t send_bytes(struct qwp_tx *tx, qwp_sock sock, const uint8_t *p, size_t n) {
  for (int i = 0; i < QWP_EINTR_TRIES; i++) {
    ssize_t r = tx->ops->net->send(tx->ops->net_ctx, sock, p, n);
    if (r > 0) {
      assert((size_t)r <= n);
      tx->shortages = 0;
      return r;
    }
    bool shortage = r == -ENOBUFS || r == -ENOMEM;
    if (shortage) tx->shortages++;
    if (shortage || r == 0 || r == -EAGAIN || r == -EWOULDBLOCK) return -EAGAIN;
    if (r != -EINTR) return r;
  }
  return -EAGAIN;
}

static ssize_t send_control(struct qwp_tx *tx, qwp_sock sock) {
  ssize_t r = send_bytes(tx, sock, tx->out + tx->out_sent, tx->out_len - tx->out_sent);
  if (r > 0) tx->out_sent += (size_t)r;
  return r;
}

static ssize_t send_batch(struct qwp_tx *tx, qwp_sock sock) {
  ssize_t r = send_bytes(tx, sock, tx->batch.data + tx->sent, tx->batch.len - tx->sent);
  if (r <= 0) return r;
  tx->sent += (size_t)r;
  if (tx->sent == tx->batch.len) tx->sent = tx->batch.len = 0;
  return r;
}

ssize_t qwp_tx_send_once(struct qwp_tx *tx, qwp_sock sock) {
  if (tx->out_sent < tx->out_len) return send_control(tx, sock);
  if (qwp_tx_pending(tx) > 0) return send_batch(tx, sock);
  if (!control_waits(tx)) return 0;
  if (build_controls(tx) != QWP_OK) return -tx->keys.sys_errno;
  return send_control(tx, sock);
}
