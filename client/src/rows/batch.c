#include "rows/batch.h"

#include <assert.h>
#include <string.h>

#include "base/utf8.h"
#include "qwp/wire.h"
#include "rows/name.h"
#include "rows/tables.h"

/* Size accounting. block_bytes of a table is its size when rows were last counted; `settled` is their
 * sum over all tables but `moving`, the one that rows were last finished in, whose size is computed
 * when somebody asks. So a row costs no accounting, and asking costs the columns of one table. */
struct qwp_batch {
  const struct qwp_ops *ops;
  struct qwp_symbols *symbols;
  size_t name_bytes_max;
  struct qwp_tables tables;
  struct qwp_table *open; /* table of the open row, or NULL */
  bool open_is_new;       /* that table was first seen in the open row */
  struct qwp_table *last; /* the table of the last row: tried before the index */
  size_t rows;
  size_t settled;
  struct qwp_table *moving;
  size_t ids_end, open_ids_end; /* one past the highest symbol id of finished rows, of the open row */
  size_t symbols_before;        /* symbols when the open row began */
};

struct qwp_batch *qwp_batch_new(const struct qwp_ops *ops, struct qwp_symbols *symbols, size_t max_name_bytes) {
  struct qwp_batch *b = ops->mem->alloc(ops->mem_ctx, sizeof *b);
  if (!b) return NULL;
  *b = (struct qwp_batch){.ops = ops, .symbols = symbols};
  b->name_bytes_max = max_name_bytes < QWP_MAX_NAME_BYTES ? max_name_bytes : QWP_MAX_NAME_BYTES;
  qwp_tables_init(&b->tables, ops);
  return b;
}

void qwp_batch_del(struct qwp_batch *b) {
  if (!b) return;
  qwp_tables_free(&b->tables);
  b->ops->mem->free(b->ops->mem_ctx, b);
}

/* ---- tables ------------------------------------------------------------------- */

/* Whether the table may have one row more in this message. */
static enum qwp_status check_room(const struct qwp_batch *b, size_t waiting, const char *name, size_t n,
                                  struct qwp_error *err) {
  if (waiting >= QWP_MAX_ROWS)
    return qwp_name_fail(err, QWP_TOO_LARGE, "table", name, n,
                         "has %u rows waiting, the most a block can have: flush", QWP_MAX_ROWS);
  if (waiting == 0 && b->tables.filled_count >= QWP_MAX_TABLES)
    return qwp_fail(err, QWP_TOO_LARGE, "%u tables have rows waiting, the most a message can hold: flush",
                    QWP_MAX_TABLES);
  return QWP_OK;
}

static enum qwp_status find_or_add(struct qwp_batch *b, const char *name, size_t n, struct qwp_table **out,
                                   bool *is_new, struct qwp_error *err) {
  uint32_t hash = qwp_index_hash(name, n);
  *out = qwp_tables_find(&b->tables, name, n, hash);
  enum qwp_status st = check_room(b, *out ? (*out)->rows : 0, name, n, err);
  *is_new = !*out;
  if (st != QWP_OK || !*is_new) return st;
  const char *fault = qwp_name_table_fault(name, n, b->name_bytes_max);
  if (fault) return qwp_name_fail(err, QWP_NAME, "table name", name, n, "%s", fault);
  *out = qwp_tables_add(&b->tables, name, n, hash);
  return *out ? QWP_OK : qwp_fail(err, QWP_NOMEM, "out of memory for a table");
}

enum qwp_status qwp_batch_table(struct qwp_batch *b, const char *name, size_t n, struct qwp_error *err) {
  if (b->open) return qwp_fail(err, QWP_MISUSE, "a row is open: end it with at or take it back first");
  bool again = b->last && qwp_table_is_named(b->last, name, n);
  struct qwp_table *t = b->last;
  bool is_new = false;
  enum qwp_status st = again ? check_room(b, t->rows, name, n, err) : find_or_add(b, name, n, &t, &is_new, err);
  if (st != QWP_OK) return st;
  b->open = b->last = t;
  b->open_is_new = is_new;
  b->open_ids_end = 0;
  b->symbols_before = qwp_symbols_count(b->symbols);
  qwp_table_row_begin(t);
  return QWP_OK;
}

