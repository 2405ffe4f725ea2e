/* tls_rig.h - the mock behind its TLS, on the rig's transport in memory, and OpenSSL's own client before it.
 *
 *   struct tls_rig t;
 *   tr_start(&t, &script);
 *   struct tr_client *c = tr_connect(&t, "a.test");   // who checks what it is shown
 *   tr_shake(c);                                      // to the end of the handshake, whichever
 *   tr_say(c, bytes, n);                              // in one record and one read of the server's
 *   c->heard, c->heard_n                              // plaintext that came
 *   tr_stop(&t);
 */
#ifndef TLS_RIG_H
#define TLS_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include "mock_rig.h"
#include "tls/filter.h"

#define TR_CLIENTS 16

struct tr_client {
  struct tls_rig *t;
  struct rig_peer *p;
  void *conn; /* of the filter; NULL = it has let go */
  SSL *ssl;
  uint8_t heard[1 << 16];
  size_t heard_n;
  bool ended; /* close_notify came */
  bool broken;
};

struct tls_rig {
  struct rig r;
  struct mock_identity *id;
  struct mock_tls *tls;
  struct mock_events events;
  SSL_CTX *ctx; /* trusts the mock's CA */
  struct tr_client clients[TR_CLIENTS];
  int count;
};

static inline SSL_CTX *tr_trusting(const struct mock_identity *id) {
  char path[512];
  SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
  assert_non_null(ctx);
  assert_true(mock_identity_temporary_ca(id, path, sizeof path));
  assert_int_equal(SSL_CTX_load_verify_locations(ctx, path, NULL), 1);
  assert_int_equal(unlink(path), 0);
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
  return ctx;
}

/* id and ctx (tr_trusting(id)) are the caller's and outlive the rig: tr_halt ends it. */
static inline void tr_start_as(struct tls_rig *t, const struct mock_script *script, struct mock_identity *id,
                               SSL_CTX *ctx) {
  memset(t, 0, sizeof *t);
  struct rig *r = &t->r;
  r->now_ns = 1000000;
  r->wall_ns = 1700000000000000000;
  r->wake_ns = INT64_MAX;
  r->listening = true;
  t->id = id;
  t->ctx = ctx;
  struct mock_options o = {.clock = {r, rig_now, rig_wall}, .script = script, .replayed = true};
  struct mock_transport under = {.ctx = r, .write = rig_write, .shutdown = rig_shutdown, .close = rig_close,
                                 .reset = rig_reset, .pause = rig_pause, .wake_at = rig_wake_at, .listen = rig_listen,
                                 .limit_read = rig_limit_read};
  t->tls = mock_tls_new(t->id, &under, &o.clock);
  assert_non_null(t->tls);
  o.transport = mock_tls_transport(t->tls);
  r->m = mock_new(&o);
  assert_non_null(r->m);
  mock_tls_serve(t->tls, r->m);
  t->events = mock_tls_events(t->tls);
}

static inline void tr_start(struct tls_rig *t, const struct mock_script *script) {
  struct mock_identity *id = mock_identity_new();
  assert_non_null(id);
  tr_start_as(t, script, id, tr_trusting(id));
}

static inline void tr_halt(struct tls_rig *t) {
  for (int i = 0; i < t->count; i++) SSL_free(t->clients[i].ssl);
  rig_stop(&t->r);
  mock_tls_del(t->tls);
}

static inline void tr_stop(struct tls_rig *t) {
  tr_halt(t);
  SSL_CTX_free(t->ctx);
  mock_identity_del(t->id);
}

