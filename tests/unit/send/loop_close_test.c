/* Saying goodbye, in any state, in bounded time. */
#include "loop_world.h"

static void close_says_goodbye_in_any_state(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, LW_QUICK);
  lw_publish(&w, 64, 1);
  lw_run(&w);
  qwp_loop_request_close(w.loop);
  lw_run(&w);
  assert_true(w.want.stopped);
  assert_true(w.conns[0].fin);
  size_t n;
  unsigned opcode;
  uint8_t *p = lw_frame(&w.conns[0], 1, &n, &opcode);
  assert_int_equal(opcode, QWP_WS_CLOSE);
  assert_memory_equal(p, "\x03\xe8", 2);
  free(p);
  lw_free(&w);

  lw_init(&w, LW_QUICK);
  w.refuse = 1;
  lw_run(&w);
  qwp_loop_request_close(w.loop);
  lw_run(&w);
  assert_true(w.want.stopped);
  assert_int_equal(w.conn_count, 0);
  lw_free(&w);
}

static long full(struct lw *w, int conn, size_t n) {
  (void)w;
  (void)conn;
  (void)n;
  return -EAGAIN;
}

static void close_of_a_stalled_connection_is_bounded(struct lw *w) {
  w->on_send = full;
  lw_publish(w, 64, 1);
  for (int i = 0; i < 6; i++) lw_turn(w);
  int64_t asked_ns = w->now_ns;
  qwp_loop_request_close(w->loop);
  for (int i = 0; i < 20 && !w->want.stopped; i++) {
    lw_step(w);
    if (w->want.deadline_ns != QWP_NEVER) w->now_ns = w->want.deadline_ns;
  }
  assert_true(w->want.stopped);
  assert_int_equal(w->now_ns - asked_ns, 1000 * LW_MS);
}

static ssize_t never_silent(void *ctx, qwp_sock sock, void *buf, size_t n) {
  struct lw *w = ctx;
  if (w->conns[sock].upgraded) {
    lw_ok(w, sock, -1);
    w->now_ns += 10 * LW_MS;
    assert_true(w->now_ns < 100000 * LW_MS); /* it would go on for ever */
  }
  return lw_net_recv(ctx, sock, buf, n);
}

/* Answers come faster than they are read, so no receive attempt ever finds nothing. */
static void close_of_a_talking_server_is_bounded(struct lw *w) {
  static struct qwp_net_ops net;
  net = LW_NET;
  lw_publish(w, 64, 1);
  lw_run(w);
  net.recv = never_silent;
  w->ops.net = &net;
  int64_t asked_ns = w->now_ns;
  qwp_loop_request_close(w->loop);
  for (int i = 0; i < 200 && !w->want.stopped; i++) lw_step(w);
  assert_true(w->want.stopped);
  assert_true(w->conns[0].fin);
  assert_int_equal(w->now_ns - asked_ns, 1000 * LW_MS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(close_says_goodbye_in_any_state),
      lw_test(close_of_a_stalled_connection_is_bounded),
      lw_test(close_of_a_talking_server_is_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
