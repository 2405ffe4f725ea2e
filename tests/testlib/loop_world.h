/* loop_world.h - a world for one send loop: a net table in memory whose server answers
 * every upgrade and then does what the test says, a clock that moves only when nothing
 * else can happen, and a driver that turns the loop while the producer waits.
 *
 *   static void my_test(struct lw *w) {      // listed by lw_test(my_test); others call lw_init and, at the
 *                                            // end, lw_free, which fails the test on a leak
 *   lw_publish(w, 36, 8);                    // 8 frames of 36 wire bytes, straight into the ring
 *   lw_turn(w);                              // one step, if anything is due
 *   lw_run(w);                               // steps until nothing is due at the present time
 *   lw_advance(w, 500 * LW_MS);              // lets time pass from one deadline to the next
 *
 * Each connection has the stream of what the client sent (frames parsed and unmasked by
 * lw_frame) and a queue of bytes for it. `on_send` may shorten or fail any send.
 */
#ifndef TESTLIB_LOOP_WORLD_H
#define TESTLIB_LOOP_WORLD_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "config/config.h"
#include "fail_mem.h"
#include "qwp/driver.h"
#include "qwp/wire.h"
#include "send/loop.h"
#include "send/loop_impl.h"
#include "store/ring.h"
#include "store/segment.h"
#include "ws/upgrade.h"

#define LW_CONNS 128
#define LW_MS INT64_C(1000000)
#define LW_ASYNC "initial_connect_retry=async;"
#define LW_QUICK "ws::addr=h:1;reconnect_initial_backoff_millis=10;reconnect_max_backoff_millis=100;" LW_ASYNC

struct lw_buf {
  uint8_t *p;
  size_t n, at; /* at: consumed */
};

struct lw_conn {
  struct lw_buf out;   /* from the client, behind the upgrade request */
  struct lw_buf in;    /* to the client */
  struct lw_buf head;  /* the upgrade request */
  bool upgraded, eof, fin, open;
  int64_t opened_ns;
  int endpoint_port;   /* the address it was dialled at */
  size_t acked_frames; /* auto-ack */
  uint64_t calls_at_upgrade; /* allocations made before the 101 was sent */
};

struct lw_trace {
  char kind; /* 's', 'r' after the upgrade; 'w' a wait */
  int conn;
  size_t asked;
  long result;
};

struct lw {
  struct qwp_ops ops;
  struct fail_mem mem;
  struct qwp_config config;
  struct qwp_ring *ring;
  struct qwp_loop *loop;
  struct qwp_driver driver;
  int64_t now_ns;
  struct lw_conn conns[LW_CONNS];
  int conn_count;
  int64_t next_fsn;

  /* the server's conduct */
  int refuse;            /* that many connects are refused */
  const char *answer;    /* instead of the 101; NULL = accept */
  const char *headers;   /* extra header lines of the 101 */
  bool auto_ack;         /* OK for every whole frame, one write a send */
  int entropy_result;    /* not 0: the source of random bytes fails so */
  long (*on_send)(struct lw *w, int conn, size_t n); /* bytes taken or -errno */
  void (*on_data)(struct lw *w, int conn);           /* after bytes were taken */

  /* driver */
  struct qwp_want want;
  bool started, woken;
  uint64_t progress;

  struct lw_trace *trace;
  size_t trace_n;
  char log[16384];
  size_t log_n;
  uint64_t entropy;
};

/* ---- bytes ------------------------------------------------------------------- */

static inline void lw_put(struct lw_buf *b, const void *p, size_t n) {
  b->p = realloc(b->p, b->n + n + 1);
  if (!b->p) abort();
  memcpy(b->p + b->n, p, n);
  b->n += n;
  b->p[b->n] = 0;
}

static inline void lw_note(struct lw *w, char kind, int conn, size_t asked, long result) {
  if ((w->trace_n & (w->trace_n - 1)) == 0) { /* full at each power of two */
    w->trace = realloc(w->trace, (w->trace_n ? w->trace_n * 2 : 1) * sizeof *w->trace);
    if (!w->trace) abort();
  }
  w->trace[w->trace_n++] = (struct lw_trace){kind, conn, asked, result};
}

static inline size_t lw_count(const struct lw *w, char kind) {
  size_t n = 0;
  for (size_t i = 0; i < w->trace_n; i++) n += w->trace[i].kind == kind;
  return n;
}

