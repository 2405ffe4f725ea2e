/* The answers to a request head, as bytes (declared in upgrade.h). */
#include <openssl/evp.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "core/upgrade.h"
#include "qwp/wire.h"

void mock_accept_key(const char *key, size_t n, char accept[29]) {
  struct mock_out text = {0};
  mock_out_put(&text, key, n);
  mock_out_text(&text, QWP_WS_GUID);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int digest_n = 0;
  accept[0] = '\0';
  if (!text.failed && EVP_Digest(text.p, text.n, digest, &digest_n, EVP_sha1(), NULL) == 1 && digest_n == 20)
    EVP_EncodeBlock((unsigned char *)accept, digest, 20);
  mock_out_free(&text);
}

static void status_line(struct mock_out *o, int status, const char *reason) {
  mock_out_text(o, "HTTP/1.1 ");
  mock_out_decimal(o, status);
  mock_out_text(o, " ");
  mock_out_text(o, reason);
  mock_out_text(o, "\r\n");
}

static void header(struct mock_out *o, const char *name, const char *value) {
  mock_out_text(o, name);
  mock_out_text(o, ": ");
  mock_out_text(o, value);
  mock_out_text(o, "\r\n");
}

static void header_decimal(struct mock_out *o, const char *name, int64_t value) {
  mock_out_text(o, name);
  mock_out_text(o, ": ");
  mock_out_decimal(o, value);
  mock_out_text(o, "\r\n");
}

/* ---- refusals ------------------------------------------------------------------ */

/* Sun, 06 Nov 1994 08:49:37 GMT, whatever the locale. */
static void date(struct mock_out *o, int64_t wall_ns) {
  static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  time_t s = (time_t)(wall_ns / 1000000000);
  struct tm tm;
  if (!gmtime_r(&s, &tm)) return;
  int year = tm.tm_year + 1900;
  char text[] = "Day, 00 Mon 0000 00:00:00 GMT";
  memcpy(text, days + 3 * tm.tm_wday, 3);
  memcpy(text + 8, months + 3 * tm.tm_mon, 3);
  const struct { int at, value; } pairs[] = {
    {5, tm.tm_mday}, {12, year / 100 % 100}, {14, year % 100}, {17, tm.tm_hour}, {20, tm.tm_min}, {23, tm.tm_sec}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    text[pairs[i].at] = (char)('0' + pairs[i].value / 10 % 10);
    text[pairs[i].at + 1] = (char)('0' + pairs[i].value % 10);
  }
  header(o, "Date", text);
}

/* The server's ordinary HTTP answers: one chunk that ends in CRLF, then the last chunk. */
static void chunked(struct mock_out *o, int status, const char *reason, struct mock_slice text[3], int64_t wall_ns) {
  static const char hex[] = "0123456789abcdef";
  size_t n = text[0].n + text[1].n + text[2].n + 2;
  status_line(o, status, reason);
  header(o, "Server", "questDB/1.0");
  date(o, wall_ns);
  header(o, "Transfer-Encoding", "chunked");
  header(o, "Content-Type", "text/plain; charset=utf-8");
  mock_out_text(o, "\r\n");

  int shift = 4; /* at least two digits */
  while (n >> (shift + 4)) shift += 4;
  for (; shift >= 0; shift -= 4) mock_out_u8(o, (unsigned char)hex[n >> shift & 15]);
  mock_out_text(o, "\r\n");
  for (int i = 0; i < 3; i++) mock_out_put(o, text[i].p, text[i].n);
  mock_out_text(o, "\r\n\r\n00\r\n\r\n");
}

static struct mock_slice slice(const char *s) { return (struct mock_slice){s, s ? strlen(s) : 0}; }

static void upgrade_required(struct mock_out *o) {
  status_line(o, 426, "Upgrade Required");
  header(o, "Upgrade", "websocket");
  header(o, "Connection", "Upgrade");
  header(o, "Sec-WebSocket-Version", "13");
  header(o, "Content-Length", "0");
  mock_out_text(o, "\r\n");
}

static void misdirected(struct mock_out *o, const char *role) {
  status_line(o, 421, "Misdirected Request");
  header(o, "Connection", "close");
  header(o, "Content-Length", "0");
  header(o, QWP_HDR_ROLE, role);
  mock_out_text(o, "\r\n");
}

void mock_answer_refusal(struct mock_out *o, const struct mock_request *r, const struct mock_verdict *v,
                         const char *role, int64_t wall_ns) {
  struct mock_slice text[3] = {slice(v->text), {0}, {0}};
  switch (v->status) {
    case 426: upgrade_required(o); return;
    case 421: misdirected(o, role); return;
    case 404: chunked(o, 404, "Not Found", text, wall_ns); return;
    case 405:
      text[0] = slice("Method ");
      text[1] = r->method;
      text[2] = slice(" not supported");
      chunked(o, 405, "Method Not Allowed", text, wall_ns);
      return;
    default: break;
  }
  if (v->kind == MOCK_VERDICT_KEEP) { /* the HTTP layer's 400, spelt with a small r */
    chunked(o, 400, "Bad request", text, wall_ns);
    return;
  }
  status_line(o, 400, "Bad Request");
  header(o, "Content-Type", "text/plain");
  header_decimal(o, "Content-Length", (int64_t)strlen(v->text));
  mock_out_text(o, "\r\n");
  mock_out_text(o, v->text);
}

