/* connection: framing rules, sequence numbers, the cadence of OKs, groups, errors - against the real
 * server's recorded answers where there are some, and by counting where there are none. */
#include "../../testlib/mock_rig.h"

#include "../../testlib/probes.h"
#include "core/connection.h"
#include "core/tables_internal.h"
#include "qwp/wire.h"

static struct rig_bytes b; /* what a client is about to write */

static void send_all(struct rig_peer *p) {
  rig_feed(p, b.p, b.n);
  b.n = 0;
}

/* ---- recorded answers --------------------------------------------------------------- */

/* One server frame, with the transaction numbers of an OK masked: the mock counts its own. */
static void append_frame(char **text, const uint8_t *f, size_t n) {
  size_t at = strlen(*text), header = f[1] < 126 ? 2 : 4;
  *text = realloc(*text, at + 2 * n + 8);
  assert_non_null(*text);
  bool ok = f[0] == 0x82 && n > header && f[header] == 0x00;
  size_t entry = header + 11; /* first table entry */
  at += (size_t)sprintf(*text + at, "%s%02x:", at ? " " : "", f[0]);
  if (n == header) at += (size_t)sprintf(*text + at, "-");
  for (size_t i = header; i < n; i++) {
    bool number = false;
    if (ok && i >= entry && n >= entry + 2) {
      size_t name_n = (size_t)(f[entry] | f[entry + 1] << 8);
      if (i == entry + 2 + name_n + 8) entry = i;
      name_n = entry + 2 <= n ? (size_t)(f[entry] | f[entry + 1] << 8) : 0;
      number = i >= entry + 2 + name_n;
    }
    at += (size_t)sprintf(*text + at, number ? "##" : "%02x", f[i]);
  }
}

static char *frames_text(const uint8_t *p, size_t n) {
  char *text = calloc(1, 1);
  for (size_t at = 0; at < n;) {
    size_t payload = p[at + 1] < 126 ? p[at + 1] : (size_t)p[at + 2] << 8 | p[at + 3];
    size_t whole = payload + (p[at + 1] < 126 ? 2 : 4);
    assert_true(at + whole <= n);
    append_frame(&text, p + at, whole);
    at += whole;
  }
  if (!*text) {
    text = realloc(text, 2);
    strcpy(text, "-");
  }
  return text;
}

/* The recorded text, through the same masking. */
static char *recorded_text(const char *recorded) {
  char *text = calloc(1, 1);
  while (*recorded && strcmp(recorded, "-") != 0) {
    size_t word = strcspn(recorded, " ");
    uint8_t frame[2048];
    uint8_t *payload = NULL;
    size_t payload_n = 0, header = 2;
    if (recorded[3] != '-') probe_bytes(recorded + 3, word - 3, &payload, &payload_n);
    unsigned first = 0;
    assert_int_equal(sscanf(recorded, "%2x", &first), 1);
    frame[0] = (uint8_t)first;
    frame[1] = (uint8_t)payload_n;
    if (payload_n > 125) {
      frame[1] = 126;
      frame[2] = (uint8_t)(payload_n >> 8);
      frame[3] = (uint8_t)payload_n;
      header = 4;
    }
    assert_true(payload_n + 4 <= sizeof frame);
    if (payload_n) memcpy(frame + header, payload, payload_n);
    append_frame(&text, frame, header + payload_n);
    free(payload);
    recorded += word + (recorded[word] == ' ');
  }
  if (!*text) {
    text = realloc(text, 2);
    strcpy(text, "-");
  }
  return text;
}

