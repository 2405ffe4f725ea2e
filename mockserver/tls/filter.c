#include "tls/filter.h"

#include <ctype.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#include "core/out.h"

enum { PASS_BYTES = 256 * 1024, PIECE_BYTES = 64 * 1024, RECORD_BYTES = 16384 };
#define END_NS INT64_C(5000000000) /* a client that does not end its side is given up on */

struct tls_conn {
  struct mock_tls *t;
  struct tls_conn *next, *prev;
  void *peer;                  /* of the transport below; NULL = it has let go: freed at the end of the event */
  struct mock_conn *core;      /* NULL = the mock has let go */
  struct mock_tls_script told; /* all zero = as a correct server */
  int number;                  /* of the connection, once the mock has let go */
  SSL *ssl;
  BIO *in, *out;
  struct mock_out pending;     /* ciphertext that the transport has not taken */
  size_t sealed;               /* plaintext of the mock in it, which the mock still holds */
  uint64_t made;               /* ciphertext so far */
  bool up;                     /* the handshake is over */
  int alert;                   /* the last one that came, -1 = none */
  bool paused, resume;
  size_t limit;
  bool fin_wanted, fin_sent;
  bool closed_by_peer;         /* close_notify came */
  int64_t give_up_ns;          /* INT64_MAX = not ending */
  bool deaf;                   /* the transport is telling its end: nothing more is said to it */
};

struct mock_tls {
  const struct mock_identity *id;
  struct mock_transport under;
  struct mock_clock clock;
  struct mock *m;
  struct tls_conn *conns;
  uint8_t *pass; /* PASS_BYTES of plaintext */
};

static int64_t now_ns(const struct mock_tls *t) { return t->clock.now_ns(t->clock.ctx); }

/* ---- life ---------------------------------------------------------------------------- */

static void del(struct tls_conn *c) {
  if (c->prev) c->prev->next = c->next;
  else c->t->conns = c->next;
  if (c->next) c->next->prev = c->prev;
  SSL_free(c->ssl); /* and both BIOs */
  mock_out_free(&c->pending);
  free(c);
}

static void on_info(const SSL *ssl, int where, int value) {
  struct tls_conn *c = SSL_get_app_data(ssl);
  if (where & SSL_CB_READ && where & SSL_CB_ALERT) c->alert = value;
}

/* Whatever the client shows is taken: the mock asks in order to see whether it shows anything. */
static int take_any(int good, X509_STORE_CTX *ctx) {
  (void)good;
  (void)ctx;
  return 1;
}

static bool set_up(struct tls_conn *c) {
  c->ssl = SSL_new(mock_identity_context(c->t->id, c->told.certificate));
  c->in = BIO_new(BIO_s_mem());
  c->out = BIO_new(BIO_s_mem());
  if (!c->ssl || !c->in || !c->out) {
    BIO_free(c->in);
    BIO_free(c->out);
    return false;
  }
  BIO_set_mem_eof_return(c->in, -1); /* empty is "not yet", not the end */
  SSL_set_bio(c->ssl, c->in, c->out);
  SSL_set_accept_state(c->ssl);
  SSL_set_app_data(c->ssl, c);
  SSL_set_info_callback(c->ssl, on_info);
  if (c->told.tickets_given && SSL_set_num_tickets(c->ssl, (size_t)c->told.tickets) != 1) return false;
  if (c->told.ask_certificate) SSL_set_verify(c->ssl, SSL_VERIFY_PEER, take_any);
  const int only = c->told.version == 12 ? TLS1_2_VERSION : c->told.version == 13 ? TLS1_3_VERSION : 0;
  return !only || (SSL_set_min_proto_version(c->ssl, only) && SSL_set_max_proto_version(c->ssl, only));
}

/* With the first byte, not at accept: a client that was refused has often connected anew before its refusal is read.
 * An entry that speaks of TLS has its connection from here on. */
static bool settle(struct tls_conn *c) {
  const struct mock_entry *e = mock_next_entry(c->t->m);
  if (e) c->told = e->tls;
  const bool good = set_up(c) && (!c->told.given || mock_conn_claim(c->core));
  ERR_clear_error();
  return good;
}

