/* filter - TLS between a transport and the mock: ciphertext below, plaintext above.
 *
 *     mock core ── plaintext ── filter ── ciphertext ── transport (libwebsockets, or the simulated network)
 *
 * Upwards it is a `struct mock_transport`, downwards a `struct mock_events`; memory on both sides, no socket of
 * OpenSSL's.
 *
 *  - Positions are those of the plaintext. A pass is decrypted no further than limit_read allows, and not at all
 *    while the mock pauses: what is left waits here, encrypted, and the transport below is paused too.
 *  - A write is taken when its ciphertext has left, in pieces of 64 KiB: until then the mock is blocked, as by a full
 *    socket. So "reads nothing while an answer is not wholly written" means the same here as in plain.
 *  - A piece is cut into records as the script says; all of them leave in one write below.
 *  - The end is close_notify and FIN behind what waits to be written, or a bare FIN if the script says so. Then it
 *    reads to the client's end, which becomes a fact of the connection.
 *
 * Which entry of the script rules a handshake is settled at accept: that of the next ingress number.
 */
#ifndef MOCK_TLS_FILTER_H
#define MOCK_TLS_FILTER_H

#include "core/mock.h"
#include "tls/identity.h"

struct mock_tls;

/* `under` is the transport below; identity and clock outlive the filter. NULL = out of memory. */
struct mock_tls *mock_tls_new(const struct mock_identity *id, const struct mock_transport *under,
                              const struct mock_clock *clock);
/* After the mock, or before it once the transport has forgotten all connections. */
void mock_tls_del(struct mock_tls *t);

struct mock_transport mock_tls_transport(struct mock_tls *t); /* what the mock is made with */
void mock_tls_serve(struct mock_tls *t, struct mock *m);      /* before the first event */
struct mock_events mock_tls_events(struct mock_tls *t);       /* what the transport below calls */

#endif
