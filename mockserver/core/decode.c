/* Order of checks is the server's [MAL-ING-015]: version before magic, then lengths, then the
 * dictionary, then block after block. What was worked out for the name and schema bytes of a block
 * is kept: senders repeat the same schema in every message, and comparing it costs less than
 * reading it again. */
#include "core/decode.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/decode_column.h"
#include "core/dict.h"
#include "core/names.h"
#include "core/reader.h"
#include "core/utf8.h"
#include "qwp/wire.h"

/* Schemas remembered at a time, by name; more tables than this in turn only cost time. */
#define SCHEMA_SLOTS 16u

/* The head of a block as it came, in one piece, so that the usual case, the same table with the
 * same number of rows, is one comparison:
 *
 *   name_length name row_count | column_count definitions
 *   head                         schema
 */
struct schema {
  uint64_t number; /* 0 = nothing to reuse */
  uint8_t *head;
  size_t head_n, head_capacity;
  size_t name_at, name_n;
  size_t schema_at; /* where the schema starts in head; column names point behind it */
  size_t rows;      /* as the head says */
  struct mock_column *columns;
  size_t column_count, column_capacity;
  struct mock_block block; /* what is handed over; only rows changes from block to block */
};

struct mock_decoder {
  struct schema schemas[SCHEMA_SLOTS];
  struct schema *last; /* the one of the block before */
};

struct mock_decoder *mock_decoder_new(void) {
  struct mock_decoder *d = calloc(1, sizeof *d);
  if (d) d->last = &d->schemas[0];
  return d;
}

void mock_decoder_del(struct mock_decoder *d) {
  if (!d) return;
  for (size_t i = 0; i < SCHEMA_SLOTS; i++) {
    free(d->schemas[i].head);
    free(d->schemas[i].columns);
  }
  free(d);
}

