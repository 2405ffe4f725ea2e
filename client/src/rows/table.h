/* table - one table's columns and how many rows of them are finished.
 *
 * What the encoder reads: name, columns[0 .. known) in the order of first use, the
 * designated timestamp among them where it first occurred, and rows. All of it speaks
 * of finished rows, also while a row is open: columns from `known` on were first seen
 * in the open row, and qwp_column_finished(column, rows) leaves its values out.
 */
#ifndef QWP_ROWS_TABLE_H
#define QWP_ROWS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "qwp/ops.h"
#include "qwp/status.h"
#include "rows/batch.h"
#include "rows/column.h"
#include "rows/index.h"

#define QWP_COLUMN_NONE UINT32_MAX

struct qwp_table {
  const struct qwp_ops *ops;
  struct qwp_column *columns;
  uint32_t count, cap; /* columns, those of the open row included */
  uint32_t known;      /* columns of finished rows and earlier batches */
  uint32_t rows;       /* finished; also the number of the open row */
  uint32_t designated; /* index of the designated timestamp, or QWP_COLUMN_NONE */
  uint32_t next;       /* column expected next: the one after the last that was set */
  bool row_named;      /* the open row has named a column */
  size_t block_bytes;  /* the batch's note of this table's size, see batch.c */
  uint32_t id;         /* notes of rows/tables.h: place among the known, */
  uint64_t flushed_in; /* the flush that last carried rows of it, */
  struct qwp_table *older, *newer; /* neighbours in the idle list */
  struct qwp_index index; /* of the named columns, case folded */
  uint32_t hash;          /* of the name, as it is */
  size_t name_bytes;
  char name[]; /* not NUL-terminated */
};

/* The name is checked by the caller. NULL = out of memory. */
struct qwp_table *qwp_table_new(const struct qwp_ops *ops, const char *name, size_t n, uint32_t hash);
void qwp_table_del(struct qwp_table *t);

/* The column of this name and type, which becomes one of the table if it is new. Names are compared
 * with A-Z folded, as they are where other characters are concerned. QWP_NAME, QWP_TYPE (known with
 * another type), QWP_TOO_LARGE (QWP_MAX_COLUMNS [LIMIT-004]), QWP_NOMEM: the table is unchanged. */
enum qwp_status qwp_table_column(struct qwp_table *t, const char *name, size_t n, unsigned code,
                                 size_t name_bytes_max, struct qwp_column **out, struct qwp_error *err);

/* The column expected next, if it has exactly this name and type; else NULL, which says nothing: ask
 * qwp_table_column. Rows of a table mostly name the same columns in the same order. */
static inline struct qwp_column *qwp_table_expected(const struct qwp_table *t, const char *name, size_t n,
                                                    unsigned code) {
  if (t->next >= t->count || n == 0) return NULL;
  struct qwp_column *c = &t->columns[t->next];
  return c->name_bytes == n && c->code == code && memcmp(c->name, name, n) == 0 ? c : NULL;
}

/* The designated timestamp, which becomes a column of the table if it has none. While the batch holds no
 * value of it it may take the other unit: the caller then calls qwp_column_retype before the put.
 * QWP_TYPE (it holds values in the other unit), QWP_TOO_LARGE, QWP_NOMEM: the table is unchanged. */
enum qwp_status qwp_table_designated(struct qwp_table *t, unsigned code, struct qwp_column **out,
                                     struct qwp_error *err);

static inline bool qwp_table_is_named(const struct qwp_table *t, const char *name, size_t n) {
  return t->name_bytes == n && memcmp(t->name, name, n) == 0;
}

/* Drops the columns from `count` on: those that a failed call or a cancelled row has added. */
void qwp_table_forget(struct qwp_table *t, uint32_t count);

/* The open row has set or named this column. */
static inline void qwp_table_named(struct qwp_table *t, const struct qwp_column *c) {
  t->row_named = true;
  t->next = (uint32_t)(c - t->columns) + 1;
  if (t->next == t->designated) t->next++;
}

void qwp_table_row_begin(struct qwp_table *t);
void qwp_table_row_end(struct qwp_table *t);
void qwp_table_row_cancel(struct qwp_table *t);
void qwp_table_clear(struct qwp_table *t); /* no rows; columns stay known */
void qwp_table_keep_open(struct qwp_table *t); /* the same, but the row that is open stays so, as row 0 */

/* Exact size of the table block of the finished rows. nulls: the wanted form by type, QWP_TYPE_CODES of
 * them, or NULL for each type's own. */
size_t qwp_table_wire_bytes(const struct qwp_table *t, const enum qwp_null_form *nulls, bool encoding_byte);

/* The same, in each type's own null form, if the open row were finished: with the rows before it, and alone. */
size_t qwp_table_wire_bytes_with_open(const struct qwp_table *t);
size_t qwp_table_wire_bytes_of_open(const struct qwp_table *t);

/* ---- the tables of a batch ----------------------------------------------------- */

/* Those with finished rows, in the order of their first one since the last clear: what a message holds. */
size_t qwp_batch_tables(const struct qwp_batch *b);
const struct qwp_table *qwp_batch_table_at(const struct qwp_batch *b, size_t i);

/* All that are known, in no order. */
size_t qwp_batch_known(const struct qwp_batch *b);
const struct qwp_table *qwp_batch_known_at(const struct qwp_batch *b, size_t i);

#endif
