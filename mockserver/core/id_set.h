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
/* Makes sure that `more` ids can be added. false = out of memory, nothing changed. */
bool mock_id_set_reserve(struct mock_id_set *s, size_t more);
/* True = it is new. Room must have been reserved. */
bool mock_id_set_add(struct mock_id_set *s, int64_t id);

#endif
