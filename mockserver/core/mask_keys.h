/* mask_keys - are the mask keys of a connection fresh [WS-001]?
 *
 * A key is 32 random bits, so one coincidence tells nothing and a zero key is as good as any; 64 bits that come
 * again tell. Three things are looked for:
 *
 *   in a row     two keys of 8 each equal to the key before it: one key for all frames, or for all of a write
 *   in a circle  two neighbours equal to two neighbours seen before: a table of keys, a short period. Remembered are
 *                those behind frame 2, 4, 8, ...: a circle of any length is found within three rounds of it
 *   from anew    the first two keys equal those of another connection: a generator that is not seeded. The caller
 *                keeps those of the others.
 *
 * A client whose keys are random is accused in N frames with a probability below N * 2^-61 by the first two (10^9
 * frames: 5e-10), in C connections below C^2 * 2^-65 by the third (10^6 connections: 3e-8). A client with one
 * key, zero or not, is accused at its third frame.
 */
#ifndef MOCK_MASK_KEYS_H
#define MOCK_MASK_KEYS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct mock_mask_keys {
  bool over;          /* nothing is looked for (any more) */
  uint64_t pair;      /* the last two keys, the newer one in the low half */
  uint64_t marked;    /* such a pair from before */
  uint64_t seen;      /* keys so far */
  uint64_t mark_at;   /* the count at which the pair is marked next */
  uint64_t repeat_at; /* the count at the last key that equalled the one before it, 0 = none did */
};

void mock_mask_keys_init(struct mock_mask_keys *k);

/* Takes the key of the next frame. True, seldom: mock_mask_keys_judge is to be asked. */
static inline bool mock_mask_keys_take(struct mock_mask_keys *k, const uint8_t key[4]) {
  if (k->over) return false;
  uint32_t newest;
  memcpy(&newest, key, 4);
  const uint32_t before = (uint32_t)k->pair;
  k->pair = (uint64_t)before << 32 | newest;
  k->seen++;
  return newest == before || k->pair == k->marked || k->seen == k->mark_at;
}

/* What is wrong with the keys, NULL = nothing. It is told once: then it is over. */
const char *mock_mask_keys_judge(struct mock_mask_keys *k);

/* True right behind the second frame: k->pair are the first two keys of the connection. */
static inline bool mock_mask_keys_first_pair(const struct mock_mask_keys *k) { return k->seen == 2 && !k->over; }

#endif
