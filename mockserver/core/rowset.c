#include "core/rowset.h"

#include <stdlib.h>
#include <string.h>

void mock_rowset_free(struct mock_rowset *s) {
  for (size_t i = 0; i < s->column_count; i++) {
    free(s->columns[i].words);
    free(s->columns[i].nulls);
  }
  free(s->columns);
  free(s->origins);
  *s = (struct mock_rowset){0};
}

void mock_rowset_clear(struct mock_rowset *s) {
  for (size_t i = 0; i < s->column_count; i++) s->columns[i].n = 0;
  s->rows = 0;
}

/* The next capacity that holds `need`, 0 = too much for memory. */
static size_t grown(size_t capacity, size_t need) {
  if (need > SIZE_MAX / 64) return 0;
  if (capacity == 0) capacity = 64;
  while (capacity < need) capacity *= 2;
  return capacity;
}

bool mock_rowset_reserve(struct mock_rowset *s, size_t rows) {
  if (s->rows + rows <= s->capacity) return true;
  const size_t capacity = grown(s->capacity, s->rows + rows);
  if (capacity == 0) return false;
  struct mock_rowset_origin *origins = realloc(s->origins, capacity * sizeof *origins);
  if (!origins) return false;
  s->origins = origins;
  s->capacity = capacity;
  return true;
}

static bool add_columns(struct mock_rowset *s, size_t count) {
  if (count <= s->column_count) return true;
  struct mock_rowset_column *columns = realloc(s->columns, count * sizeof *columns);
  if (!columns) return false;
  memset(columns + s->column_count, 0, (count - s->column_count) * sizeof *columns);
  s->columns = columns;
  s->column_count = count;
  return true;
}

/* Room for cells below row `need` of one column. */
static bool reserve_cells(struct mock_rowset *s, size_t column, size_t need) {
  if (!add_columns(s, column + 1)) return false;
  struct mock_rowset_column *c = &s->columns[column];
  if (need <= c->capacity) return true;
  const size_t capacity = grown(c->capacity, need);
  if (capacity == 0) return false;
  uint64_t *words = realloc(c->words, capacity * sizeof *words);
  if (!words) return false;
  c->words = words;
  uint8_t *nulls = realloc(c->nulls, capacity);
  if (!nulls) return false;
  c->nulls = nulls;
  c->capacity = capacity;
  return true;
}

bool mock_rowset_reserve_column(struct mock_rowset *s, size_t column, size_t rows) {
  return reserve_cells(s, column, s->rows + rows);
}

void mock_rowset_grow(struct mock_rowset *s, size_t rows, struct mock_rowset_origin origin) {
  for (size_t i = 0; i < rows; i++) s->origins[s->rows++] = origin;
}

/* The rows that lack the column become nulls one can index. */
static void pad(struct mock_rowset_column *c, size_t rows) {
  for (; c->n < rows; c->n++) {
    c->words[c->n] = 0;
    c->nulls[c->n] = 1;
  }
}

void mock_rowset_put(struct mock_rowset *s, size_t column, size_t row, bool null, uint64_t word) {
  struct mock_rowset_column *c = &s->columns[column];
  pad(c, row);
  c->words[row] = word;
  c->nulls[row] = null;
  c->n = row + 1;
}

bool mock_rowset_get(const struct mock_rowset *s, size_t column, size_t row, uint64_t *word) {
  *word = 0;
  if (column >= s->column_count || row >= s->columns[column].n || s->columns[column].nulls[row]) return false;
  *word = s->columns[column].words[row];
  return true;
}

bool mock_rowset_reserve_all(struct mock_rowset *s, const struct mock_rowset *from) {
  if (!mock_rowset_reserve(s, from->rows)) return false;
  for (size_t i = 0; i < from->column_count; i++)
    if (from->columns[i].n > 0 && !reserve_cells(s, i, s->rows + from->columns[i].n)) return false;
  return true;
}

void mock_rowset_append(struct mock_rowset *s, const struct mock_rowset *from) {
  for (size_t i = 0; i < from->column_count; i++) {
    const struct mock_rowset_column *source = &from->columns[i];
    if (source->n == 0) continue;
    struct mock_rowset_column *c = &s->columns[i];
    pad(c, s->rows);
    memcpy(c->words + c->n, source->words, source->n * sizeof *c->words);
    memcpy(c->nulls + c->n, source->nulls, source->n);
    c->n += source->n;
  }
  memcpy(s->origins + s->rows, from->origins, from->rows * sizeof *s->origins);
  s->rows += from->rows;
}
