/* The send loop in a world in memory: what leaves, in how many writes, what counts, and
 * what a broken connection means. Names begin with the rule they hold the loop to. */
#include "loop_world.h"

#define ASYNC "initial_connect_retry=async;"
#define QUIET "ws::addr=h:1;reconnect_initial_backoff_millis=10;reconnect_max_backoff_millis=100;" ASYNC

static long fail_sends_of(struct lw *w, int conn, size_t n) {
  (void)w;
  return conn == 0 ? -EPIPE : (long)n;
}

/* ---- writes -------------------------------------------------------------------------- */

static void p121_07_all_published_frames_leave_in_one_write(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  lw_publish(&w, 36, 500);
  lw_run(&w);
  struct qwp_metrics m = lw_metrics(&w);
  assert_int_equal(lw_count(&w, 's'), 1);
  assert_int_equal(m.tx_batches, 1);
  assert_int_equal(m.loop_sent, 500);
  assert_int_equal(m.loop_next_seq, 500);
  assert_int_equal(lw_frames(&w.conns[0]), 500);
  for (size_t i = 0; i < w.trace_n; i++) /* P121-01: a writable socket costs no wait */
    if (w.trace[i].kind == 'w') assert_int_equal(w.trace[i].asked & QWP_WRITABLE, 0);
  lw_free(&w);
}

static void writes_of(size_t wire, int frames, size_t writes, size_t largest, size_t last) {
  struct lw w;
  lw_init(&w, QUIET);
  lw_publish(&w, wire, frames);
  lw_run(&w);
  size_t seen = 0, asked = 0, max = 0;
  for (size_t i = 0; i < w.trace_n; i++) {
    if (w.trace[i].kind != 's') continue;
    seen++;
    asked = w.trace[i].asked;
    if (asked > max) max = asked;
  }
  assert_int_equal(seen, writes);
  assert_int_equal(max, largest);
  assert_int_equal(asked, last);
  assert_int_equal(lw_metrics(&w).loop_sent, frames);
  lw_free(&w);
}

static void p121_08_the_cap_has_an_exact_edge(void **state) {
  (void)state;
  writes_of(64, 2048, 2, 65536, 65536);
  writes_of(36, 100000, 55, 65520, 61920);

  struct lw w; /* wire bytes, not payload: 65 472 + 66 is too much, 65 472 + 60 were not */
  lw_init(&w, QUIET);
  lw_publish(&w, 64, 1023);
  lw_publish(&w, 66, 1);
  lw_run(&w);
  assert_int_equal(lw_count(&w, 's'), 2);
  lw_free(&w);
}

static void p121_09_a_larger_frame_goes_alone(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  lw_publish(&w, 64, 3);
  lw_publish(&w, 70014, 1);
  lw_publish(&w, 64, 3);
  lw_publish(&w, 65536, 1);
  lw_run(&w);
  size_t expect[] = {192, 70014, 192, 65536}, k = 0;
  for (size_t i = 0; i < w.trace_n; i++)
    if (w.trace[i].kind == 's') assert_int_equal(w.trace[i].asked, expect[k++]);
  assert_int_equal(k, 4);
  assert_int_equal(lw_metrics(&w).tx_max_batch, 192);
  lw_free(&w);
}

static void p121_10_the_cap_does_not_follow_the_buffer(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  lw_publish(&w, 200000, 1);
  lw_publish(&w, 64, 10000);
  lw_run(&w);
  assert_int_equal(lw_count(&w, 's'), 11);
  assert_int_equal(lw_metrics(&w).tx_max_batch, 65536);
  assert_true(lw_metrics(&w).tx_capacity >= 200000);
  lw_free(&w);
}

static void p121_14_a_receive_attempt_stands_between_two_batches(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  w.auto_ack = true;
  lw_publish(&w, 64, 16384);
  lw_run(&w);
  bool read = true;
  for (size_t i = 0; i < w.trace_n; i++) {
    if (w.trace[i].kind == 'r') read = true;
    if (w.trace[i].kind != 's') continue;
    assert_true(read);
    assert_true(w.trace[i].asked <= 65536);
    read = false;
  }
  assert_int_equal(lw_metrics(&w).ring_acked, 16383);
  lw_free(&w);
}

static long full_after_40(struct lw *w, int conn, size_t n) {
  (void)conn;
  size_t calls = lw_count(w, 's');
  return calls == 0 ? 40 : calls == 1 ? -EAGAIN : (long)n;
}

