/* rowset - rows by column, as they are kept at level FULL.
 *
 * A column holds one word a row (the value, or a pointer to a text in the store's arena) and a
 * byte that says whether it is null. A column may be shorter than the set: the rows behind its
 * end lack it and are null there, so a column that comes late costs nothing for the rows before
 * until it is written.
 */
#ifndef MOCK_ROWSET_H
#define MOCK_ROWSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mock_rowset_column {
  uint64_t *words;
  uint8_t *nulls; /* 1 = null */
  size_t n, capacity;
};

struct mock_rowset_origin {
  int connection;
  int64_t wire_seq;
};

struct mock_rowset {
  struct mock_rowset_column *columns;
  size_t column_count;
  struct mock_rowset_origin *origins;
  size_t rows, capacity;
};

void mock_rowset_free(struct mock_rowset *s);
void mock_rowset_clear(struct mock_rowset *s); /* no rows; memory kept */

/* Room for `rows` more rows in the set, or in one column. false = out of memory. */
bool mock_rowset_reserve(struct mock_rowset *s, size_t rows);
bool mock_rowset_reserve_column(struct mock_rowset *s, size_t column, size_t rows);

/* `rows` rows more from one origin; room must have been reserved. */
void mock_rowset_grow(struct mock_rowset *s, size_t rows, struct mock_rowset_origin origin);
/* Writes a cell. Per column rows are written in ascending order, after mock_rowset_reserve_column. */
void mock_rowset_put(struct mock_rowset *s, size_t column, size_t row, bool null, uint64_t word);
/* False = null. */
bool mock_rowset_get(const struct mock_rowset *s, size_t column, size_t row, uint64_t *word);

/* Appends all rows of `from`: first make sure of the memory, then move; the second cannot fail. */
bool mock_rowset_reserve_all(struct mock_rowset *s, const struct mock_rowset *from);
void mock_rowset_append(struct mock_rowset *s, const struct mock_rowset *from);

#endif