/* ---- columns ------------------------------------------------------------------ */

static enum qwp_status no_row(struct qwp_error *err) {
  return qwp_fail(err, QWP_MISUSE, "no row is open: name its table first");
}

static enum qwp_status no_room(enum qwp_status st, const struct qwp_table *t, struct qwp_error *err) {
  if (st == QWP_NOMEM) return qwp_fail(err, st, "out of memory for a value");
  return qwp_name_fail(err, st, "table", t->name, t->name_bytes, "has a column of 2 GiB: flush");
}

/* Finds or makes the column and room for a value of n bytes. *out is NULL when the row has given it
 * one already. A failure leaves no new column behind. */
static inline enum qwp_status begin_value(struct qwp_batch *b, const char *col, size_t coln, unsigned code, size_t n,
                                          struct qwp_column **out, struct qwp_error *err) {
  struct qwp_table *t = b->open;
  *out = NULL;
  if (!t) return no_row(err);
  uint32_t count = t->count;
  struct qwp_column *c = qwp_table_expected(t, col, coln, code);
  enum qwp_status st = c ? QWP_OK : qwp_table_column(t, col, coln, code, b->name_bytes_max, &c, err);
  if (st != QWP_OK) return st;
  if (c->set_row == t->rows) return QWP_OK;
  st = qwp_column_reserve(c, t->rows, n);
  if (st != QWP_OK) {
    qwp_table_forget(t, count);
    return no_room(st, t, err);
  }
  *out = c;
  return QWP_OK;
}

static inline enum qwp_status set_value(struct qwp_batch *b, const char *col, size_t coln, unsigned code,
                                        const void *value, size_t n, struct qwp_error *err) {
  struct qwp_column *c;
  enum qwp_status st = begin_value(b, col, coln, code, n, &c, err);
  if (st != QWP_OK || !c) return st;
  qwp_column_put(c, b->open->rows, value, n);
  qwp_table_named(b->open, c);
  return QWP_OK;
}

/* Little-endian whatever the host; one store where the host is. */
static void store_u64(uint8_t *p, uint64_t v) {
  for (int i = 0; i < 8; i++) p[i] = (uint8_t)(v >> (8 * i));
}

static enum qwp_status set_u64(struct qwp_batch *b, const char *col, size_t coln, unsigned code, uint64_t v,
                               struct qwp_error *err) {
  uint8_t bytes[8];
  store_u64(bytes, v);
  return set_value(b, col, coln, code, bytes, sizeof bytes, err);
}

enum qwp_status qwp_batch_bool(struct qwp_batch *b, const char *col, size_t coln, bool v, struct qwp_error *err) {
  uint8_t byte = v;
  return set_value(b, col, coln, QWP_TYPE_BOOLEAN, &byte, sizeof byte, err);
}

enum qwp_status qwp_batch_long(struct qwp_batch *b, const char *col, size_t coln, int64_t v, struct qwp_error *err) {
  return set_u64(b, col, coln, QWP_TYPE_LONG, (uint64_t)v, err);
}

enum qwp_status qwp_batch_double(struct qwp_batch *b, const char *col, size_t coln, double v, struct qwp_error *err) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return set_u64(b, col, coln, QWP_TYPE_DOUBLE, bits, err);
}

static bool is_timestamp(unsigned type) { return type == QWP_TYPE_TIMESTAMP || type == QWP_TYPE_TIMESTAMP_NANOS; }

enum qwp_status qwp_batch_timestamp(struct qwp_batch *b, const char *col, size_t coln, unsigned type, int64_t v,
                                    struct qwp_error *err) {
  if (!b->open) return no_row(err);
  if (!is_timestamp(type)) return qwp_name_fail(err, QWP_TYPE, "column", col, coln, "needs a timestamp type");
  return set_u64(b, col, coln, type, (uint64_t)v, err);
}

/* What a text must be before anything is changed. The length comes first: it is the one thing that may be
 * looked at when it is wrong. */
