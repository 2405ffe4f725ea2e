#include "core/upgrade.h"

#include <string.h>
#include <strings.h>

#include "qwp/wire.h"

static bool slice_is(struct mock_slice s, const char *text) {
  return s.p && s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

static bool slice_is_nocase(struct mock_slice s, const char *text) {
  return s.p && s.n == strlen(text) && strncasecmp(s.p, text, s.n) == 0;
}

/* ---- parsing ------------------------------------------------------------------- */

size_t mock_head_end(const uint8_t *p, size_t n, size_t *from) {
  size_t i = *from;
  for (; i < n; i++) {
    if (p[i] != '\n') continue;
    if (i >= 1 && p[i - 1] == '\n') return i + 1;
    if (i >= 2 && p[i - 1] == '\r' && p[i - 2] == '\n') return i + 1;
  }
  *from = i;
  return 0;
}

/* Takes one line without its end of line off the front of *rest. */
static struct mock_slice take_line(struct mock_slice *rest) {
  const char *nl = memchr(rest->p, '\n', rest->n);
  size_t n = nl ? (size_t)(nl - rest->p) : rest->n;
  size_t used = nl ? n + 1 : n;
  struct mock_slice line = {rest->p, n > 0 && rest->p[n - 1] == '\r' ? n - 1 : n};
  rest->p += used;
  rest->n -= used;
  return line;
}

/* The exact paths; runs of '/' count as one [UPG-REQ-002]. */
static enum mock_target find_target(struct mock_slice path) {
  char plain[32];
  size_t n = 0;
  for (size_t i = 0; i < path.n; i++) {
    if (path.p[i] == '/' && n > 0 && plain[n - 1] == '/') continue;
    if (n == sizeof plain) return MOCK_TARGET_UNKNOWN;
    plain[n++] = path.p[i];
  }
  struct mock_slice s = {plain, n};
  if (slice_is(s, QWP_PATH_WRITE) || slice_is(s, QWP_PATH_WRITE_ALT)) return MOCK_TARGET_WRITE;
  if (slice_is(s, QWP_PATH_READ) || slice_is(s, QWP_PATH_READ_ALT)) return MOCK_TARGET_READ;
  return MOCK_TARGET_UNKNOWN;
}

static bool parse_request_line(struct mock_slice line, struct mock_request *r) {
  const char *method_end = memchr(line.p, ' ', line.n);
  if (!method_end || method_end == line.p) return false;
  r->method = (struct mock_slice){line.p, (size_t)(method_end - line.p)};

  struct mock_slice rest = {method_end + 1, line.n - r->method.n - 1};
  const char *target_end = memchr(rest.p, ' ', rest.n);
  if (!target_end || target_end == rest.p) return false;
  r->path = (struct mock_slice){rest.p, (size_t)(target_end - rest.p)};
  if (rest.n - r->path.n - 1 < 5 || memcmp(target_end + 1, "HTTP/", 5) != 0) return false;

  const char *query = memchr(r->path.p, '?', r->path.n);
  if (query) r->path.n = (size_t)(query - r->path.p);
  r->target = find_target(r->path);
  return true;
}

static uint64_t parse_length(struct mock_slice s) {
  uint64_t v = 0;
  for (size_t i = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++) {
    if (v > UINT64_MAX / 16) return v; /* absurd already; saturates */
    v = v * 10 + (uint64_t)(s.p[i] - '0');
  }
  return v;
}

static void keep_header(struct mock_request *r, struct mock_slice name, struct mock_slice value) {
  struct mock_slice durable = {0};
  const struct { const char *name; struct mock_slice *slot; } known[] = {
    {"Origin", &r->origin}, {"Upgrade", &r->upgrade}, {"Connection", &r->connection},
    {"Sec-WebSocket-Key", &r->key}, {"Sec-WebSocket-Version", &r->version},
    {"Content-Length", &r->content_length}, {"Transfer-Encoding", &r->transfer_encoding},
    {"Content-Type", &r->content_type}, {QWP_HDR_CLIENT_ID, &r->client_id},
    {QWP_HDR_REQUEST_DURABLE_ACK, &durable}, {QWP_HDR_MAX_VERSION, &r->max_version},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (slice_is_nocase(name, known[i].name) && !known[i].slot->p) *known[i].slot = value;
  if (slice_is_nocase(durable, "true")) r->durable_ack = true;
}

bool mock_request_parse(const uint8_t *head, size_t n, struct mock_request *r) {
  *r = (struct mock_request){0};
  struct mock_slice rest = {(const char *)head, n};
  if (!parse_request_line(take_line(&rest), r)) return false;

  while (rest.n > 0) {
    struct mock_slice line = take_line(&rest);
    if (line.n == 0) break;
    const char *colon = memchr(line.p, ':', line.n);
    if (!colon || colon == line.p) return false;
    struct mock_slice name = {line.p, (size_t)(colon - line.p)};
    struct mock_slice value = {colon + 1, line.n - name.n - 1};
    if (value.n > 0) { /* exactly one character is skipped */
      value.p++;
      value.n--;
    }
    keep_header(r, name, value);
  }
  r->body_bytes = parse_length(r->content_length);
  r->body_chunked = slice_is_nocase(r->transfer_encoding, "chunked");
  return true;
}

/* ---- judging ------------------------------------------------------------------- */

static bool is_token_end(char c) { return c == ',' || c == ' '; }

static bool has_token(struct mock_slice s, const char *token) {
  size_t i = 0;
  while (i < s.n) {
    size_t start = i;
    while (i < s.n && !is_token_end(s.p[i])) i++;
    struct mock_slice word = {s.p + start, i - start};
    if (slice_is_nocase(word, token)) return true;
    i++;
  }
  return false;
}

static bool key_is_good(struct mock_slice key) {
  if (key.n != 24) return false;
  for (size_t i = 0; i < key.n; i++) {
    char c = key.p[i];
    bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!letter && c != '+' && c != '/' && c != '=') return false;
  }
  return true;
}

static struct mock_verdict verdict(enum mock_verdict_kind kind, int status, const char *text,
                                   struct mock_slice at) {
  return (struct mock_verdict){kind, status, text, at};
}

static struct mock_verdict bad_handshake(const char *text, struct mock_slice at) {
  return verdict(MOCK_VERDICT_CLOSE, 400, text, at);
}

static struct mock_verdict judge_handshake(const struct mock_request *r) {
  if (r->origin.p) return bad_handshake("Origin header not allowed on QWP WebSocket", r->origin);
  if (!r->upgrade.p) return bad_handshake("Missing Upgrade header", r->upgrade);
  if (!slice_is_nocase(r->upgrade, "websocket")) return bad_handshake("Invalid Upgrade header value", r->upgrade);
  if (!r->connection.p) return bad_handshake("Missing Connection header", r->connection);
  if (!has_token(r->connection, "upgrade"))
    return bad_handshake("Connection header must contain 'upgrade'", r->connection);
  if (!r->key.p) return bad_handshake("Missing Sec-WebSocket-Key header", r->key);
  if (!key_is_good(r->key))
    return bad_handshake("Invalid Sec-WebSocket-Key (must be 24-character base64 key)", r->key);
  if (!slice_is(r->version, "13")) return verdict(MOCK_VERDICT_CLOSE, 426, NULL, r->version);
  return verdict(MOCK_VERDICT_UPGRADE, 101, NULL, (struct mock_slice){0});
}

struct mock_verdict mock_request_judge(const struct mock_request *r, const char *role) {
  bool get = slice_is(r->method, "GET");
  bool put = slice_is(r->method, "POST") || slice_is(r->method, "PUT");
  struct mock_slice type = r->content_type;
  bool multipart = type.p && type.n >= 10 && strncasecmp(type.p, "multipart/", 10) == 0;

  if (get && (r->body_bytes > 0 || r->body_chunked || multipart))
    return verdict(MOCK_VERDICT_KEEP, 400, "GET request method cannot have content", r->content_length);
  if (put && !r->content_length.p && !r->body_chunked)
    return verdict(MOCK_VERDICT_KEEP, 400, "Content-length not specified for POST/PUT request", r->content_length);
  if (r->target == MOCK_TARGET_UNKNOWN) return verdict(MOCK_VERDICT_KEEP, 404, "Not Found", r->path);
  if (!get) return verdict(MOCK_VERDICT_KEEP, 405, NULL, r->method);

  struct mock_verdict v = judge_handshake(r);
  if (v.kind != MOCK_VERDICT_UPGRADE) return v;
  if (r->target == MOCK_TARGET_WRITE && role && (strcmp(role, "REPLICA") == 0 || strcmp(role, "PRIMARY_CATCHUP") == 0))
    return verdict(MOCK_VERDICT_CLOSE, 421, NULL, (struct mock_slice){0});
  return v;
}
