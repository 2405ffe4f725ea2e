/* What leaves, in how many writes, and what ends a batch before its last frame. Names begin with
 * the rule they hold the loop to. */
#include "loop_world.h"

static void p121_07_all_published_frames_leave_in_one_write(struct lw *w) {
  lw_publish(w, 36, 500);
  lw_run(w);
  struct qwp_metrics m = lw_metrics(w);
  assert_int_equal(lw_count(w, 's'), 1);
  assert_int_equal(m.tx_batches, 1);
  assert_int_equal(m.loop_sent, 500);
  assert_int_equal(m.loop_next_seq, 500);
  assert_int_equal(lw_frames(&w->conns[0]), 500);
  for (size_t i = 0; i < w->trace_n; i++) /* P121-01: a writable socket costs no wait */
    if (w->trace[i].kind == 'w') assert_int_equal(w->trace[i].asked & QWP_WRITABLE, 0);
}

static void writes_of(size_t wire, int frames, size_t writes, size_t largest, size_t last) {
  struct lw w;
  lw_init(&w, LW_QUICK);
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

static void p121_08_the_cap_has_an_exact_edge(struct lw *w) { /* wire bytes, not payload: 65 472 + 66 is too much, 65 472 + 60 were not */
  writes_of(64, 2048, 2, 65536, 65536);
  writes_of(36, 100000, 55, 65520, 61920);

  lw_publish(w, 64, 1023);
  lw_publish(w, 66, 1);
  lw_run(w);
  assert_int_equal(lw_count(w, 's'), 2);
}

static void p121_09_a_larger_frame_goes_alone(struct lw *w) {
  lw_publish(w, 64, 3);
  lw_publish(w, 70014, 1);
  lw_publish(w, 64, 3);
  lw_publish(w, 65536, 1);
  lw_run(w);
  size_t expect[] = {192, 70014, 192, 65536}, k = 0;
  for (size_t i = 0; i < w->trace_n; i++)
    if (w->trace[i].kind == 's') assert_int_equal(w->trace[i].asked, expect[k++]);
  assert_int_equal(k, 4);
  assert_int_equal(lw_metrics(w).tx_max_batch, 192);
}

static void p121_10_the_cap_does_not_follow_the_buffer(struct lw *w) {
  lw_publish(w, 200000, 1);
  lw_publish(w, 64, 10000);
  lw_run(w);
  assert_int_equal(lw_count(w, 's'), 11);
  assert_int_equal(lw_metrics(w).tx_max_batch, 65536);
  assert_true(lw_metrics(w).tx_capacity >= 200000);
}

static void p121_14_a_receive_attempt_stands_between_two_batches(struct lw *w) {
  w->auto_ack = true;
  lw_publish(w, 64, 16384);
  lw_run(w);
  bool read = true;
  for (size_t i = 0; i < w->trace_n; i++) {
    if (w->trace[i].kind == 'r') read = true;
    if (w->trace[i].kind != 's') continue;
    assert_true(read);
    assert_true(w->trace[i].asked <= 65536);
    read = false;
  }
  assert_int_equal(lw_metrics(w).ring_acked, 16383);
}

static long full_after_40(struct lw *w, int conn, size_t n) {
  (void)conn;
  size_t calls = lw_count(w, 's');
  return calls == 0 ? 40 : calls == 1 ? -EAGAIN : (long)n;
}

static void p121_02_a_full_socket_is_waited_for_in_both_directions(struct lw *w) {
  w->on_send = full_after_40;
  lw_publish(w, 100, 1);
  for (int i = 0; i < 10 && !(w->want.interest & QWP_WRITABLE); i++) lw_turn(w);
  assert_int_equal(w->want.interest, QWP_READABLE | QWP_WRITABLE);
  assert_int_equal(lw_metrics(w).loop_sent, 0);
  lw_run(w);
  size_t asked[] = {100, 60, 60}, k = 0;
  for (size_t i = 0; i < w->trace_n; i++)
    if (w->trace[i].kind == 's') assert_int_equal(w->trace[i].asked, asked[k++]);
  assert_int_equal(k, 3);
  assert_int_equal(lw_metrics(w).loop_sent, 1);
}

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
    lw_init(&w, LW_QUICK);
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
    lw_init(&w, LW_QUICK);
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

#define CAP_100 "X-QWP-Max-Batch-Size: 100\r\n"

/* Frames 0 to 2, one that this server does not take, and 4 to 7. */
static void publish_around_a_large_one(struct lw *w) {
  w->headers = CAP_100;
  lw_publish(w, 64, 3);
  lw_publish(w, 200, 1);
  lw_publish(w, 64, 4);
  lw_run(w);
}

static void p121_16_a_frame_over_the_servers_cap_is_kept_and_tried_elsewhere(struct lw *w) {
  w->auto_ack = true;
  publish_around_a_large_one(w);
  assert_int_equal(lw_frames(&w->conns[0]), 3);
  assert_int_equal(qwp_loop_cap(w->loop), 100);
  lw_advance(w, 2000 * LW_MS);
  assert_true(w->conn_count > 3 && w->conn_count < 60); /* paced */
  assert_int_equal(lw_metrics(w).loop_sent, 3);         /* on none of them anything again */
  assert_false(qwp_loop_latched(w->loop));
  w->headers = NULL;
  lw_advance(w, 300 * LW_MS);
  assert_int_equal(lw_id(&w->conns[w->conn_count - 1], 0), 3);
  assert_int_equal(lw_id(&w->conns[w->conn_count - 1], 4), 7);
  assert_int_equal(lw_metrics(w).loop_replayed, 0);
}

static void a_frame_over_the_cap_waits_for_the_answers_to_those_before_it(struct lw *w) {
  publish_around_a_large_one(w);
  int64_t steps = lw_metrics(w).loop_steps;
  lw_publish(w, 64, 1); /* wakes nobody */
  lw_advance(w, 599000 * LW_MS);
  assert_int_equal(lw_metrics(w).loop_steps, steps);
  assert_int_equal(lw_metrics(w).loop_wakes, 0);

  lw_ok(w, 0, 1);
  lw_advance(w, 599000 * LW_MS); /* its own time: an answer came */
  assert_int_equal(lw_metrics(w).loop_steps, steps + 1);
  assert_int_equal(w->conn_count, 1);
  assert_int_equal(lw_metrics(w).ring_acked, 1);

  lw_ok(w, 0, 2);
  lw_run(w);
  assert_int_equal(w->conn_count, 2);
  assert_int_equal(lw_metrics(w).loop_sent, 3);
}

static void a_server_that_never_answers_is_left_after_the_send_timeout(struct lw *w) {
  publish_around_a_large_one(w);
  lw_advance(w, 599999 * LW_MS);
  assert_int_equal(w->conn_count, 1);
  w->headers = NULL;
  lw_advance(w, LW_MS);
  assert_int_equal(w->conn_count, 2);
  assert_int_equal(lw_frames(&w->conns[1]), 8);
  assert_int_equal(lw_metrics(w).loop_replayed, 3);
  assert_int_equal(lw_metrics(w).loop_strikes, 0);
}

static void a_ping_is_answered_and_a_close_obeyed_while_a_frame_over_the_cap_waits(struct lw *w) {
  publish_around_a_large_one(w);
  lw_send(w, 0, QWP_WS_PING, "p", 1);
  lw_run(w);
  assert_int_equal(lw_count(w, 's'), 2); /* the frames, the pong */
  qwp_loop_request_close(w->loop);
  lw_run(w);
  assert_int_equal(lw_count(w, 's'), 3);
  assert_true(w->want.stopped);
  assert_true(w->conns[0].fin);
  assert_int_equal(w->conn_count, 1);
}

static void a_frame_without_a_mask_key_ends_the_connection_and_says_why(struct lw *w) {
  lw_run(w);
  w->entropy_result = -EIO;
  lw_publish(w, 64, 1);
  lw_step(w);
  assert_non_null(strstr(w->log, "connection lost: no random bytes for a mask key: "));
  assert_null(strstr(w->log, "memory"));
  w->entropy_result = 0;
  lw_advance(w, 100 * LW_MS);
  assert_int_equal(lw_frames(&w->conns[w->conn_count - 1]), 1);
}

static void a_pong_without_a_mask_key_ends_the_connection_and_says_why(struct lw *w) {
  lw_run(w);
  w->entropy_result = -EIO;
  lw_send(w, 0, QWP_WS_PING, "p", 1);
  lw_step(w);
  assert_non_null(strstr(w->log, "connection lost: no random bytes for a mask key: "));
  assert_int_equal(w->conns[0].out.n, 0);
}

static void p121_17_a_half_published_frame_waits(struct lw *w) {
  lw_publish(w, 64, 6);
  struct qwp_cursor c;
  qwp_ring_seek(w->ring, &c, 5);
  size_t whole = atomic_load(&c.segment->published);
  atomic_store(&c.segment->published, c.offset + QWP_FRAME_HEADER_BYTES);
  lw_run(w);
  assert_int_equal(lw_frames(&w->conns[0]), 5);
  assert_int_equal(w->want.deadline_ns, QWP_NEVER); /* asleep, not spinning */
  atomic_store(&c.segment->published, whole);
  qwp_loop_published(w->loop);
  lw_run(w);
  assert_int_equal(lw_frames(&w->conns[0]), 6);
  assert_int_equal(lw_id(&w->conns[0], 5), 5);
}

static void p121_18_one_write_a_segment_and_every_frame_once(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, LW_QUICK "sf_max_segment_bytes=4096;sf_max_total_bytes=1048576;");
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

int main(void) {
  const struct CMUnitTest tests[] = {
      lw_test(p121_07_all_published_frames_leave_in_one_write),
      lw_test(p121_08_the_cap_has_an_exact_edge),
      lw_test(p121_09_a_larger_frame_goes_alone),
      lw_test(p121_10_the_cap_does_not_follow_the_buffer),
      lw_test(p121_14_a_receive_attempt_stands_between_two_batches),
      lw_test(p121_02_a_full_socket_is_waited_for_in_both_directions),
      cmocka_unit_test(p121_16_a_damaged_length_ends_the_batch_behind_the_frames_before),
      cmocka_unit_test(p121_19_a_dictionary_gap_ends_the_batch_behind_the_frames_before),
      lw_test(p121_16_a_frame_over_the_servers_cap_is_kept_and_tried_elsewhere),
      lw_test(a_frame_over_the_cap_waits_for_the_answers_to_those_before_it),
      lw_test(a_server_that_never_answers_is_left_after_the_send_timeout),
      lw_test(a_ping_is_answered_and_a_close_obeyed_while_a_frame_over_the_cap_waits),
      lw_test(a_frame_without_a_mask_key_ends_the_connection_and_says_why),
      lw_test(a_pong_without_a_mask_key_ends_the_connection_and_says_why),
      lw_test(p121_17_a_half_published_frame_waits),
      cmocka_unit_test(p121_18_one_write_a_segment_and_every_frame_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
