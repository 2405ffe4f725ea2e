#include "core/dict.h"

#include <stdlib.h>
#include <string.h>

#include "core/arena.h"

struct mock_dict {
  const struct mock_text **texts; /* NULL = an id that only a gap created */
  size_t count, capacity;
  struct mock_arena arena; /* a redefined text stays */
};

struct mock_dict *mock_dict_new(void) { return calloc(1, sizeof(struct mock_dict)); }

void mock_dict_del(struct mock_dict *d) {
  if (!d) return;
  mock_arena_free(&d->arena);
  free(d->texts);
  free(d);
}

size_t mock_dict_count(const struct mock_dict *d) { return d->count; }

const char *mock_dict_text(const struct mock_dict *d, uint64_t id, size_t *n) {
  const struct mock_text *text = d->texts[id];
  if (!text) return NULL;
  *n = text->n;
  return text->p;
}

/* Room for ids below `count`; the new ones have no string. */
static bool grow(struct mock_dict *d, uint64_t count) {
  if (count > SIZE_MAX / sizeof *d->texts / 2) return false;
  if (count > d->capacity) {
    size_t capacity = d->capacity ? d->capacity : 64;
    while (capacity < count) capacity *= 2;
    const struct mock_text **texts = realloc(d->texts, capacity * sizeof *texts);
    if (!texts) return false;
    d->texts = texts;
    d->capacity = capacity;
  }
  while (d->count < count) d->texts[d->count++] = NULL;
  return true;
}

bool mock_dict_fill(struct mock_dict *d, uint64_t count) { return count <= d->count || grow(d, count); }

int mock_dict_set(struct mock_dict *d, uint64_t id, const char *text, size_t n) {
  const struct mock_text *old = id < d->count ? d->texts[id] : NULL;
  if (old && old->n == n && memcmp(old->p, text, n) == 0) return 1;
  const struct mock_text *copy = mock_arena_text(&d->arena, text, n);
  if (!copy) return -1;
  if (id >= d->count && (id == UINT64_MAX || !grow(d, id + 1))) return -1;
  d->texts[id] = copy;
  return old ? 2 : 0;
}
