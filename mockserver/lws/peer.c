#define _DEFAULT_SOURCE /* struct tcp_info */
#include "peer.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { POLITE_END_SECONDS = 5 };

/* ---- what the mock does to a peer ----------------------------------------------- */

/* Straight to the socket, past libwebsockets' own queue: a short write must be seen. */
static long peer_write(void *ctx, void *peer, const uint8_t *data, size_t n) {
  (void)ctx;
  struct mock_lws_peer *p = peer;
  ssize_t took;
  do took = send(p->fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (took < 0 && errno == EINTR);
  if (took < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return -1;
  if (took < 0) took = 0;
  if ((size_t)took < n) lws_callback_on_writable(p->wsi);
  return (long)took;
}

static void peer_shutdown(void *ctx, void *peer) {
  (void)ctx;
  struct mock_lws_peer *p = peer;
  shutdown(p->fd, SHUT_WR);
}

/* FIN, then read until the peer's FIN: a close() with unread input would send RST and
 * could destroy the Close frame on its way. A peer that never ends is given up on. */
static void peer_close(void *ctx, void *peer) {
  (void)ctx;
  struct mock_lws_peer *p = peer;
  p->conn = NULL;
  p->surplus_n = 0;
  shutdown(p->fd, SHUT_WR);
  lws_rx_flow_control(p->wsi, 1);
  lws_set_timeout(p->wsi, PENDING_TIMEOUT_USER_OK, POLITE_END_SECONDS);
}

/* With linger 0 the closing of a raw socket is one RST and nothing else. */
static void peer_reset(void *ctx, void *peer) {
  (void)ctx;
  struct mock_lws_peer *p = peer;
  struct linger now = {.l_onoff = 1, .l_linger = 0};
  p->conn = NULL;
  setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  if (p->in_callback) p->kill = true;
  else lws_set_timeout(p->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC);
}

static void pump(lws_sorted_usec_list_t *sul);

static void peer_pause(void *ctx, void *peer, bool paused) {
  struct mock_lws *l = ctx;
  struct mock_lws_peer *p = peer;
  p->paused = paused;
  if (paused) lws_rx_flow_control(p->wsi, 0);
  else if (p->surplus_n > 0) lws_sul_schedule(l->context, 0, &p->pump, pump, 1);
  else lws_rx_flow_control(p->wsi, 1);
}

static void peer_limit_read(void *ctx, void *peer, size_t max_bytes) {
  (void)ctx;
  struct mock_lws_peer *p = peer;
  p->limit = max_bytes;
}

void mock_lws_peer_table(struct mock_transport *t) {
  t->write = peer_write;
  t->shutdown = peer_shutdown;
  t->close = peer_close;
  t->reset = peer_reset;
  t->pause = peer_pause;
  t->limit_read = peer_limit_read;
}

/* ---- events ----------------------------------------------------------------------- */

static bool keep_surplus(struct mock_lws_peer *p, const uint8_t *data, size_t n) {
  if (p->surplus_cap - p->surplus_n < n) {
    size_t cap = p->surplus_n + n;
    uint8_t *bigger = realloc(p->surplus, cap);
    if (!bigger) return false;
    p->surplus = bigger;
    p->surplus_cap = cap;
  }
  memcpy(p->surplus + p->surplus_n, data, n);
  p->surplus_n += n;
  return true;
}

/* Hands data over, in passes no larger than the limit of the moment. Returns how much:
 * less than n once the mock has paused or left. */
static size_t hand_over(struct mock_lws_peer *p, const uint8_t *data, size_t n) {
  size_t done = 0;
  while (done < n && p->conn && !p->paused) {
    size_t piece = p->limit > 0 && p->limit < n - done ? p->limit : n - done;
    if (!p->l->events.received(p->conn, data + done, piece)) p->conn = NULL;
    done += piece;
  }
  return done;
}

int mock_lws_peer_received(struct mock_lws_peer *p, const uint8_t *data, size_t n) {
  if (!p->conn) return p->kill ? -1 : 0; /* ending politely: read and forget */
  p->in_callback = true;
  /* libwebsockets may hand over what it had read before the flow was stopped: behind the surplus. */
  size_t done = p->surplus_n > 0 ? 0 : hand_over(p, data, n);
  bool kept = done == n || !p->conn || keep_surplus(p, data + done, n - done);
  p->in_callback = false;
  if (!kept) mock_lws_broke(p->l, "realloc", strerror(ENOMEM));
  return p->kill || !kept ? -1 : 0;
}

static void pump(lws_sorted_usec_list_t *sul) {
  struct mock_lws_peer *p = lws_container_of(sul, struct mock_lws_peer, pump);
  if (p->paused || !p->conn) return;
  p->in_callback = true;
  size_t done = hand_over(p, p->surplus, p->surplus_n);
  p->in_callback = false;
  if (done < p->surplus_n) memmove(p->surplus, p->surplus + done, p->surplus_n - done);
  p->surplus_n -= done < p->surplus_n ? done : p->surplus_n;
  if (p->kill) lws_set_timeout(p->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC);
  else if (p->conn && !p->paused) lws_rx_flow_control(p->wsi, 1);
}

int mock_lws_peer_writable(struct mock_lws_peer *p) {
  if (!p->conn) return p->kill ? -1 : 0;
  p->in_callback = true;
  if (!p->l->events.writable(p->conn)) p->conn = NULL;
  p->in_callback = false;
  return p->kill ? -1 : 0;
}

/* The kernel's view of a connection that ended: a FIN leaves it in CLOSE_WAIT, a RST closed. */
static bool was_reset(int fd) {
  struct tcp_info info;
  socklen_t n = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) != 0) return false;
  return info.tcpi_state == TCP_CLOSE;
}

