#include "core/journal.h"

#include <string.h>

#include "core/profile.h"
#include "core/utf8.h"

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
    size_t length = mock_utf8_character(p, n - i);
    if (length == 0 || *p < 0x20 || *p == 0x7F) {
      mock_out_text(o, "\\u00");
      mock_out_hex(o, p, 1);
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
  mock_out_u8(&j->buffer, '"');
  mock_out_hex(&j->buffer, p, n);
  mock_out_u8(&j->buffer, '"');
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
