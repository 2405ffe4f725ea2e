/* peer_kit - a server that writes down what it hears, and does what a test set it to. */
#ifndef SIM_PEER_KIT_H
#define SIM_PEER_KIT_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake_loop.h"

struct kit {
  struct sim *sim;
  struct qwp_ops ops;
  void *peer;           /* the newest one */
  int conn;             /* its handle at the server is the address of this */
  char log[512];        /* "accept recv 3 fin " */
  size_t bytes_in;
  bool refuse;          /* accept returns NULL */
  bool echo;            /* answer every pass with as many bytes */
  bool die;             /* the next received returns false */
  int64_t rearm_ns;     /* tick wakes itself again after this; 0 = not */
};

static void kit_log(struct kit *k, const char *format, long n) {
  size_t at = strlen(k->log);
  snprintf(k->log + at, sizeof k->log - at, format, n);
}

static void *kit_accept(void *ctx, void *peer) {
  struct kit *k = ctx;
  kit_log(k, "accept ", 0);
  k->peer = peer;
  return k->refuse ? NULL : &k->conn;
}

static bool kit_received(void *ctx, void *conn, const uint8_t *p, size_t n) {
  struct kit *k = ctx;
  assert_ptr_equal(conn, &k->conn);
  k->bytes_in += n;
  kit_log(k, "recv %ld ", (long)n);
  if (k->echo) sim_peer_write(k->sim, k->peer, p, n);
  return !k->die;
}

static bool kit_writable(void *ctx, void *conn) {
  (void)conn;
  kit_log(ctx, "room ", 0);
  return true;
}

static void kit_ended(void *ctx, void *conn, bool reset) {
  (void)conn;
  kit_log(ctx, reset ? "reset " : "fin ", 0);
}

static void kit_tick(void *ctx) {
  struct kit *k = ctx;
  kit_log(k, "tick@%ld ", (long)(sim_now_ns(k->sim) - SIM_START_NS));
  if (k->rearm_ns) sim_wake_server_at(k->sim, sim_now_ns(k->sim) + k->rearm_ns);
}

static inline void kit_new(struct kit *k, const struct sim_options *o) {
  static const struct sim_options plain = {0};
  memset(k, 0, sizeof *k);
  k->sim = sim_new(o ? o : &plain);
  assert_non_null(k->sim);
  struct sim_server server = {k, kit_accept, kit_received, kit_writable, kit_ended, kit_tick};
  sim_serve(k->sim, &server);
  sim_ops(k->sim, &k->ops);
}

static inline void kit_end(struct kit *k) { sim_del(k->sim); }

static inline qwp_sock kit_dial(struct kit *k) {
  struct qwp_addr addr;
  qwp_sock sock;
  assert_int_equal(k->ops.net->resolve(k->ops.net_ctx, "server", 9000, &addr, 1), 1);
  assert_int_equal(k->ops.net->connect(k->ops.net_ctx, &addr, &sock), -EINPROGRESS);
  return sock;
}

/* A connection that stands; the log is empty again. */
static inline qwp_sock kit_connect(struct kit *k) {
  qwp_sock sock = kit_dial(k);
  assert_int_equal(k->ops.net->wait(k->ops.net_ctx, sock, QWP_WRITABLE, QWP_NEVER), QWP_WRITABLE);
  assert_int_equal(k->ops.net->connected(k->ops.net_ctx, sock), 0);
  assert_string_equal(k->log, "accept ");
  k->log[0] = '\0';
  return sock;
}

static inline long kit_send(struct kit *k, qwp_sock sock, const void *p, size_t n) {
  return (long)k->ops.net->send(k->ops.net_ctx, sock, p, n);
}

static inline long kit_recv(struct kit *k, qwp_sock sock, void *p, size_t n) {
  return (long)k->ops.net->recv(k->ops.net_ctx, sock, p, n);
}

#endif
