/* What a lost connection leaves behind: what counts as sent and as replayed, and what the next
 * connection is told of the dictionary. */
#include "loop_world.h"

#define LW_ASYNC "initial_connect_retry=async;"
#define LW_QUICK "ws::addr=h:1;reconnect_initial_backoff_millis=10;reconnect_max_backoff_millis=100;" LW_ASYNC
static long fail_sends_of(struct lw *w, int conn, size_t n) {
  (void)w;
  return conn == 0 ? -EPIPE : (long)n;
}

static void p121_27_a_failed_batch_counts_neither_sent_nor_replayed(struct lw *w) {
  w->on_send = fail_sends_of;
  lw_publish(w, 36, 8);
  lw_run(w);
  assert_int_equal(w->conn_count, 2); /* the first attempt after a loss is immediate */
  assert_int_equal(lw_metrics(w).loop_sent, 8);
  assert_int_equal(lw_metrics(w).loop_replayed, 0);
  assert_int_equal(lw_frames(&w->conns[1]), 8);
}

static long fail_sends_of_second(struct lw *w, int conn, size_t n) {
  (void)w;
  return conn == 1 ? -ECONNRESET : (long)n;
}

static void p121_28_the_saved_replay_target_is_restored(struct lw *w) {
  w->on_send = fail_sends_of_second;
  lw_publish(w, 36, 8);
  lw_run(w);
  w->conns[0].eof = true;
  lw_advance(w, 100 * LW_MS);
  assert_int_equal(w->conn_count, 3);
  assert_int_equal(lw_metrics(w).loop_sent, 16);
  assert_int_equal(lw_metrics(w).loop_replayed, 8);
}

/* Fails each allocation of a run in turn: wherever it was, everything is sent once in the
 * end, and what was appended before it counts neither as sent nor as replayed. */
static void p121_29_an_append_that_finds_no_memory_rolls_back(void **state) {
  (void)state;
  int rolled_back = 0;
  for (uint64_t nth = 1;; nth++) {
    struct lw w;
    lw_init(&w, LW_QUICK);
    lw_publish(&w, 64, 4);
    lw_publish(&w, 60000, 1); /* grows the send buffer */
    lw_publish(&w, 64, 3);
    w.mem.fail_at = w.mem.calls + nth;
    lw_advance(&w, 100 * LW_MS);
    uint64_t failed = w.mem.failed;
    assert_false(qwp_loop_latched(w.loop));
    assert_int_equal(lw_metrics(&w).loop_sent, 8);
    assert_int_equal(lw_metrics(&w).loop_replayed, 0);
    bool connected = w.conns[0].upgraded && w.mem.fail_at > w.conns[0].calls_at_upgrade;
    if (failed && connected) {
      assert_int_equal(w.conn_count, 2);
      assert_int_equal(w.conns[0].out.n, 0);
      rolled_back++;
    }
    lw_free(&w);
    if (failed == 0) break;
  }
  assert_true(rolled_back > 0);
}

static void p121_30_replayed_means_completed_once_before(struct lw *w) {
  lw_publish(w, 36, 10);
  lw_run(w);
  lw_ok(w, 0, 3);
  lw_run(w);
  w->conns[0].eof = true;
  w->refuse = 2; /* an outage, in which more is published */
  lw_run(w);
  lw_publish(w, 36, 5);
  lw_advance(w, 500 * LW_MS);
  assert_int_equal(lw_metrics(w).loop_replayed, 6);
  assert_int_equal(lw_metrics(w).loop_sent, 21);
  assert_int_equal(lw_metrics(w).loop_replay_target, -1);
  assert_int_equal(lw_id(&w->conns[1], 0), 4);
  assert_int_equal(lw_metrics(w).loop_reconnects, 1);
}

static void p121_30_an_outage_before_the_first_connection_replays_nothing(struct lw *w) {
  w->refuse = 5;
  lw_publish(w, 36, 8);
  lw_advance(w, 1000 * LW_MS);
  assert_int_equal(lw_metrics(w).loop_sent, 8);
  assert_int_equal(lw_metrics(w).loop_replayed, 0);
  assert_int_equal(lw_metrics(w).loop_attempts, 6);
}

static long break_in_the_third(struct lw *w, int conn, size_t n) {
  if (conn != 0) return (long)n;
  return lw_count(w, 's') == 0 ? 160 : -EPIPE;
}

static void p121_31_a_partial_write_counts_nothing(struct lw *w) {
  w->on_send = break_in_the_third;
  lw_publish(w, 64, 8);
  lw_run(w);
  assert_int_equal(lw_frames(&w->conns[0]), 2);
  assert_int_equal(lw_frames(&w->conns[1]), 8);
  assert_int_equal(lw_metrics(w).loop_sent, 8);
  assert_int_equal(lw_metrics(w).loop_replayed, 0);
}