static void replay(const struct probe *probe, bool bytewise) {
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  for (char *at = probe->column[PROBE_SENT]; at && p->conn;) {
    char *bar = strstr(at, " | ");
    uint8_t *bytes = NULL;
    size_t n = 0, piece;
    probe_bytes(at, bar ? (size_t)(bar - at) : strlen(at), &bytes, &n);
    piece = bytewise ? 1 : n;
    for (size_t i = 0; i < n && p->conn; i += piece) rig_feed(p, bytes + i, piece);
    free(bytes);
    at = bar ? bar + 3 : NULL;
  }
  bool ended = strcmp(probe->column[PROBE_END], "EOF") == 0;
  if (p->closed != ended) fail_msg("probe '%s': closed %d, recorded %d", probe->column[PROBE_NAME], p->closed, ended);
  /* Writes a millisecond apart were not always passes of their own at the recorder. */
  bool grouped = strcmp(probe->column[PROBE_GAP], "1") == 0;
  if (!bytewise && !grouped) {
    char *said = frames_text(p->out, p->out_n), *want = recorded_text(probe->column[PROBE_FRAMES]);
    if (strcmp(said, want) != 0) fail_msg("probe '%s':\n said %s\nwanted %s", probe->column[PROBE_NAME], said, want);
    free(said);
    free(want);
  }
  rig_stop(&r);
}

static void one_probe(void *arg, const struct probe *p) {
  (void)arg;
  if (strstr(p->column[PROBE_SENT], "...") || strcmp(p->column[PROBE_SENT], "-") == 0) return;
      /* shortened by the recorder */
  replay(p, false);
  if (!strchr(p->column[PROBE_SENT], '*')) replay(p, true); /* the two-megabyte ones are slow bytewise */
}

static void every_recorded_conversation_goes_as_recorded(void **state) {
  (void)state;
  const struct { const char *group; int count; } groups[] = {{"ws", 37}, {"close", 26}, {"pipeline", 9}, {"deferred",
      15}};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    assert_int_equal(probes_each(TEST_DATA "/server-probes.tsv", groups[i].group, one_probe, NULL), groups[i].count);
}

/* ---- the table of section 2: each behind one good message ----------------------------- */

