/* summary: what is told at the end, and what is left out because it would say nothing. */
#include "../../testlib/mock_rig.h"

#include "lws/summary.h"

static char told[8192];

/* One connection sends `n` bytes of frames, the summary is printed for a person and as JSON. */
static void run(enum mock_rows rows, const uint8_t *frames, size_t n, bool json) {
  struct rig r;
  rig_start_with(&r, NULL, rows, MOCK_JOURNAL_OFF);
  struct rig_peer *p = rig_connect(&r);
  rig_feed(p, RIG_WRITE_HEAD, sizeof RIG_WRITE_HEAD - 1);
  rig_feed(p, frames, n);
  FILE *f = tmpfile();
  assert_non_null(f);
  if (json) assert_true(summary_json(f, r.m, rows));
  else summary_print(f, r.m);
  rewind(f);
  told[fread(told, 1, sizeof told - 1, f)] = '\0';
  fclose(f);
  rig_stop(&r);
}

static void has(const char *text) {
  if (!strstr(told, text)) fail_msg("no '%s' in: %s", text, told);
}

static void has_not(const char *text) {
  if (strstr(told, text)) fail_msg("'%s' in: %s", text, told);
}

static void rows_with_a_number_are_told_apart(void **state) {
  (void)state;
  struct rig_bytes b = {0};
  rig_row(&b, 0, 0);
  rig_row(&b, 0, 1);
  rig_row(&b, 0, 1);
  run(MOCK_ROWS_FULL, b.p, b.n, false);
  has("\nrows 3 (unique 2, doubled 1, rolled back 0) in 3 commits\n");
}

/* The rows of a foreign client: nobody knows which of them are the same. */
static void rows_without_one_are_not(void **state) {
  (void)state;
  struct rig_bytes b = {0};
  uint8_t message[64];
  const size_t n = rig_message(message, 0, 7);
  assert_memory_equal(message + 18, "\2id", 3);
  message[19] = 'x'; /* xd: a column of their own */
  rig_frame(&b, 0x82, message, n);
  run(MOCK_ROWS_FULL, b.p, b.n, false);
  has("\nrows 1 (rolled back 0) in 1 commits\n");
}

static void a_digest_is_told_only_where_one_was_made(void **state) {
  (void)state;
  struct rig_bytes b = {0};
  rig_row(&b, 0, 7);
  run(MOCK_ROWS_DIGEST, b.p, b.n, true);
  has("\"rows\":1,\"columns\":2,\"digest\":\"");
  has_not("\"digest\":\"0000000000000000\"");
  run(MOCK_ROWS_FULL, b.p, b.n, true);
  has("\"rows\":1,\"columns\":2}");
  run(MOCK_ROWS_COUNT, b.p, b.n, true);
  has("\"rows\":1,\"columns\":2}");
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(rows_with_a_number_are_told_apart),
    cmocka_unit_test(rows_without_one_are_not),
    cmocka_unit_test(a_digest_is_told_only_where_one_was_made),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
