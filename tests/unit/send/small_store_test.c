/* The least store that the connect string allows takes the smallest frame, and no larger one. */
#include "loop_world.h"

#include "qwp/sender.h"

static qwp_sender *opened(struct lw *w, const char *config, struct qwp_error *err) {
  lw_world(w);
  struct qwp_sender_options o = {.ops = &w->ops, .driver = &w->driver};
  return qwp_sender_create(config, &o, err);
}

static bool row(qwp_sender *s, const char *column, struct qwp_error *err) {
  return qwp_table(s, "t", err) && qwp_bool(s, column, true, err) && qwp_at_now(s, err);
}

static void the_least_segment_takes_the_smallest_frame(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  char config[256];
  const char *shape = "ws::addr=h:1;initial_connect_retry=async;auto_flush_rows=off;auto_flush_interval=off;"
                      "close_flush_timeout_millis=0;sf_max_segment_bytes=%d;sf_max_total_bytes=%d;";
  snprintf(config, sizeof config, shape, QWP_CONFIG_SEGMENT_BYTES_MIN - 1, 2 * QWP_CONFIG_SEGMENT_BYTES_MIN);
  assert_null(opened(&w, config, &err));
  assert_int_equal(err.code, QWP_CONFIG);
  assert_string_equal(err.key, "sf_max_segment_bytes");
  lw_forget(&w);

  snprintf(config, sizeof config, shape, QWP_CONFIG_SEGMENT_BYTES_MIN, 2 * QWP_CONFIG_SEGMENT_BYTES_MIN);
  qwp_sender *s = opened(&w, config, &err);
  assert_non_null(s);
  int64_t fsn;
  for (int64_t i = 0; i < 2; i++) { /* one frame a segment */
    assert_true(row(s, "c", &err));
    assert_true(qwp_sender_flush(s, &fsn, &err));
    assert_int_equal(fsn, i);
  }
  assert_false(row(s, "cd", &err));
  assert_int_equal(err.code, QWP_TOO_LARGE);
  qwp_sender_free(s);
  lw_forget(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_least_segment_takes_the_smallest_frame),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
