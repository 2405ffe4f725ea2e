/* id_set - a set of 64-bit row ids.
 *
 * Workloads number their rows, so ids come in runs: 64 neighbours share one slot of an open
 * hash table (a page number and a word of bits), and the slot used last is looked at first.
 * Scattered ids cost a slot each; nothing depends on their being dense.
 */
#ifndef MOCK_ID_SET_H
#define MOCK_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mock_id_slot {
  int64_t page;  /* id >> 6 */
  uint64_t bits; /* 0 = a free slot */
};

struct mock_id_set {
  struct mock_id_slot *slots;
  size_t capacity; /* 0 or a power of two */
  size_t used, last;
};

void mock_id_set_free(struct mock_id_set *s);
bool mock_id_set_grow(struct mock_id_set *s, size_t more);
bool mock_id_set_add_elsewhere(struct mock_id_set *s, int64_t page, uint64_t bit);

/* Makes sure that `more` ids can be added. false = out of memory, nothing changed. */
static inline bool mock_id_set_reserve(struct mock_id_set *s, size_t more) {
  /* At most three quarters full. */
  return s->used + more <= s->capacity / 4 * 3 || mock_id_set_grow(s, more);
}

/* True = it is new. Room must have been reserved. */
static inline bool mock_id_set_add(struct mock_id_set *s, int64_t id) {
  /* floor(id / 64), without relying on what a shift does to the sign */
  const int64_t page = (int64_t)((uint64_t)id >> 6 | (id < 0 ? ~(~UINT64_C(0) >> 6) : 0));
  const uint64_t bit = UINT64_C(1) << ((uint64_t)id & 63);
  struct mock_id_slot *slot = &s->slots[s->last];
  if (slot->page != page || !slot->bits) return mock_id_set_add_elsewhere(s, page, bit);
  const bool fresh = !(slot->bits & bit);
  slot->bits |= bit;
  return fresh;
}

#endif
