/* mock_kit.h - a mock server's decoder and tables without a connection around them: bytes in,
 * rows and refusals out. And a builder of messages that is as naive as the specification, so that
 * it shares no code with what it tests.
 */
#ifndef TESTLIB_MOCK_KIT_H
#define TESTLIB_MOCK_KIT_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/decode.h"
#include "core/dict.h"
#include "core/tables.h"
#include "qwp/wire.h"

/* ---- a message under construction -------------------------------------------------------- */

struct kit_bytes {
  uint8_t p[8192];
  size_t n;
};

static inline void kit_put(struct kit_bytes *b, const void *p, size_t n) {
  if (b->n + n > sizeof b->p) abort();
  memcpy(b->p + b->n, p, n);
  b->n += n;
}

static inline void kit_u8(struct kit_bytes *b, unsigned v) {
  const uint8_t byte = (uint8_t)v;
  kit_put(b, &byte, 1);
}

static inline void kit_le(struct kit_bytes *b, uint64_t v, size_t width) {
  for (size_t i = 0; i < width; i++) kit_u8(b, (unsigned)(v >> (8 * i) & 255));
}

static inline void kit_varint(struct kit_bytes *b, uint64_t v) {
  for (; v >= 128; v >>= 7) kit_u8(b, (unsigned)(v & 127) | 128);
  kit_u8(b, (unsigned)v);
}

static inline void kit_text(struct kit_bytes *b, const char *text) {
  kit_varint(b, strlen(text));
  kit_put(b, text, strlen(text));
}

/* Header with a length that kit_end fills in. */
static inline void kit_begin(struct kit_bytes *b, unsigned flags, unsigned tables) {
  b->n = 0;
  kit_put(b, "QWP1", 4);
  kit_u8(b, 1);
  kit_u8(b, flags);
  kit_le(b, tables, 2);
  kit_le(b, 0, 4);
}

static inline void kit_end(struct kit_bytes *b) {
  for (size_t i = 0; i < 4; i++) b->p[8 + i] = (uint8_t)((b->n - 12) >> (8 * i));
}

/* A delta section; texts separated by '|', "" = none. */
static inline void kit_delta(struct kit_bytes *b, uint64_t start, const char *texts) {
  size_t count = texts[0] ? 1 : 0;
  for (const char *p = texts; *p; p++) count += *p == '|';
  kit_varint(b, start);
  kit_varint(b, count);
  for (const char *p = texts; *p;) {
    const size_t n = strcspn(p, "|");
    kit_varint(b, n);
    kit_put(b, p, n);
    p += n + (p[n] == '|');
  }
}

static inline void kit_block(struct kit_bytes *b, const char *table, uint64_t rows, uint64_t columns) {
  kit_text(b, table);
  kit_varint(b, rows);
  kit_varint(b, columns);
}

static inline void kit_define(struct kit_bytes *b, const char *name, unsigned type) {
  kit_text(b, name);
  kit_u8(b, type);
}

/* The value of a DOUBLE_ARRAY: dims lengths, then elements first, first + 1, ... */
static inline void kit_array(struct kit_bytes *b, unsigned dims, const uint32_t *lengths, double first) {
  size_t n = 1;
  kit_u8(b, dims);
  for (unsigned i = 0; i < dims; i++) {
    kit_le(b, lengths[i], 4);
    n *= lengths[i];
  }
  for (size_t i = 0; i < n; i++, first += 1) {
    uint64_t bits;
    memcpy(&bits, &first, sizeof bits);
    kit_le(b, bits, 8);
  }
}

/* ---- decoder and tables ---------------------------------------------------------------------- */

#define KIT_WALL_NS INT64_C(1800000000123456789)
#define KIT_MAX_VIOLATIONS 64

struct kit_violation {
  char requirement[24];
  size_t offset;
};

struct kit {
  struct mock_limits limits;
  struct mock_decoder *decoder;
  struct mock_dict *dict;
  struct mock_tables *tables;
  struct mock_pending *pending;
  int64_t wire_seq; /* of the next message */
  struct mock_message msg;
  struct mock_decode_error err;
  size_t blocks, committed, rolled_back;
  struct kit_violation violations[KIT_MAX_VIOLATIONS];
  size_t violation_count;
};

static inline void kit_open(struct kit *k, enum mock_rows level) {
  *k = (struct kit){.limits = {.max_rows = QWP_MAX_ROWS, .max_columns = QWP_MAX_COLUMNS,
                               .max_symbols = QWP_MAX_SYMBOLS_DOC, .gap_is_error = true},
                    .decoder = mock_decoder_new(), .dict = mock_dict_new(), .tables = mock_tables_new(level)};
  k->pending = mock_pending_new(k->tables);
}

