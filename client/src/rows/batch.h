/* batch - the rows a sender has not flushed yet, by table.
 *
 * Tables and columns stay known over a clear, so that the next message has the same
 * columns in the order of their first use (a column without a value is then all null),
 * until a table has been without rows for long and others have taken its place
 * (rows/tables.h). One row may be open at a time. No I/O, no clock.
 * All failures leave the batch as it was and fill err.
 */
#ifndef QWP_ROWS_BATCH_H
#define QWP_ROWS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qwp/ops.h"
#include "qwp/status.h"
#include "rows/symbols.h"

struct qwp_batch; /* opaque here; rows/table.h and rows/column.h show the inside to the encoder */

/* ops and symbols are borrowed; symbols is the dictionary that qwp_batch_symbol interns into.
 * max_name_bytes bounds table and column names; more than QWP_MAX_NAME_BYTES counts as that many.
 * NULL = out of memory. */
struct qwp_batch *qwp_batch_new(const struct qwp_ops *ops, struct qwp_symbols *symbols, size_t max_name_bytes);
void qwp_batch_del(struct qwp_batch *b);

/* Begins a row of the table; names of tables are case-sensitive. QWP_NAME, QWP_MISUSE (a row is open),
 * QWP_TOO_LARGE (rows wait for a flush: QWP_MAX_ROWS of the table, or of QWP_MAX_TABLES other tables), QWP_NOMEM. */
enum qwp_status qwp_batch_table(struct qwp_batch *b, const char *name, size_t n, struct qwp_error *err);

/* Sets one column of the open row. The first value of a row wins, a second one of the same type is ignored.
 * Column names fold A-Z; the first spelling goes on the wire. QWP_MISUSE (no row), QWP_NAME, QWP_TYPE (known
 * with another type), QWP_VALUE (not UTF-8 [WIRE-VAR-003], or longer than any message), QWP_DICT_FULL,
 * QWP_TOO_LARGE (QWP_MAX_COLUMNS), QWP_NOMEM. */
enum qwp_status qwp_batch_bool(struct qwp_batch *b, const char *col, size_t coln, bool v, struct qwp_error *err);
enum qwp_status qwp_batch_long(struct qwp_batch *b, const char *col, size_t coln, int64_t v, struct qwp_error *err);
enum qwp_status qwp_batch_double(struct qwp_batch *b, const char *col, size_t coln, double v, struct qwp_error *err);
enum qwp_status qwp_batch_symbol(struct qwp_batch *b, const char *col, size_t coln, const char *v, size_t n,
                                 struct qwp_error *err);
enum qwp_status qwp_batch_varchar(struct qwp_batch *b, const char *col, size_t coln, const char *v, size_t n,
                                  struct qwp_error *err);
/* type: QWP_TYPE_TIMESTAMP or QWP_TYPE_TIMESTAMP_NANOS */
enum qwp_status qwp_batch_timestamp(struct qwp_batch *b, const char *col, size_t coln, unsigned type, int64_t v,
                                    struct qwp_error *err);
/* Makes the column known, with that type, and gives it no value: one that follows in the same row is its first. */
enum qwp_status qwp_batch_null(struct qwp_batch *b, const char *col, size_t coln, unsigned type, struct qwp_error *err);

/* Ends the row. type 0 = at_now (no designated value), else QWP_TYPE_TIMESTAMP or QWP_TYPE_TIMESTAMP_NANOS.
 * QWP_MISUSE (no row, or at_now of a row that names no column), QWP_VALUE (negative), QWP_TYPE (the table's
 * waiting rows have the other unit), QWP_TOO_LARGE, QWP_NOMEM: the row stays open as it was. */
enum qwp_status qwp_batch_at(struct qwp_batch *b, unsigned type, int64_t v, struct qwp_error *err);

/* The same in two steps, for who must know the size before: stamp fails as qwp_batch_at does and may be called again
 * with another time; end_row, which needs a stamped row, does not fail. In between: */
enum qwp_status qwp_batch_stamp(struct qwp_batch *b, unsigned type, int64_t v, struct qwp_error *err);
void qwp_batch_end_row(struct qwp_batch *b);
/* qwp_batch_bytes and qwp_batch_ids_end as they will be after end_row; */
size_t qwp_batch_bytes_with_row(struct qwp_batch *b);
size_t qwp_batch_ids_end_with_row(const struct qwp_batch *b);
/* and the bytes of the block that the row would make alone. */
size_t qwp_batch_bytes_of_row(const struct qwp_batch *b);

/* Takes back the open row with the columns, the table and the symbols first seen in it. Without one: no effect. */
void qwp_batch_cancel(struct qwp_batch *b);

bool qwp_batch_row_open(const struct qwp_batch *b);
size_t qwp_batch_rows(const struct qwp_batch *b);   /* finished rows */
/* Exact size of the table blocks they make in this client's own encoding (flags 0x08). Costs the columns of
 * the table last written to, however many tables there are. */
size_t qwp_batch_bytes(const struct qwp_batch *b);
/* One past the highest symbol id that finished rows refer to; 0 = none. */
size_t qwp_batch_ids_end(const struct qwp_batch *b);
void qwp_batch_clear_finished(struct qwp_batch *b); /* forgets the finished rows; keeps tables and columns */
void qwp_batch_clear(struct qwp_batch *b);          /* the same, and takes back an open row */

#endif
