/* Rows and the sizes of messages: what is flushed by itself, what is refused, and that nothing a caller
 * does leaves a sender that cannot go on. */
#include <unistd.h>

#include "loop_world.h"
#include "qwp/sender.h"

#define OFF "auto_flush_rows=off;auto_flush_interval=off;"
#define CAP(n) "X-QWP-Max-Batch-Size: " #n "\r\n"

static char text[70000];

static qwp_sender *opened(struct lw *w, const char *headers, const char *config) {
  struct qwp_error err;
  lw_world(w);
  w->headers = headers;
  w->auto_ack = true;
  struct qwp_sender_options o = {.ops = &w->ops, .driver = &w->driver, .log = lw_log, .log_ctx = w};
  qwp_sender *s = qwp_sender_create(config, &o, &err);
  if (!s) fail_msg("%s", err.text);
  memset(text, 'x', sizeof text);
  return s;
}

static struct qwp_metrics metrics(const qwp_sender *s) {
  struct qwp_metrics m;
  qwp_sender_metrics(s, &m);
  return m;
}

static bool varchar_row(qwp_sender *s, size_t bytes, struct qwp_error *err) {
  return qwp_table(s, "t", err) && qwp_varchar_n(s, "v", text, bytes, err) && qwp_at_ns(s, 1, err);
}

static bool symbol_row(qwp_sender *s, const char *symbol, struct qwp_error *err) {
  return qwp_table(s, "t", err) && qwp_symbol(s, "sym", symbol, err) && qwp_at_ns(s, 1, err);
}

static void closed(struct lw *w, qwp_sender *s) {
  struct qwp_error err;
  if (!qwp_sender_close(s, &err)) fail_msg("%s", err.text);
  lw_forget(w);
}

/* ---- rows larger than the trigger foresees -------------------------------------------------- */

static void defaults_carry_rows_of_any_size(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = opened(&w, CAP(2097138), "ws::addr=h:1;auto_flush_interval=off;");
  for (int i = 0; i < 3000; i++)
    if (!varchar_row(s, (size_t)(i % 5 == 0 ? 60000 : 3000), &err)) fail_msg("%d: %s", i, err.text);
  assert_true(qwp_sender_drain(s, 0, &err));
  struct qwp_metrics m = metrics(s);
  assert_int_equal(m.snd_rows, 3000);
  assert_int_equal(m.ring_acked, m.snd_frames - 1);
  assert_int_equal(m.snd_frames, 23); /* 43.2 MB in messages of 90 % of the cap */
  closed(&w, s);
}

static void a_set_size_is_kept_below_the_limit_and_clamped_above(void **state) {
  (void)state;
  static const struct { const char *config; int rows; } cases[] = { /* of 8 bytes behind 24, in a message of one table */
      {"ws::addr=h:1;" OFF "auto_flush_bytes=1000;", 124},
      {"ws::addr=h:1;" OFF "auto_flush_bytes=14745;", 1842},
      {"ws::addr=h:1;" OFF "auto_flush_bytes=14746;", 1842}, /* 90 % of 16384, rounded down */
      {"ws::addr=h:1;" OFF, 1842},
  };
  for (size_t c = 0; c < 4; c++) {
    struct lw w;
    struct qwp_error err;
    qwp_sender *s = opened(&w, CAP(16384), cases[c].config);
    int rows = 0;
    while (metrics(s).snd_frames == 0) {
      assert_true(qwp_table(s, "t", &err) && qwp_long(s, "v", rows, &err) && qwp_at_now(s, &err));
      rows++;
    }
    assert_int_equal(rows, cases[c].rows);
    closed(&w, s);
  }
}

