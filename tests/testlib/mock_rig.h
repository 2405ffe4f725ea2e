/* mock_rig.h - a mock server on a transport in memory, with a clock that the test moves.
 *
 *   struct rig r;
 *   rig_start(&r, &script);                 // NULL = a correct server
 *   struct rig_peer *p = rig_connect(&r);   // accepted
 *   rig_upgrade(p);                         // head sent, 101 read and forgotten
 *   rig_feed(p, bytes, n);                  // one receive pass
 *   p->out, p->out_n                        // what the server wrote since rig_forget
 *   rig_stop(&r);
 */
#ifndef TESTLIB_MOCK_RIG_H
#define TESTLIB_MOCK_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/mock.h"

#define RIG_PEERS 32
#define RIG_HEAD                                                                                     \
  "Host: 127.0.0.1:9000\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"                            \
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nX-QWP-Max-Version: 1\r\n\r\n"
#define RIG_WRITE_HEAD "GET /write/v4 HTTP/1.1\r\n" RIG_HEAD
#define RIG_READ_HEAD "GET /read/v1 HTTP/1.1\r\n" RIG_HEAD

struct rig;

struct rig_peer {
  struct rig *r;
  struct mock_conn *conn; /* NULL = the mock has let go of it */
  uint8_t *out;
  size_t out_n, out_cap;
  int writes;
  size_t room;            /* what the socket still takes; SIZE_MAX = everything */
  bool gone;              /* writes fail */
  bool shut, closed, reset, paused;
  size_t limit;
};

struct rig {
  struct mock *m;
  struct rig_peer peers[RIG_PEERS];
  int peer_count;
  int64_t now_ns, wall_ns, wake_ns; /* wake_ns: earliest wake-up asked for, INT64_MAX = none */
  bool listening;
  char *journal;          /* lines, each ended by a newline */
  size_t journal_n, journal_cap;
};

static inline void *rig_grow(void *p, size_t *cap, size_t need) {
  if (need <= *cap) return p;
  *cap = 2 * need;
  p = realloc(p, *cap);
  if (!p) abort();
  return p;
}

static inline int64_t rig_now(void *ctx) { return ((struct rig *)ctx)->now_ns; }
static inline int64_t rig_wall(void *ctx) { return ((struct rig *)ctx)->wall_ns; }

static inline long rig_write(void *ctx, void *peer, const uint8_t *p, size_t n) {
  struct rig_peer *q = peer;
  (void)ctx;
  assert_false(q->closed || q->reset || q->shut);
  assert_true(n > 0);
  q->writes++;
  if (q->gone) return -1;
  if (n > q->room) n = q->room;
  if (q->room != SIZE_MAX) q->room -= n;
  if (n == 0) return 0;
  q->out = rig_grow(q->out, &q->out_cap, q->out_n + n);
  memcpy(q->out + q->out_n, p, n);
  q->out_n += n;
  return (long)n;
}

static inline void rig_shutdown(void *ctx, void *peer) {
  (void)ctx;
  ((struct rig_peer *)peer)->shut = true;
}

static inline void rig_close(void *ctx, void *peer) {
  struct rig_peer *q = peer;
  (void)ctx;
  assert_false(q->closed || q->reset);
  q->closed = true;
  q->conn = NULL;
}

static inline void rig_reset(void *ctx, void *peer) {
  struct rig_peer *q = peer;
  (void)ctx;
  assert_false(q->closed || q->reset);
  q->reset = true;
  q->conn = NULL;
}

static inline void rig_pause(void *ctx, void *peer, bool paused) {
  (void)ctx;
  assert_int_not_equal(((struct rig_peer *)peer)->paused, paused); /* told on changes only */
  ((struct rig_peer *)peer)->paused = paused;
}

static inline void rig_wake_at(void *ctx, int64_t at_ns) {
  struct rig *r = ctx;
  if (at_ns < r->wake_ns) r->wake_ns = at_ns;
}

static inline void rig_listen(void *ctx, bool open) { ((struct rig *)ctx)->listening = open; }

static inline void rig_limit_read(void *ctx, void *peer, size_t max_bytes) {
  (void)ctx;
  ((struct rig_peer *)peer)->limit = max_bytes;
}

static inline void rig_line(void *ctx, const char *line, size_t n) {
  struct rig *r = ctx;
  r->journal = rig_grow(r->journal, &r->journal_cap, r->journal_n + n + 2);
  memcpy(r->journal + r->journal_n, line, n);
  r->journal_n += n;
  r->journal[r->journal_n++] = '\n';
  r->journal[r->journal_n] = '\0';
}