/* Whole frames of a client's stream. Payload of frame i, unmasked into a malloc'd copy;
 * NULL = not there. *n is its size, *opcode its kind. */
static inline uint8_t *lw_frame(const struct lw_conn *c, size_t index, size_t *n, unsigned *opcode) {
  size_t at = 0;
  for (size_t i = 0;; i++) {
    const uint8_t *p = c->out.p + at;
    size_t left = c->out.n - at;
    if (left < 6) return NULL;
    size_t head = 2, len = p[1] & 0x7f;
    if (len == 126) {
      len = (size_t)p[2] << 8 | p[3];
      head = 4;
    } else if (len == 127) {
      if (left < 14) return NULL;
      len = 0;
      for (int k = 2; k < 10; k++) len = len << 8 | p[k];
      head = 10;
    }
    if (!(p[1] & 0x80)) abort(); /* a client masks */
    if (left < head + 4 + len) return NULL;
    if (i == index) {
      uint8_t *copy = malloc(len + 1);
      for (size_t k = 0; k < len; k++) copy[k] = p[head + 4 + k] ^ p[head + k % 4];
      *n = len;
      if (opcode) *opcode = p[0] & 0x0f;
      return copy;
    }
    at += head + 4 + len;
  }
}

/* Whole binary frames the server has. */
static inline size_t lw_frames(const struct lw_conn *c) {
  size_t binary = 0, n;
  unsigned opcode;
  /* One walk: offsets only. */
  size_t at = 0;
  (void)n;
  while (c->out.n - at >= 6) {
    const uint8_t *p = c->out.p + at;
    size_t head = 2, len = p[1] & 0x7f;
    opcode = p[0] & 0x0f;
    if (len == 126) {
      len = (size_t)p[2] << 8 | p[3];
      head = 4;
    } else if (len == 127) {
      if (c->out.n - at < 14) break;
      len = 0;
      for (int k = 2; k < 10; k++) len = len << 8 | p[k];
      head = 10;
    }
    if (c->out.n - at < head + 4 + len) break;
    binary += opcode == QWP_WS_BINARY;
    at += head + 4 + len;
  }
  return binary;
}

/* Server to client: one unmasked frame. */
static inline void lw_send(struct lw *w, int conn, unsigned opcode, const void *payload, size_t n) {
  uint8_t head[4] = {(uint8_t)(0x80 | opcode), (uint8_t)n};
  size_t h = 2;
  if (n > 125) {
    head[1] = 126;
    head[2] = (uint8_t)(n >> 8);
    head[3] = (uint8_t)n;
    h = 4;
  }
  lw_put(&w->conns[conn].in, head, h);
  lw_put(&w->conns[conn].in, payload, n);
}

static inline void lw_ok(struct lw *w, int conn, int64_t seq) {
  uint8_t p[11] = {0};
  for (int i = 0; i < 8; i++) p[1 + i] = (uint8_t)((uint64_t)seq >> (8 * i));
  lw_send(w, conn, QWP_WS_BINARY, p, sizeof p);
}

static inline void lw_nack(struct lw *w, int conn, uint8_t status, int64_t seq, const char *text) {
  uint8_t p[256] = {status};
  size_t n = strlen(text);
  for (int i = 0; i < 8; i++) p[1 + i] = (uint8_t)((uint64_t)seq >> (8 * i));
  p[9] = (uint8_t)n;
  memcpy(p + 11, text, n);
  lw_send(w, conn, QWP_WS_BINARY, p, 11 + n);
}

static inline void lw_close_frame(struct lw *w, int conn, unsigned code) {
  uint8_t p[2] = {(uint8_t)(code >> 8), (uint8_t)code};
  lw_send(w, conn, QWP_WS_CLOSE, p, 2);
}

/* ---- net ---------------------------------------------------------------------- */

static inline int lw_resolve(void *ctx, const char *host, int port, struct qwp_addr *out, int max) {
  (void)ctx;
  (void)max;
  if (strcmp(host, "nowhere") == 0) return -ENOENT;
  memcpy(out->bytes, &port, sizeof port);
  out->len = sizeof port;
  return 1;
}

