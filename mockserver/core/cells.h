/* cells - the values of a decoded column, row by row.
 *
 * A cell is either null, a word (integers sign-extended, IEEE bits, 0 or 1), or bytes. What a
 * server reads back as NULL is null here, by bitmap or by sentinel [WIRE-NULL-005]; BOOLEAN,
 * BYTE, SHORT and CHAR have no null in storage, so their nulls are false and 0 once stored, but
 * are still null here (a conversion must see them).
 */
#ifndef MOCK_CELLS_H
#define MOCK_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/decode.h"
#include "core/dict.h"
#include "core/reader.h"
#include "qwp/wire.h"

struct mock_cell {
  bool null;
  uint64_t word;
  const char *text; /* SYMBOL, VARCHAR, BINARY, UUID, LONG256, and arrays with their head; points into message or
                       dictionary */
  size_t text_n;
};

#define MOCK_LONG_NULL ((uint64_t)1 << 63) /* the smallest int64 stands for no value [WIRE-NULL-005] */

/* Types whose cells are bytes that mean themselves (arrays are not among them). */
bool mock_cell_is_text(uint8_t type);
/* Types without a null in storage: their nulls are 0. */
bool mock_cell_never_null(uint8_t type);

static inline bool mock_type_is_timestamp(uint8_t type) {
  return type == QWP_TYPE_TIMESTAMP || type == QWP_TYPE_TIMESTAMP_NANOS;
}

struct mock_cells {
  const struct mock_column *column;
  const struct mock_dict *dict;
  size_t row, index;      /* next row; next present value */
  const uint8_t *next;    /* SYMBOL: next id; arrays: next value */
  const uint8_t **locals; /* SYMBOL of a local dictionary: where each entry's length stands */
};

/* locals has room for column->entry_count pointers when column->local, else it may be NULL. */
void mock_cells_init(struct mock_cells *cells, const struct mock_column *column, const struct mock_dict *dict,
                     const uint8_t **locals);
/* The next row's cell. Call at most once a row. */
void mock_cells_next(struct mock_cells *cells, struct mock_cell *out);

static inline bool mock_column_row_null(const struct mock_column *c, size_t row) {
  return c->nulls && (c->nulls[row / 8] >> row % 8 & 1);
}

#endif
