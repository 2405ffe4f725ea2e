#include "send/inflight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct qwp_inflight f;

static void send(int frames) {
  qwp_inflight_begin(&f);
  for (int i = 0; i < frames; i++) qwp_inflight_append(&f);
  qwp_inflight_flushed(&f);
}

static void ack(int64_t seq) {
  qwp_inflight_ok(&f, seq);
  qwp_inflight_acked(&f, qwp_inflight_ackable(&f));
}

static void fsn_counts_from_the_acked_mark_without_catch_up(void **state) {
  (void)state;
  qwp_inflight_init(&f);
  send(10);
  ack(3);
  assert_int_equal(f.acked, 3);
  qwp_inflight_disconnect(&f);
  qwp_inflight_connect(&f);
  qwp_inflight_begin(&f);
  qwp_inflight_append_catchup(&f);
  qwp_inflight_append_catchup(&f);
  qwp_inflight_flushed(&f);
  assert_int_equal(qwp_inflight_next_fsn(&f), 4);
  assert_int_equal(f.next_seq, 2);
  assert_int_equal(qwp_inflight_fsn(&f, 2), 4);
  ack(1); /* of a catch-up frame */
  assert_int_equal(f.acked, 3);
  send(3);
  ack(3);
  assert_int_equal(f.acked, 5);
}

static void an_ok_is_clamped_held_and_never_goes_back(void **state) {
  (void)state;
  qwp_inflight_init(&f);
  assert_true(qwp_inflight_ok(&f, 0)); /* nothing was sent */
  assert_int_equal(qwp_inflight_ackable(&f), -1);
  send(2);
  qwp_inflight_begin(&f);
  qwp_inflight_append(&f);
  assert_false(qwp_inflight_ok(&f, 2));
  assert_int_equal(qwp_inflight_ackable(&f), 1); /* frame 2 is appended, not flushed */
  assert_true(qwp_inflight_ok(&f, INT64_MAX)); /* takes nothing from the one that is held */
  qwp_inflight_flushed(&f);
  assert_int_equal(qwp_inflight_ackable(&f), 2);
  assert_true(qwp_inflight_acked(&f, 2));
  assert_false(qwp_inflight_ok(&f, INT64_MIN));
  assert_false(qwp_inflight_ok(&f, 0));
  assert_false(qwp_inflight_acked(&f, qwp_inflight_ackable(&f)));
  assert_int_equal(f.acked, 2);
}

static void an_ok_beyond_everything_says_nothing_of_the_batch_under_way(void **state) {
  (void)state;
  qwp_inflight_init(&f);
  send(1);
  qwp_inflight_begin(&f);
  qwp_inflight_append(&f);
  qwp_inflight_append(&f);
  assert_true(qwp_inflight_ok(&f, 3)); /* the first wireSeq never appended */
  assert_int_equal(qwp_inflight_clamp(&f, 3), 0);
  assert_int_equal(qwp_inflight_clamp(&f, 2), 2); /* named: held, not clamped */
  qwp_inflight_flushed(&f);
  assert_int_equal(qwp_inflight_ackable(&f), 0);
  assert_true(qwp_inflight_ok(&f, 3)); /* now they are sent */
  assert_int_equal(qwp_inflight_ackable(&f), 2);
}

static void nothing_is_sent_before_the_catch_up_has_left(void **state) {
  (void)state;
  qwp_inflight_init(&f);
  qwp_inflight_begin(&f);
  qwp_inflight_append_catchup(&f);
  qwp_inflight_append_catchup(&f);
  assert_int_equal(qwp_inflight_clamp(&f, 9), -1);
  qwp_inflight_flushed(&f);
  assert_int_equal(qwp_inflight_clamp(&f, 9), 1);
  assert_true(qwp_inflight_ok(&f, 9));
  assert_int_equal(qwp_inflight_ackable(&f), -1);
}

static void a_rollback_undoes_the_appends(void **state) {
  (void)state;
  qwp_inflight_init(&f);
  send(8);
  qwp_inflight_disconnect(&f);
  assert_int_equal(f.replay_target, 7);
  qwp_inflight_connect(&f);
  qwp_inflight_begin(&f);
  qwp_inflight_append_catchup(&f);
  qwp_inflight_rollback(&f);
  assert_int_equal(f.next_seq, 0);
  assert_int_equal(f.catchup_frames, 0);
  qwp_inflight_begin(&f);
  for (int i = 0; i < 9; i++) qwp_inflight_append(&f);
  assert_int_equal(f.batch_replayed, 8);
  assert_int_equal(f.replay_target, -1); /* reached */
  qwp_inflight_rollback(&f);
  assert_int_equal(f.replay_target, 7);
  assert_int_equal(f.next_seq, 0);
  assert_int_equal(f.batch_frames, 0);
  qwp_inflight_disconnect(&f);
  assert_int_equal(f.replay_target, 7); /* the higher target of the earlier connection */
}

static void acks_that_pass_the_target_clear_it(void **state) {
  (void)state;
  qwp_inflight_init(&f);
  send(4);
  qwp_inflight_disconnect(&f);
  qwp_inflight_connect(&f);
  send(2);
  assert_int_equal(f.replay_target, 3);
  qwp_inflight_disconnect(&f);
  qwp_inflight_connect(&f);
  send(3);
  ack(2);
  assert_int_equal(f.replay_target, 3);
  send(1);
  ack(3);
  assert_int_equal(f.replay_target, -1);
  qwp_inflight_disconnect(&f);
  assert_int_equal(f.replay_target, -1);
}

static void a_refusal_names_data_only_in_flight(void **state) {
  (void)state;
  qwp_inflight_init(&f);
  assert_false(qwp_inflight_names_data(&f, 0));
  qwp_inflight_begin(&f);
  qwp_inflight_append_catchup(&f);
  qwp_inflight_flushed(&f);
  send(3);
  ack(1);
  const bool expect[] = {false, false, true, true, false};
  for (int i = 0; i < 5; i++) assert_int_equal(qwp_inflight_names_data(&f, i), expect[i]);
  assert_false(qwp_inflight_names_data(&f, -1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fsn_counts_from_the_acked_mark_without_catch_up),
      cmocka_unit_test(an_ok_is_clamped_held_and_never_goes_back),
      cmocka_unit_test(an_ok_beyond_everything_says_nothing_of_the_batch_under_way),
      cmocka_unit_test(nothing_is_sent_before_the_catch_up_has_left),
      cmocka_unit_test(a_rollback_undoes_the_appends),
      cmocka_unit_test(acks_that_pass_the_target_clear_it),
      cmocka_unit_test(a_refusal_names_data_only_in_flight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
