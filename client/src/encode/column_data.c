#include "encode/column_data.h"

#include <assert.h>
#include <string.h>

#include "qwp/wire.h"

/* What an encoder works on: the values of the finished rows, and whether a null takes a value's place. */
struct section {
  const struct qwp_column *column;
  const struct qwp_extent *extent;
  uint32_t rows;
  bool spread; /* sentinel form with nulls: one value for every row */
  bool encoding_byte;
};

typedef void put_values(struct qwp_bytes *out, const struct section *s);

/* ---- nulls -------------------------------------------------------------------- */

/* The column's own bitmap ends with its last value: rows after that are null as well [WIRE-NULL-003].
 * Padding bits are 0 [WIRE-NULL-013]. */
static void put_bitmap(struct qwp_bytes *out, const struct section *s) {
  size_t bytes = ((size_t)s->rows + 7) / 8;
  size_t kept = s->column->nulls.len < bytes ? s->column->nulls.len : bytes;
  uint8_t *bits = out->data + out->len;
  qwp_put(out, s->column->nulls.data, kept);
  memset(out->data + out->len, 0, bytes - kept);
  out->len += bytes - kept;
  for (uint32_t row = s->extent->rows; row < s->rows;) {
    if (row % 8 == 0 && s->rows - row >= 8) {
      bits[row / 8] = 0xFF;
      row += 8;
    } else {
      bits[row / 8] |= (uint8_t)(1u << row % 8);
      row++;
    }
  }
}

/* ---- one encoder per type ------------------------------------------------------ */

static void put_bits(struct qwp_bytes *out, const struct section *s) {
  const uint8_t *value = s->column->data.data;
  uint32_t count = s->spread ? s->rows : s->extent->values;
  for (uint32_t at = 0; at < count; at += 8) {
    unsigned byte = 0;
    for (uint32_t bit = 0; bit < 8 && at + bit < count; bit++)
      if (!s->spread || !qwp_column_is_null(s->column, s->extent, at + bit)) byte |= (unsigned)*value++ << bit;
    qwp_put_u8(out, (uint8_t)byte);
  }
}

static void put_fixed(struct qwp_bytes *out, const struct section *s) {
  size_t width = s->column->type->width;
  const uint8_t *value = s->column->data.data;
  if (!s->spread) {
    qwp_put(out, value, s->extent->values * width);
    return;
  }
  for (uint32_t row = 0; row < s->rows; row++) {
    bool null = qwp_column_is_null(s->column, s->extent, row);
    qwp_put(out, null ? s->column->type->sentinel : value, width);
    if (!null) value += width;
  }
}

static void put_timestamp(struct qwp_bytes *out, const struct section *s) {
  if (s->encoding_byte) qwp_put_u8(out, QWP_TS_RAW);
  put_fixed(out, s);
}

static void put_text(struct qwp_bytes *out, const struct section *s) {
  qwp_put_u32(out, 0);
  qwp_put(out, s->column->ends.data, sizeof(uint32_t) * (size_t)s->extent->values);
  qwp_put(out, s->column->data.data, s->extent->bytes);
}

static void put_coded(struct qwp_bytes *out, const struct section *s) {
  qwp_put(out, s->column->data.data, s->extent->bytes);
}

static put_values *const ENCODERS[QWP_TYPE_CODES] = {
    [QWP_TYPE_BOOLEAN] = put_bits,
    [QWP_TYPE_LONG] = put_fixed,
    [QWP_TYPE_DOUBLE] = put_fixed,
    [QWP_TYPE_SYMBOL] = put_coded,
    [QWP_TYPE_VARCHAR] = put_text,
    [QWP_TYPE_TIMESTAMP] = put_timestamp,
    [QWP_TYPE_TIMESTAMP_NANOS] = put_timestamp,
};

void qwp_column_data_put(struct qwp_bytes *out, const struct qwp_table *t, const struct qwp_column *c,
                         enum qwp_null_form form, bool encoding_byte) {
  const struct qwp_extent *extent = qwp_column_finished(c, t->rows);
  bool has_nulls = extent->values < t->rows;
  bool bitmap = has_nulls && qwp_column_null_form(c, form) == QWP_NULL_BITMAP;
  struct section s = {c, extent, t->rows, has_nulls && !bitmap, encoding_byte};
  qwp_put_u8(out, bitmap ? QWP_NULLS_BITMAP : QWP_NULLS_NONE);
  if (bitmap) put_bitmap(out, &s);
  assert(ENCODERS[c->code]);
  ENCODERS[c->code](out, &s);
}
