/* world - picks the earliest due thing and does it.
 *
 * Of things due at the same moment the order is fixed: handshakes and arriving bytes,
 * connection by connection and client to server first; then what the server hears,
 * connection by connection; then the server's timer; then the loops. So the network is
 * quiet before anybody who decides something is asked, and a run has one order only.
 * In a world with chunk_max the bytes come last instead: everybody sees each chunk
 * before the next one arrives, or the cutting would never be noticed.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/internal.h"

#define DEFAULT_BUFFER_BYTES (256u * 1024u)
#define DEFAULT_STEP_LIMIT UINT64_C(10000000)

enum due_kind { DUE_NOTHING, DUE_STAGE, DUE_ARRIVAL, DUE_SERVER, DUE_TICK, DUE_LOOP };

struct due {
  int64_t at_ns;
  enum due_kind kind;
  struct link *link;
  enum link_side from;
  struct sim_client *client;
};

static void *plain_alloc(void *ctx, size_t n) { (void)ctx; return malloc(n); }
static void *plain_realloc(void *ctx, void *p, size_t n) { (void)ctx; return realloc(p, n); }
static void plain_free(void *ctx, void *p) { (void)ctx; free(p); }

static const struct qwp_mem_ops plain_mem = {plain_alloc, plain_realloc, plain_free};

struct sim *sim_new(const struct sim_options *o) {
  struct sim *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->o = *o;
  if (s->o.send_buffer_bytes == 0) s->o.send_buffer_bytes = DEFAULT_BUFFER_BYTES;
  if (s->o.recv_buffer_bytes == 0) s->o.recv_buffer_bytes = DEFAULT_BUFFER_BYTES;
  if (s->o.chunk_max == 0) s->o.chunk_max = SIZE_MAX;
  if (s->o.end_ns == 0) s->o.end_ns = QWP_NEVER;
  if (s->o.step_limit == 0) s->o.step_limit = DEFAULT_STEP_LIMIT;
  assert(!s->o.peer_inside_send || (s->o.delay_ns == 0 && s->o.jitter_ns == 0));
  s->now_ns = SIM_START_NS;
  s->wall_minus_now_ns = SIM_START_WALL_NS - SIM_START_NS;
  s->listening = true;
  s->server_wake_ns = QWP_NEVER;
  prng_init(&s->entropy, o->seed, 1);
  prng_init(&s->chunks, o->seed, 2);
  prng_init(&s->lateness, o->seed, 3);
  for (unsigned i = 0; i < SIM_CLIENTS; i++) sim_client_init(s, &s->clients[i]);
  return s;
}

void sim_del(struct sim *s) {
  if (!s) return;
  for (unsigned i = 0; i < s->link_count; i++) {
    if (s->links[i]) link_del(s->links[i]);
  }
  free(s->links);
  free(s->scratch);
  free(s);
}

void sim_serve(struct sim *s, const struct sim_server *server) { s->server = *server; }

void sim_client_ops(struct sim *s, unsigned client, struct qwp_ops *ops) {
  assert(client < SIM_CLIENTS);
  *ops = (struct qwp_ops){
      .net = &sim_net_ops, .net_ctx = &s->clients[client],
      .file = &sim_file_ops, .file_ctx = s,
      .clock = &sim_clock_ops, .clock_ctx = s,
      .mem = &plain_mem, .mem_ctx = NULL,
  };
}

void sim_ops(struct sim *s, struct qwp_ops *ops) { sim_client_ops(s, 0, ops); }

void sim_hold(struct sim *s, bool held) { s->held = held; }
uint64_t sim_steps(const struct sim *s) { return s->steps; }

/* ---- what is due ----------------------------------------------------------------- */

/* Keeps the earlier one; of equals the first asked. true = nothing can beat it. */
static bool keep(const struct sim *s, struct due *best, struct due next) {
  if (next.at_ns < s->now_ns) next.at_ns = s->now_ns;
  if (next.at_ns < best->at_ns) *best = next;
  return best->at_ns == s->now_ns;
}

static bool stages_due(const struct sim *s, struct due *best) {
  for (unsigned i = 0; i < s->link_count; i++) {
    struct link *l = s->links[i];
    if (l && keep(s, best, (struct due){.at_ns = l->stage_due_ns, .kind = DUE_STAGE, .link = l})) return true;
  }
  return false;
}

static bool arrivals_due(const struct sim *s, struct due *best) {
  for (unsigned i = 0; i < s->link_count; i++) {
    struct link *l = s->links[i];
    for (enum link_side from = LINK_CLIENT; l && from <= LINK_SERVER; from++) {
      struct due d = {.at_ns = link_due(l, from), .kind = DUE_ARRIVAL, .link = l, .from = from};
      if (keep(s, best, d)) return true;
    }
  }
  return false;
}

static bool server_due(const struct sim *s, struct due *best) {
  for (unsigned i = 0; i < s->link_count; i++) {
    struct link *l = s->links[i];
    if (!l || !peer_due(s, l)) continue;
    if (keep(s, best, (struct due){.at_ns = s->now_ns, .kind = DUE_SERVER, .link = l})) return true;
  }
  return keep(s, best, (struct due){.at_ns = s->server_wake_ns, .kind = DUE_TICK});
}

static bool loops_due(struct sim *s, struct due *best) {
  for (unsigned i = 0; i < SIM_CLIENTS; i++) {
    struct sim_client *c = &s->clients[i];
    if (!c->loop) continue;
    if (keep(s, best, (struct due){.at_ns = client_due(s, c), .kind = DUE_LOOP, .client = c})) return true;
  }
  return false;
}

