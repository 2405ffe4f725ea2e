/* The same little scripts on real sockets and on faults/sim/link.c: what each call
 * returns must be equal. This is the proof of the table in faults/README.md.
 *
 * A real kernel may need a moment; so a step that expects something waits for that
 * very event (poll with a guard of 10 s, which fails the test), never for a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_loop.h"
#include "qwp/ops.h"
#include "sim/link.h"

#define GUARD_MS 10000
#define C LINK_CLIENT
#define S LINK_SERVER
#define R QWP_READABLE
#define W QWP_WRITABLE
#define DATA_BYTES 65536

enum op {
  SEND,    /* n bytes; result = taken or -errno */
  RECV,    /* up to n bytes */
  SHUT, DEAF, CLOSE, RESET, /* shutdown of the sending half, of the receiving half; close; close with linger 0 */
  READY,   /* what a wait would say now */
  HUNG,    /* waits for an error or a hang-up; result 1 */
  ERROR,   /* SO_ERROR */
  FILL,    /* sends until refused; result = the refusal */
  DRAIN,   /* reads until refused; result = 1 if everything the peer sent came, 0 if less did */
  FINISH,  /* reads n bytes at a time to the end of stream; result = 1 if everything the peer sent came first */
  SPACE    /* waits for writable; result 1 */
};

struct step {
  enum link_side side;
  enum op op;
  long n;
  long expect;
};

static uint8_t data[DATA_BYTES];

struct world {
  int fd[2];         /* real */
  struct link *link; /* simulated */
  long sent[2];
  long got[2];
};

static enum link_side other(enum link_side side) { return side == C ? S : C; }

/* ---- real -------------------------------------------------------------------- */

static void real_open(struct world *w) {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  assert_true(listener >= 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof at;
  assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
  assert_int_equal(listen(listener, 1), 0);
  assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
  w->fd[C] = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(connect(w->fd[C], (struct sockaddr *)&at, sizeof at), 0);
  w->fd[S] = accept(listener, NULL, NULL);
  assert_true(w->fd[S] >= 0);
  close(listener);
  for (int i = 0; i < 2; i++) assert_int_equal(fcntl(w->fd[i], F_SETFL, O_NONBLOCK), 0);
}

static void real_await(int fd, short events) {
  struct pollfd p = {.fd = fd, .events = events};
  assert_int_equal(poll(&p, 1, GUARD_MS), 1);
}

static long real_send(struct world *w, enum link_side side, long n) {
  ssize_t taken = send(w->fd[side], data, (size_t)n, MSG_NOSIGNAL);
  return taken < 0 ? -errno : taken;
}

static long real_recv(struct world *w, enum link_side side, long n) {
  ssize_t got = recv(w->fd[side], data, (size_t)n, 0);
  return got < 0 ? -errno : got;
}

static long real_close(struct world *w, enum link_side side, bool reset) {
  struct linger hard = {.l_onoff = 1, .l_linger = 0};
  if (reset) assert_int_equal(setsockopt(w->fd[side], SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
  close(w->fd[side]);
  w->fd[side] = -1;
  return 0;
}

static long real_ready(int fd) {
  struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT};
  assert_true(poll(&p, 1, 0) >= 0);
  if (p.revents & (POLLERR | POLLHUP)) return R | W;
  return ((p.revents & POLLIN) ? R : 0) | ((p.revents & POLLOUT) ? W : 0);
}

static long real_error(int fd) {
  int err = 0;
  socklen_t len = sizeof err;
  assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len), 0);
  return -err;
}

static long real_step(struct world *w, const struct step *s) {
  int fd = w->fd[s->side];
  switch (s->op) {
    case SEND: return real_send(w, s->side, s->n);
    case RECV:
      if (s->expect != -EAGAIN) real_await(fd, POLLIN);
      return real_recv(w, s->side, s->n);
    case SHUT: return shutdown(fd, SHUT_WR) < 0 ? -errno : 0;
    case DEAF: return shutdown(fd, SHUT_RD) < 0 ? -errno : 0;
    case CLOSE: return real_close(w, s->side, false);
    case RESET: return real_close(w, s->side, true);
    case READY:
      if (s->expect & R) real_await(fd, POLLIN);
      return real_ready(fd);
    case HUNG: real_await(fd, 0); return 1;
    case ERROR: return real_error(fd);
    case SPACE: real_await(fd, POLLOUT); return 1;
    case FILL: case DRAIN: case FINISH: break; /* made of sends and receives, below */
  }
  return -1;
}

/* ---- simulated ------------------------------------------------------------------ */