/* A client that has connected and said nothing yet. host NULL: it sends no name and checks none. */
static inline struct tr_client *tr_connect(struct tls_rig *t, const char *host) {
  assert_true(t->count < TR_CLIENTS && t->r.peer_count < RIG_PEERS);
  struct tr_client *c = &t->clients[t->count++];
  c->t = t;
  c->p = &t->r.peers[t->r.peer_count++];
  *c->p = (struct rig_peer){.r = &t->r, .room = SIZE_MAX};
  c->conn = t->events.accept(t->events.ctx, c->p);
  assert_non_null(c->conn);
  c->ssl = SSL_new(t->ctx);
  assert_non_null(c->ssl);
  SSL_set_bio(c->ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_connect_state(c->ssl);
  if (host) assert_true(SSL_set_tlsext_host_name(c->ssl, host) && SSL_set1_host(c->ssl, host));
  return c;
}

static inline bool tr_gone(const struct tr_client *c) { return c->p->closed || c->p->reset; }

/* One read of the server's. */
static inline void tr_feed(struct tr_client *c, const void *bytes, size_t n) {
  uint8_t *exact = malloc(n);
  if (!exact) abort();
  memcpy(exact, bytes, n);
  if (c->conn && !c->t->events.received(c->conn, exact, n)) {
    c->conn = NULL;
    assert_true(tr_gone(c));
  }
  free(exact);
}

/* What the client has to send, as one read; bytes taken from it. */
static inline size_t tr_flush(struct tr_client *c) {
  uint8_t *at;
  BIO *out = SSL_get_wbio(c->ssl);
  const size_t n = (size_t)BIO_get_mem_data(out, &at);
  if (n > 0) tr_feed(c, at, n);
  (void)BIO_reset(out);
  return n;
}

/* What the server has sent goes to the client. */
static inline size_t tr_hear(struct tr_client *c) {
  const size_t n = c->p->out_n;
  if (n > 0) assert_int_equal(BIO_write(SSL_get_rbio(c->ssl), c->p->out, (int)n), n);
  rig_forget(c->p);
  if (!SSL_is_init_finished(c->ssl)) return n;
  for (;;) {
    assert_true(c->heard_n < sizeof c->heard);
    const int got = SSL_read(c->ssl, c->heard + c->heard_n, (int)(sizeof c->heard - c->heard_n));
    if (got > 0) {
      c->heard_n += (size_t)got;
      continue;
    }
    const int why = SSL_get_error(c->ssl, got);
    ERR_clear_error();
    c->ended = c->ended || why == SSL_ERROR_ZERO_RETURN;
    c->broken = c->broken || why == SSL_ERROR_SSL;
    return n;
  }
}

/* To the end of the handshake: true = it was completed. */
static inline bool tr_shake(struct tr_client *c) {
  for (int round = 0; round < 20; round++) {
    ERR_clear_error();
    const int done = SSL_do_handshake(c->ssl);
    const int why = SSL_get_error(c->ssl, done);
    ERR_clear_error();
    const size_t said = tr_flush(c);
    if (done == 1) {
      tr_hear(c); /* tickets */
      return true;
    }
    if (why != SSL_ERROR_WANT_READ) return false;
    if (tr_hear(c) == 0 && said == 0) return false;
  }
  return false;
}

static inline void tr_say(struct tr_client *c, const void *bytes, size_t n) {
  assert_int_equal(SSL_write(c->ssl, bytes, (int)n), n);
  tr_flush(c);
}

/* Handshake and upgrade done, the 101 read and forgotten. */
static inline struct tr_client *tr_client(struct tls_rig *t) {
  struct tr_client *c = tr_connect(t, "localhost");
  assert_true(tr_shake(c));
  tr_say(c, RIG_WRITE_HEAD, sizeof RIG_WRITE_HEAD - 1);
  tr_hear(c);
  assert_true(c->heard_n > 13);
  assert_memory_equal(c->heard, "HTTP/1.1 101 ", 13);
  c->heard_n = 0;
  return c;
}

static inline void tr_eof(struct tr_client *c, bool reset) {
  if (c->conn) c->t->events.ended(c->conn, reset);
  c->conn = NULL;
}

static inline void tr_writable(struct tr_client *c, size_t room) {
  c->p->room = room;
  if (c->conn && !c->t->events.writable(c->conn)) c->conn = NULL;
}

static inline void tr_advance(struct tls_rig *t, int64_t ns) {
  struct rig *r = &t->r;
  const int64_t to = r->now_ns + ns;
  while (r->wake_ns <= to) {
    if (r->wake_ns > r->now_ns) r->now_ns = r->wake_ns;
    r->wake_ns = INT64_MAX;
    t->events.tick(t->events.ctx);
  }
  r->now_ns = to;
}

#endif
