/* peer - whom a connection expects to find: the name it asks for and the name it checks. */
#ifndef QWP_TLS_PEER_H
#define QWP_TLS_PEER_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

/* Before the handshake, each connection anew (CASE-57): a name goes into SNI (RFC 6066, 3: names
 * only) and must be among the certificate's DNS names, an IP literal must be among its addresses
 * (RFC 9110, 4.3.4; the subject's common name counts for neither, RFC 9525). The certificate must be
 * valid at now_ns, since the epoch. host is as it was dialled: a final dot and an IPv6 zone are left
 * out. false: out of memory, or no name at all. */
bool qwp_peer_expect(SSL *ssl, const char *host, int64_t now_ns);

#endif
