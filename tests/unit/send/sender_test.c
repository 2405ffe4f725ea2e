/* The public API over the loop's test world: rows in, frames out, errors typed. */
#include "loop_world.h"
#include "qwp/sender.h"

#define OFF "auto_flush_rows=off;auto_flush_interval=off;"

static qwp_sender *make(struct lw *w, const char *config, struct qwp_error *err) {
  struct qwp_sender_options o = {.ops = &w->ops, .driver = &w->driver, .log = lw_log, .log_ctx = w};
  return qwp_sender_create(config, &o, err);
}

static qwp_sender *must(struct lw *w, const char *config) {
  struct qwp_error err;
  lw_world(w);
  qwp_sender *s = make(w, config, &err);
  if (!s) fail_msg("%s", err.text);
  return s;
}

static bool row(qwp_sender *s, int64_t v, struct qwp_error *err) {
  return qwp_table(s, "t", err) && qwp_long(s, "v", v, err) && qwp_at_ns(s, v, err);
}

static int64_t metric_clk(qwp_sender *s) {
  struct qwp_metrics m;
  qwp_sender_metrics(s, &m);
  return m.clk_row;
}

static int64_t metric_frames(qwp_sender *s) {
  struct qwp_metrics m;
  qwp_sender_metrics(s, &m);
  return m.snd_frames;
}

static void rows_flush_drain_close(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = must(&w, "ws::addr=h:1;" OFF);
  w.auto_ack = true;
  assert_true(qwp_sender_was_connected(s));
  int64_t fsn = 7;
  assert_true(qwp_sender_flush(s, &fsn, &err)); /* FLUSH-007 */
  assert_int_equal(fsn, -1);
  for (int i = 0; i < 3; i++) {
    assert_true(row(s, i, &err));
    assert_true(qwp_sender_flush(s, &fsn, &err));
    assert_int_equal(fsn, i);
  }
  assert_int_equal(qwp_sender_published_fsn(s), 2);
  assert_true(qwp_sender_drain(s, 1000, &err));
  assert_int_equal(qwp_sender_acked_fsn(s), 2);
  struct qwp_metrics m;
  qwp_sender_metrics(s, &m);
  assert_int_equal(m.snd_rows, 3);
  assert_int_equal(m.snd_frames, 3);
  assert_int_equal(m.snd_flushes, 4); /* drain is none */
  assert_int_equal(m.loop_sent, 3);
  assert_int_equal(m.snd_pending_rows, 0);
  assert_true(qwp_sender_close(s, &err));
  assert_true(w.conns[0].fin);
  lw_forget(&w);
}

static void create_off_tells_the_last_endpoint_and_leaves_nothing(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  lw_world(&w);
  w.refuse = 10;
  assert_null(make(&w, "ws::addr=a:1,b:2;initial_connect_retry=off;", &err));
  assert_int_equal(err.code, QWP_CONNECT);
  assert_int_equal(w.refuse, 8); /* one round */
  assert_non_null(strstr(err.text, "b:2"));
  assert_int_equal(err.sys_errno, ECONNREFUSED);
  lw_forget(&w);

  lw_world(&w);
  w.answer = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n";
  assert_null(make(&w, "ws::addr=a:1,b:2;", &err));
  assert_int_equal(err.code, QWP_AUTH);
  assert_int_equal(w.conn_count, 1);
  lw_forget(&w);

  lw_world(&w);
  w.answer = "HTTP/1.1 421 Misdirected\r\nX-QuestDB-Role: REPLICA\r\nContent-Length: 0\r\n\r\n";
  assert_null(make(&w, "ws::addr=a:1,b:2;", &err));
  assert_int_equal(err.code, QWP_ROLE);
  assert_int_equal(w.conn_count, 2);
  lw_forget(&w);
}

static void create_sync_lasts_as_long_as_it_says(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  lw_world(&w);
  w.refuse = 1000;
  int64_t begun_ns = w.now_ns;
  assert_null(make(&w, "ws::addr=a:1;initial_connect_retry=sync;reconnect_max_duration_millis=1500;", &err));
  assert_int_equal(err.code, QWP_CONNECT);
  assert_int_equal(w.now_ns - begun_ns, 1500 * LW_MS);
  lw_forget(&w);

  lw_world(&w);
  w.refuse = 3;
  qwp_sender *s = make(&w, "ws::addr=a:1;initial_connect_retry=sync;", &err);
  assert_non_null(s);
  assert_true(qwp_sender_close(s, &err));
  lw_forget(&w);
}

