/* batch - the rows a sender has not flushed yet, by table.
 *
 * Tables and columns stay known over a clear, in the order of first use, so that
 * the next message has the same columns in the same order (a column without a
 * value is then all null). One row may be open at a time. No I/O, no clock.
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

/* symbols is borrowed: the dictionary that qwp_batch_symbol interns into. */
struct qwp_batch *qwp_batch_new(const struct qwp_ops *ops, struct qwp_symbols *symbols, size_t max_name_bytes);
void qwp_batch_del(struct qwp_batch *b);

/* Begins a row of the table. QWP_NAME, QWP_MISUSE (a row is open), QWP_NOMEM. */
enum qwp_status qwp_batch_table(struct qwp_batch *b, const char *name, size_t n, struct qwp_error *err);

/* Sets one column of the open row. First value wins. QWP_MISUSE (no row), QWP_NAME,
 * QWP_TYPE, QWP_VALUE, QWP_DICT_FULL, QWP_NOMEM. */
enum qwp_status qwp_batch_bool(struct qwp_batch *b, const char *col, size_t coln, bool v, struct qwp_error *err);
enum qwp_status qwp_batch_long(struct qwp_batch *b, const char *col, size_t coln, int64_t v, struct qwp_error *err);
enum qwp_status qwp_batch_double(struct qwp_batch *b, const char *col, size_t coln, double v, struct qwp_error *err);
enum qwp_status qwp_batch_symbol(struct qwp_batch *b, const char *col, size_t coln, const char *v, size_t n, struct qwp_error *err);
enum qwp_status qwp_batch_varchar(struct qwp_batch *b, const char *col, size_t coln, const char *v, size_t n, struct qwp_error *err);
/* type: QWP_TYPE_TIMESTAMP or QWP_TYPE_TIMESTAMP_NANOS */
enum qwp_status qwp_batch_timestamp(struct qwp_batch *b, const char *col, size_t coln, unsigned type, int64_t v, struct qwp_error *err);
enum qwp_status qwp_batch_null(struct qwp_batch *b, const char *col, size_t coln, unsigned type, struct qwp_error *err);

/* Ends the row. type 0 = at_now (no designated value). A row without any column and
 * without a designated timestamp: QWP_MISUSE. */
enum qwp_status qwp_batch_at(struct qwp_batch *b, unsigned type, int64_t v, struct qwp_error *err);
void qwp_batch_cancel(struct qwp_batch *b);

bool qwp_batch_row_open(const struct qwp_batch *b);
size_t qwp_batch_rows(const struct qwp_batch *b);   /* finished rows */
size_t qwp_batch_bytes(const struct qwp_batch *b);  /* size of the table blocks they make, exact */
void qwp_batch_clear(struct qwp_batch *b);          /* forgets the rows, keeps tables and columns */

#endif
