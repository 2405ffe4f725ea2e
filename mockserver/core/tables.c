#include "core/tables.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/names.h"
#include "core/tables_internal.h"
#include "qwp/wire.h"

/* ---- life ------------------------------------------------------------------------------ */

struct mock_tables *mock_tables_new(enum mock_rows level) {
  struct mock_tables *t = calloc(1, sizeof *t);
  if (t) t->level = level;
  return t;
}

void mock_tables_del(struct mock_tables *t) {
  if (!t) return;
  for (size_t i = 0; i < t->count; i++) {
    mock_id_set_free(&t->tables[i]->ids);
    mock_rowset_free(&t->tables[i]->rowset);
    free(t->tables[i]->columns);
    free(t->tables[i]);
  }
  mock_arena_free(&t->arena);
  free(t->tables);
  free(t->buckets);
  free(t);
}

struct mock_pending *mock_pending_new(struct mock_tables *t) {
  struct mock_pending *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->tables = t;
  p->level = t->level;
  p->max_distinct = SIZE_MAX;
  return p;
}

void mock_pending_del(struct mock_pending *p) {
  if (!p) return;
  for (size_t i = 0; i < p->by_table_count; i++) {
    if (!p->by_table[i]) continue;
    mock_rowset_free(&p->by_table[i]->rowset);
    free(p->by_table[i]->ids);
    free(p->by_table[i]);
  }
  for (size_t i = 0; i < MOCK_PLANS; i++) free(p->plans[i].columns);
  free(p->by_table);
  free(p->touched);
  free(p->hashes);
  free(p->locals);
  free(p);
}

void mock_pending_limit_tables(struct mock_pending *p, size_t max) { p->max_distinct = max; }

/* ---- catalogue --------------------------------------------------------------------------- */

static size_t bucket_of(const struct mock_tables *t, uint64_t hash, const char *name, size_t n) {
  size_t at = (size_t)hash & (t->bucket_count - 1);
  while (t->buckets[at]) {
    const struct mock_table *table = t->tables[t->buckets[at] - 1];
    if (table->hash == hash && mock_name_equal(table->name->p, table->name->n - 1, name, n)) break;
    at = (at + 1) & (t->bucket_count - 1);
  }
  return at;
}

struct mock_table *mock_tables_lookup(const struct mock_tables *t, const char *name, size_t n, size_t *index) {
  if (t->bucket_count == 0) return NULL;
  const uint32_t found = t->buckets[bucket_of(t, mock_name_hash(name, n), name, n)];
  if (!found) return NULL;
  *index = found - 1;
  return t->tables[found - 1];
}

static bool grow_catalogue(struct mock_tables *t) {
  if (t->count < t->capacity) return true;
  const size_t capacity = t->capacity ? t->capacity * 2 : 16;
  struct mock_table **tables = realloc(t->tables, capacity * sizeof *tables);
  if (!tables) return false;
  t->tables = tables;
  uint32_t *buckets = calloc(capacity * 2, sizeof *buckets);
  if (!buckets) return false;
  free(t->buckets);
  t->buckets = buckets;
  t->bucket_count = capacity * 2;
  t->capacity = capacity;
  for (size_t i = 0; i < t->count; i++) {
    const struct mock_table *table = t->tables[i];
    t->buckets[bucket_of(t, table->hash, table->name->p, table->name->n - 1)] = (uint32_t)(i + 1);
  }
  return true;
}

/* Names are handed out as C strings: copied with an end. (A NUL inside is no legal name.) */
static const struct mock_text *copy_name(struct mock_tables *t, const char *name, size_t n) {
  char copy[QWP_MAX_NAME_BYTES + 1];
  if (n > QWP_MAX_NAME_BYTES) return NULL;
  if (n > 0) memcpy(copy, name, n);
  copy[n] = '\0';
  return mock_arena_text(&t->arena, copy, n + 1);
}

struct mock_table *mock_tables_create(struct mock_tables *t, const char *name, size_t n) {
  if (!grow_catalogue(t)) return NULL;
  const struct mock_text *copy = copy_name(t, name, n);
  struct mock_table *table = copy ? calloc(1, sizeof *table) : NULL;
  if (!table) return NULL;
  table->name = copy;
  table->hash = mock_name_hash(name, n);
  table->designated = table->id_column = MOCK_NO_COLUMN;
  t->buckets[bucket_of(t, table->hash, name, n)] = (uint32_t)(t->count + 1);
  t->tables[t->count++] = table;
  return table;
}

