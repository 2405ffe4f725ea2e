#include "encode/message.h"

#include <assert.h>
#include <string.h>

#include "encode/column_data.h"
#include "qwp/wire.h"
#include "rows/table.h"

#define FLAGS_TAKEN (QWP_FLAG_DEFER | QWP_FLAG_GORILLA | QWP_FLAG_DELTA)

/* ---- encodings ---------------------------------------------------------------- */

static void own_nulls(struct qwp_encoding *e) {
  for (unsigned code = 0; code < QWP_TYPE_CODES; code++) e->nulls[code] = QWP_TYPES[code].nulls;
}

void qwp_encoding_default(struct qwp_encoding *e, const struct qwp_batch *batch, const struct qwp_symbols *symbols) {
  e->flags = QWP_FLAG_DELTA;
  e->dict_start = qwp_symbols_sent(symbols);
  size_t ids_end = qwp_batch_ids_end(batch);
  e->dict_end = ids_end > e->dict_start ? ids_end : e->dict_start;
  own_nulls(e);
}

void qwp_encoding_dense(struct qwp_encoding *e, const struct qwp_batch *batch) {
  e->flags = QWP_FLAG_DELTA;
  e->dict_start = 0;
  e->dict_end = qwp_batch_ids_end(batch);
  own_nulls(e);
}

/* ---- size --------------------------------------------------------------------- */

size_t qwp_message_bytes(const struct qwp_symbols *symbols, size_t dict_start, size_t dict_end, size_t block_bytes) {
  return QWP_HEADER_BYTES + qwp_varint_size(dict_start) + qwp_varint_size(dict_end - dict_start) +
         qwp_symbols_wire_bytes(symbols, dict_start, dict_end) + block_bytes;
}

size_t qwp_message_size(const struct qwp_batch *batch, const struct qwp_symbols *symbols,
                        const struct qwp_encoding *e) {
  size_t blocks = 0;
  for (size_t i = 0; i < qwp_batch_tables(batch); i++)
    blocks += qwp_table_wire_bytes(qwp_batch_table_at(batch, i), e->nulls, e->flags & QWP_FLAG_GORILLA);
  return qwp_message_bytes(symbols, e->dict_start, e->dict_end, blocks);
}

/* ---- writing, into reserved room ------------------------------------------------ */

static void put_text(struct qwp_bytes *out, const char *text, size_t n) {
  qwp_put_varint(out, n);
  qwp_put(out, text, n);
}

static void put_header(struct qwp_bytes *out, uint8_t flags, size_t tables) {
  qwp_put_u32(out, QWP_MAGIC);
  qwp_put_u8(out, QWP_VERSION);
  qwp_put_u8(out, flags);
  qwp_put_u16(out, (uint16_t)tables);
  qwp_put_u32(out, 0); /* payload_length, set when it is known */
}

static void put_dictionary(struct qwp_bytes *out, const struct qwp_symbols *symbols, const struct qwp_encoding *e) {
  qwp_put_varint(out, e->dict_start);
  qwp_put_varint(out, e->dict_end - e->dict_start);
  for (size_t id = e->dict_start; id < e->dict_end; id++) {
    size_t n;
    const char *text = qwp_symbols_text(symbols, (uint32_t)id, &n);
    put_text(out, text, n);
  }
}

/* The whole schema stands in every block [WIRE-SCH-005], before the data of all columns. */
static void put_table(struct qwp_bytes *out, const struct qwp_table *t, const struct qwp_encoding *e) {
  put_text(out, t->name, t->name_bytes);
  qwp_put_varint(out, t->rows);
  qwp_put_varint(out, t->known);
  for (uint32_t i = 0; i < t->known; i++) {
    put_text(out, t->columns[i].name, t->columns[i].name_bytes);
    qwp_put_u8(out, t->columns[i].code);
  }
  for (uint32_t i = 0; i < t->known; i++) {
    const struct qwp_column *c = &t->columns[i];
    qwp_column_data_put(out, t, c, e->nulls[c->code], e->flags & QWP_FLAG_GORILLA);
  }
}

