/* driver - the loops as part of the world, and producers that wait by running it. */
#include <errno.h>

#include "sim/internal.h"

int64_t client_due(const struct sim *s, const struct sim_client *c) {
  if (c->ended || c->inside) return QWP_NEVER;
  if (c->due || sim_ready(s, c->sock, c->interest)) return s->now_ns;
  return c->deadline_ns;
}

void client_wake(struct sim_client *c) {
  if (c->loop && !c->inside) c->due = true;
  else c->woken = true; /* for the wait that comes */
}

void client_turn(struct sim *s, struct sim_client *c) {
  c->due = false;
  c->inside = true;
  c->noted = false;
  struct qwp_want want = qwp_loop_step(c->loop, s->now_ns);
  if (want.stopped) {
    c->ended = true;
    c->inside = false;
    return;
  }
  int waited = qwp_loop_wait(c->loop, &want, s->now_ns);
  c->inside = false;
  if (waited != -EAGAIN) {
    c->due = true;
  } else if (!c->noted) { /* the wait did not come through to this world: go by what was wanted */
    c->sock = want.sock;
    c->interest = want.interest;
    c->deadline_ns = want.deadline_ns;
    if (c->woken) c->due = true;
    c->woken = false;
  }
}

static int driver_start(void *ctx, struct qwp_loop *loop) {
  struct sim_client *c = ctx;
  if (c->loop) return -EBUSY;
  c->loop = loop;
  c->ended = false;
  c->due = true;
  c->woken = false;
  c->sock = -1;
  c->interest = 0;
  c->deadline_ns = QWP_NEVER;
  return 0;
}

static bool somebody_inside(const struct sim *s) {
  for (unsigned i = 0; i < SIM_CLIENTS; i++) {
    if (s->clients[i].inside) return true;
  }
  return false;
}

static void driver_wake(void *ctx) {
  struct sim *s = ((struct sim_client *)ctx)->sim;
  client_wake(ctx);
  if (s->o.loop_first && !somebody_inside(s)) world_settle(s, WORLD_ALL);
}
static uint64_t driver_seen(void *ctx) { return ((struct sim_client *)ctx)->progress; }
static void driver_progress(void *ctx) { ((struct sim_client *)ctx)->progress++; }
static void driver_stop(void *ctx) { ((struct sim_client *)ctx)->loop = NULL; }

static void driver_wait(void *ctx, uint64_t seen, int64_t deadline_ns) {
  struct sim_client *c = ctx;
  while (c->progress == seen && c->sim->now_ns < deadline_ns) {
    if (!world_run(c->sim, deadline_ns)) return;
  }
}

void sim_client_init(struct sim *s, struct sim_client *c) {
  *c = (struct sim_client){.sim = s, .sock = -1, .deadline_ns = QWP_NEVER};
  c->driver = (struct qwp_driver){
      .ctx = c, .start = driver_start, .wake = driver_wake, .wait = driver_wait,
      .seen = driver_seen, .progress = driver_progress, .stop = driver_stop,
  };
}

const struct qwp_driver *sim_client_driver(struct sim *s, unsigned client) {
  return client < SIM_CLIENTS ? &s->clients[client].driver : NULL;
}

const struct qwp_driver *sim_driver(struct sim *s) { return sim_client_driver(s, 0); }
