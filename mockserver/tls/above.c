/* above - what the mock may do to a connection (declared in filter.h). */
#include <openssl/err.h>

#include "tls/internal.h"

static bool seal(struct tls_conn *c, const uint8_t *p, size_t n) {
  const size_t record = c->told.record_bytes > 0 && c->told.record_bytes < RECORD_BYTES ? (size_t)c->told.record_bytes
                                                                                       : RECORD_BYTES;
  for (size_t done = 0; done < n;) {
    const size_t piece = n - done < record ? n - done : record;
    const int took = SSL_write(c->ssl, p + done, (int)piece);
    if (took <= 0) return false;
    done += (size_t)took;
  }
  return true;
}

/* The mock comes back with the bytes that were not taken, so what was sealed of them is not sealed again. */
static long tls_write(void *ctx, void *peer, const uint8_t *p, size_t n) {
  (void)ctx;
  struct tls_conn *c = peer;
  if (!tls_push(c)) return -1;
  if (c->pending.n > 0) return 0;
  size_t took = c->sealed < n ? c->sealed : n;
  c->sealed = 0;
  while (took < n) {
    const size_t piece = n - took < PIECE_BYTES ? n - took : PIECE_BYTES;
    if (!seal(c, p + took, piece) || !tls_push(c)) {
      ERR_clear_error();
      return -1;
    }
    if (c->pending.n > 0) {
      c->sealed = piece;
      break;
    }
    took += piece;
  }
  return (long)took;
}

static void tls_shutdown(void *ctx, void *peer) {
  (void)ctx;
  struct tls_conn *c = peer;
  tls_end_answers(c, true);
  (void)tls_push(c); /* a connection that is gone is told by the transport */
}

static void tls_close(void *ctx, void *peer) {
  (void)ctx;
  struct tls_conn *c = peer;
  c->number = tls_number(c);
  tls_wind_up(c, true);
}

static void tls_reset(void *ctx, void *peer) {
  (void)ctx;
  struct tls_conn *c = peer;
  c->core = NULL;
  tls_reset_below(c);
}

static void tls_pause(void *ctx, void *peer, bool paused) {
  struct tls_conn *c = peer;
  struct mock_transport *u = &c->t->under;
  (void)ctx;
  c->paused = paused;
  if (c->deaf) return;
  u->pause(u->ctx, c->peer, paused);
  if (paused) return;
  c->resume = true; /* the mock must not be called from within its own call */
  u->wake_at(u->ctx, tls_now_ns(c->t));
}

static void tls_limit_read(void *ctx, void *peer, size_t max_bytes) {
  (void)ctx;
  ((struct tls_conn *)peer)->limit = max_bytes;
}

static void tls_wake_at(void *ctx, int64_t at_ns) {
  struct mock_tls *t = ctx;
  t->under.wake_at(t->under.ctx, at_ns);
}

static void tls_listen(void *ctx, bool open) {
  struct mock_tls *t = ctx;
  t->under.listen(t->under.ctx, open);
}

/* The record leaves at once; where the socket is full it waits, and later answers behind it. */
static void tls_key_update(void *ctx, void *peer) {
  (void)ctx;
  struct tls_conn *c = peer;
  if (SSL_key_update(c->ssl, SSL_KEY_UPDATE_REQUESTED) == 1) SSL_do_handshake(c->ssl);
  ERR_clear_error();
  (void)tls_push(c);
}

static void tls_ticket(void *ctx, void *peer) {
  (void)ctx;
  struct tls_conn *c = peer;
  if (SSL_new_session_ticket(c->ssl) == 1) SSL_do_handshake(c->ssl);
  ERR_clear_error();
  (void)tls_push(c);
}

struct mock_transport mock_tls_transport(struct mock_tls *t) {
  return (struct mock_transport){.ctx = t,
                                 .write = tls_write,
                                 .shutdown = tls_shutdown,
                                 .close = tls_close,
                                 .reset = tls_reset,
                                 .pause = tls_pause,
                                 .wake_at = tls_wake_at,
                                 .listen = tls_listen,
                                 .limit_read = tls_limit_read,
                                 .key_update = tls_key_update,
                                 .ticket = tls_ticket};
}
