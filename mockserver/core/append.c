/* From a decoded block to pending rows. First the plan: which table, which of its columns takes
 * which column of the block, converted how; tables and columns are made here (checks and statuses
 * of server-behaviour 3.5 and 3.6). A plan is kept by schema number, so that a repeated schema
 * costs one comparison. Then the rows, column by column. */
#include <stdlib.h>
#include <string.h>

#include "core/arrays.h"
#include "core/decode_column.h"
#include "core/hash.h"
#include "core/names.h"
#include "core/tables_internal.h"
#include "core/utf8.h"
#include "qwp/wire.h"

#define DESIGNATED_NAME "timestamp"
#define YEAR_10000_US INT64_C(253402300800000000)

static bool out_of_memory(struct mock_decode_error *err) {
  return MOCK_REFUSE(err, QWP_ST_INTERNAL_ERROR, "out of memory");
}

/* ---- table ------------------------------------------------------------------------------- */

static bool named_designated(const struct mock_column *c) {
  return mock_name_equal(c->name, c->name_n, DESIGNATED_NAME, strlen(DESIGNATED_NAME));
}

/* Nothing of a table is made unless all of it can be. */
static bool new_table_legal(const struct mock_block *b) {
  size_t unnamed = 0;
  if (!mock_name_table_legal(b->name, b->name_n)) return false;
  for (size_t i = 0; i < b->column_count; i++) {
    const struct mock_column *c = &b->columns[i];
    if (c->name_n == 0) {
      if (!mock_type_is_timestamp(c->type) || ++unnamed > 1) return false;
    } else if (!mock_name_column_legal(c->name, c->name_n)) {
      return false;
    }
  }
  return true;
}

static bool new_arrays_legal(const struct mock_block *b, struct mock_decode_error *err) {
  for (size_t i = 0; i < b->column_count; i++)
    if (mock_type_is_array(b->columns[i].type) && !mock_array_can_create(&b->columns[i], err)) return false;
  return true;
}

static size_t add_column(struct mock_tables *t, struct mock_table *table, const struct mock_column *c) {
  const size_t column = mock_table_add_column(t, table, c->name, c->name_n, c->type);
  if (column != MOCK_NO_COLUMN) table->columns[column].dims = c->dims;
  return column;
}

/* Columns in schema order; the designated one where it stands, or last and in microseconds
 * [WIRE-SCH-008]. */
static bool fill_new_table(struct mock_tables *t, struct mock_table *table, const struct mock_block *b) {
  const size_t name_n = strlen(DESIGNATED_NAME);
  for (size_t i = 0; i < b->column_count; i++) {
    const struct mock_column *c = &b->columns[i];
    if (c->name_n == 0 || named_designated(c)) {
      if (table->designated != MOCK_NO_COLUMN) continue;
      const uint8_t type = mock_type_is_timestamp(c->type) ? c->type : QWP_TYPE_TIMESTAMP;
      table->designated = mock_table_add_column(t, table, DESIGNATED_NAME, name_n, type);
      if (table->designated == MOCK_NO_COLUMN) return false;
    } else if (!mock_array_tells_nothing(c) && mock_table_find_column(table, c->name, c->name_n) == MOCK_NO_COLUMN &&
               add_column(t, table, c) == MOCK_NO_COLUMN) {
      return false;
    }
  }
  if (table->designated == MOCK_NO_COLUMN)
    table->designated = mock_table_add_column(t, table, DESIGNATED_NAME, name_n, QWP_TYPE_TIMESTAMP);
  return table->designated != MOCK_NO_COLUMN;
}

static struct mock_table *find_or_create(struct mock_tables *t, const struct mock_block *b, size_t *index,
                                         struct mock_decode_error *err) {
  struct mock_table *table = mock_tables_lookup(t, b->name, b->name_n, index);
  /* A table that memory failed in the middle of has no designated column: never used. */
  if (table && table->designated != MOCK_NO_COLUMN) return table;
  if (table || !new_table_legal(b)) {
    MOCK_REFUSE(err, QWP_ST_INTERNAL_ERROR, "failed to create table update details for: %.*s", (int)b->name_n, b->name);
    return NULL;
  }
  if (!new_arrays_legal(b, err)) return NULL;
  *index = t->count;
  table = mock_tables_create(t, b->name, b->name_n);
  if (table && fill_new_table(t, table, b)) return table;
  out_of_memory(err);
  return NULL;
}