static void a_row_that_finds_no_room_in_the_store_stays_open(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = opened(&w, CAP(60000), "ws::addr=h:1;auto_flush_rows=off;auto_flush_interval=off;"
                         "sf_max_segment_bytes=65536;sf_max_total_bytes=131072;sf_append_deadline_millis=100;"
                         "close_flush_timeout_millis=1000;");
  w.auto_ack = false;
  for (int i = 0; i < 3; i++) assert_true(varchar_row(s, 40000, &err)); /* two frames stored, one row waits */
  assert_false(varchar_row(s, 40000, &err));
  assert_int_equal(err.code, QWP_BACKPRESSURE);
  assert_int_equal(metrics(s).snd_rows, 3);
  assert_false(qwp_sender_flush(s, NULL, &err));
  assert_int_equal(err.code, QWP_MISUSE); /* the row is open */
  lw_ok(&w, 0, 1);
  w.auto_ack = true;
  w.conns[0].acked_frames = 2;
  assert_true(qwp_at_us(s, 2, &err) || err.code == QWP_TYPE);
  assert_true(qwp_at_ns(s, 2, &err));
  assert_int_equal(metrics(s).snd_rows, 4);
  assert_true(qwp_sender_drain(s, 1000, &err));
  assert_int_equal(qwp_sender_acked_fsn(s), 3);
  closed(&w, s);
}

/* ---- what is refused, and the way on --------------------------------------------------------- */

static void a_cancelled_symbol_is_never_sent(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = opened(&w, CAP(16384), "ws::addr=h:1;" OFF);
  char symbol[9001];
  memset(symbol, 's', sizeof symbol - 1);
  symbol[sizeof symbol - 1] = '\0';
  assert_true(symbol_row(s, "first", &err));
  for (int i = 0; i < 2; i++) { /* each fits, together they never would */
    symbol[0] = (char)('a' + i);
    assert_true(qwp_table(s, "t", &err) && qwp_symbol(s, "sym", symbol, &err));
    assert_int_equal(metrics(s).snd_symbols, 2);
    qwp_cancel_row(s);
    assert_int_equal(metrics(s).snd_symbols, 1);
  }
  assert_true(symbol_row(s, "second", &err));
  assert_true(qwp_sender_drain(s, 0, &err));
  assert_int_equal(metrics(s).snd_symbols, 2);
  size_t n = 0;
  uint8_t *message = lw_frame(&w.conns[0], 0, &n, NULL);
  struct qwp_delta_view delta;
  assert_int_equal(qwp_message_delta(message, n, &delta), QWP_OK);
  assert_int_equal(delta.count, 2);
  assert_memory_equal(delta.entries, "\5first\6second", 13);
  free(message);
  closed(&w, s);
}

static void a_row_whose_symbols_are_too_large_together_leaves_nothing(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = opened(&w, CAP(16384), "ws::addr=h:1;" OFF);
  assert_true(symbol_row(s, "first", &err));
  assert_true(qwp_table(s, "t", &err));
  assert_true(qwp_symbol_n(s, "sym", text, 9000, &err) && qwp_symbol_n(s, "other", text, 9001, &err));
  assert_false(qwp_at_ns(s, 1, &err));
  assert_int_equal(err.code, QWP_TOO_LARGE);
  assert_int_equal(metrics(s).snd_symbols, 1);
  assert_int_equal(metrics(s).snd_pending_rows, 1);
  assert_true(symbol_row(s, "second", &err));
  assert_true(qwp_sender_drain(s, 0, &err));
  closed(&w, s);
}

static void a_symbol_over_the_cap_leaves_the_row_as_it_was(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = opened(&w, CAP(16384), "ws::addr=h:1;" OFF);
  assert_true(qwp_table(s, "t", &err) && qwp_long(s, "v", 1, &err));
  assert_true(qwp_symbol_n(s, "sym", text, 16384 - 12 - 2 - 2, &err)); /* header, start and count, length */
  qwp_cancel_row(s);
  assert_true(qwp_table(s, "t", &err) && qwp_long(s, "v", 1, &err));
  assert_false(qwp_symbol_n(s, "sym", text, 16384 - 12 - 2 - 1, &err));
  assert_int_equal(err.code, QWP_TOO_LARGE);
  assert_string_equal(err.key, "sym");
  assert_int_equal(metrics(s).snd_symbols, 0);
  assert_true(qwp_symbol(s, "sym", "small", &err) && qwp_at_ns(s, 1, &err));
  assert_true(qwp_sender_drain(s, 0, &err));
  closed(&w, s);
}

