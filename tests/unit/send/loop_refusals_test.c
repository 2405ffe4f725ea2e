/* Refusals: which of them end the sender, which are strikes, which are neither. */
#include "loop_world.h"

static void a_terminal_status_latches_and_names_the_frame(void **state) {
  (void)state;
  const uint8_t statuses[] = {0x03, 0x05, 0x08};
  for (size_t i = 0; i < sizeof statuses; i++) {
    struct lw w;
    lw_init(&w, LW_QUICK);
    lw_publish(&w, 64, 5);
    lw_run(&w);
    lw_ok(&w, 0, 1);
    lw_nack(&w, 0, statuses[i], 2, "no");
    lw_ok(&w, 0, 4); /* nothing behind it counts */
    lw_run(&w);
    struct qwp_error err;
    assert_true(qwp_loop_error(w.loop, &err));
    assert_int_equal(err.code, QWP_REJECTED);
    assert_int_equal(err.server_status, statuses[i]);
    assert_int_equal(err.message_seq, 2);
    assert_int_equal(err.from_fsn, 2);
    assert_int_equal(err.to_fsn, 2);
    assert_int_equal(w.conn_count, 1);
    assert_true(qwp_loop_stopped(w.loop));
    lw_free(&w);
  }
}

static void nack_the_head(struct lw *w, int conn) { lw_nack(w, conn, 0x06, 0, "broken"); }

static void p121_32_four_refusals_past_the_window_poison_the_frame(struct lw *w) {
  w->on_data = nack_the_head;
  lw_publish(w, 64, 3);
  lw_advance(w, 4900 * LW_MS);
  assert_false(qwp_loop_latched(w->loop));
  assert_true(lw_metrics(w).loop_strikes > 4);
  lw_advance(w, 1000 * LW_MS);
  struct qwp_error err;
  assert_true(qwp_loop_error(w->loop, &err));
  assert_int_equal(err.code, QWP_POISONED);
  assert_int_equal(err.from_fsn, 0);
  assert_int_equal(err.to_fsn, 0);
  assert_int_equal(err.server_status, 6);
}

static long always_fail(struct lw *w, int conn, size_t n) {
  (void)w;
  return conn < 20 ? -EPIPE : (long)n;
}

static void p121_32_a_failed_write_is_no_strike(struct lw *w) {
  w->on_send = always_fail;
  lw_publish(w, 64, 3);
  lw_advance(w, 60000 * LW_MS);
  assert_int_equal(w->conn_count, 21);
  assert_int_equal(lw_metrics(w).loop_strikes, 0);
  assert_false(qwp_loop_latched(w->loop));
  assert_int_equal(lw_metrics(w).loop_sent, 3);
}

static void an_orderly_close_is_no_strike_another_one_is(void **state) {
  (void)state;
  const unsigned codes[] = {1000, 1001, 1002, 1011};
  for (size_t i = 0; i < 4; i++) {
    struct lw w;
    lw_init(&w, LW_QUICK);
    lw_publish(&w, 64, 3);
    lw_run(&w);
    lw_close_frame(&w, 0, codes[i]);
    lw_advance(&w, 50 * LW_MS);
    assert_int_equal(lw_metrics(&w).loop_strikes, i >= 2);
    assert_int_equal(lw_metrics(&w).loop_replayed, 3);
    lw_free(&w);
  }
}

static void an_answer_that_is_none_recycles_without_a_strike(void **state) {
  (void)state;
  const struct {
    const char *p;
    size_t n;
  } bad[] = {{"", 0}, {"\0\1", 2}, {"\0\2\0\0\0\0\0\0\0\0\0x", 12}, {"\2\1\0", 3}};
  for (size_t i = 0; i < 4; i++) {
    struct lw w;
    lw_init(&w, LW_QUICK);
    lw_publish(&w, 64, 3);
    lw_run(&w);
    lw_send(&w, 0, QWP_WS_BINARY, bad[i].p, bad[i].n);
    lw_run(&w);
    assert_int_equal(w.conn_count, 2);
    assert_int_equal(lw_metrics(&w).ring_acked, -1);
    assert_int_equal(lw_metrics(&w).loop_strikes, 0);
    lw_free(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_terminal_status_latches_and_names_the_frame),
      lw_test(p121_32_four_refusals_past_the_window_poison_the_frame),
      lw_test(p121_32_a_failed_write_is_no_strike),
      cmocka_unit_test(an_orderly_close_is_no_strike_another_one_is),
      cmocka_unit_test(an_answer_that_is_none_recycles_without_a_strike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