static inline int lw_connect(void *ctx, const struct qwp_addr *addr, qwp_sock *out) {
  struct lw *w = ctx;
  if (w->refuse > 0) {
    w->refuse--;
    return -ECONNREFUSED;
  }
  if (w->conn_count == LW_CONNS) abort();
  struct lw_conn *c = &w->conns[w->conn_count];
  memcpy(&c->endpoint_port, addr->bytes, sizeof c->endpoint_port);
  c->open = true;
  c->opened_ns = w->now_ns;
  *out = w->conn_count++;
  return 0;
}

static inline int lw_connected(void *ctx, qwp_sock sock) {
  (void)ctx;
  (void)sock;
  return 0;
}

static inline void lw_answer_upgrade(struct lw *w, struct lw_conn *c) {
  const char *key = strstr((const char *)c->head.p, "Sec-WebSocket-Key: ");
  char text[25] = {0}, accept[29], answer[1024];
  memcpy(text, key + 19, 24);
  if (qwp_upgrade_accept(text, accept) != QWP_OK) abort();
  snprintf(answer, sizeof answer,
           "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           "Sec-WebSocket-Accept: %s\r\nX-QWP-Version: 1\r\n%s\r\n",
           accept, w->headers ? w->headers : "");
  const char *use = w->answer ? w->answer : answer;
  lw_put(&c->in, use, strlen(use));
  c->upgraded = !w->answer;
  c->calls_at_upgrade = w->mem.calls;
}

static inline ssize_t lw_net_send(void *ctx, qwp_sock sock, const void *buf, size_t n) {
  struct lw *w = ctx;
  struct lw_conn *c = &w->conns[sock];
  if (!c->upgraded) {
    lw_put(&c->head, buf, n);
    if (strstr((const char *)c->head.p, "\r\n\r\n")) lw_answer_upgrade(w, c);
    return (ssize_t)n;
  }
  long r = w->on_send ? w->on_send(w, sock, n) : (long)n;
  lw_note(w, 's', sock, n, r);
  if (r <= 0) return r;
  lw_put(&c->out, buf, (size_t)r);
  if (w->auto_ack && lw_frames(c) > c->acked_frames) {
    c->acked_frames = lw_frames(c);
    lw_ok(w, sock, (int64_t)c->acked_frames - 1);
  }
  if (w->on_data) w->on_data(w, sock);
  return r;
}

static inline ssize_t lw_net_recv(void *ctx, qwp_sock sock, void *buf, size_t n) {
  struct lw *w = ctx;
  struct lw_conn *c = &w->conns[sock];
  size_t left = c->in.n - c->in.at;
  size_t take = left < n ? left : n;
  ssize_t r = take > 0 ? (ssize_t)take : c->eof ? 0 : -EAGAIN;
  if (c->upgraded && c->in.at > 0) lw_note(w, 'r', sock, n, r);
  if (take > 0) memcpy(buf, c->in.p + c->in.at, take);
  c->in.at += take;
  return r;
}

static inline int lw_shutdown(void *ctx, qwp_sock sock) {
  struct lw *w = ctx;
  w->conns[sock].fin = true;
  w->conns[sock].eof = true; /* a peer that follows */
  return 0;
}

static inline void lw_close(void *ctx, qwp_sock sock) {
  struct lw *w = ctx;
  assert_true(w->conns[sock].open);
  w->conns[sock].open = false;
}

static inline int lw_wait(void *ctx, qwp_sock sock, unsigned interest, int64_t timeout_ns) {
  struct lw *w = ctx;
  lw_note(w, 'w', sock, interest, (long)(timeout_ns == QWP_NEVER ? -1 : timeout_ns));
  return -EAGAIN;
}

static inline void lw_wake(void *ctx) { ((struct lw *)ctx)->woken = true; }
static inline int64_t lw_now(void *ctx) { return ((struct lw *)ctx)->now_ns; }

static inline int lw_entropy(void *ctx, void *buf, size_t n) {
  struct lw *w = ctx;
  if (w->entropy_result != 0) return w->entropy_result;
  for (size_t i = 0; i < n; i++) {
    w->entropy = w->entropy * 6364136223846793005u + 1442695040888963407u;
    ((uint8_t *)buf)[i] = (uint8_t)(w->entropy >> 56);
  }
  return 0;
}

static const struct qwp_net_ops LW_NET = {.resolve = lw_resolve, .connect = lw_connect, .connected = lw_connected,
                                          .send = lw_net_send, .recv = lw_net_recv, .shutdown = lw_shutdown,
                                          .close = lw_close, .wait = lw_wait, .wake = lw_wake};
