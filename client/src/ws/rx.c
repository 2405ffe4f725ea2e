#include "ws/rx.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "ws/retry.h"

void qwp_rx_init(struct qwp_rx *rx, const struct qwp_ops *ops, size_t initial, size_t max,
                 struct qwp_ws_counters *counters) {
  assert(initial > 0 && initial <= max);
  *rx = (struct qwp_rx){.initial = initial, .max = max, .ops = ops, .counters = counters};
}

void qwp_rx_free(struct qwp_rx *rx) {
  rx->ops->mem->free(rx->ops->mem_ctx, rx->data);
  rx->data = NULL;
  rx->head = rx->tail = rx->cap = 0;
}

void qwp_rx_reset(struct qwp_rx *rx) { rx->head = rx->tail = 0; }

void qwp_rx_compact(struct qwp_rx *rx) {
  if (rx->head == 0) return;
  size_t rest = rx->tail - rx->head;
  memmove(rx->data, rx->data + rx->head, rest);
  rx->head = 0;
  rx->tail = rest;
  rx->counters->rx_moves++;
  rx->counters->rx_moved_bytes += (int64_t)rest;
}

static enum qwp_status set_capacity(struct qwp_rx *rx, size_t cap) {
  void *data = rx->data ? rx->ops->mem->realloc(rx->ops->mem_ctx, rx->data, cap)
                        : rx->ops->mem->alloc(rx->ops->mem_ctx, cap);
  if (!data) return QWP_NOMEM;
  rx->data = data;
  rx->cap = cap;
  rx->counters->rx_capacity = (int64_t)cap;
  return QWP_OK;
}

enum qwp_status qwp_rx_make_room(struct qwp_rx *rx) {
  if (rx->tail < rx->cap) return QWP_OK;
  if (rx->cap == 0) return set_capacity(rx, rx->initial);
  if (rx->cap == rx->max) return QWP_TOO_LARGE;
  enum qwp_status st = set_capacity(rx, rx->cap > rx->max / 2 ? rx->max : rx->cap * 2);
  if (st == QWP_OK) rx->counters->rx_grows++;
  return st;
}

ssize_t qwp_rx_recv(struct qwp_rx *rx, qwp_sock sock) {
  size_t room = rx->cap - rx->tail;
  assert(room > 0); /* a read of nothing would look like the end of the stream */
  for (int i = 0; i < QWP_EINTR_TRIES; i++) {
    ssize_t r = rx->ops->net->recv(rx->ops->net_ctx, sock, rx->data + rx->tail, room);
    if (r == -EINTR) continue;
    if (r == -EWOULDBLOCK) return -EAGAIN;
    if (r > 0) {
      assert((size_t)r <= room);
      rx->tail += (size_t)r;
    }
    return r;
  }
  return -EAGAIN;
}

void qwp_rx_consume(struct qwp_rx *rx, size_t n) {
  assert(n <= rx->tail - rx->head);
  rx->head += n;
  if (rx->head == rx->tail) rx->head = rx->tail = 0;
}
