/* A loop that waits: for what, for how long, and that nothing else wakes it. */
#include "loop_world.h"

static void an_idle_loop_waits_for_ever_and_wakes_once_a_sleep(struct lw *w) {
  lw_run(w);
  assert_int_equal(w->want.deadline_ns, QWP_NEVER);
  assert_int_equal(w->want.interest, QWP_READABLE);
  int64_t steps = lw_metrics(w).loop_steps;
  lw_advance(w, 600000 * LW_MS);
  assert_int_equal(lw_metrics(w).loop_steps, steps);
  lw_publish(w, 64, 100);
  assert_int_equal(lw_metrics(w).loop_wakes, 1);
  lw_run(w);
  assert_int_equal(lw_metrics(w).loop_wakes, 1);
}

static void case_84_a_pong_leaves_without_data(struct lw *w) {
  lw_run(w);
  lw_send(w, 0, QWP_WS_PING, "abc", 3);
  lw_run(w);
  size_t n;
  unsigned opcode;
  uint8_t *p = lw_frame(&w->conns[0], 0, &n, &opcode);
  assert_non_null(p);
  assert_int_equal(opcode, QWP_WS_PONG);
  assert_memory_equal(p, "abc", 3);
  free(p);
}

static long slow_and_refused(struct lw *w, int conn, size_t n) {
  if (w->conns[conn].out.n == 0) {
    w->now_ns += 60000 * LW_MS;
    lw_nack(w, conn, QWP_ST_WRITE_ERROR, 0, "disk full");
  }
  return (long)n;
}

/* The clock is read once a step. A pause that begins at the end of a step of a minute is no minute longer. */
static void a_long_step_does_not_lengthen_the_pause_behind_it(struct lw *w) {
  lw_run(w);
  w->on_send = slow_and_refused;
  lw_publish(w, 70000, 2); /* two writes in one step */
  lw_run(w);
  assert_int_equal(lw_metrics(w).loop_strikes, 1);
  assert_int_equal(w->conn_count, 1);
  int64_t pause_ns = w->want.deadline_ns - w->now_ns;
  assert_in_range(pause_ns, 10 * LW_MS, 20 * LW_MS - 1);
  const struct lw_trace *last = &w->trace[w->trace_n - 1];
  assert_int_equal(last->kind, 'w');
  assert_int_equal(last->result, pause_ns);
}

/* ---- a full socket ----------------------------------------------------------------------- */

#define SEND_TIMEOUT (600 * 1000 * LW_MS)

static long full_on_the_first(struct lw *w, int conn, size_t n) {
  (void)w;
  return conn == 0 ? -EAGAIN : (long)n;
}

static void turn_until_full(struct lw *w) {
  for (int i = 0; i < 10 && !(w->want.interest & QWP_WRITABLE); i++) lw_turn(w);
  assert_int_equal(w->want.interest, QWP_READABLE | QWP_WRITABLE);
}

/* The socket has no room: only the deadline, or an answer, turns the loop. */
static void wait_till_ns(struct lw *w, int64_t ns) {
  w->now_ns = ns;
  lw_step(w);
}

static void p121_04_a_write_has_600_seconds_and_then_another_connection(struct lw *w) {
  w->on_send = full_on_the_first;
  lw_publish(w, 64, 3);
  turn_until_full(w);
  int64_t begin_ns = w->now_ns;
  assert_int_equal(w->want.deadline_ns, begin_ns + SEND_TIMEOUT);
  wait_till_ns(w, begin_ns + SEND_TIMEOUT - 1);
  assert_int_equal(w->conn_count, 1);
  assert_int_equal(w->want.deadline_ns, begin_ns + SEND_TIMEOUT); /* the attempt between did not move it */
  wait_till_ns(w, begin_ns + SEND_TIMEOUT);
  lw_run(w);
  assert_int_equal(w->conn_count, 2);
  assert_int_equal(lw_metrics(w).loop_strikes, 0);
  assert_int_equal(lw_metrics(w).loop_sent, 3);
  assert_int_equal(lw_metrics(w).loop_replayed, 0);
  assert_non_null(strstr(w->log, "within 600 s"));
}

static long a_byte_a_call(struct lw *w, int conn, size_t n) {
  if (conn > 0) return (long)n;
  return lw_count(w, 's') % 2 == 0 ? 1 : -EAGAIN;
}

