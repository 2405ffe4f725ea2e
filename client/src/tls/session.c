/* One TLS connection: the handshake, bytes out, bytes in, the end. */
#include "tls/session.h"

#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <stdio.h>
#include <string.h>

#include "tls/peer.h"
#include "tls/tls.h"

/* ---- life -------------------------------------------------------------------------------- */

static SSL *new_ssl(const struct qwp_session_options *o, struct qwp_pipe *pipe) {
  SSL *ssl = SSL_new(o->ctx);
  BIO *bio = ssl ? qwp_pipe_bio(o->bio, pipe) : NULL;
  if (bio) SSL_set_bio(ssl, bio, bio); /* takes the one reference for both directions */
  int64_t now_ns = o->below->clock->wall_ns(o->below->clock_ctx);
  if (!bio || !qwp_peer_expect(ssl, o->host, now_ns)) {
    SSL_free(ssl);
    return NULL;
  }
  SSL_set_connect_state(ssl);
  return ssl;
}

struct qwp_session *qwp_session_new(const struct qwp_session_options *o) {
  const struct qwp_mem_ops *mem = o->below->mem;
  struct qwp_session *s = mem->alloc(o->below->mem_ctx, sizeof *s);
  if (!s) return NULL;
  s->next = NULL;
  s->host = o->host;
  s->state = QWP_SESSION_LIVE;
  s->held = 0;
  s->reads_first = s->fin_due = s->fin_called = false;
  s->why[0] = '\0';
  qwp_pipe_init(&s->pipe, o->below, o->sock);
  ERR_clear_error();
  s->ssl = new_ssl(o, &s->pipe);
  if (s->ssl) return s;
  ERR_clear_error();
  mem->free(o->below->mem_ctx, s);
  return NULL;
}

void qwp_session_del(struct qwp_session *s) {
  const struct qwp_ops *below = s->pipe.below;
  SSL_free(s->ssl);
  below->mem->free(below->mem_ctx, s);
}

/* ---- what is common to both directions ------------------------------------------------------ */

/* Ciphertext out; behind the last of it the FIN that is due. As qwp_pipe_push. */
static int push(struct qwp_session *s) {
  /* Behind our FIN no answer can leave, and that is no reason to stop reading. */
  if (s->fin_called && !s->fin_due) qwp_pipe_drop(&s->pipe);
  int r = qwp_pipe_push(&s->pipe);
  if (r != 0 || !s->fin_due) return r;
  s->fin_due = false;
  const struct qwp_ops *below = s->pipe.below;
  return below->net->shutdown(below->net_ctx, s->pipe.sock);
}

/* TLS cannot go on: notes why, and tells the server if it takes the alert now. */
static void fail(struct qwp_session *s) {
  qwp_tls_reason(s->ssl, s->host, s->why, sizeof s->why);
  ERR_clear_error();
  s->state = QWP_SESSION_FAILED;
  (void)push(s);
}

static void cut(struct qwp_session *s) {
  s->state = QWP_SESSION_CUT;
  snprintf(s->why, sizeof s->why, "TLS: the server ended the connection without close_notify; what it said last may "
           "be cut off");
}

/* 0 = the handshake is done; -EAGAIN = it waits for the socket, `reads_first` tells which way; else it
 * failed. One read below that gives bytes is all it does in one call. */
static ssize_t shake(struct qwp_session *s) {
  for (bool filled = false; !SSL_is_init_finished(s->ssl);) {
    ERR_clear_error();
    int done = SSL_do_handshake(s->ssl);
    if (done == 1) return 0;
    if (SSL_get_error(s->ssl, done) != SSL_ERROR_WANT_READ) {
      fail(s);
      return -EPROTO;
    }
    int pushed = push(s);
    if (pushed != 0) return pushed;
    ssize_t r = filled ? -EAGAIN : qwp_pipe_fill(&s->pipe);
    s->reads_first = r == -EAGAIN;
    if (r < 0) return r;
    if (r == 0) {
      snprintf(s->why, sizeof s->why, "TLS: the server ended the connection during the handshake");
      s->state = QWP_SESSION_FAILED;
      return -EPROTO;
    }
    filled = true;
  }
  return 0;
}

/* ---- sending -------------------------------------------------------------------------------- */

/* One attempt at the caller's bytes: all that a send takes is encrypted at once, for the pipe never
 * stops OpenSSL halfway, and then belongs to the pipe. */
static ssize_t encrypt(struct qwp_session *s, const void *buf, size_t n) {
  size_t most = n < QWP_TLS_SEND_MAX ? n : QWP_TLS_SEND_MAX;
  ERR_clear_error();
  if (SSL_write_ex(s->ssl, buf, most, &s->held)) return 0;
  s->held = 0;
  fail(s); /* also if it asks for a read: renegotiation is off, so nothing may make it */
  return -EPROTO;
}

