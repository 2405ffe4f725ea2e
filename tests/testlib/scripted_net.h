/* scripted_net - a net table that plays a script, and a trace of every call.
 *
 * The peer's bytes are one stream (sn_feed). How they arrive, and how much of what is
 * sent is taken, is told by two lists of results, one entry a call:
 *
 *   > 0   transfer at most that many bytes       0   end of stream (recv), would block (send)
 *   < 0   that -errno
 *
 * Behind the end of its list a send takes everything, and a recv gives all there is,
 * then -EAGAIN. The clock is virtual: a wait that nothing ends moves it to its deadline.
 * Entropy is a seeded generator. Everything a test wants to look at is a field.
 */
#ifndef TESTLIB_SCRIPTED_NET_H
#define TESTLIB_SCRIPTED_NET_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qwp/ops.h"

struct sn_script {
  const long *results;
  size_t count, at;
};

struct sn_call {
  char kind; /* 's'end, 'r'ecv, 'w'ait, 'c'onnect, 'x' close, 'k' wake */
  size_t asked;
  long result;
};

struct sn {
  struct qwp_ops ops; /* hand this out */

  uint8_t *in; /* what the peer sends */
  size_t in_len, in_at;
  bool in_ended; /* EOF behind the last byte */
  uint8_t *out; /* what the peer got */
  size_t out_len;

  struct sn_script sends, recvs, waits; /* waits: a set of QWP_*, 0 = timeout, -errno; default: ready at once */
  int connect_result;                   /* 0 or -EINPROGRESS */
  struct sn_script connects;            /* results of connected(); default 0 */
  int64_t now_ns;
  int64_t ns_per_wait; /* how long a wait takes that something ends */
  uint64_t entropy_state;
  int entropy_result; /* < 0: fails */
  size_t entropy_calls;
  long fail_alloc; /* n-th allocation from now fails, 0 = none */
  size_t sockets;  /* open ones */

  struct sn_call *trace;
  size_t trace_len;
  /* Called at each recv, after what precedes it was done. */
  void (*at_recv)(void *arg, const void *buf, size_t n);
  void *at_recv_arg;
};

static inline void *sn_grow(void *p, size_t n) {
  p = realloc(p, n ? n : 1);
  if (!p) abort();
  return p;
}

static inline void sn_note(struct sn *sn, char kind, size_t asked, long result) {
  sn->trace = sn_grow(sn->trace, (sn->trace_len + 1) * sizeof *sn->trace);
  sn->trace[sn->trace_len++] = (struct sn_call){kind, asked, result};
}

static inline long sn_next(struct sn_script *s, long otherwise) {
  return s->at < s->count ? s->results[s->at++] : otherwise;
}

static inline int sn_connect(void *ctx, const struct qwp_addr *addr, qwp_sock *out) {
  struct sn *sn = ctx;
  (void)addr;
  sn_note(sn, 'c', 0, sn->connect_result);
  if (sn->connect_result != 0 && sn->connect_result != -EINPROGRESS) return sn->connect_result;
  sn->sockets++;
  *out = 7;
  return sn->connect_result;
}

static inline int sn_connected(void *ctx, qwp_sock sock) {
  (void)sock;
  return (int)sn_next(&((struct sn *)ctx)->connects, 0);
}

static inline ssize_t sn_send(void *ctx, qwp_sock sock, const void *buf, size_t n) {
  struct sn *sn = ctx;
  (void)sock;
  long r = sn_next(&sn->sends, (long)n);
  if (r > (long)n) r = (long)n;
  sn_note(sn, 's', n, r);
  if (r <= 0) return r;
  sn->out = sn_grow(sn->out, sn->out_len + (size_t)r);
  memcpy(sn->out + sn->out_len, buf, (size_t)r);
  sn->out_len += (size_t)r;
  return r;
}

static inline ssize_t sn_recv(void *ctx, qwp_sock sock, void *buf, size_t n) {
  struct sn *sn = ctx;
  (void)sock;
  if (sn->at_recv) sn->at_recv(sn->at_recv_arg, buf, n);
  size_t left = sn->in_len - sn->in_at;
  long r = sn_next(&sn->recvs, left || sn->in_ended ? (long)n : -EAGAIN);
  if (r > (long)n) r = (long)n;
  if (r > (long)left) r = left || sn->in_ended ? (long)left : -EAGAIN;
  sn_note(sn, 'r', n, r);
  if (r <= 0) return r;
  memcpy(buf, sn->in + sn->in_at, (size_t)r);
  sn->in_at += (size_t)r;
  return r;
}

static inline int sn_shutdown(void *ctx, qwp_sock sock) {
  (void)ctx;
  (void)sock;
  return 0;
}

static inline void sn_close(void *ctx, qwp_sock sock) {
  struct sn *sn = ctx;
  (void)sock;
  sn->sockets--;
  sn_note(sn, 'x', 0, 0);
}