/* Fails each allocation of create, some rows, a flush and a drain in turn. */
static void every_failed_allocation_is_typed_and_leaves_nothing(void **state) {
  (void)state;
  for (uint64_t nth = 1;; nth++) {
    struct lw w;
    struct qwp_error err = {0};
    lw_world(&w);
    w.auto_ack = true;
    w.mem.fail_at = nth;
    qwp_sender *s = make(&w, "ws::addr=h:1;initial_connect_retry=async;" OFF, &err);
    if (!s) {
      assert_int_equal(err.code, QWP_NOMEM);
    } else {
      int done = 0;
      for (int tries = 0; tries < 100 && done < 20; tries++) {
        qwp_cancel_row(s);
        bool ok = qwp_table(s, "t", &err) && qwp_symbol(s, "sym", "a", &err) && qwp_at_ns(s, done, &err);
        if (!ok) assert_int_equal(err.code, QWP_NOMEM);
        done += ok;
      }
      while (!qwp_sender_flush(s, NULL, &err)) assert_int_equal(err.code, QWP_NOMEM);
      assert_true(qwp_sender_drain(s, 10000, &err));
      assert_int_equal(qwp_sender_acked_fsn(s), 0);
      assert_true(qwp_sender_close(s, &err));
    }
    uint64_t failed = w.mem.failed;
    lw_forget(&w);
    if (failed == 0) break;
  }
}

/* ---- auto-flush ------------------------------------------------------------------------ */

static void p121_35_clock_reads_of_a_batch(void **state) {
  (void)state;
  const int sizes[] = {1, 2, 1000};
  for (size_t k = 0; k < 3; k++) {
    struct lw w;
    struct qwp_error err;
    qwp_sender *s = must(&w, "ws::addr=h:1;auto_flush_rows=off;auto_flush_interval=1000;");
    for (int round = 1; round <= 3; round++) {
      for (int i = 0; i < sizes[k]; i++) assert_true(row(s, i, &err));
      assert_true(qwp_sender_flush(s, NULL, &err));
      assert_int_equal(metric_clk(s), round * sizes[k]); /* one stamp, n - 1 checks */
    }
    w.auto_ack = true;
    qwp_sender_close(s, NULL);
    lw_forget(&w);
  }
}

static void p121_36_no_interval_no_clock_and_the_row_trigger_works(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = must(&w, "ws::addr=h:1;auto_flush_interval=off;auto_flush_rows=100;");
  for (int i = 0; i < 10000; i++) assert_true(row(s, i, &err));
  assert_int_equal(metric_clk(s), 0);
  assert_int_equal(metric_frames(s), 100);
  w.auto_ack = true;
  assert_true(qwp_sender_close(s, &err));
  lw_forget(&w);
}

static void p121_38_age_is_looked_at_on_the_next_row(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = must(&w, "ws::addr=h:1;auto_flush_rows=off;");
  assert_true(row(s, 1, &err));
  w.now_ns += 99 * LW_MS;
  assert_true(row(s, 2, &err));
  assert_int_equal(metric_frames(s), 0);
  w.now_ns += 1 * LW_MS;
  assert_true(row(s, 3, &err));
  assert_int_equal(metric_frames(s), 1);
  assert_true(row(s, 4, &err));
  lw_advance(&w, 10000 * LW_MS); /* no timer */
  assert_int_equal(metric_frames(s), 1);
  w.auto_ack = true;
  assert_true(qwp_sender_close(s, &err));
  lw_forget(&w);
}

/* ---- limits ------------------------------------------------------------------------------ */

static void a_full_store_blocks_then_fails_and_keeps_the_rows(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = must(&w, "ws::addr=h:1;" OFF
                           "sf_max_segment_bytes=256;sf_max_total_bytes=512;sf_append_deadline_millis=300;");
  int published = 0;
  for (;; published++) {
    assert_true(row(s, published, &err));
    int64_t begun_ns = w.now_ns;
    if (qwp_sender_flush(s, NULL, &err)) continue;
    assert_int_equal(err.code, QWP_BACKPRESSURE);
    assert_int_equal(w.now_ns - begun_ns, 300 * LW_MS);
    break;
  }
  assert_true(published > 2);
  struct qwp_metrics m;
  qwp_sender_metrics(s, &m);
  assert_int_equal(m.snd_stalls, 1);
  assert_int_equal(m.snd_pending_rows, 1);
  lw_ok(&w, 0, published - 1);
  int64_t fsn;
  assert_true(qwp_sender_flush(s, &fsn, &err));
  assert_int_equal(fsn, published);
  w.auto_ack = true;
  lw_run(&w);
  lw_ok(&w, 0, published);
  assert_true(qwp_sender_close(s, &err));
  lw_forget(&w);
}

