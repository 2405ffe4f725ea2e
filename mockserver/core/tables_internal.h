/* tables_internal - the structs behind tables.h, for tables.c (catalogue, commit, questions) and
 * append.c (rows of a block into the pending rows of a connection).
 *
 *   mock_tables ── table ── columns, visible rows (rowset | digest | count), ids seen
 *   mock_pending ── pending_table ── rows of this connection not yet visible
 *                └─ plans: block schema -> where each of its columns goes
 */
#ifndef MOCK_TABLES_INTERNAL_H
#define MOCK_TABLES_INTERNAL_H

#include "core/arena.h"
#include "core/coerce.h"
#include "core/hash.h"
#include "core/id_set.h"
#include "core/rowset.h"
#include "core/tables.h"

#define MOCK_NO_COLUMN SIZE_MAX

struct mock_table_column {
  const struct mock_text *name; /* NUL-terminated too */
  uint64_t hash;                /* of the name, any case */
  uint64_t key;                 /* seeds the digest of its values: name and type */
  uint8_t type;
  uint8_t dims;                 /* of a DOUBLE_ARRAY */
};

struct mock_table {
  const struct mock_text *name;
  uint64_t hash;
  struct mock_table_column *columns;
  size_t column_count, column_capacity;
  size_t designated, id_column; /* indices; id_column may be MOCK_NO_COLUMN */
  size_t rows;
  uint64_t digest;
  int64_t seq_txn;
  struct mock_id_set ids;
  struct mock_rowset rowset;
};

struct mock_tables {
  enum mock_rows level;
  struct mock_table **tables;
  size_t count, capacity;
  uint32_t *buckets; /* index + 1 by name hash, 0 = free */
  size_t bucket_count;
  struct mock_arena arena; /* names, and at FULL the texts of all rows, rolled-back ones too */
  size_t unique, doubled;
};

/* NULL = there is none. */
struct mock_table *mock_tables_lookup(const struct mock_tables *t, const char *name, size_t n, size_t *index);
/* A table of no columns; the name is not there yet. NULL = out of memory. */
struct mock_table *mock_tables_create(struct mock_tables *t, const char *name, size_t n);
size_t mock_table_find_column(const struct mock_table *table, const char *name, size_t n);
/* Index of the new column, MOCK_NO_COLUMN = out of memory. */
size_t mock_table_add_column(struct mock_tables *t, struct mock_table *table, const char *name, size_t n, uint8_t type);

/* The uncommitted rows of one connection in one table. */
struct mock_pending_table {
  struct mock_table *table;
  size_t index;       /* in mock_tables */
  bool touched;       /* is in mock_pending.touched */
  size_t rows;
  size_t early_rows;  /* made visible before the group's commit, not yet reported */
  uint64_t digest;
  int64_t *ids;       /* of these rows, where not null */
  size_t id_count, id_capacity;
  struct mock_rowset rowset;
};

/* Where one column of a block goes. */
struct mock_plan_column {
  size_t column;       /* MOCK_NO_COLUMN: dropped, as a second column of the same name */
  mock_coerce convert; /* NULL = as it is */
  bool designated, is_id, plain; /* plain: LONG into LONG */
  uint64_t key;
  uint8_t type;        /* of the table's column */
};

struct mock_plan {
  uint64_t schema; /* mock_block.schema, 0 = not reusable, as with arrays: their values have a say */
  struct mock_pending_table *target;
  struct mock_plan_column *columns;
  size_t column_count, capacity;
  size_t id_column; /* of the table, when the plan was made */
  bool has_designated;
  bool plain; /* all columns are */
};

/* Good for a block of that schema, and not from before the table got a better id column. */
static inline bool mock_plan_holds(const struct mock_plan *plan, uint64_t schema) {
  return schema != 0 && plan->schema == schema && plan->id_column == plan->target->table->id_column;
}

#define MOCK_PLANS 16u

struct mock_pending {
  struct mock_tables *tables;
  enum mock_rows level; /* that of tables */
  struct mock_pending_table **by_table; /* by table index; NULL = this connection never wrote to it */
  size_t by_table_count, distinct, max_distinct;
  struct mock_pending_table **touched; /* in order of the first block */
  size_t touched_count, touched_capacity;
  struct mock_plan plans[MOCK_PLANS];
  uint64_t *hashes; /* one a row of the block at hand */
  size_t hash_capacity;
  const uint8_t **locals; /* entries of a column-local dictionary */
  size_t local_capacity;
};

/* What the value of a plain column adds to the sum that is folded into the digest of its row. */
static inline uint64_t mock_plain_hash(const struct mock_plan_column *pc, uint64_t value) {
  return value == MOCK_LONG_NULL ? 0 : mock_mix(value ^ pc->key);
}

/* Makes the rows of one table visible before the group's commit. false = out of memory. */
bool mock_pending_publish_early(struct mock_pending *p, struct mock_pending_table *pt);

#endif