static inline int sn_wait(void *ctx, qwp_sock sock, unsigned interest, int64_t timeout_ns) {
  struct sn *sn = ctx;
  (void)sock;
  long r = sn_next(&sn->waits, (long)interest);
  sn->now_ns += r == 0 ? timeout_ns : sn->ns_per_wait;
  sn_note(sn, 'w', interest, r);
  return (int)r;
}

static inline void sn_wake(void *ctx) { sn_note(ctx, 'k', 0, 0); }

static inline int64_t sn_now(void *ctx) { return ((struct sn *)ctx)->now_ns; }

static inline uint64_t sn_random(uint64_t *state) { /* xorshift64*: state is never 0 */
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}

static inline int sn_entropy(void *ctx, void *buf, size_t n) {
  struct sn *sn = ctx;
  sn->entropy_calls++;
  if (sn->entropy_result < 0) return sn->entropy_result;
  for (size_t i = 0; i < n; i++) ((uint8_t *)buf)[i] = (uint8_t)(sn_random(&sn->entropy_state) >> 56);
  return 0;
}

static inline bool sn_alloc_fails(struct sn *sn) { return sn->fail_alloc > 0 && --sn->fail_alloc == 0; }
static inline void *sn_alloc(void *ctx, size_t n) { return sn_alloc_fails(ctx) ? NULL : malloc(n); }
static inline void *sn_realloc(void *ctx, void *p, size_t n) { return sn_alloc_fails(ctx) ? NULL : realloc(p, n); }
static inline void sn_free(void *ctx, void *p) {
  (void)ctx;
  free(p);
}

static inline void sn_init(struct sn *sn) {
  static const struct qwp_net_ops net = {.connect = sn_connect,
                                         .connected = sn_connected,
                                         .send = sn_send,
                                         .recv = sn_recv,
                                         .shutdown = sn_shutdown,
                                         .close = sn_close,
                                         .wait = sn_wait,
                                         .wake = sn_wake};
  static const struct qwp_clock_ops clock = {.now_ns = sn_now, .wall_ns = sn_now, .entropy = sn_entropy};
  static const struct qwp_mem_ops mem = {.alloc = sn_alloc, .realloc = sn_realloc, .free = sn_free};
  memset(sn, 0, sizeof *sn);
  sn->entropy_state = 0x9E3779B97F4A7C15u;
  sn->now_ns = 1000;
  sn->ops = (struct qwp_ops){
      .net = &net, .net_ctx = sn, .clock = &clock, .clock_ctx = sn, .mem = &mem, .mem_ctx = sn};
}

static inline void sn_free_all(struct sn *sn) {
  free(sn->in);
  free(sn->out);
  free(sn->trace);
}

static inline void sn_feed(struct sn *sn, const void *p, size_t n) {
  sn->in = sn_grow(sn->in, sn->in_len + n);
  if (n) memcpy(sn->in + sn->in_len, p, n);
  sn->in_len += n;
}

/* Lives as long as the block it stands in. */
#define SN_SCRIPT(...) \
  ((struct sn_script){.results = (const long[]){__VA_ARGS__}, \
                      .count = sizeof((const long[]){__VA_ARGS__}) / sizeof(long)})

/* Calls of one kind so far. */
static inline size_t sn_count(const struct sn *sn, char kind) {
  size_t n = 0;
  for (size_t i = 0; i < sn->trace_len; i++) n += sn->trace[i].kind == kind;
  return n;
}

static inline void sn_forget_trace(struct sn *sn) { sn->trace_len = 0; }

/* "send(100)->40 send(60)->again poll_w send(60)->60", as the requirements write it. */
static inline const char *sn_trace_text(const struct sn *sn, char *out, size_t cap) {
  size_t at = 0;
  out[0] = '\0';
  for (size_t i = 0; i < sn->trace_len; i++) {
    const struct sn_call *c = &sn->trace[i];
    const char *gap = i ? " " : "";
    size_t left = at < cap ? cap - at : 0;
    int n = 0;
    if (c->kind == 's' || c->kind == 'r') {
      n = snprintf(out + at, left, "%s%s(%zu)->", gap, c->kind == 's' ? "send" : "recv", c->asked);
      at += (size_t)n;
      left = at < cap ? cap - at : 0;
      if (c->result == -EAGAIN) n = snprintf(out + at, left, "again");
      else n = snprintf(out + at, left, "%ld", c->result);
    } else if (c->kind == 'w') {
      n = snprintf(out + at, left, "%spoll_%s", gap, c->asked & QWP_WRITABLE ? "w" : "r");
    } else {
      n = snprintf(out + at, left, "%s%s", gap, c->kind == 'c' ? "connect" : c->kind == 'x' ? "close" : "wake");
    }
    at += (size_t)n;
  }
  return out;
}

#endif