static bool cover_tables(struct mock_pending *p) {
  if (p->by_table_count >= p->tables->count) return true;
  const size_t count = p->tables->capacity;
  struct mock_pending_table **grown = realloc(p->by_table, count * sizeof *grown);
  if (!grown) return false;
  memset(grown + p->by_table_count, 0, (count - p->by_table_count) * sizeof *grown);
  p->by_table = grown;
  p->by_table_count = count;
  return true;
}

static struct mock_pending_table *pending_table(struct mock_pending *p, const struct mock_block *b,
                                                struct mock_decode_error *err) {
  size_t index;
  const bool exists = mock_tables_lookup(p->tables, b->name, b->name_n, &index) != NULL;
  const bool used = exists && index < p->by_table_count && p->by_table[index];
  if (used) return p->by_table[index];
  if (p->distinct >= p->max_distinct) {
    MOCK_REFUSE(err, QWP_ST_WRITE_ERROR, "too many distinct tables, limit: %zu", p->max_distinct);
    return NULL;
  }
  struct mock_table *table = find_or_create(p->tables, b, &index, err);
  if (!table) return NULL;
  struct mock_pending_table *pt = cover_tables(p) ? calloc(1, sizeof *pt) : NULL;
  if (!pt) {
    out_of_memory(err);
    return NULL;
  }
  pt->table = table;
  pt->index = index;
  p->by_table[index] = pt;
  p->distinct++;
  return pt;
}

/* ---- columns ------------------------------------------------------------------------------- */

static bool invalid_column(const struct mock_block *b, const struct mock_column *c, struct mock_decode_error *err) {
  return MOCK_REFUSE(err, QWP_ST_SCHEMA_MISMATCH, "invalid column name [table=%.*s, column=%.*s]", (int)b->name_n,
                     b->name, (int)c->name_n, c->name);
}

/* The table's column for a column of the block, made if need be; MOCK_NO_COLUMN if that cannot be told. */
static bool resolve(struct mock_tables *t, struct mock_table *table, const struct mock_block *b,
                    const struct mock_column *c, size_t *column, struct mock_decode_error *err) {
  if (c->name_n == 0) {
    *column = table->designated;
    return mock_type_is_timestamp(c->type) || invalid_column(b, c, err);
  }
  *column = mock_table_find_column(table, c->name, c->name_n);
  if (*column != MOCK_NO_COLUMN) return true;
  if (!mock_name_column_legal(c->name, c->name_n)) return invalid_column(b, c, err);
  if (table->column_count >= QWP_MAX_COLUMNS)
    return MOCK_REFUSE(err, QWP_ST_SCHEMA_MISMATCH, "too many columns in table: %.*s", (int)b->name_n, b->name);
  if (mock_type_is_array(c->type) && !mock_array_can_create(c, err)) return false;
  if (mock_array_tells_nothing(c)) return true;
  *column = add_column(t, table, c);
  return *column != MOCK_NO_COLUMN || out_of_memory(err);
}

/* Text or an array in a designated column is an internal error of the server, whatever it says. */
static bool designated_type_legal(uint8_t wire, struct mock_decode_error *err) {
  if (!mock_cell_is_text(wire) && !mock_type_is_array(wire)) return true;
  return MOCK_REFUSE(err, QWP_ST_INTERNAL_ERROR, "designated timestamp cannot be read from %s",
                     mock_column_type_name(wire));
}

static bool plan_column(struct mock_plan *plan, const struct mock_table *table, const struct mock_column *c,
                        size_t column, struct mock_plan_column *out, struct mock_decode_error *err) {
  const struct mock_table_column *target = &table->columns[column];
  *out = (struct mock_plan_column){.column = column, .key = target->key, .type = target->type};
  out->designated = column == table->designated;
  out->is_id = column == table->id_column && c->type == QWP_TYPE_LONG;
  if (out->designated) {
    if (!designated_type_legal(c->type, err)) return false;
    plan->has_designated = true;
  }
  const bool arrays = mock_type_is_array(c->type) && target->type == QWP_TYPE_DOUBLE_ARRAY;
  if (arrays) return mock_array_fits(c, target->dims, err);
  const struct mock_coercion about = {.column = c->name, .column_n = c->name_n, .dims = target->dims};
  if (!mock_coerce_find(c->type, target->type, &about, &out->convert, err)) return false;
  out->plain = !out->convert && !out->designated && target->type == QWP_TYPE_LONG;
  return true;
}

