/* rows_out - the visible rows of a mock as JSON lines, for a judge outside this process.
 *
 *   {"table":"trades","row":0,"connection":1,"wireSeq":4,"values":{"symbol":"ETH-USD","price":2615.54,...}}
 *
 * Tables in order of their creation, rows in order of arrival, values by column name with null where there is none.
 * Integers and timestamps are numbers in the unit of their column, DOUBLE and FLOAT have 17 digits (what JSON has no
 * number for is a text: "inf", "-inf"), SYMBOL and VARCHAR are texts, BINARY, UUID and LONG256 hex of their bytes.
 * A DOUBLE_ARRAY is nested lists with null for NaN, and [] when it has no element.
 */
#ifndef MOCK_LWS_ROWS_OUT_H
#define MOCK_LWS_ROWS_OUT_H

#include <stdbool.h>
#include <stdio.h>

#include "core/tables.h"

/* Wants tables of level MOCK_ROWS_FULL; of other levels it writes nothing. false: f failed (errno tells) or memory
 * ran out. */
bool mock_rows_out(FILE *f, const struct mock_tables *tables);

#endif
