/* tls - a net table laid on a net table: what the caller sends leaves encrypted, what the
 * table below receives comes back decrypted. The caller keeps to ops.h and cannot tell.
 *
 * OpenSSL does the cryptography and never sees a socket. The handshake runs inside the
 * first sends, so it is bounded by whatever bounds them, and no byte of the caller's is
 * encrypted before the server's certificate and name have passed.
 *
 * What the table adds to ops.h
 *  - resolve  notes `host` in each address; connect wants it. A name is sent as SNI and
 *             checked in the certificate, an IP literal is checked only [CASE-57].
 *  - send     encrypts at most QWP_TLS_SEND_MAX bytes, and counts them as taken only when
 *             the table below has taken all of their ciphertext: what was sent has left
 *             (P121-05, P121-25). Until then it gives -EAGAIN (-EINTR, -ENOBUFS, -ENOMEM)
 *             and wants the same bytes again, or those and more; fewer are a bug.
 *  - recv     reads below only when nothing is decrypted, and then once. -EPROTO: TLS has
 *             failed, explain tells why. 0: the end, with close_notify or without; explain
 *             tells of the second.
 *  - shutdown close_notify, and the FIN once it has left: later calls see to that.
 *  - wait     waits below for what TLS needs next [CASE-56], and not at all when decrypted
 *             bytes lie here [CASE-55]. It may end with QWP_READABLE though there is
 *             nothing to read: the call that follows moves on what is pending.
 *  - explain  QWP_CONN_TLS, the reason in words; QWP_CONN_LOST, an end without
 *             close_notify; else what the table below says.
 *
 * The handles are those of the table below. TLS 1.2 and newer; no client certificate is
 * offered [TLS-006]. Nothing of the process is changed: no signal, no default of OpenSSL's.
 * OpenSSL's error queue of the calling thread is emptied by the calls of a connection.
 */
#ifndef QWP_TLS_TLS_H
#define QWP_TLS_TLS_H

#include <stdbool.h>

#include "qwp/ops.h"
#include "qwp/status.h"

#define QWP_TLS_SEND_MAX 65536u /* plaintext of one send: four full records */

struct qwp_tls;

/* Strings are borrowed for the call. */
struct qwp_tls_options {
  bool verify;       /* false: any certificate passes, and the connection is open to whoever is between [TLS-003] */
  const char *roots; /* PEM file with the trusted certificates; NULL = the system's store [TLS-002] */
};

/* Settles whom to trust; below is borrowed for the object's life, and of it the net table, the
 * wall clock (certificates expire by it), the memory table, and here the file table are used.
 * NULL: QWP_CONFIG with the key tls_roots (the file is missing, a folder, larger than 16 MiB,
 * or holds no certificate in PEM form, or a damaged one); QWP_NOMEM. */
struct qwp_tls *qwp_tls_new(const struct qwp_tls_options *o, const struct qwp_ops *below, struct qwp_error *err);
/* After the last connection was closed, or it closes what is left; NULL is fine. */
void qwp_tls_del(struct qwp_tls *tls);

/* *out = the tables below, with this one as net. */
void qwp_tls_ops(struct qwp_tls *tls, struct qwp_ops *out);

#endif
