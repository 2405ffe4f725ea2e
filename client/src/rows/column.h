/* column - one column's values and nulls, kept as they are appended.
 *
 * Only values that are present are stored; a row that names no value costs nothing
 * at all. A column may therefore lag behind its table: every row from extent.rows on
 * is null. The bitmap is written only when a value comes after such a gap:
 *
 *     table rows       0  1  2  3  4  5  6          rows = 7
 *     values           a  b  .  .  c  .  .          extent = {rows 5, values 3}
 *     nulls (bits)     0  0  1  1  0                bits 2 and 3 set when c came
 *
 * A row sets a column at most once, so one older extent is all it takes to undo.
 */
#ifndef QWP_ROWS_COLUMN_H
#define QWP_ROWS_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "qwp/ops.h"
#include "qwp/status.h"
#include "rows/type.h"

#define QWP_ROW_NONE UINT32_MAX

/* How far a column reaches. Cutting all buffers back to an extent restores that state. */
struct qwp_extent {
  uint32_t rows;   /* one past the last row with a value */
  uint32_t values; /* values present */
  uint32_t bytes;  /* of data */
};

struct qwp_column {
  char *name; /* owned, first spelling; not NUL-terminated. Empty: the designated timestamp */
  const struct qwp_type *type;
  uint32_t hash; /* folded, of the name */
  uint8_t name_bytes;
  uint8_t code;     /* QWP_TYPE_* */
  uint32_t set_row; /* row of the last value, or QWP_ROW_NONE */
  struct qwp_extent now, before; /* `before`: without the value of set_row */
  struct qwp_bytes data;  /* values, in the shape of the type */
  struct qwp_bytes ends;  /* TEXT: u32 little-endian end offset of each value */
  struct qwp_bytes nulls; /* bit i, LSB first: row i is null; rows past its end are not */
};

/* Copies the name. QWP_NOMEM. */
QWP_MUST_USE enum qwp_status qwp_column_init(struct qwp_column *c, const struct qwp_ops *ops, const char *name,
                                             size_t n, uint32_t hash, unsigned code);
void qwp_column_free(struct qwp_column *c);

/* Room for one value of n bytes in this row (>= now.rows), so that the put that follows cannot
 * fail. QWP_NOMEM, QWP_TOO_LARGE (2 GiB in one column); the column's content is unchanged. */
enum qwp_status qwp_column_make_room(struct qwp_column *c, uint32_t row, size_t n);
QWP_MUST_USE static inline enum qwp_status qwp_column_reserve(struct qwp_column *c, uint32_t row, size_t n) {
  bool plain = row == c->now.rows && c->type->shape != QWP_SHAPE_TEXT;
  return plain && n <= c->data.cap - c->data.len ? QWP_OK : qwp_column_make_room(c, row, n);
}

/* Marks the rows from now.rows to `row` as null: they passed without a value. Reserved before. */
void qwp_column_mark_gap(struct qwp_column *c, uint32_t row);

/* Appends the value of this row; reserved before. Bytes as the shape of the type wants them. Inline
 * like the reserve, since every value of every row comes through here. */
static inline void qwp_column_put(struct qwp_column *c, uint32_t row, const void *value, size_t n) {
  if (row > c->now.rows) qwp_column_mark_gap(c, row);
  c->before = c->now;
  c->set_row = row;
  qwp_put(&c->data, value, n);
  c->now.rows = row + 1;
  c->now.values++;
  c->now.bytes = (uint32_t)c->data.len;
  if (c->type->shape == QWP_SHAPE_TEXT) qwp_put_u32(&c->ends, c->now.bytes);
}
/* The same for SYMBOL: the id as a varint of at most 5 bytes. */
void qwp_column_put_symbol(struct qwp_column *c, uint32_t row, uint32_t id);
#define QWP_SYMBOL_ID_BYTES_MAX 5

/* Changes the type of a column without values to one of the same shape. */
void qwp_column_retype(struct qwp_column *c, unsigned code);

void qwp_column_undo(struct qwp_column *c);  /* takes back the value of set_row */
void qwp_column_clear(struct qwp_column *c); /* no rows; name, type and capacity stay */
void qwp_column_keep_last(struct qwp_column *c); /* only the value of set_row, as that of row 0 */

/* What belongs to finished rows, when `row` is the number of the row that may be open. */
static inline const struct qwp_extent *qwp_column_finished(const struct qwp_column *c, uint32_t row) {
  return c->set_row == row ? &c->before : &c->now;
}

/* Whether the row, of those the extent was taken for, is null. */
bool qwp_column_is_null(const struct qwp_column *c, const struct qwp_extent *x, uint32_t row);

/* The form in which the nulls of this column are written when `wanted` is asked for. */
enum qwp_null_form qwp_column_null_form(const struct qwp_column *c, enum qwp_null_form wanted);

/* Exact size of the column data section, null flag included, for `rows` rows of a table.
 * encoding_byte: QWP_FLAG_GORILLA is set. */
size_t qwp_column_wire_bytes(const struct qwp_column *c, const struct qwp_extent *x, uint32_t rows,
                             enum qwp_null_form form, bool encoding_byte);

#endif
