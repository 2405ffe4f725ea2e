#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "qwp/ops.h"
#include "sim/prng.h"
#include "sim/stream.h"

static uint8_t byte_at(uint64_t position) { return (uint8_t)(position * 31 + (position >> 8)); }

static void bytes_keep_order_through_wraps_and_growth(void **state) {
  (void)state;
  struct stream st;
  struct prng random;
  uint8_t buf[20000];
  stream_init(&st, 30000, 20000); /* not powers of two */
  prng_init(&random, 7, 0);
  uint64_t put = 0, got = 0;
  for (int round = 0; round < 20000; round++) {
    size_t n = (size_t)prng_upto(&random, 3000);
    for (size_t i = 0; i < n; i++) buf[i] = byte_at(put + i);
    size_t room = stream_room(&st);
    long taken = stream_write(&st, buf, n, 0);
    assert_int_equal(taken, n < room ? n : room);
    put += (uint64_t)taken;
    if (stream_due(&st) == 0) stream_deliver(&st, (size_t)prng_upto(&random, 4000), 0);
    size_t read = stream_take(&st, buf, (size_t)prng_upto(&random, 3000));
    for (size_t i = 0; i < read; i++) assert_int_equal(buf[i], byte_at(got + i));
    got += read;
    assert_true(stream_unread(&st) <= 20000);
    assert_int_equal(stream_room(&st), 30000 - (st.written - st.arrived));
  }
  assert_true(got > 10000000);
  stream_free(&st);
}

static void bytes_are_due_when_their_delay_has_passed(void **state) {
  (void)state;
  struct stream st;
  stream_init(&st, 100, 100);
  assert_int_equal(stream_due(&st), QWP_NEVER);
  stream_write(&st, (const uint8_t *)"abc", 3, 10);
  stream_write(&st, (const uint8_t *)"defg", 4, 25);
  stream_finish(&st, 25);
  assert_int_equal(stream_due(&st), 10);
  assert_int_equal(stream_deliver(&st, SIZE_MAX, 10), STREAM_BYTES);
  assert_int_equal(stream_unread(&st), 3);
  assert_int_equal(stream_due(&st), 25);
  assert_int_equal(stream_deliver(&st, 1, 25), STREAM_BYTES);
  assert_int_equal(stream_unread(&st), 4);
  assert_int_equal(stream_deliver(&st, SIZE_MAX, 25), STREAM_BYTES);
  assert_int_equal(stream_deliver(&st, SIZE_MAX, 25), STREAM_FIN);
  assert_int_equal(stream_due(&st), QWP_NEVER);
  assert_int_equal(stream_unread(&st), 7);
  stream_free(&st);
}

static void a_full_receiver_holds_bytes_back(void **state) {
  (void)state;
  struct stream st;
  uint8_t buf[64] = {0};
  stream_init(&st, 20, 10);
  assert_int_equal(stream_write(&st, buf, 30, 0), 20);
  assert_int_equal(stream_write(&st, buf, 30, 0), 0);
  stream_deliver(&st, SIZE_MAX, 0);
  assert_int_equal(stream_due(&st), QWP_NEVER); /* the receive buffer is full */
  assert_int_equal(stream_room(&st), 10);
  assert_int_equal(stream_take(&st, buf, 4), 4);
  assert_int_equal(stream_due(&st), 0);
  stream_free(&st);
}

static void an_abort_keeps_what_the_window_has_let_out(void **state) {
  (void)state;
  struct stream st;
  uint8_t buf[64] = {0};
  stream_init(&st, 100, 10);
  assert_int_equal(stream_write(&st, buf, 25, 5), 25);
  stream_finish(&st, 5);
  stream_abort(&st, 5); /* 10 of 25 bytes have left; the FIN behind the rest has not */
  assert_int_equal(stream_due(&st), 5);
  assert_int_equal(stream_deliver(&st, SIZE_MAX, 5), STREAM_BYTES);
  assert_int_equal(stream_unread(&st), 10);
  assert_int_equal(stream_deliver(&st, SIZE_MAX, 5), STREAM_RST);
  assert_int_equal(stream_due(&st), QWP_NEVER);
  assert_false(st.fin_arrived);
  stream_free(&st);
}

static void a_purge_leaves_the_arrived(void **state) {
  (void)state;
  struct stream st;
  uint8_t buf[64] = {0};
  stream_init(&st, 100, 100);
  stream_write(&st, buf, 5, 0);
  stream_deliver(&st, SIZE_MAX, 0);
  stream_write(&st, buf, 7, 0);
  stream_finish(&st, 0);
  stream_purge(&st);
  assert_int_equal(stream_due(&st), QWP_NEVER);
  assert_int_equal(stream_unread(&st), 5);
  assert_int_equal(stream_room(&st), 100);
  stream_free(&st);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_keep_order_through_wraps_and_growth),
      cmocka_unit_test(bytes_are_due_when_their_delay_has_passed),
      cmocka_unit_test(a_full_receiver_holds_bytes_back),
      cmocka_unit_test(an_abort_keeps_what_the_window_has_let_out),
      cmocka_unit_test(a_purge_leaves_the_arrived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
