#include "ws/upgrade.h"

#include <openssl/evp.h>
#include <string.h>

#include "qwp/wire.h"

/* ---- request ------------------------------------------------------------------ */

void qwp_upgrade_key(const uint8_t random[QWP_UPGRADE_KEY_BYTES], char out[QWP_UPGRADE_KEY_TEXT]) {
  EVP_EncodeBlock((unsigned char *)out, random, QWP_UPGRADE_KEY_BYTES);
}

enum qwp_status qwp_upgrade_accept(const char *key, char out[QWP_UPGRADE_ACCEPT_TEXT]) {
  char text[128];
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned digest_bytes = 0;
  size_t key_bytes = strlen(key);
  if (key_bytes + sizeof QWP_WS_GUID > sizeof text) return QWP_MISUSE;
  memcpy(text, key, key_bytes);
  memcpy(text + key_bytes, QWP_WS_GUID, sizeof QWP_WS_GUID);
  if (EVP_Digest(text, strlen(text), digest, &digest_bytes, EVP_sha1(), NULL) != 1) return QWP_NOMEM;
  EVP_EncodeBlock((unsigned char *)out, digest, (int)digest_bytes);
  return QWP_OK;
}

static bool value_safe(const char *value) {
  for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
    if ((*p < 0x20 && *p != '\t') || *p == 0x7f) return false;
  }
  return true;
}

enum qwp_status qwp_upgrade_write(const struct qwp_upgrade_request *request, struct qwp_bytes *out) {
  const char *client_id = request->client_id && *request->client_id ? request->client_id : NULL;
  const char *parts[] = {
      "GET ", request->path, " HTTP/1.1\r\n",
      "Host: ", request->host, "\r\n",
      "Upgrade: websocket\r\nConnection: Upgrade\r\n",
      "Sec-WebSocket-Key: ", request->key, "\r\n",
      "Sec-WebSocket-Version: 13\r\n" QWP_HDR_MAX_VERSION ": 1\r\n",
      client_id ? QWP_HDR_CLIENT_ID ": " : "", client_id ? client_id : "", client_id ? "\r\n" : "",
      request->authorization ? "Authorization: " : "", request->authorization ? request->authorization : "",
      request->authorization ? "\r\n" : "",
      "\r\n",
  };
  if (!value_safe(request->path) || strpbrk(request->path, " \t") || !value_safe(request->host)) return QWP_MISUSE;
  if (client_id && !value_safe(client_id)) return QWP_MISUSE;
  if (request->authorization && !value_safe(request->authorization)) return QWP_MISUSE;

  size_t total = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) total += strlen(parts[i]);
  if (qwp_bytes_reserve(out, total) != QWP_OK) return QWP_NOMEM;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) qwp_put(out, parts[i], strlen(parts[i]));
  return QWP_OK;
}

/* ---- response: text helpers ------------------------------------------------------- */

struct span { /* part of the head; no NUL */
  const char *p;
  size_t n;
};

/* ASCII only: the locale of the application must not change what a header is. */
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool equals_ignoring_case(struct span a, const char *b) {
  if (a.n != strlen(b)) return false;
  for (size_t i = 0; i < a.n; i++) {
    if (lower(a.p[i]) != lower(b[i])) return false;
  }
  return true;
}

static struct span trim(struct span s) {
  while (s.n && (*s.p == ' ' || *s.p == '\t')) s.p++, s.n--;
  while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t')) s.n--;
  return s;
}

/* Whether a comma-separated list has the token, in any case: not as a part of another word. */
static bool list_has(struct span list, const char *token) {
  while (list.n) {
    const char *comma = memchr(list.p, ',', list.n);
    size_t n = comma ? (size_t)(comma - list.p) : list.n;
    if (equals_ignoring_case(trim((struct span){list.p, n}), token)) return true;
    if (!comma) return false;
    list.p += n + 1;
    list.n -= n + 1;
  }
  return false;
}

/* Digits only, up to 18 of them; -1 for anything else. */
static int64_t decimal(struct span s) {
  if (s.n == 0 || s.n > 18) return -1;
  int64_t v = 0;
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] < '0' || s.p[i] > '9') return -1;
    v = v * 10 + (s.p[i] - '0');
  }
  return v;
}

/* Copies what fits; bytes that are not printable become '?'. */
static void copy_text(char *out, size_t cap, struct span s) {
  size_t n = s.n < cap - 1 ? s.n : cap - 1;
  for (size_t i = 0; i < n; i++) out[i] = s.p[i] >= 0x20 && s.p[i] < 0x7f ? s.p[i] : '?';
  out[n] = '\0';
}

/* ---- response: lines --------------------------------------------------------------- */

static bool digit(char c) { return c >= '0' && c <= '9'; }

/* HTTP/1.x SP 3DIGIT [SP reason] */
static bool parse_status_line(struct span line, struct qwp_upgrade_response *out) {
  if (line.n < 12 || memcmp(line.p, "HTTP/1.", 7) != 0 || !digit(line.p[7]) || line.p[8] != ' ') return false;
  out->status = (int)decimal((struct span){line.p + 9, 3});
  if (out->status < 100 || (line.n > 12 && line.p[12] != ' ')) return false;
  copy_text(out->reason, sizeof out->reason, trim((struct span){line.p + 12, line.n - 12}));
  return true;
}

