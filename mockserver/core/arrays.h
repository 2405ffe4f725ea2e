/* arrays - DOUBLE_ARRAY columns: which columns take them, and how one is kept.
 *
 *   on the wire  u8 dimensions (1..32), as many u32 lengths, then the elements, 8 bytes each, the last
 *                dimension fastest [WIRE-ARR-001, WIRE-ARR-002]
 *
 * A column of a table has one number of dimensions, and all values of a block must have it. Shapes of
 * the same number may differ from row to row. A length may be 0: the array is then empty, which is
 * not null. LONG_ARRAY is bounds-checked like the other and then refused, whatever the table
 * [WIRE-TYPE-018].
 */
#ifndef MOCK_ARRAYS_H
#define MOCK_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/decode.h"
#include "core/tables.h"
#include "qwp/wire.h"

static inline bool mock_type_is_array(uint8_t type) {
  return type == QWP_TYPE_DOUBLE_ARRAY || type == QWP_TYPE_LONG_ARRAY;
}

/* Bytes of the value at p, which the decoder has checked. */
size_t mock_array_bytes(const uint8_t *p);

/* An array column without a value tells no dimensions: no column of a table is made from it. */
static inline bool mock_array_tells_nothing(const struct mock_column *c) {
  return c->type == QWP_TYPE_DOUBLE_ARRAY && c->dims == 0;
}

/* Judges the array column of a block for a table column that is to be made from it. */
bool mock_array_can_create(const struct mock_column *c, struct mock_decode_error *err);
/* The same for an array column that the table has, with `dims` dimensions. false: *err is 0x03. */
bool mock_array_fits(const struct mock_column *c, unsigned dims, struct mock_decode_error *err);

/* "DOUBLE[][]" */
#define MOCK_ARRAY_NAME_BYTES (sizeof "DOUBLE" + 2 * MOCK_MAX_ARRAY_DIMS)
void mock_array_type_name(unsigned dims, char out[MOCK_ARRAY_NAME_BYTES]);

/* A copy of the value at p (checked) that lives as long as the arena. NULL = out of memory. */
const struct mock_array *mock_array_keep(struct mock_arena *a, const uint8_t *p);

#endif
