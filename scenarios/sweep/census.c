#include "sweep/census.h"

#include <errno.h>
#include <stdlib.h>

#define EDGE_BYTES 64 /* at both ends of a long frame, where each byte has all faults */

static bool add(struct sweep_points *p, struct sweep_point point) {
  if (p->count == p->cap) {
    size_t cap = p->cap ? p->cap * 2 : 4096;
    struct sweep_point *grown = realloc(p->at, cap * sizeof *grown);
    if (!grown) return false;
    p->at = grown;
    p->cap = cap;
  }
  p->at[p->count++] = point;
  return true;
}

void sweep_points_free(struct sweep_points *p) {
  free(p->at);
  *p = (struct sweep_points){0};
}

/* ---- bytes ---- */

struct fault {
  enum fault_do act;
  int err;
};

/* ECONNRESET of a call is an RST; the errno beside it is of a connection that ends without one. */
static const struct fault of_send[] = {
    {FAULT_DO_RST, 0}, {FAULT_DO_FIN, 0}, {FAULT_DO_ERRNO, EPIPE}, {FAULT_DO_SHORT, 0}, {FAULT_DO_AGAIN, 0}};
static const struct fault of_recv[] = {
    {FAULT_DO_RST, 0}, {FAULT_DO_FIN, 0}, {FAULT_DO_ERRNO, ETIMEDOUT}, {FAULT_DO_SHORT, 0}, {FAULT_DO_AGAIN, 0}};

static bool add_byte(struct sweep_points *out, const struct sweep_point *where) {
  const struct fault *faults = where->site == SWEEP_SEND ? of_send : of_recv;
  for (size_t i = 0; i < sizeof of_send / sizeof *of_send; i++) {
    struct sweep_point p = *where;
    p.act = faults[i].act;
    p.err = faults[i].err;
    if (!add(out, p)) return false;
  }
  return true;
}

static bool add_bytes(struct sweep_points *out, enum sweep_site site, int connection, bool upgrade, int64_t n) {
  for (int64_t at = 0; at < n; at++) {
    struct sweep_point p = {.site = site, .connection = connection, .upgrade = upgrade, .at = at};
    if (!add_byte(out, &p)) return false;
  }
  return true;
}

enum { ALL_TURNS = -1, CLIENT_TURNS = sizeof of_send / sizeof *of_send, SERVER_TURNS = 2 };

/* Whose fault the byte has; ALL_TURNS outside of the middle of a long payload. */
static int turn_of(const struct census_connection *c, size_t frame, int64_t at) {
  int64_t from = c->frame_at[frame], to = frame + 1 < c->frames ? c->frame_at[frame + 1] : c->out;
  if (c->frames == 0 || at < from || to - from < CENSUS_LONG_FRAME_BYTES) return ALL_TURNS;
  if (at - from < EDGE_BYTES || to - at <= EDGE_BYTES) return ALL_TURNS;
  return (int)((at - from) % (CLIENT_TURNS + SERVER_TURNS));
}

static bool add_turn(struct sweep_points *out, struct sweep_point p, int turn) {
  p.by_turns = true;
  p.act = of_send[turn].act;
  p.err = of_send[turn].err;
  return add(out, p);
}

static bool add_sent(struct sweep_points *out, const struct census_connection *c, int connection) {
  size_t frame = 0;
  for (int64_t at = 0; at < c->out; at++) {
    while (frame + 1 < c->frames && c->frame_at[frame + 1] <= at) frame++;
    struct sweep_point p = {.site = SWEEP_SEND, .connection = connection, .at = at};
    int turn = turn_of(c, frame, at);
    out->by_turns += turn != ALL_TURNS;
    if (turn >= CLIENT_TURNS) continue; /* the server's */
    if (turn == ALL_TURNS ? !add_byte(out, &p) : !add_turn(out, p, turn)) return false;
  }
  return true;
}

static bool add_received(struct sweep_points *out, const struct census_connection *c, int connection) {
  for (int64_t at = 0; at < c->in; at++) {
    struct sweep_point p = {.site = SWEEP_RECV, .connection = connection, .at = at};
    if (at < c->in_with_head) p.head_bytes = c->up_in;
    if (!add_byte(out, &p)) return false;
  }
  return true;
}

/* The byte that the server's end stands before is the one whose turn counts. */
static bool add_server(struct sweep_points *out, const struct census_connection *server,
                       const struct census_connection *client, int connection) {
  static const enum fault_do ends[SERVER_TURNS] = {FAULT_DO_RST, FAULT_DO_FIN};
  int64_t last = server->server_read - (server->server_ended ? 1 : 0);
  size_t frame = 0;
  for (int64_t at = 1; at <= last; at++) {
    int64_t data = at - client->up_out;
    while (frame + 1 < client->frames && client->frame_at[frame + 1] <= data) frame++;
    int turn = turn_of(client, frame, data);
    for (int i = 0; i < SERVER_TURNS; i++) {
      struct sweep_point p = {.site = SWEEP_SERVER, .connection = connection, .at = at, .act = ends[i]};
      p.by_turns = turn != ALL_TURNS;
      if (p.by_turns && turn != CLIENT_TURNS + i) continue;
      if (!add(out, p)) return false;
    }
  }
  return true;
}