static bool token_char(char c) {
  return (lower(c) >= 'a' && lower(c) <= 'z') || digit(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

enum { SEEN_ACCEPT = 1, SEEN_VERSION = 2, SEEN_MAX_BATCH = 4, SEEN_ROLE = 8 };

/* Of a header that has one value, the first line counts. */
static bool first(struct qwp_upgrade_response *out, unsigned which) {
  bool is_first = !(out->seen & which);
  out->seen |= which;
  return is_first;
}

static void take_header(struct span name, struct span value, struct qwp_upgrade_response *out) {
  if (equals_ignoring_case(name, "Upgrade")) {
    out->upgrade_websocket |= list_has(value, "websocket");
  } else if (equals_ignoring_case(name, "Connection")) {
    out->connection_upgrade |= list_has(value, "upgrade");
  } else if (equals_ignoring_case(name, "Sec-WebSocket-Accept")) {
    if (first(out, SEEN_ACCEPT) && value.n < sizeof out->accept) copy_text(out->accept, sizeof out->accept, value);
  } else if (equals_ignoring_case(name, "Sec-WebSocket-Extensions") ||
             equals_ignoring_case(name, "Sec-WebSocket-Protocol")) {
    out->unasked |= value.n > 0;
  } else if (equals_ignoring_case(name, QWP_HDR_VERSION)) {
    if (first(out, SEEN_VERSION)) out->version = decimal(value);
  } else if (equals_ignoring_case(name, QWP_HDR_MAX_BATCH_SIZE)) {
    int64_t cap = first(out, SEEN_MAX_BATCH) ? decimal(value) : -1;
    if (cap > 0) out->max_batch = cap; /* CASE-34: never a limit of 0 that refuses everything */
  } else if (equals_ignoring_case(name, QWP_HDR_ROLE)) {
    if (first(out, SEEN_ROLE)) copy_text(out->role, sizeof out->role, value);
  }
}

static const char *parse_header_line(struct span line, struct qwp_upgrade_response *out) {
  if (*line.p == ' ' || *line.p == '\t') return "a folded header line";
  size_t n = 0;
  while (n < line.n && token_char(line.p[n])) n++;
  if (n == 0 || n == line.n || line.p[n] != ':') return "a line that is no header";
  struct span value = trim((struct span){line.p + n + 1, line.n - n - 1});
  if (memchr(value.p, '\0', value.n) || memchr(value.p, '\r', value.n)) return "a control character in a header";
  take_header((struct span){line.p, n}, value, out);
  return NULL;
}

/* The line at p without its \n or \r\n; *next is the offset behind them. p[0..n) has a \n. */
static struct span line_at(const char *p, size_t n, size_t *next) {
  size_t length = (size_t)((const char *)memchr(p, '\n', n) - p);
  *next = length + 1;
  if (length && p[length - 1] == '\r') length--;
  return (struct span){p, length};
}

/* Offset behind the blank line, 0 if it is not here yet. Two bytes before `from` are
 * looked at again: the blank line may have been cut. */
static size_t head_end(const char *p, size_t n, size_t from) {
  for (size_t i = from > 2 ? from - 2 : 0; i < n; i++) {
    if (p[i] != '\n') continue;
    if (i + 1 < n && p[i + 1] == '\n') return i + 2;
    if (i + 2 < n && p[i + 1] == '\r' && p[i + 2] == '\n') return i + 3;
  }
  return 0;
}

/* A peer that does not speak HTTP is known by its first bytes; do not wait for the rest. */
static bool begins_like_http(const char *p, size_t n) {
  static const char start[] = "HTTP/1.";
  return memcmp(p, start, n < sizeof start - 1 ? n : sizeof start - 1) == 0;
}

long qwp_upgrade_parse(const uint8_t *bytes, size_t n, size_t scanned, struct qwp_upgrade_response *out,
                       const char **why) {
  const char *p = (const char *)bytes;
  *out = (struct qwp_upgrade_response){.version = QWP_VERSION};
  *why = "";
  if (n && !begins_like_http(p, n)) {
    *why = "no HTTP/1.x answer";
    return -1;
  }
  size_t end = head_end(p, n < QWP_UPGRADE_HEAD_MAX ? n : QWP_UPGRADE_HEAD_MAX, scanned);
  if (end == 0) {
    if (n < QWP_UPGRADE_HEAD_MAX) return 0;
    *why = "an answer with more than 32 KiB of headers";
    return -1;
  }

  bool status_line = true;
  for (size_t at = 0, next = 0; at < end; at += next) {
    struct span line = line_at(p + at, end - at, &next);
    if (line.n == 0) break; /* the blank line */
    if (line.n > QWP_UPGRADE_LINE_MAX) {
      *why = "a line of more than 8 KiB";
    } else if (status_line) {
      if (!parse_status_line(line, out)) *why = "no HTTP/1.x status line";
    } else {
      const char *wrong = parse_header_line(line, out);
      if (wrong) *why = wrong;
    }
    if (**why) return -1;
    status_line = false;
  }
  return (long)end;
}

const char *qwp_upgrade_check(const struct qwp_upgrade_response *response, const char *accept) {
  if (response->status != 101) return "is not 101 Switching Protocols";
  if (!response->upgrade_websocket) return "has no Upgrade: websocket";
  if (!response->connection_upgrade) return "has no Connection: Upgrade";
  if (strcmp(response->accept, accept) != 0) return "has a wrong Sec-WebSocket-Accept";
  if (response->unasked) return "chooses an extension or sub-protocol that was not offered";
  if (response->version != QWP_VERSION) return "names a QWP version that is not spoken here";
  return NULL;
}
