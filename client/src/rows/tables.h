/* tables - the tables a batch knows: found by name, listed while they hold rows, forgotten when they lie idle.
 *
 * A table is known from its first row on, over many flushes, since its columns must be (rows/batch.h). But an
 * application may go through names for ever, so not every table can be kept for ever:
 *
 *   filled   hold rows now, in the order of their first one: what a flush carries, and all it walks
 *   idle     hold none, the longest without first: behind the QWP_TABLES_KEPT'th known table those go that no
 *            one of the last QWP_TABLES_IDLE_FLUSHES flushes carried
 *
 * A table that comes back after it was forgotten is new: only the columns that its rows name are sent, which a
 * server stores as it stores the all-null column. Known are never more than QWP_TABLES_KEPT and the tables of
 * the last QWP_TABLES_IDLE_FLUSHES flushes together, give or take what one flush has not caught up with.
 */
#ifndef QWP_ROWS_TABLES_H
#define QWP_ROWS_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qwp/ops.h"
#include "qwp/status.h"
#include "rows/index.h"
#include "rows/table.h"

#define QWP_TABLES_KEPT 1024u
#define QWP_TABLES_IDLE_FLUSHES 16u

struct qwp_tables {
  const struct qwp_ops *ops;
  struct qwp_index index;    /* of names */
  struct qwp_table **known;  /* by id; an id changes when another table is forgotten */
  struct qwp_table **filled; /* room for all that are known: to fill a table cannot fail */
  uint32_t count, cap;       /* of known */
  uint32_t filled_count;
  struct qwp_table *oldest, *newest; /* ends of the idle list */
  uint64_t flushes;                  /* that carried rows */
};

void qwp_tables_init(struct qwp_tables *ts, const struct qwp_ops *ops);
void qwp_tables_free(struct qwp_tables *ts);

/* The known table of this name, whose hash is qwp_index_hash, or NULL. */
struct qwp_table *qwp_tables_find(const struct qwp_tables *ts, const char *name, size_t n, uint32_t hash);

/* Makes a table known, which is in neither list until it has a row. The name is checked by the caller and not
 * known. NULL = out of memory. */
struct qwp_table *qwp_tables_add(struct qwp_tables *ts, const char *name, size_t n, uint32_t hash);

/* Takes out and frees a table that is not filled. */
void qwp_tables_forget(struct qwp_tables *ts, struct qwp_table *t);

/* The table has finished its first row since the last clear. */
void qwp_tables_fill(struct qwp_tables *ts, struct qwp_table *t);

/* After a flush: clears the filled tables, which are idle then, and forgets what has been idle too long. `open`
 * is the table that a row is open in, or NULL: it stays, and so does the row. Costs the columns of the filled
 * tables, however many are known. True if a table was forgotten. */
bool qwp_tables_clear(struct qwp_tables *ts, struct qwp_table *open);

#endif