static inline void rig_start_as(struct rig *r, const struct mock_script *script, enum mock_rows rows,
                                enum mock_journal_level journal, bool replayed) {
  memset(r, 0, sizeof *r);
  r->now_ns = 1000000;
  r->wall_ns = 1700000000000000000;
  r->wake_ns = INT64_MAX;
  r->listening = true;
  struct mock_options o = {
    .clock = {r, rig_now, rig_wall},
    .transport = {.ctx = r, .write = rig_write, .shutdown = rig_shutdown, .close = rig_close, .reset = rig_reset,
                  .pause = rig_pause, .wake_at = rig_wake_at, .listen = rig_listen, .limit_read = rig_limit_read},
    .script = script,
    .rows = rows,
    .journal = journal,
    .journal_line = rig_line,
    .journal_ctx = r,
    .replayed = replayed,
  };
  r->m = mock_new(&o);
  assert_non_null(r->m);
}

/* The bytes of these tests have one key for all frames and all connections. */
static inline void rig_start_with(struct rig *r, const struct mock_script *script, enum mock_rows rows,
                                  enum mock_journal_level journal) {
  rig_start_as(r, script, rows, journal, true);
}

static inline void rig_start(struct rig *r, const struct mock_script *script) {
  rig_start_with(r, script, MOCK_ROWS_FULL, MOCK_JOURNAL_FULL);
}

static inline void rig_stop(struct rig *r) {
  mock_del(r->m);
  for (int i = 0; i < r->peer_count; i++) free(r->peers[i].out);
  free(r->journal);
}

/* NULL = the mock refused it. */
static inline struct rig_peer *rig_connect(struct rig *r) {
  assert_true(r->peer_count < RIG_PEERS);
  struct rig_peer *p = &r->peers[r->peer_count++];
  *p = (struct rig_peer){.r = r, .room = SIZE_MAX};
  p->conn = mock_accept(r->m, p);
  return p->conn ? p : NULL;
}

/* One receive pass of the transport, which keeps to the limit it was told: it may take
 * several calls, and stops where the mock pauses or leaves. Returns bytes taken. */
static inline size_t rig_feed(struct rig_peer *p, const void *bytes, size_t n) {
  size_t done = 0;
  while (done < n && p->conn && !p->paused) {
    size_t piece = p->limit > 0 && p->limit < n - done ? p->limit : n - done;
    uint8_t *exact = malloc(piece); /* so that a sanitizer sees every byte read beyond */
    if (!exact) abort();
    memcpy(exact, (const uint8_t *)bytes + done, piece);
    bool alive = mock_received(p->conn, exact, piece);
    free(exact);
    if (!alive) assert_null(p->conn);
    done += piece;
  }
  return done;
}

static inline void rig_forget(struct rig_peer *p) {
  p->out_n = 0;
  p->writes = 0;
}

static inline void rig_upgrade(struct rig_peer *p) {
  rig_feed(p, RIG_WRITE_HEAD, sizeof RIG_WRITE_HEAD - 1);
  assert_non_null(p->out);
  assert_memory_equal(p->out, "HTTP/1.1 101 ", 13);
  rig_forget(p);
}

static inline struct rig_peer *rig_client(struct rig *r) {
  struct rig_peer *p = rig_connect(r);
  assert_non_null(p);
  rig_upgrade(p);
  return p;
}

static inline void rig_writable(struct rig_peer *p, size_t room) {
  p->room = room;
  if (!mock_writable(p->conn)) assert_null(p->conn);
}

static inline void rig_eof(struct rig_peer *p, bool reset) {
  mock_ended(p->conn, reset);
  p->conn = NULL;
}

/* Moves the clock to t, stopping at every wake-up before it. */
static inline void rig_advance_to(struct rig *r, int64_t t) {
  while (r->wake_ns <= t) {
    if (r->wake_ns > r->now_ns) r->now_ns = r->wake_ns;
    r->wake_ns = INT64_MAX;
    mock_tick(r->m);
  }
  r->now_ns = t;
}

static inline struct mock_facts rig_facts(struct rig *r) {
  struct mock_facts f;
  mock_facts(r->m, &f);
  return f;
}

static inline struct mock_conn_facts rig_conn(struct rig *r, int number) {
  struct mock_conn_facts f;
  assert_true(mock_conn_facts(r->m, number, &f));
  return f;
}

/* ---- frames of a client -------------------------------------------------------------- */

struct rig_bytes {
  uint8_t p[1 << 17];
  size_t n;
};

