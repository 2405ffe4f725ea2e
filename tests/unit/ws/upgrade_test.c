/* The upgrade as bytes: the request to the letter, and what counts as a proper answer. */
#include "ws/upgrade.h"

#include "ws_fixture.h"

/* RFC 6455, 1.3: its own key and answer. */
#define KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

static void accept_of_the_rfc(void **state) {
  (void)state;
  char accept[QWP_UPGRADE_ACCEPT_TEXT], key[QWP_UPGRADE_KEY_TEXT];
  assert_int_equal(qwp_upgrade_accept(KEY, accept), QWP_OK);
  assert_string_equal(accept, ACCEPT);
  qwp_upgrade_key((const uint8_t *)"the sample nonce", key);
  assert_string_equal(key, KEY);
}

static enum qwp_status write_request(const struct qwp_upgrade_request *request, char *text, size_t cap) {
  struct sn sn;
  sn_init(&sn);
  struct qwp_bytes out;
  qwp_bytes_init(&out, &sn.ops, 65536);
  enum qwp_status st = qwp_upgrade_write(request, &out);
  assert_true(out.len < cap);
  if (out.len) memcpy(text, out.data, out.len);
  text[out.len] = '\0';
  qwp_bytes_free(&out);
  return st;
}

static void request_to_the_letter(void **state) {
  (void)state;
  char text[1024];
  struct qwp_upgrade_request request = {"/write/v4", "[::1]:9000", KEY, "c/1.0", "Bearer abc"};
  assert_int_equal(write_request(&request, text, sizeof text), QWP_OK);
  assert_string_equal(text,
                      "GET /write/v4 HTTP/1.1\r\nHost: [::1]:9000\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                      "Sec-WebSocket-Key: " KEY "\r\nSec-WebSocket-Version: 13\r\nX-QWP-Max-Version: 1\r\n"
                      "X-QWP-Client-Id: c/1.0\r\nAuthorization: Bearer abc\r\n\r\n");
  request.client_id = "";
  request.authorization = NULL;
  assert_int_equal(write_request(&request, text, sizeof text), QWP_OK);
  assert_string_equal(text,
                      "GET /write/v4 HTTP/1.1\r\nHost: [::1]:9000\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                      "Sec-WebSocket-Key: " KEY "\r\nSec-WebSocket-Version: 13\r\nX-QWP-Max-Version: 1\r\n\r\n");
}

static void a_value_cannot_add_a_header(void **state) {
  (void)state;
  const struct qwp_upgrade_request good = {"/write/v4", "h", KEY, "c", "a"};
  static const char bad[] = "x\r\nOrigin: y";
  char text[1024];
  struct qwp_upgrade_request request = good;
  request.path = bad;
  assert_int_equal(write_request(&request, text, sizeof text), QWP_MISUSE);
  assert_string_equal(text, "");
  request = good;
  request.path = "/a b";
  assert_int_equal(write_request(&request, text, sizeof text), QWP_MISUSE);
  request = good;
  request.host = bad;
  assert_int_equal(write_request(&request, text, sizeof text), QWP_MISUSE);
  request = good;
  request.client_id = bad;
  assert_int_equal(write_request(&request, text, sizeof text), QWP_MISUSE);
  request = good;
  request.authorization = bad;
  assert_int_equal(write_request(&request, text, sizeof text), QWP_MISUSE);
}

/* Parses text that must be one whole head. */
static struct qwp_upgrade_response parsed(const char *text) {
  struct qwp_upgrade_response r;
  const char *why;
  assert_int_equal(qwp_upgrade_parse((const uint8_t *)text, strlen(text), 0, &r, &why), (long)strlen(text));
  return r;
}

#define LINE "HTTP/1.1 101 Switching Protocols\r\n"
#define RIGHT "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " ACCEPT "\r\n"

static void good_and_wrong_answers(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool good;
  } cases[] = {
      {LINE RIGHT "\r\n", true},
      {"HTTP/1.0 101\r\n" RIGHT "\r\n", true},
      {"HTTP/1.1 101\nUpgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Accept: " ACCEPT "\n\n", true},
      /* CASE-52: names in any case, token lists, white space, a header that comes twice */
      {LINE "UPGRADE: WebSocket\r\nconnection: keep-alive, Upgrade\r\nsec-websocket-accept: \t " ACCEPT " \r\n\r\n",
       true},
      {LINE "Upgrade: h2c\r\nUpgrade: websocket\r\nConnection: close\r\nConnection: upgrade\r\n"
            "Sec-WebSocket-Accept:" ACCEPT "\r\nSec-WebSocket-Accept: other\r\n\r\n", true},
      {LINE RIGHT "Sec-WebSocket-Extensions:\r\n\r\n", true},
      {LINE RIGHT "X-QWP-Version: 1\r\nx-qwp-version: 2\r\n\r\n", true},
      {"HTTP/1.1 200 OK\r\n" RIGHT "\r\n", false},
      {"HTTP/1.1 100 Continue\r\n" RIGHT "\r\n", false},
      {LINE "Connection: Upgrade\r\nSec-WebSocket-Accept: " ACCEPT "\r\n\r\n", false},
      {LINE "Upgrade: notwebsocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " ACCEPT "\r\n\r\n", false},
      {LINE "Upgrade: websocket\r\nSec-WebSocket-Accept: " ACCEPT "\r\n\r\n", false},
      {LINE "Upgrade: websocket\r\nConnection: notupgrade\r\nSec-WebSocket-Accept: " ACCEPT "\r\n\r\n", false},
      {LINE "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n", false},
      {LINE "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOO=\r\n\r\n",
       false},
      {LINE "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: S3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
       false},
      {LINE "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " ACCEPT ACCEPT ACCEPT "\r\n\r\n",
       false},
      {LINE RIGHT "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n", false},
      {LINE RIGHT "Sec-WebSocket-Protocol: chat\r\n\r\n", false},
      {LINE RIGHT "X-QWP-Version: 0\r\n\r\n", false},
      {LINE RIGHT "X-QWP-Version: 2\r\n\r\n", false},
      {LINE RIGHT "X-QWP-Version: -1\r\n\r\n", false},
      {LINE RIGHT "X-QWP-Version: one\r\n\r\n", false},
      {LINE RIGHT "X-QWP-Version:\r\n\r\n", false},
      {LINE RIGHT "X-QWP-Version: 4294967297\r\n\r\n", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct qwp_upgrade_response r = parsed(cases[i].text);
    const char *wrong = qwp_upgrade_check(&r, ACCEPT);
    if (cases[i].good != (wrong == NULL)) fail_msg("case %zu: %s", i, wrong ? wrong : "taken");
  }
}

static void numbers_and_role(void **state) {
  (void)state;
  static const struct {
    const char *line;
    int64_t max_batch;
  } caps[] = {{"", 0}, {"X-QWP-Max-Batch-Size: 2097138\r\n", 2097138}, {"X-QWP-Max-Batch-Size: 0\r\n", 0},
              {"X-QWP-Max-Batch-Size: -1\r\n", 0}, {"X-QWP-Max-Batch-Size: abc\r\n", 0},
              {"X-QWP-Max-Batch-Size: 4096 \r\nX-QWP-Max-Batch-Size: 5\r\n", 4096},
              {"X-QWP-Max-Batch-Size: 99999999999999999999\r\n", 0}, {"X-QWP-Max-Batch-Size: 12x\r\n", 0}};
  for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
    char text[512];
    snprintf(text, sizeof text, LINE RIGHT "%s\r\n", caps[i].line);
    struct qwp_upgrade_response r = parsed(text);
    assert_int_equal(r.max_batch, caps[i].max_batch);
    assert_int_equal(r.version, 1);
    assert_null(qwp_upgrade_check(&r, ACCEPT));
  }
  struct qwp_upgrade_response r = parsed("HTTP/1.1 421 Misdirected Request\r\nX-QuestDB-Role: PRIMARY_CATCHUP\r\n\r\n");
  assert_int_equal(r.status, 421);
  assert_string_equal(r.role, "PRIMARY_CATCHUP");
  assert_string_equal(r.reason, "Misdirected Request");
  r = parsed("HTTP/1.1 421\r\nX-QuestDB-Role: ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJ\r\n\r\n");
  assert_string_equal(r.role, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDE");
}

/* CASE-51: cut anywhere, the head is whole at its last byte and not before; what stands
 * behind it is left alone. */
static void every_cut(void **state) {
  (void)state;
  static const char *const heads[] = {LINE RIGHT "X-QWP-Version: 1\r\n\r\n", "HTTP/1.1 101\nUpgrade: websocket\n\n"};
  for (size_t h = 0; h < 2; h++) {
    size_t whole = strlen(heads[h]);
    size_t scanned = 0;
    for (size_t n = 0; n <= whole + 20; n++) {
      uint8_t *part = sn_grow(NULL, n);
      memset(part, '\n', n);
      memcpy(part, heads[h], n < whole ? n : whole);
      struct qwp_upgrade_response r;
      const char *why;
      long used = qwp_upgrade_parse(part, n, n > whole ? 0 : scanned, &r, &why);
      assert_int_equal(used, n < whole ? 0 : (long)whole);
      scanned = n;
      free(part);
    }
  }
}

static long parse_text(const char *text, const char **why) {
  struct qwp_upgrade_response r;
  return qwp_upgrade_parse((const uint8_t *)text, strlen(text), 0, &r, why);
}

static void bad_heads(void **state) {
  (void)state;
  static const char *const bad[] = {
      "X", "HTTP/2", "HTTQ", "\r\n", "HTTP/1.1 10\r\n\r\n", "HTTP/1.1 1O1 x\r\n\r\n", "HTTP/1.1 1011\r\n\r\n",
      "HTTP/1.1 099\r\n\r\n", "HTTP/1.x 101\r\n\r\n", "HTTP/1.1\r\n\r\n", LINE "folded: a\r\n b\r\n\r\n",
      LINE " leading: a\r\n\r\n", LINE "no colon\r\n\r\n", LINE ": no name\r\n\r\n", LINE "space : x\r\n\r\n",
      LINE "a: b\rc\r\n\r\n",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *why = "";
    if (parse_text(bad[i], &why) != -1) fail_msg("taken: %s", bad[i]);
    assert_true(*why != '\0');
  }
  const char *why;
  assert_int_equal(parse_text("HTTP/1.", &why), 0);
  struct qwp_upgrade_response r;
  assert_int_equal(qwp_upgrade_parse((const uint8_t *)LINE "a: \0\r\n\r\n", sizeof LINE - 1 + 8, 0, &r, &why), -1);
}

/* A head of exactly 32 KiB is taken, one more byte is not, and no more than that is awaited. */
static void limits(void **state) {
  (void)state;
  uint8_t *head = sn_grow(NULL, 40000);
  struct qwp_upgrade_response r;
  const char *why;
  for (size_t total = QWP_UPGRADE_HEAD_MAX; total <= QWP_UPGRADE_HEAD_MAX + 1; total++) {
    size_t n = sizeof LINE - 1;
    memcpy(head, LINE, n);
    while (n + 2 < total) { /* lines of at most 1000 */
      size_t line = total - 2 - n < 2000 ? total - 2 - n : 1000;
      memset(head + n, 'a', line);
      head[n + 1] = ':';
      head[n + line - 2] = '\r';
      head[n + line - 1] = '\n';
      n += line;
    }
    memcpy(head + n, "\r\n", 2);
    bool fits = total == QWP_UPGRADE_HEAD_MAX;
    assert_int_equal(qwp_upgrade_parse(head, total, 0, &r, &why), fits ? (long)total : -1);
    assert_int_equal(qwp_upgrade_parse(head, total - 1, 0, &r, &why), fits ? 0 : -1);
  }
  for (size_t line = QWP_UPGRADE_LINE_MAX; line <= QWP_UPGRADE_LINE_MAX + 1; line++) {
    size_t n = sizeof LINE - 1;
    memcpy(head, LINE, n);
    memset(head + n, 'a', line);
    head[n + 1] = ':';
    memcpy(head + n + line, "\r\n\r\n", 4);
    long used = qwp_upgrade_parse(head, n + line + 4, 0, &r, &why);
    assert_int_equal(used, line == QWP_UPGRADE_LINE_MAX ? (long)(n + line + 4) : -1);
  }
  free(head);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accept_of_the_rfc),     cmocka_unit_test(request_to_the_letter),
      cmocka_unit_test(a_value_cannot_add_a_header), cmocka_unit_test(good_and_wrong_answers),
      cmocka_unit_test(numbers_and_role),      cmocka_unit_test(every_cut),
      cmocka_unit_test(bad_heads),             cmocka_unit_test(limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