ssize_t qwp_session_send(struct qwp_session *s, const void *buf, size_t n) {
  if (s->state == QWP_SESSION_FAILED) return -EPROTO;
  if (s->fin_called) return -EPIPE;
  assert(n >= s->held); /* the same bytes again: part of them is encrypted already */
  if (n == 0) return 0;
  s->reads_first = false;
  ssize_t r = push(s);
  if (r != 0) return r;
  if (s->held == 0) {
    r = shake(s);
    if (r == 0) r = encrypt(s, buf, n);
    if (r == 0) r = push(s);
    if (r != 0) return r;
  }
  ssize_t taken = (ssize_t)s->held;
  s->held = 0;
  return taken;
}

/* ---- receiving -------------------------------------------------------------------------------- */

/* Decrypts what is here until buf is full: bytes written, `state` tells of an end behind them. */
static size_t decrypt(struct qwp_session *s, uint8_t *buf, size_t n) {
  size_t total = 0;
  while (total < n && s->state == QWP_SESSION_LIVE) {
    size_t got = 0;
    ERR_clear_error();
    int ok = SSL_read_ex(s->ssl, buf + total, n - total, &got);
    total += got;
    if (ok) continue;
    switch (SSL_get_error(s->ssl, ok)) {
      case SSL_ERROR_WANT_READ: return total;
      case SSL_ERROR_ZERO_RETURN: s->state = QWP_SESSION_ENDED; break;
      default: fail(s); break;
    }
  }
  return total;
}

/* What a recv without a byte of plaintext came to. */
static ssize_t nothing_read(const struct qwp_session *s) {
  switch (s->state) {
    case QWP_SESSION_LIVE: return -EAGAIN; /* also after a record without data: a ticket, a key update */
    case QWP_SESSION_FAILED: return -EPROTO;
    case QWP_SESSION_ENDED:
    case QWP_SESSION_CUT: break;
  }
  return 0;
}

ssize_t qwp_session_recv(struct qwp_session *s, void *buf, size_t n) {
  (void)push(s); /* answers and alerts of before; a dead sending half does not stop reading (CASE-08) */
  /* A server that asks without end and takes no answer is not read any further. */
  if (!qwp_pipe_has_room(&s->pipe)) return -EAGAIN;
  size_t got = decrypt(s, buf, n);
  if (got == 0 && s->state == QWP_SESSION_LIVE) {
    ssize_t r = qwp_pipe_fill(&s->pipe);
    if (r == -EAGAIN && s->pipe.send_error) return s->pipe.send_error;
    if (r < 0) return r;
    if (r == 0) cut(s);
    s->reads_first = false; /* what a send in the handshake waited for may be what came */
    got = decrypt(s, buf, n);
    (void)push(s);
  }
  return got > 0 ? (ssize_t)got : nothing_read(s);
}

/* ---- the end -------------------------------------------------------------------------------------- */

int qwp_session_shutdown(struct qwp_session *s) {
  if (s->fin_called) return 0;
  s->fin_called = s->fin_due = true;
  if (s->state != QWP_SESSION_FAILED && SSL_is_init_finished(s->ssl)) {
    ERR_clear_error();
    (void)SSL_shutdown(s->ssl); /* writes close_notify into the pipe */
    ERR_clear_error();
  }
  int r = push(s);
  return r == -EAGAIN || r == -EINTR || r == -ENOBUFS || r == -ENOMEM ? 0 : r;
}

/* ---- waiting ---------------------------------------------------------------------------------------- */

static bool wants_out(const struct qwp_session *s) {
  return qwp_pipe_pending(&s->pipe) > 0 && !s->pipe.send_error && !s->pipe.starved;
}

unsigned qwp_session_ready(const struct qwp_session *s, unsigned interest) {
  if (s->state == QWP_SESSION_FAILED) return interest;
  if (!(interest & QWP_READABLE)) return 0;
  bool here = SSL_pending(s->ssl) > 0 || s->pipe.in_head < s->pipe.in_tail;
  return here || s->state != QWP_SESSION_LIVE ? QWP_READABLE : 0;
}

/* The direction below in which the caller's next send goes on. */
static unsigned send_direction(const struct qwp_session *s) { return s->reads_first ? QWP_READABLE : QWP_WRITABLE; }

unsigned qwp_session_waits_for(const struct qwp_session *s, unsigned interest) {
  unsigned below = 0;
  if (interest & QWP_READABLE && qwp_pipe_has_room(&s->pipe)) below |= QWP_READABLE;
  if (interest & QWP_WRITABLE) below |= send_direction(s);
  if (wants_out(s)) below |= QWP_WRITABLE;
  return below;
}

unsigned qwp_session_came_true(const struct qwp_session *s, unsigned interest, unsigned ready) {
  unsigned is = ready & (interest | QWP_WOKEN) & ~QWP_WRITABLE;
  if (interest & QWP_WRITABLE && ready & send_direction(s)) is |= QWP_WRITABLE;
  /* Only our ciphertext has room: any call of the caller's hands it over. */
  if (!(interest & QWP_WRITABLE) && ready & QWP_WRITABLE) is |= interest;
  return is;
}
