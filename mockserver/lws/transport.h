/* transport - the mock server on real sockets, over libwebsockets' raw-socket role.
 *
 * libwebsockets keeps the sockets, the poll loop and the timers; upgrade and frames are
 * ours (core). One service thread of its own runs everything, so the mock's functions
 * may only be called on it: mock_lws_call() is the way in.
 *
 * It listens on 127.0.0.1 with a listener of our own, for libwebsockets' would listen on
 * all addresses where IPv6 is built in. It leaves SIGPIPE as it found it, for a client
 * in the same process must not be protected by its server.
 */
#ifndef MOCK_LWS_TRANSPORT_H
#define MOCK_LWS_TRANSPORT_H

#include "core/mock.h"

struct mock_lws;
struct mock_identity;

/* Starts a server with these options; their clock and transport are ignored (the system's
 * clocks and this transport are used). port 0 = one from the system. Journal lines come
 * on the service thread. NULL = failed, errno tells. The script is borrowed. */
struct mock_lws *mock_lws_start(const struct mock_options *options, int port);

/* The same over TLS (tls/filter.h), as this server; the identity is borrowed. */
struct mock_lws *mock_lws_start_tls(const struct mock_options *options, int port, const struct mock_identity *id);

/* Ends the thread, closes everything, frees everything. */
void mock_lws_stop(struct mock_lws *l);

int mock_lws_port(const struct mock_lws *l);

/* Runs fn(m, arg) on the service thread, between two events, and returns when it is done. */
void mock_lws_call(struct mock_lws *l, void (*fn)(struct mock *m, void *arg), void *arg);

/* Did a call of the service thread fail that it cannot do without? Then `out` names the first: "accept4: Bad file
 * descriptor". What its clients saw is the harness's doing, not theirs. After "lws_service" the thread serves nobody but
 * mock_lws_call any more. */
bool mock_lws_trouble(struct mock_lws *l, char *out, size_t n);

/* fn is called on the service thread with each socket that was accepted, before anything is read from it: a test can give
 * it the properties that it has on other systems (CASE-94). NULL = none. */
void mock_lws_on_accept(struct mock_lws *l, void (*fn)(void *ctx, int fd), void *ctx);

/* How many sockets of clients are open at this moment; one that waits to be accepted counts. */
size_t mock_lws_open(struct mock_lws *l);

#endif
