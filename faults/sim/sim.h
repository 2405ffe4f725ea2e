/* sim - a world in memory: a clock that moves only when told, and a network of byte streams.
 *
 * One thread. Nothing happens but by sim_step(), which takes the earliest due thing
 * (a delivery, a timer, a loop that wants to be stepped) in a fixed order; the same
 * seed gives the same order, the same entropy, the same journal.
 *
 * Sockets behave as the kernel's do: a send buffer and a receive buffer of bounded
 * size, bytes in flight with a delay, FIN and RST as events in the stream. RST
 * discards what is in flight towards the one it hits and what it had not read;
 * FIN comes after the bytes before it. close() with unread bytes sends RST.
 * faults/README.md has the table.
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qwp/driver.h"
#include "qwp/ops.h"

struct sim;

struct sim_options {
  uint64_t seed;
  int64_t delay_ns;         /* one way; default 0: delivered at the next step */
  size_t send_buffer_bytes; /* of each side; 0 = 256 KiB */
  size_t recv_buffer_bytes;
  size_t chunk_max;         /* a delivery carries 1..chunk_max bytes, seeded; 0 = as sent */
  bool peer_inside_send;    /* the server runs inside the client's send call (CASE-81) */
};

/* The server's side of the network. `peer` is the handle of one connection. */
struct sim_server {
  void *ctx;
  void *(*accept)(void *ctx, void *peer);        /* returns the server's own handle, NULL = reset */
  bool (*received)(void *ctx, void *conn, const uint8_t *p, size_t n); /* false: conn is dead */
  bool (*writable)(void *ctx, void *conn);
  void (*ended)(void *ctx, void *conn, bool reset);
  void (*tick)(void *ctx);
};

struct sim *sim_new(const struct sim_options *o);
void sim_del(struct sim *s);

/* Fills *ops with the client's view of this world (net, clock, and files are those
 * of the sim; memory is malloc). */
void sim_ops(struct sim *s, struct qwp_ops *ops);
/* A driver that steps the loop as part of the world, and whose wait runs the world. */
const struct qwp_driver *sim_driver(struct sim *s);

void sim_serve(struct sim *s, const struct sim_server *server);

/* What a transport of the server does to a peer. */
long sim_peer_write(struct sim *s, void *peer, const uint8_t *p, size_t n);
void sim_peer_shutdown(struct sim *s, void *peer);
void sim_peer_close(struct sim *s, void *peer);
void sim_peer_reset(struct sim *s, void *peer);
void sim_peer_pause(struct sim *s, void *peer, bool paused);
void sim_peer_limit_read(struct sim *s, void *peer, size_t max_bytes);
void sim_wake_server_at(struct sim *s, int64_t at_ns);
void sim_listen(struct sim *s, bool open);

/* Resets a client socket's connection from the network's side. */
void sim_reset_sock(struct sim *s, qwp_sock sock);

int64_t sim_now_ns(const struct sim *s);
int64_t sim_wall_ns(const struct sim *s);
void sim_set_wall(struct sim *s, int64_t ns);

/* The loop is not stepped while held. */
void sim_hold(struct sim *s, bool held);

/* Does the earliest due thing; moves the clock to it if it lies ahead, but not past
 * until_ns. false: nothing is due by then (the clock is at until_ns, or stays if
 * until_ns is QWP_NEVER: nothing will ever happen). */
bool sim_step(struct sim *s, int64_t until_ns);
/* Steps until nothing is due at the present time. */
void sim_settle(struct sim *s);

size_t sim_open_sockets(const struct sim *s);
uint64_t sim_steps(const struct sim *s);

#endif