/* ---- what a script may change --------------------------------------------------- */

static bool overrides(const struct mock_entry *e, const char *name) {
  for (size_t i = 0; e && i < e->header_count; i++)
    if (strcasecmp(e->headers[i].name, name) == 0) return true;
  return false;
}

/* A header of ours, unless the entry leaves it out or has others in its place: in the entry's spelling, each of them. */
static void own_header(struct mock_out *o, const struct mock_entry *e, const char *name, const char *value) {
  if (!overrides(e, name)) header(o, name, value);
  for (size_t i = 0; e && i < e->header_count; i++) {
    const struct mock_header *h = &e->headers[i];
    if (h->value && strcasecmp(h->name, name) == 0) header(o, h->name, h->value);
  }
}

static bool among(const char *name, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcasecmp(names[i], name) == 0) return true;
  return false;
}

/* What the entry adds to the headers that were ours to write. */
static void extra_headers(struct mock_out *o, const struct mock_entry *e, const char *const *ours, size_t ours_n) {
  if (!e) return;
  for (size_t i = 0; i < e->header_count; i++) {
    const struct mock_header *h = &e->headers[i];
    if (h->value && !among(h->name, ours, ours_n)) header(o, h->name, h->value);
  }
}

void mock_answer_101(struct mock_out *o, const struct mock_request *r, const struct mock_entry *e, int64_t cap) {
  static const char *const ours[] = {"Upgrade", "Connection", "Sec-WebSocket-Accept", QWP_HDR_VERSION,
                                     QWP_HDR_ROLE, QWP_HDR_MAX_BATCH_SIZE};
  bool ingress = r->target == MOCK_TARGET_WRITE;
  size_t ours_n = ingress ? 6 : 4;
  char accept[29];
  mock_accept_key(r->key.p, r->key.n, accept);
  const char *version = e && e->version ? e->version : "1";
  const char *role = e && e->role ? e->role : "STANDALONE";

  status_line(o, 101, e && e->reason ? e->reason : "Switching Protocols");
  own_header(o, e, "Upgrade", "websocket");
  own_header(o, e, "Connection", "Upgrade");
  own_header(o, e, "Sec-WebSocket-Accept", accept);
  if (*version) own_header(o, e, QWP_HDR_VERSION, version);
  if (ingress && *role) own_header(o, e, QWP_HDR_ROLE, role);
  if (ingress && cap > 0) {
    struct mock_out text = {0};
    mock_out_decimal(&text, cap);
    mock_out_u8(&text, 0);
    own_header(o, e, QWP_HDR_MAX_BATCH_SIZE, text.failed ? "" : (const char *)text.p);
    mock_out_free(&text);
  }
  extra_headers(o, e, ours, ours_n);
  mock_out_text(o, "\r\n");
}

static const char *usual_reason(int status) {
  static const struct { int status; const char *reason; } known[] = {
    {101, "Switching Protocols"}, {200, "OK"}, {301, "Moved Permanently"}, {302, "Found"}, {400, "Bad Request"},
    {401, "Unauthorized"}, {403, "Forbidden"}, {404, "Not Found"}, {405, "Method Not Allowed"},
    {421, "Misdirected Request"}, {426, "Upgrade Required"}, {429, "Too Many Requests"},
    {500, "Internal Server Error"}, {502, "Bad Gateway"}, {503, "Service Unavailable"}, {504, "Gateway Timeout"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].status == status) return known[i].reason;
  return "Scripted";
}

/* The headers that a scripted status carries by itself. */
static size_t status_headers(const struct mock_entry *e, const char *length, bool has_body, struct mock_header h[5]) {
  size_t n = 0;
  if (e->status == 426) {
    h[n++] = (struct mock_header){"Upgrade", "websocket"};
    h[n++] = (struct mock_header){"Connection", "Upgrade"};
    h[n++] = (struct mock_header){"Sec-WebSocket-Version", "13"};
  } else if (e->status == 421) {
    h[n++] = (struct mock_header){"Connection", "close"};
    h[n++] = (struct mock_header){QWP_HDR_ROLE, e->role && *e->role ? e->role : "REPLICA"};
  }
  if (has_body) h[n++] = (struct mock_header){"Content-Type", "text/plain"};
  h[n++] = (struct mock_header){"Content-Length", length};
  return n;
}

void mock_answer_status(struct mock_out *o, const struct mock_entry *e) {
  const char *body = e->body ? e->body : e->status == 401 ? "Unauthorized" : "";
  struct mock_out length = {0};
  mock_out_decimal(&length, (int64_t)strlen(body));
  mock_out_u8(&length, 0);
  struct mock_header own[5];
  size_t own_n = status_headers(e, length.failed ? "0" : (const char *)length.p, *body != 0, own);
  const char *names[5];

  status_line(o, e->status, e->reason ? e->reason : usual_reason(e->status));
  for (size_t i = 0; i < own_n; i++) {
    names[i] = own[i].name;
    own_header(o, e, own[i].name, own[i].value);
  }
  extra_headers(o, e, names, own_n);
  mock_out_text(o, "\r\n");
  mock_out_text(o, body);
  mock_out_free(&length);
}