static void sim_open(struct world *w) {
  w->link = link_new(2 * DATA_BYTES, DATA_BYTES, 0, 0);
  assert_non_null(w->link);
  w->link->stage = LINK_ESTABLISHED;
  w->link->end[S].open = true;
}

static void sim_quiet(struct link *l) {
  for (;;) {
    if (link_due(l, C) == 0) link_deliver(l, C, SIZE_MAX, 0);
    else if (link_due(l, S) == 0) link_deliver(l, S, SIZE_MAX, 0);
    else return;
  }
}

static long sim_do(struct world *w, const struct step *s) {
  struct link *l = w->link;
  switch (s->op) {
    case SEND: return link_send(l, s->side, data, (size_t)s->n, 0);
    case RECV: return link_recv(l, s->side, data, (size_t)s->n);
    case SHUT: return link_shutdown(l, s->side, 0);
    case DEAF: return link_deafen(l, s->side);
    case CLOSE: link_close(l, s->side, 0); return 0;
    case RESET: link_reset(l, s->side, 0); return 0;
    case READY: return link_ready(l, s->side);
    case HUNG: return link_ready(l, s->side) == (R | W) && (l->end[s->side].reset || l->end[s->side].shut);
    case ERROR: return link_take_error(l, s->side);
    case SPACE: return (link_ready(l, s->side) & W) != 0;
    case FILL: case DRAIN: case FINISH: break;
  }
  return -1;
}

/* ---- both -------------------------------------------------------------------------- */

static long once(struct world *w, const struct step *s) {
  if (!w->link) return real_step(w, s);
  long result = sim_do(w, s);
  sim_quiet(w->link);
  return result;
}

static long perform(struct world *w, const struct step *s) {
  struct step piece = *s;
  long result;
  switch (s->op) {
    case FILL:
      piece.op = SEND;
      piece.n = DATA_BYTES;
      while ((result = once(w, &piece)) > 0) w->sent[s->side] += result;
      return result;
    case DRAIN:
      piece.op = RECV;
      piece.n = DATA_BYTES;
      piece.expect = -EAGAIN; /* takes what is there, waits for nothing */
      while ((result = once(w, &piece)) > 0) w->got[s->side] += result;
      return w->got[s->side] == w->sent[other(s->side)];
    case FINISH:
      piece.op = RECV; /* its expectation, 1, waits for each piece, and for the end */
      while ((result = once(w, &piece)) > 0) w->got[s->side] += result;
      return result < 0 ? result : w->got[s->side] == w->sent[other(s->side)];
    default:
      result = once(w, s);
      if (s->op == SEND && result > 0) w->sent[s->side] += result;
      if (s->op == RECV && result > 0) w->got[s->side] += result;
      return result;
  }
}

static void run(const struct step *steps, size_t count) {
  struct world real = {.fd = {-1, -1}}, sim = {.fd = {-1, -1}};
  real_open(&real);
  sim_open(&sim);
  for (size_t i = 0; i < count; i++) {
    long r = perform(&real, &steps[i]);
    long s = perform(&sim, &steps[i]);
    if (r != steps[i].expect) fail_msg("step %zu: the kernel gave %ld, not %ld", i, r, steps[i].expect);
    if (s != steps[i].expect) fail_msg("step %zu: the simulation gave %ld, not %ld", i, s, steps[i].expect);
  }
  for (int i = 0; i < 2; i++) {
    if (real.fd[i] >= 0) close(real.fd[i]);
  }
  link_del(sim.link);
}

#define RUN(...) \
  do { \
    static const struct step steps[] = {__VA_ARGS__}; \
    run(steps, sizeof steps / sizeof *steps); \
  } while (0)

static void bytes_flow_both_ways(void **state) {
  (void)state;
  RUN({C, READY, 0, W}, {C, RECV, 10, -EAGAIN}, {C, SEND, 100, 100}, {S, READY, 0, R | W}, {S, RECV, 60, 60},
      {S, RECV, 60, 40}, {S, RECV, 60, -EAGAIN}, {S, SEND, 7, 7}, {C, RECV, 100, 7});
}

static void half_close_keeps_the_other_half(void **state) {
  (void)state;
  RUN({C, SEND, 5, 5}, {C, SHUT, 0, 0}, {C, SHUT, 0, 0}, {C, SEND, 5, -EPIPE}, {C, READY, 0, W},
      {S, RECV, 10, 5}, {S, RECV, 10, 0}, {S, RECV, 10, 0}, {S, READY, 0, R | W}, {S, SEND, 9, 9}, {C, RECV, 99, 9},
      {S, SHUT, 0, 0}, {C, RECV, 10, 0}, {C, HUNG, 0, 1}, {C, READY, 0, R | W}, {C, RECV, 10, 0});
}

