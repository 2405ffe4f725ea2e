/* Where the socket has stopped, told at every byte of a batch: a boundary, inside a header, inside a payload. */
#include "ws_fixture.h"

/* Payloads whose frames have headers of 6, 8 and 14 bytes; an empty one has nothing behind its header. */
static const size_t payloads[] = {10, 0, 126, 65536};
static const size_t headers[] = {6, 6, 8, 14};
#define FRAMES (sizeof payloads / sizeof *payloads)

/* By the frames' sizes alone, the bytes not looked at. */
static enum qwp_ws_unsent expected(size_t taken) {
  for (size_t k = 0; k < FRAMES; k++) {
    if (taken == 0) return QWP_UNSENT_BOUNDARY;
    if (taken < headers[k]) return QWP_UNSENT_HEADER;
    if (taken < headers[k] + payloads[k]) return QWP_UNSENT_PAYLOAD;
    taken -= headers[k] + payloads[k];
  }
  return QWP_UNSENT_NONE;
}

static void stop_at(size_t taken) {
  struct fx fx;
  fx_new(&fx);
  fx_open(&fx);
  assert_int_equal(qwp_ws_unsent(fx.ws), QWP_UNSENT_NONE);
  uint8_t *p = sn_grow(NULL, 65536);
  memset(p, 0, 65536);
  for (size_t k = 0; k < FRAMES; k++)
    assert_int_equal(qwp_ws_append(fx.ws, QWP_WS_BINARY, p, payloads[k], NULL), QWP_OK);
  free(p);
  const long results[] = {(long)taken, -EAGAIN};
  fx.sn.sends = (struct sn_script){.results = taken ? results : results + 1, .count = taken ? 2 : 1};
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_AGAIN);
  assert_int_equal(qwp_ws_unsent(fx.ws), expected(taken));
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_OK);
  assert_int_equal(qwp_ws_unsent(fx.ws), QWP_UNSENT_NONE);
  fx_del(&fx);
}

static void at_each_byte_of_a_batch(void **state) {
  (void)state;
  for (size_t taken = 0; taken < 6 + 10 + 6 + 8 + 126 + 14 + 20; taken++) stop_at(taken);
  stop_at(6 + 10 + 6 + 8 + 126 + 14 + 65535); /* all but the last byte */
}

static void a_control_frame_is_half_out(void **state) {
  (void)state;
  struct fx fx;
  fx_new(&fx);
  fx_open(&fx);
  assert_int_equal(qwp_ws_pong(fx.ws, (const uint8_t *)"ab", 2), QWP_OK);
  assert_false(qwp_ws_control_half_out(fx.ws)); /* it only waits */
  fx.sn.sends = SN_SCRIPT(3, -EAGAIN);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_AGAIN);
  assert_true(qwp_ws_control_half_out(fx.ws));
  assert_int_equal(qwp_ws_unsent(fx.ws), QWP_UNSENT_NONE); /* it is no part of the batch */
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_OK);
  assert_false(qwp_ws_control_half_out(fx.ws));
  fx_del(&fx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(at_each_byte_of_a_batch),
      cmocka_unit_test(a_control_frame_is_half_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