static const struct qwp_clock_ops LW_CLOCK = {lw_now, lw_now, lw_entropy};

/* ---- turning ------------------------------------------------------------------ */

static inline bool lw_due(const struct lw *w) {
  if (!w->started || w->want.stopped) return false;
  if (w->woken || w->want.deadline_ns <= w->now_ns) return true;
  if (w->want.sock < 0) return false;
  const struct lw_conn *c = &w->conns[w->want.sock];
  if (w->want.interest & QWP_READABLE && (c->in.at < c->in.n || c->eof)) return true;
  return w->want.interest & QWP_WRITABLE;
}

static inline void lw_step(struct lw *w) {
  int64_t now_ns = w->now_ns; /* one look at the clock a step, as a driver does it */
  w->woken = false;
  w->want = qwp_loop_step(w->loop, now_ns);
  if (!w->want.stopped) qwp_loop_wait(w->loop, &w->want, now_ns);
}

static inline bool lw_turn(struct lw *w) {
  if (!lw_due(w)) return false;
  lw_step(w);
  return true;
}

static inline void lw_run(struct lw *w) {
  for (int i = 0; lw_turn(w); i++) assert_true(i < 100000);
}

/* Lets time pass to the loop's next deadline, or to until_ns. false: until_ns is reached. */
static inline bool lw_pass(struct lw *w, int64_t until_ns) {
  int64_t next = w->started && !w->want.stopped ? w->want.deadline_ns : QWP_NEVER;
  if (next > until_ns) next = until_ns;
  assert_true(next != QWP_NEVER); /* nothing would ever happen: a hang */
  if (next > w->now_ns) w->now_ns = next;
  return w->now_ns < until_ns;
}

/* Runs the world for ns. */
static inline void lw_advance(struct lw *w, int64_t ns) {
  int64_t until = w->now_ns + ns;
  do lw_run(w);
  while (lw_pass(w, until));
  lw_run(w);
}

static inline int lw_start(void *ctx, struct qwp_loop *loop) {
  struct lw *w = ctx;
  w->loop = loop;
  w->started = true;
  w->want = (struct qwp_want){.sock = -1, .deadline_ns = w->now_ns};
  return 0;
}

static inline void lw_driver_wait(void *ctx, uint64_t seen, int64_t deadline_ns) {
  struct lw *w = ctx;
  while (w->progress == seen && w->now_ns < deadline_ns)
    if (!lw_turn(w)) lw_pass(w, deadline_ns);
}

static inline uint64_t lw_seen(void *ctx) { return ((struct lw *)ctx)->progress; }
static inline void lw_progress(void *ctx) { ((struct lw *)ctx)->progress++; }
static inline void lw_stop(void *ctx) { ((struct lw *)ctx)->started = false; }

static inline void lw_log(void *ctx, enum qwp_log_level level, const char *line) {
  struct lw *w = ctx;
  int n = snprintf(w->log + w->log_n, sizeof w->log - w->log_n, "%d %s\n", (int)level, line);
  if (n > 0 && (size_t)n < sizeof w->log - w->log_n) w->log_n += (size_t)n;
}

/* ---- life ---------------------------------------------------------------------- */

/* Only the world; for tests that create a sender in it. */
static inline void lw_world(struct lw *w) {
  memset(w, 0, sizeof *w);
  w->ops = fail_mem_ops(&w->mem);
  w->ops.net = &LW_NET;
  w->ops.net_ctx = w;
  w->ops.clock = &LW_CLOCK;
  w->ops.clock_ctx = w;
  w->driver = (struct qwp_driver){w, lw_start, lw_wake, lw_driver_wait, lw_seen, lw_progress, lw_stop};
  w->now_ns = 1000 * LW_MS;
  w->entropy = 42;
}

static inline void lw_init(struct lw *w, const char *config) {
  lw_world(w);
  struct qwp_error err;
  if (qwp_config_parse(config, &w->ops, &w->config, &err) != QWP_OK) fail_msg("%s", err.text);
  w->ring = qwp_ring_new(&w->ops, (size_t)w->config.sf_max_segment_bytes, (size_t)w->config.sf_max_total_bytes);
  assert_non_null(w->ring);
  struct qwp_loop_options o = {&w->ops, &w->driver, &w->config, w->ring, lw_log, w};
  w->loop = qwp_loop_new(&o);
  assert_non_null(w->loop);
  lw_start(w, w->loop);
}

