/* peer - the server's end of a connection, as an event loop would see it: one callback
 * a turn, level-triggered, bytes before the end.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/internal.h"

static struct stream *inbox(struct link *l) { return &l->end[LINK_CLIENT].out; }

static bool ended_by_fin(const struct link *l) {
  const struct stream *in = &l->end[LINK_CLIENT].out;
  return in->fin_arrived && stream_unread(in) == 0;
}

static bool has_bytes(const struct link *l) { return stream_unread(&l->end[LINK_CLIENT].out) > 0; }

bool peer_due(const struct sim *s, const struct link *l) {
  (void)s;
  const struct link_end *e = &l->end[LINK_SERVER];
  if (!e->open) return false;
  if (e->reset) return true;
  if (l->lingering) return has_bytes(l) || ended_by_fin(l);
  if (!l->live) return false;
  if (!l->paused && (has_bytes(l) || ended_by_fin(l))) return true;
  return l->blocked && (link_ready(l, LINK_SERVER) & QWP_WRITABLE);
}

/* The server is through with it, or never was there. */
static void release(struct sim *s, struct link *l) {
  l->live = false;
  l->lingering = false;
  link_close(l, LINK_SERVER, s->now_ns);
}

static void after_callback(struct sim *s, struct link *l, bool alive) {
  s->in_server = false;
  if (!alive && l->live) release(s, l);
}

void peer_accept(struct sim *s, struct link *l) {
  l->end[LINK_SERVER].open = true;
  l->live = true;
  s->in_server = true;
  void *conn = s->server.accept(s->server.ctx, l);
  s->in_server = false;
  l->conn = conn;
  if (!conn && l->live) sim_peer_reset(s, l);
}

static const uint8_t *next_bytes(struct sim *s, struct link *l, size_t *n) {
  size_t unread = stream_unread(inbox(l));
  size_t want = unread < SIM_READ_BYTES ? unread : SIM_READ_BYTES;
  if (l->read_limit > 0 && want > l->read_limit) want = l->read_limit;
  size_t in_one_piece;
  const uint8_t *p = stream_peek(inbox(l), &in_one_piece);
  if (in_one_piece < want) {
    if (!s->scratch) s->scratch = malloc(SIM_READ_BYTES);
    if (s->scratch) {
      *n = stream_take(inbox(l), s->scratch, want);
      return s->scratch;
    }
    want = in_one_piece;
  }
  stream_skip(inbox(l), want); /* the bytes stay in place until the client writes again */
  *n = want;
  return p;
}

static void hand_bytes(struct sim *s, struct link *l) {
  size_t n;
  const uint8_t *p = next_bytes(s, l, &n);
  s->in_server = true;
  bool alive = s->server.received(s->server.ctx, l->conn, p, n);
  after_callback(s, l, alive);
}

static void hand_end(struct sim *s, struct link *l, bool reset) {
  void *conn = l->conn;
  release(s, l);
  s->in_server = true;
  s->server.ended(s->server.ctx, conn, reset);
  s->in_server = false;
}

static void hand_room(struct sim *s, struct link *l) {
  l->blocked = false;
  s->in_server = true;
  bool alive = s->server.writable(s->server.ctx, l->conn);
  after_callback(s, l, alive);
}

static void linger(struct sim *s, struct link *l) {
  stream_skip(inbox(l), stream_unread(inbox(l)));
  if (ended_by_fin(l)) release(s, l);
}

void peer_turn(struct sim *s, struct link *l) {
  bool reset = l->end[LINK_SERVER].reset;
  if (l->lingering) {
    if (reset) release(s, l);
    else linger(s, l);
  } else if (!l->paused && has_bytes(l)) {
    hand_bytes(s, l);
  } else if (reset) {
    hand_end(s, l, true);
  } else if (l->blocked && (link_ready(l, LINK_SERVER) & QWP_WRITABLE)) {
    hand_room(s, l);
  } else {
    hand_end(s, l, false);
  }
}

/* ---- what the server does ------------------------------------------------------------ */

long sim_peer_write(struct sim *s, void *peer, const uint8_t *p, size_t n) {
  struct link *l = peer;
  if (!l->live) return -1;
  ssize_t taken = link_send(l, LINK_SERVER, p, n, s->now_ns);
  if (taken < 0 && taken != -EAGAIN && taken != -ENOBUFS) return -1;
  if (taken < 0) taken = 0;
  if ((size_t)taken < n) l->blocked = true;
  return (long)taken;
}

void sim_peer_shutdown(struct sim *s, void *peer) { link_shutdown(peer, LINK_SERVER, s->now_ns); }

void sim_peer_close(struct sim *s, void *peer) {
  struct link *l = peer;
  if (!l->live) return;
  l->live = false;
  l->lingering = true;
  link_shutdown(l, LINK_SERVER, s->now_ns);
}

void sim_peer_reset(struct sim *s, void *peer) {
  struct link *l = peer;
  if (!l->live) return;
  l->live = false;
  link_reset(l, LINK_SERVER, s->now_ns);
}

void sim_peer_pause(struct sim *s, void *peer, bool paused) {
  (void)s;
  ((struct link *)peer)->paused = paused;
}

void sim_peer_limit_read(struct sim *s, void *peer, size_t max_bytes) {
  (void)s;
  ((struct link *)peer)->read_limit = max_bytes;
}

void sim_wake_server_at(struct sim *s, int64_t at_ns) {
  if (at_ns < s->server_wake_ns) s->server_wake_ns = at_ns;
}

void sim_listen(struct sim *s, bool open) { s->listening = open; }
