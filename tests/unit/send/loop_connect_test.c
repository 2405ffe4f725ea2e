/* Reaching a server: rounds of attempts, the pauses between them, and what gives up. */
#include "loop_world.h"

#define STANDBY "HTTP/1.1 421 Misdirected Request\r\nX-QuestDB-Role: REPLICA\r\nContent-Length: 0\r\n\r\n"
#define PACED "initial_connect_retry=async;reconnect_initial_backoff_millis=100;reconnect_max_backoff_millis=1600;"

/* Dials of the standby until `dials` of them were made; the gaps between them in ms. */
static void rounds(const char *config, int dials, int64_t *gaps_ms) {
  struct lw w;
  lw_init(&w, config);
  w.answer = STANDBY;
  while (w.conn_count < dials) lw_advance(&w, 100 * LW_MS);
  for (int i = 1; i < dials; i++) gaps_ms[i - 1] = (w.conns[i].opened_ns - w.conns[i - 1].opened_ns) / LW_MS;
  qwp_loop_request_close(w.loop);
  lw_run(&w);
  lw_free(&w);
}

static void recon_008_a_round_of_role_rejects_keeps_the_first_pause(void **state) {
  (void)state;
  int64_t gaps_ms[9];
  rounds("ws::addr=a:1;" PACED, 10, gaps_ms);
  for (int i = 0; i < 9; i++) assert_in_range(gaps_ms[i], 100, 199);
}

/* One standby that answers says nothing for the host that does not. */
static void one_role_reject_among_dead_hosts_does_not_reset_the_pause(void **state) {
  (void)state;
  int64_t gaps_ms[9];
  rounds("ws::addr=nowhere:1,b:2;" PACED, 10, gaps_ms);
  for (int i = 0; i < 9; i++) {
    int64_t base = i < 4 ? 100 << i : 1600;
    assert_in_range(gaps_ms[i], base, 2 * base - 1);
  }
}

static void fail_013_one_role_reject_names_the_failure(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  lw_init(&w, "ws::addr=b:2,nowhere:1;initial_connect_retry=off;");
  w.answer = STANDBY;
  lw_run(&w);
  assert_true(qwp_loop_error(w.loop, &err));
  assert_int_equal(err.code, QWP_ROLE);
  lw_free(&w);
}

/* ---- pauses, and what ends them -------------------------------------------------------------- */

static void recon_002_pauses_double_to_the_maximum(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, "ws::addr=h:1;reconnect_initial_backoff_millis=100;reconnect_max_backoff_millis=800;" LW_ASYNC);
  w.refuse = 1000000;
  const int64_t base_ms[] = {100, 200, 400, 800, 800};
  lw_run(&w);
  for (size_t i = 0; i < 5; i++) {
    int64_t pause_ns = w.want.deadline_ns - w.now_ns;
    assert_true(pause_ns >= base_ms[i] * LW_MS && pause_ns < 2 * base_ms[i] * LW_MS);
    lw_pass(&w, QWP_NEVER);
    lw_run(&w);
  }
  lw_advance(&w, INT64_C(86400) * 1000 * LW_MS); /* a day: time alone ends nothing */
  assert_false(qwp_loop_latched(w.loop));
  w.refuse = 0;
  lw_publish(&w, 64, 1);
  lw_advance(&w, 1600 * LW_MS);
  assert_int_equal(lw_metrics(&w).loop_sent, 1);
  lw_free(&w);
}

static void recon_009_a_connection_resets_the_backoff(struct lw *w) {
  w->refuse = 5;
  lw_advance(w, 1000 * LW_MS);
  assert_true(qwp_loop_was_connected(w->loop));
  w->refuse = 1;
  w->conns[0].eof = true;
  lw_run(w);
  int64_t pause_ns = w->want.deadline_ns - w->now_ns;
  assert_true(pause_ns >= 10 * LW_MS && pause_ns < 20 * LW_MS);
}

/* The pause that follows the end of the newest connection. */
static int64_t pause_after_loss_ns(struct lw *w) {
  w->conns[w->conn_count - 1].eof = true;
  int before = w->conn_count;
  lw_run(w);
  return w->conn_count > before ? 0 : w->want.deadline_ns - w->now_ns;
}

static void nack_022_recycles_without_progress_are_paced(struct lw *w) {
  lw_publish(w, 64, 2);
  lw_run(w);
  assert_int_equal(pause_after_loss_ns(w), 0);
  const int64_t dose_ms[] = {10, 20, 40, 80, 100};
  for (size_t i = 0; i < 5; i++) {
    int64_t pause_ns = pause_after_loss_ns(w);
    assert_true(pause_ns >= dose_ms[i] * LW_MS && pause_ns < 2 * dose_ms[i] * LW_MS);
    lw_advance(w, pause_ns);
  }
  lw_ok(w, w->conn_count - 1, 0); /* progress */
  lw_run(w);
  assert_int_equal(pause_after_loss_ns(w), 0);
  assert_true(pause_after_loss_ns(w) > 0);
  lw_advance(w, 20 * LW_MS);
  lw_advance(w, 100 * LW_MS); /* a connection that lived longer than the longest pause */
  assert_int_equal(pause_after_loss_ns(w), 0);
}