static struct due next_due(struct sim *s, enum world_part part) {
  struct due best = {.at_ns = QWP_NEVER, .kind = DUE_NOTHING};
  bool chunked = s->o.chunk_max != SIZE_MAX;
  bool loops = part == WORLD_ALL && !s->held;
  if (stages_due(s, &best)) return best;
  if (!chunked && arrivals_due(s, &best)) return best;
  if (server_due(s, &best)) return best;
  if (loops && loops_due(s, &best)) return best;
  if (chunked) arrivals_due(s, &best);
  return best;
}

/* ---- doing it ---------------------------------------------------------------------- */

static void stage_turn(struct sim *s, struct link *l) {
  switch (l->stage) {
    case LINK_SYN:
      l->stage_due_ns = s->now_ns + l->delay_ns;
      if (s->listening && s->server.accept) {
        l->stage = LINK_SYNACK;
        peer_accept(s, l);
      } else {
        l->stage = LINK_REFUSED;
      }
      return;
    case LINK_SYNACK:
      l->stage = LINK_ESTABLISHED;
      l->stage_due_ns = QWP_NEVER;
      if (!l->end[LINK_CLIENT].open) link_reset(l, LINK_CLIENT, s->now_ns); /* given up meanwhile */
      return;
    case LINK_REFUSED:
      l->end[LINK_CLIENT].reset = true;
      l->end[LINK_CLIENT].err = ECONNREFUSED;
      l->stage_due_ns = QWP_NEVER;
      return;
    case LINK_ESTABLISHED:
      assert(false);
  }
}

static void arrival_turn(struct sim *s, struct link *l, enum link_side from) {
  size_t max = s->o.chunk_max == SIZE_MAX ? SIZE_MAX : (size_t)prng_upto(&s->chunks, s->o.chunk_max);
  link_deliver(l, from, max, s->now_ns);
}

static void tick_turn(struct sim *s) {
  s->server_wake_ns = QWP_NEVER;
  s->in_server = true;
  s->server.tick(s->server.ctx);
  s->in_server = false;
}

static void turn(struct sim *s, const struct due *d) {
  switch (d->kind) {
    case DUE_STAGE: stage_turn(s, d->link); break;
    case DUE_ARRIVAL: arrival_turn(s, d->link, d->from); break;
    case DUE_SERVER: peer_turn(s, d->link); break;
    case DUE_TICK: tick_turn(s); break;
    case DUE_LOOP: client_turn(s, d->client); break;
    case DUE_NOTHING: break;
  }
}

/* A connection that neither side holds has no witness left. */
static void reap(struct sim *s) {
  for (unsigned i = 0; i < s->link_count; i++) {
    struct link *l = s->links[i];
    if (!l || l->end[LINK_CLIENT].open || l->end[LINK_SERVER].open) continue;
    link_del(l);
    s->links[i] = NULL;
  }
  while (s->link_count > 0 && !s->links[s->link_count - 1]) s->link_count--;
}

static void move_clock(struct sim *s, int64_t to_ns) {
  if (to_ns <= s->now_ns) return;
  s->now_ns = to_ns;
  s->steps_here = 0;
}

void world_stuck(struct sim *s, const char *why) {
  if (s->o.stuck) {
    s->o.stuck(s->o.stuck_ctx, why);
    return;
  }
  fprintf(stderr, "sim: the world is stuck at %lld ns after %llu steps: %s\n", (long long)s->now_ns,
          (unsigned long long)s->steps, why);
  abort();
}

bool world_step(struct sim *s, enum world_part part, int64_t until_ns) {
  assert(!s->in_server); /* the server never makes the world turn */
  struct due d = next_due(s, part);
  if (d.kind == DUE_NOTHING || d.at_ns > until_ns) {
    if (until_ns != QWP_NEVER) move_clock(s, until_ns);
    return false;
  }
  move_clock(s, d.at_ns);
  s->steps++;
  s->steps_here++;
  turn(s, &d);
  reap(s);
  return true;
}

bool world_run(struct sim *s, int64_t until_ns) {
  int64_t end_ns = until_ns < s->o.end_ns ? until_ns : s->o.end_ns;
  bool moved = world_step(s, WORLD_ALL, end_ns);
  if (s->steps_here >= s->o.step_limit) {
    world_stuck(s, "too many steps at one moment");
    return false;
  }
  if (moved || s->now_ns >= until_ns) return moved;
  world_stuck(s, s->now_ns >= s->o.end_ns ? "its last moment has come, and the client still waits"
                                          : "the client waits, and nothing will ever happen");
  return false;
}

void world_settle(struct sim *s, enum world_part part) {
  while (world_step(s, part, s->now_ns)) {
    if (s->steps_here < s->o.step_limit) continue;
    world_stuck(s, "too many steps at one moment");
    return;
  }
}

bool sim_step(struct sim *s, int64_t until_ns) { return world_step(s, WORLD_ALL, until_ns); }
void sim_settle(struct sim *s) { world_settle(s, WORLD_ALL); }

void sim_delay_hook(void *sim, int64_t ns) {
  struct sim *s = sim;
  if (ns <= 0) return;
  int64_t until = ns > QWP_NEVER - 1 - s->now_ns ? QWP_NEVER - 1 : s->now_ns + ns;
  while (world_step(s, WORLD_ALL, until)) continue;
}
