#include "tls/filter.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#include "tls/internal.h"

/* ---- life ---------------------------------------------------------------------------- */

static void del(struct tls_conn *c) {
  if (c->prev) c->prev->next = c->next;
  else c->t->conns = c->next;
  if (c->next) c->next->prev = c->prev;
  SSL_free(c->ssl); /* and both BIOs */
  mock_out_free(&c->pending);
  free(c);
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
    if (!c->closed_by_peer) mock_tls_ended(c->t->m, tls_number(c), "close_notify");
    c->closed_by_peer = true;
  } else if (c->core && why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
    tls_fail(c, "bad record");
    tls_wind_up(c, false);
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
    /* A mock that leaves says so by close or reset. */
    if (n > 0 && c->core) (void)mock_received(c->core, c->t->pass, n);
    if (n > 0 && c->paused) return; /* `why` is looked at again when it goes on */
  }
  if (c->peer && !c->paused) note_end(c, why);
}

static void work(struct tls_conn *c) {
  c->resume = false;
  if (!c->up && !c->core) (void)BIO_reset(c->in);
  if (!c->up && c->core) tls_handshake(c);
  if (c->up && c->peer) hand_over(c);
  if (!c->peer || tls_push(c)) return; /* the answer to a key update, say */
  if (c->core) mock_ended(c->core, true);
  c->core = NULL;
  tls_reset_below(c);
}

/* ---- events from the transport ----------------------------------------------------------------- */

/* false: it is no more. */
static bool end(struct tls_conn *c) {
  if (c->peer) return true;
  del(c);
  return false;
}

/* A memory BIO takes all of it, but counts in int. false: out of memory. */
static bool take(struct tls_conn *c, const uint8_t *p, size_t n) {
  for (size_t done = 0; done < n;) {
    const size_t piece = n - done < PASS_BYTES ? n - done : PASS_BYTES;
    if (BIO_write(c->in, p + done, (int)piece) != (int)piece) return false;
    done += piece;
  }
  return true;
}

static bool on_received(void *conn, const uint8_t *p, size_t n) {
  struct tls_conn *c = conn;
  if (!c->ssl && !tls_settle(c)) {
    mock_ended(c->core, true);
    tls_reset_below(c);
    return end(c);
  }
  if (take(c, p, n)) {
    work(c);
  } else { /* what is lost would else read as the client's broken record */
    ERR_clear_error();
    if (c->core) tls_fail(c, "out of memory");
    tls_reset_below(c);
  }
  return end(c);
}

static bool on_writable(void *conn) {
  struct tls_conn *c = conn;
  if (!tls_push(c)) {
    if (c->core) mock_ended(c->core, true);
    c->core = NULL;
    tls_reset_below(c);
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
  if (c->peer && c->up && !reset && !c->closed_by_peer) mock_tls_ended(c->t->m, tls_number(c), "truncated");
  if (c->core && c->ssl && !c->up && !hanging) tls_fail(c, "handshake failed");
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
    if (c->peer && c->give_up_ns <= tls_now_ns(t)) {
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