static void p121_02_a_full_socket_is_waited_for_in_both_directions(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  w.on_send = full_after_40;
  lw_publish(&w, 100, 1);
  for (int i = 0; i < 10 && !(w.want.interest & QWP_WRITABLE); i++) lw_turn(&w);
  assert_int_equal(w.want.interest, QWP_READABLE | QWP_WRITABLE);
  assert_int_equal(lw_metrics(&w).loop_sent, 0);
  lw_run(&w);
  size_t asked[] = {100, 60, 60}, k = 0;
  for (size_t i = 0; i < w.trace_n; i++)
    if (w.trace[i].kind == 's') assert_int_equal(w.trace[i].asked, asked[k++]);
  assert_int_equal(k, 3);
  assert_int_equal(lw_metrics(&w).loop_sent, 1);
  lw_free(&w);
}

/* ---- early ends of a batch (P121-16..19) --------------------------------------------- */

/* Breaks frame k of the store: its length field becomes `length`. */
static void set_length(struct lw *w, int k, uint32_t length) {
  struct qwp_cursor c;
  qwp_ring_seek(w->ring, &c, k);
  qwp_set_u32(c.segment->bytes + c.offset + 4, length);
}

static void p121_16_a_damaged_length_ends_the_batch_behind_the_frames_before(void **state) {
  (void)state;
  for (int k = 0; k < 8; k++) {
    struct lw w;
    lw_init(&w, QUIET);
    lw_publish(&w, 64, 8);
    set_length(&w, k, 0x7fffffff);
    lw_run(&w);
    struct qwp_error err;
    assert_true(qwp_loop_error(w.loop, &err));
    assert_int_equal(err.code, QWP_RESEND);
    assert_int_equal(err.from_fsn, k);
    assert_int_equal(lw_frames(&w.conns[0]), k);
    assert_int_equal(lw_metrics(&w).loop_sent, k);
    lw_free(&w);
  }
}

static void p121_19_a_dictionary_gap_ends_the_batch_behind_the_frames_before(void **state) {
  (void)state;
  for (int k = 0; k < 8; k++) {
    struct lw w;
    lw_init(&w, QUIET);
    for (int i = 0; i < 8; i++) lw_publish_symbols(&w, 64, (uint64_t)(i + (i >= k)), 1);
    lw_run(&w);
    struct qwp_error err;
    assert_true(qwp_loop_error(w.loop, &err));
    assert_int_equal(err.code, QWP_RESEND);
    assert_int_equal(err.from_fsn, k);
    assert_int_equal(lw_frames(&w.conns[0]), k);
    assert_int_equal(lw_count(&w, 's'), k > 0 ? 2 : 1); /* the frames ahead, and the Close */
    assert_true(w.want.stopped);
    lw_free(&w);
  }
}

static void p121_16_a_frame_over_the_servers_cap_is_kept_and_tried_elsewhere(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  w.headers = "X-QWP-Max-Batch-Size: 100\r\n";
  lw_publish(&w, 64, 3);
  lw_publish(&w, 200, 1);
  lw_publish(&w, 64, 4);
  lw_run(&w);
  assert_int_equal(lw_frames(&w.conns[0]), 3);
  assert_int_equal(qwp_loop_cap(w.loop), 100);
  lw_advance(&w, 2000 * LW_MS);
  assert_true(w.conn_count > 3 && w.conn_count < 60); /* paced */
  assert_false(qwp_loop_latched(w.loop));
  w.headers = NULL;
  lw_advance(&w, 300 * LW_MS);
  assert_int_equal(lw_id(&w.conns[w.conn_count - 1], 0), 0);
  assert_int_equal(lw_id(&w.conns[w.conn_count - 1], 7), 7);
  lw_free(&w);
}

static void p121_17_a_half_published_frame_waits(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  lw_publish(&w, 64, 6);
  struct qwp_cursor c;
  qwp_ring_seek(w.ring, &c, 5);
  size_t whole = atomic_load(&c.segment->published);
  atomic_store(&c.segment->published, c.offset + QWP_FRAME_HEADER_BYTES);
  lw_run(&w);
  assert_int_equal(lw_frames(&w.conns[0]), 5);
  assert_int_equal(w.want.deadline_ns, QWP_NEVER); /* asleep, not spinning */
  atomic_store(&c.segment->published, whole);
  qwp_loop_published(w.loop);
  lw_run(&w);
  assert_int_equal(lw_frames(&w.conns[0]), 6);
  assert_int_equal(lw_id(&w.conns[0], 5), 5);
  lw_free(&w);
}

