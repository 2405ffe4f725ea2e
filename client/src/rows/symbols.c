#include "rows/symbols.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "qwp/wire.h"
#include "rows/index.h"

#define BLOCK_BYTES (64u * 1024u)

/* Texts lie in blocks that never move, since qwp_symbols_text hands out pointers for the
 * dictionary's life. A text longer than a block gets one of its own size. */
struct block {
  struct block *older;
  size_t used, cap;
  char text[];
};

struct entry {
  const char *text;
  uint32_t bytes;
  uint32_t wire_end; /* wire bytes of this entry and all before it; bounded by the two limits */
};

struct qwp_symbols {
  const struct qwp_ops *ops;
  struct qwp_index index;
  struct entry *entries;
  size_t count, cap;
  size_t count_max;
  size_t sent;
  size_t text_bytes;
  struct block *newest;
};

struct qwp_symbols *qwp_symbols_new(const struct qwp_ops *ops, size_t max_count) {
  struct qwp_symbols *s = ops->mem->alloc(ops->mem_ctx, sizeof *s);
  if (!s) return NULL;
  *s = (struct qwp_symbols){.ops = ops};
  s->count_max = max_count < QWP_MAX_SYMBOLS_CLIENT ? max_count : QWP_MAX_SYMBOLS_CLIENT;
  qwp_index_init(&s->index, ops);
  return s;
}

void qwp_symbols_del(struct qwp_symbols *s) {
  if (!s) return;
  const struct qwp_ops *ops = s->ops;
  while (s->newest) {
    struct block *older = s->newest->older;
    ops->mem->free(ops->mem_ctx, s->newest);
    s->newest = older;
  }
  ops->mem->free(ops->mem_ctx, s->entries);
  qwp_index_free(&s->index);
  ops->mem->free(ops->mem_ctx, s);
}

static bool entry_equal(const void *owner, uint32_t id, const char *text, size_t n) {
  const struct entry *e = &((const struct qwp_symbols *)owner)->entries[id];
  return e->bytes == n && (n == 0 || memcmp(e->text, text, n) == 0);
}

/* Each of these makes room only: what it leaves when a later one fails is capacity, not content. */
static enum qwp_status reserve_entry(struct qwp_symbols *s) {
  if (s->count < s->cap) return QWP_OK;
  size_t cap = s->cap ? s->cap * 2 : 64;
  void *grown = s->entries ? s->ops->mem->realloc(s->ops->mem_ctx, s->entries, cap * sizeof *s->entries)
                           : s->ops->mem->alloc(s->ops->mem_ctx, cap * sizeof *s->entries);
  if (!grown) return QWP_NOMEM;
  s->entries = grown;
  s->cap = cap;
  return QWP_OK;
}

static enum qwp_status reserve_text(struct qwp_symbols *s, size_t n) {
  if (s->newest && n <= s->newest->cap - s->newest->used) return QWP_OK;
  size_t cap = n > BLOCK_BYTES ? n : BLOCK_BYTES;
  struct block *b = s->ops->mem->alloc(s->ops->mem_ctx, sizeof *b + cap);
  if (!b) return QWP_NOMEM;
  b->older = s->newest;
  b->used = 0;
  b->cap = cap;
  s->newest = b;
  return QWP_OK;
}

static uint32_t add(struct qwp_symbols *s, uint32_t hash, const char *text, size_t n) {
  uint32_t id = (uint32_t)s->count++;
  char *copy = s->newest->text + s->newest->used;
  if (n) memcpy(copy, text, n);
  s->newest->used += n;
  s->text_bytes += n;
  size_t wire_end = qwp_symbols_wire_bytes(s, 0, id) + qwp_varint_size(n) + n;
  s->entries[id] = (struct entry){copy, (uint32_t)n, (uint32_t)wire_end};
  qwp_index_put(&s->index, hash, id);
  return id;
}

enum qwp_status qwp_symbols_intern(struct qwp_symbols *s, const char *text, size_t n, uint32_t *id) {
  if (n > QWP_SYMBOL_BYTES_MAX) return QWP_VALUE;
  uint32_t hash = qwp_index_hash(text, n);
  uint32_t known = qwp_index_find(&s->index, hash, entry_equal, s, text, n);
  if (known != QWP_INDEX_NONE) {
    *id = known;
    return QWP_OK;
  }
  if (s->count >= s->count_max || n > QWP_SYMBOLS_BYTES_MAX - s->text_bytes) return QWP_DICT_FULL;
  if (reserve_entry(s) != QWP_OK || reserve_text(s, n) != QWP_OK || qwp_index_reserve(&s->index) != QWP_OK)
    return QWP_NOMEM;
  *id = add(s, hash, text, n);
  return QWP_OK;
}

/* The newest text lies at the end of the newest block that has one; empty blocks behind it,
 * emptied here or left by a call that found no memory, go. */
static void give_back_text(struct qwp_symbols *s, size_t n) {
  while (s->newest->used == 0) {
    struct block *empty = s->newest;
    s->newest = empty->older;
    s->ops->mem->free(s->ops->mem_ctx, empty);
  }
  assert(n <= s->newest->used);
  s->newest->used -= n;
  s->text_bytes -= n;
}

void qwp_symbols_forget(struct qwp_symbols *s, size_t count) {
  assert(count >= s->sent);
  while (s->count > count) {
    const struct entry *e = &s->entries[s->count - 1];
    qwp_index_remove(&s->index, qwp_index_hash(e->text, e->bytes), (uint32_t)(s->count - 1));
    s->count--;
    if (e->bytes > 0) give_back_text(s, e->bytes);
  }
}

bool qwp_symbols_known(const struct qwp_symbols *s, const char *text, size_t n) {
  return qwp_index_find(&s->index, qwp_index_hash(text, n), entry_equal, s, text, n) != QWP_INDEX_NONE;
}

size_t qwp_symbols_wire_bytes(const struct qwp_symbols *s, size_t from, size_t to) {
  assert(from <= to && to <= s->count);
  size_t before = from > 0 ? s->entries[from - 1].wire_end : 0;
  return to > 0 ? s->entries[to - 1].wire_end - before : 0;
}

size_t qwp_symbols_count(const struct qwp_symbols *s) { return s->count; }

size_t qwp_symbols_sent(const struct qwp_symbols *s) { return s->sent; }

void qwp_symbols_mark_sent(struct qwp_symbols *s, size_t count) {
  assert(count <= s->count);
  if (count > s->sent) s->sent = count;
}

const char *qwp_symbols_text(const struct qwp_symbols *s, uint32_t id, size_t *n) {
  assert(id < s->count);
  *n = s->entries[id].bytes;
  return s->entries[id].text;
}
