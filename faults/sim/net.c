/* net - the client's net table over links. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/internal.h"

/* A handle is a slot and how often handles were given out, so that one used after its
 * close is found out (-EBADF) and not taken for its successor. */
#define SLOT_BITS 10
#define SLOTS_MAX (1u << SLOT_BITS)
#define GENERATION_MASK 0xfffffu

struct link *sim_link_of(const struct sim *s, qwp_sock sock) {
  if (sock < 0) return NULL;
  unsigned slot = (unsigned)sock & (SLOTS_MAX - 1);
  struct link *l = slot < s->link_count ? s->links[slot] : NULL;
  return l && l->handle == sock && l->end[LINK_CLIENT].open ? l : NULL;
}

static struct link *link_of(void *ctx, qwp_sock sock) {
  return sim_link_of(((struct sim_client *)ctx)->sim, sock);
}

unsigned sim_ready(const struct sim *s, qwp_sock sock, unsigned interest) {
  const struct link *l = sim_link_of(s, sock);
  return l ? link_ready(l, LINK_CLIENT) & interest : 0;
}

size_t sim_open_sockets(const struct sim *s) {
  size_t open = 0;
  for (unsigned i = 0; i < s->link_count; i++) open += s->links[i] && s->links[i]->end[LINK_CLIENT].open;
  return open;
}

/* Finds a free slot, growing the table. -1 = none. */
static int free_slot(struct sim *s) {
  for (unsigned i = 0; i < s->link_count; i++) {
    if (!s->links[i]) return (int)i;
  }
  if (s->link_count == SLOTS_MAX) return -1;
  if (s->link_count == s->link_cap) {
    unsigned cap = s->link_cap ? s->link_cap * 2 : 4;
    struct link **links = realloc(s->links, cap * sizeof *links);
    if (!links) return -1;
    s->links = links;
    s->link_cap = cap;
  }
  s->links[s->link_count] = NULL;
  return (int)s->link_count++;
}

static int net_resolve(void *ctx, const char *host, int port, struct qwp_addr *out, int max) {
  (void)ctx;
  if (max < 1) return -EINVAL;
  int n = snprintf((char *)out->bytes, sizeof out->bytes, "%s:%d", host, port);
  if (n < 0 || (size_t)n >= sizeof out->bytes) return -ENAMETOOLONG;
  out->len = (unsigned)n;
  return 1;
}

static int net_connect(void *ctx, const struct qwp_addr *addr, qwp_sock *out) {
  (void)addr; /* one server in this world */
  struct sim *s = ((struct sim_client *)ctx)->sim;
  *out = -1;
  int slot = free_slot(s);
  if (slot < 0) return -EMFILE;
  struct link *l = link_new(s->o.send_buffer_bytes, s->o.recv_buffer_bytes, s->o.delay_ns, s->now_ns);
  if (!l) return -ENOMEM;
  l->jitter_ns = s->o.jitter_ns;
  l->lateness = &s->lateness;
  l->handle = (int)((++s->generation & GENERATION_MASK) << SLOT_BITS) | slot;
  s->links[slot] = l;
  *out = l->handle;
  return -EINPROGRESS;
}

static int net_connected(void *ctx, qwp_sock sock) {
  struct link *l = link_of(ctx, sock);
  if (!l) return -EBADF;
  if (l->end[LINK_CLIENT].err) return link_take_error(l, LINK_CLIENT);
  if (l->stage == LINK_REFUSED && l->end[LINK_CLIENT].reset) return -ECONNREFUSED;
  return l->stage == LINK_ESTABLISHED ? 0 : -EINPROGRESS;
}

static ssize_t net_send(void *ctx, qwp_sock sock, const void *buf, size_t n) {
  struct sim *s = ((struct sim_client *)ctx)->sim;
  struct link *l = link_of(ctx, sock);
  if (!l) return -EBADF;
  ssize_t taken = link_send(l, LINK_CLIENT, buf, n, s->now_ns);
  if (taken > 0 && s->o.peer_inside_send) world_settle(s, WORLD_NETWORK);
  return taken;
}

static ssize_t net_recv(void *ctx, qwp_sock sock, void *buf, size_t n) {
  struct link *l = link_of(ctx, sock);
  return l ? link_recv(l, LINK_CLIENT, buf, n) : -EBADF;
}

static int net_shutdown(void *ctx, qwp_sock sock) {
  struct link *l = link_of(ctx, sock);
  return l ? link_shutdown(l, LINK_CLIENT, ((struct sim_client *)ctx)->sim->now_ns) : -EBADF;
}

static void net_close(void *ctx, qwp_sock sock) {
  struct link *l = link_of(ctx, sock);
  if (l) link_close(l, LINK_CLIENT, ((struct sim_client *)ctx)->sim->now_ns);
}

/* ---- waiting ----------------------------------------------------------------------- */

static int look(struct sim_client *c, qwp_sock sock, unsigned interest) {
  unsigned ready = sim_ready(c->sim, sock, interest);
  if (c->woken) ready |= QWP_WOKEN;
  c->woken = false;
  return (int)ready;
}

static int note(struct sim_client *c, qwp_sock sock, unsigned interest, int64_t deadline_ns) {
  c->noted = true;
  c->sock = sock;
  c->interest = interest;
  c->deadline_ns = deadline_ns;
  if (c->woken) c->due = true;
  c->woken = false;
  return -EAGAIN;
}

static int run_until_ready(struct sim_client *c, qwp_sock sock, unsigned interest, int64_t deadline_ns) {
  for (;;) {
    int ready = look(c, sock, interest);
    if (ready != 0) return ready;
    if (c->sim->now_ns >= deadline_ns || !world_run(c->sim, deadline_ns)) return 0;
  }
}

static int net_wait(void *ctx, qwp_sock sock, unsigned interest, int64_t timeout_ns) {
  struct sim_client *c = ctx;
  if (sock != -1 && !sim_link_of(c->sim, sock)) return -EBADF;
  if (timeout_ns <= 0) return look(c, sock, interest);
  int64_t now = c->sim->now_ns;
  int64_t deadline = timeout_ns >= QWP_NEVER - now ? QWP_NEVER : now + timeout_ns;
  if (c->inside) return note(c, sock, interest, deadline);
  return run_until_ready(c, sock, interest, deadline);
}

static void net_wake(void *ctx) { client_wake(ctx); }

const struct qwp_net_ops sim_net_ops = {
    .resolve = net_resolve, .connect = net_connect, .connected = net_connected, .send = net_send, .recv = net_recv,
    .shutdown = net_shutdown, .close = net_close, .wait = net_wait, .wake = net_wake,
};

void sim_reset_sock(struct sim *s, qwp_sock sock) {
  struct link *l = sim_link_of(s, sock);
  if (l) link_cut(l, LINK_CLIENT, s->now_ns);
}

void sim_reset_hook(void *sim, qwp_sock sock) { sim_reset_sock(sim, sock); }
