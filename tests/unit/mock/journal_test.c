/* journal: its lines, word for word, and their order. */
#include "../../testlib/mock_rig.h"

#include "core/hash.h"
#include "core/journal.h"

static struct rig_bytes b;

#define AT "{\"t_ns\":1000000,\"side\":\"srv\""

static void a_conversation_reads_like_this(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  rig_row(&b, 0x01, 5);
  rig_row(&b, 0x20, 6); /* a reserved flag bit */
  rig_frame(&b, 0x89, "hey", 3);
  rig_frame(&b, 0x82, "bad", 3);
  rig_row(&b, 0, 7);
  rig_frame(&b, 0x8A, "", 0);
  rig_frame(&b, 0x88, "\x03\xe8" "bye", 5);
  rig_feed(p, b.p, b.n);
  b.n = 0;

  /* The hashes and the text of the violation are other modules' business. */
  char want[4096];
  uint8_t m[3][64];
  size_t n = rig_message(m[0], 0x01, 5);
  rig_message(m[1], 0x20, 6);
  rig_message(m[2], 0, 7);
  const struct mock_violation *v = mock_violation_at(r.m, 0);
  assert_non_null(v);
  snprintf(want, sizeof want,
    "{\"journal\":\"qwp-mock\",\"version\":1,\"profile\":\"doc\",\"rows\":\"full\",\"level\":\"full\"}\n"
    AT ",\"conn\":0,\"link\":1,\"event\":\"accept\"}\n"
    AT ",\"conn\":1,\"link\":1,\"event\":\"upgrade\",\"status\":101,\"path\":\"/write/v4\"}\n"
    AT ",\"conn\":1,\"link\":1,\"event\":\"frame\",\"seq\":0,\"flags\":9,\"tables\":1,\"rows\":1,\"bytes\":31"
      ",\"hash\":\"%016llx\",\"fate\":\"deferred\"}\n"
    AT ",\"conn\":1,\"link\":1,\"event\":\"violation\",\"requirement\":\"%s\",\"seq\":1,\"offset\":%lld"
      ",\"text\":\"%s\"}\n"
    AT ",\"conn\":1,\"link\":1,\"event\":\"frame\",\"seq\":1,\"flags\":40,\"tables\":1,\"rows\":1"
      ",\"bytes\":31,\"hash\":\"%016llx\",\"fate\":\"ok\"}\n"
    AT ",\"conn\":1,\"link\":1,\"event\":\"reply\",\"kind\":\"ok\",\"seq\":1,\"tables\":1}\n"
    AT ",\"conn\":1,\"link\":1,\"event\":\"ping\",\"bytes\":3}\n"
    AT ",\"conn\":1,\"link\":1,\"event\":\"frame\",\"seq\":2,\"flags\":0,\"tables\":0,\"rows\":0,\"bytes\":3"
      ",\"hash\":\"%016llx\",\"fate\":\"refused\"}\n"
    AT ",\"conn\":1,\"link\":1,\"event\":\"reply\",\"kind\":\"error\",\"seq\":2,\"status\":5}\n"
    AT ",\"conn\":1,\"link\":1,\"event\":\"frame\",\"seq\":3,\"flags\":8,\"tables\":1,\"rows\":0,\"bytes\":31"
      ",\"hash\":\"%016llx\",\"fate\":\"dropped\"}\n"
    AT ",\"conn\":1,\"link\":1,\"event\":\"pong\",\"bytes\":0}\n"
    AT ",\"conn\":1,\"link\":1,\"event\":\"close\",\"from\":\"peer\",\"code\":1000,\"reason\":\"bye\"}\n"
    AT ",\"conn\":1,\"link\":1,\"event\":\"close\",\"from\":\"mock\",\"code\":1000}\n"
    AT ",\"conn\":1,\"link\":1,\"event\":\"end\",\"how\":\"close 1000\",\"unmatched\":0}\n",
    (unsigned long long)mock_hash_bytes(m[0], n), v->requirement, (long long)v->offset, v->text,
    (unsigned long long)mock_hash_bytes(m[1], n), (unsigned long long)mock_hash_bytes("bad", 3),
    (unsigned long long)mock_hash_bytes(m[2], n));
  assert_string_equal(r.journal, want);
  rig_stop(&r);
}