static void p121_18_one_write_a_segment_and_every_frame_once(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET "sf_max_segment_bytes=4096;sf_max_total_bytes=1048576;");
  int per_segment = (4096 - 24) / (58 + 8);
  lw_publish(&w, 64, 10 * per_segment);
  w.auto_ack = true;
  lw_run(&w);
  assert_int_equal(lw_count(&w, 's'), 10);
  for (int i = 0; i < 10 * per_segment; i += 7) assert_int_equal(lw_id(&w.conns[0], (size_t)i), i);
  assert_int_equal(lw_frames(&w.conns[0]), 10 * per_segment);
  assert_int_equal(lw_metrics(&w).ring_acked, 10 * per_segment - 1);
  assert_int_equal(lw_metrics(&w).ring_bytes, 2 * 4096); /* the active one and the spare */
  lw_free(&w);
}

/* ---- acknowledgements ------------------------------------------------------------------ */

static void p121_25_an_ok_beyond_the_last_frame_is_clamped(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  lw_publish(&w, 64, 8);
  lw_run(&w);
  lw_ok(&w, 0, 100);
  lw_run(&w);
  assert_int_equal(lw_metrics(&w).ring_acked, 7);
  assert_int_equal(lw_metrics(&w).loop_acks_clamped, 1);
  assert_non_null(strstr(w.log, "acknowledged sequence 100"));
  lw_ok(&w, 0, -1);
  lw_ok(&w, 0, 3);
  lw_run(&w);
  assert_int_equal(lw_metrics(&w).ring_acked, 7);
  assert_int_equal(lw_metrics(&w).loop_acks, 3);
  lw_publish(&w, 64, 4); /* what was not there when the server spoke is not acknowledged by it */
  lw_run(&w);
  assert_int_equal(lw_metrics(&w).loop_sent, 12);
  assert_int_equal(lw_metrics(&w).ring_acked, 7);
  lw_free(&w);
}

/* Three frames of 64: the socket takes the first and a half, the server already answers. */
static long take_96(struct lw *w, int conn, size_t n) {
  (void)conn;
  return lw_count(w, 's') == 0 ? 96 : w->refuse < 0 ? -EAGAIN : (long)n;
}

static void case_81_an_ok_waits_for_its_frames_flush(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  w.refuse = -1; /* full until set to 0 */
  w.on_send = take_96;
  lw_publish(&w, 64, 3);
  for (int i = 0; i < 6; i++) lw_turn(&w);
  lw_ok(&w, 0, 2);
  for (int i = 0; i < 6; i++) lw_turn(&w);
  assert_int_equal(lw_metrics(&w).loop_acks, 1); /* read while blocked (CASE-31) */
  assert_int_equal(lw_metrics(&w).ring_acked, -1);
  w.refuse = 0;
  lw_run(&w);
  assert_int_equal(lw_metrics(&w).ring_acked, 2); /* no second OK needed */
  assert_int_equal(lw_metrics(&w).loop_acks_clamped, 0);
  lw_free(&w);
}

/* The answer arrives between the receive attempt and the send that fails. */
static long answer_and_break(struct lw *w, int conn, size_t n) {
  if (conn != 0 || lw_count(w, 's') == 0) return (long)n;
  lw_ok(w, 0, 9);
  return -EPIPE;
}

static void case_08_last_acknowledgements_count_when_the_write_fails(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  w.on_send = answer_and_break;
  lw_publish(&w, 64, 10);
  lw_run(&w);
  lw_publish(&w, 64, 1);
  lw_run(&w);
  assert_int_equal(w.conn_count, 2);
  assert_int_equal(lw_id(&w.conns[1], 0), 10);
  assert_int_equal(lw_frames(&w.conns[1]), 1);
  assert_int_equal(lw_metrics(&w).ring_acked, 9);
  assert_int_equal(lw_metrics(&w).loop_replayed, 0);
  lw_free(&w);
}

/* ---- replay accounting --------------------------------------------------------------------- */