size_t mock_table_find_column(const struct mock_table *table, const char *name, size_t n) {
  const uint64_t hash = mock_name_hash(name, n);
  for (size_t i = 0; i < table->column_count; i++) {
    const struct mock_table_column *c = &table->columns[i];
    if (c->hash == hash && mock_name_equal(c->name->p, c->name->n - 1, name, n)) return i;
  }
  return MOCK_NO_COLUMN;
}

static bool is_called(const struct mock_table_column *c, const char *name) {
  return c->type == QWP_TYPE_LONG && mock_name_equal(c->name->p, c->name->n - 1, name, strlen(name));
}

/* LONG `id` identifies the rows, else LONG `i`. */
static void choose_id_column(struct mock_table *table, size_t column) {
  const struct mock_table_column *c = &table->columns[column];
  if (is_called(c, "id") || (is_called(c, "i") && table->id_column == MOCK_NO_COLUMN)) table->id_column = column;
}

size_t mock_table_add_column(struct mock_tables *t, struct mock_table *table, const char *name, size_t n,
                             uint8_t type) {
  if (table->column_count == table->column_capacity) {
    const size_t capacity = table->column_capacity ? table->column_capacity * 2 : 8;
    struct mock_table_column *columns = realloc(table->columns, capacity * sizeof *columns);
    if (!columns) return MOCK_NO_COLUMN;
    table->columns = columns;
    table->column_capacity = capacity;
  }
  const struct mock_text *copy = copy_name(t, name, n);
  if (!copy) return MOCK_NO_COLUMN;
  const uint64_t hash = mock_name_hash(name, n);
  const size_t column = table->column_count++;
  table->columns[column] =
      (struct mock_table_column){.name = copy, .hash = hash, .key = mock_mix(hash + type), .type = type};
  choose_id_column(table, column);
  return column;
}

/* ---- commit and rollback -------------------------------------------------------------------- */

/* Memory for the rows of one table to become visible. */
MOCK_EVERY bool reserve(struct mock_pending_table *pt) {
  return mock_id_set_reserve(&pt->table->ids, pt->id_count) &&
         (pt->rowset.rows == 0 || mock_rowset_reserve_all(&pt->table->rowset, &pt->rowset));
}

MOCK_EVERY void forget(struct mock_pending_table *pt) {
  pt->rows = pt->id_count = 0;
  pt->digest = 0;
  if (pt->rowset.column_count > 0) mock_rowset_clear(&pt->rowset);
}

/* Cannot fail once reserve said true. */
MOCK_EVERY void publish(struct mock_tables *t, struct mock_pending_table *pt) {
  struct mock_table *table = pt->table;
  size_t fresh = 0;
  const int64_t *ids = pt->ids;
  for (size_t i = 0; i < pt->id_count; i++) fresh += mock_id_set_add(&table->ids, ids[i]);
  t->unique += fresh;
  t->doubled += pt->id_count - fresh;
  if (pt->rowset.rows > 0) mock_rowset_append(&table->rowset, &pt->rowset);
  table->digest += pt->digest;
  table->rows += pt->rows;
  table->seq_txn++;
  forget(pt);
}

bool mock_pending_publish_early(struct mock_pending *p, struct mock_pending_table *pt) {
  if (!reserve(pt)) return false;
  pt->early_rows += pt->rows;
  publish(p->tables, pt);
  return true;
}

/* Rows of one table, told or not: those that become visible now and those that became so early. */
MOCK_EVERY size_t close_table(struct mock_tables *t, struct mock_pending_table *pt,
                              void (*each)(void *arg, const char *name, size_t n, int64_t seq_txn), void *arg) {
  const size_t rows = pt->rows + pt->early_rows;
  if (pt->rows > 0) publish(t, pt);
  pt->early_rows = 0;
  pt->touched = false;
  if (each) each(arg, pt->table->name->p, pt->table->name->n - 1, pt->table->seq_txn);
  return rows;
}