/* ---- calls ---- */

#define LAST -1
static const struct {
  enum fault_point call;
  struct fault faults[10]; /* ends with err LAST */
  bool ever;               /* errnos for ever too */
} of_calls[] = {
    {FAULT_SEND,
     {{FAULT_DO_ERRNO, EPIPE}, {FAULT_DO_ERRNO, ECONNRESET}, {FAULT_DO_ERRNO, ETIMEDOUT}, {FAULT_DO_ERRNO, ENOBUFS},
      {FAULT_DO_ERRNO, ENOMEM}, {FAULT_DO_ERRNO, EINTR}, {FAULT_DO_ERRNO, EIO}, {FAULT_DO_AGAIN, 0},
      {FAULT_DO_RST, LAST}},
     true},
    {FAULT_RECV,
     {{FAULT_DO_ERRNO, ECONNRESET}, {FAULT_DO_ERRNO, ETIMEDOUT}, {FAULT_DO_ERRNO, ENOBUFS}, {FAULT_DO_ERRNO, ENOMEM},
      {FAULT_DO_ERRNO, EINTR}, {FAULT_DO_ERRNO, EIO}, {FAULT_DO_AGAIN, 0}, {FAULT_DO_RST, LAST}},
     true},
    {FAULT_CONNECT,
     {{FAULT_DO_ERRNO, ECONNREFUSED}, {FAULT_DO_ERRNO, ETIMEDOUT}, {FAULT_DO_ERRNO, ENOBUFS}, {FAULT_DO_ERRNO, ENOMEM},
      {FAULT_DO_ERRNO, EINTR}, {FAULT_DO_ERRNO, EIO}, {FAULT_DO_RST, 0}, {FAULT_DO_RST, LAST}},
     true},
    {FAULT_WAIT,
     {{FAULT_DO_ERRNO, EINTR}, {FAULT_DO_ERRNO, ENOMEM}, {FAULT_DO_AGAIN, 0}, {FAULT_DO_RST, 0}, {FAULT_DO_FIN, 0},
      {FAULT_DO_RST, LAST}},
     true},
    {FAULT_CLOSE, {{FAULT_DO_RST, 0}, {FAULT_DO_RST, LAST}}, false},
    {FAULT_ENTROPY, {{FAULT_DO_ERRNO, EIO}, {FAULT_DO_ERRNO, EINTR}, {FAULT_DO_RST, LAST}}, true},
};

static bool add_call(struct sweep_points *out, enum fault_point call, int64_t nth, const struct fault *f, bool ever) {
  struct sweep_point p = {.site = SWEEP_CALL, .call = call, .act = f->act, .err = f->err, .at = nth};
  if (!add(out, p)) return false;
  p.ever = true;
  return !ever || f->act != FAULT_DO_ERRNO || add(out, p);
}

static bool add_calls(struct sweep_points *out, const struct census *c) {
  for (size_t i = 0; i < sizeof of_calls / sizeof *of_calls; i++)
    for (const struct fault *f = of_calls[i].faults; f->err != LAST; f++)
      for (int64_t nth = 1; nth <= c->calls[of_calls[i].call]; nth++)
        if (!add_call(out, of_calls[i].call, nth, f, of_calls[i].ever)) return false;
  for (int64_t nth = 1; nth <= c->calls[FAULT_ALLOC]; nth++)
    for (int ever = 0; ever < 2; ever++) {
      struct sweep_point p = {.site = SWEEP_ALLOC, .act = FAULT_DO_ERRNO, .err = ENOMEM, .ever = ever, .at = nth};
      if (!add(out, p)) return false;
    }
  return true;
}

bool census_points(const struct census *c, struct sweep_points *out) {
  for (int i = 0; i < c->client_connections; i++) {
    const struct census_connection *x = &c->connections[i];
    if (!add_bytes(out, SWEEP_SEND, i + 1, true, x->up_out) || !add_sent(out, x, i + 1) ||
        !add_bytes(out, SWEEP_RECV, i + 1, true, x->up_in) || !add_received(out, x, i + 1))
      return false;
  }
  for (int i = 0; i < c->server_connections; i++)
    if (!add_server(out, &c->connections[i], &c->connections[i], i + 1)) return false;
  return add_calls(out, c);
}