static inline void lw_forget(struct lw *w) {
  for (int i = 0; i < w->conn_count; i++) {
    assert_false(w->conns[i].open);
    free(w->conns[i].out.p);
    free(w->conns[i].in.p);
    free(w->conns[i].head.p);
  }
  free(w->trace);
  assert_int_equal(w->mem.live, 0);
}

static inline void lw_free(struct lw *w) {
  qwp_loop_del(w->loop);
  qwp_ring_del(w->ring);
  qwp_config_free(&w->config, &w->ops);
  lw_forget(w);
}

/* A test that is given its world, of LW_QUICK, and has it freed behind it. Not by set-up and tear-down: what leaks is
 * a failure of the test. */
struct lw_test {
  void (*run)(struct lw *w);
};

static inline void lw_run_test(void **state) {
  const struct lw_test *test = *state;
  struct lw w;
  lw_init(&w, LW_QUICK);
  test->run(&w);
  lw_free(&w);
}

#define lw_test(f) {#f, lw_run_test, NULL, NULL, &(struct lw_test){f}}

static inline struct qwp_metrics lw_metrics(const struct lw *w) {
  struct qwp_metrics m;
  memset(&m, 0, sizeof m);
  qwp_loop_metrics(w->loop, &m);
  return m;
}

/* ---- frames --------------------------------------------------------------------- */

/* A message of `payload` bytes: header, delta from `start` with `count` one-letter... symbols
 * "s<id>", then filler that carries `id`. Returns a malloc'd block. */
static inline uint8_t *lw_message(size_t payload, uint64_t start, uint64_t count, int64_t id) {
  uint8_t *p = calloc(1, payload < 64 ? 64 : payload);
  size_t at = QWP_HEADER_BYTES;
  qwp_set_u32(p, QWP_MAGIC);
  p[QWP_HEADER_OFF_VERSION] = QWP_VERSION;
  p[QWP_HEADER_OFF_FLAGS] = QWP_FLAG_DELTA;
  qwp_set_u32(p + QWP_HEADER_OFF_LENGTH, (uint32_t)(payload - QWP_HEADER_BYTES));
  assert_true(start < 128 && count < 128);
  p[at++] = (uint8_t)start;
  p[at++] = (uint8_t)count;
  for (uint64_t i = 0; i < count; i++) {
    char text[8];
    int n = snprintf(text, sizeof text, "s%u", (unsigned)(start + i));
    p[at++] = (uint8_t)n;
    memcpy(p + at, text, (size_t)n);
    at += (size_t)n;
  }
  assert_true(at + 8 <= payload);
  memcpy(p + payload - 8, &id, 8);
  return p;
}

static inline size_t lw_payload(size_t wire) { return wire <= 131 ? wire - 6 : wire <= 65543 ? wire - 8 : wire - 14; }

/* One frame of `wire` bytes with `count` new symbols from `start`; its id is its FSN. */
static inline void lw_publish_symbols(struct lw *w, size_t wire, uint64_t start, uint64_t count) {
  size_t n = lw_payload(wire);
  uint8_t *p = lw_message(n, start, count, w->next_fsn);
  int64_t fsn;
  assert_int_equal(qwp_ring_publish(w->ring, p, n, &fsn), QWP_OK);
  assert_int_equal(fsn, w->next_fsn);
  w->next_fsn++;
  free(p);
  if (w->loop) qwp_loop_published(w->loop);
}

static inline void lw_publish(struct lw *w, size_t wire, int frames) {
  for (int i = 0; i < frames; i++) lw_publish_symbols(w, wire, 0, 0);
}

/* Id of the index-th binary frame on a connection; -1 = not there; -2 = no data (catch-up). */
static inline int64_t lw_id(const struct lw_conn *c, size_t index) {
  size_t n = 0;
  for (size_t i = 0, binary = 0;; i++) {
    unsigned opcode;
    uint8_t *p = lw_frame(c, i, &n, &opcode);
    if (!p) return -1;
    if (opcode == QWP_WS_BINARY && binary++ == index) {
      int64_t id = -2;
      if (!(p[QWP_HEADER_OFF_FLAGS] & QWP_FLAG_DEFER)) memcpy(&id, p + n - 8, 8);
      free(p);
      return id;
    }
    free(p);
  }
}

#endif