static void *on_accept(void *ctx, void *peer) {
  struct mock_tls *t = ctx;
  struct tls_conn *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  *c = (struct tls_conn){.t = t, .peer = peer, .next = t->conns, .alert = -1, .give_up_ns = INT64_MAX};
  if (t->conns) t->conns->prev = c;
  t->conns = c;
  c->core = mock_accept(t->m, c);
  if (c->core) return c;
  del(c);
  return NULL;
}

/* ---- ciphertext out --------------------------------------------------------------------- */

/* What OpenSSL has written goes behind what is pending. */
static void collect(struct tls_conn *c) {
  uint8_t *at;
  if (!c->out) return;
  const size_t n = (size_t)BIO_get_mem_data(c->out, &at);
  if (n > 0) mock_out_put(&c->pending, at, n);
  c->made += n;
  (void)BIO_reset(c->out);
}

/* One write below. false: the connection is gone. */
static bool push(struct tls_conn *c) {
  struct mock_transport *u = &c->t->under;
  collect(c);
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

static void reset_below(struct tls_conn *c) {
  struct mock_transport *u = &c->t->under;
  if (!c->deaf) u->reset(u->ctx, c->peer);
  c->peer = NULL;
}

/* The answers end: close_notify unless told otherwise, and FIN, both behind what waits. */
static void end_answers(struct tls_conn *c, bool notify) {
  if (c->fin_wanted) return;
  c->fin_wanted = true;
  if (notify && !c->told.no_close_notify) SSL_shutdown(c->ssl);
  ERR_clear_error();
}

/* The mock is done with it. Read to the client's end, for a while. */
static void wind_up(struct tls_conn *c, bool notify) {
  struct mock_transport *u = &c->t->under;
  c->core = NULL;
  if (c->deaf) return;
  if (c->paused) u->pause(u->ctx, c->peer, false);
  c->paused = false;
  c->resume = true; /* what is held may have the client's end in it */
  end_answers(c, notify);
  c->give_up_ns = now_ns(c->t) + END_NS;
  u->wake_at(u->ctx, now_ns(c->t));
  if (!push(c)) reset_below(c);
}

/* ---- what the mock does to a connection ----------------------------------------------------- */

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
  if (!push(c)) return -1;
  if (c->pending.n > 0) return 0;
  size_t took = c->sealed < n ? c->sealed : n;
  c->sealed = 0;
  while (took < n) {
    const size_t piece = n - took < PIECE_BYTES ? n - took : PIECE_BYTES;
    if (!seal(c, p + took, piece) || !push(c)) {
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
  end_answers(c, true);
  (void)push(c); /* a connection that is gone is told by the transport */
}

static int number_of(const struct tls_conn *c) {
  return !c->core ? c->number : mock_conn_is_reader(c->core) ? 0 : mock_conn_number(c->core);
}

static void tls_close(void *ctx, void *peer) {
  (void)ctx;
  struct tls_conn *c = peer;
  c->number = number_of(c);
  wind_up(c, true);
}

static void tls_reset(void *ctx, void *peer) {
  (void)ctx;
  struct tls_conn *c = peer;
  c->core = NULL;
  reset_below(c);
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
  u->wake_at(u->ctx, now_ns(c->t));
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
  (void)push(c);
}

static void tls_ticket(void *ctx, void *peer) {
  (void)ctx;
  struct tls_conn *c = peer;
  if (SSL_new_session_ticket(c->ssl) == 1) SSL_do_handshake(c->ssl);
  ERR_clear_error();
  (void)push(c);
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

/* ---- handshake ------------------------------------------------------------------------------- */

static const char *sni_of(const struct tls_conn *c) {
  const char *name = c->ssl ? SSL_get_servername(c->ssl, TLSEXT_NAMETYPE_host_name) : NULL;
  return name ? name : "";
}

/* "tls unknown ca" if the client gave a reason, else `otherwise`. */
static void failure_label(const struct tls_conn *c, const char *otherwise, char *out, size_t n) {
  snprintf(out, n, "tls %s", c->alert > 0 ? SSL_alert_desc_string_long(c->alert) : otherwise);
  for (char *p = out; *p; p++) *p = (char)tolower((unsigned char)*p);
}

/* The mock's connection ends here, in its handshake or on a record that is none. */
static void fail(struct tls_conn *c, const char *otherwise) {
  char label[48];
  failure_label(c, otherwise, label, sizeof label);
  if (!c->up) mock_conn_secured(c->core, "", sni_of(c));
  c->number = number_of(c);
  struct mock_conn *core = c->core;
  c->core = NULL;
  mock_conn_insecure(core, label);
}

static void die(struct tls_conn *c) {
  mock_conn_secured(c->core, "", sni_of(c));
  mock_conn_handshake_fired(c->core);
  struct mock_conn *core = c->core;
  c->core = NULL;
  reset_below(c);
  mock_conn_insecure(core, "script handshake die");
}

/* Lets out as much of the server's flight as the script wants, then dies. true: it did. */
static bool dies_here(struct tls_conn *c) {
  if (c->told.handshake != MOCK_TLS_DIE) return false;
  collect(c);
  if (c->made < (uint64_t)c->told.die_after_bytes) return false;
  const uint64_t surplus = c->made - (uint64_t)c->told.die_after_bytes;
  c->pending.n -= surplus < c->pending.n ? (size_t)surplus : c->pending.n;
  (void)push(c);
  die(c);
  return true;
}

static void risen(struct tls_conn *c) {
  const bool old = SSL_version(c->ssl) == TLS1_2_VERSION;
  c->up = true;
  mock_conn_secured(c->core, old ? "1.2" : "1.3", sni_of(c));
  X509 *shown = SSL_get1_peer_certificate(c->ssl);
  if (shown) mock_conn_certified(c->core);
  X509_free(shown);
}

static void handshake(struct tls_conn *c) {
  if (c->told.handshake == MOCK_TLS_HANG) {
    mock_conn_handshake_fired(c->core);
    (void)BIO_reset(c->in);
    return;
  }
  ERR_clear_error();
  const int done = SSL_do_handshake(c->ssl), why = SSL_get_error(c->ssl, done);
  ERR_clear_error();
  if (dies_here(c)) return;
  if (!push(c)) {
    fail(c, "handshake failed");
    reset_below(c);
  } else if (done == 1) {
    risen(c);
  } else if (why != SSL_ERROR_WANT_READ) {
    fail(c, "handshake failed");
    wind_up(c, false);
  }
}

/* ---- plaintext in --------------------------------------------------------------------------- */

/* Up to `want` bytes of plaintext; *why is why no more came. */
static size_t decrypt(struct tls_conn *c, size_t want, int *why) {
  size_t n = 0;
  *why = SSL_ERROR_NONE;
  while (n < want) {
    ERR_clear_error();
    const int got = SSL_read(c->ssl, c->t->pass + n, (int)(want - n));
    if (got > 0) {
      n += (size_t)got;
      continue;
    }
    *why = SSL_get_error(c->ssl, got);
    break;
  }
  ERR_clear_error();
  return n;
}

/* The client's direction has come to its end, or to bytes that are no records. */
static void note_end(struct tls_conn *c, int why) {
  if (why == SSL_ERROR_ZERO_RETURN) {
    if (!c->closed_by_peer) mock_tls_ended(c->t->m, number_of(c), "close_notify");
    c->closed_by_peer = true;
  } else if (c->core && why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
    fail(c, "bad record");
    wind_up(c, false);
  } else if (!c->core && why == SSL_ERROR_SSL) {
    (void)BIO_reset(c->in); /* nobody can read it any more */
  }
}

/* In passes no larger than the limit of the moment, until the mock pauses or leaves. Nobody hears what comes after. */
static void hand_over(struct tls_conn *c) {
  int why = SSL_ERROR_NONE;
  while (why == SSL_ERROR_NONE && c->peer && !c->paused) {
    const size_t limit = c->core ? c->limit : 0, want = limit > 0 && limit < PASS_BYTES ? limit : PASS_BYTES;
    const size_t n = decrypt(c, want, &why);
    if (n > 0 && c->core) (void)mock_received(c->core, c->t->pass, n); /* a mock that leaves says so by close or reset */
    if (n > 0 && c->paused) return; /* `why` is looked at again when it goes on */
  }
  if (c->peer && !c->paused) note_end(c, why);
}

static void work(struct tls_conn *c) {
  c->resume = false;
  if (!c->up && !c->core) (void)BIO_reset(c->in);
  if (!c->up && c->core) handshake(c);
  if (c->up && c->peer) hand_over(c);
  if (!c->peer || push(c)) return; /* the answer to a key update, say */
  if (c->core) mock_ended(c->core, true);
  c->core = NULL;
  reset_below(c);
}

/* ---- events from the transport ----------------------------------------------------------------- */

/* false: it is no more. */
static bool end(struct tls_conn *c) {
  if (c->peer) return true;
  del(c);
  return false;
}

static bool on_received(void *conn, const uint8_t *p, size_t n) {
  struct tls_conn *c = conn;
  if (!c->ssl && !settle(c)) {
    mock_ended(c->core, true);
    reset_below(c);
    return end(c);
  }
  for (size_t done = 0; done < n;) { /* a memory BIO takes all of it, but counts in int */
    const size_t piece = n - done < PASS_BYTES ? n - done : PASS_BYTES;
    if (BIO_write(c->in, p + done, (int)piece) != (int)piece) break;
    done += piece;
  }
  work(c);
  return end(c);
}

static bool on_writable(void *conn) {
  struct tls_conn *c = conn;
  if (!push(c)) {
    if (c->core) mock_ended(c->core, true);
    c->core = NULL;
    reset_below(c);
  } else if (c->pending.n == 0 && c->core) {
    (void)mock_writable(c->core);
  }
  return end(c);
}

static void on_ended(void *conn, bool reset) {
  struct tls_conn *c = conn;
  const bool hanging = c->told.handshake == MOCK_TLS_HANG;
  c->deaf = true;
  c->paused = false; /* what was held came before the end */
  if (c->up) hand_over(c);
  if (c->peer && c->up && !reset && !c->closed_by_peer) mock_tls_ended(c->t->m, number_of(c), "truncated");
  if (c->core && c->ssl && !c->up && !hanging) fail(c, "handshake failed");
  else if (c->core) mock_ended(c->core, reset);
  c->core = NULL;
  c->peer = NULL;
  (void)end(c);
}

static void on_tick(void *ctx) {
  struct mock_tls *t = ctx;
  struct tls_conn *next;
  mock_tick(t->m);
  for (struct tls_conn *c = t->conns; c; c = next) {
    next = c->next;
    if (c->peer && c->give_up_ns <= now_ns(t)) {
      t->under.close(t->under.ctx, c->peer);
      c->peer = NULL;
    } else if (c->peer && c->resume && !c->paused) {
      work(c);
    }
    if (end(c) && c->give_up_ns != INT64_MAX) t->under.wake_at(t->under.ctx, c->give_up_ns);
  }
}

struct mock_events mock_tls_events(struct mock_tls *t) {
  return (struct mock_events){t, on_accept, on_received, on_writable, on_ended, on_tick};
}

/* ---- the filter --------------------------------------------------------------------------------- */

struct mock_tls *mock_tls_new(const struct mock_identity *id, const struct mock_transport *under,
                              const struct mock_clock *clock) {
  struct mock_tls *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  *t = (struct mock_tls){.id = id, .under = *under, .clock = *clock, .pass = malloc(PASS_BYTES)};
  if (t->pass) return t;
  free(t);
  return NULL;
}

void mock_tls_serve(struct mock_tls *t, struct mock *m) { t->m = m; }

void mock_tls_del(struct mock_tls *t) {
  if (!t) return;
  while (t->conns) del(t->conns);
  free(t->pass);
  free(t);
}
