/* trust - whom a client believes: the settings of all its connections. */
#ifndef QWP_TLS_TRUST_H
#define QWP_TLS_TRUST_H

#include <openssl/ssl.h>

#include "tls/tls.h"

/* A context that verifies as *o says. Of ops the file table (for o->roots) and the memory table
 * are used. NULL: as qwp_tls_new. Entries of the application in OpenSSL's error queue stay. */
SSL_CTX *qwp_trust_new(const struct qwp_tls_options *o, const struct qwp_ops *ops, struct qwp_error *err);

#endif
