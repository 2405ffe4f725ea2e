/* Acknowledgements: what an OK stands for, and when it takes effect. */
#include "loop_world.h"

static void p121_25_an_ok_beyond_the_last_frame_is_clamped(struct lw *w) {
  lw_publish(w, 64, 8);
  lw_run(w);
  lw_ok(w, 0, 100);
  lw_run(w);
  assert_int_equal(lw_metrics(w).ring_acked, 7);
  assert_int_equal(lw_metrics(w).loop_acks_clamped, 1);
  assert_non_null(strstr(w->log, "acknowledged sequence 100"));
  lw_ok(w, 0, -1);
  lw_ok(w, 0, 3);
  lw_run(w);
  assert_int_equal(lw_metrics(w).ring_acked, 7);
  assert_int_equal(lw_metrics(w).loop_acks, 3);
  lw_publish(w, 64, 4); /* what was not there when the server spoke is not acknowledged by it */
  lw_run(w);
  assert_int_equal(lw_metrics(w).loop_sent, 12);
  assert_int_equal(lw_metrics(w).ring_acked, 7);
}

/* Three frames of 64: the socket takes the first and a half, the server already answers. */
static long take_96(struct lw *w, int conn, size_t n) {
  (void)conn;
  return lw_count(w, 's') == 0 ? 96 : w->refuse < 0 ? -EAGAIN : (long)n;
}

static void case_81_an_ok_waits_for_its_frames_flush(struct lw *w) {
  w->refuse = -1; /* full until set to 0 */
  w->on_send = take_96;
  lw_publish(w, 64, 3);
  for (int i = 0; i < 6; i++) lw_turn(w);
  lw_ok(w, 0, 2);
  for (int i = 0; i < 6; i++) lw_turn(w);
  assert_int_equal(lw_metrics(w).loop_acks, 1); /* read while blocked (CASE-31) */
  assert_int_equal(lw_metrics(w).ring_acked, -1);
  w->refuse = 0;
  lw_run(w);
  assert_int_equal(lw_metrics(w).ring_acked, 2); /* no second OK needed */
  assert_int_equal(lw_metrics(w).loop_acks_clamped, 0);
}

/* The answer arrives between the receive attempt and the send that fails. */
static long answer_and_break(struct lw *w, int conn, size_t n) {
  if (conn != 0 || lw_count(w, 's') == 0) return (long)n;
  lw_ok(w, 0, 9);
  return -EPIPE;
}

static void case_08_last_acknowledgements_count_when_the_write_fails(struct lw *w) {
  w->on_send = answer_and_break;
  lw_publish(w, 64, 10);
  lw_run(w);
  lw_publish(w, 64, 1);
  lw_run(w);
  assert_int_equal(w->conn_count, 2);
  assert_int_equal(lw_id(&w->conns[1], 0), 10);
  assert_int_equal(lw_frames(&w->conns[1]), 1);
  assert_int_equal(lw_metrics(w).ring_acked, 9);
  assert_int_equal(lw_metrics(w).loop_replayed, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      lw_test(p121_25_an_ok_beyond_the_last_frame_is_clamped),
      lw_test(case_81_an_ok_waits_for_its_frames_flush),
      lw_test(case_08_last_acknowledgements_count_when_the_write_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
