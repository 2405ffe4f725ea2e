/* internal - the simulated world from inside: one struct, and who may move it.
 *
 * world.c picks what is due and hands it out: to link.c (bytes arrive), to peer.c (the
 * server hears of it), to driver.c (a loop is stepped). Nothing else makes time pass.
 */
#ifndef SIM_INTERNAL_H
#define SIM_INTERNAL_H

#include "sim/link.h"
#include "sim/prng.h"
#include "sim/sim.h"

struct sim_client { /* one sender's place: net context and driver context */
  struct sim *sim;
  struct qwp_driver driver;
  struct qwp_loop *loop; /* between start and stop */
  bool ended;            /* it said stopped; never stepped again */
  bool due;              /* wants a step now */
  bool woken;            /* wake() since the last wait */
  bool inside;           /* its step is running */
  bool noted;            /* wait() was called in this step */
  qwp_sock sock;         /* what it waits for */
  unsigned interest;
  int64_t deadline_ns;
  uint64_t progress;
};

struct sim {
  struct sim_options o;
  int64_t now_ns;
  int64_t wall_minus_now_ns;
  struct prng entropy, chunks, lateness;
  struct sim_server server;
  bool listening;
  bool in_server;            /* a callback of the server is running */
  int64_t server_wake_ns;
  struct link **links;       /* by slot; NULL = free */
  unsigned link_count;       /* slots in use or free below the highest used one */
  unsigned link_cap;
  unsigned generation;
  struct sim_client clients[SIM_CLIENTS];
  bool held;
  uint64_t steps, steps_here; /* all, and at this moment */
  uint8_t *scratch;           /* SIM_READ_BYTES, for a receive pass that wraps */
};

/* ---- net.c: the client's sockets ---- */
extern const struct qwp_net_ops sim_net_ops;
struct link *sim_link_of(const struct sim *s, qwp_sock sock); /* open at the client's side, or NULL */
unsigned sim_ready(const struct sim *s, qwp_sock sock, unsigned interest);

/* ---- clock.c, file.c ---- */
extern const struct qwp_clock_ops sim_clock_ops;
extern const struct qwp_file_ops sim_file_ops;

/* ---- peer.c: the server's sockets ---- */
bool peer_due(const struct sim *s, const struct link *l);
void peer_turn(struct sim *s, struct link *l);   /* one callback */
void peer_accept(struct sim *s, struct link *l); /* the SYN is there */

/* ---- driver.c ---- */
void sim_client_init(struct sim *s, struct sim_client *c);
int64_t client_due(const struct sim *s, const struct sim_client *c); /* when its loop wants a step */
void client_turn(struct sim *s, struct sim_client *c);
void client_wake(struct sim_client *c);

/* ---- world.c ---- */
enum world_part { WORLD_NETWORK, WORLD_ALL }; /* network and server only, or the loops too */
bool world_step(struct sim *s, enum world_part part, int64_t until_ns);
/* One step for a blocked caller who waits until until_ns at most. false: it is
 * until_ns, or the world is stuck and that was said. */
bool world_run(struct sim *s, int64_t until_ns);
void world_settle(struct sim *s, enum world_part part);
void world_stuck(struct sim *s, const char *why); /* never forgives: abort, unless options say otherwise */

#endif