static void a_message_over_the_cap_is_kept_until_it_is_discarded(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = opened(&w, CAP(1000), "ws::addr=h:1;" OFF "auto_flush_bytes=off;");
  for (int i = 0; i < 3; i++) assert_true(varchar_row(s, 400, &err));
  for (int i = 0; i < 2; i++) {
    assert_false(qwp_sender_flush(s, NULL, &err));
    assert_int_equal(err.code, QWP_TOO_LARGE);
    assert_false(err.in_doubt);
  }
  assert_int_equal(metrics(s).snd_pending_rows, 3);
  assert_int_equal(metrics(s).ring_published, -1);
  assert_true(qwp_table(s, "t", &err) && qwp_symbol(s, "sym", "gone", &err));
  assert_int_equal(qwp_sender_discard_pending(s), 3);
  assert_int_equal(metrics(s).snd_pending_rows, 0);
  assert_int_equal(metrics(s).snd_pending_bytes, 0);
  assert_int_equal(metrics(s).snd_symbols, 0);
  assert_int_equal(qwp_sender_discard_pending(s), 0);
  assert_true(varchar_row(s, 400, &err));
  assert_true(qwp_sender_drain(s, 0, &err));
  assert_int_equal(qwp_sender_acked_fsn(s), 0);
  closed(&w, s);
}

static void close_tells_of_rows_that_cannot_be_flushed(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  qwp_sender *s = opened(&w, CAP(1000), "ws::addr=h:1;" OFF "auto_flush_bytes=off;");
  for (int i = 0; i < 3; i++) assert_true(varchar_row(s, 400, &err));
  assert_false(qwp_sender_close(s, &err));
  assert_int_equal(err.code, QWP_TOO_LARGE);
  lw_forget(&w);
}

/* ---- without a log function ------------------------------------------------------------------ */

static void obs_002_without_a_function_warnings_go_to_stderr(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  char said[512] = "";
  int before = dup(STDERR_FILENO);
  FILE *file = tmpfile();
  assert_true(before >= 0 && file);
  dup2(fileno(file), STDERR_FILENO);
  lw_world(&w);
  w.refuse = 1;
  struct qwp_sender_options o = {.ops = &w.ops, .driver = &w.driver};
  qwp_sender *s = qwp_sender_create("ws::addr=h:1;initial_connect_retry=sync;", &o, &err);
  bool closed_well = s && qwp_sender_close(s, &err);
  fflush(stderr);
  dup2(before, STDERR_FILENO);
  close(before);
  rewind(file);
  size_t n = fread(said, 1, sizeof said - 1, file);
  fclose(file);
  assert_true(closed_well);
  assert_memory_equal(said, "qwp: no endpoint could be reached, ", 35);
  assert_ptr_equal(strchr(said, '\n'), said + n - 1); /* one line: what went well is not told */
  lw_forget(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_carry_rows_of_any_size),
      cmocka_unit_test(a_set_size_is_kept_below_the_limit_and_clamped_above),
      cmocka_unit_test(a_row_that_finds_no_room_in_the_store_stays_open),
      cmocka_unit_test(a_cancelled_symbol_is_never_sent),
      cmocka_unit_test(a_row_whose_symbols_are_too_large_together_leaves_nothing),
      cmocka_unit_test(a_symbol_over_the_cap_leaves_the_row_as_it_was),
      cmocka_unit_test(a_message_over_the_cap_is_kept_until_it_is_discarded),
      cmocka_unit_test(close_tells_of_rows_that_cannot_be_flushed),
      cmocka_unit_test(obs_002_without_a_function_warnings_go_to_stderr),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