static enum qwp_status check_text(const struct qwp_batch *b, const char *col, size_t coln, const char *v, size_t n,
                                  size_t bytes_max, struct qwp_error *err) {
  if (!b->open) return no_row(err);
  if (n > bytes_max)
    return qwp_name_fail(err, QWP_VALUE, "column", col, coln, "was given a text of more than %zu bytes", bytes_max);
  if (!qwp_utf8_valid(v, n))
    return qwp_name_fail(err, QWP_VALUE, "column", col, coln, "was given a text that is not UTF-8");
  return QWP_OK;
}

enum qwp_status qwp_batch_varchar(struct qwp_batch *b, const char *col, size_t coln, const char *v, size_t n,
                                  struct qwp_error *err) {
  enum qwp_status st = check_text(b, col, coln, v, n, QWP_MAX_PAYLOAD_BYTES, err);
  if (st != QWP_OK) return st;
  return set_value(b, col, coln, QWP_TYPE_VARCHAR, v, n, err);
}

/* The id is given last, when nothing else can fail. */
enum qwp_status qwp_batch_symbol(struct qwp_batch *b, const char *col, size_t coln, const char *v, size_t n,
                                 struct qwp_error *err) {
  enum qwp_status st = check_text(b, col, coln, v, n, QWP_SYMBOL_BYTES_MAX, err);
  if (st != QWP_OK) return st;
  struct qwp_table *t = b->open;
  uint32_t count = t->count;
  struct qwp_column *c;
  st = begin_value(b, col, coln, QWP_TYPE_SYMBOL, QWP_SYMBOL_ID_BYTES_MAX, &c, err);
  if (st != QWP_OK || !c) return st;
  uint32_t id;
  st = qwp_symbols_intern(b->symbols, v, n, &id);
  if (st != QWP_OK) {
    qwp_table_forget(t, count);
    return qwp_fail(err, st, st == QWP_NOMEM ? "out of memory for a symbol" : "the symbol dictionary is full");
  }
  qwp_column_put_symbol(c, t->rows, id);
  if (id >= b->open_ids_end) b->open_ids_end = (size_t)id + 1;
  qwp_table_named(t, c);
  return QWP_OK;
}

enum qwp_status qwp_batch_null(struct qwp_batch *b, const char *col, size_t coln, unsigned type,
                               struct qwp_error *err) {
  if (!b->open) return no_row(err);
  if (!qwp_type_of(type))
    return qwp_name_fail(err, QWP_TYPE, "column", col, coln, "was given type 0x%02x, which is none", type);
  struct qwp_column *c;
  enum qwp_status st = qwp_table_column(b->open, col, coln, type, b->name_bytes_max, &c, err);
  if (st == QWP_OK) qwp_table_named(b->open, c);
  return st;
}

/* ---- rows --------------------------------------------------------------------- */

static enum qwp_status set_designated(struct qwp_table *t, unsigned type, int64_t v, struct qwp_error *err) {
  uint32_t count = t->count;
  struct qwp_column *c;
  enum qwp_status st = qwp_table_designated(t, type, &c, err);
  if (st != QWP_OK) return st;
  st = qwp_column_reserve(c, t->rows, sizeof v);
  if (st != QWP_OK) {
    qwp_table_forget(t, count);
    return no_room(st, t, err);
  }
  if (c->code != type) qwp_column_retype(c, type);
  uint8_t bytes[8];
  store_u64(bytes, (uint64_t)v);
  qwp_column_put(c, t->rows, bytes, sizeof bytes);
  return QWP_OK;
}

/* Takes the finished rows of all other tables into the sum. */
static void move_to(struct qwp_batch *b, struct qwp_table *t) {
  if (b->moving == t) return;
  if (b->moving && b->moving->rows > 0) {
    b->moving->block_bytes = qwp_table_wire_bytes(b->moving, NULL, false);
    b->settled += b->moving->block_bytes;
  }
  b->settled -= t->block_bytes;
  b->moving = t;
}

/* Takes back an earlier stamp of the open row, and the column if it came with it. One that
 * others have been added behind stays, all null, as a type once changed does. */