/* ---- drain, close, errors ------------------------------------------------------------------ */

static void case_130_drain_with_nothing_new_waits_for_what_is_published(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = must(&w, "ws::addr=h:1;" OFF);
  assert_true(row(s, 1, &err) && qwp_sender_flush(s, NULL, &err));
  int64_t begun_ns = w.now_ns;
  assert_false(qwp_sender_drain(s, 500, &err));
  assert_int_equal(err.code, QWP_TIMEOUT);
  assert_int_equal(w.now_ns - begun_ns, 500 * LW_MS);
  lw_ok(&w, 0, 0);
  assert_true(qwp_sender_drain(s, 500, &err));
  assert_true(qwp_sender_close(s, &err));
  lw_forget(&w);
}

static void a_refusal_fails_every_call_and_close_tells_it_once(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = must(&w, "ws::addr=h:1;" OFF);
  assert_true(row(s, 1, &err) && qwp_sender_flush(s, NULL, &err));
  lw_run(&w);
  lw_nack(&w, 0, QWP_ST_SCHEMA_MISMATCH, 0, "column v is a DOUBLE");
  assert_false(qwp_sender_drain(s, 0, &err));
  assert_int_equal(err.code, QWP_REJECTED);
  assert_non_null(strstr(err.text, "column v is a DOUBLE"));
  assert_false(qwp_table(s, "t", &err));
  assert_int_equal(err.code, QWP_REJECTED);
  assert_false(qwp_sender_flush(s, NULL, &err));
  assert_true(qwp_sender_close(s, &err)); /* told already */
  lw_forget(&w);

  s = must(&w, "ws::addr=h:1;" OFF);
  assert_true(row(s, 1, &err) && qwp_sender_flush(s, NULL, &err));
  lw_run(&w);
  lw_nack(&w, 0, QWP_ST_PARSE_ERROR, 0, "");
  lw_run(&w);
  assert_false(qwp_sender_close(s, &err));
  assert_int_equal(err.code, QWP_REJECTED);
  assert_int_equal(err.server_status, QWP_ST_PARSE_ERROR);
  lw_forget(&w);
}

/* The store is full, close waits for room with rows pending, and the refusal comes meanwhile. */
static void refuse_later(struct lw *w, int conn) {
  if (lw_frames(&w->conns[conn]) == 2) lw_nack(w, conn, QWP_ST_SCHEMA_MISMATCH, 0, "no");
}

static void close_tells_the_refusal_that_ended_its_own_wait(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = must(&w, "ws::addr=h:1;sf_max_segment_bytes=96;sf_max_total_bytes=192;" OFF);
  w.on_data = refuse_later;
  for (int i = 0; i < 2; i++) { /* a segment each; the loop has not sent them yet */
    assert_true(row(s, i, &err));
    assert_true(qwp_sender_flush(s, NULL, &err));
  }
  assert_true(row(s, 2, &err));
  assert_false(qwp_sender_close(s, &err));
  assert_int_equal(err.code, QWP_REJECTED);
  lw_forget(&w);
}

/* A false without an error would leave the caller's variable as it was. */
static void close_after_a_told_refusal_tells_of_an_open_row(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = must(&w, "ws::addr=h:1;" OFF);
  assert_true(row(s, 1, &err));
  assert_true(qwp_sender_flush(s, NULL, &err));
  lw_run(&w);
  assert_true(qwp_table(s, "t", &err));
  assert_true(qwp_long(s, "v", 1, &err));
  lw_nack(&w, 0, QWP_ST_SCHEMA_MISMATCH, 0, "no");
  lw_run(&w);
  assert_false(qwp_long(s, "w", 1, &err));
  assert_int_equal(err.code, QWP_REJECTED);
  qwp_error_clear(&err);
  assert_false(qwp_sender_close(s, &err));
  assert_int_equal(err.code, QWP_MISUSE);
  lw_forget(&w);
}