static void what_a_frame_is_answered_with(void **state) {
  (void)state;
  static const uint8_t big[126] = {0};
  const struct { unsigned first; const void *p; size_t n; const char *said; bool closed; const char *requirement,
      *end; } rows[] = {
    {0x92, "x", 1, "ok(0)", true, "MAL-ING-014", "dropped"},
    {0x83, "x", 1, "ok(0)", true, "MAL-ING-014", "dropped"},
    {0x8B, "x", 1, "ok(0)", true, "MAL-ING-014", "dropped"},
    {0x09, "x", 1, "ok(0)", true, "MAL-ING-014", "dropped"},
    {0x89, big, 126, "ok(0)", true, "MAL-ING-014", "dropped"},
    {0x88, "x", 1, "ok(0)", true, "MAL-ING-014", "dropped"},
    {0x81, "x", 1, "ok(0) close 1003", true, "WS-002", "sent close 1003"},
    {0x01, "x", 1, "ok(0) close 1003", true, "WS-002", "sent close 1003"},
    {0x02, "x", 1, "ok(0) close 1002", true, "WS-009", "sent close 1002"},
    {0x80, "x", 1, "ok(0) close 1002", true, "WS-009", "sent close 1002"},
    {0x89, big, 125, "ok(0) pong(125)", false, NULL, "open"},
    {0x8A, "x", 1, "ok(0)", false, NULL, "open"},
    {0x88, "\x03\xe8", 2, "ok(0) close 1000", true, NULL, "close 1000"},
    {0x88, "", 0, "ok(0) close 1000", true, NULL, "close without code"},
    {0x82, "", 0, "ok(1)", false, NULL, "open"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct rig r;
    rig_start(&r, NULL);
    struct rig_peer *p = rig_client(&r);
    rig_row(&b, 0, 1);
    rig_frame(&b, rows[i].first, rows[i].p, rows[i].n);
    send_all(p);
    if (strcmp(rig_said(p), rows[i].said) != 0) fail_msg("row %zu said: %s", i, rig_said(p));
    assert_int_equal(p->closed, rows[i].closed);
    assert_int_equal(p->writes, 1); /* the answers of a pass leave in one write */
    assert_int_equal(mock_violation_count(r.m), rows[i].requirement ? 1 : 0);
    if (rows[i].requirement) assert_string_equal(mock_violation_at(r.m, 0)->requirement, rows[i].requirement);
    assert_string_equal(rig_conn(&r, 1).end, rows[i].end);
    rig_stop(&r);
  }
}

static void an_unmasked_frame_ends_it_without_close(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  rig_row(&b, 0, 1);
  memcpy(b.p + b.n, "\x82\x01x", 3);
  b.n += 3;
  send_all(p);
  assert_string_equal(rig_said(p), "ok(0)");
  assert_true(p->closed);
  assert_string_equal(mock_violation_at(r.m, 0)->requirement, "WS-001");
  rig_stop(&r);
}

/* Header and payload count: header 14 for the sizes at the default bound, 6 to 14 below. */
static void the_receive_buffer_bounds_header_and_payload(void **state) {
  (void)state;
  struct mock_script s = {.recv_buffer_bytes = 200};
  for (size_t payload = 192; payload <= 193; payload++) { /* with the header of 8: 200, 201 */
    struct rig r;
    rig_start(&r, &s);
    struct rig_peer *p = rig_client(&r);
    uint8_t junk[256] = {0};
    b.n = 0;
    rig_frame(&b, 0x82, junk, payload);
    b.n = payload == 193 ? 8 : b.n; /* the payload is not awaited */
    send_all(p);
    assert_string_equal(rig_said(p), payload == 192 ? "error 5(0)" : "close 1009");
    assert_int_equal(p->closed, payload == 193);
    rig_stop(&r);
  }
}

static void an_absurd_length_is_refused_without_memory_for_it(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  rig_feed(p, "\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 14);
  assert_string_equal(rig_said(p), "close 1009");
  assert_true(p->closed);
  rig_stop(&r);
}

static void a_message_above_the_advertised_cap_is_noted(void **state) {
  (void)state;
  struct mock_entry e = {.connection = MOCK_ANY, .has_cap = true, .cap = 30};
  struct mock_script s = {.entries = &e, .entry_count = 1};
  struct rig r;
  rig_start(&r, &s);
  struct rig_peer *p = rig_client(&r);
  rig_row(&b, 0, 1); /* 31 bytes */
  send_all(p);
  assert_string_equal(rig_said(p), "ok(0)"); /* the receive buffer is what refuses */
  assert_int_equal(mock_violation_count(r.m), 1);
  assert_string_equal(mock_violation_at(r.m, 0)->requirement, "CAP-001");
  rig_stop(&r);
}

static void a_long_length_form_is_noted_and_refused_only_when_strict(void **state) {
  (void)state;
  for (int strict = 0; strict < 2; strict++) {
    struct mock_script s = {.strict_refuse = strict};
    struct rig r;
    rig_start(&r, &s);
    struct rig_peer *p = rig_client(&r);
    rig_feed(p, "\x89\xfe\x00\x01\0\0\0\0x", 9);
    assert_string_equal(rig_said(p), strict ? "close 1002" : "pong(1)");
    assert_int_equal(mock_violation_count(r.m), 1);
    assert_string_equal(mock_violation_at(r.m, 0)->requirement, "WS-003");
    rig_stop(&r);
  }
}

/* ---- cadence ----------------------------------------------------------------------------- */

static const char *after_rows(struct rig *r, const struct mock_script *s, int rows) {
  rig_start(r, s);
  struct rig_peer *p = rig_client(r);
  for (int i = 0; i < rows; i++) rig_row(&b, 0, i);
  send_all(p);
  return rig_said(p);
}

static void an_ok_is_due_after_8_and_at_the_end_of_a_pass(void **state) {
  (void)state;
  const char *want[] = {"", "ok(0)", "ok(1)", "ok(2)", "ok(3)", "ok(4)", "ok(5)", "ok(6)", "ok(7)", "ok(7) ok(8)",
                        "ok(7) ok(9)", "ok(7) ok(10)", "ok(7) ok(11)", "ok(7) ok(12)", "ok(7) ok(13)", "ok(7) ok(14)",
                        "ok(7) ok(15)", "ok(7) ok(15) ok(16)"};
  for (int n = 0; n <= 17; n++) {
    struct rig r;
    assert_string_equal(after_rows(&r, NULL, n), want[n]);
    assert_int_equal(rig_facts(&r).frames, n);
    assert_int_equal(rig_facts(&r).rows, n);
    assert_int_equal(rig_facts(&r).commits, n);
    assert_int_equal(rig_facts(&r).reads, n > 0);
    rig_stop(&r);
  }
}

static void a_ping_flushes_before_its_pong(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  rig_frame(&b, 0x89, "1", 1);
  rig_row(&b, 0, 1);
  rig_frame(&b, 0x89, "22", 2);
  rig_row(&b, 0, 2);
  send_all(p);
  assert_string_equal(rig_said(p), "pong(1) ok(0) pong(2) ok(1)");
  assert_int_equal(p->writes, 1);
  rig_stop(&r);
}

static void a_deferred_group_is_answered_when_it_closes(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  for (int i = 0; i < 20; i++) rig_row(&b, 0x01, i);
  send_all(p);
  assert_int_equal(p->out_n, 0);
  assert_int_equal(rig_facts(&r).rows, 0);
  assert_int_equal(rig_facts(&r).commits, 0);
  rig_row(&b, 0, 20);
  rig_row(&b, 0, 21); /* in the same pass: the group's OK did not wait for it */
  send_all(p);
  assert_string_equal(rig_said(p), "ok(20) ok(21)");
  assert_int_equal(rig_facts(&r).rows, 22);
  assert_int_equal(rig_facts(&r).commits, 2);
  rig_stop(&r);
}

static void a_deferred_catch_up_gets_no_ok_of_its_own(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  rig_catchup(&b, 0x01, 0);
  send_all(p);
  rig_frame(&b, 0x89, "x", 1);
  send_all(p);
  assert_string_equal(rig_said(p), "pong(1)");
  rig_row(&b, 0, 1);
  send_all(p);
  assert_string_equal(rig_said(p), "pong(1) ok(1)");
  assert_int_equal(rig_facts(&r).catchup, 1);
  assert_int_equal(rig_facts(&r).frames, 1);
  assert_int_equal(rig_conn(&r, 1).dict, 1);
  assert_int_equal(rig_conn(&r, 1).next_seq, 2);

  rig_catchup(&b, 0, 1); /* without the flag it is a message like any other */
  rig_forget(p);
  send_all(p);
  assert_string_equal(rig_said(p), "ok(2)");
  assert_int_equal(rig_conn(&r, 1).dict, 2);
  rig_stop(&r);
}

static void an_empty_message_closes_a_group(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  rig_row(&b, 0x01, 1);
  rig_frame(&b, 0x82, "", 0);
  rig_frame(&b, 0x82, "", 0); /* nothing to close: no commit */
  send_all(p);
  assert_string_equal(rig_said(p), "ok(1) ok(2)");
  assert_int_equal(rig_facts(&r).commits, 1);
  assert_int_equal(rig_facts(&r).rows, 1);
  rig_stop(&r);
}

static void an_ok_names_each_table_once_with_its_latest_transaction(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  for (int i = 0; i < 3; i++) rig_row(&b, 0, i);
  send_all(p);
  assert_int_equal(p->out_n, 2 + 11 + 2 + 1 + 8);
  assert_memory_equal(p->out + 2 + 9, "\x01\x00\x01\x00t", 5);
  uint8_t first = p->out[2 + 14];
  rig_forget(p);
  rig_frame(&b, 0x82, "", 0);
  send_all(p);
  assert_int_equal(p->out_n, 2 + 11); /* nothing committed since: no entry */
  rig_forget(p);
  rig_row(&b, 0, 9);
  send_all(p);
  assert_int_equal(p->out[2 + 14], first + 1);
  rig_stop(&r);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void after_an_error_there_is_silence(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  for (int i = 0; i < 3; i++) rig_row(&b, 0, i);
  rig_frame(&b, 0x82, "bad", 3);
  for (int i = 3; i < 6; i++) rig_row(&b, 0, i);
  rig_frame(&b, 0x82, "bad", 3);
  rig_frame(&b, 0x89, "x", 1);
  rig_frame(&b, 0x88, "\x03\xe8", 2);
  send_all(p);
  assert_string_equal(rig_said(p), "ok(2) error 5(3) pong(1) close 1000");
  assert_int_equal(rig_facts(&r).rows, 3);
  assert_int_equal(rig_facts(&r).dropped, 4);
  assert_int_equal(rig_facts(&r).errors, 1);
  assert_int_equal(rig_conn(&r, 1).next_seq, 8);
  assert_int_equal(rig_conn(&r, 1).last_ok, 2);
  rig_stop(&r);
}

static void an_error_rolls_the_whole_group_back(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  rig_row(&b, 0, 1);
  rig_row(&b, 0x01, 2);
  rig_row(&b, 0x01, 3);
  rig_frame(&b, 0x82, "bad", 3);
  send_all(p);
  assert_string_equal(rig_said(p), "ok(0) error 5(3)");
  assert_int_equal(rig_facts(&r).rows, 1);
  assert_int_equal(rig_facts(&r).rolled_back_rows, 2);
  rig_stop(&r);
}

/* Memory for a group's rows is asked for as a whole when it closes; if there is none, nothing of it becomes
 * visible, and what was committed before stays acknowledged. */
static void a_commit_without_memory_is_an_internal_error(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  rig_row(&b, 0, 1);
  send_all(p);
  assert_string_equal(rig_said(p), "ok(0)");
  rig_forget(p);

  struct mock_table *t = r.m->tables->tables[0];
  const size_t rows = t->rowset.rows;
  t->rowset.rows = SIZE_MAX / 64; /* so many that one more is beyond any memory */
  rig_row(&b, QWP_FLAG_DEFER, 2);
  rig_row(&b, 0, 3);
  rig_row(&b, 0, 4);
  send_all(p);
  t->rowset.rows = rows;

  assert_string_equal(rig_said(p), "error 6(2)");
  assert_non_null(strstr(r.journal, "\"seq\":2,\"flags\":8,\"tables\":1,\"rows\":1"));
  assert_non_null(strstr(strstr(r.journal, "\"seq\":2,\"flags\""), "\"fate\":\"refused\""));
  assert_int_equal(rig_facts(&r).rows, 1);
  assert_int_equal(rig_facts(&r).rows_unique, 1);
  assert_int_equal(rig_facts(&r).commits, 1);
  assert_int_equal(rig_facts(&r).rolled_back_rows, 2);
  assert_int_equal(rig_facts(&r).dropped, 1);
  assert_int_equal(rig_conn(&r, 1).rows, 1);
  assert_int_equal(mock_table_rows(r.m->tables, 0), 1);

  p = rig_client(&r); /* another connection finds the table as it was */
  rig_row(&b, 0, 5);
  send_all(p);
  assert_string_equal(rig_said(p), "ok(0)");
  assert_int_equal(mock_table_rows(r.m->tables, 0), 2);
  rig_stop(&r);
}

static int64_t nobody_may_ask(void *ctx) {
  (void)ctx;
  fail_msg("the time of day was asked for");
  return 0;
}

/* Rows without a time of their own get the server's, but only where they are kept by value. */
static void rows_that_are_not_kept_need_no_time(void **state) {
  (void)state;
  for (enum mock_rows level = MOCK_ROWS_DIGEST; level <= MOCK_ROWS_COUNT; level++) {
    struct rig r;
    rig_start_with(&r, NULL, level, MOCK_JOURNAL_FULL);
    struct rig_peer *p = rig_client(&r);
    r.m->options.clock.wall_ns = nobody_may_ask;
    rig_row(&b, 0, 1);
    send_all(p);
    assert_string_equal(rig_said(p), "ok(0)");
    rig_stop(&r);
  }
}

/* SEND-003: what comes again must be the same bytes; one other byte makes it another message. */
static void a_message_that_comes_again_is_counted(void **state) {
  (void)state;
  for (enum mock_rows level = MOCK_ROWS_FULL; level <= MOCK_ROWS_COUNT; level++) {
    struct rig r;
    rig_start_with(&r, NULL, level, MOCK_JOURNAL_OFF);
    struct rig_peer *p = rig_client(&r), *q = rig_client(&r);
    for (int i = 0; i < 3; i++) rig_row(&b, 0, i);
    send_all(p);
    assert_int_equal(rig_facts(&r).repeated, 0);
    for (int i = 1; i < 4; i++) rig_row(&b, 0, i);
    send_all(q);
    assert_int_equal(rig_facts(&r).repeated, level == MOCK_ROWS_FULL ? 2 : 0);
    rig_stop(&r);
  }
}

static void the_last_pong_of_a_connection_is_remembered(void **state) {
  (void)state;
  char most[125];
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  assert_string_equal(rig_conn(&r, 1).pong, "");
  memset(most, 'm', sizeof most);
  rig_frame(&b, 0x8A, most, sizeof most);
  send_all(p);
  assert_int_equal(strlen(rig_conn(&r, 1).pong), 125);
  rig_frame(&b, 0x8A, "a\0b\xff", 4);
  send_all(p);
  assert_string_equal(rig_conn(&r, 1).pong, "a?b?");
  rig_stop(&r);
}

static void a_disconnect_rolls_an_open_group_back(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r), *q = rig_client(&r);
  rig_row(&b, 0x01, 1);
  send_all(p);
  rig_eof(p, true);
  assert_int_equal(rig_facts(&r).rows, 0);
  assert_int_equal(rig_facts(&r).rolled_back_rows, 1);
  assert_string_equal(rig_conn(&r, 1).end, "reset");
  rig_eof(q, false);
  assert_string_equal(rig_conn(&r, 2).end, "fin");
  rig_stop(&r);
}

static void a_violation_is_refused_only_when_strict(void **state) {
  (void)state;
  for (int strict = 0; strict < 2; strict++) {
    struct mock_script s = {.strict_refuse = strict};
    struct rig r;
    rig_start(&r, &s);
    struct rig_peer *p = rig_client(&r);
    rig_row(&b, 0x20, 1); /* a reserved flag bit */
    send_all(p);
    assert_string_equal(rig_said(p), strict ? "error 5(0)" : "ok(0)");
    assert_int_equal(rig_facts(&r).violations, 1);
    assert_int_equal(rig_facts(&r).rows, !strict);
    rig_stop(&r);
  }
}

/* ---- how the bytes arrive [P121-58] ----------------------------------------------------------- */

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

/* ---- a socket that does not take everything ------------------------------------------------------ */

static void a_blocked_answer_leaves_later_and_whole(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
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
  rig_stop(&r);
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

static void a_write_that_fails_ends_the_connection(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  p->gone = true;
  rig_row(&b, 0, 1);
  send_all(p);
  assert_true(p->reset);
  assert_string_equal(rig_conn(&r, 1).end, "gone");
  assert_int_equal(rig_facts(&r).rows, 1);
  rig_stop(&r);
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

/* ---- limits ------------------------------------------------------------------------------ */

/* A message of one row: table `tNNNNN`, LONG column `id`. */
static void put_row_of_table(int table) {
  uint8_t message[64];
  char name[16];
  const size_t n = rig_message(message, 0, table);
  snprintf(name, sizeof name, "t%05d", table);
  uint8_t longer[80];
  memcpy(longer, message, 14);
  longer[8] = (uint8_t)(message[8] + 5);
  longer[14] = 6;
  memcpy(longer + 15, name, 6);
  memcpy(longer + 21, message + 16, n - 16);
  rig_frame(&b, 0x82, longer, n + 5);
}

/* LIMIT-002, with the server's default. */
static void a_connection_may_write_to_10000_tables(void **state) {
  (void)state;
  struct rig r;
  rig_start_with(&r, NULL, MOCK_ROWS_COUNT, MOCK_JOURNAL_OFF);
  struct rig_peer *p = rig_client(&r);
  b.n = 0;
  for (int i = 0; i < 10000; i++) {
    put_row_of_table(i);
    if (i % 1000 == 999) send_all(p);
  }
  put_row_of_table(7);
  send_all(p);
  assert_int_equal(rig_facts(&r).rows, 10001);
  assert_int_equal(rig_facts(&r).errors, 0);

  rig_forget(p);
  put_row_of_table(10000);
  send_all(p);
  assert_string_equal(rig_said(p), "error 9(10001)");
  const char text[] = "too many distinct tables, limit: 10000";
  assert_memory_equal(p->out + p->out_n - (sizeof text - 1), text, sizeof text - 1);
  rig_stop(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_recorded_conversation_goes_as_recorded),
    cmocka_unit_test(what_a_frame_is_answered_with),
    cmocka_unit_test(an_unmasked_frame_ends_it_without_close),
    cmocka_unit_test(the_receive_buffer_bounds_header_and_payload),
    cmocka_unit_test(an_absurd_length_is_refused_without_memory_for_it),
    cmocka_unit_test(a_message_above_the_advertised_cap_is_noted),
    cmocka_unit_test(a_long_length_form_is_noted_and_refused_only_when_strict),
    cmocka_unit_test(an_ok_is_due_after_8_and_at_the_end_of_a_pass),
    cmocka_unit_test(a_ping_flushes_before_its_pong),
    cmocka_unit_test(a_deferred_group_is_answered_when_it_closes),
    cmocka_unit_test(a_deferred_catch_up_gets_no_ok_of_its_own),
    cmocka_unit_test(an_empty_message_closes_a_group),
    cmocka_unit_test(an_ok_names_each_table_once_with_its_latest_transaction),
    cmocka_unit_test(after_an_error_there_is_silence),
    cmocka_unit_test(an_error_rolls_the_whole_group_back),
    cmocka_unit_test(a_commit_without_memory_is_an_internal_error),
    cmocka_unit_test(rows_that_are_not_kept_need_no_time),
    cmocka_unit_test(a_message_that_comes_again_is_counted),
    cmocka_unit_test(the_last_pong_of_a_connection_is_remembered),
    cmocka_unit_test(a_disconnect_rolls_an_open_group_back),
    cmocka_unit_test(a_violation_is_refused_only_when_strict),
    cmocka_unit_test(how_frames_arrive_makes_no_difference),
    cmocka_unit_test(a_cut_at_every_byte_makes_no_difference),
    cmocka_unit_test(a_blocked_answer_leaves_later_and_whole),
    cmocka_unit_test(with_blocking_acks_nothing_is_read_meanwhile),
    cmocka_unit_test(a_close_is_queued_behind_a_blocked_answer),
    cmocka_unit_test(a_write_that_fails_ends_the_connection),
    cmocka_unit_test(unsent_answers_stop_the_reading_at_a_bound),
    cmocka_unit_test(a_connection_may_write_to_10000_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