static void unstamp(struct qwp_table *t) {
  if (t->designated == QWP_COLUMN_NONE) return;
  struct qwp_column *c = &t->columns[t->designated];
  if (c->set_row != t->rows) return;
  qwp_column_undo(c);
  if (t->designated >= t->known && t->designated == t->count - 1) qwp_table_forget(t, t->designated);
}

enum qwp_status qwp_batch_stamp(struct qwp_batch *b, unsigned type, int64_t v, struct qwp_error *err) {
  struct qwp_table *t = b->open;
  if (!t) return no_row(err);
  unstamp(t);
  if (type == 0) {
    if (t->row_named) return QWP_OK;
    return qwp_fail(err, QWP_MISUSE, "the row has no column and no timestamp");
  }
  if (!is_timestamp(type)) return qwp_fail(err, QWP_TYPE, "a designated timestamp is in microseconds or nanoseconds");
  if (v < 0) return qwp_fail(err, QWP_VALUE, "a designated timestamp before 1970 cannot be stored");
  return set_designated(t, type, v, err);
}

void qwp_batch_end_row(struct qwp_batch *b) {
  struct qwp_table *t = b->open;
  qwp_table_row_end(t);
  move_to(b, t);
  b->rows++;
  b->ids_end = qwp_batch_ids_end_with_row(b);
  if (t->rows == 1) qwp_tables_fill(&b->tables, t);
  b->open = NULL;
}

enum qwp_status qwp_batch_at(struct qwp_batch *b, unsigned type, int64_t v, struct qwp_error *err) {
  enum qwp_status st = qwp_batch_stamp(b, type, v, err);
  if (st == QWP_OK) qwp_batch_end_row(b);
  return st;
}

void qwp_batch_cancel(struct qwp_batch *b) {
  struct qwp_table *t = b->open;
  if (!t) return;
  b->open = NULL;
  qwp_symbols_forget(b->symbols, b->symbols_before); /* no frame told them, no other row has them */
  if (!b->open_is_new) {
    qwp_table_row_cancel(t);
    return;
  }
  b->last = NULL;
  if (b->moving == t) b->moving = NULL;
  qwp_tables_forget(&b->tables, t);
}

bool qwp_batch_row_open(const struct qwp_batch *b) { return b->open != NULL; }

size_t qwp_batch_rows(const struct qwp_batch *b) { return b->rows; }

size_t qwp_batch_bytes(const struct qwp_batch *b) {
  bool has_rows = b->moving && b->moving->rows > 0;
  return b->settled + (has_rows ? qwp_table_wire_bytes(b->moving, NULL, false) : 0);
}

size_t qwp_batch_ids_end(const struct qwp_batch *b) { return b->ids_end; }

size_t qwp_batch_bytes_with_row(struct qwp_batch *b) {
  move_to(b, b->open);
  return b->settled + qwp_table_wire_bytes_with_open(b->open);
}

size_t qwp_batch_ids_end_with_row(const struct qwp_batch *b) {
  return b->open_ids_end > b->ids_end ? b->open_ids_end : b->ids_end;
}

size_t qwp_batch_bytes_of_row(const struct qwp_batch *b) { return qwp_table_wire_bytes_of_open(b->open); }

void qwp_batch_clear_finished(struct qwp_batch *b) {
  if (qwp_tables_clear(&b->tables, b->open)) b->last = b->open; /* it may be one of the forgotten */
  b->rows = b->settled = b->ids_end = 0;
  b->moving = NULL;
}

void qwp_batch_clear(struct qwp_batch *b) {
  qwp_batch_cancel(b);
  qwp_batch_clear_finished(b);
}

size_t qwp_batch_tables(const struct qwp_batch *b) { return b->tables.filled_count; }

const struct qwp_table *qwp_batch_table_at(const struct qwp_batch *b, size_t i) {
  assert(i < b->tables.filled_count);
  return b->tables.filled[i];
}

size_t qwp_batch_known(const struct qwp_batch *b) { return b->tables.count; }

const struct qwp_table *qwp_batch_known_at(const struct qwp_batch *b, size_t i) {
  assert(i < b->tables.count);
  return b->tables.known[i];
}
