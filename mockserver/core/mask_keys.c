#include "core/mask_keys.h"

#include <stddef.h>

#define ROW_FRAMES 8u /* two repeats among so many keys are no coincidence */

void mock_mask_keys_init(struct mock_mask_keys *k) { *k = (struct mock_mask_keys){.mark_at = 2}; }

/* The key equals the one before it. */
static bool repeated(const struct mock_mask_keys *k) {
  return k->seen >= 2 && (uint32_t)k->pair == (uint32_t)(k->pair >> 32);
}

static bool in_a_row(struct mock_mask_keys *k) {
  if (!repeated(k)) return false;
  const bool again = k->repeat_at > 0 && k->seen - k->repeat_at < ROW_FRAMES;
  k->repeat_at = k->seen;
  return again;
}

/* Nothing is marked before the second key. */
static bool in_a_circle(const struct mock_mask_keys *k) { return k->seen > 2 && k->pair == k->marked; }

const char *mock_mask_keys_judge(struct mock_mask_keys *k) {
  const char *wrong = NULL;
  if (in_a_row(k)) wrong = "mask keys repeat from frame to frame";
  else if (in_a_circle(k)) wrong = "mask keys come round again";
  k->over = wrong != NULL;
  if (k->seen != k->mark_at) return wrong;
  k->marked = k->pair;
  k->mark_at *= 2;
  return wrong;
}
