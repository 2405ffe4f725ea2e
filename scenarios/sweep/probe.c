#include "sweep/probe.h"

#include <errno.h>

static const struct qwp_net_ops *net(const struct probe *p) { return p->under->net; }
static void *net_ctx(const struct probe *p) { return p->under->net_ctx; }

static void fire(struct probe *p) {
  p->fired = true;
  p->viewed = p->loop != NULL;
  if (p->loop) p->view = qwp_loop_view(p->loop);
}

/* The first call behind which the rule has fired is the one that met it. */
static void look(struct probe *p) {
  if (p->fired || !p->point || p->point->site == SWEEP_SERVER || faults_fired(p->layer, 0) == 0) return;
  fire(p);
}

static void count(struct probe *p, enum fault_point call) {
  if (p->census) p->census->calls[call]++;
}

/* ---- the census of a connection ---- */

static struct census_connection *connection_of(struct probe *p, const struct probe_socket *s) {
  return s && s->connection < CENSUS_CONNECTIONS ? &p->census->connections[s->connection] : NULL;
}

static struct probe_socket *find(struct probe *p, qwp_sock sock) {
  for (int i = p->socket_count - 1; i >= 0; i--)
    if (p->sockets[i].sock == sock) return &p->sockets[i];
  return NULL;
}

static void dialled(struct probe *p, qwp_sock sock) {
  if (p->socket_count == CENSUS_CONNECTIONS) {
    p->census->overflow = true;
    return;
  }
  p->sockets[p->socket_count] = (struct probe_socket){.sock = sock, .connection = p->socket_count};
  p->census->client_connections = ++p->socket_count;
}

static void note_frames(struct census *census, struct census_connection *c, struct probe_socket *s,
                        const uint8_t *bytes, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    struct frames_seen seen;
    frames_walk(&s->frames, bytes + i, 1, 0, &seen);
    if (seen.first_data == 0) continue;
    if (c->frames == CENSUS_FRAMES) census->overflow = true;
    else c->frame_at[c->frames++] = c->out + i;
  }
}

static void sent(struct probe *p, qwp_sock sock, const uint8_t *bytes, ssize_t n) {
  struct probe_socket *s = find(p, sock);
  struct census_connection *c = connection_of(p, s);
  if (!c || n <= 0) return;
  if (!s->upgraded) {
    c->up_out += n;
    return;
  }
  note_frames(p->census, c, s, bytes, n);
  c->out += n;
}

static void got(struct probe *p, qwp_sock sock, const uint8_t *bytes, ssize_t n) {
  struct probe_socket *s = find(p, sock);
  struct census_connection *c = connection_of(p, s);
  if (!c || n <= 0) return;
  if (s->upgraded) {
    c->in += n;
    return;
  }
  size_t head = head_scan(&s->head, bytes, (size_t)n);
  s->upgraded = head_is_101(&s->head);
  c->up_in += s->upgraded ? (int64_t)head : n;
  if (!s->upgraded) return;
  c->in_with_head = n - (int64_t)head;
  c->in += c->in_with_head;
}

/* ---- net ---- */

static int probe_resolve(void *ctx, const char *host, int port, struct qwp_addr *out, int max) {
  struct probe *p = ctx;
  return net(p)->resolve(net_ctx(p), host, port, out, max);
}

static int probe_connect(void *ctx, const struct qwp_addr *addr, qwp_sock *out) {
  struct probe *p = ctx;
  count(p, FAULT_CONNECT);
  int r = net(p)->connect(net_ctx(p), addr, out);
  look(p);
  if (p->census && (r == 0 || r == -EINPROGRESS)) dialled(p, *out);
  return r;
}

static int probe_connected(void *ctx, qwp_sock sock) {
  struct probe *p = ctx;
  return net(p)->connected(net_ctx(p), sock);
}

static ssize_t probe_send(void *ctx, qwp_sock sock, const void *buf, size_t n) {
  struct probe *p = ctx;
  count(p, FAULT_SEND);
  ssize_t r = net(p)->send(net_ctx(p), sock, buf, n);
  look(p);
  if (p->census) sent(p, sock, buf, r);
  return r;
}