static void close_sends_fin_after_the_bytes(void **state) {
  (void)state;
  RUN({C, SEND, 100, 100}, {C, CLOSE, 0, 0}, {S, RECV, 60, 60}, {S, RECV, 60, 40}, {S, RECV, 60, 0});
}

static void half_close_waits_behind_queued_bytes(void **state) {
  (void)state;
  /* CASE-95: both buffers are full when the sending half is shut. A slow reader gets every byte in
   * short reads, then end of stream, and what it sends meanwhile arrives. */
  RUN({S, FILL, 0, -EAGAIN}, {S, SHUT, 0, 0}, {S, SEND, 5, -EPIPE}, {C, RECV, 3, 3}, {C, SEND, 40, 40},
      {S, RECV, 99, 40}, {C, RECV, 1, 1}, {C, FINISH, 999, 1}, {C, RECV, 10, 0}, {C, SEND, 6, 6}, {S, RECV, 99, 6}, {C, SHUT, 0, 0},
      {S, RECV, 10, 0}, {S, HUNG, 0, 1}, {C, HUNG, 0, 1}, {C, READY, 0, R | W});
}

static void close_waits_behind_queued_bytes(void **state) {
  (void)state;
  RUN({S, FILL, 0, -EAGAIN}, {S, CLOSE, 0, 0}, {C, RECV, 7, 7}, {C, FINISH, 999, 1}, {C, RECV, 10, 0});
}

static void both_sides_shut_at_once(void **state) {
  (void)state;
  /* Neither FIN can leave before the bytes in front of it: they cross. */
  RUN({C, FILL, 0, -EAGAIN}, {S, FILL, 0, -EAGAIN}, {C, SHUT, 0, 0}, {S, SHUT, 0, 0}, {S, FINISH, 5000, 1},
      {C, FINISH, 5000, 1}, {S, HUNG, 0, 1}, {C, HUNG, 0, 1}, {S, RECV, 1, 0}, {C, RECV, 1, 0}, {S, SEND, 1, -EPIPE},
      {C, SEND, 1, -EPIPE});
}

static void a_reset_meets_a_side_that_has_shut(void **state) {
  (void)state;
  /* It waits for the peer's FIN and gets an RST. */
  RUN({C, SEND, 5, 5}, {C, SHUT, 0, 0}, {S, RECV, 9, 5}, {S, RECV, 9, 0}, {S, SEND, 8, 8}, {C, READY, 0, R | W},
      {S, RESET, 0, 0}, {C, HUNG, 0, 1}, {C, RECV, 99, 8}, {C, RECV, 99, -ECONNRESET}, {C, RECV, 99, 0},
      {C, SEND, 1, -EPIPE}, {C, SHUT, 0, -ENOTCONN});
}

static void close_with_unread_bytes_resets_a_side_that_has_shut(void **state) {
  (void)state;
  RUN({C, SEND, 5, 5}, {C, SHUT, 0, 0}, {S, READY, 0, R | W}, {S, CLOSE, 0, 0}, {C, HUNG, 0, 1},
      {C, RECV, 9, -ECONNRESET}, {C, RECV, 9, 0});
}

static void a_shut_receiving_half_reads_what_comes(void **state) {
  (void)state;
  /* The peer notices nothing, and its bytes are readable; between them there is end of stream in place of waiting. */
  RUN({C, DEAF, 0, 0}, {C, READY, 0, R | W}, {C, RECV, 10, 0}, {S, SEND, 7, 7}, {C, RECV, 10, 7}, {C, RECV, 10, 0},
      {C, SEND, 5, 5}, {S, RECV, 10, 5}, {S, SEND, 3, 3}, {S, READY, 0, W});
}

static void bytes_for_a_side_shut_both_ways_are_answered_by_a_reset(void **state) {
  (void)state;
  RUN({C, DEAF, 0, 0}, {C, SHUT, 0, 0}, {C, READY, 0, R | W}, {S, RECV, 9, 0}, {S, SEND, 4, 4}, {S, HUNG, 0, 1},
      {S, SEND, 4, -EPIPE}, {C, RECV, 9, -ECONNRESET}, {C, RECV, 9, 0});
}

