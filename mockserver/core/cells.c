#include "core/cells.h"

#include "core/arrays.h"

#define SIGN_BIT ((uint64_t)1 << 63)

bool mock_cell_is_text(uint8_t type) {
  return type == QWP_TYPE_SYMBOL || type == QWP_TYPE_VARCHAR || type == QWP_TYPE_BINARY || type == QWP_TYPE_UUID ||
         type == QWP_TYPE_LONG256;
}

bool mock_cell_never_null(uint8_t type) {
  return type == QWP_TYPE_BOOLEAN || type == QWP_TYPE_BYTE || type == QWP_TYPE_SHORT || type == QWP_TYPE_CHAR;
}

/* Varints here were checked by the decoder. */
static uint64_t checked_varint(const uint8_t **p) {
  uint64_t v = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint8_t byte = *(*p)++;
    v |= (uint64_t)(byte & 0x7F) << shift;
    if (!(byte & 0x80)) return v;
  }
}

void mock_cells_init(struct mock_cells *cells, const struct mock_column *column, const struct mock_dict *dict,
                     const uint8_t **locals) {
  *cells = (struct mock_cells){.column = column, .dict = dict, .next = column->values, .locals = locals};
  if (column->type != QWP_TYPE_SYMBOL || !column->local) return;
  const uint8_t *p = column->entries;
  for (size_t i = 0; i < column->entry_count; i++) {
    locals[i] = p;
    const uint64_t length = checked_varint(&p);
    p += length;
  }
}

static void next_symbol(struct mock_cells *cells, struct mock_cell *out) {
  const uint64_t id = checked_varint(&cells->next);
  if (cells->column->local) {
    const uint8_t *p = cells->locals[id];
    out->text_n = (size_t)checked_varint(&p);
    out->text = (const char *)p;
    return;
  }
  out->text = mock_dict_text(cells->dict, id, &out->text_n);
  out->null = out->text == NULL; /* an id that only a gap created */
}

static void words(struct mock_cell *out, const uint8_t *p, size_t n) {
  out->text = (const char *)p;
  out->text_n = n;
  out->null = true;
  for (size_t i = 0; i < n; i += 8)
    if (mock_load64(p + i) != MOCK_LONG_NULL) out->null = false;
}

static void next_float(struct mock_cell *out, const uint8_t *p) {
  out->word = mock_load32(p);
  out->null = (out->word & 0x7FFFFFFF) > 0x7F800000; /* NaN */
}

static void next_double(struct mock_cell *out, const uint8_t *p) {
  out->word = mock_load64(p);
  out->null = (out->word & ~SIGN_BIT) > UINT64_C(0x7FF0000000000000);
}

static void next_bytes(struct mock_cell *out, const struct mock_column *c, size_t i) {
  const uint32_t from = mock_load32(c->offsets + i * 4), to = mock_load32(c->offsets + i * 4 + 4);
  out->text = (const char *)c->values + from;
  out->text_n = to - from;
}

static void next_array(struct mock_cells *cells, struct mock_cell *out) {
  out->text = (const char *)cells->next;
  out->text_n = mock_array_bytes(cells->next);
  cells->next += out->text_n;
}

void mock_cells_next(struct mock_cells *cells, struct mock_cell *out) {
  const struct mock_column *c = cells->column;
  *out = (struct mock_cell){0};
  if (mock_column_row_null(c, cells->row++)) {
    out->null = true;
    return;
  }
  const size_t i = cells->index++;
  switch (c->type) {
    case QWP_TYPE_BOOLEAN: out->word = c->values[i / 8] >> i % 8 & 1; return;
    case QWP_TYPE_BYTE: out->word = (uint64_t)(int64_t)(int8_t)c->values[i]; return;
    case QWP_TYPE_SHORT: out->word = (uint64_t)(int64_t)(int16_t)mock_load16(c->values + i * 2); return;
    case QWP_TYPE_CHAR: out->word = mock_load16(c->values + i * 2); return;
    case QWP_TYPE_INT:
      out->word = (uint64_t)(int64_t)(int32_t)mock_load32(c->values + i * 4);
      out->null = (uint32_t)out->word == UINT32_C(0x80000000);
      return;
    case QWP_TYPE_IPV4:
      out->word = mock_load32(c->values + i * 4);
      out->null = out->word == 0;
      return;
    case QWP_TYPE_FLOAT: next_float(out, c->values + i * 4); return;
    case QWP_TYPE_DOUBLE: next_double(out, c->values + i * 8); return;
    case QWP_TYPE_UUID: words(out, c->values + i * 16, 16); return;
    case QWP_TYPE_LONG256: words(out, c->values + i * 32, 32); return;
    case QWP_TYPE_SYMBOL: next_symbol(cells, out); return;
    case QWP_TYPE_VARCHAR:
    case QWP_TYPE_BINARY: next_bytes(out, c, i); return;
    case QWP_TYPE_DOUBLE_ARRAY:
    case QWP_TYPE_LONG_ARRAY: next_array(cells, out); return;
    default: /* LONG, DATE, TIMESTAMP, TIMESTAMP_NANOS */
      out->word = mock_load64(c->values + i * 8);
      out->null = out->word == MOCK_LONG_NULL;
      return;
  }
}
