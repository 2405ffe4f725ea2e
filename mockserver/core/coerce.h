/* coerce - may a wire type go into a column of another type, and what becomes of the value
 * [WIRE-TYPE-026; server source July 2026, and its recorded answers for type pairs].
 *
 * Done here: all conversions among BOOLEAN, the integers, FLOAT, DOUBLE, SYMBOL, VARCHAR and the two
 * timestamps, but those that print a floating number or a time, or parse a time or an id. A pair
 * that a server takes and this table lacks is refused with the text a server has for pairs it
 * does not take; server_answers_test lists them.
 */
#ifndef MOCK_COERCE_H
#define MOCK_COERCE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cells.h"

/* What a conversion may need beside the cell. */
struct mock_coercion {
  const char *column; /* its name, for texts */
  size_t column_n;
  unsigned dims; /* of the table's column, if that holds arrays */
  char scratch[32]; /* texts made from numbers; good until the next cell */
};

/* Changes the cell in place. false: *err has status and text (the offset stays). */
typedef bool (*mock_coerce)(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err);

/* True: accepted; *convert is NULL when the cell goes in as it is. false: *err is 0x03. */
bool mock_coerce_find(uint8_t wire, uint8_t column, const struct mock_coercion *c, mock_coerce *convert,
                      struct mock_decode_error *err);

#endif
