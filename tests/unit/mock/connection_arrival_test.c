/* connection: how the bytes arrive makes no difference. */
#include "connection_kit.h"

#include "core/tables_internal.h"

static void thousand_messages(void) {
  for (int i = 0; i < 1000; i++) rig_row(&b, i % 7 == 3 ? 0x01 : 0, i);
}

/* The journal without what may differ: times, and the replies, whose grouping follows the passes. */
static char *frame_lines(const struct rig *r) {
  char *out = calloc(1, r->journal_n + 1), *to = out;
  assert_non_null(out);
  for (char *line = r->journal; line && *line;) {
    char *end = strchr(line, '\n');
    char *event = strstr(line, "\"event\":\"frame\"");
    if (event && event < end) {
      memcpy(to, event, (size_t)(end - event) + 1);
      to += end - event + 1;
    }
    line = end + 1;
  }
  return out;
}

static void how_frames_arrive_makes_no_difference(void **state) {
  (void)state;
  struct rig one, each, bytewise, odd;
  rig_start(&one, NULL);
  rig_start(&each, NULL);
  rig_start(&bytewise, NULL);
  rig_start(&odd, NULL);
  struct rig_peer *p[4] = {rig_client(&one), rig_client(&each), rig_client(&bytewise), rig_client(&odd)};
  thousand_messages();
  size_t frame = b.n / 1000;
  assert_int_equal(frame * 1000, b.n);
  rig_feed(p[0], b.p, b.n);
  for (size_t i = 0; i < 1000; i++) rig_feed(p[1], b.p + i * frame, frame);
  for (size_t i = 0; i < b.n; i++) rig_feed(p[2], b.p + i, 1);
  for (size_t i = 0; i < b.n; i += 53) rig_feed(p[3], b.p + i, b.n - i < 53 ? b.n - i : 53);
  b.n = 0;

  struct rig *rigs[] = {&one, &each, &bytewise, &odd};
  char *want = frame_lines(&one);
  int lines = 0;
  for (char *at = want; (at = strchr(at, '\n')) != NULL; at++) lines++;
  assert_int_equal(lines, 1000);
  for (int i = 0; i < 4; i++) {
    char *have = frame_lines(rigs[i]);
    assert_string_equal(have, want);
    free(have);
    assert_int_equal(rig_facts(rigs[i]).frames, 1000);
    assert_int_equal(rig_facts(rigs[i]).rows, 1000);
    assert_int_equal(rig_facts(rigs[i]).rows_unique, 1000);
    assert_int_equal(rig_conn(rigs[i], 1).last_ok, 999);
    assert_int_equal(mock_table_digest(mock_tables(rigs[i]->m), 0), mock_table_digest(mock_tables(one.m), 0));
  }
  assert_int_equal(rig_facts(&one).reads, 1);
  assert_int_equal(rig_facts(&each).reads, 1000);
  assert_int_equal(p[0]->writes, 1);
  assert_int_equal(rig_facts(&each).oks, 1000 - 143); /* one a pass, but none for a deferred one */
  free(want);
  for (int i = 0; i < 4; i++) rig_stop(rigs[i]);
}

/* A whole conversation byte by byte equals the same in one piece, but for the grouping of OKs. */
static void a_cut_at_every_byte_makes_no_difference(void **state) {
  (void)state;
  rig_row(&b, 0, 1);
  rig_frame(&b, 0x89, "ping", 4);
  rig_catchup(&b, 0x01, 0);
  rig_row(&b, 0, 2);
  rig_frame(&b, 0x82, "bad", 3);
  rig_row(&b, 0, 3);
  rig_frame(&b, 0x88, "\x0b\xb8", 2);
  for (size_t cut = 1; cut < b.n; cut++) {
    struct rig r;
    rig_start(&r, NULL);
    struct rig_peer *p = rig_client(&r);
    rig_feed(p, b.p, cut);
    rig_feed(p, b.p + cut, b.n - cut);
    assert_string_equal(rig_said(p), "ok(0) pong(4) ok(2) error 5(3) close 3000");
    assert_int_equal(rig_facts(&r).rows, 2);
    assert_int_equal(rig_facts(&r).violations, 0);
    assert_true(p->closed);
    rig_stop(&r);
  }
  b.n = 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(how_frames_arrive_makes_no_difference),
      cmocka_unit_test(a_cut_at_every_byte_makes_no_difference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
