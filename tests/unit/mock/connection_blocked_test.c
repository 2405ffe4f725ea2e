/* connection: a socket that does not take everything. */
#include "connection_kit.h"

static void a_blocked_answer_leaves_later_and_whole(struct rig *r, struct rig_peer *p) {
  (void)r;
  p->room = 5;
  rig_row(&b, 0, 1);
  send_all(p);
  assert_int_equal(p->out_n, 5);
  assert_false(p->paused); /* it goes on reading */
  rig_row(&b, 0, 2);
  rig_frame(&b, 0x89, "x", 1); /* no Pong while an answer is blocked */
  send_all(p);
  assert_int_equal(p->out_n, 5);
  rig_writable(p, 3);
  assert_int_equal(p->out_n, 8);
  rig_writable(p, SIZE_MAX);
  assert_string_equal(rig_said(p), "ok(0) ok(1)");
}

static void with_blocking_acks_nothing_is_read_meanwhile(void **state) {
  (void)state;
  struct mock_script s = {.blocking_acks = true};
  struct rig r;
  rig_start(&r, &s);
  struct rig_peer *p = rig_client(&r);
  p->room = 5;
  rig_row(&b, 0, 1);
  send_all(p);
  assert_true(p->paused);
  rig_row(&b, 0, 2);
  mock_received(p->conn, b.p, b.n); /* a transport that had read on all the same */
  b.n = 0;
  assert_int_equal(rig_facts(&r).frames, 1);
  rig_writable(p, SIZE_MAX);
  assert_false(p->paused);
  assert_int_equal(rig_facts(&r).frames, 2);
  assert_string_equal(rig_said(p), "ok(0) ok(1)");
  rig_stop(&r);
}

static void a_close_is_queued_behind_a_blocked_answer(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  p->room = 5;
  rig_row(&b, 0, 1);
  send_all(p);
  rig_frame(&b, 0x81, "text", 4);
  send_all(p);
  assert_false(p->closed);
  rig_writable(p, SIZE_MAX);
  assert_string_equal(rig_said(p), "ok(0) close 1003");
  assert_true(p->closed);
  rig_stop(&r);

  rig_start(&r, NULL); /* the peer's own Close gets no answer then, only the end */
  p = rig_client(&r);
  p->room = 5;
  rig_row(&b, 0, 1);
  rig_row(&b, 0, 2);
  send_all(p);
  rig_frame(&b, 0x88, "\x03\xe8", 2);
  send_all(p);
  rig_writable(p, SIZE_MAX);
  assert_string_equal(rig_said(p), "ok(1)");
  assert_true(p->closed);
  rig_stop(&r);
}

static void a_write_that_fails_ends_the_connection(struct rig *r, struct rig_peer *p) {
  p->gone = true;
  rig_row(&b, 0, 1);
  send_all(p);
  assert_true(p->reset);
  assert_string_equal(rig_conn(r, 1).end, "gone");
  assert_int_equal(rig_facts(r).rows, 1);
}

static void unsent_answers_stop_the_reading_at_a_bound(void **state) {
  (void)state;
  struct mock_entry e = {.connection = MOCK_ANY, .ack = MOCK_ACK_EACH};
  struct mock_script s = {.entries = &e, .entry_count = 1};
  struct rig r;
  rig_start_with(&r, &s, MOCK_ROWS_COUNT, MOCK_JOURNAL_OFF);
  struct rig_peer *p = rig_client(&r);
  p->room = 0;
  rig_row(&b, 0, 1);
  send_all(p);
  size_t passes = 0;
  /* 1 600 OKs of 24 bytes a pass: 64 MiB are passed after 1 748 of them. */
  for (int i = 0; i < 1600; i++) rig_row(&b, 0, i);
  while (!p->paused && passes < 20000) {
    rig_feed(p, b.p, b.n);
    passes++;
  }
  b.n = 0;
  assert_true(p->paused);
  assert_int_equal(passes, 1748);
  rig_writable(p, SIZE_MAX);
  assert_false(p->paused);
  rig_stop(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      conn_test(a_blocked_answer_leaves_later_and_whole),
      cmocka_unit_test(with_blocking_acks_nothing_is_read_meanwhile),
      cmocka_unit_test(a_close_is_queued_behind_a_blocked_answer),
      conn_test(a_write_that_fails_ends_the_connection),
      cmocka_unit_test(unsent_answers_stop_the_reading_at_a_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
