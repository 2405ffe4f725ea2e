/* below - ciphertext out to the transport, and the end (declared in internal.h). */
#include <openssl/err.h>

#include "tls/internal.h"

#define END_NS INT64_C(5000000000) /* a client that does not end its side is given up on */

/* What OpenSSL has written goes behind what is pending. */
void tls_collect(struct tls_conn *c) {
  uint8_t *at;
  if (!c->out) return;
  const size_t n = (size_t)BIO_get_mem_data(c->out, &at);
  if (n > 0) mock_out_put(&c->pending, at, n);
  c->made += n;
  (void)BIO_reset(c->out);
}

/* One write below. false: the connection is gone. */
bool tls_push(struct tls_conn *c) {
  struct mock_transport *u = &c->t->under;
  tls_collect(c);
  if (c->pending.failed) return false;
  if (c->deaf) mock_out_clear(&c->pending);
  if (c->pending.n > 0) {
    const long took = u->write(u->ctx, c->peer, c->pending.p, c->pending.n);
    if (took < 0) return false;
    mock_out_drop_front(&c->pending, (size_t)took);
  }
  if (c->pending.n > 0 || !c->fin_wanted || c->fin_sent || c->deaf) return true;
  c->fin_sent = true;
  u->shutdown(u->ctx, c->peer);
  return true;
}

void tls_reset_below(struct tls_conn *c) {
  struct mock_transport *u = &c->t->under;
  if (!c->deaf) u->reset(u->ctx, c->peer);
  c->peer = NULL;
}

/* The answers end: close_notify unless told otherwise, and FIN, both behind what waits. */
void tls_end_answers(struct tls_conn *c, bool notify) {
  if (c->fin_wanted) return;
  c->fin_wanted = true;
  if (notify && !c->told.no_close_notify) SSL_shutdown(c->ssl);
  ERR_clear_error();
}

/* The mock is done with it. Read to the client's end, for a while. */
void tls_wind_up(struct tls_conn *c, bool notify) {
  struct mock_transport *u = &c->t->under;
  c->core = NULL;
  if (c->deaf) return;
  if (c->paused) u->pause(u->ctx, c->peer, false);
  c->paused = false;
  c->resume = true; /* what is held may have the client's end in it */
  tls_end_answers(c, notify);
  c->give_up_ns = tls_now_ns(c->t) + END_NS;
  u->wake_at(u->ctx, tls_now_ns(c->t));
  if (!tls_push(c)) tls_reset_below(c);
}