static enum qwp_status check(const struct qwp_batch *batch, const struct qwp_symbols *symbols,
                             const struct qwp_encoding *e, struct qwp_error *err) {
  if (!(e->flags & QWP_FLAG_DELTA) || (e->flags & ~FLAGS_TAKEN))
    return qwp_fail(err, QWP_MISUSE, "flags 0x%02x are not those of a message", e->flags);
  if (e->dict_start > e->dict_end || e->dict_end > qwp_symbols_count(symbols))
    return qwp_fail(err, QWP_MISUSE, "dictionary range %zu to %zu of %zu", e->dict_start, e->dict_end,
                    qwp_symbols_count(symbols));
  if (qwp_batch_ids_end(batch) > e->dict_end)
    return qwp_fail(err, QWP_MISUSE, "rows refer to symbol %zu, the dictionary ends at %zu",
                    qwp_batch_ids_end(batch) - 1, e->dict_end);
  return QWP_OK;
}

enum qwp_status qwp_message_encode(const struct qwp_batch *batch, const struct qwp_symbols *symbols,
                                   const struct qwp_encoding *e, struct qwp_bytes *out, struct qwp_error *err) {
  enum qwp_status st = check(batch, symbols, e, err);
  if (st != QWP_OK) return st;
  size_t size = qwp_message_size(batch, symbols, e);
  if (size > QWP_MAX_PAYLOAD_BYTES)
    return qwp_fail(err, QWP_TOO_LARGE, "message of %zu bytes, the most is %u", size, QWP_MAX_PAYLOAD_BYTES);
  st = qwp_bytes_reserve(out, size);
  if (st != QWP_OK) return qwp_fail(err, st, "no room for a message of %zu bytes", size);

  size_t start = out->len;
  put_header(out, e->flags, qwp_batch_tables(batch));
  put_dictionary(out, symbols, e);
  for (size_t i = 0; i < qwp_batch_tables(batch); i++) put_table(out, qwp_batch_table_at(batch, i), e);
  assert(out->len - start == size);
  qwp_set_u32(out->data + start + QWP_HEADER_OFF_LENGTH, (uint32_t)(size - QWP_HEADER_BYTES));
  return QWP_OK;
}

/* ---- reading back --------------------------------------------------------------- */

/* Bytes of `count` entries at p, or n + 1 if they do not lie within n. */
static size_t entries_bytes(const uint8_t *p, size_t n, uint64_t count) {
  size_t at = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t text;
    size_t used = qwp_varint_read(p + at, n - at, &text);
    if (!used || text > n - at - used) return n + 1;
    at += used + (size_t)text;
  }
  return at;
}

enum qwp_status qwp_message_delta(const uint8_t *message, size_t n, struct qwp_delta_view *out) {
  if (n < QWP_HEADER_BYTES || qwp_get_u32(message) != QWP_MAGIC) return QWP_CONN_PROTOCOL;
  if (message[QWP_HEADER_OFF_VERSION] != QWP_VERSION) return QWP_CONN_PROTOCOL;
  if (qwp_get_u32(message + QWP_HEADER_OFF_LENGTH) != n - QWP_HEADER_BYTES) return QWP_CONN_PROTOCOL;
  uint8_t flags = message[QWP_HEADER_OFF_FLAGS];
  if (!(flags & QWP_FLAG_DELTA)) return QWP_CONN_PROTOCOL;

  const uint8_t *p = message + QWP_HEADER_BYTES;
  size_t left = n - QWP_HEADER_BYTES;
  uint64_t start, count;
  size_t used = qwp_varint_read(p, left, &start);
  if (!used || start > INT32_MAX) return QWP_CONN_PROTOCOL;
  p += used;
  left -= used;
  used = qwp_varint_read(p, left, &count);
  if (!used || count > left - used) return QWP_CONN_PROTOCOL; /* an entry takes a byte at least */
  p += used;
  left -= used;
  size_t bytes = entries_bytes(p, left, count);
  if (bytes > left) return QWP_CONN_PROTOCOL;
  *out = (struct qwp_delta_view){.start = start, .count = count, .entries = p, .entries_bytes = bytes, .flags = flags};
  return QWP_OK;
}
