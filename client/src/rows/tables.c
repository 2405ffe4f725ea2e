#include "rows/tables.h"

#include <assert.h>
#include <string.h>

/* How many more tables than it carried a flush may forget, so that a crowd of idle tables goes in small steps. */
#define FORGET_BEYOND 64u

void qwp_tables_init(struct qwp_tables *ts, const struct qwp_ops *ops) {
  *ts = (struct qwp_tables){.ops = ops};
  qwp_index_init(&ts->index, ops);
}

void qwp_tables_free(struct qwp_tables *ts) {
  for (uint32_t i = 0; i < ts->count; i++) qwp_table_del(ts->known[i]);
  ts->ops->mem->free(ts->ops->mem_ctx, ts->known);
  ts->ops->mem->free(ts->ops->mem_ctx, ts->filled);
  qwp_index_free(&ts->index);
  *ts = (struct qwp_tables){.ops = ts->ops};
}

/* ---- by name --------------------------------------------------------------------- */

static bool table_equal(const void *owner, uint32_t id, const char *name, size_t n) {
  return qwp_table_is_named(((const struct qwp_tables *)owner)->known[id], name, n);
}

struct qwp_table *qwp_tables_find(const struct qwp_tables *ts, const char *name, size_t n, uint32_t hash) {
  uint32_t id = qwp_index_find(&ts->index, hash, table_equal, ts, name, n);
  return id == QWP_INDEX_NONE ? NULL : ts->known[id];
}

static bool grow(const struct qwp_ops *ops, struct qwp_table ***list, uint32_t cap) {
  size_t bytes = cap * sizeof **list;
  void *grown = *list ? ops->mem->realloc(ops->mem_ctx, *list, bytes) : ops->mem->alloc(ops->mem_ctx, bytes);
  if (grown) *list = grown;
  return grown != NULL;
}

static bool reserve(struct qwp_tables *ts) {
  if (ts->count < ts->cap) return true;
  uint32_t cap = ts->cap ? ts->cap * 2 : 8;
  if (!grow(ts->ops, &ts->known, cap) || !grow(ts->ops, &ts->filled, cap)) return false;
  ts->cap = cap;
  return true;
}

struct qwp_table *qwp_tables_add(struct qwp_tables *ts, const char *name, size_t n, uint32_t hash) {
  if (!reserve(ts) || qwp_index_reserve(&ts->index) != QWP_OK) return NULL;
  struct qwp_table *t = qwp_table_new(ts->ops, name, n, hash);
  if (!t) return NULL;
  t->id = ts->count;
  ts->known[ts->count++] = t;
  qwp_index_put(&ts->index, hash, t->id);
  return t;
}

/* ---- the idle list ----------------------------------------------------------------- */

static bool is_idle(const struct qwp_tables *ts, const struct qwp_table *t) { return t->older || ts->oldest == t; }

static void push_newest(struct qwp_tables *ts, struct qwp_table *t) {
  t->older = ts->newest;
  t->newer = NULL;
  *(ts->newest ? &ts->newest->newer : &ts->oldest) = t;
  ts->newest = t;
}

static void unlink_idle(struct qwp_tables *ts, struct qwp_table *t) {
  *(t->older ? &t->older->newer : &ts->oldest) = t->newer;
  *(t->newer ? &t->newer->older : &ts->newest) = t->older;
  t->older = t->newer = NULL;
}

/* The last table takes the place that becomes free. */
void qwp_tables_forget(struct qwp_tables *ts, struct qwp_table *t) {
  assert(t->rows == 0);
  if (is_idle(ts, t)) unlink_idle(ts, t);
  qwp_index_remove(&ts->index, t->hash, t->id);
  struct qwp_table *last = ts->known[--ts->count];
  if (last != t) {
    qwp_index_remove(&ts->index, last->hash, last->id);
    qwp_index_put(&ts->index, last->hash, t->id);
    ts->known[t->id] = last;
    last->id = t->id;
  }
  qwp_table_del(t);
}

/* ---- filled and cleared ------------------------------------------------------------- */

void qwp_tables_fill(struct qwp_tables *ts, struct qwp_table *t) {
  assert(ts->filled_count < ts->count);
  if (is_idle(ts, t)) unlink_idle(ts, t);
  ts->filled[ts->filled_count++] = t;
}

static bool overdue(const struct qwp_tables *ts, const struct qwp_table *open) {
  return ts->count > QWP_TABLES_KEPT && ts->oldest && ts->oldest != open &&
         ts->flushes - ts->oldest->flushed_in >= QWP_TABLES_IDLE_FLUSHES;
}

bool qwp_tables_clear(struct qwp_tables *ts, struct qwp_table *open) {
  if (ts->filled_count == 0) return false;
  ts->flushes++;
  for (uint32_t i = 0; i < ts->filled_count; i++) {
    struct qwp_table *t = ts->filled[i];
    if (t == open)
      qwp_table_keep_open(t);
    else
      qwp_table_clear(t);
    t->flushed_in = ts->flushes;
    push_newest(ts, t);
  }
  uint32_t most = ts->filled_count + FORGET_BEYOND, forgotten = 0;
  ts->filled_count = 0;
  for (; forgotten < most && overdue(ts, open); forgotten++) qwp_tables_forget(ts, ts->oldest);
  return forgotten > 0;
}
