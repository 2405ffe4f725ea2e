/* link - one TCP connection as the kernel keeps it: two ends, a stream each way.
 *
 * Both ends are the same code, so that what a client meets and what a server meets
 * cannot drift apart. The rules are Linux's; faults/README.md lists them, and
 * tests/unit/sim/kernel_test.c runs each on real sockets beside this file.
 *
 *  - close() with unread bytes, and reset, send RST. What was on the wire before it
 *    arrives first; what waited for room in the send buffer is lost.
 *  - A received RST leaves unread bytes readable. Then one error, then end of stream:
 *    ECONNRESET, or EPIPE for an end that had seen FIN before. Sends fail with that
 *    error once, then with EPIPE.
 *  - An end that had seen FIN reads end of stream, not the error.
 *  - Bytes that reach an end that is closed, or shut both ways, are answered with RST; the latter has ECONNRESET
 *    itself too.
 */
#ifndef SIM_LINK_H
#define SIM_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/prng.h"
#include "sim/stream.h"

enum link_side { LINK_CLIENT, LINK_SERVER };

enum link_stage {
  LINK_SYN,         /* on its way to the server */
  LINK_SYNACK,      /* the server has it, the client does not know yet */
  LINK_ESTABLISHED,
  LINK_REFUSED      /* nobody listens; the client may not know yet */
};

struct link_end {
  bool open;      /* an application holds it */
  bool shut;      /* its FIN is queued */
  bool deaf;      /* its receiving half is shut */
  bool reset;     /* an RST came or was sent: it is over */
  int err;        /* errno an RST left behind, reported once */
  struct stream out;
};

struct link {
  struct link_end end[2];
  enum link_stage stage;
  int64_t stage_due_ns; /* when the stage moves on; QWP_NEVER = it stays */
  int64_t delay_ns;     /* one way */
  int64_t jitter_ns;    /* each segment is late by another 0..jitter_ns; 0 = none is */
  struct prng *lateness; /* draws it; not NULL where jitter_ns > 0 */
  /* The server's side as its transport sees it (peer.c). */
  void *conn;
  bool live;            /* callbacks are still wanted */
  bool paused, blocked, lingering;
  size_t read_limit;
  /* The client's handle of it (net.c). */
  int handle;
};

/* A link whose SYN is on its way. NULL = out of memory. */
struct link *link_new(size_t send_cap, size_t recv_cap, int64_t delay_ns, int64_t now_ns);
void link_del(struct link *l);

ssize_t link_send(struct link *l, enum link_side side, const void *buf, size_t n, int64_t now_ns);
ssize_t link_recv(struct link *l, enum link_side side, void *buf, size_t n);
int link_shutdown(struct link *l, enum link_side side, int64_t now_ns);
/* Shuts the receiving half, as SHUT_RD does: end of stream in place of would-block; the peer notices nothing. */
int link_deafen(struct link *l, enum link_side side);
void link_close(struct link *l, enum link_side side, int64_t now_ns);
void link_reset(struct link *l, enum link_side side, int64_t now_ns); /* close() with linger 0 */
/* QWP_READABLE | QWP_WRITABLE; both when it is reset or ended both ways. */
unsigned link_ready(const struct link *l, enum link_side side);
/* Takes the pending error, as SO_ERROR does. 0 or -errno. */
int link_take_error(struct link *l, enum link_side side);

/* Something in the middle resets the connection: `side` has the RST at once, the
 * other end after the bytes that are on their way to it. */
void link_cut(struct link *l, enum link_side side, int64_t now_ns);

/* What `from` has sent arrives at the other end: when, and do it. */
int64_t link_due(const struct link *l, enum link_side from);
void link_deliver(struct link *l, enum link_side from, size_t max_bytes, int64_t now_ns);

#endif