static void close_waits_as_long_as_it_says(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = must(&w, "ws::addr=h:1;close_flush_timeout_millis=700;" OFF);
  assert_true(row(s, 1, &err)); /* close flushes */
  int64_t begun_ns = w.now_ns;
  assert_false(qwp_sender_close(s, &err));
  assert_int_equal(err.code, QWP_TIMEOUT);
  assert_int_equal(w.now_ns - begun_ns, 700 * LW_MS);
  assert_int_equal(lw_frames(&w.conns[0]), 1);
  assert_non_null(strstr(w.log, "1 frames (0 to 0) are not acknowledged"));
  lw_forget(&w);

  s = must(&w, "ws::addr=h:1;close_flush_timeout_millis=0;" OFF);
  assert_true(row(s, 1, &err));
  begun_ns = w.now_ns;
  assert_true(qwp_sender_close(s, &err));
  assert_int_equal(w.now_ns, begun_ns);
  lw_forget(&w);

  s = must(&w, "ws::addr=h:1;" OFF);
  w.auto_ack = true;
  assert_true(row(s, 1, &err));
  assert_true(qwp_table(s, "t", &err));
  assert_false(qwp_sender_flush(s, NULL, &err));
  assert_int_equal(err.code, QWP_MISUSE);
  assert_false(qwp_sender_close(s, &err));
  assert_int_equal(err.code, QWP_MISUSE);
  assert_int_equal(lw_frames(&w.conns[0]), 1);
  lw_forget(&w);
}

static void case_37_close_interrupts_an_unanswered_upgrade(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  lw_world(&w);
  w.answer = "HTTP/1.1 101 S"; /* and nothing more */
  qwp_sender *s = make(&w, "ws::addr=h:1;initial_connect_retry=async;close_flush_timeout_millis=500;" OFF, &err);
  assert_non_null(s);
  assert_true(row(s, 1, &err));
  int64_t begun_ns = w.now_ns;
  assert_false(qwp_sender_close(s, &err));
  assert_int_equal(err.code, QWP_TIMEOUT);
  assert_int_equal(w.now_ns - begun_ns, 500 * LW_MS);
  lw_forget(&w);
}

static void p121_24_the_producer_sees_no_transport_error(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = must(&w, "ws::addr=h:1;reconnect_initial_backoff_millis=1;reconnect_max_backoff_millis=2;" OFF);
  w.auto_ack = true;
  for (int i = 0; i < 1000; i++) {
    if (i == 100) {
      w.refuse = 50;
      w.conns[0].eof = true;
    }
    if (i == 600) w.conns[w.conn_count - 1].eof = true;
    assert_true(row(s, i, &err) && qwp_sender_flush(s, NULL, &err));
    if (i % 10 == 0) lw_run(&w);
  }
  assert_true(qwp_sender_drain(s, 0, &err));
  struct qwp_metrics m;
  qwp_sender_metrics(s, &m);
  assert_true(m.loop_reconnects >= 1);
  assert_int_equal(m.ring_acked, 999);
  assert_true(qwp_sender_close(s, &err));
  lw_forget(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_flush_drain_close),
      cmocka_unit_test(create_off_tells_the_last_endpoint_and_leaves_nothing),
      cmocka_unit_test(create_sync_lasts_as_long_as_it_says),
      cmocka_unit_test(every_failed_allocation_is_typed_and_leaves_nothing),
      cmocka_unit_test(p121_35_clock_reads_of_a_batch),
      cmocka_unit_test(p121_36_no_interval_no_clock_and_the_row_trigger_works),
      cmocka_unit_test(p121_38_age_is_looked_at_on_the_next_row),
      cmocka_unit_test(a_full_store_blocks_then_fails_and_keeps_the_rows),
      cmocka_unit_test(case_130_drain_with_nothing_new_waits_for_what_is_published),
      cmocka_unit_test(a_refusal_fails_every_call_and_close_tells_it_once),
      cmocka_unit_test(close_tells_the_refusal_that_ended_its_own_wait),
      cmocka_unit_test(close_after_a_told_refusal_tells_of_an_open_row),
      cmocka_unit_test(close_waits_as_long_as_it_says),
      cmocka_unit_test(case_37_close_interrupts_an_unanswered_upgrade),
      cmocka_unit_test(p121_24_the_producer_sees_no_transport_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