static inline void kit_close(struct kit *k) {
  mock_pending_del(k->pending);
  mock_tables_del(k->tables);
  mock_dict_del(k->dict);
  mock_decoder_del(k->decoder);
}

/* Another connection to the same tables. */
static inline void kit_reconnect(struct kit *k) {
  mock_pending_del(k->pending);
  k->pending = mock_pending_new(k->tables);
  mock_dict_del(k->dict);
  k->dict = mock_dict_new();
  k->wire_seq = 0;
}

static inline bool kit_on_block(void *ctx, const struct mock_block *block, struct mock_decode_error *err) {
  struct kit *k = ctx;
  k->blocks++;
  return mock_tables_append(k->pending, block, k->dict, 1, k->wire_seq, KIT_WALL_NS, err);
}

static inline void kit_on_violation(void *ctx, const char *requirement, size_t offset, const char *text) {
  struct kit *k = ctx;
  (void)text;
  if (k->violation_count == KIT_MAX_VIOLATIONS) return;
  struct kit_violation *v = &k->violations[k->violation_count++];
  snprintf(v->requirement, sizeof v->requirement, "%s", requirement);
  v->offset = offset;
}

/* One message as a server takes it: commit unless deferred, rollback when refused. The bytes are
 * copied to a buffer of exactly their size, so that a sanitizer sees a read beyond. */
static inline bool kit_message(struct kit *k, const uint8_t *p, size_t n) {
  uint8_t *exact = malloc(n ? n : 1);
  if (!exact) abort();
  if (n > 0) memcpy(exact, p, n);
  const struct mock_decode_sink sink = {.ctx = k, .on_block = kit_on_block, .on_violation = kit_on_violation};
  k->violation_count = k->blocks = k->committed = k->rolled_back = 0;
  k->err = (struct mock_decode_error){0};
  const bool ok = mock_decode(k->decoder, k->dict, &k->limits, exact, n, &sink, &k->msg, &k->err);
  memset(exact, 0xA5, n); /* nothing may point in here any more */
  free(exact);
  if (!ok) k->rolled_back = mock_tables_rollback(k->pending);
  else if (!(k->msg.flags & QWP_FLAG_DEFER)) k->committed = mock_tables_commit(k->pending, NULL, NULL);
  k->wire_seq++;
  return ok;
}

static inline bool kit_send(struct kit *k, struct kit_bytes *b) {
  kit_end(b);
  return kit_message(k, b->p, b->n);
}

/* ---- rows as SQL prints them in JSON --------------------------------------------------------- */

static inline size_t kit_put_text(char *out, size_t size, const char *p, size_t n) {
  size_t m = 0;
  if (size < 2 * n + 3) abort();
  out[m++] = '"';
  for (size_t i = 0; i < n; i++) {
    if (p[i] == '"' || p[i] == '\\') out[m++] = '\\';
    out[m++] = p[i];
  }
  out[m++] = '"';
  return m;
}

static inline size_t kit_put_double(char *out, size_t size, double d) {
  if (d == (double)(int64_t)d && d < 1e16 && d > -1e16) return (size_t)snprintf(out, size, "%.1f", d);
  int n = 0;
  for (int digits = 1; digits <= 17; digits++) {
    n = snprintf(out, size, "%.*g", digits, d);
    if (strtod(out, NULL) == d) break;
  }
  return (size_t)n;
}

static inline size_t kit_put_time(char *out, size_t size, int64_t v, int64_t per_second, int digits) {
  int64_t second = v / per_second, part = v % per_second;
  if (part < 0) second--, part += per_second;
  const time_t t = (time_t)second;
  struct tm tm;
  gmtime_r(&t, &tm);
  return (size_t)snprintf(out, size, "\"%04d-%02d-%02dT%02d:%02d:%02d.%0*" PRId64 "Z\"", tm.tm_year + 1900,
                          tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, digits, part);
}

/* 16 bytes, low half first. */
static inline size_t kit_put_uuid(char *out, size_t size, const uint8_t *p) {
  size_t n = (size_t)snprintf(out, size, "\"");
  for (int i = 15; i >= 0; i--)
    n += (size_t)snprintf(out + n, size - n, "%02x%s", p[i], i == 12 || i == 10 || i == 8 || i == 6 ? "-" : "");
  return n + (size_t)snprintf(out + n, size - n, "\"");
}

static inline size_t kit_put_long256(char *out, size_t size, const uint8_t *p) {
  int top = 31;
  while (top > 0 && p[top] == 0) top--;
  size_t n = (size_t)snprintf(out, size, "\"0x");
  for (int i = top; i >= 0; i--) n += (size_t)snprintf(out + n, size - n, "%02x", p[i]);
  return n + (size_t)snprintf(out + n, size - n, "\"");
}