MOCK_RARE static size_t commit_many(struct mock_pending *p,
                                    void (*each)(void *arg, const char *name, size_t n, int64_t seq_txn), void *arg) {
  /* All memory first: a commit is whole or not at all. */
  for (size_t i = 0; i < p->touched_count; i++)
    if (!reserve(p->touched[i])) return MOCK_COMMIT_OUT_OF_MEMORY;

  size_t rows = 0;
  for (size_t i = 0; i < p->touched_count; i++) rows += close_table(p->tables, p->touched[i], each, arg);
  p->touched_count = 0;
  return rows;
}

size_t mock_tables_commit(struct mock_pending *p, void (*each)(void *arg, const char *name, size_t n, int64_t seq_txn),
                          void *arg) {
  if (p->touched_count != 1) return commit_many(p, each, arg);
  if (!reserve(p->touched[0])) return MOCK_COMMIT_OUT_OF_MEMORY;
  p->touched_count = 0;
  return close_table(p->tables, p->touched[0], each, arg);
}

size_t mock_tables_rollback(struct mock_pending *p) {
  size_t rows = 0, kept = 0;
  for (size_t i = 0; i < p->touched_count; i++) {
    struct mock_pending_table *pt = p->touched[i];
    rows += pt->rows;
    forget(pt);
    /* What became visible early stays so, and is told by the next commit. */
    pt->touched = pt->early_rows > 0;
    if (pt->touched) p->touched[kept++] = pt;
  }
  p->touched_count = kept;
  return rows;
}

/* ---- questions -------------------------------------------------------------------------------- */

size_t mock_table_count(const struct mock_tables *t) { return t->count; }
const char *mock_table_name(const struct mock_tables *t, size_t table) { return t->tables[table]->name->p; }
size_t mock_table_rows(const struct mock_tables *t, size_t table) { return t->tables[table]->rows; }
size_t mock_table_columns(const struct mock_tables *t, size_t table) { return t->tables[table]->column_count; }
uint64_t mock_table_digest(const struct mock_tables *t, size_t table) { return t->tables[table]->digest; }
size_t mock_tables_unique(const struct mock_tables *t) { return t->unique; }
size_t mock_tables_doubled(const struct mock_tables *t) { return t->doubled; }

bool mock_table_find(const struct mock_tables *t, const char *name, size_t n, size_t *table) {
  return mock_tables_lookup(t, name, n, table) != NULL;
}

const char *mock_table_column(const struct mock_tables *t, size_t table, size_t column, uint8_t *type) {
  const struct mock_table_column *c = &t->tables[table]->columns[column];
  if (type) *type = c->type;
  return c->name->p;
}

size_t mock_table_designated(const struct mock_tables *t, size_t table) { return t->tables[table]->designated; }

static void fill_value(struct mock_value *v, uint64_t word) {
  float f;
  const uint32_t low = (uint32_t)word;
  switch (v->type) {
    case QWP_TYPE_BOOLEAN: v->as.b = word != 0; return;
    case QWP_TYPE_DOUBLE: memcpy(&v->as.d, &word, sizeof word); return;
    case QWP_TYPE_FLOAT:
      memcpy(&f, &low, sizeof f);
      v->as.d = (double)f;
      return;
    case QWP_TYPE_DOUBLE_ARRAY: v->as.array = (const struct mock_array *)(uintptr_t)word; return;
    default: break;
  }
  if (!mock_cell_is_text(v->type)) {
    v->as.i = (int64_t)word;
    return;
  }
  const struct mock_text *text = (const struct mock_text *)(uintptr_t)word;
  v->as.text.p = text->p;
  v->as.text.n = text->n;
}

bool mock_table_row(const struct mock_tables *t, size_t table, size_t row, struct mock_value *v, int *connection,
                    int64_t *wire_seq) {
  const struct mock_table *from = t->tables[table];
  if (t->level != MOCK_ROWS_FULL || row >= from->rowset.rows) return false;
  for (size_t i = 0; i < from->column_count; i++) {
    const uint8_t type = from->columns[i].type;
    uint64_t word;
    const bool there = mock_rowset_get(&from->rowset, i, row, &word);
    v[i] = (struct mock_value){.type = type, .null = !there && !mock_cell_never_null(type)};
    if (!v[i].null) fill_value(&v[i], word);
  }
  if (connection) *connection = from->rowset.origins[row].connection;
  if (wire_seq) *wire_seq = from->rowset.origins[row].wire_seq;
  return true;
}
