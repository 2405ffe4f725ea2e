/* server_world.h - a mock server that is fed bytes and then questioned, for the fuzz targets. No cmocka. */
#ifndef TESTLIB_SERVER_WORLD_H
#define TESTLIB_SERVER_WORLD_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/mock.h"

#define WORLD_HEAD                                                                         \
  "GET /write/v4 HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"                \
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nX-QWP-Max-Version: 1\r\n\r\n"

struct world {
  struct mock *m;
  struct mock_conn *conn;
  int64_t now_ns, wake_at_ns; /* INT64_MAX: the mock waits for nothing */
  size_t out_n;
  uint64_t out_sum;
  bool paused;
  size_t limit;
  struct mock_facts facts;
};

static int64_t world_now(void *ctx) { return ((struct world *)ctx)->now_ns; }
static int64_t world_wall(void *ctx) { return 1700000000000000000 + ((struct world *)ctx)->now_ns; }

static long world_write(void *ctx, void *peer, const uint8_t *p, size_t n) {
  struct world *w = ctx;
  (void)peer;
  for (size_t i = 0; i < n; i++) w->out_sum += p[i]; /* every byte is looked at */
  w->out_n += n;
  return (long)n;
}

static void world_gone(void *ctx, void *peer) {
  (void)peer;
  ((struct world *)ctx)->conn = NULL;
}

static void world_shut(void *ctx, void *peer) {
  (void)ctx;
  (void)peer;
}

static void world_pause(void *ctx, void *peer, bool paused) {
  (void)peer;
  ((struct world *)ctx)->paused = paused;
}

static void world_wake_at(void *ctx, int64_t at_ns) {
  struct world *w = ctx;
  if (at_ns < w->wake_at_ns) w->wake_at_ns = at_ns;
}

/* Time passes until the mock waits for nothing any more: what it held back is then served. */
static void world_rest(struct world *w) {
  for (int i = 0; w->wake_at_ns != INT64_MAX; i++) {
    if (i > 100000) abort(); /* no script here goes on for ever */
    if (w->wake_at_ns > w->now_ns) w->now_ns = w->wake_at_ns;
    w->wake_at_ns = INT64_MAX;
    mock_tick(w->m);
  }
}

static void world_listen(void *ctx, bool open) {
  (void)ctx;
  (void)open;
}

static void world_limit(void *ctx, void *peer, size_t max_bytes) {
  (void)peer;
  ((struct world *)ctx)->limit = max_bytes;
}

static void world_line(void *ctx, const char *line, size_t n) {
  (void)ctx;
  if (n < 2 || line[0] != '{' || line[n - 1] != '}' || memchr(line, '\n', n)) abort();
}

static void world_feed(struct world *w, const uint8_t *p, size_t n, size_t piece) {
  size_t at = 0, waits = 0;
  while (at < n && w->conn) {
    if (w->paused) { /* time passes until it reads again */
      w->now_ns += 1000000;
      mock_tick(w->m);
      if (++waits > 100000) abort(); /* no script here stalls for ever */
      continue;
    }
    size_t take = n - at < piece ? n - at : piece;
    if (w->limit > 0 && take > w->limit) take = w->limit;
    uint8_t *exact = malloc(take);
    if (!exact) abort();
    memcpy(exact, p + at, take);
    bool alive = mock_received(w->conn, exact, take);
    free(exact);
    if (alive != (w->conn != NULL)) abort();
    at += take;
  }
}

static void world_run(struct world *w, const struct mock_script *script, const void *head, size_t head_n,
    const uint8_t *p,
                      size_t n, size_t piece) {
  memset(w, 0, sizeof *w);
  w->wake_at_ns = INT64_MAX;
  struct mock_options o = {
    .clock = {w, world_now, world_wall},
    .transport = {.ctx = w, .write = world_write, .shutdown = world_shut, .close = world_gone, .reset = world_gone,
        .pause = world_pause, .wake_at = world_wake_at, .listen = world_listen, .limit_read = world_limit},
    .script = script, .journal = MOCK_JOURNAL_FULL, .journal_hex = true, .journal_line = world_line};
  w->m = mock_new(&o);
  if (!w->m) abort();
  w->conn = mock_accept(w->m, w);
  world_feed(w, head, head_n, piece);
  world_feed(w, p, n, piece);
  world_rest(w);
  mock_facts(w->m, &w->facts);
  if (w->conn) mock_ended(w->conn, true);
  mock_del(w->m);
}

/* What may not depend on how the bytes came. OKs are grouped by reads; they and the writes are not compared. */
static void world_same(const struct mock_facts *a, const struct mock_facts *b) {
  if (a->conns != b->conns || a->readers != b->readers || a->upgrades != b->upgrades) abort();
  if (a->refused != b->refused || a->unmatched != b->unmatched) abort();
  if (a->frames != b->frames || a->catchup != b->catchup || a->dropped != b->dropped || a->bytes != b->bytes) abort();
  if (a->rows != b->rows || a->rows_unique != b->rows_unique || a->rows_doubled != b->rows_doubled) abort();
  if (a->rolled_back_rows != b->rolled_back_rows || a->commits != b->commits || a->errors != b->errors) abort();
  if (a->pings != b->pings || a->pongs != b->pongs || a->closes != b->closes || a->violations != b->violations) abort();
}

#endif
