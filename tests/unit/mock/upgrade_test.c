/* upgrade: the request head, judged as the real server judges it, and the scripted ways out. */
#include "../../testlib/mock_rig.h"

#include "../../testlib/probes.h"
#include "core/upgrade.h"

#define KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" /* RFC 6455, 1.3 */
#define DATE "Tue, 14 Nov 2023 22:13:20 GMT"  /* the rig's wall clock */
#define ANSWER_101                                                                                              \
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " ACCEPT \
  "\r\nX-QWP-Version: 1\r\n"
#define WRITE_101 ANSWER_101 "X-QuestDB-Role: STANDALONE\r\nX-QWP-Max-Batch-Size: 2097138\r\n\r\n"

static void check_out(struct rig_peer *p, const char *want) {
  if (p->out_n != strlen(want) || memcmp(p->out, want, p->out_n) != 0)
    fail_msg("answer:\n%.*s\nwanted:\n%s", (int)p->out_n, p->out ? (const char *)p->out : "", want);
}

/* ---- against the real server's recorded answers -------------------------------------- */

static char *replace_dates(char *answer) {
  char *out = probe_text(answer, "<date>", DATE);
  free(answer);
  return out;
}

/* "head body: text" as the recorder wrote it becomes the bytes it stands for. */
static char *wanted_answer(const char *recorded, const char *head) {
  char accept[29] = ACCEPT;
  if (!strstr(head, KEY)) mock_accept_key("AAAAAAAAAAAAAAAAAAAAAAAA", 24, accept); /* one probe brings its own key */
  char *raw = probe_text(recorded, "<computed>", accept);
  raw = replace_dates(raw);
  char *body = strstr(raw, " body: ");
  size_t head_n = body ? (size_t)(body - raw) : strlen(raw);
  char *out = malloc(strlen(raw) + 8);
  assert_non_null(out);
  memcpy(out, raw, head_n);
  strcpy(out + head_n, head_n ? "\r\n\r\n" : "");
  if (body) strcat(out, body + 7);
  free(raw);
  return out;
}

static char *wanted_head(const char *recorded) {
  static const char std[] =
    "GET /write/v4 HTTP/1.1\\r\\nHost: <host:port>\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
    "Sec-WebSocket-Key: <random>\\r\\nSec-WebSocket-Version: 13\\r\\nX-QWP-Max-Version: 1\\r\\n\\r\\n";
  bool is_std = strcmp(recorded, "std") == 0 || strncmp(recorded, "pieces", 6) == 0;
  return probe_text(is_std ? std : recorded, "<random>", KEY);
}

/* The recorder shortened two heads: "aaaaaaaaaaaa...(60192 bytes, see note)" stands for a long X-Pad. */
static char *unshorten(char *head, const char *note) {
  unsigned long pad = 0;
  if (!strstr(head, "bytes, see note)") || sscanf(note, "X-Pad: %lu", &pad) != 1) return head;
  char *at = strstr(head, "aaaaaaaaaaaa...");
  char *out = malloc((size_t)(at - head) + pad + 5);
  assert_non_null(out);
  memcpy(out, head, (size_t)(at - head));
  memset(out + (at - head), 'a', pad);
  strcpy(out + (at - head) + pad, "\r\n\r\n");
  free(head);
  return out;
}

static void ask(const struct probe *probe, bool bytewise) {
  char *head = unshorten(wanted_head(probe->column[PROBE_HEAD]), probe->column[PROBE_NOTE]);
  char *want = wanted_answer(probe->column[PROBE_HTTP], head);
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_connect(&r);
  size_t n = strlen(head), piece = bytewise ? 1 : n;
  for (size_t at = 0; at < n && p->conn; at += piece) rig_feed(p, head + at, piece);

  size_t http_n = p->out_n;
  if (strcmp(probe->column[PROBE_NAME], "egress path") == 0) http_n = strlen(want); /* a frame follows */
  if (http_n != strlen(want) || (http_n && memcmp(p->out, want, http_n) != 0))
    fail_msg("probe '%s': answer:\n%.*s\nwanted:\n%s", probe->column[PROBE_NAME], (int)p->out_n,
        p->out ? (const char *)p->out : "", want);
  bool ended = strcmp(probe->column[PROBE_END], "EOF") == 0;
  if (p->closed != ended) fail_msg("probe '%s': closed %d, wanted %d", probe->column[PROBE_NAME], p->closed, ended);
  assert_false(p->reset);
  rig_stop(&r);
  free(head);
  free(want);
}

