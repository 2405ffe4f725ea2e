/* sim - a world in memory: a clock that moves only when told, and a network of byte streams.
 *
 * One thread. Nothing happens but by sim_step(), which takes the earliest due thing
 * (a delivery, a timer, a loop that wants to be stepped) in a fixed order; the same
 * seed gives the same order, the same entropy, the same journal.
 *
 * Sockets behave as the kernel's do: a send buffer and a receive buffer of bounded
 * size, bytes in flight with a delay, FIN and RST as events in the stream. FIN comes
 * after the bytes before it. An RST comes after the bytes that were on the wire before
 * it, and what the one it hits has received stays readable; what waited in a send
 * buffer, on either side, is lost. close() with unread bytes sends RST.
 * faults/README.md has the table, each line with the test that confirms it.
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
  int64_t jitter_ns;        /* what is written leaves in segments of SIM_SEGMENT_BYTES, and each is late by another
                             * 0..jitter_ns, seeded; FIN and RST too. Order is kept, as TCP keeps it: what overtook
                             * a late segment waits for it (CASE-97). Handshakes are not late. */
  size_t send_buffer_bytes; /* of each side; 0 = 256 KiB */
  size_t recv_buffer_bytes;
  size_t chunk_max;         /* a delivery carries 1..chunk_max bytes, seeded, and both sides see it before the
                             * next one comes; 0 = all that is due at once */
  bool peer_inside_send;    /* the server runs inside the client's send call (CASE-81); delay_ns and
                             * jitter_ns must be 0 */
  bool loop_first;          /* a loop that is woken runs at once, and the world with it, before the call that woke it
                             * returns: the other order that a scheduler may choose */
  /* A world that hangs has to end. `stuck` is called from inside a blocking call of the
   * client when nothing will ever happen again, when virtual time passes end_ns, or when
   * step_limit steps were made at one moment. The call then returns to its caller as if
   * there were progress, so the handler must make the caller's condition true or leave
   * by longjmp. NULL = say why on stderr and abort. */
  void (*stuck)(void *ctx, const char *why);
  void *stuck_ctx;
  int64_t end_ns;           /* on the clock of sim_now_ns; 0 = no end */
  uint64_t step_limit;      /* 0 = 10 million */
};

#define SIM_START_NS INT64_C(1000000000)          /* the monotonic clock begins here: never 0 */
#define SIM_START_WALL_NS INT64_C(1767225600000000000) /* 2026-01-01T00:00:00Z */
#define SIM_SEGMENT_BYTES 1448u                   /* of a write under jitter: an Ethernet's */
#define SIM_READ_BYTES 65536u                     /* the most one receive pass of the server takes */

/* The server's side of the network. `peer` is the handle of one connection.
 *
 * Of one connection come, in this order of preference: bytes, room after a write that
 * was not taken whole, the end. A paused peer hears neither bytes nor FIN, but an RST
 * it does. After `ended`, after a callback that returned false, after sim_peer_close
 * and sim_peer_reset nothing more comes and `peer` must not be used again; a peer that
 * was left open by then is closed. */
struct sim_server {
  void *ctx;
  void *(*accept)(void *ctx, void *peer);        /* returns the server's own handle, NULL = reset */
  bool (*received)(void *ctx, void *conn, const uint8_t *p, size_t n); /* false: conn is dead */
  bool (*writable)(void *ctx, void *conn);
  void (*ended)(void *ctx, void *conn, bool reset);
  void (*tick)(void *ctx); /* may be NULL if sim_wake_server_at is never called */
};

struct sim *sim_new(const struct sim_options *o);
void sim_del(struct sim *s);

/* Fills *ops with the client's view of this world: net and clock are those of the sim,
 * memory is malloc. It has no disk: every file call is -ENOSYS.
 *
 * wait() inside a loop's step notes socket, interest and deadline and returns -EAGAIN
 * (but with timeout 0 it looks and answers). Outside a step it runs the world until the
 * socket is ready, wake() is called, or the time has come. */
void sim_ops(struct sim *s, struct qwp_ops *ops);
/* A driver that steps the loop as part of the world, and whose wait runs the world.
 * A loop is stepped when woken, when its socket is ready for its interest, at its
 * deadline, and at once after a wait that gave anything but -EAGAIN. */
const struct qwp_driver *sim_driver(struct sim *s);

/* Several senders in one world: each needs a client of its own, 0 to SIM_CLIENTS - 1,
 * as wait and wake meet in it. sim_ops and sim_driver are those of client 0. */
#define SIM_CLIENTS 8
void sim_client_ops(struct sim *s, unsigned client, struct qwp_ops *ops);
const struct qwp_driver *sim_client_driver(struct sim *s, unsigned client);

void sim_serve(struct sim *s, const struct sim_server *server); /* copied; before the first step */

/* What a transport of the server does to a peer. */
long sim_peer_write(struct sim *s, void *peer, const uint8_t *p, size_t n); /* taken, 0 = full, -1 = gone */
void sim_peer_shutdown(struct sim *s, void *peer);           /* FIN; reading goes on */
void sim_peer_close(struct sim *s, void *peer);              /* FIN, read to the end, release */
void sim_peer_reset(struct sim *s, void *peer);              /* RST, release */
void sim_peer_pause(struct sim *s, void *peer, bool paused);
void sim_peer_limit_read(struct sim *s, void *peer, size_t max_bytes); /* of one receive pass; 0 = no cap */
void sim_wake_server_at(struct sim *s, int64_t at_ns);       /* tick then; the earliest asked for counts */
void sim_listen(struct sim *s, bool open);                   /* false: connects end in ECONNREFUSED */

/* Resets a client socket's connection from the network's side: the client has the RST
 * at once (what it has received stays readable), the server after the bytes on their
 * way to it. Fits faults_options.reset with the sim as context, see sim_reset_hook. */
void sim_reset_sock(struct sim *s, qwp_sock sock);
void sim_reset_hook(void *sim, qwp_sock sock);
/* Lets ns pass inside a call of the client: the world goes on, the loop that is inside
 * its step does not. Fits faults_options.delay. */
void sim_delay_hook(void *sim, int64_t ns);

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
