#include "sim/link.h"

#include <errno.h>
#include <stdlib.h>

#include "qwp/ops.h"
#include "sim/sim.h"

static enum link_side other(enum link_side side) { return side == LINK_CLIENT ? LINK_SERVER : LINK_CLIENT; }

static struct stream *incoming(struct link *l, enum link_side side) { return &l->end[other(side)].out; }

static bool connected(const struct link *l, enum link_side side) {
  return l->stage == LINK_ESTABLISHED || (side == LINK_SERVER && l->stage == LINK_SYNACK);
}

/* When what leaves now is there. A stream keeps its order by itself: what overtook waits. */
static int64_t arrival(struct link *l, int64_t now_ns) {
  int64_t at_ns = now_ns + l->delay_ns;
  return l->jitter_ns > 0 ? at_ns + (int64_t)prng_upto(l->lateness, (uint64_t)l->jitter_ns + 1) - 1 : at_ns;
}

struct link *link_new(size_t send_cap, size_t recv_cap, int64_t delay_ns, int64_t now_ns) {
  struct link *l = calloc(1, sizeof *l);
  if (!l) return NULL;
  stream_init(&l->end[LINK_CLIENT].out, send_cap, recv_cap);
  stream_init(&l->end[LINK_SERVER].out, send_cap, recv_cap);
  l->end[LINK_CLIENT].open = true;
  l->stage = LINK_SYN;
  l->delay_ns = delay_ns;
  l->stage_due_ns = now_ns + delay_ns;
  return l;
}

void link_del(struct link *l) {
  stream_free(&l->end[LINK_CLIENT].out);
  stream_free(&l->end[LINK_SERVER].out);
  free(l);
}

int link_take_error(struct link *l, enum link_side side) {
  int err = l->end[side].err;
  l->end[side].err = 0;
  return -err;
}

/* Taken, 0 = full, -1 = out of memory. */
static long write_segments(struct link *l, enum link_side side, const uint8_t *p, size_t n, int64_t now_ns) {
  size_t segment = l->jitter_ns > 0 ? SIM_SEGMENT_BYTES : SIZE_MAX;
  size_t done = 0;
  while (done < n && stream_room(&l->end[side].out) > 0) {
    size_t piece = n - done < segment ? n - done : segment;
    long taken = stream_write(&l->end[side].out, p + done, piece, arrival(l, now_ns));
    if (taken < 0) return done > 0 ? (long)done : -1;
    done += (size_t)taken;
  }
  return (long)done;
}

ssize_t link_send(struct link *l, enum link_side side, const void *buf, size_t n, int64_t now_ns) {
  struct link_end *e = &l->end[side];
  if (e->err) return link_take_error(l, side);
  if (e->shut || e->reset) return -EPIPE;
  if (!connected(l, side)) return -EAGAIN;
  if (n == 0) return 0;
  long taken = write_segments(l, side, buf, n, now_ns);
  if (taken < 0) return -ENOBUFS;
  return taken > 0 ? (ssize_t)taken : -EAGAIN;
}

ssize_t link_recv(struct link *l, enum link_side side, void *buf, size_t n) {
  struct stream *in = incoming(l, side);
  if (n == 0) return 0;
  size_t got = stream_take(in, buf, n);
  if (got > 0) return (ssize_t)got;
  if (in->fin_arrived) return 0; /* end of stream was first; a later error goes to a send */
  if (l->end[side].err) return link_take_error(l, side);
  return l->end[side].reset || l->end[side].deaf ? 0 : -EAGAIN;
}

int link_shutdown(struct link *l, enum link_side side, int64_t now_ns) {
  struct link_end *e = &l->end[side];
  if (e->reset || !connected(l, side)) return -ENOTCONN;
  if (e->shut) return 0;
  e->shut = true;
  stream_finish(&e->out, arrival(l, now_ns));
  return 0;
}

int link_deafen(struct link *l, enum link_side side) {
  if (l->end[side].reset || !connected(l, side)) return -ENOTCONN;
  l->end[side].deaf = true;
  return 0;
}

/* Ends the side without a word to come: RST to the peer, deaf from now on. */
static void abort_end(struct link *l, enum link_side side, int64_t now_ns) {
  struct link_end *e = &l->end[side];
  if (!e->reset) stream_abort(&e->out, arrival(l, now_ns));
  e->reset = true;
}

void link_reset(struct link *l, enum link_side side, int64_t now_ns) {
  if (connected(l, side)) abort_end(l, side, now_ns);
  l->end[side].open = false;
}

void link_close(struct link *l, enum link_side side, int64_t now_ns) {
  if (connected(l, side) && stream_unread(incoming(l, side)) > 0) {
    link_reset(l, side, now_ns);
    return;
  }
  link_shutdown(l, side, now_ns);
  l->end[side].open = false;
}

unsigned link_ready(const struct link *l, enum link_side side) {
  const struct link_end *e = &l->end[side];
  const struct stream *in = &l->end[other(side)].out;
  if (e->reset || (e->shut && (in->fin_arrived || e->deaf))) return QWP_READABLE | QWP_WRITABLE;
  if (!connected(l, side)) return 0;
  unsigned ready = 0;
  if (in->fin_arrived || e->deaf || stream_unread(in) > 0) ready |= QWP_READABLE;
  /* Writable again only when a third of the buffer is free, as the kernel's own rule. */
  if (e->shut || stream_room(&e->out) * 3 >= e->out.send_cap) ready |= QWP_WRITABLE;
  return ready;
}

/* An RST reaches the side. */
static void hit_by_reset(struct link *l, enum link_side side) {
  struct link_end *e = &l->end[side];
  if (e->reset) return;
  e->reset = true;
  e->err = incoming(l, side)->fin_arrived ? EPIPE : ECONNRESET;
}

void link_cut(struct link *l, enum link_side side, int64_t now_ns) {
  if (!connected(l, side) || l->end[side].reset) return;
  stream_abort(&l->end[side].out, arrival(l, now_ns));
  hit_by_reset(l, side);
}

static bool takes_bytes(const struct link_end *e) { return e->open && !(e->deaf && e->shut); }

int64_t link_due(const struct link *l, enum link_side from) { return stream_due(&l->end[from].out); }

void link_deliver(struct link *l, enum link_side from, size_t max_bytes, int64_t now_ns) {
  enum link_side to = other(from);
  struct stream *st = &l->end[from].out;
  if (l->end[to].reset) { /* no connection there any more to take them */
    stream_purge(st);
    return;
  }
  switch (stream_deliver(st, max_bytes, now_ns)) {
    case STREAM_BYTES:
      if (takes_bytes(&l->end[to])) return;
      stream_skip(st, stream_unread(st)); /* nobody will read them */
      if (l->end[to].open) l->end[to].err = ECONNRESET;
      abort_end(l, to, now_ns);
      return;
    case STREAM_FIN:
      return;
    case STREAM_RST:
      hit_by_reset(l, to);
      return;
  }
}