static void p121_04_a_byte_now_and_then_does_not_start_it_over(struct lw *w) {
  w->on_send = a_byte_a_call;
  lw_publish(w, 640, 1);
  turn_until_full(w);
  int64_t begin_ns = w->now_ns;
  for (int i = 1; i < 600; i++) wait_till_ns(w, begin_ns + i * 1000 * LW_MS);
  assert_int_equal(w->conn_count, 1);
  assert_int_equal(w->conns[0].out.n, 600);
  wait_till_ns(w, begin_ns + SEND_TIMEOUT);
  lw_run(w);
  assert_int_equal(w->conn_count, 2);
}

static void p121_06_a_pong_that_finds_no_room_waits_as_long_and_data_has_a_time_of_its_own(struct lw *w) {
  w->on_send = full_on_the_first;
  lw_run(w);
  lw_send(w, 0, QWP_WS_PING, "abc", 3);
  turn_until_full(w);
  int64_t begin_ns = w->now_ns;
  assert_int_equal(w->want.deadline_ns, begin_ns + SEND_TIMEOUT);
  w->now_ns += 1000 * LW_MS;
  lw_publish(w, 64, 1);
  lw_step(w);
  assert_int_equal(w->want.deadline_ns, begin_ns + 1000 * LW_MS + SEND_TIMEOUT);
  w->on_send = NULL;
  lw_run(w);
  assert_int_equal(w->want.deadline_ns, QWP_NEVER);
  assert_int_equal(lw_metrics(w).loop_sent, 1);
}

/* Pings that go on coming turn the loop, and give the first pong no second time. */
static void p121_06_a_pong_that_never_finds_room_ends_the_connection(struct lw *w) {
  w->on_send = full_on_the_first;
  lw_run(w);
  lw_send(w, 0, QWP_WS_PING, "abc", 3);
  turn_until_full(w);
  int64_t begin_ns = w->now_ns;
  for (int i = 1; i < 20; i++) {
    lw_send(w, 0, QWP_WS_PING, "again", 5);
    wait_till_ns(w, begin_ns + i * SEND_TIMEOUT / 20);
    assert_int_equal(w->want.deadline_ns, begin_ns + SEND_TIMEOUT);
  }
  assert_int_equal(w->conn_count, 1);
  wait_till_ns(w, begin_ns + SEND_TIMEOUT);
  lw_run(w);
  assert_int_equal(w->conn_count, 2);
}

/* ---- a connect that hangs ---------------------------------------------------------------- */

static int connect_later(void *ctx, const struct qwp_addr *addr, qwp_sock *out) {
  int r = lw_connect(ctx, addr, out);
  return r == 0 ? -EINPROGRESS : r;
}

static int still_connecting(void *ctx, qwp_sock sock) {
  (void)ctx;
  (void)sock;
  return -EINPROGRESS;
}

static void case_131_a_connect_that_hangs_is_waited_for_and_closed_with_the_loop(struct lw *w) {
  static struct qwp_net_ops net;
  net = LW_NET;
  net.connect = connect_later;
  net.connected = still_connecting;
  w->ops.net = &net;
  lw_step(w);
  assert_int_equal(w->want.interest, QWP_WRITABLE);
  assert_int_equal(w->want.deadline_ns, QWP_NEVER); /* the system ends it: no connect_timeout is set */
  assert_true(w->conns[0].open);
  int64_t steps = lw_metrics(w).loop_steps;
  lw_publish(w, 64, 5); /* nobody waits for frames here */
  assert_false(w->woken);
  assert_int_equal(lw_metrics(w).loop_steps, steps);
  qwp_loop_request_close(w->loop);
  assert_true(w->woken);
  lw_step(w);
  assert_true(w->want.stopped);
  assert_false(w->conns[0].open);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      lw_test(an_idle_loop_waits_for_ever_and_wakes_once_a_sleep),
      lw_test(case_84_a_pong_leaves_without_data),
      lw_test(a_long_step_does_not_lengthen_the_pause_behind_it),
      lw_test(p121_04_a_write_has_600_seconds_and_then_another_connection),
      lw_test(p121_04_a_byte_now_and_then_does_not_start_it_over),
      lw_test(p121_06_a_pong_that_finds_no_room_waits_as_long_and_data_has_a_time_of_its_own),
      lw_test(p121_06_a_pong_that_never_finds_room_ends_the_connection),
      lw_test(case_131_a_connect_that_hangs_is_waited_for_and_closed_with_the_loop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
