#include "rows/column.h"

#include <assert.h>
#include <string.h>

#define BUFFER_LIMIT ((size_t)INT32_MAX) /* offsets are u32 and a value is below 2^31 [WIRE-VAR-007] */

static size_t bitmap_bytes(uint32_t bits) { return ((size_t)bits + 7) / 8; }

enum qwp_status qwp_column_init(struct qwp_column *c, const struct qwp_ops *ops, const char *name, size_t n,
                                uint32_t hash, unsigned code) {
  assert(n <= UINT8_MAX && qwp_type_of(code));
  *c = (struct qwp_column){.type = qwp_type_of(code), .hash = hash, .set_row = QWP_ROW_NONE};
  c->code = (uint8_t)code;
  c->name_bytes = (uint8_t)n;
  qwp_bytes_init(&c->data, ops, BUFFER_LIMIT);
  qwp_bytes_init(&c->ends, ops, BUFFER_LIMIT);
  qwp_bytes_init(&c->nulls, ops, BUFFER_LIMIT);
  if (n == 0) return QWP_OK;
  c->name = ops->mem->alloc(ops->mem_ctx, n);
  if (!c->name) return QWP_NOMEM;
  memcpy(c->name, name, n);
  return QWP_OK;
}

void qwp_column_free(struct qwp_column *c) {
  const struct qwp_ops *ops = c->data.ops;
  ops->mem->free(ops->mem_ctx, c->name);
  c->name = NULL;
  qwp_bytes_free(&c->data);
  qwp_bytes_free(&c->ends);
  qwp_bytes_free(&c->nulls);
}

/* ---- appending ------------------------------------------------------------------ */

enum qwp_status qwp_column_make_room(struct qwp_column *c, uint32_t row, size_t n) {
  enum qwp_status st = qwp_bytes_reserve(&c->data, n);
  if (st == QWP_OK && c->type->shape == QWP_SHAPE_TEXT) st = qwp_bytes_reserve(&c->ends, sizeof(uint32_t));
  if (st == QWP_OK && row > c->now.rows) {
    size_t need = bitmap_bytes(row);
    if (need > c->nulls.len) st = qwp_bytes_reserve(&c->nulls, need - c->nulls.len);
  }
  return st;
}

static void set_bits(uint8_t *bits, uint32_t from, uint32_t to) {
  while (from < to) {
    if (from % 8 == 0 && to - from >= 8) {
      bits[from / 8] = 0xFF;
      from += 8;
    } else {
      bits[from / 8] |= (uint8_t)(1u << from % 8);
      from++;
    }
  }
}

/* Bits of the gap before an undone value are still set and are set again: those rows were null then and
 * are null now. */
void qwp_column_mark_gap(struct qwp_column *c, uint32_t row) {
  size_t need = bitmap_bytes(row);
  if (need > c->nulls.len) {
    memset(c->nulls.data + c->nulls.len, 0, need - c->nulls.len);
    c->nulls.len = need;
  }
  set_bits(c->nulls.data, c->now.rows, row);
}

void qwp_column_put_symbol(struct qwp_column *c, uint32_t row, uint32_t id) {
  uint8_t code[QWP_SYMBOL_ID_BYTES_MAX];
  size_t n = 0;
  for (uint32_t rest = id; ; rest >>= 7) {
    code[n++] = (uint8_t)(rest >= 0x80 ? rest | 0x80 : rest);
    if (rest < 0x80) break;
  }
  qwp_column_put(c, row, code, n);
}

void qwp_column_retype(struct qwp_column *c, unsigned code) {
  const struct qwp_type *type = qwp_type_of(code);
  assert(c->now.values == 0 && type && type->shape == c->type->shape && type->width == c->type->width);
  c->code = (uint8_t)code;
  c->type = type;
}

void qwp_column_undo(struct qwp_column *c) {
  c->now = c->before;
  c->data.len = c->now.bytes;
  if (c->type->shape == QWP_SHAPE_TEXT) c->ends.len = sizeof(uint32_t) * (size_t)c->now.values;
  c->set_row = QWP_ROW_NONE;
}

void qwp_column_clear(struct qwp_column *c) {
  c->now = c->before = (struct qwp_extent){0};
  c->data.len = c->ends.len = c->nulls.len = 0;
  c->set_row = QWP_ROW_NONE;
}

void qwp_column_keep_last(struct qwp_column *c) {
  uint32_t from = c->before.bytes, n = c->now.bytes - from;
  if (n > 0) memmove(c->data.data, c->data.data + from, n);
  c->data.len = n;
  c->ends.len = c->nulls.len = 0;
  if (c->type->shape == QWP_SHAPE_TEXT) qwp_put_u32(&c->ends, n);
  c->before = (struct qwp_extent){0};
  c->now = (struct qwp_extent){.rows = 1, .values = 1, .bytes = n};
  c->set_row = 0;
}

/* ---- reading ------------------------------------------------------------------ */

bool qwp_column_is_null(const struct qwp_column *c, const struct qwp_extent *x, uint32_t row) {
  if (row >= x->rows) return true;
  return row / 8 < c->nulls.len && (c->nulls.data[row / 8] >> row % 8 & 1);
}

enum qwp_null_form qwp_column_null_form(const struct qwp_column *c, enum qwp_null_form wanted) {
  return c->type->sentinel ? wanted : QWP_NULL_BITMAP;
}

size_t qwp_column_wire_bytes(const struct qwp_column *c, const struct qwp_extent *x, uint32_t rows,
                             enum qwp_null_form form, bool encoding_byte) {
  bool bitmap = x->values < rows && form == QWP_NULL_BITMAP;
  size_t values = form == QWP_NULL_BITMAP ? x->values : rows;
  size_t size = 1 + (bitmap ? bitmap_bytes(rows) : 0) + (encoding_byte && c->type->timestamp ? 1 : 0);
  switch (c->type->shape) {
    case QWP_SHAPE_BITS: return size + bitmap_bytes((uint32_t)values);
    case QWP_SHAPE_FIXED: return size + values * c->type->width;
    case QWP_SHAPE_TEXT: return size + sizeof(uint32_t) * (values + 1) + x->bytes;
    case QWP_SHAPE_CODED: return size + x->bytes;
  }
  return size;
}