static void p121_27_a_failed_batch_counts_neither_sent_nor_replayed(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  w.on_send = fail_sends_of;
  lw_publish(&w, 36, 8);
  lw_run(&w);
  assert_int_equal(w.conn_count, 2); /* the first attempt after a loss is immediate */
  assert_int_equal(lw_metrics(&w).loop_sent, 8);
  assert_int_equal(lw_metrics(&w).loop_replayed, 0);
  assert_int_equal(lw_frames(&w.conns[1]), 8);
  lw_free(&w);
}

static long fail_sends_of_second(struct lw *w, int conn, size_t n) {
  (void)w;
  return conn == 1 ? -ECONNRESET : (long)n;
}

static void p121_28_the_saved_replay_target_is_restored(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  w.on_send = fail_sends_of_second;
  lw_publish(&w, 36, 8);
  lw_run(&w);
  w.conns[0].eof = true;
  lw_advance(&w, 100 * LW_MS);
  assert_int_equal(w.conn_count, 3);
  assert_int_equal(lw_metrics(&w).loop_sent, 16);
  assert_int_equal(lw_metrics(&w).loop_replayed, 8);
  lw_free(&w);
}

/* Fails each allocation of a run in turn: wherever it was, everything is sent once in the
 * end, and what was appended before it counts neither as sent nor as replayed. */