static void one_probe(void *arg, const struct probe *probe) {
  (void)arg;
  ask(probe, false);
  if (strlen(probe->column[PROBE_HEAD]) > 0 && !strstr(probe->column[PROBE_NAME], "0000 bytes")) ask(probe, true);
}

static void every_recorded_request_gets_the_recorded_answer(void **state) {
  (void)state;
  assert_int_equal(probes_each(TEST_DATA "/server-probes.tsv", "upgrade", one_probe, NULL), 61);
}

/* ---- order of checks, answers ---------------------------------------------------------- */

static struct rig_peer *send_head(struct rig *r, const char *head) {
  struct rig_peer *p = rig_connect(r);
  assert_non_null(p);
  rig_feed(p, head, strlen(head));
  return p;
}

#define UP "Upgrade: websocket\r\n"
#define CO "Connection: Upgrade\r\n"
#define KE "Sec-WebSocket-Key: " KEY "\r\n"
#define VE "Sec-WebSocket-Version: 13\r\n"

/* Each request has the fault of its row and of every later row: the first answers. */
static void the_first_failing_check_answers(void **state) {
  (void)state;
  const struct { const char *head; int status; const char *text; } cases[] = {
    {"GET /nowhere HTTP/1.1\r\nContent-Length: 3\r\nOrigin: x\r\n\r\n", 400, "GET request method cannot have content"},
    {"GET /nowhere HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "GET request method cannot have content"},
    {"GET /nowhere HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x\r\n\r\n", 400,
        "GET request method cannot have content"},
    {"POST /nowhere HTTP/1.1\r\nOrigin: x\r\n\r\n", 400, "Content-length not specified for POST/PUT request"},
    {"PUT /nowhere HTTP/1.1\r\nOrigin: x\r\n\r\n", 400, "Content-length not specified for POST/PUT request"},
    {"POST /nowhere HTTP/1.1\r\nContent-Length: 0\r\nOrigin: x\r\n\r\n", 404, "Not Found"},
    {"DELETE /write/v4 HTTP/1.1\r\nOrigin: x\r\n\r\n", 405, "Method DELETE not supported"},
    {"GET /write/v4 HTTP/1.1\r\nOrigin:\r\n\r\n", 400, "Origin header not allowed on QWP WebSocket"},
    {"GET /write/v4 HTTP/1.1\r\n\r\n", 400, "Missing Upgrade header"},
    {"GET /write/v4 HTTP/1.1\r\nUpgrade: h2c\r\n\r\n", 400, "Invalid Upgrade header value"},
    {"GET /write/v4 HTTP/1.1\r\n" UP "\r\n", 400, "Missing Connection header"},
    {"GET /write/v4 HTTP/1.1\r\n" UP "Connection: close\r\n\r\n", 400, "Connection header must contain 'upgrade'"},
    {"GET /write/v4 HTTP/1.1\r\n" UP CO "\r\n", 400, "Missing Sec-WebSocket-Key header"},
    {"GET /write/v4 HTTP/1.1\r\n" UP CO "Sec-WebSocket-Key: short\r\n\r\n", 400,
     "Invalid Sec-WebSocket-Key (must be 24-character base64 key)"},
    {"GET /write/v4 HTTP/1.1\r\n" UP CO KE "\r\n", 426, ""},
    {"GET /read/v1 HTTP/1.1\r\n" UP CO KE "Sec-WebSocket-Version: 8\r\n\r\n", 426, ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct rig r;
    rig_start(&r, NULL);
    struct rig_peer *p = send_head(&r, cases[i].head);
    char status[32];
    snprintf(status, sizeof status, "HTTP/1.1 %d ", cases[i].status);
    assert_non_null(p->out);
    p->out = rig_grow(p->out, &p->out_cap, p->out_n + 1);
    p->out[p->out_n] = '\0';
    if (strncmp((char *)p->out, status, strlen(status)) != 0 || !strstr((char *)p->out, cases[i].text))
      fail_msg("row %zu: %s", i, (char *)p->out);
    assert_int_equal(rig_facts(&r).refused, 1);
    assert_int_equal(rig_facts(&r).upgrades, 0);
    rig_stop(&r);
  }
}

static void all_four_paths_upgrade(void **state) {
  (void)state;
  const char *paths[] = {"/write/v4", "/api/v4/write", "/read/v1", "/api/v1/read"};
  struct rig r;
  rig_start(&r, NULL);
  for (int i = 0; i < 4; i++) {
    char head[512];
    snprintf(head, sizeof head, "GET %s HTTP/1.1\r\n" UP CO KE VE "\r\n", paths[i]);
    struct rig_peer *p = send_head(&r, head);
    if (i < 2) check_out(p, WRITE_101);
    else assert_memory_equal(p->out, ANSWER_101 "\r\n", sizeof ANSWER_101 + 1);
    assert_int_equal(p->writes, 1);
  }
  assert_int_equal(rig_facts(&r).conns, 2);
  assert_int_equal(rig_facts(&r).upgrades, 2);
  assert_int_equal(rig_facts(&r).readers, 2);
  rig_stop(&r);
}

static void a_reader_gets_its_server_info_in_the_same_write_and_nothing_more(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = send_head(&r, RIG_READ_HEAD);
  size_t head_n = sizeof ANSWER_101 + 1;
  assert_int_equal(p->out_n, head_n + 2 + 45);
  assert_memory_equal(p->out, ANSWER_101 "\r\n", head_n);
  assert_memory_equal(p->out + head_n, "\x82\x2dQWP1\x01\x00\x00\x00\x21\x00\x00\x00\x18", 15);
  assert_int_equal(p->writes, 1);

  rig_forget(p);
  static struct rig_bytes b;
  b.n = 0;
  rig_frame(&b, 0x82, "\x14\0\0\0\0\0\0\0\0", 9); /* CANCEL of no query */
  rig_frame(&b, 0x89, "a", 1);
  rig_frame(&b, 0x88, "\x13\x88", 2); /* 5000: a reader is answered 1000 whatever it said */
  rig_feed(p, b.p, b.n);
  assert_string_equal(rig_said(p), "pong(1) close 1000");
  assert_true(p->closed);
  assert_int_equal(rig_facts(&r).conns, 0);
  rig_stop(&r);
}

static void roles_that_cannot_write_are_misdirected(void **state) {
  (void)state;
  const char *roles[] = {"REPLICA", "PRIMARY_CATCHUP"};
  for (int i = 0; i < 2; i++) {
    struct mock_entry e[2] = {{.connection = MOCK_ANY, .role = roles[i]}, {.connection = MOCK_ANY, .reader = true,
        .role = roles[i]}};
    struct mock_script s = {.entries = e, .entry_count = 2};
    struct rig r;
    rig_start(&r, &s);
    struct rig_peer *p = send_head(&r, RIG_WRITE_HEAD);
    char want[200];
    snprintf(want, sizeof want,
        "HTTP/1.1 421 Misdirected Request\r\nConnection: close\r\nContent-Length: 0\r\nX-QuestDB-Role: %s\r\n\r\n",
            roles[i]);
    check_out(p, want);
    assert_true(p->closed);
    assert_int_equal(rig_facts(&r).violations, 0); /* the client did nothing wrong */
    assert_string_equal(rig_conn(&r, 1).end, "refused 421");
    assert_memory_equal(send_head(&r, RIG_READ_HEAD)->out, "HTTP/1.1 101", 12); /* readers are taken */
    rig_stop(&r);
  }
}

static void a_connection_outlives_an_ordinary_refusal(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = send_head(&r,
      "POST /write/v4 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloGET /nowhere HTTP/1.1\r\n\r\n" RIG_WRITE_HEAD);
  p->out = rig_grow(p->out, &p->out_cap, p->out_n + 1);
  p->out[p->out_n] = '\0';
  const char *second = strstr((char *)p->out, "HTTP/1.1 404 ");
  assert_memory_equal(p->out, "HTTP/1.1 405 ", 13);
  assert_non_null(second);
  assert_non_null(strstr(second, WRITE_101));
  assert_int_equal(rig_facts(&r).conns, 1); /* one connection, whatever it asked */
  assert_int_equal(rig_facts(&r).upgrades, 1);
  rig_stop(&r);
}

static void nonsense_ends_without_an_answer(void **state) {
  (void)state;
  const char *heads[] = {"hello\r\n\r\n", "GET\r\n\r\n", "GET /write/v4\r\n\r\n", "GET /write/v4 SPDY/1\r\n\r\n",
                         "GET /write/v4 HTTP/1.1\r\nno colon\r\n\r\n", "GET /write/v4 HTTP/1.1\r\n: x\r\n\r\n",
                             "\r\n\r\n"};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    struct rig r;
    rig_start(&r, NULL);
    struct rig_peer *p = send_head(&r, heads[i]);
    assert_int_equal(p->out_n, 0);
    assert_true(p->closed);
    assert_int_equal(rig_facts(&r).unmatched, 1);
    assert_int_equal(rig_facts(&r).conns, 0);
    rig_stop(&r);
  }
}

static void a_head_without_end_is_given_up_at_its_bound(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_connect(&r);
  static char a[MOCK_HEAD_MAX_BYTES];
  memset(a, 'a', sizeof a);
  rig_feed(p, a, sizeof a - 1);
  assert_non_null(p->conn);
  rig_feed(p, a, 1);
  assert_true(p->closed);
  assert_int_equal(p->out_n, 0);
  rig_stop(&r);
}

/* ---- early bytes -------------------------------------------------------------------------- */

static void bytes_behind_the_head_are_lost_and_noted(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  static struct rig_bytes b;
  b.n = sizeof RIG_WRITE_HEAD - 1;
  memcpy(b.p, RIG_WRITE_HEAD, b.n);
  rig_row(&b, 0, 1);
  struct rig_peer *p = rig_connect(&r);
  rig_feed(p, b.p, b.n);
  check_out(p, WRITE_101);
  assert_int_equal(rig_facts(&r).frames, 0);
  assert_int_equal(mock_violation_count(r.m), 1);
  assert_string_equal(mock_violation_at(r.m, 0)->requirement, "WS-009");
  rig_stop(&r);
}

static void bytes_before_a_delayed_101_end_the_connection(void **state) {
  (void)state;
  struct mock_entry e = {.connection = MOCK_ANY, .upgrade_delay_ns = 50};
  struct mock_script s = {.entries = &e, .entry_count = 1};
  struct rig r;
  rig_start(&r, &s);
  struct rig_peer *p = send_head(&r, RIG_WRITE_HEAD), *q = send_head(&r, RIG_WRITE_HEAD);
  assert_int_equal(p->out_n, 0);
  rig_feed(p, "x", 1);
  assert_true(p->closed);
  assert_int_equal(p->out_n, 0);
  assert_int_equal(mock_violation_count(r.m), 1);

  rig_advance_to(&r, r.now_ns + 49);
  assert_int_equal(q->out_n, 0);
  rig_advance_to(&r, r.now_ns + 1);
  check_out(q, WRITE_101);
  rig_stop(&r);
}

/* ---- what a script makes of the upgrade -------------------------------------------------- */

static struct rig_peer *scripted(struct rig *r, struct mock_script *s, const struct mock_entry *e) {
  *s = (struct mock_script){.entries = e, .entry_count = 1};
  rig_start(r, s);
  return send_head(r, RIG_WRITE_HEAD);
}

static void a_status_is_answered_with_headers_and_body(void **state) {
  (void)state;
  struct mock_header h[] = {{"Retry-After", "3"}, {"content-type", "application/json"}};
  struct mock_entry e = {.connection = 1, .upgrade = MOCK_UPGRADE_STATUS, .status = 503, .headers = h,
      .header_count = 2, .body = "{}"};
  struct mock_script s;
  struct rig r;
  struct rig_peer *p = scripted(&r, &s, &e);
  check_out(p, "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nContent-Length: 2\r\n"
    "Retry-After: 3\r\n\r\n{}");
  assert_true(p->closed);
  assert_int_equal(rig_facts(&r).refused, 1);
  assert_string_equal(rig_conn(&r, 1).end, "refused 503");
  rig_stop(&r);
}

static void the_usual_statuses_look_as_the_server_sends_them(void **state) {
  (void)state;
  const struct { int status; const char *role, *want; } cases[] = {
    {421, NULL, "HTTP/1.1 421 Misdirected Request\r\nConnection: close\r\nX-QuestDB-Role: REPLICA\r\n"
      "Content-Length: 0\r\n\r\n"},
    {421, "PRIMARY_CATCHUP",
        "HTTP/1.1 421 Misdirected Request\r\nConnection: close\r\nX-QuestDB-Role: PRIMARY_CATCHUP\r\n"
          "Content-Length: 0\r\n\r\n"},
    {426, NULL, "HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Version: 13\r\nContent-Length: 0\r\n\r\n"},
    {401, NULL, "HTTP/1.1 401 Unauthorized\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nUnauthorized"},
    {599, NULL, "HTTP/1.1 599 Scripted\r\nContent-Length: 0\r\n\r\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct mock_entry e = {.connection = 1, .upgrade = MOCK_UPGRADE_STATUS, .status = cases[i].status,
        .role = cases[i].role};
    struct mock_script s;
    struct rig r;
    check_out(scripted(&r, &s, &e), cases[i].want);
    rig_stop(&r);
  }
}

static void a_script_may_change_the_101(void **state) {
  (void)state;
  struct mock_header h[] = {{"Sec-WebSocket-Accept", "wrong"}, {"Connection", NULL}, {"X-Extra", "1"}};
  struct mock_entry e = {.connection = 1, .version = "2", .role = "", .has_cap = true, .cap = 1000, .headers = h,
      .header_count = 3};
  struct mock_script s;
  struct rig r;
  check_out(scripted(&r, &s, &e),
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: wrong\r\n"
                                  "X-QWP-Version: 2\r\nX-QWP-Max-Batch-Size: 1000\r\nX-Extra: 1\r\n\r\n");
  rig_stop(&r);

  struct mock_header spelt[] = {{"CONNECTION", "keep-alive"}, {"connection", "Upgrade"}, {"x-qwp-version", "1"}};
  struct mock_entry twice = {.connection = 1, .has_cap = true, .cap = 0, .headers = spelt, .header_count = 3};
  check_out(scripted(&r, &s, &twice), "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                                      "CONNECTION: keep-alive\r\nconnection: Upgrade\r\n"
                                      "Sec-WebSocket-Accept: " ACCEPT "\r\nx-qwp-version: 1\r\n"
                                      "X-QuestDB-Role: STANDALONE\r\n\r\n");
  rig_stop(&r);

  struct mock_entry bare = {.connection = 1, .version = "", .has_cap = true, .cap = 0};
  check_out(scripted(&r, &s, &bare), "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                     "Sec-WebSocket-Accept: " ACCEPT "\r\nX-QuestDB-Role: STANDALONE\r\n\r\n");
  rig_stop(&r);
}

static void the_cap_follows_the_receive_buffer(void **state) {
  (void)state;
  const struct { int64_t buffer; const char *header; } cases[] = {
    {2048, "X-QWP-Max-Batch-Size: 2034\r\n"}, {33554432, "X-QWP-Max-Batch-Size: 16777216\r\n"}, {14, NULL}};
  for (size_t i = 0; i < 3; i++) {
    struct mock_script s = {.recv_buffer_bytes = cases[i].buffer};
    struct rig r;
    rig_start(&r, &s);
    struct rig_peer *p = send_head(&r, RIG_WRITE_HEAD);
    char want[300];
    snprintf(want, sizeof want, ANSWER_101 "X-QuestDB-Role: STANDALONE\r\n%s\r\n",
        cases[i].header ? cases[i].header : "");
    check_out(p, want);
    rig_stop(&r);
  }
}

static void the_other_ways_to_upgrade(void **state) {
  (void)state;
  struct mock_script s;
  struct rig r;
  struct mock_entry hang = {.connection = 1, .upgrade = MOCK_UPGRADE_HANG};
  struct rig_peer *p = scripted(&r, &s, &hang);
  rig_feed(p, "anything", 8);
  assert_int_equal(p->out_n, 0);
  assert_non_null(p->conn);
  assert_false(p->shut);
  rig_stop(&r);

  struct mock_entry raw = {.connection = 1, .upgrade = MOCK_UPGRADE_RAW, .raw = (const uint8_t *)"SSH-2.0\r\n",
      .raw_n = 9};
  p = scripted(&r, &s, &raw);
  check_out(p, "SSH-2.0\r\n");
  assert_non_null(p->conn);
  rig_stop(&r);

  struct mock_entry die = {.connection = 1, .upgrade = MOCK_UPGRADE_DIE};
  p = scripted(&r, &s, &die);
  assert_true(p->reset);
  assert_int_equal(p->out_n, 0);
  assert_string_equal(rig_conn(&r, 1).end, "script reset");
  rig_stop(&r);

  die.die_after_bytes = 20;
  p = scripted(&r, &s, &die);
  assert_true(p->reset);
  assert_int_equal(p->out_n, 20);
  assert_memory_equal(p->out, WRITE_101, 20);
  rig_stop(&r);
}

static void faults_of_the_request_are_violations(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  send_head(&r, "GET /write/v4 HTTP/1.1\r\nOrigin: http://x\r\n" UP CO KE VE "\r\n");
  assert_int_equal(mock_violation_count(r.m), 1);
  assert_string_equal(mock_violation_at(r.m, 0)->requirement, "UPG-REQ-001");
  assert_int_equal(mock_violation_at(r.m, 0)->connection, 1);
  send_head(&r, "GET /elsewhere HTTP/1.1\r\n\r\n"); /* a wrong address is none */
  assert_int_equal(mock_violation_count(r.m), 1);
  rig_stop(&r);
}

/* ---- what a server lets pass ---------------------------------------------------------- */

#define MV "X-QWP-Max-Version: 1\r\n"

static void check_violation(const struct rig *r, size_t i, const char *requirement, int64_t offset, const char *text) {
  const struct mock_violation *v = mock_violation_at(r->m, i);
  assert_non_null(v);
  assert_string_equal(v->requirement, requirement);
  assert_int_equal(v->offset, offset);
  assert_string_equal(v->text, text);
}

static void a_violation_says_where_in_the_head(void **state) {
  (void)state;
  static const char head[] = "GET /write/v4 HTTP/1.1\r\nUpgrade: h2c\r\n" CO KE VE MV "\r\n";
  struct rig r;
  rig_start(&r, NULL);
  send_head(&r, head);
  check_violation(&r, 0, "UPG-REQ-001", strstr(head, "h2c") - head, "Invalid Upgrade header value");
  send_head(&r, "GET /write/v4 HTTP/1.1\r\n" CO KE VE MV "\r\n"); /* nothing stands there */
  check_violation(&r, 1, "UPG-REQ-001", 0, "Missing Upgrade header");
  rig_stop(&r);
}

static void the_version_must_be_advertised_as_1(void **state) {
  (void)state;
  static const char *const paths[] = {"/write/v4", "/read/v1"};
  static const char *const is_not = "X-QWP-Max-Version is not 1";
  const struct { const char *line, *text, *value; } cases[] = {
    {MV, NULL, NULL}, {"x-qwp-max-version: 1\r\n", NULL, NULL}, {"", "X-QWP-Max-Version is missing", NULL},
    {"X-QWP-Max-Version: 2\r\n", is_not, "2\r"}, {"X-QWP-Max-Version: 11\r\n", is_not, "11\r"},
    {"X-QWP-Max-Version:  1\r\n", is_not, " 1\r"}, {"X-QWP-Max-Version: \r\n", is_not, "\r\n\r"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t path = 0; path < 2; path++) {
      struct rig r;
      char head[512];
      rig_start(&r, NULL);
      snprintf(head, sizeof head, "GET %s HTTP/1.1\r\n" UP CO KE VE "%s\r\n", paths[path], cases[i].line);
      assert_memory_equal(send_head(&r, head)->out, "HTTP/1.1 101 ", 13); /* served all the same */
      assert_int_equal(mock_violation_count(r.m), cases[i].text ? 1 : 0);
      const int64_t at = cases[i].value ? strstr(strstr(head, "X-QWP-M"), cases[i].value) - head : 0;
      if (cases[i].text) check_violation(&r, 0, "UPG-REQ-003", at, cases[i].text);
      rig_stop(&r);
    }
}

static void two_connections_must_have_different_keys(void **state) {
  (void)state;
  struct rig r;
  rig_start_as(&r, NULL, MOCK_ROWS_FULL, MOCK_JOURNAL_FULL, false);
  static const char other[] = "GET /write/v4 HTTP/1.1\r\n" UP CO "Sec-WebSocket-Key: AGhlIHNhbXBsZSBub25jZQ==\r\n" VE MV
                              "\r\n";
  send_head(&r, RIG_WRITE_HEAD);
  send_head(&r, other);
  assert_int_equal(mock_violation_count(r.m), 0);
  struct rig_peer *p = send_head(&r, RIG_WRITE_HEAD);
  assert_int_equal(mock_violation_count(r.m), 1);
  check_violation(&r, 0, "UPG-REQ-001", strstr(RIG_WRITE_HEAD, "dGhl") - RIG_WRITE_HEAD,
                  "Sec-WebSocket-Key of another connection");
  assert_int_equal(mock_violation_at(r.m, 0)->connection, 3);
  assert_memory_equal(p->out, "HTTP/1.1 101 ", 13);
  rig_stop(&r);
}

static void a_refused_connection_has_used_its_key_up(void **state) {
  (void)state;
  struct mock_entry e = {.connection = 1, .upgrade = MOCK_UPGRADE_STATUS, .status = 503};
  struct mock_script s = {.entries = &e, .entry_count = 1};
  struct rig r;
  rig_start_as(&r, &s, MOCK_ROWS_FULL, MOCK_JOURNAL_FULL, false);
  send_head(&r, RIG_WRITE_HEAD);
  send_head(&r, RIG_WRITE_HEAD);
  assert_int_equal(mock_violation_count(r.m), 1);
  rig_stop(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_recorded_request_gets_the_recorded_answer),
    cmocka_unit_test(the_first_failing_check_answers),
    cmocka_unit_test(all_four_paths_upgrade),
    cmocka_unit_test(a_reader_gets_its_server_info_in_the_same_write_and_nothing_more),
    cmocka_unit_test(roles_that_cannot_write_are_misdirected),
    cmocka_unit_test(a_connection_outlives_an_ordinary_refusal),
    cmocka_unit_test(nonsense_ends_without_an_answer),
    cmocka_unit_test(a_head_without_end_is_given_up_at_its_bound),
    cmocka_unit_test(bytes_behind_the_head_are_lost_and_noted),
    cmocka_unit_test(bytes_before_a_delayed_101_end_the_connection),
    cmocka_unit_test(a_status_is_answered_with_headers_and_body),
    cmocka_unit_test(the_usual_statuses_look_as_the_server_sends_them),
    cmocka_unit_test(a_script_may_change_the_101),
    cmocka_unit_test(the_cap_follows_the_receive_buffer),
    cmocka_unit_test(the_other_ways_to_upgrade),
    cmocka_unit_test(faults_of_the_request_are_violations),
    cmocka_unit_test(a_violation_says_where_in_the_head),
    cmocka_unit_test(the_version_must_be_advertised_as_1),
    cmocka_unit_test(two_connections_must_have_different_keys),
    cmocka_unit_test(a_refused_connection_has_used_its_key_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