static void recon_008_role_rejects_do_not_double(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, "ws::addr=h:1,h:2;reconnect_initial_backoff_millis=50;reconnect_max_backoff_millis=2000;" LW_ASYNC);
  w.answer = "HTTP/1.1 421 Misdirected Request\r\nX-QuestDB-Role: REPLICA\r\nContent-Length: 0\r\n\r\n";
  lw_run(&w);
  for (int i = 0; i < 20; i++) {
    int64_t pause_ns = w.want.deadline_ns - w.now_ns;
    assert_true(pause_ns >= 50 * LW_MS && pause_ns < 100 * LW_MS);
    lw_pass(&w, QWP_NEVER);
    lw_run(&w);
  }
  assert_int_equal(w.conn_count, 42); /* both hosts in each round, no pause between */
  w.answer = NULL;
  lw_advance(&w, 100 * LW_MS);
  assert_true(qwp_loop_was_connected(w.loop));
  lw_free(&w);
}

static void fail_005_a_break_goes_to_the_peer_at_once(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, "ws::addr=h:1,h:2;initial_connect_retry=async;");
  lw_publish(&w, 64, 1);
  lw_run(&w);
  assert_int_equal(w.conns[0].endpoint_port, 1);
  w.conns[0].eof = true;
  lw_run(&w);
  assert_int_equal(w.conn_count, 2);
  assert_int_equal(w.conns[1].endpoint_port, 2);
  lw_free(&w);
}

static void fail_009_refused_credentials_are_terminal_in_a_running_sender(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, "ws::addr=h:1,h:2;initial_connect_retry=async;");
  lw_run(&w);
  w.answer = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n";
  w.conns[0].eof = true;
  lw_run(&w);
  struct qwp_error err;
  assert_true(qwp_loop_error(w.loop, &err));
  assert_int_equal(err.code, QWP_AUTH);
  assert_int_equal(err.http_status, 401);
  assert_int_equal(w.conn_count, 2);
  assert_true(w.want.stopped);
  lw_free(&w);
}

/* ---- without memory ------------------------------------------------------------------------ */

/* Every allocation of a reconnect that teaches 100 symbols fails in turn, and all of them from it on for a while. */
static bool reconnects_without_allocation(uint64_t nth, uint64_t times) {
  struct lw w;
  lw_init(&w, LW_QUICK);
  for (uint64_t i = 0; i < 100; i++) lw_publish_symbols(&w, 64, i, 1);
  lw_run(&w);
  lw_publish_symbols(&w, 70000, 0, 0); /* more than the send buffer holds by then */
  w.conns[0].eof = true;
  w.mem.fail_at = w.mem.calls + nth;
  w.mem.fail_count = times;
  lw_advance(&w, 5000 * LW_MS);
  bool failed = w.mem.failed > 0;
  assert_false(w.want.stopped);
  assert_false(qwp_loop_latched(w.loop));
  assert_int_equal(lw_metrics(&w).loop_strikes, 0);
  struct lw_conn *last = &w.conns[w.conn_count - 1];
  size_t frames = lw_frames(last);
  assert_int_equal(lw_id(last, frames - 1), 100);
  assert_int_equal(lw_id(last, frames - 101), 0);
  lw_free(&w);
  return failed;
}

static void case_125_no_memory_in_a_reconnect_is_tried_again(void **state) {
  (void)state;
  uint64_t nth = 1;
  while (reconnects_without_allocation(nth, 1)) nth++;
  assert_true(nth > 2);
  for (uint64_t from = 1; from < nth; from++) assert_true(reconnects_without_allocation(from, 5));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recon_008_a_round_of_role_rejects_keeps_the_first_pause),
      cmocka_unit_test(one_role_reject_among_dead_hosts_does_not_reset_the_pause),
      cmocka_unit_test(fail_013_one_role_reject_names_the_failure),
      cmocka_unit_test(recon_002_pauses_double_to_the_maximum),
      lw_test(recon_009_a_connection_resets_the_backoff),
      lw_test(nack_022_recycles_without_progress_are_paced),
      cmocka_unit_test(recon_008_role_rejects_do_not_double),
      cmocka_unit_test(fail_005_a_break_goes_to_the_peer_at_once),
      cmocka_unit_test(fail_009_refused_credentials_are_terminal_in_a_running_sender),
      cmocka_unit_test(case_125_no_memory_in_a_reconnect_is_tried_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
