/* reason - why TLS failed, in one sentence for a person. */
#ifndef QWP_TLS_REASON_H
#define QWP_TLS_REASON_H

#include <openssl/ssl.h>
#include <stddef.h>

#define QWP_TLS_REASON_BYTES 512

/* Writes the reason for the failure that ssl and the thread's error queue hold: what is wrong with
 * the certificate, which alert the server sent, or which rule of TLS was broken. host is the name
 * that was dialled. No secret is shown. */
void qwp_tls_reason(const SSL *ssl, const char *host, char *out, size_t n);

#endif
