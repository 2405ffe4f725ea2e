#include "core/journal.h"

#include <string.h>

#include "core/profile.h"

static const char hex_digit[] = "0123456789abcdef";

static void open_header(struct mock_journal *j, const struct mock_options *o) {
  static const char *const rows[] = {"full", "digest", "count"};
  mock_out_clear(&j->buffer);
  mock_out_text(&j->buffer, "{\"journal\":\"qwp-mock\",\"version\":1");
  mock_journal_string(j, "profile", mock_profile_name(o->script));
  mock_journal_string(j, "rows", rows[o->rows]);
  mock_journal_string(j, "level", j->level == MOCK_JOURNAL_FULL ? "full" : "summary");
  mock_journal_end(j);
}

void mock_journal_init(struct mock_journal *j, const struct mock_options *o) {
  *j = (struct mock_journal){
    .line = o->journal_line, .flush = o->journal_flush, .ctx = o->journal_ctx, .level = o->journal,
    .hex = o->journal_hex};
  if (!j->line) j->level = MOCK_JOURNAL_OFF;
  if (j->level != MOCK_JOURNAL_OFF) open_header(j, o);
}

void mock_journal_free(struct mock_journal *j) { mock_out_free(&j->buffer); }

void mock_journal_head(struct mock_journal *j, const struct mock_journal_place *at, const char *event) {
  mock_out_clear(&j->buffer);
  mock_out_text(&j->buffer, "{\"t_ns\":");
  mock_out_decimal(&j->buffer, at->t_ns);
  mock_out_text(&j->buffer, ",\"side\":\"srv\"");
  mock_journal_int(j, at->reader ? "reader" : "conn", at->number);
  mock_journal_int(j, "link", at->link);
  mock_journal_string(j, "event", event);
}

/* How many bytes a well-formed UTF-8 character at p takes; 0 = it is none. */
static size_t utf8_length(const uint8_t *p, size_t n) {
  size_t want = 0;
  if (p[0] < 0x80) want = 1;
  else if (p[0] >= 0xC2 && p[0] < 0xE0) want = 2;
  else if ((p[0] & 0xF0) == 0xE0) want = 3;
  else if (p[0] >= 0xF0 && p[0] < 0xF5) want = 4;
  if (want == 0 || want > n) return 0;
  for (size_t i = 1; i < want; i++)
    if ((p[i] & 0xC0) != 0x80) return 0;
  if (want == 3 && ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F))) return 0;
  if (want == 4 && ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))) return 0;
  return want;
}

/* Stays readable JSON whatever came in. */
void mock_json_string(struct mock_out *o, const char *s, size_t n) {
  mock_out_u8(o, '"');
  for (size_t i = 0; i < n;) {
    const uint8_t *p = (const uint8_t *)s + i;
    if (*p >= 0x20 && *p < 0x7F && *p != '"' && *p != '\\') { /* nearly always */
      mock_out_u8(o, *p);
      i++;
      continue;
    }
    size_t length = utf8_length(p, n - i);
    if (length == 0 || *p < 0x20 || *p == 0x7F) {
      char escape[7] = {'\\', 'u', '0', '0', hex_digit[*p >> 4], hex_digit[*p & 15], 0};
      mock_out_put(o, escape, 6);
      i++;
      continue;
    }
    if (*p == '"' || *p == '\\') mock_out_u8(o, '\\');
    mock_out_put(o, p, length);
    i += length;
  }
  mock_out_u8(o, '"');
}

void mock_journal_text(struct mock_journal *j, const char *key, const char *s, size_t n) {
  mock_journal_key(j, key);
  mock_json_string(&j->buffer, s, n);
}

void mock_journal_string(struct mock_journal *j, const char *key, const char *s) {
  if (s) mock_journal_text(j, key, s, strlen(s));
}

void mock_journal_hash(struct mock_journal *j, const char *key, uint64_t hash) {
  uint8_t bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(hash >> (56 - 8 * i));
  mock_journal_bytes(j, key, bytes, 8);
}

void mock_journal_bytes(struct mock_journal *j, const char *key, const uint8_t *p, size_t n) {
  mock_journal_key(j, key);
  if (n > MOCK_OUT_LIMIT_BYTES / 4) n = 0; /* never: a frame is bounded far below */
  uint8_t *at = mock_out_reserve(&j->buffer, 2 * n + 2);
  if (!at) return;
  *at++ = '"';
  for (size_t i = 0; i < n; i++) {
    *at++ = (uint8_t)hex_digit[p[i] >> 4];
    *at++ = (uint8_t)hex_digit[p[i] & 15];
  }
  *at = '"';
}

void mock_journal_end(struct mock_journal *j) {
  mock_out_u8(&j->buffer, '}');
  if (!j->buffer.failed) j->line(j->ctx, (const char *)j->buffer.p, j->buffer.n);
  j->unflushed = true;
  j->buffer.failed = false; /* a line lost for want of memory loses no other */
}

void mock_journal_flush(struct mock_journal *j) {
  if (j->unflushed && j->flush) j->flush(j->ctx);
  j->unflushed = false;
}

static uint64_t mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0xD6E8FEB86659FD93u;
  h ^= h >> 32;
  h *= 0xD6E8FEB86659FD93u;
  return h ^ h >> 32;
}

uint64_t mock_hash64(const uint8_t *p, size_t n) {
  const uint64_t prime = 0x9E3779B97F4A7C15u;
  uint64_t h = n * prime;
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word |= (uint64_t)p[i] << (8 * i);
    h = (h ^ word) * prime;
    h ^= h >> 29;
  }
  uint64_t tail = 0;
  for (size_t i = 0; i < n; i++) tail |= (uint64_t)p[i] << (8 * i);
  return mix((h ^ tail) * prime);
}