static bool already_planned(const struct mock_plan *plan, size_t n, size_t column) {
  for (size_t i = 0; i < n; i++)
    if (plan->columns[i].column == column) return true;
  return false;
}

MOCK_RARE static bool make_plan(struct mock_pending *p, struct mock_plan *plan, const struct mock_block *b,
                      struct mock_decode_error *err) {
  plan->schema = 0;
  plan->has_designated = false;
  plan->target = pending_table(p, b, err);
  if (!plan->target) return false;
  if (b->column_count > plan->capacity) {
    struct mock_plan_column *grown = realloc(plan->columns, b->column_count * sizeof *grown);
    if (!grown) return out_of_memory(err);
    plan->columns = grown;
    plan->capacity = b->column_count;
  }
  struct mock_table *table = plan->target->table;
  for (size_t i = 0; i < b->column_count; i++) {
    const struct mock_column *c = &b->columns[i];
    size_t column;
    if (!resolve(p->tables, table, b, c, &column, err)) return false;
    if (column == MOCK_NO_COLUMN || already_planned(plan, i, column)) { /* the first of a name wins */
      plan->columns[i] = (struct mock_plan_column){.column = MOCK_NO_COLUMN};
      continue;
    }
    if (!plan_column(plan, table, c, column, &plan->columns[i], err)) return false;
  }
  bool reusable = true;
  plan->plain = true;
  for (size_t i = 0; i < b->column_count; i++) {
    plan->plain = plan->plain && plan->columns[i].plain;
    reusable = reusable && !mock_type_is_array(b->columns[i].type);
  }
  plan->column_count = b->column_count;
  plan->id_column = table->id_column;
  plan->schema = reusable ? b->schema : 0;
  return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* One block on its way in. */
struct append {
  struct mock_pending *p;
  struct mock_pending_table *pt;
  const struct mock_block *block;
  const struct mock_dict *dict;
  int64_t wall_ns;
  struct mock_decode_error *err;
};

static int64_t server_time(const struct append *a, uint8_t type) {
  return type == QWP_TYPE_TIMESTAMP_NANOS ? a->wall_ns : a->wall_ns / 1000;
}

static bool check_designated(const struct append *a, const struct mock_cell *cell, uint8_t type) {
  const int64_t v = (int64_t)cell->word;
  if (v < 0) return MOCK_REFUSE(a->err, QWP_ST_WRITE_ERROR, "designated timestamp before 1970-01-01 is not allowed");
  if (type == QWP_TYPE_TIMESTAMP && v >= YEAR_10000_US)
    return MOCK_REFUSE(a->err, QWP_ST_WRITE_ERROR, "designated timestamp beyond 9999-12-31 is not allowed");
  return true;
}

static uint64_t cell_hash(const struct mock_cell *cell, uint8_t type, uint64_t key) {
  const bool bytes = mock_cell_is_text(type) || mock_type_is_array(type);
  const uint64_t value = bytes ? mock_hash_bytes(cell->text, cell->text_n) : cell->word;
  return mock_mix(value ^ key);
}

static bool keep_cell(struct append *a, const struct mock_plan_column *pc, size_t row, const struct mock_cell *cell) {
  struct mock_arena *arena = &a->p->tables->arena;
  const bool array = mock_type_is_array(pc->type);
  uint64_t word = cell->word;
  if (!cell->null && (array || mock_cell_is_text(pc->type))) {
    const void *kept = array ? (const void *)mock_array_keep(arena, (const uint8_t *)cell->text)
                             : mock_arena_text(arena, cell->text, cell->text_n);
    if (!kept) return out_of_memory(a->err);
    word = (uint64_t)(uintptr_t)kept;
  }
  mock_rowset_put(&a->pt->rowset, pc->column, a->pt->rowset.rows + row, cell->null, word);
  return true;
}

static bool store_cell(struct append *a, const struct mock_plan_column *pc, size_t row, const struct mock_cell *cell) {
  if (pc->is_id && !cell->null) a->pt->ids[a->pt->id_count++] = (int64_t)cell->word;
  if (a->p->level == MOCK_ROWS_FULL) return keep_cell(a, pc, row, cell);
  /* What storage cannot tell from a missing value counts as missing. */
  const bool nothing = cell->null || (mock_cell_never_null(pc->type) && cell->word == 0);
  if (a->p->level == MOCK_ROWS_DIGEST && !nothing) a->p->hashes[row] += cell_hash(cell, pc->type, pc->key);
  return true;
}

static bool symbol_bad_utf8(const struct mock_column *c, const struct mock_cell *cell) {
  return c->local && !cell->null && !mock_utf8_valid((const uint8_t *)cell->text, cell->text_n);
}

/* A null in the designated column is stamped by the server; one that a sentinel made is refused. */
static bool designated_cell(struct append *a, const struct mock_plan_column *pc, size_t row, bool by_bitmap,
                            struct mock_cell *cell) {
  if (!cell->null) return check_designated(a, cell, pc->type) && store_cell(a, pc, row, cell);
  if (!by_bitmap) return MOCK_REFUSE(a->err, QWP_ST_WRITE_ERROR, "designated timestamp column cannot be NULL");
  if (a->p->level != MOCK_ROWS_FULL) return true;
  cell->null = false;
  cell->word = (uint64_t)server_time(a, pc->type);
  return keep_cell(a, pc, row, cell);
}

MOCK_RARE static bool append_cells(struct append *a, const struct mock_plan_column *pc, const struct mock_column *c) {
  struct mock_cells cells;
  struct mock_coercion coercion = {.column = c->name, .column_n = c->name_n};
  mock_cells_init(&cells, c, a->dict, a->p->locals);
  for (size_t row = 0; row < a->block->rows; row++) {
    struct mock_cell cell;
    mock_cells_next(&cells, &cell);
    if (c->type == QWP_TYPE_SYMBOL && symbol_bad_utf8(c, &cell))
      return MOCK_REFUSE(a->err, QWP_ST_WRITE_ERROR, "invalid UTF8 in value for ");
    if (pc->convert && !pc->convert(&coercion, &cell, a->err)) return false;
    const bool stored = pc->designated ? designated_cell(a, pc, row, mock_column_row_null(c, row), &cell)
                                       : store_cell(a, pc, row, &cell);
    if (!stored) return false;
  }
  return true;
}

/* ---- rows -------------------------------------------------------------------------------------- */

MOCK_RARE static bool grow_ids(struct mock_pending_table *pt, size_t more) {
  const size_t capacity = (pt->id_count + more) * 2;
  int64_t *ids = realloc(pt->ids, capacity * sizeof *ids);
  if (!ids) return false;
  pt->ids = ids;
  pt->id_capacity = capacity;
  return true;
}

static inline bool reserve_ids(struct mock_pending_table *pt, size_t more) {
  return pt->id_count + more <= pt->id_capacity || grow_ids(pt, more);
}

static bool reserve_hashes(struct mock_pending *p, size_t rows) {
  if (rows > p->hash_capacity) {
    uint64_t *hashes = realloc(p->hashes, rows * sizeof *hashes);
    if (!hashes) return false;
    p->hashes = hashes;
    p->hash_capacity = rows;
  }
  memset(p->hashes, 0, rows * sizeof *p->hashes);
  return true;
}

static bool reserve_locals(struct mock_pending *p, const struct mock_column *c) {
  if (c->type != QWP_TYPE_SYMBOL || !c->local || c->entry_count <= p->local_capacity) return true;
  const uint8_t **locals = realloc(p->locals, c->entry_count * sizeof *locals);
  if (!locals) return false;
  p->locals = locals;
  p->local_capacity = c->entry_count;
  return true;
}

/* Memory for the block's rows in one go, so that the loops over cells cannot run short. */
static bool reserve_rows(struct append *a, const struct mock_plan *plan) {
  const size_t rows = a->block->rows;
  const enum mock_rows level = a->p->level;
  if (level != MOCK_ROWS_COUNT && !reserve_ids(a->pt, rows)) return false;
  if (level == MOCK_ROWS_DIGEST) return reserve_hashes(a->p, rows);
  if (level != MOCK_ROWS_FULL) return true;
  struct mock_rowset *s = &a->pt->rowset;
  if (!mock_rowset_reserve(s, rows) || !mock_rowset_reserve_column(s, a->pt->table->designated, rows)) return false;
  for (size_t i = 0; i < plan->column_count; i++)
    if (plan->columns[i].column != MOCK_NO_COLUMN && !mock_rowset_reserve_column(s, plan->columns[i].column, rows))
      return false;
  return true;
}

static bool append_column(struct append *a, const struct mock_plan_column *pc, const struct mock_column *c) {
  if (pc->column == MOCK_NO_COLUMN || (pc->plain && a->p->level == MOCK_ROWS_COUNT)) return true;
  return reserve_locals(a->p, c) ? append_cells(a, pc, c) : out_of_memory(a->err);
}

static void stamp_rows(struct append *a) {
  const size_t column = a->pt->table->designated;
  const uint64_t now = (uint64_t)server_time(a, a->pt->table->columns[column].type);
  for (size_t row = 0; row < a->block->rows; row++)
    mock_rowset_put(&a->pt->rowset, column, a->pt->rowset.rows + row, false, now);
}

static bool touch(struct mock_pending *p, struct mock_pending_table *pt) {
  if (p->touched_count == p->touched_capacity) {
    const size_t capacity = p->touched_capacity ? p->touched_capacity * 2 : 8;
    struct mock_pending_table **grown = realloc(p->touched, capacity * sizeof *grown);
    if (!grown) return false;
    p->touched = grown;
    p->touched_capacity = capacity;
  }
  p->touched[p->touched_count++] = pt;
  return pt->touched = true;
}

static bool append_rows(struct append *a, const struct mock_plan *plan, struct mock_rowset_origin origin) {
  const size_t rows = a->block->rows;
  if (!reserve_rows(a, plan)) return out_of_memory(a->err);
  for (size_t i = 0; i < plan->column_count; i++)
    if (!append_column(a, &plan->columns[i], &a->block->columns[i])) return false;

  if (a->p->level == MOCK_ROWS_FULL) {
    if (!plan->has_designated) stamp_rows(a);
    mock_rowset_grow(&a->pt->rowset, rows, origin);
  }
  if (a->p->level == MOCK_ROWS_DIGEST)
    for (size_t row = 0; row < rows; row++) a->pt->digest += mock_fold(a->p->hashes[row]);
  return true;
}

/* ---- the quick way: DIGEST or COUNT, and only LONG columns without nulls --------------------- */

MOCK_EVERY bool is_quick(const struct mock_pending *p, const struct mock_plan *plan, const struct mock_block *b) {
  if (!plan->plain || p->level == MOCK_ROWS_FULL) return false;
  for (size_t i = 0; i < b->column_count; i++)
    if (b->columns[i].nulls) return false;
  return true;
}

/* The same sums as digest of cells, a row at a time. */
MOCK_EVERY bool digest_rows(struct mock_pending_table *pt, const struct mock_plan *plan, const struct mock_block *b) {
  if (!reserve_ids(pt, b->rows)) return false;
  for (size_t row = 0; row < b->rows; row++) {
    uint64_t hash = 0;
    for (size_t i = 0; i < b->column_count; i++) {
      const struct mock_plan_column *pc = &plan->columns[i];
      const uint64_t v = mock_load64(b->columns[i].values + row * 8);
      hash += mock_plain_hash(pc, v);
      if (pc->is_id && v != MOCK_LONG_NULL) pt->ids[pt->id_count++] = (int64_t)v;
    }
    pt->digest += mock_fold(hash);
  }
  return true;
}

/* Every other way; not for speed, so that the quick one keeps the registers. */
MOCK_RARE static bool append_block(struct mock_pending *p, const struct mock_plan *plan, const struct mock_block *block,
                                   const struct mock_dict *dict, struct mock_rowset_origin origin, int64_t wall_ns,
                                   struct mock_decode_error *err) {
  struct append a = {.p = p, .pt = plan->target, .block = block, .dict = dict, .wall_ns = wall_ns, .err = err};
  return append_rows(&a, plan, origin);
}

bool mock_tables_append(struct mock_pending *p, const struct mock_block *block, const struct mock_dict *dict,
                        int connection, int64_t wire_seq, int64_t wall_ns, struct mock_decode_error *err) {
  struct mock_plan *plan = &p->plans[block->schema % MOCK_PLANS];
  if (!mock_plan_holds(plan, block->schema) && !make_plan(p, plan, block, err)) return false;
  if (block->rows == 0) return true; /* makes the table and nothing else */

  struct mock_pending_table *pt = plan->target;
  if (!pt->touched && !touch(p, pt)) return out_of_memory(err);
  if (is_quick(p, plan, block)) {
    if (p->level == MOCK_ROWS_DIGEST && !digest_rows(pt, plan, block)) return out_of_memory(err);
  } else if (!append_block(p, plan, block, dict, (struct mock_rowset_origin){connection, wire_seq}, wall_ns, err)) {
    return false;
  }
  pt->rows += block->rows;
  return pt->rows < MOCK_MAX_UNCOMMITTED_ROWS || mock_pending_publish_early(p, pt) || out_of_memory(err);
}