static void a_summary_has_no_frames_and_off_has_nothing(void **state) {
  (void)state;
  struct rig r;
  rig_start_with(&r, NULL, MOCK_ROWS_COUNT, MOCK_JOURNAL_SUMMARY);
  struct rig_peer *p = rig_client(&r);
  rig_row(&b, 0, 1);
  rig_frame(&b, 0x89, "", 0);
  rig_feed(p, b.p, b.n);
  b.n = 0;
  rig_eof(p, true);
  assert_string_equal(r.journal,
    "{\"journal\":\"qwp-mock\",\"version\":1,\"profile\":\"doc\",\"rows\":\"count\",\"level\":\"summary\"}\n"
    AT ",\"conn\":0,\"link\":1,\"event\":\"accept\"}\n"
    AT ",\"conn\":1,\"link\":1,\"event\":\"upgrade\",\"status\":101,\"path\":\"/write/v4\"}\n"
    AT ",\"conn\":1,\"link\":1,\"event\":\"end\",\"how\":\"reset\",\"unmatched\":0}\n");
  rig_stop(&r);

  rig_start_with(&r, NULL, MOCK_ROWS_COUNT, MOCK_JOURNAL_OFF);
  rig_client(&r);
  assert_int_equal(r.journal_n, 0);
  rig_stop(&r);
}

/* ---- written before the reply leaves ------------------------------------------------------- */

static struct rig *watched;
static size_t journal_at_write, journal_at_flush;

static void note_flush(void *ctx) { journal_at_flush = ((struct rig *)ctx)->journal_n; }

static long watching_write(void *ctx, void *peer, const uint8_t *p, size_t n) {
  journal_at_write = watched->journal_n;
  assert_int_equal(journal_at_flush, journal_at_write); /* nothing given is still in somebody's buffer */
  return rig_write(ctx, peer, p, n);
}

static void a_line_is_there_before_its_reply_leaves(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  mock_del(r.m);
  r.journal_n = 0;
  watched = &r;
  struct mock_options o = {.clock = {&r, rig_now, rig_wall},
                           .transport = {.ctx = &r, .write = watching_write, .shutdown = rig_shutdown,
                               .close = rig_close, .reset = rig_reset, .pause = rig_pause, .wake_at = rig_wake_at,
                               .listen = rig_listen, .limit_read = rig_limit_read},
                           .journal = MOCK_JOURNAL_FULL, .journal_hex = true, .journal_line = rig_line,
                               .journal_flush = note_flush, .journal_ctx = &r};
  r.m = mock_new(&o);
  struct rig_peer *p = rig_client(&r);
  rig_row(&b, 0, 1);
  rig_feed(p, b.p, b.n);
  b.n = 0;
  r.journal[journal_at_write] = '\0';
  const char *frame = strstr(r.journal, "\"event\":\"frame\""), *reply = strstr(r.journal, "\"event\":\"reply\"");
  assert_non_null(frame);
  assert_non_null(reply);
  assert_true(frame < reply);
  assert_non_null(strstr(frame, "\"hex\":\"515750310108")); /* the payload, since it was asked for */
  rig_stop(&r);
}

static void a_rule_follows_the_frame_it_fired_at(void **state) {
  (void)state;
  struct mock_rule rule = {.line = 9, .trigger = MOCK_AT_FRAME, .n = 1, .action = MOCK_DO_RESET};
  struct mock_entry e = {.line = 8, .connection = 1, .rules = &rule, .rule_count = 1};
  struct mock_script s = {.entries = &e, .entry_count = 1};
  struct rig r;
  rig_start(&r, &s);
  struct rig_peer *p = rig_client(&r);
  rig_row(&b, 0, 1);
  rig_feed(p, b.p, b.n);
  b.n = 0;
  const char *frame = strstr(r.journal, "\"fate\":\"unprocessed\"");
  assert_non_null(frame);
  const char *rule_at = strstr(frame, "\"event\":\"rule\",\"line\":9,\"text\":\"reset at frame 1\"");
  assert_non_null(rule_at);
  assert_non_null(strstr(rule_at, "\"event\":\"end\",\"how\":\"script reset\""));
  rig_stop(&r);
}

/* ---- text and hash --------------------------------------------------------------------------- */

static void any_bytes_make_a_json_string(void **state) {
  (void)state;
  const struct { const char *in; size_t n; const char *out; } cases[] = {
    {"a\"b\\c", 5, "\"a\\\"b\\\\c\""},
    {"\n\0\x7f", 3, "\"\\u000a\\u0000\\u007f\""},
    {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
    {"\xff\xc3", 2, "\"\\u00ff\\u00c3\""},
    {"\xc0\xaf\xed\xa0\x80\xf5", 6, "\"\\u00c0\\u00af\\u00ed\\u00a0\\u0080\\u00f5\""},
    {"\xe0\x80\x80", 3, "\"\\u00e0\\u0080\\u0080\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct mock_out o = {0};
    mock_json_string(&o, cases[i].in, cases[i].n);
    assert_int_equal(o.n, strlen(cases[i].out));
    assert_memory_equal(o.p, cases[i].out, o.n);
    mock_out_free(&o);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_conversation_reads_like_this),
    cmocka_unit_test(a_summary_has_no_frames_and_off_has_nothing),
    cmocka_unit_test(a_line_is_there_before_its_reply_leaves),
    cmocka_unit_test(a_rule_follows_the_frame_it_fired_at),
    cmocka_unit_test(any_bytes_make_a_json_string),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
