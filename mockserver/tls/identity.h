/* identity - who the mock is over TLS: certificates made at start, in memory.
 *
 *   CA ── intermediate ── good, other-name, expired, no-intermediate
 *   self-signed
 *
 * A committed certificate expires; these live for a month and begin a day ago. The CA's certificate is what a client is
 * told to trust (tls_roots); its key never leaves the process.
 *
 * Making one takes some milliseconds. It is read-only afterwards: one serves any number of mocks, threads and forked
 * workers.
 */
#ifndef MOCK_TLS_IDENTITY_H
#define MOCK_TLS_IDENTITY_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/script.h"

struct mock_identity;

struct mock_identity *mock_identity_new(void); /* NULL = out of memory or of entropy */
void mock_identity_del(struct mock_identity *id);

/* The context of a server that shows this certificate. Owned by the identity. */
SSL_CTX *mock_identity_context(const struct mock_identity *id, enum mock_certificate kind);

/* Writes the CA's certificate as PEM to a file that only this user may read. false: errno tells. */
bool mock_identity_write_ca(const struct mock_identity *id, const char *path);

/* The same to a new file in the folder for temporary files; path gets its name. */
bool mock_identity_temporary_ca(const struct mock_identity *id, char *path, size_t n);

#endif