/* A UTF-16 unit; 0 is the empty text. */
static inline size_t kit_put_char(char *out, size_t size, unsigned c) {
  if (c == 0) return (size_t)snprintf(out, size, "\"\"");
  if (c < 0x80) return (size_t)snprintf(out, size, "\"%c\"", (int)c);
  if (c < 0x800) return (size_t)snprintf(out, size, "\"%c%c\"", (int)(0xC0 | c >> 6), (int)(0x80 | (c & 63)));
  return (size_t)snprintf(out, size, "\"%c%c%c\"", (int)(0xE0 | c >> 12), (int)(0x80 | (c >> 6 & 63)),
                          (int)(0x80 | (c & 63)));
}

/* JSON has no infinity, and NaN is null. */
static inline size_t kit_put_number(char *out, size_t size, double d) {
  return d - d == 0 ? kit_put_double(out, size, d) : (size_t)snprintf(out, size, "null");
}

/* An array without elements is [], whatever its shape. */
static inline size_t kit_put_array(char *out, size_t size, const struct mock_array *a, unsigned depth, size_t *at) {
  if (depth == a->dims) return kit_put_number(out, size, a->data[(*at)++]);
  size_t n = (size_t)snprintf(out, size, "[");
  for (uint32_t i = 0; a->n > 0 && i < a->lengths[depth]; i++) {
    if (i > 0) n += (size_t)snprintf(out + n, size - n, ", ");
    n += kit_put_array(out + n, size - n, a, depth + 1, at);
  }
  return n + (size_t)snprintf(out + n, size - n, "]");
}

static inline size_t kit_put_value(char *out, size_t size, const struct mock_value *v) {
  if (v->null) return (size_t)snprintf(out, size, v->type == QWP_TYPE_LONG256 ? "\"\"" : "null");
  switch (v->type) {
    case QWP_TYPE_BOOLEAN: return (size_t)snprintf(out, size, v->as.b ? "true" : "false");
    case QWP_TYPE_DOUBLE:
    case QWP_TYPE_FLOAT: return kit_put_number(out, size, v->as.d);
    case QWP_TYPE_DOUBLE_ARRAY: return kit_put_array(out, size, v->as.array, 0, &(size_t){0});
    case QWP_TYPE_SYMBOL:
    case QWP_TYPE_VARCHAR:
    case QWP_TYPE_BINARY: return kit_put_text(out, size, v->as.text.p, v->as.text.n);
    case QWP_TYPE_TIMESTAMP:
      if (v->as.i == KIT_WALL_NS / 1000) return (size_t)snprintf(out, size, "\"<now>\"");
      return kit_put_time(out, size, v->as.i, 1000000, 6);
    case QWP_TYPE_TIMESTAMP_NANOS:
      if (v->as.i == KIT_WALL_NS) return (size_t)snprintf(out, size, "\"<now>\"");
      return kit_put_time(out, size, v->as.i, 1000000000, 9);
    case QWP_TYPE_DATE: return kit_put_time(out, size, v->as.i, 1000, 3);
    case QWP_TYPE_UUID: return kit_put_uuid(out, size, (const uint8_t *)v->as.text.p);
    case QWP_TYPE_LONG256: return kit_put_long256(out, size, (const uint8_t *)v->as.text.p);
    case QWP_TYPE_CHAR: return kit_put_char(out, size, (unsigned)v->as.i);
    case QWP_TYPE_IPV4:
      return (size_t)snprintf(out, size, "\"%d.%d.%d.%d\"", (int)(v->as.i >> 24 & 255), (int)(v->as.i >> 16 & 255),
                              (int)(v->as.i >> 8 & 255), (int)(v->as.i & 255));
    default: return (size_t)snprintf(out, size, "%" PRId64, v->as.i);
  }
}

/* `["dev0", 1.5, 1, "2023-11-14T22:13:20.000000Z"]`; out has room for `size`. */
static inline void kit_row(const struct kit *k, size_t table, size_t row, char *out, size_t size) {
  const size_t columns = mock_table_columns(k->tables, table);
  struct mock_value v[64];
  if (columns > 64 || !mock_table_row(k->tables, table, row, v, NULL, NULL)) abort();
  size_t n = (size_t)snprintf(out, size, "[");
  for (size_t i = 0; i < columns; i++) {
    if (i > 0) n += (size_t)snprintf(out + n, size - n, ", ");
    n += kit_put_value(out + n, size - n, &v[i]);
  }
  snprintf(out + n, size - n, "]");
}

#endif