void mock_lws_peer_closed(struct mock_lws_peer *p) {
  struct mock_lws *l = p->l;
  if (p->conn && !l->stopping) l->events.ended(p->conn, was_reset(p->fd));
  lws_sul_schedule(l->context, 0, &p->pump, NULL, LWS_SET_TIMER_USEC_CANCEL);
  if (p->prev) p->prev->next = p->next;
  else l->peers = p->next;
  if (p->next) p->next->prev = p->prev;
  l->open--;
  free(p->surplus);
  free(p);
}

/* ---- a new one ----------------------------------------------------------------------- */

static void refuse(int fd) {
  struct linger now = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close(fd);
}

static bool adopt(struct mock_lws_peer *p) {
  struct mock_lws *l = p->l;
  lws_sock_file_fd_type d;
  d.sockfd = p->fd;
  p->wsi = lws_adopt_descriptor_vhost(l->vhost, LWS_ADOPT_SOCKET, d, "peer", NULL);
  if (!p->wsi) return false;
  lws_set_opaque_user_data(p->wsi, p);
  lws_set_timeout(p->wsi, NO_PENDING_TIMEOUT, 0);
  p->next = l->peers;
  if (l->peers) l->peers->prev = p;
  l->peers = p;
  l->open++;
  return true;
}

bool mock_lws_peer_accept(struct mock_lws *l, int fd) {
  int one = 1;
  struct mock_lws_peer *p = calloc(1, sizeof *p);
  if (!p) {
    mock_lws_broke(l, "calloc", strerror(ENOMEM));
    refuse(fd);
    return false;
  }
  p->l = l;
  p->fd = fd;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (l->send_buffer_bytes > 0)
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &l->send_buffer_bytes, sizeof l->send_buffer_bytes);

  p->conn = l->events.accept(l->events.ctx, p); /* it does nothing to the peer yet */
  if (!p->conn) {
    free(p);
    refuse(fd);
    return false;
  }
  if (adopt(p)) {
    if (l->on_accept) l->on_accept(l->on_accept_ctx, fd);
    return true;
  }
  mock_lws_broke(l, "lws_adopt_descriptor_vhost", strerror(errno));
  l->events.ended(p->conn, true); /* libwebsockets has closed the socket */
  free(p);
  return false;
}
