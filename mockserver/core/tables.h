/* tables - what the mock remembers across connections: rows by table, with values.
 *
 * A row is pending (on the connection that sent it) until its message commits; then
 * it is visible. Rows of a rolled-back group vanish but are counted. Three levels:
 * FULL keeps every value; DIGEST keeps, per table, count, order-independent hash of
 * the rows and the set of row ids; COUNT keeps counts.
 *
 * The row id is the LONG column called `id`; in a table without one, the LONG column `i`.
 *
 * The digest of a row does not depend on the order of columns, and a null adds nothing to it;
 * nor does a timestamp that the server gave, since no client chose it. The digest of a table is
 * the sum over its rows, so it does not depend on their order either.
 *
 * Tables and columns are made when the first block names them, as the server does it, and stay,
 * also when the rows are rolled back. Names match in any case (letters of ASCII).
 */
#ifndef MOCK_TABLES_H
#define MOCK_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/decode.h"
#include "core/mock.h"

/* An array of doubles, row-major. A null element is NaN [WIRE-ARR-007]. */
struct mock_array {
  unsigned dims;           /* 1..32 */
  size_t n;                /* how many elements: the product of the lengths, may be 0 */
  const uint32_t *lengths; /* dims of them */
  const double *data;
};

/* One value, decoded. Text and array lie in the store and live as long as it. */
struct mock_value {
  uint8_t type; /* QWP_TYPE_* of the column */
  bool null;
  union {
    bool b;
    int64_t i;   /* LONG, TIMESTAMP*, DATE, CHAR, IPv4 and the other integers */
    double d;    /* DOUBLE, FLOAT */
    struct { const char *p; size_t n; } text; /* SYMBOL, VARCHAR, BINARY; UUID, LONG256 as on the wire */
    const struct mock_array *array; /* DOUBLE_ARRAY */
  } as;
};

struct mock_tables;
struct mock_pending; /* the uncommitted rows of one connection */

struct mock_tables *mock_tables_new(enum mock_rows level);
void mock_tables_del(struct mock_tables *t);

struct mock_pending *mock_pending_new(struct mock_tables *t);
void mock_pending_del(struct mock_pending *p); /* rolls back */

/* How many distinct tables it may write to; one more is refused with 0x09 [LIMIT-002]. Without this call: any. */
void mock_pending_limit_tables(struct mock_pending *p, size_t max);

/* Appends the rows of a block; connection and wire_seq are remembered with each row
 * (FULL). A row without a designated timestamp gets wall_ns (FULL; not looked at below). false: *err has status and
 * text (its offset is left alone), and part of the block may be pending: roll back.
 * A table with MOCK_MAX_UNCOMMITTED_ROWS pending rows is made visible at once, alone; the
 * next commit counts and names it (server-behaviour 4.3). */
#define MOCK_MAX_UNCOMMITTED_ROWS 1000000u
bool mock_tables_append(struct mock_pending *p, const struct mock_block *block, const struct mock_dict *dict,
                        int connection, int64_t wire_seq, int64_t wall_ns, struct mock_decode_error *err);

/* Makes them visible; each(arg, name, n, seq_txn) for every table that got rows, in order
 * of its first block. Returns how many rows; MOCK_COMMIT_OUT_OF_MEMORY: nothing was done. */
#define MOCK_COMMIT_OUT_OF_MEMORY SIZE_MAX
size_t mock_tables_commit(struct mock_pending *p, void (*each)(void *arg, const char *name, size_t n, int64_t seq_txn),
                          void *arg);
size_t mock_tables_rollback(struct mock_pending *p); /* returns how many rows vanish */

/* ---- questions (visible rows only) ---- */
size_t mock_table_count(const struct mock_tables *t);
const char *mock_table_name(const struct mock_tables *t, size_t table);
bool mock_table_find(const struct mock_tables *t, const char *name, size_t n, size_t *table);
size_t mock_table_rows(const struct mock_tables *t, size_t table);
size_t mock_table_columns(const struct mock_tables *t, size_t table);
const char *mock_table_column(const struct mock_tables *t, size_t table, size_t column, uint8_t *type);
size_t mock_table_designated(const struct mock_tables *t, size_t table); /* its column index */
uint64_t mock_table_digest(const struct mock_tables *t, size_t table);

/* FULL only: the values of row `row` in order of arrival; v has room for all columns.
 * *connection and *wire_seq say how it came. */
bool mock_table_row(const struct mock_tables *t, size_t table, size_t row, struct mock_value *v,
                    int *connection, int64_t *wire_seq);

size_t mock_tables_unique(const struct mock_tables *t);  /* distinct (table, id) */
size_t mock_tables_doubled(const struct mock_tables *t); /* visible rows beyond the first of an id */

#endif
