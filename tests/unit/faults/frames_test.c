#include "kit.h"

#include "frames.h"

#define STREAM_MAX 200000

static uint8_t stream[STREAM_MAX];

static struct frames_seen walk(struct frames *f, const uint8_t *p, size_t n, int64_t target) {
  struct frames_seen seen;
  frames_walk(f, p, n, target, &seen);
  return seen;
}

static void kinds_of_whole_frames(void **state) {
  (void)state;
  struct frames f = {0};
  size_t n = kit_frame(stream, 2, 30);
  struct frames_seen seen = walk(&f, stream, n, 0);
  assert_true(seen.data);
  assert_false(seen.control);
  assert_int_equal(seen.first_data, 1);
  n = kit_frame(stream, 9, 0);
  seen = walk(&f, stream, n, 0);
  assert_true(seen.control);
  assert_false(seen.data);
  assert_int_equal(seen.first_data, 0);
  n = kit_frame(stream, 2, 0); /* an empty data frame ends with its header */
  seen = walk(&f, stream, n, 0);
  assert_int_equal(seen.first_data, 2);
  assert_int_equal(f.data_frames, 2);
}

static size_t mixed_stream(size_t *third_at) {
  static const struct {
    unsigned opcode;
    size_t payload;
  } frames[] = {{2, 125}, {9, 0}, {2, 126}, {10, 125}, {2, 65535}, {8, 2}, {2, 65536}, {2, 0}};
  size_t n = 0;
  for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
    if (i == 4) *third_at = n;
    n += kit_frame(stream + n, frames[i].opcode, frames[i].payload);
    assert_true(n < STREAM_MAX);
  }
  return n;
}

static void every_length_form_in_one_run(void **state) {
  (void)state;
  size_t third_at = 0;
  size_t n = mixed_stream(&third_at);
  struct frames f = {0};
  struct frames_seen seen = walk(&f, stream, n, 3);
  assert_int_equal(f.data_frames, 5);
  assert_int_equal(f.payload_left, 0);
  assert_int_equal(f.have, 0);
  assert_int_equal(seen.target_at, third_at);
  assert_true(seen.data && seen.control);
}

static void the_same_byte_by_byte(void **state) {
  (void)state;
  size_t third_at = 0, found_at = 0;
  size_t n = mixed_stream(&third_at);
  struct frames f = {0};
  for (size_t i = 0; i < n; i++) {
    struct frames_seen seen = walk(&f, stream + i, 1, 3);
    assert_true(seen.data != seen.control); /* each byte is of one frame */
    if (seen.target_at == 0) found_at = i;
  }
  assert_int_equal(f.data_frames, 5);
  assert_int_equal(f.payload_left, 0);
  assert_int_equal(found_at, third_at);
}

static void a_frame_begun_before_is_not_found_again(void **state) {
  (void)state;
  struct frames f = {0};
  size_t n = kit_frame(stream, 2, 100);
  walk(&f, stream, 1, 0);
  struct frames_seen seen = walk(&f, stream + 1, n - 1, 1);
  assert_int_equal(seen.target_at, -1);
  assert_int_equal(seen.first_data, 0);
  assert_true(seen.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kinds_of_whole_frames),
      cmocka_unit_test(every_length_form_in_one_run),
      cmocka_unit_test(the_same_byte_by_byte),
      cmocka_unit_test(a_frame_begun_before_is_not_found_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