static ssize_t probe_recv(void *ctx, qwp_sock sock, void *buf, size_t n) {
  struct probe *p = ctx;
  count(p, FAULT_RECV);
  ssize_t r = net(p)->recv(net_ctx(p), sock, buf, n);
  look(p);
  if (p->census) got(p, sock, buf, r);
  return r;
}

static int probe_shutdown(void *ctx, qwp_sock sock) {
  struct probe *p = ctx;
  return net(p)->shutdown(net_ctx(p), sock);
}

static void probe_close(void *ctx, qwp_sock sock) {
  struct probe *p = ctx;
  count(p, FAULT_CLOSE);
  struct probe_socket *s = find(p, sock);
  if (s) s->sock = -1;
  net(p)->close(net_ctx(p), sock);
  look(p);
}

static int probe_wait(void *ctx, qwp_sock sock, unsigned interest, int64_t timeout_ns) {
  struct probe *p = ctx;
  count(p, FAULT_WAIT);
  int r = net(p)->wait(net_ctx(p), sock, interest, timeout_ns);
  look(p);
  return r;
}

static void probe_wake(void *ctx) {
  struct probe *p = ctx;
  net(p)->wake(net_ctx(p));
}

static enum qwp_status probe_explain(void *ctx, qwp_sock sock, char *text, size_t n) {
  struct probe *p = ctx;
  return net(p)->explain ? net(p)->explain(net_ctx(p), sock, text, n) : QWP_OK;
}

static void probe_opened(void *ctx, qwp_sock sock) {
  struct probe *p = ctx;
  if (net(p)->opened) net(p)->opened(net_ctx(p), sock);
}

static const struct qwp_net_ops probe_net_ops = {
    .resolve = probe_resolve, .connect = probe_connect, .connected = probe_connected, .send = probe_send,
    .recv = probe_recv, .shutdown = probe_shutdown, .close = probe_close, .wait = probe_wait, .wake = probe_wake,
    .explain = probe_explain, .opened = probe_opened,
};

/* ---- clock and memory ---- */

static int64_t probe_now(void *ctx) {
  struct probe *p = ctx;
  return p->under->clock->now_ns(p->under->clock_ctx);
}

static int64_t probe_wall(void *ctx) {
  struct probe *p = ctx;
  return p->under->clock->wall_ns(p->under->clock_ctx);
}

static int probe_entropy(void *ctx, void *buf, size_t n) {
  struct probe *p = ctx;
  count(p, FAULT_ENTROPY);
  int r = p->under->clock->entropy(p->under->clock_ctx, buf, n);
  look(p);
  return r;
}

static void *probe_alloc(void *ctx, size_t n) {
  struct probe *p = ctx;
  count(p, FAULT_ALLOC);
  void *at = p->under->mem->alloc(p->under->mem_ctx, n);
  look(p);
  return at;
}

static void *probe_realloc(void *ctx, void *old, size_t n) {
  struct probe *p = ctx;
  count(p, FAULT_ALLOC);
  void *at = p->under->mem->realloc(p->under->mem_ctx, old, n);
  look(p);
  return at;
}

static void probe_free(void *ctx, void *at) {
  struct probe *p = ctx;
  p->under->mem->free(p->under->mem_ctx, at);
}

static const struct qwp_clock_ops probe_clock_ops = {probe_now, probe_wall, probe_entropy};
static const struct qwp_mem_ops probe_mem_ops = {probe_alloc, probe_realloc, probe_free};

const struct qwp_ops *probe_ops(void *ctx, struct sim *sim, struct faults *layer, const struct qwp_ops *ops) {
  struct probe *p = ctx;
  p->sim = sim;
  p->layer = layer;
  p->under = ops;
  p->ops = *ops;
  p->ops.net = &probe_net_ops;
  p->ops.clock = &probe_clock_ops;
  p->ops.mem = &probe_mem_ops;
  p->ops.net_ctx = p->ops.clock_ctx = p->ops.mem_ctx = p;
  return &p->ops;
}