/* Numbers are given once in the life of the process, so that they can be compared across decoders. */
static uint64_t next_schema_number(void) {
  static atomic_uint_fast64_t last;
  return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

/* One call of mock_decode. */
struct decode {
  struct mock_reader r;
  struct mock_decoder *d;
  struct mock_dict *dict;
  const struct mock_limits *limits;
  struct mock_message *msg;
};

static bool out_of_memory(struct decode *x) {
  return mock_refuse(x->r.err, QWP_ST_INTERNAL_ERROR, mock_reader_offset(&x->r), "out of memory");
}

/* ---- header ------------------------------------------------------------------------ */

MOCK_RARE static void judge_header(struct decode *x, size_t surplus) {
  const uint8_t flags = x->msg->flags;
  if (flags & QWP_FLAGS_RESERVED)
    mock_reader_violation(&x->r, "WIRE-FLAG-002", QWP_HEADER_OFF_FLAGS, "reserved flag bits are set");
  if (!(flags & QWP_FLAG_DELTA))
    mock_reader_violation(&x->r, "WIRE-FLAG-003", QWP_HEADER_OFF_FLAGS, "flag 0x08 (delta dictionary) is clear");
  if (surplus)
    mock_reader_violation(&x->r, "WIRE-HDR-005", (size_t)(x->r.end - x->r.base), "bytes behind payload_length");
}

static bool read_header(struct decode *x, const uint8_t *p, size_t n) {
  struct mock_decode_error *err = x->r.err;
  if (n >= QWP_HEADER_BYTES && p[QWP_HEADER_OFF_VERSION] != QWP_VERSION)
    return mock_refuse(err, QWP_ST_PARSE_ERROR, QWP_HEADER_OFF_VERSION,
                       "message version %d does not match negotiated version %d", (int8_t)p[QWP_HEADER_OFF_VERSION],
                       QWP_VERSION);
  if (n < QWP_HEADER_BYTES) return mock_refuse(err, QWP_ST_PARSE_ERROR, n, "message header too short");
  if (mock_load32(p) != QWP_MAGIC) return mock_refuse(err, QWP_ST_PARSE_ERROR, 0, "invalid magic bytes");

  const uint32_t length = mock_load32(p + QWP_HEADER_OFF_LENGTH);
  const size_t available = n - QWP_HEADER_BYTES;
  if (length > QWP_MAX_PAYLOAD_BYTES)
    return mock_refuse(err, QWP_ST_PARSE_ERROR, QWP_HEADER_OFF_LENGTH, "payload exceeds maximum size");
  if (length > available)
    return mock_refuse(err, QWP_ST_PARSE_ERROR, QWP_HEADER_OFF_LENGTH,
                       "message payload exceeds available data [payloadLength=%u, available=%zu]", length, available);

  x->msg->flags = p[QWP_HEADER_OFF_FLAGS];
  x->msg->table_count = mock_load16(p + QWP_HEADER_OFF_TABLES);
  x->r.p = p + QWP_HEADER_BYTES;
  x->r.end = x->r.p + length;
  if (length != available || (x->msg->flags & (QWP_FLAGS_RESERVED | QWP_FLAG_DELTA)) != QWP_FLAG_DELTA)
    judge_header(x, available - length);
  return true;
}

/* ---- delta section ------------------------------------------------------------------ */

/* The server shows ASCII as it is, other bytes as \xNN, and nothing for a surrogate. */
static bool invalid_entry(struct decode *x, const uint8_t *text, size_t n, size_t at, size_t valid) {
  char shown[128];
  size_t m = 0;
  const bool surrogate = valid + 1 < n && text[valid] == 0xED && text[valid + 1] >= 0xA0;
  for (size_t i = 0; i < n && m + 5 < sizeof shown && !surrogate; i++) {
    if (text[i] >= 0x20 && text[i] < 0x7F) {
      shown[m++] = (char)text[i];
      continue;
    }
    const char *hex = "0123456789ABCDEF";
    shown[m++] = '\\';
    shown[m++] = 'x';
    shown[m++] = hex[text[i] >> 4];
    shown[m++] = hex[text[i] & 15];
  }
  shown[m] = '\0';
  return mock_refuse(x->r.err, QWP_ST_WRITE_ERROR, at, "cannot convert invalid UTF-8 sequence to UTF-16 [seq=%s]",
                     shown);
}

static bool read_entry(struct decode *x, uint64_t id) {
  struct mock_reader *r = &x->r;
  uint64_t length;
  if (r->p == r->end) return mock_reader_fail(r, "truncated delta symbol entry");
  if (!mock_reader_varint(r, &length)) return false;
  const size_t at = mock_reader_offset(r);
  const uint8_t *text = mock_reader_take(r, length);
  if (!text) return mock_reader_fail(r, "truncated delta symbol value");
  const size_t valid = mock_utf8_valid_prefix(text, (size_t)length);
  if (valid < length) return invalid_entry(x, text, (size_t)length, at + valid, valid);

  const int set = mock_dict_set(x->dict, id, (const char *)text, (size_t)length);
  if (set < 0) return out_of_memory(x);
  if (set == 2) mock_reader_violation(r, "WIRE-DICT-015", at, "a registered symbol id is given another text");
  return true;
}

/* A delta that starts above the dictionary: 0x0D by the documentation, filled by the server of
 * July 2026 [WIRE-DICT-012]. */
static bool accept_gap(struct decode *x, uint64_t start, size_t at) {
  if (x->limits->gap_is_error)
    return mock_refuse(x->r.err, QWP_ST_DICTIONARY_GAP, at,
                       "delta symbol dictionary starts at %llu, but the connection has %zu symbols",
                       (unsigned long long)start, mock_dict_count(x->dict));
  mock_reader_violation(&x->r, "WIRE-DICT-004", at, "delta section starts above the dictionary");
  return mock_dict_fill(x->dict, start) || out_of_memory(x);
}

/* `start count` in two bytes, nothing new: the usual section of a warm connection. */
MOCK_EVERY bool delta_is_empty(struct decode *x) {
  const uint8_t *p = x->r.p;
  if (mock_reader_left(&x->r) < 2 || p[0] >= 0x80 || p[1] != 0 || (p[0] && p[0] > mock_dict_count(x->dict)))
    return false;
  x->msg->dict_start = p[0];
  x->r.p = p + 2;
  return true;
}

MOCK_RARE static bool read_delta(struct decode *x) {
  struct mock_reader *r = &x->r;
  const size_t at = mock_reader_offset(r);
  uint64_t start, count;
  if (r->p == r->end) return mock_reader_fail(r, "truncated delta symbol dictionary");
  if (!mock_reader_varint(r, &start)) return false;
  if (start > INT32_MAX) return mock_reader_fail(r, "deltaStartId out of int range: %lld", (long long)start);
  if (!mock_reader_varint(r, &count)) return false;
  if (count > INT32_MAX) return mock_reader_fail(r, "deltaCount out of int range: %lld", (long long)count);
  if (start + count > x->limits->max_symbols)
    return mock_reader_fail(r, "delta symbol dictionary size exceeds limit: %lld", (long long)(start + count));
  if (start > mock_dict_count(x->dict) && !accept_gap(x, start, at)) return false;

  x->msg->dict_start = start;
  x->msg->dict_count = count;
  for (uint64_t i = 0; i < count; i++)
    if (!read_entry(x, start + i)) return false;
  return true;
}

/* ---- schema ------------------------------------------------------------------------- */

static bool reserve_columns(struct schema *s, size_t columns) {
  if (columns <= s->column_capacity) return true;
  struct mock_column *grown = realloc(s->columns, columns * sizeof *grown);
  if (!grown) return false;
  s->columns = grown;
  s->column_capacity = columns;
  return true;
}

static bool reserve_head(struct schema *s, size_t bytes) {
  if (bytes <= s->head_capacity) return true;
  uint8_t *grown = realloc(s->head, bytes);
  if (!grown) return false;
  s->head = grown;
  s->head_capacity = bytes;
  return true;
}

static bool read_definition(struct decode *x, size_t index, struct mock_column *c) {
  struct mock_reader *r = &x->r;
  uint64_t length;
  if (r->p == r->end) return mock_reader_fail(r, "message header too short");
  if (!mock_reader_varint(r, &length)) return false;
  if (length > QWP_MAX_NAME_BYTES)
    return mock_reader_fail(r, "invalid column name length at column %zu: %lld", index, (long long)length);
  const uint8_t *name = mock_reader_take(r, length);
  if (!name || r->p == r->end) return mock_reader_fail(r, "message header too short");
  if (!mock_utf8_valid(name, (size_t)length))
    return mock_reader_fail(r, "column name is not UTF-8 at column %zu", index);
  if (!mock_column_type_exists(*r->p)) return mock_reader_fail(r, "invalid column type code: 0x%x", *r->p);
  const uint8_t type = *r->p++;
  *c = (struct mock_column){
    .name = (const char *)name, .name_n = (size_t)length, .type = type, .width = mock_column_type_width(type)};
  return true;
}

/* Two columns of one name, in any case: the server keeps the first (or makes a table nobody can
 * read), so a client must not. A small hash table, because a block may bring 2048 of them. */
static bool judge_duplicates(struct decode *x, const struct schema *s) {
  uint16_t seen[2 * QWP_MAX_COLUMNS];
  size_t size = 4;
  while (size < 2 * s->column_count) size *= 2;
  memset(seen, 0, size * sizeof *seen);
  bool clean = true;
  for (size_t i = 0; i < s->column_count; i++) {
    const struct mock_column *c = &s->columns[i];
    size_t at = mock_name_hash(c->name, c->name_n) & (size - 1);
    while (seen[at]) {
      const struct mock_column *other = &s->columns[seen[at] - 1];
      if (mock_name_equal(c->name, c->name_n, other->name, other->name_n)) break;
      at = (at + 1) & (size - 1);
    }
    if (seen[at]) {
      clean = false;
      mock_reader_violation(&x->r, "WIRE-SCH-001", (size_t)((const uint8_t *)c->name - x->r.base),
                            "column name occurs twice in the block");
    } else {
      seen[at] = (uint16_t)(i + 1);
    }
  }
  return clean;
}

/* Lengths below 128 take one byte, the count one or two. */
static bool schema_is_minimal(const struct schema *s, size_t bytes) {
  size_t n = s->column_count < 0x80 ? 1 : 2;
  for (size_t i = 0; i < s->column_count; i++) n += 2 + s->columns[i].name_n;
  return n == bytes;
}

/* Moves the head of the block at [head, cursor) into s, so that it outlives the message. It is
 * reused only if reading it again would find nothing to note. */
static bool keep_head(struct decode *x, struct schema *s, const uint8_t *head, bool clean) {
  const size_t n = (size_t)(x->r.p - head);
  if (!reserve_head(s, n)) return out_of_memory(x);
  memcpy(s->head, head, n);
  s->head_n = n;
  for (size_t i = 0; i < s->column_count; i++)
    s->columns[i].name = (const char *)s->head + ((const uint8_t *)s->columns[i].name - head);
  s->number = clean ? next_schema_number() : 0;
  s->block = (struct mock_block){.name = (const char *)s->head + s->name_at, .name_n = s->name_n,
                                 .columns = s->columns, .column_count = s->column_count, .schema = s->number};
  return true;
}

/* Reads column_count and definitions; the columns' names point into the message until keep_head. */
static bool read_schema(struct decode *x, struct schema *s, bool *clean) {
  struct mock_reader *r = &x->r;
  const uint8_t *bytes = r->p;
  uint64_t count;
  if (!mock_reader_varint(r, &count)) return false;
  if (count > x->limits->max_columns || count > QWP_MAX_COLUMNS)
    return mock_reader_fail(r, "column count exceeds maximum: %lld (max %llu)", (long long)count,
                            (unsigned long long)x->limits->max_columns);
  /* A definition takes two bytes at least: nothing is reserved for columns that cannot be there. */
  const size_t possible = mock_reader_left(r) / 2 + 1;
  if (!reserve_columns(s, count < possible ? (size_t)count : possible)) return out_of_memory(x);
  s->column_count = 0;
  for (size_t i = 0; i < count; i++) {
    struct mock_column c;
    if (!read_definition(x, i, &c)) return false;
    s->columns[s->column_count++] = c;
  }
  *clean = judge_duplicates(x, s) && schema_is_minimal(s, (size_t)(r->p - bytes));
  return true;
}

/* ---- blocks ------------------------------------------------------------------------- */

static bool read_table_name(struct decode *x, const uint8_t **name, size_t *n) {
  struct mock_reader *r = &x->r;
  uint64_t length;
  if (!mock_reader_varint(r, &length)) return false;
  if (length == 0) return mock_reader_fail(r, "empty table name");
  if (length > QWP_MAX_NAME_BYTES)
    return mock_reader_fail(r, "table name too long: %lld (max %u)", (long long)length, QWP_MAX_NAME_BYTES);
  *name = mock_reader_take(r, length);
  if (!*name) return mock_reader_fail(r, "message header too short");
  *n = (size_t)length;
  return true;
}

static struct schema *schema_slot(struct mock_decoder *d, const uint8_t *name, size_t n) {
  return &d->schemas[(name[0] + 3u * name[n - 1] + 7u * n) % SCHEMA_SLOTS];
}

MOCK_EVERY bool starts_with(const struct mock_reader *r, const uint8_t *bytes, size_t n) {
  return n <= mock_reader_left(r) && mock_same_bytes(r->p, bytes, n);
}

/* The schema of s stands at the cursor, behind another row count: skip it. */
static bool skip_known_schema(struct decode *x, const struct schema *s) {
  const size_t n = s->head_n - s->schema_at;
  if (!starts_with(&x->r, s->head + s->schema_at, n)) return false;
  x->r.p += n;
  return true;
}

static bool read_row_count(struct decode *x, size_t *rows) {
  struct mock_reader *r = &x->r;
  uint64_t count;
  if (!mock_reader_varint(r, &count)) return false;
  if (count > x->limits->max_rows || count > QWP_MAX_ROWS)
    return mock_reader_fail(r, "row count exceeds maximum: %lld (max %llu)", (long long)count,
                            (unsigned long long)x->limits->max_rows);
  *rows = (size_t)count;
  return true;
}

/* Name, row count and schema, remembered or read. NULL: refused. */
MOCK_RARE static struct schema *read_head(struct decode *x, size_t *rows) {
  struct mock_reader *r = &x->r;
  const uint8_t *head = r->p, *name;
  size_t name_n;
  bool clean = true;
  if (!read_table_name(x, &name, &name_n)) return NULL;
  struct schema *s = schema_slot(x->d, name, name_n);
  const bool known = s->number && s->name_n == name_n && mock_same_bytes(s->head + s->name_at, name, name_n);
  if (!known && !mock_utf8_valid(name, name_n)) {
    mock_reader_fail(r, "table name is not UTF-8");
    return NULL;
  }
  if (!read_row_count(x, rows)) return NULL;
  x->d->last = s;
  if (known && skip_known_schema(x, s)) return s;

  s->number = 0; /* what was remembered ends here, also if the rest is refused */
  s->name_at = (size_t)(name - head);
  s->name_n = name_n;
  s->rows = *rows;
  s->schema_at = (size_t)(r->p - head);
  if (!read_schema(x, s, &clean)) return NULL;
  clean = clean && s->schema_at == 1 + name_n + (*rows < 0x80 ? 1u : *rows < 0x4000 ? 2u : 3u);
  return keep_head(x, s, head, clean) ? s : NULL;
}

static bool read_block(struct decode *x) {
  struct mock_reader *r = &x->r;
  const size_t start = mock_reader_offset(r);
  struct schema *s = x->d->last;
  size_t rows = s->rows;
  if (s->number && rows <= x->limits->max_rows && starts_with(r, s->head, s->head_n)) r->p += s->head_n;
  else if (!(s = read_head(x, &rows))) return false;

  const struct mock_column_input in = {
    .reader = r, .dict = x->dict, .limits = x->limits, .flags = x->msg->flags, .rows = rows};
  for (size_t i = 0; i < s->column_count; i++)
    if (!mock_column_decode(&in, &s->columns[i])) return false;

  s->block.rows = rows;
  r->err->offset = start;
  return r->sink->on_block(r->sink->ctx, &s->block, r->err);
}

bool mock_decode(struct mock_decoder *d, struct mock_dict *dict, const struct mock_limits *limits,
                 const uint8_t *p, size_t n, const struct mock_decode_sink *sink,
                 struct mock_message *msg, struct mock_decode_error *err) {
  *msg = (struct mock_message){0};
  if (n == 0) return true; /* an empty commit [WIRE-HDR-009] */
  struct decode x = {.r = {.base = p, .p = p, .end = p + n, .sink = sink, .err = err},
                     .d = d, .dict = dict, .limits = limits, .msg = msg};
  if (!read_header(&x, p, n)) return false;
  if ((msg->flags & QWP_FLAG_DELTA) && !delta_is_empty(&x) && !read_delta(&x)) return false;
  msg->dictionary_only = msg->table_count == 0 && msg->dict_count > 0;
  for (unsigned i = 0; i < msg->table_count; i++)
    if (!read_block(&x)) return false;
  if (x.r.p != x.r.end)
    mock_reader_violation(&x.r, "WIRE-HDR-007", mock_reader_offset(&x.r), "bytes behind the last block");
  return true;
}
