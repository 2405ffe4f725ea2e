/* The net table: finds the connection of a handle and passes on what is not TLS's. */
#include <errno.h>
#include <openssl/err.h>
#include <stdio.h>

#include "qwp/status.h"
#include "tls/session.h"
#include "tls/tls.h"
#include "tls/trust.h"

#define STARVED_PAUSE_NS QWP_NS_PER_MS /* until a kernel without buffers is asked again */

struct qwp_tls {
  const struct qwp_ops *below;
  SSL_CTX *ctx;
  BIO_METHOD *bio;
  struct qwp_session *sessions; /* a sender has one at a time */
};

static const struct qwp_net_ops *net_below(const struct qwp_tls *tls) { return tls->below->net; }
static void *ctx_below(const struct qwp_tls *tls) { return tls->below->net_ctx; }

static struct qwp_session *find(const struct qwp_tls *tls, qwp_sock sock) {
  struct qwp_session *s = tls->sessions;
  while (s && s->pipe.sock != sock) s = s->next;
  return s;
}

/* ---- connections ------------------------------------------------------------------------------ */

static int tls_resolve(void *ctx, const char *host, int port, struct qwp_addr *out, int max) {
  const struct qwp_tls *tls = ctx;
  int count = net_below(tls)->resolve(ctx_below(tls), host, port, out, max);
  for (int i = 0; i < count; i++) out[i].host = host;
  return count;
}

static int tls_connect(void *ctx, const struct qwp_addr *addr, qwp_sock *out) {
  struct qwp_tls *tls = ctx;
  *out = -1;
  if (!addr->host) return -EINVAL;
  qwp_sock sock;
  int r = net_below(tls)->connect(ctx_below(tls), addr, &sock);
  if (r != 0 && r != -EINPROGRESS) return r;
  const struct qwp_session_options o = {
      .ctx = tls->ctx, .bio = tls->bio, .below = tls->below, .sock = sock, .host = addr->host};
  struct qwp_session *s = qwp_session_new(&o);
  if (!s) {
    net_below(tls)->close(ctx_below(tls), sock);
    return -ENOMEM;
  }
  s->next = tls->sessions;
  tls->sessions = s;
  *out = sock;
  return r;
}

static int tls_connected(void *ctx, qwp_sock sock) {
  const struct qwp_tls *tls = ctx;
  return net_below(tls)->connected(ctx_below(tls), sock);
}

static void tls_close(void *ctx, qwp_sock sock) {
  struct qwp_tls *tls = ctx;
  for (struct qwp_session **at = &tls->sessions; *at; at = &(*at)->next) {
    struct qwp_session *s = *at;
    if (s->pipe.sock != sock) continue;
    *at = s->next;
    qwp_session_del(s);
    break;
  }
  net_below(tls)->close(ctx_below(tls), sock);
}

/* ---- bytes -------------------------------------------------------------------------------------- */

static ssize_t tls_send(void *ctx, qwp_sock sock, const void *buf, size_t n) {
  struct qwp_session *s = find(ctx, sock);
  return s ? qwp_session_send(s, buf, n) : -EBADF;
}

static ssize_t tls_recv(void *ctx, qwp_sock sock, void *buf, size_t n) {
  struct qwp_session *s = find(ctx, sock);
  if (!s) return -EBADF;
  return n > 0 ? qwp_session_recv(s, buf, n) : 0;
}

static int tls_shutdown(void *ctx, qwp_sock sock) {
  struct qwp_session *s = find(ctx, sock);
  return s ? qwp_session_shutdown(s) : -EBADF;
}

/* ---- waiting -------------------------------------------------------------------------------------- */

/* Pending ciphertext that the kernel has no buffers for, and nobody but us who would try again. */
static bool must_try_again(const struct qwp_session *s, unsigned waits_for) {
  return s->pipe.starved && qwp_pipe_pending(&s->pipe) > 0 && !(waits_for & QWP_WRITABLE);
}

static int tls_wait(void *ctx, qwp_sock sock, unsigned interest, int64_t timeout_ns) {
  const struct qwp_tls *tls = ctx;
  const struct qwp_session *s = find(tls, sock);
  if (!s || !interest) return net_below(tls)->wait(ctx_below(tls), sock, interest, timeout_ns);
  unsigned ready = qwp_session_ready(s, interest);
  if (ready) return (int)ready;
  unsigned waits_for = qwp_session_waits_for(s, interest);
  bool paced = must_try_again(s, waits_for) && timeout_ns > STARVED_PAUSE_NS;
  int r = net_below(tls)->wait(ctx_below(tls), sock, waits_for, paced ? STARVED_PAUSE_NS : timeout_ns);
  if (r == 0 && paced) return (int)interest; /* the caller's call tries */
  return r > 0 ? (int)qwp_session_came_true(s, interest, (unsigned)r) : r;
}

static void tls_wake(void *ctx) {
  const struct qwp_tls *tls = ctx;
  net_below(tls)->wake(ctx_below(tls));
}

/* ---- what only layers say --------------------------------------------------------------------------- */

static enum qwp_status tls_explain(void *ctx, qwp_sock sock, char *text, size_t n) {
  const struct qwp_tls *tls = ctx;
  const struct qwp_session *s = find(tls, sock);
  if (s && s->why[0]) {
    snprintf(text, n, "%s", s->why);
    return s->state == QWP_SESSION_FAILED ? QWP_CONN_TLS : QWP_CONN_LOST;
  }
  return net_below(tls)->explain ? net_below(tls)->explain(ctx_below(tls), sock, text, n) : QWP_OK;
}

static void tls_opened(void *ctx, qwp_sock sock) {
  const struct qwp_tls *tls = ctx;
  if (net_below(tls)->opened) net_below(tls)->opened(ctx_below(tls), sock);
}

/* ---- life -------------------------------------------------------------------------------------------- */

static const struct qwp_net_ops tls_net = {
    .resolve = tls_resolve,
    .connect = tls_connect,
    .connected = tls_connected,
    .send = tls_send,
    .recv = tls_recv,
    .shutdown = tls_shutdown,
    .close = tls_close,
    .wait = tls_wait,
    .wake = tls_wake,
    .explain = tls_explain,
    .opened = tls_opened,
};

struct qwp_tls *qwp_tls_new(const struct qwp_tls_options *o, const struct qwp_ops *below, struct qwp_error *err) {
  struct qwp_tls *tls = below->mem->alloc(below->mem_ctx, sizeof *tls);
  if (!tls) {
    qwp_fail(err, QWP_NOMEM, "out of memory for TLS");
    return NULL;
  }
  *tls = (struct qwp_tls){.below = below, .bio = qwp_pipe_method()};
  if (!tls->bio)
    qwp_fail(err, QWP_NOMEM, "out of memory for TLS");
  else
    tls->ctx = qwp_trust_new(o, below, err);
  if (tls->ctx) return tls;
  qwp_tls_del(tls);
  return NULL;
}

void qwp_tls_del(struct qwp_tls *tls) {
  if (!tls) return;
  while (tls->sessions) tls_close(tls, tls->sessions->pipe.sock);
  SSL_CTX_free(tls->ctx);
  BIO_meth_free(tls->bio);
  tls->below->mem->free(tls->below->mem_ctx, tls);
}

void qwp_tls_ops(struct qwp_tls *tls, struct qwp_ops *out) {
  *out = *tls->below;
  out->net = &tls_net;
  out->net_ctx = tls;
}