/* ---- driver ---- */

static int driver_start(void *ctx, struct qwp_loop *loop) {
  struct probe *p = ctx;
  int r = p->under_driver->start(p->under_driver->ctx, loop);
  if (r == 0) p->loop = loop;
  return r;
}

static void driver_wake(void *ctx) {
  struct probe *p = ctx;
  p->under_driver->wake(p->under_driver->ctx);
}

static void driver_wait(void *ctx, uint64_t seen, int64_t deadline_ns) {
  struct probe *p = ctx;
  p->under_driver->wait(p->under_driver->ctx, seen, deadline_ns);
}

static uint64_t driver_seen(void *ctx) {
  struct probe *p = ctx;
  return p->under_driver->seen(p->under_driver->ctx);
}

static void driver_progress(void *ctx) {
  struct probe *p = ctx;
  p->under_driver->progress(p->under_driver->ctx);
}

static void driver_stop(void *ctx) {
  struct probe *p = ctx;
  p->under_driver->stop(p->under_driver->ctx);
  p->loop = NULL;
}

const struct qwp_driver *probe_driver(void *ctx, const struct qwp_driver *driver) {
  struct probe *p = ctx;
  p->under_driver = driver;
  p->driver = (struct qwp_driver){.ctx = p, .start = driver_start, .wake = driver_wake, .wait = driver_wait,
                                  .seen = driver_seen, .progress = driver_progress, .stop = driver_stop};
  return &p->driver;
}

/* ---- the server's side ---- */

void probe_accepted(void *ctx, void *peer, struct mock_conn *c) {
  struct probe *p = ctx;
  int most = (int)(sizeof p->servers / sizeof *p->servers);
  if (p->server_count < most) p->servers[p->server_count] = (struct probe_server){.conn = c, .peer = peer};
  if (p->server_count < most) p->server_count++;
  if (!p->census) return;
  if (p->server_count > CENSUS_CONNECTIONS) p->census->overflow = true;
  else p->census->server_connections = p->server_count;
}

/* The newest with this handle: a handle may come again. */
static int server_of(const struct probe *p, const struct mock_conn *c) {
  for (int i = p->server_count - 1; i >= 0; i--)
    if (p->servers[i].conn == c && !p->servers[i].ended) return i;
  return -1;
}

static bool is_place(const struct probe *p, int i, size_t n) {
  const struct sweep_point *at = p->point;
  if (!at || at->site != SWEEP_SERVER || p->fired || at->connection != i + 1) return false;
  return at->at > p->servers[i].read && at->at <= p->servers[i].read + (int64_t)n;
}

static void end_connection(struct probe *p, struct probe_server *s) {
  fire(p);
  bool reset = p->point->act == FAULT_DO_RST;
  if (reset) sim_peer_reset(p->sim, s->peer);
  else sim_peer_close(p->sim, s->peer);
  mock_ended(s->conn, reset);
}

bool probe_received(void *ctx, struct mock_conn *c, const uint8_t *bytes, size_t n) {
  struct probe *p = ctx;
  int i = server_of(p, c);
  if (i < 0) return mock_received(c, bytes, n);
  struct probe_server *s = &p->servers[i];
  bool place = is_place(p, i, n);
  size_t take = place ? (size_t)(p->point->at - s->read) : n;
  s->read += (int64_t)take;
  bool alive = mock_received(c, bytes, take);
  if (p->census && i < CENSUS_CONNECTIONS) {
    p->census->connections[i].server_read = s->read;
    p->census->connections[i].server_ended = !alive;
  }
  if (place && alive) end_connection(p, s);
  if (place && !alive) p->spent = true;
  s->ended = place || !alive;
  return alive && !place;
}

void probe_init(struct probe *p, const struct sweep_point *point, struct census *census) {
  p->point = point;
  p->census = census;
  p->loop = NULL;
  p->fired = p->spent = p->viewed = false;
  p->view = (struct qwp_loop_view){0};
  p->socket_count = p->server_count = 0;
}
