/* column_data - the data section of one column of a table block.
 *
 *   | null flag 1 | bitmap ceil(rows/8), if the flag is 1 | values in the form of the type |
 */
#ifndef QWP_ENCODE_COLUMN_DATA_H
#define QWP_ENCODE_COLUMN_DATA_H

#include <stdbool.h>

#include "base/bytes.h"
#include "rows/table.h"

/* Appends the section of column c of table t, finished rows only. form: how its nulls are written, where the
 * type has a choice. encoding_byte: QWP_FLAG_GORILLA is set. The caller has reserved
 * qwp_column_wire_bytes; exactly that many are written. */
void qwp_column_data_put(struct qwp_bytes *out, const struct qwp_table *t, const struct qwp_column *c,
                         enum qwp_null_form form, bool encoding_byte);

#endif
