/* kit - a fault layer over a scripted net, brought to the state behind the 101. */
#ifndef FAULTS_KIT_H
#define FAULTS_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "faults.h"
#include "scripted_net.h"

#define REQUEST "GET /write/v4 HTTP/1.1\r\n\r\n"
#define ANSWER "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"

struct kit {
  struct sn sn;
  struct qwp_net_ops table; /* the scripted one, with shutdown counted */
  struct fault_plan plan;
  struct faults *f;
  const struct qwp_ops *ops;
  qwp_sock sock;
  int shutdowns, resets;
  int64_t delayed_ns;
};

static struct kit *kit_of_shutdown; /* the scripted shutdown has no place to count */

static int kit_shutdown(void *ctx, qwp_sock sock) {
  (void)ctx, (void)sock;
  kit_of_shutdown->shutdowns++;
  return 0;
}

static void kit_reset(void *ctx, qwp_sock sock) {
  (void)sock;
  ((struct kit *)ctx)->resets++;
}

static void kit_delay(void *ctx, int64_t ns) { ((struct kit *)ctx)->delayed_ns += ns; }

static inline void kit_new_seeded(struct kit *k, const struct fault_rule *rules, size_t count, uint64_t seed) {
  memset(k, 0, sizeof *k);
  sn_init(&k->sn);
  k->table = *k->sn.ops.net;
  k->table.shutdown = kit_shutdown;
  k->sn.ops.net = &k->table;
  kit_of_shutdown = k;
  k->plan = (struct fault_plan){rules, count};
  struct faults_options o = {.under = &k->sn.ops, .plan = &k->plan, .seed = seed, .trace = true, .reset = kit_reset,
                             .reset_ctx = k, .delay = kit_delay, .delay_ctx = k};
  k->f = faults_new(&o);
  assert_non_null(k->f);
  k->ops = faults_ops(k->f);
  k->sock = -1;
}

static inline void kit_new(struct kit *k, const struct fault_rule *rules, size_t count) {
  kit_new_seeded(k, rules, count, 0);
}

static inline int kit_connect(struct kit *k) {
  struct qwp_addr addr = {.len = 0};
  return k->ops->net->connect(k->ops->net_ctx, &addr, &k->sock);
}

static inline long kit_send(struct kit *k, const void *p, size_t n) {
  return (long)k->ops->net->send(k->ops->net_ctx, k->sock, p, n);
}

static inline long kit_recv(struct kit *k, void *p, size_t n) {
  return (long)k->ops->net->recv(k->ops->net_ctx, k->sock, p, n);
}

static inline int kit_wait(struct kit *k, unsigned interest) {
  return k->ops->net->wait(k->ops->net_ctx, k->sock, interest, 1);
}

static inline void kit_close(struct kit *k) {
  k->ops->net->close(k->ops->net_ctx, k->sock);
  k->sock = -1;
}

/* A dial that stands, and its upgrade. */
static inline void kit_upgrade(struct kit *k) {
  char answer[256];
  assert_int_equal(kit_connect(k), 0);
  assert_int_equal(kit_send(k, REQUEST, sizeof REQUEST - 1), sizeof REQUEST - 1);
  sn_feed(&k->sn, ANSWER, sizeof ANSWER - 1);
  assert_int_equal(kit_recv(k, answer, sizeof answer), sizeof ANSWER - 1);
  k->sn.out_len = 0; /* what the peer gets from here on is data */
}

static inline void kit_open(struct kit *k, const struct fault_rule *rules, size_t count) {
  kit_new(k, rules, count);
  kit_upgrade(k);
}

static inline void kit_end(struct kit *k) {
  if (k->sock != -1) kit_close(k);
  faults_del(k->f);
  sn_free_all(&k->sn);
}

static inline struct fault_counters kit_counters(struct kit *k) {
  struct fault_counters c;
  faults_counters(k->f, &c);
  return c;
}

/* A masked client frame; returns its size on the wire. */
static inline size_t kit_frame(uint8_t *out, unsigned opcode, size_t payload) {
  size_t at = 0;
  out[at++] = (uint8_t)(0x80 | opcode);
  if (payload <= 125) {
    out[at++] = (uint8_t)(0x80 | payload);
  } else if (payload <= 65535) {
    out[at++] = 0x80 | 126;
    out[at++] = (uint8_t)(payload >> 8);
    out[at++] = (uint8_t)payload;
  } else {
    out[at++] = 0x80 | 127;
    for (int shift = 56; shift >= 0; shift -= 8) out[at++] = (uint8_t)((uint64_t)payload >> shift);
  }
  memset(out + at, 0x82, 4 + payload); /* mask and payload look like headers: a lost walker shows */
  return at + 4 + payload;
}

/* A rule of any byte, and one of byte b. */
static inline struct fault_rule kit_rule(int64_t byte, struct fault_rule r) {
  r.byte = byte;
  return r;
}
#define RULE(...) kit_rule(-1, (struct fault_rule){__VA_ARGS__})
#define RULE_AT(b, ...) kit_rule(b, (struct fault_rule){__VA_ARGS__})

#endif