static void writing_to_a_closed_peer_ends_in_epipe(void **state) {
  (void)state;
  /* The first send is taken; its answer is an RST. The side had seen FIN: the error is EPIPE,
   * and a read says end of stream, not the error. */
  RUN({C, CLOSE, 0, 0}, {S, RECV, 10, 0}, {S, SEND, 10, 10}, {S, HUNG, 0, 1}, {S, RECV, 10, 0}, {S, ERROR, 0, -EPIPE},
      {S, RECV, 10, 0}, {S, SEND, 10, -EPIPE}, {S, SEND, 10, -EPIPE}, {S, READY, 0, R | W});
}

static void close_with_unread_bytes_resets(void **state) {
  (void)state;
  RUN({S, SEND, 50, 50}, {C, READY, 0, R | W}, {C, CLOSE, 0, 0}, {S, HUNG, 0, 1}, {S, RECV, 10, -ECONNRESET},
      {S, RECV, 10, 0}, {S, SEND, 10, -EPIPE});
}

static void received_bytes_outlive_a_reset(void **state) {
  (void)state;
  RUN({C, SEND, 100, 100}, {S, READY, 0, R | W}, {C, RESET, 0, 0}, {S, HUNG, 0, 1}, {S, READY, 0, R | W},
      {S, RECV, 60, 60}, {S, RECV, 60, 40}, {S, RECV, 60, -ECONNRESET}, {S, RECV, 60, 0}, {S, SEND, 1, -EPIPE});
}

static void a_reset_is_reported_once_by_a_send_too(void **state) {
  (void)state;
  RUN({C, RESET, 0, 0}, {S, HUNG, 0, 1}, {S, SEND, 10, -ECONNRESET}, {S, SEND, 10, -EPIPE}, {S, RECV, 10, 0},
      {S, SHUT, 0, -ENOTCONN});
}

static void bytes_are_readable_after_a_send_reported_the_reset(void **state) {
  (void)state;
  /* What makes CASE-08 possible: the answers are there, although the write has failed. */
  RUN({C, SEND, 30, 30}, {S, READY, 0, R | W}, {C, RESET, 0, 0}, {S, HUNG, 0, 1}, {S, SEND, 10, -ECONNRESET},
      {S, RECV, 99, 30}, {S, RECV, 99, 0});
}

static void reset_after_fin_is_epipe_to_the_sender(void **state) {
  (void)state;
  RUN({C, SHUT, 0, 0}, {S, RECV, 10, 0}, {C, RESET, 0, 0}, {S, HUNG, 0, 1}, {S, RECV, 10, 0}, {S, SEND, 10, -EPIPE},
      {S, SEND, 10, -EPIPE});
}

static void so_error_takes_the_error(void **state) {
  (void)state;
  RUN({C, RESET, 0, 0}, {S, HUNG, 0, 1}, {S, ERROR, 0, -ECONNRESET}, {S, ERROR, 0, 0}, {S, RECV, 10, 0},
      {S, SEND, 10, -EPIPE});
}

static void a_full_socket_would_block_and_loses_nothing(void **state) {
  (void)state;
  RUN({C, FILL, 0, -EAGAIN}, {C, SEND, 1, -EAGAIN}, {C, READY, 0, 0}, {S, READY, 0, R | W}, {S, RECV, 1, 1},
      {C, READY, 0, 0});
}

static void a_reset_loses_what_had_no_room_at_the_peer(void **state) {
  (void)state;
  RUN({C, FILL, 0, -EAGAIN}, {C, RESET, 0, 0}, {S, HUNG, 0, 1}, {S, DRAIN, 0, 0}, {S, SEND, 1, -EPIPE});
}

static void a_reset_from_the_reader_of_a_full_pipe(void **state) {
  (void)state;
  RUN({C, FILL, 0, -EAGAIN}, {S, READY, 0, R | W}, {S, CLOSE, 0, 0}, {C, HUNG, 0, 1}, {C, READY, 0, R | W},
      {C, SEND, 10, -ECONNRESET}, {C, SEND, 10, -EPIPE});
}

static void a_reset_side_hears_nothing_later(void **state) {
  (void)state;
  RUN({S, SEND, 20, 20}, {C, READY, 0, R | W}, {S, RESET, 0, 0}, {C, HUNG, 0, 1}, {C, ERROR, 0, -ECONNRESET},
      {C, RECV, 99, 20}, {C, RECV, 99, 0});
}

/* ---- connect: nobody listens, or nobody takes it ----------------------------------------- */

static void *take_nobody(void *ctx, void *peer) {
  (void)ctx;
  (void)peer;
  return NULL;
}

