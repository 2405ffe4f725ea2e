/* The receive buffer alone: cursors, the one move, growth and its limit. */
#include "ws/rx.h"

#include "ws_fixture.h"

struct rxf {
  struct sn sn;
  struct qwp_ws_counters counters;
  struct qwp_rx rx;
};

static void rxf_new(struct rxf *f, size_t initial, size_t max) {
  memset(f, 0, sizeof *f);
  sn_init(&f->sn);
  qwp_rx_init(&f->rx, &f->sn.ops, initial, max, &f->counters);
}

static void rxf_del(struct rxf *f) {
  qwp_rx_free(&f->rx);
  sn_free_all(&f->sn);
}

static void consuming_all_rewinds_without_a_move(void **state) {
  (void)state;
  struct rxf f;
  rxf_new(&f, 16, 64);
  assert_int_equal(qwp_rx_make_room(&f.rx), QWP_OK);
  sn_feed(&f.sn, "0123456789", 10);
  assert_int_equal(qwp_rx_recv(&f.rx, 7), 10);
  qwp_rx_consume(&f.rx, 4);
  assert_int_equal(f.rx.head, 4);
  qwp_rx_consume(&f.rx, 6);
  assert_int_equal(f.rx.head, 0);
  assert_int_equal(f.rx.tail, 0);
  qwp_rx_compact(&f.rx);
  assert_int_equal(f.counters.rx_moves, 0);
  assert_memory_equal(f.rx.data, "0123456789", 10); /* readable until the next recv */
  rxf_del(&f);
}

static void a_partial_tail_moves_once(void **state) {
  (void)state;
  struct rxf f;
  rxf_new(&f, 16, 64);
  assert_int_equal(qwp_rx_make_room(&f.rx), QWP_OK);
  sn_feed(&f.sn, "0123456789", 10);
  assert_int_equal(qwp_rx_recv(&f.rx, 7), 10);
  qwp_rx_consume(&f.rx, 7);
  qwp_rx_compact(&f.rx);
  qwp_rx_compact(&f.rx); /* nothing to do */
  assert_int_equal(f.counters.rx_moves, 1);
  assert_int_equal(f.counters.rx_moved_bytes, 3);
  assert_int_equal(f.rx.tail, 3);
  assert_memory_equal(f.rx.data, "789", 3);
  rxf_del(&f);
}

static void growth_doubles_up_to_the_maximum(void **state) {
  (void)state;
  struct rxf f;
  rxf_new(&f, 16, 40);
  static const size_t caps[] = {16, 32, 40};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(qwp_rx_make_room(&f.rx), QWP_OK);
    assert_int_equal(f.rx.cap, caps[i]);
    assert_int_equal(f.counters.rx_capacity, caps[i]);
    assert_int_equal(f.counters.rx_grows, i);
    sn_feed(&f.sn, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", caps[i] - f.rx.tail);
    assert_true(qwp_rx_recv(&f.rx, 7) > 0);
  }
  assert_int_equal(qwp_rx_make_room(&f.rx), QWP_TOO_LARGE);
  assert_int_equal(f.rx.cap, 40);
  qwp_rx_reset(&f.rx);
  assert_int_equal(qwp_rx_make_room(&f.rx), QWP_OK);
  assert_int_equal(f.rx.cap, 40); /* never shrinks */
  rxf_del(&f);
}

static void out_of_memory_changes_nothing(void **state) {
  (void)state;
  struct rxf f;
  rxf_new(&f, 4, 64);
  f.sn.fail_alloc = 1;
  assert_int_equal(qwp_rx_make_room(&f.rx), QWP_NOMEM);
  assert_int_equal(qwp_rx_make_room(&f.rx), QWP_OK);
  sn_feed(&f.sn, "abcdefgh", 8);
  assert_int_equal(qwp_rx_recv(&f.rx, 7), 4);
  f.sn.fail_alloc = 1;
  assert_int_equal(qwp_rx_make_room(&f.rx), QWP_NOMEM);
  assert_memory_equal(f.rx.data, "abcd", 4);
  assert_int_equal(qwp_rx_make_room(&f.rx), QWP_OK);
  assert_int_equal(qwp_rx_recv(&f.rx, 7), 4);
  assert_memory_equal(f.rx.data, "abcdefgh", 8);
  assert_int_equal(f.counters.rx_grows, 1);
  rxf_del(&f);
}

static void results_of_recv(void **state) {
  (void)state;
  struct rxf f;
  rxf_new(&f, 16, 64);
  assert_int_equal(qwp_rx_make_room(&f.rx), QWP_OK);
  sn_feed(&f.sn, "ab", 2);
  f.sn.recvs = SN_SCRIPT(-EINTR, -EINTR, 2, -EAGAIN, -ECONNRESET, 0);
  assert_int_equal(qwp_rx_recv(&f.rx, 7), 2); /* an interrupted call is made again at once */
  assert_int_equal(sn_count(&f.sn, 'r'), 3);
  assert_int_equal(sn_count(&f.sn, 'w'), 0);
  assert_int_equal(qwp_rx_recv(&f.rx, 7), -EAGAIN);
  assert_int_equal(qwp_rx_recv(&f.rx, 7), -ECONNRESET);
  assert_int_equal(qwp_rx_recv(&f.rx, 7), 0);
  assert_int_equal(f.rx.tail, 2);
  rxf_del(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(consuming_all_rewinds_without_a_move), cmocka_unit_test(a_partial_tail_moves_once),
      cmocka_unit_test(growth_doubles_up_to_the_maximum),     cmocka_unit_test(out_of_memory_changes_nothing),
      cmocka_unit_test(results_of_recv),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
