/* internal - a connection behind TLS, as the parts of the filter share it.
 *
 *   filter.c     events from the transport, plaintext in, life
 *   handshake.c  who is shown to the client, and what may go wrong before the first byte of plaintext
 *   below.c      ciphertext out, and the end
 *   above.c      what the mock may do to a connection
 */
#ifndef MOCK_TLS_INTERNAL_H
#define MOCK_TLS_INTERNAL_H

#include "core/out.h"
#include "tls/filter.h"

enum { PASS_BYTES = 256 * 1024, PIECE_BYTES = 64 * 1024, RECORD_BYTES = 16384 };

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

/* handshake.c */
bool tls_settle(struct tls_conn *c);                      /* with the first byte: which entry, which certificate */
void tls_handshake(struct tls_conn *c);                   /* as far as it goes with what is here */
void tls_fail(struct tls_conn *c, const char *otherwise); /* the mock's connection ends; `otherwise`: with no alert */

/* below.c */
void tls_collect(struct tls_conn *c);                       /* what OpenSSL has written goes behind what is pending */
bool tls_push(struct tls_conn *c);                          /* one write below. false: the connection is gone */
void tls_reset_below(struct tls_conn *c);
void tls_end_answers(struct tls_conn *c, bool notify);      /* close_notify unless told otherwise, and FIN behind it */
void tls_wind_up(struct tls_conn *c, bool notify);          /* the mock is done with it: read to the client's end */

static inline int64_t tls_now_ns(const struct mock_tls *t) { return t->clock.now_ns(t->clock.ctx); }

/* Of an ingress connection, also one that the mock has let go of; 0 = none. */
static inline int tls_number(const struct tls_conn *c) {
  return !c->core ? c->number : mock_conn_is_reader(c->core) ? 0 : mock_conn_number(c->core);
}

#endif
