/* A connection at work: how long a step may be, and what is kept of a server's words. */
#include "base/utf8.h"
#include "loop_world.h"

/* ---- the length of a step ------------------------------------------------------------- */

static void connect_first(struct lw *w) {
  while (!qwp_loop_was_connected(w->loop)) assert_true(lw_turn(w));
  lw_run(w);
}

static void a_backlog_is_sent_in_steps_without_a_wait_between(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, "ws::addr=h:1;");
  connect_first(&w);
  lw_publish(&w, 65536, 70); /* a batch each */
  size_t waits = lw_count(&w, 'w');
  assert_true(lw_turn(&w));
  assert_int_equal(lw_count(&w, 's'), 64);
  assert_true(w.want.again);
  assert_int_equal(lw_count(&w, 'w'), waits); /* nothing is asked of the socket [P121-08] */
  assert_true(lw_turn(&w));
  assert_int_equal(lw_count(&w, 's'), 70);
  assert_false(w.want.again);
  assert_int_equal(lw_count(&w, 'w'), waits + 1);
  qwp_loop_request_close(w.loop);
  lw_run(&w);
  lw_free(&w);
}

static void publish_another(struct lw *w, int conn) {
  (void)conn;
  w->now_ns += LW_MS;
  if (w->next_fsn < 1000) lw_publish(w, 100, 1);
}

static void a_producer_that_never_pauses_does_not_hold_a_step(void **state) {
  (void)state;
  struct lw w;
  lw_init(&w, "ws::addr=h:1;");
  connect_first(&w);
  w.on_data = publish_another;
  int64_t begin_ns = w.now_ns;
  lw_publish(&w, 100, 1);
  assert_true(lw_turn(&w));
  assert_int_equal(w.next_fsn, 65);
  assert_int_equal(w.now_ns - begin_ns, 64 * LW_MS);
  lw_run(&w);
  assert_int_equal(lw_frames(&w.conns[0]), 1000);
  qwp_loop_request_close(w.loop);
  lw_run(&w);
  lw_free(&w);
}

/* ---- a server's words ------------------------------------------------------------------ */

static struct qwp_error refused_with(const char *text, size_t n) {
  struct lw w;
  struct qwp_error err;
  lw_init(&w, "ws::addr=h:1;");
  connect_first(&w);
  lw_publish(&w, 100, 1);
  lw_run(&w);
  uint8_t *p = calloc(1, 11 + n);
  p[0] = QWP_ST_PARSE_ERROR;
  p[9] = (uint8_t)n;
  p[10] = (uint8_t)(n >> 8);
  memcpy(p + 11, text, n);
  lw_send(&w, 0, QWP_WS_BINARY, p, 11 + n);
  free(p);
  lw_run(&w);
  assert_true(qwp_loop_error(w.loop, &err));
  lw_free(&w);
  return err;
}

static void a_refusal_is_kept_up_to_1024_bytes(void **state) {
  (void)state;
  char text[2000];
  for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('a' + i % 26);
  struct qwp_error err = refused_with(text, 1024);
  const char *kept = strstr(err.text, ": ") + 2;
  assert_int_equal(strlen(kept), 1024);
  assert_memory_equal(kept, text, 1024);
  err = refused_with(text, 1025);
  assert_int_equal(strlen(strstr(err.text, ": ") + 2), 1024);
}

static void a_refusal_is_cut_between_characters(void **state) {
  (void)state;
  char text[2000];
  for (size_t shift = 0; shift < 3; shift++) {
    memset(text, 'x', sizeof text);
    for (size_t i = shift; i + 3 <= sizeof text; i += 3) memcpy(text + i, "\xe2\x82\xac", 3);
    struct qwp_error err = refused_with(text, sizeof text);
    const char *kept = strstr(err.text, ": ") + 2;
    assert_int_equal(strlen(kept), shift + (1024 - shift) / 3 * 3);
    assert_true(qwp_utf8_valid(err.text, strlen(err.text)));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_backlog_is_sent_in_steps_without_a_wait_between),
      cmocka_unit_test(a_producer_that_never_pauses_does_not_hold_a_step),
      cmocka_unit_test(a_refusal_is_kept_up_to_1024_bytes),
      cmocka_unit_test(a_refusal_is_cut_between_characters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
