#include "rows/index.h"

#include <assert.h>
#include <string.h>

#define CAP_MIN 16u
#define MIX UINT64_C(0x9E3779B97F4A7C15) /* 2^64 divided by the golden ratio, odd */

void qwp_index_init(struct qwp_index *ix, const struct qwp_ops *ops) { *ix = (struct qwp_index){.ops = ops}; }

void qwp_index_free(struct qwp_index *ix) {
  ix->ops->mem->free(ix->ops->mem_ctx, ix->slots);
  ix->slots = NULL;
  ix->cap = ix->count = 0;
}

/* ---- hashing ------------------------------------------------------------------ */

static uint64_t mix(uint64_t h, uint64_t word) {
  h = (h ^ word) * MIX;
  return h ^ h >> 29;
}

/* Slots are chosen by the low bits: bring the high ones down. */
static uint32_t finish(uint64_t h) {
  h *= MIX;
  return (uint32_t)(h >> 32);
}

static uint64_t fold_ascii(uint64_t c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; }

uint32_t qwp_index_hash(const char *text, size_t n) {
  uint64_t h = n;
  uint64_t word;
  for (; n >= sizeof word; text += sizeof word, n -= sizeof word) {
    memcpy(&word, text, sizeof word);
    h = mix(h, word);
  }
  if (n > 0) {
    word = 0;
    memcpy(&word, text, n);
    h = mix(h, word);
  }
  return finish(h);
}

uint32_t qwp_index_hash_folded(const char *text, size_t n) {
  uint64_t h = n;
  for (size_t i = 0; i < n; i++) h = mix(h, fold_ascii((unsigned char)text[i]));
  return finish(h);
}

/* ---- probing ------------------------------------------------------------------ */

static size_t home(const struct qwp_index *ix, uint32_t hash) { return hash & (ix->cap - 1); }
static size_t next(const struct qwp_index *ix, size_t at) { return (at + 1) & (ix->cap - 1); }

uint32_t qwp_index_find(const struct qwp_index *ix, uint32_t hash, qwp_index_equal *equal, const void *owner,
                        const char *text, size_t n) {
  if (!ix->cap) return QWP_INDEX_NONE;
  for (size_t at = home(ix, hash);; at = next(ix, at)) {
    const struct qwp_index_slot *slot = &ix->slots[at];
    if (!slot->id_plus_1) return QWP_INDEX_NONE;
    if (slot->hash == hash && equal(owner, slot->id_plus_1 - 1, text, n)) return slot->id_plus_1 - 1;
  }
}

void qwp_index_put(struct qwp_index *ix, uint32_t hash, uint32_t id) {
  assert(id != QWP_INDEX_NONE && (ix->count + 1) * 4 <= ix->cap * 3);
  size_t at = home(ix, hash);
  while (ix->slots[at].id_plus_1) at = next(ix, at);
  ix->slots[at] = (struct qwp_index_slot){hash, id + 1};
  ix->count++;
}

enum qwp_status qwp_index_reserve(struct qwp_index *ix) {
  if ((ix->count + 1) * 4 <= ix->cap * 3) return QWP_OK;
  struct qwp_index grown = *ix;
  grown.cap = ix->cap ? ix->cap * 2 : CAP_MIN;
  grown.count = 0;
  grown.slots = ix->ops->mem->alloc(ix->ops->mem_ctx, grown.cap * sizeof *grown.slots);
  if (!grown.slots) return QWP_NOMEM;
  memset(grown.slots, 0, grown.cap * sizeof *grown.slots);
  for (size_t i = 0; i < ix->cap; i++)
    if (ix->slots[i].id_plus_1) qwp_index_put(&grown, ix->slots[i].hash, ix->slots[i].id_plus_1 - 1);
  ix->ops->mem->free(ix->ops->mem_ctx, ix->slots);
  *ix = grown;
  return QWP_OK;
}

/* Closes the gap instead of marking it: each later slot of the same run moves into the
 * gap, unless its home lies behind the gap, where a search would no longer find it. */
void qwp_index_remove(struct qwp_index *ix, uint32_t hash, uint32_t id) {
  size_t gap = home(ix, hash);
  while (ix->slots[gap].id_plus_1 != id + 1) {
    assert(ix->slots[gap].id_plus_1);
    gap = next(ix, gap);
  }
  for (size_t at = next(ix, gap); ix->slots[at].id_plus_1; at = next(ix, at)) {
    size_t from_home = (at - home(ix, ix->slots[at].hash)) & (ix->cap - 1);
    size_t from_gap = (at - gap) & (ix->cap - 1);
    if (from_home < from_gap) continue;
    ix->slots[gap] = ix->slots[at];
    gap = at;
  }
  ix->slots[gap] = (struct qwp_index_slot){0, 0};
  ix->count--;
}