/* Appends a masked frame. first = FIN, RSV and opcode as they stand on the wire. */
static inline void rig_frame_masked(struct rig_bytes *b, unsigned first, const void *payload, size_t n,
                                    const uint8_t key[4]) {
  assert_true(b->n + n + 14 <= sizeof b->p);
  b->p[b->n++] = (uint8_t)first;
  if (n <= 125) {
    b->p[b->n++] = (uint8_t)(0x80 | n);
  } else if (n <= 0xFFFF) {
    b->p[b->n++] = 0x80 | 126;
    b->p[b->n++] = (uint8_t)(n >> 8);
    b->p[b->n++] = (uint8_t)n;
  } else {
    b->p[b->n++] = 0x80 | 127;
    for (int i = 7; i >= 0; i--) b->p[b->n++] = (uint8_t)((uint64_t)n >> (8 * i));
  }
  memcpy(b->p + b->n, key, 4);
  b->n += 4;
  for (size_t i = 0; i < n; i++) b->p[b->n++] = ((const uint8_t *)payload)[i] ^ key[i & 3];
}

static inline void rig_frame(struct rig_bytes *b, unsigned first, const void *payload, size_t n) {
  static const uint8_t key[4] = {0xA1, 0x02, 0x73, 0xC4};
  rig_frame_masked(b, first, payload, n, key);
}

/* A message of one row: table `t`, LONG column `id`. 36 bytes with flags, as a client lays it out:
 * header, empty delta section, table, 1 row, 1 column, no nulls, value. */
static inline size_t rig_message(uint8_t out[64], unsigned flags, int64_t id) {
  const uint8_t body[] = {0, 0, 1, 't', 1, 1, 2, 'i', 'd', 0x05, 0};
  size_t n = sizeof body + 8;
  const uint8_t head[] = {'Q', 'W', 'P', '1', 1, (uint8_t)(flags | 0x08), 1, 0, (uint8_t)n, 0, 0, 0};
  memcpy(out, head, 12);
  memcpy(out + 12, body, sizeof body);
  for (int i = 0; i < 8; i++) out[12 + sizeof body + (size_t)i] = (uint8_t)((uint64_t)id >> (8 * i));
  return 12 + n;
}

static inline void rig_row(struct rig_bytes *b, unsigned flags, int64_t id) {
  uint8_t message[64];
  rig_frame(b, 0x82, message, rig_message(message, flags, id));
}

/* A dictionary-only message that defines id `start` as one letter. */
static inline void rig_catchup(struct rig_bytes *b, unsigned flags, unsigned start) {
  const uint8_t message[] = {'Q', 'W', 'P', '1', 1, (uint8_t)(flags | 0x08), 0, 0, 4, 0, 0, 0, (uint8_t)start, 1, 1,
      'a'};
  rig_frame(b, 0x82, message, sizeof message);
}

/* ---- what the server said, as words --------------------------------------------------- */

/* "ok(7) error 5(8) close 1003 pong(2) ping(0)": the server's frames in order. The bytes must be whole
 * frames of a lawful server: FIN, no mask, shortest length form. */
static inline const char *rig_said(const struct rig_peer *p) {
  static char text[65536];
  size_t at = 0, used = 0;
  text[0] = '\0';
  while (at < p->out_n) {
    const uint8_t *f = p->out + at;
    assert_true(p->out_n - at >= 2);
    assert_int_equal(f[0] & 0xF0, 0x80);
    assert_int_equal(f[1] & 0x80, 0);
    size_t n = f[1], header = 2;
    if (n == 126) {
      n = (size_t)f[2] << 8 | f[3];
      header = 4;
      assert_true(n > 125);
    }
    assert_true(n < 65536 && f[1] != 127);
    assert_true(at + header + n <= p->out_n);
    const uint8_t *q = f + header;
    long long seq = 0;
    for (int i = 7; n >= 9 && i >= 0; i--) seq = (long long)((unsigned long long)seq << 8 | q[1 + i]);
    const char *space = used ? " " : "";
    char *to = text + used;
    size_t room = sizeof text - used;
    int wrote = 0;
    switch (f[0] & 0x0F) {
      case 0x2:
        assert_true(n >= 11);
        wrote = q[0] == 0 ? snprintf(to, room, "%sok(%lld)", space, seq) : snprintf(to, room, "%serror %d(%lld)",
            space, q[0], seq);
        break;
      case 0x8: wrote = n ? snprintf(to, room, "%sclose %d", space, q[0] << 8 | q[1]) : snprintf(to, room, "%sclose",
          space); break;
      case 0x9: wrote = snprintf(to, room, "%sping(%zu)", space, n); break;
      case 0xA: wrote = snprintf(to, room, "%spong(%zu)", space, n); break;
      default: fail_msg("opcode %d", f[0] & 0x0F);
    }
    used += (size_t)wrote;
    assert_true(used < sizeof text);
    at += header + n;
  }
  return text;
}

#endif
