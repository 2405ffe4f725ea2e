#include "core/id_set.h"

#include <stdlib.h>

#include "core/hash.h"

void mock_id_set_free(struct mock_id_set *s) {
  free(s->slots);
  *s = (struct mock_id_set){0};
}

/* The slot of a page: its own, or the free one where it goes. At least one slot is free. */
static size_t find(const struct mock_id_slot *slots, size_t capacity, int64_t page) {
  size_t at = (size_t)mock_mix((uint64_t)page) & (capacity - 1);
  while (slots[at].bits && slots[at].page != page) at = (at + 1) & (capacity - 1);
  return at;
}

bool mock_id_set_grow(struct mock_id_set *s, size_t more) {
  /* `more` is at most the rows of one group, far below SIZE_MAX. */
  size_t capacity = s->capacity ? s->capacity : 64;
  while (s->used + more > capacity / 4 * 3) capacity *= 2;
  struct mock_id_slot *slots = calloc(capacity, sizeof *slots);
  if (!slots) return false;
  for (size_t i = 0; i < s->capacity; i++)
    if (s->slots[i].bits) slots[find(slots, capacity, s->slots[i].page)] = s->slots[i];
  free(s->slots);
  s->slots = slots;
  s->capacity = capacity;
  s->last = 0;
  return true;
}

bool mock_id_set_add_elsewhere(struct mock_id_set *s, int64_t page, uint64_t bit) {
  s->last = find(s->slots, s->capacity, page);
  struct mock_id_slot *slot = &s->slots[s->last];
  if (!slot->bits) {
    slot->page = page;
    s->used++;
  }
  const bool fresh = !(slot->bits & bit);
  slot->bits |= bit;
  return fresh;
}