static void p121_29_an_append_that_finds_no_memory_rolls_back(void **state) {
  (void)state;
  int rolled_back = 0;
  for (uint64_t nth = 1;; nth++) {
    struct lw w;
    lw_init(&w, QUIET);
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

static void p121_30_replayed_means_completed_once_before(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  lw_publish(&w, 36, 10);
  lw_run(&w);
  lw_ok(&w, 0, 3);
  lw_run(&w);
  w.conns[0].eof = true;
  w.refuse = 2; /* an outage, in which more is published */
  lw_run(&w);
  lw_publish(&w, 36, 5);
  lw_advance(&w, 500 * LW_MS);
  assert_int_equal(lw_metrics(&w).loop_replayed, 6);
  assert_int_equal(lw_metrics(&w).loop_sent, 21);
  assert_int_equal(lw_metrics(&w).loop_replay_target, -1);
  assert_int_equal(lw_id(&w.conns[1], 0), 4);
  assert_int_equal(lw_metrics(&w).loop_reconnects, 1);
  lw_free(&w);
}

static void p121_30_an_outage_before_the_first_connection_replays_nothing(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  w.refuse = 5;
  lw_publish(&w, 36, 8);
  lw_advance(&w, 1000 * LW_MS);
  assert_int_equal(lw_metrics(&w).loop_sent, 8);
  assert_int_equal(lw_metrics(&w).loop_replayed, 0);
  assert_int_equal(lw_metrics(&w).loop_attempts, 6);
  lw_free(&w);
}

static long break_in_the_third(struct lw *w, int conn, size_t n) {
  if (conn != 0) return (long)n;
  return lw_count(w, 's') == 0 ? 160 : -EPIPE;
}

static void p121_31_a_partial_write_counts_nothing(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  w.on_send = break_in_the_third;
  lw_publish(&w, 64, 8);
  lw_run(&w);
  assert_int_equal(lw_frames(&w.conns[0]), 2);
  assert_int_equal(lw_frames(&w.conns[1]), 8);
  assert_int_equal(lw_metrics(&w).loop_sent, 8);
  assert_int_equal(lw_metrics(&w).loop_replayed, 0);
  lw_free(&w);
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
    lw_init(&w, QUIET);
    w.on_send = break_at_byte;
    lw_publish(&w, 64, 3);
    lw_run(&w);
    assert_int_equal(w.conns[1].out.n, 192);
    for (int i = 0; i < 3; i++) assert_int_equal(lw_id(&w.conns[1], (size_t)i), i);
    lw_free(&w);
  }
}

/* ---- dictionary ------------------------------------------------------------------------------ */

static void p121_33_the_mirror_keeps_what_a_failed_write_told_it(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  w.on_send = fail_sends_of;
  for (int i = 0; i < 8; i++) lw_publish_symbols(&w, 64, (uint64_t)i, 1);
  lw_run(&w);
  struct lw_conn *c = &w.conns[1];
  assert_int_equal(lw_frames(c), 9);
  size_t n;
  unsigned opcode;
  uint8_t *p = lw_frame(c, 0, &n, &opcode);
  const uint8_t expect[] = {'Q', 'W', 'P', '1', 1, 0x09, 0, 0, 26, 0, 0, 0, 0, 8, 2, 's', '0', 2, 's', '1'};
  assert_memory_equal(p, expect, sizeof expect);
  free(p);
  for (int i = 0; i < 8; i++) assert_int_equal(lw_id(c, (size_t)i + 1), i);
  assert_int_equal(lw_metrics(&w).loop_catchup, 1);
  assert_int_equal(lw_metrics(&w).loop_sent, 8);
  assert_int_equal(lw_metrics(&w).loop_next_seq, 9);
  lw_ok(&w, 1, 8);
  lw_run(&w);
  assert_int_equal(lw_metrics(&w).ring_acked, 7);
  lw_free(&w);
}

static void catch_up_keeps_to_the_cap_and_no_frame_maps_to_an_fsn(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  for (int i = 0; i < 8; i++) lw_publish_symbols(&w, 36, (uint64_t)i, 1);
  lw_run(&w);
  w.headers = "X-QWP-Max-Batch-Size: 30\r\n"; /* header 12, section 2, five entries of 3 */
  w.conns[0].eof = true;
  lw_run(&w);
  struct lw_conn *c = &w.conns[1];
  assert_int_equal(lw_metrics(&w).loop_catchup, 2);
  assert_int_equal(lw_frames(c), 10);
  assert_int_equal(lw_id(c, 1), -2);
  assert_int_equal(lw_id(c, 2), 0);
  lw_ok(&w, 1, 1); /* of a catch-up frame: acknowledges nothing */
  lw_run(&w);
  assert_int_equal(lw_metrics(&w).ring_acked, -1);
  lw_ok(&w, 1, 3);
  lw_run(&w);
  assert_int_equal(lw_metrics(&w).ring_acked, 1);
  lw_free(&w);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void a_terminal_status_latches_and_names_the_frame(void **state) {
  (void)state;
  const uint8_t statuses[] = {0x03, 0x05, 0x08};
  for (size_t i = 0; i < sizeof statuses; i++) {
    struct lw w;
    lw_init(&w, QUIET);
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

static void p121_32_four_refusals_past_the_window_poison_the_frame(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  w.on_data = nack_the_head;
  lw_publish(&w, 64, 3);
  lw_advance(&w, 4900 * LW_MS);
  assert_false(qwp_loop_latched(w.loop));
  assert_true(lw_metrics(&w).loop_strikes > 4);
  lw_advance(&w, 1000 * LW_MS);
  struct qwp_error err;
  assert_true(qwp_loop_error(w.loop, &err));
  assert_int_equal(err.code, QWP_POISONED);
  assert_int_equal(err.from_fsn, 0);
  assert_int_equal(err.to_fsn, 0);
  assert_int_equal(err.server_status, 6);
  lw_free(&w);
}

static long always_fail(struct lw *w, int conn, size_t n) {
  (void)w;
  return conn < 20 ? -EPIPE : (long)n;
}

static void p121_32_a_failed_write_is_no_strike(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  w.on_send = always_fail;
  lw_publish(&w, 64, 3);
  lw_advance(&w, 60000 * LW_MS);
  assert_int_equal(w.conn_count, 21);
  assert_int_equal(lw_metrics(&w).loop_strikes, 0);
  assert_false(qwp_loop_latched(w.loop));
  assert_int_equal(lw_metrics(&w).loop_sent, 3);
  lw_free(&w);
}

static void an_orderly_close_is_no_strike_another_one_is(void **state) {
  (void)state;
  const unsigned codes[] = {1000, 1001, 1002, 1011};
  for (size_t i = 0; i < 4; i++) {
    struct lw w;
    lw_init(&w, QUIET);
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
    lw_init(&w, QUIET);
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

/* ---- connecting ------------------------------------------------------------------------------- */

static void recon_002_pauses_double_to_the_maximum(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, "ws::addr=h:1;reconnect_initial_backoff_millis=100;reconnect_max_backoff_millis=800;" ASYNC);
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

static void recon_009_a_connection_resets_the_backoff(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  w.refuse = 5;
  lw_advance(&w, 1000 * LW_MS);
  assert_true(qwp_loop_was_connected(w.loop));
  w.refuse = 1;
  w.conns[0].eof = true;
  lw_run(&w);
  int64_t pause_ns = w.want.deadline_ns - w.now_ns;
  assert_true(pause_ns >= 10 * LW_MS && pause_ns < 20 * LW_MS);
  lw_free(&w);
}

/* The pause that follows the end of the newest connection. */
static int64_t pause_after_loss_ns(struct lw *w) {
  w->conns[w->conn_count - 1].eof = true;
  int before = w->conn_count;
  lw_run(w);
  return w->conn_count > before ? 0 : w->want.deadline_ns - w->now_ns;
}

static void nack_022_recycles_without_progress_are_paced(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  lw_publish(&w, 64, 2);
  lw_run(&w);
  assert_int_equal(pause_after_loss_ns(&w), 0);
  const int64_t dose_ms[] = {10, 20, 40, 80, 100};
  for (size_t i = 0; i < 5; i++) {
    int64_t pause_ns = pause_after_loss_ns(&w);
    assert_true(pause_ns >= dose_ms[i] * LW_MS && pause_ns < 2 * dose_ms[i] * LW_MS);
    lw_advance(&w, pause_ns);
  }
  lw_ok(&w, w.conn_count - 1, 0); /* progress */
  lw_run(&w);
  assert_int_equal(pause_after_loss_ns(&w), 0);
  assert_true(pause_after_loss_ns(&w) > 0);
  lw_advance(&w, 20 * LW_MS);
  lw_advance(&w, 100 * LW_MS); /* a connection that lived longer than the longest pause */
  assert_int_equal(pause_after_loss_ns(&w), 0);
  lw_free(&w);
}

static void recon_008_role_rejects_do_not_double(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, "ws::addr=h:1,h:2;reconnect_initial_backoff_millis=50;reconnect_max_backoff_millis=2000;" ASYNC);
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

static void an_idle_loop_waits_for_ever_and_wakes_once_a_sleep(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  lw_run(&w);
  assert_int_equal(w.want.deadline_ns, QWP_NEVER);
  assert_int_equal(w.want.interest, QWP_READABLE);
  int64_t steps = lw_metrics(&w).loop_steps;
  lw_advance(&w, 600000 * LW_MS);
  assert_int_equal(lw_metrics(&w).loop_steps, steps);
  lw_publish(&w, 64, 100);
  assert_int_equal(lw_metrics(&w).loop_wakes, 1);
  lw_run(&w);
  assert_int_equal(lw_metrics(&w).loop_wakes, 1);
  lw_free(&w);
}

static void case_84_a_pong_leaves_without_data(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  lw_run(&w);
  lw_send(&w, 0, QWP_WS_PING, "abc", 3);
  lw_run(&w);
  size_t n;
  unsigned opcode;
  uint8_t *p = lw_frame(&w.conns[0], 0, &n, &opcode);
  assert_non_null(p);
  assert_int_equal(opcode, QWP_WS_PONG);
  assert_memory_equal(p, "abc", 3);
  free(p);
  lw_free(&w);
}

static void close_says_goodbye_in_any_state(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
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

  lw_init(&w, QUIET);
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

static void close_of_a_stalled_connection_is_bounded(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  w.on_send = full;
  lw_publish(&w, 64, 1);
  for (int i = 0; i < 6; i++) lw_turn(&w);
  int64_t asked_ns = w.now_ns;
  qwp_loop_request_close(w.loop);
  for (int i = 0; i < 20 && !w.want.stopped; i++) {
    lw_step(&w);
    if (w.want.deadline_ns != QWP_NEVER) w.now_ns = w.want.deadline_ns;
  }
  assert_true(w.want.stopped);
  assert_int_equal(w.now_ns - asked_ns, 1000 * LW_MS);
  lw_free(&w);
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
static void close_of_a_talking_server_is_bounded(void **state) {
  (void)state;
  struct qwp_net_ops net = LW_NET;
  struct lw w;
  lw_init(&w, QUIET);
  lw_publish(&w, 64, 1);
  lw_run(&w);
  net.recv = never_silent;
  w.ops.net = &net;
  int64_t asked_ns = w.now_ns;
  qwp_loop_request_close(w.loop);
  for (int i = 0; i < 200 && !w.want.stopped; i++) lw_step(&w);
  assert_true(w.want.stopped);
  assert_true(w.conns[0].fin);
  assert_int_equal(w.now_ns - asked_ns, 1000 * LW_MS);
  lw_free(&w);
}

static long slow_and_refused(struct lw *w, int conn, size_t n) {
  if (w->conns[conn].out.n == 0) {
    w->now_ns += 60000 * LW_MS;
    lw_nack(w, conn, QWP_ST_WRITE_ERROR, 0, "disk full");
  }
  return (long)n;
}

/* The clock is read once a step. A pause that begins at the end of a step of a minute is no minute longer. */
static void a_long_step_does_not_lengthen_the_pause_behind_it(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, QUIET);
  lw_run(&w);
  w.on_send = slow_and_refused;
  lw_publish(&w, 70000, 2); /* two writes in one step */
  lw_run(&w);
  assert_int_equal(lw_metrics(&w).loop_strikes, 1);
  assert_int_equal(w.conn_count, 1);
  int64_t pause_ns = w.want.deadline_ns - w.now_ns;
  assert_in_range(pause_ns, 10 * LW_MS, 20 * LW_MS - 1);
  const struct lw_trace *last = &w.trace[w.trace_n - 1];
  assert_int_equal(last->kind, 'w');
  assert_int_equal(last->result, pause_ns);
  lw_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(p121_07_all_published_frames_leave_in_one_write),
      cmocka_unit_test(p121_08_the_cap_has_an_exact_edge),
      cmocka_unit_test(p121_09_a_larger_frame_goes_alone),
      cmocka_unit_test(p121_10_the_cap_does_not_follow_the_buffer),
      cmocka_unit_test(p121_14_a_receive_attempt_stands_between_two_batches),
      cmocka_unit_test(p121_02_a_full_socket_is_waited_for_in_both_directions),
      cmocka_unit_test(p121_16_a_damaged_length_ends_the_batch_behind_the_frames_before),
      cmocka_unit_test(p121_19_a_dictionary_gap_ends_the_batch_behind_the_frames_before),
      cmocka_unit_test(p121_16_a_frame_over_the_servers_cap_is_kept_and_tried_elsewhere),
      cmocka_unit_test(p121_17_a_half_published_frame_waits),
      cmocka_unit_test(p121_18_one_write_a_segment_and_every_frame_once),
      cmocka_unit_test(p121_25_an_ok_beyond_the_last_frame_is_clamped),
      cmocka_unit_test(case_81_an_ok_waits_for_its_frames_flush),
      cmocka_unit_test(case_08_last_acknowledgements_count_when_the_write_fails),
      cmocka_unit_test(p121_27_a_failed_batch_counts_neither_sent_nor_replayed),
      cmocka_unit_test(p121_28_the_saved_replay_target_is_restored),
      cmocka_unit_test(p121_29_an_append_that_finds_no_memory_rolls_back),
      cmocka_unit_test(p121_30_replayed_means_completed_once_before),
      cmocka_unit_test(p121_30_an_outage_before_the_first_connection_replays_nothing),
      cmocka_unit_test(p121_31_a_partial_write_counts_nothing),
      cmocka_unit_test(p121_23_no_byte_of_a_failed_batch_reaches_the_next_connection),
      cmocka_unit_test(p121_33_the_mirror_keeps_what_a_failed_write_told_it),
      cmocka_unit_test(catch_up_keeps_to_the_cap_and_no_frame_maps_to_an_fsn),
      cmocka_unit_test(a_terminal_status_latches_and_names_the_frame),
      cmocka_unit_test(p121_32_four_refusals_past_the_window_poison_the_frame),
      cmocka_unit_test(p121_32_a_failed_write_is_no_strike),
      cmocka_unit_test(an_orderly_close_is_no_strike_another_one_is),
      cmocka_unit_test(an_answer_that_is_none_recycles_without_a_strike),
      cmocka_unit_test(recon_002_pauses_double_to_the_maximum),
      cmocka_unit_test(recon_009_a_connection_resets_the_backoff),
      cmocka_unit_test(nack_022_recycles_without_progress_are_paced),
      cmocka_unit_test(recon_008_role_rejects_do_not_double),
      cmocka_unit_test(fail_005_a_break_goes_to_the_peer_at_once),
      cmocka_unit_test(fail_009_refused_credentials_are_terminal_in_a_running_sender),
      cmocka_unit_test(an_idle_loop_waits_for_ever_and_wakes_once_a_sleep),
      cmocka_unit_test(case_84_a_pong_leaves_without_data),
      cmocka_unit_test(close_says_goodbye_in_any_state),
      cmocka_unit_test(close_of_a_stalled_connection_is_bounded),
      cmocka_unit_test(close_of_a_talking_server_is_bounded),
      cmocka_unit_test(a_long_step_does_not_lengthen_the_pause_behind_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