static int break_byte;
static long break_at_byte(struct lw *w, int conn, size_t n) {
  if (conn != 0) return (long)n;
  long left = break_byte - (long)w->conns[0].out.n;
  return left <= 0 ? -EPIPE : left < (long)n ? left : (long)n;
}

static void p121_23_no_byte_of_a_failed_batch_reaches_the_next_connection(void **state) {
  (void)state;
  for (break_byte = 0; break_byte < 192; break_byte++) {
    struct lw w;
    lw_init(&w, LW_QUICK);
    w.on_send = break_at_byte;
    lw_publish(&w, 64, 3);
    lw_run(&w);
    assert_int_equal(w.conns[1].out.n, 192);
    for (int i = 0; i < 3; i++) assert_int_equal(lw_id(&w.conns[1], (size_t)i), i);
    lw_free(&w);
  }
}

static void p121_33_the_mirror_keeps_what_a_failed_write_told_it(struct lw *w) {
  w->on_send = fail_sends_of;
  for (int i = 0; i < 8; i++) lw_publish_symbols(w, 64, (uint64_t)i, 1);
  lw_run(w);
  struct lw_conn *c = &w->conns[1];
  assert_int_equal(lw_frames(c), 9);
  size_t n;
  unsigned opcode;
  uint8_t *p = lw_frame(c, 0, &n, &opcode);
  const uint8_t expect[] = {'Q', 'W', 'P', '1', 1, 0x09, 0, 0, 26, 0, 0, 0, 0, 8, 2, 's', '0', 2, 's', '1'};
  assert_memory_equal(p, expect, sizeof expect);
  free(p);
  for (int i = 0; i < 8; i++) assert_int_equal(lw_id(c, (size_t)i + 1), i);
  assert_int_equal(lw_metrics(w).loop_catchup, 1);
  assert_int_equal(lw_metrics(w).loop_sent, 8);
  assert_int_equal(lw_metrics(w).loop_next_seq, 9);
  lw_ok(w, 1, 8);
  lw_run(w);
  assert_int_equal(lw_metrics(w).ring_acked, 7);
}

static void catch_up_keeps_to_the_cap_and_no_frame_maps_to_an_fsn(struct lw *w) {
  for (int i = 0; i < 8; i++) lw_publish_symbols(w, 36, (uint64_t)i, 1);
  lw_run(w);
  w->headers = "X-QWP-Max-Batch-Size: 30\r\n"; /* header 12, section 2, five entries of 3 */
  w->conns[0].eof = true;
  lw_run(w);
  struct lw_conn *c = &w->conns[1];
  assert_int_equal(lw_metrics(w).loop_catchup, 2);
  assert_int_equal(lw_frames(c), 10);
  assert_int_equal(lw_id(c, 1), -2);
  assert_int_equal(lw_id(c, 2), 0);
  lw_ok(w, 1, 1); /* of a catch-up frame: acknowledges nothing */
  lw_run(w);
  assert_int_equal(lw_metrics(w).ring_acked, -1);
  lw_ok(w, 1, 3);
  lw_run(w);
  assert_int_equal(lw_metrics(w).ring_acked, 1);
}

/* The ceiling is reached through the mirror's own limit. */
static void p121_34_a_full_dictionary_is_one_terminal_error(struct lw *w) {
  w->loop->mirror.entries.limit = 15; /* five entries of three bytes */
  for (int i = 0; i < 8; i++) lw_publish_symbols(w, 64, (uint64_t)i, 1);
  lw_run(w);
  struct qwp_error err;
  assert_true(qwp_loop_error(w->loop, &err));
  assert_int_equal(err.code, QWP_DICT_FULL);
  assert_int_equal(err.from_fsn, 5);
  assert_int_equal(lw_frames(&w->conns[0]), 5); /* the frames ahead of it have left */
  assert_int_equal(lw_metrics(w).loop_sent, 5);
  assert_int_equal(lw_metrics(w).loop_reconnects, 0);
  assert_int_equal(w->conn_count, 1);
  assert_true(w->want.stopped);
  const char *first = strstr(w->log, "the sender is finished");
  assert_non_null(first);
  assert_null(strstr(first + 1, "the sender is finished"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      lw_test(p121_27_a_failed_batch_counts_neither_sent_nor_replayed),
      lw_test(p121_28_the_saved_replay_target_is_restored),
      cmocka_unit_test(p121_29_an_append_that_finds_no_memory_rolls_back),
      lw_test(p121_30_replayed_means_completed_once_before),
      lw_test(p121_30_an_outage_before_the_first_connection_replays_nothing),
      lw_test(p121_31_a_partial_write_counts_nothing),
      cmocka_unit_test(p121_23_no_byte_of_a_failed_batch_reaches_the_next_connection),
      lw_test(p121_33_the_mirror_keeps_what_a_failed_write_told_it),
      lw_test(catch_up_keeps_to_the_cap_and_no_frame_maps_to_an_fsn),
      lw_test(p121_34_a_full_dictionary_is_one_terminal_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