/* The handshake is over; the server never accepts, and its listener goes away. */
static void a_connection_that_nobody_accepts_is_reset(void **state) {
  (void)state;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof at;
  assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
  assert_int_equal(listen(listener, 1), 0);
  assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
  assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
  assert_int_equal(real_error(fd), 0);
  close(listener);
  real_await(fd, 0);
  assert_int_equal(real_ready(fd), R | W);
  char byte;
  assert_int_equal(recv(fd, &byte, 1, 0), -1);
  assert_int_equal(errno, ECONNRESET);
  assert_int_equal(recv(fd, &byte, 1, 0), 0);
  close(fd);

  struct sim_options o = {0};
  struct sim *s = sim_new(&o);
  sim_serve(s, &(struct sim_server){.accept = take_nobody});
  struct qwp_ops ops;
  sim_ops(s, &ops);
  struct qwp_addr addr;
  qwp_sock sock;
  assert_int_equal(ops.net->resolve(ops.net_ctx, "nobody", 1, &addr, 1), 1);
  assert_int_equal(ops.net->connect(ops.net_ctx, &addr, &sock), -EINPROGRESS);
  assert_int_equal(ops.net->wait(ops.net_ctx, sock, W, QWP_NEVER), W);
  assert_int_equal(ops.net->connected(ops.net_ctx, sock), 0);
  sim_settle(s);
  assert_int_equal(ops.net->wait(ops.net_ctx, sock, R | W, QWP_NEVER), R | W);
  assert_int_equal(ops.net->recv(ops.net_ctx, sock, &byte, 1), -ECONNRESET);
  assert_int_equal(ops.net->recv(ops.net_ctx, sock, &byte, 1), 0);
  ops.net->close(ops.net_ctx, sock);
  sim_del(s);
}

static void a_refused_connect_is_told_by_so_error(void **state) {
  (void)state;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof at;
  assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0); /* bound, not listening: refused */
  assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
  assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), -1);
  assert_int_equal(errno, EINPROGRESS);
  real_await(fd, POLLOUT);
  assert_int_equal(real_ready(fd), R | W);
  assert_int_equal(real_error(fd), -ECONNREFUSED);
  close(fd);
  close(listener);

  struct sim_options o = {0};
  struct sim *s = sim_new(&o);
  struct qwp_ops ops;
  sim_ops(s, &ops);
  struct qwp_addr addr;
  assert_int_equal(ops.net->resolve(ops.net_ctx, "nobody", 1, &addr, 1), 1);
  qwp_sock sock;
  assert_int_equal(ops.net->connect(ops.net_ctx, &addr, &sock), -EINPROGRESS);
  assert_int_equal(ops.net->connected(ops.net_ctx, sock), -EINPROGRESS);
  assert_int_equal(ops.net->wait(ops.net_ctx, sock, R | W, QWP_NEVER), R | W);
  assert_int_equal(ops.net->connected(ops.net_ctx, sock), -ECONNREFUSED);
  ops.net->close(ops.net_ctx, sock);
  sim_del(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_flow_both_ways),
      cmocka_unit_test(half_close_keeps_the_other_half),
      cmocka_unit_test(close_sends_fin_after_the_bytes),
      cmocka_unit_test(writing_to_a_closed_peer_ends_in_epipe),
      cmocka_unit_test(close_with_unread_bytes_resets),
      cmocka_unit_test(received_bytes_outlive_a_reset),
      cmocka_unit_test(a_reset_is_reported_once_by_a_send_too),
      cmocka_unit_test(bytes_are_readable_after_a_send_reported_the_reset),
      cmocka_unit_test(reset_after_fin_is_epipe_to_the_sender),
      cmocka_unit_test(so_error_takes_the_error),
      cmocka_unit_test(a_full_socket_would_block_and_loses_nothing),
      cmocka_unit_test(a_reset_loses_what_had_no_room_at_the_peer),
      cmocka_unit_test(a_reset_from_the_reader_of_a_full_pipe),
      cmocka_unit_test(a_reset_side_hears_nothing_later),
      cmocka_unit_test(half_close_waits_behind_queued_bytes),
      cmocka_unit_test(close_waits_behind_queued_bytes),
      cmocka_unit_test(both_sides_shut_at_once),
      cmocka_unit_test(a_reset_meets_a_side_that_has_shut),
      cmocka_unit_test(close_with_unread_bytes_resets_a_side_that_has_shut),
      cmocka_unit_test(a_shut_receiving_half_reads_what_comes),
      cmocka_unit_test(bytes_for_a_side_shut_both_ways_are_answered_by_a_reset),
      cmocka_unit_test(a_refused_connect_is_told_by_so_error),
      cmocka_unit_test(a_connection_that_nobody_accepts_is_reset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
