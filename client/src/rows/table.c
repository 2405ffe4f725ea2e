#include "rows/table.h"

#include <assert.h>
#include <string.h>

#include "qwp/wire.h"
#include "rows/name.h"

struct qwp_table *qwp_table_new(const struct qwp_ops *ops, const char *name, size_t n, uint32_t hash) {
  struct qwp_table *t = ops->mem->alloc(ops->mem_ctx, sizeof *t + n);
  if (!t) return NULL;
  *t = (struct qwp_table){.ops = ops, .designated = QWP_COLUMN_NONE, .hash = hash, .name_bytes = n};
  memcpy(t->name, name, n);
  qwp_index_init(&t->index, ops);
  return t;
}

void qwp_table_del(struct qwp_table *t) {
  if (!t) return;
  const struct qwp_ops *ops = t->ops;
  for (uint32_t i = 0; i < t->count; i++) qwp_column_free(&t->columns[i]);
  ops->mem->free(ops->mem_ctx, t->columns);
  qwp_index_free(&t->index);
  ops->mem->free(ops->mem_ctx, t);
}

/* ---- columns ------------------------------------------------------------------ */

static unsigned char fold(char c) { return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c); }

static bool column_equal(const void *owner, uint32_t id, const char *name, size_t n) {
  const struct qwp_column *c = &((const struct qwp_table *)owner)->columns[id];
  if (c->name_bytes != n) return false;
  for (size_t i = 0; i < n; i++)
    if (fold(c->name[i]) != fold(name[i])) return false;
  return true;
}

static enum qwp_status reserve_column(struct qwp_table *t) {
  if (t->count < t->cap) return QWP_OK;
  uint32_t cap = t->cap ? t->cap * 2 : 8;
  void *grown = t->columns ? t->ops->mem->realloc(t->ops->mem_ctx, t->columns, cap * sizeof *t->columns)
                           : t->ops->mem->alloc(t->ops->mem_ctx, cap * sizeof *t->columns);
  if (!grown) return QWP_NOMEM;
  t->columns = grown;
  t->cap = cap;
  return QWP_OK;
}

static enum qwp_status add_column(struct qwp_table *t, const char *name, size_t n, uint32_t hash, unsigned code,
                                  struct qwp_column **out, struct qwp_error *err) {
  if (t->count >= QWP_MAX_COLUMNS)
    return qwp_name_fail(err, QWP_TOO_LARGE, "table", t->name, t->name_bytes,
                         "has %u columns, the most a block can have", QWP_MAX_COLUMNS);
  if (reserve_column(t) != QWP_OK || qwp_index_reserve(&t->index) != QWP_OK ||
      qwp_column_init(&t->columns[t->count], t->ops, name, n, hash, code) != QWP_OK)
    return qwp_fail(err, QWP_NOMEM, "out of memory for a column");
  *out = &t->columns[t->count++];
  return QWP_OK;
}

enum qwp_status qwp_table_column(struct qwp_table *t, const char *name, size_t n, unsigned code,
                                 size_t name_bytes_max, struct qwp_column **out, struct qwp_error *err) {
  uint32_t hash = qwp_index_hash_folded(name, n);
  uint32_t id = qwp_index_find(&t->index, hash, column_equal, t, name, n);
  if (id == QWP_INDEX_NONE) {
    const char *fault = qwp_name_column_fault(name, n, name_bytes_max);
    if (fault) return qwp_name_fail(err, QWP_NAME, "column name", name, n, "%s", fault);
    enum qwp_status st = add_column(t, name, n, hash, code, out, err);
    if (st == QWP_OK) qwp_index_put(&t->index, hash, t->count - 1);
    return st;
  }
  struct qwp_column *c = &t->columns[id];
  if (c->code != code)
    return qwp_name_fail(err, QWP_TYPE, "column", name, n, "is %s and cannot become %s", c->type->name,
                         qwp_type_of(code)->name);
  *out = c;
  return QWP_OK;
}

