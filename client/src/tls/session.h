/* session - one TLS connection over a handle of the table below. */
#ifndef QWP_TLS_SESSION_H
#define QWP_TLS_SESSION_H

#include <openssl/ssl.h>
#include <stdbool.h>

#include "qwp/ops.h"
#include "tls/pipe.h"
#include "tls/reason.h"

/* How the connection stands. */
enum qwp_session_state {
  QWP_SESSION_LIVE,
  QWP_SESSION_ENDED, /* close_notify arrived: nothing more is to be read */
  QWP_SESSION_CUT,   /* the stream below ended without it */
  QWP_SESSION_FAILED /* TLS is broken, `why` tells: nothing is sent or read any more */
};

struct qwp_session {
  struct qwp_session *next; /* in the list of its table */
  SSL *ssl;
  const char *host; /* as it was dialled */
  enum qwp_session_state state;
  size_t held;      /* plaintext whose ciphertext is pending: the caller does not know yet that it was taken */
  bool reads_first; /* the last send cannot go on before the server's bytes come (CASE-56) */
  bool fin_due;     /* shutdown was called, and the FIN is still behind what is pending */
  bool fin_called;  /* nothing may be sent any more */
  char why[QWP_TLS_REASON_BYTES];
  struct qwp_pipe pipe;
};

/* What a session is made of; all is borrowed, host for its life. */
struct qwp_session_options {
  SSL_CTX *ctx;
  const BIO_METHOD *bio;
  const struct qwp_ops *below;
  qwp_sock sock;
  const char *host;
};

/* Ready for the handshake. NULL = out of memory, or a host that cannot be checked. The handle stays
 * the caller's, who closes it. */
struct qwp_session *qwp_session_new(const struct qwp_session_options *o);
void qwp_session_del(struct qwp_session *s);

/* The calls of ops.h, with what tls.h adds. */
ssize_t qwp_session_send(struct qwp_session *s, const void *buf, size_t n);
ssize_t qwp_session_recv(struct qwp_session *s, void *buf, size_t n);
int qwp_session_shutdown(struct qwp_session *s);

/* Of `interest`, what needs no waiting: a call for it would not come to -EAGAIN for want of the socket. */
unsigned qwp_session_ready(const struct qwp_session *s, unsigned interest);
/* What to wait for below so that `interest` may come true; pending ciphertext wants out in any case. */
unsigned qwp_session_waits_for(const struct qwp_session *s, unsigned interest);
/* From what came below back to the caller's terms. */
unsigned qwp_session_came_true(const struct qwp_session *s, unsigned interest, unsigned ready);

#endif