enum qwp_status qwp_table_designated(struct qwp_table *t, unsigned code, struct qwp_column **out,
                                     struct qwp_error *err) {
  if (t->designated == QWP_COLUMN_NONE) {
    enum qwp_status st = add_column(t, NULL, 0, 0, code, out, err);
    if (st == QWP_OK) t->designated = t->count - 1;
    return st;
  }
  struct qwp_column *c = &t->columns[t->designated];
  if (c->code != code && c->now.values > 0)
    return qwp_name_fail(err, QWP_TYPE, "table", t->name, t->name_bytes,
                         "holds rows with a designated timestamp in the other unit; flush them first");
  *out = c;
  return QWP_OK;
}

void qwp_table_forget(struct qwp_table *t, uint32_t count) {
  while (t->count > count) {
    struct qwp_column *c = &t->columns[--t->count];
    if (t->count == t->designated)
      t->designated = QWP_COLUMN_NONE;
    else
      qwp_index_remove(&t->index, c->hash, t->count);
    qwp_column_free(c);
  }
}

/* ---- rows --------------------------------------------------------------------- */

void qwp_table_row_begin(struct qwp_table *t) {
  t->row_named = false;
  t->next = t->designated == 0 ? 1 : 0;
}

void qwp_table_row_end(struct qwp_table *t) {
  t->known = t->count;
  t->rows++;
}

void qwp_table_row_cancel(struct qwp_table *t) {
  qwp_table_forget(t, t->known);
  for (uint32_t i = 0; i < t->count; i++)
    if (t->columns[i].set_row == t->rows) qwp_column_undo(&t->columns[i]);
}

void qwp_table_clear(struct qwp_table *t) {
  for (uint32_t i = 0; i < t->count; i++) qwp_column_clear(&t->columns[i]);
  t->rows = 0;
  t->block_bytes = 0;
}

void qwp_table_keep_open(struct qwp_table *t) {
  for (uint32_t i = 0; i < t->count; i++) {
    struct qwp_column *c = &t->columns[i];
    if (c->set_row == t->rows)
      qwp_column_keep_last(c);
    else
      qwp_column_clear(c);
  }
  t->rows = 0;
  t->block_bytes = 0;
}

/* ---- size --------------------------------------------------------------------- */

static size_t head_bytes(const struct qwp_table *t, uint32_t rows, uint32_t columns) {
  return qwp_varint_size(t->name_bytes) + t->name_bytes + qwp_varint_size(rows) + qwp_varint_size(columns);
}

/* A column's schema entry, and its data for so many rows. */
static size_t column_bytes(const struct qwp_column *c, const struct qwp_extent *x, uint32_t rows,
                           enum qwp_null_form wanted, bool encoding_byte) {
  enum qwp_null_form form = qwp_column_null_form(c, wanted);
  return qwp_varint_size(c->name_bytes) + c->name_bytes + 1 + qwp_column_wire_bytes(c, x, rows, form, encoding_byte);
}

size_t qwp_table_wire_bytes(const struct qwp_table *t, const enum qwp_null_form *nulls, bool encoding_byte) {
  size_t size = head_bytes(t, t->rows, t->known);
  for (uint32_t i = 0; i < t->known; i++) {
    const struct qwp_column *c = &t->columns[i];
    enum qwp_null_form wanted = nulls ? nulls[c->code] : c->type->nulls;
    size += column_bytes(c, qwp_column_finished(c, t->rows), t->rows, wanted, encoding_byte);
  }
  return size;
}

size_t qwp_table_wire_bytes_with_open(const struct qwp_table *t) {
  size_t size = head_bytes(t, t->rows + 1, t->count);
  for (uint32_t i = 0; i < t->count; i++) {
    const struct qwp_column *c = &t->columns[i];
    size += column_bytes(c, &c->now, t->rows + 1, c->type->nulls, false);
  }
  return size;
}

size_t qwp_table_wire_bytes_of_open(const struct qwp_table *t) {
  size_t size = head_bytes(t, 1, t->count);
  for (uint32_t i = 0; i < t->count; i++) {
    const struct qwp_column *c = &t->columns[i];
    struct qwp_extent x = {0};
    if (c->set_row == t->rows) x = (struct qwp_extent){.rows = 1, .values = 1, .bytes = c->now.bytes - c->before.bytes};
    size += column_bytes(c, &x, 1, c->type->nulls, false);
  }
  return size;
}
