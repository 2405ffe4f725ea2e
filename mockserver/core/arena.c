#include "core/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 65536u
#define ALIGN 8u /* of every piece */

struct mock_arena_chunk {
  struct mock_arena_chunk *next;
  size_t used, size;
  alignas(ALIGN) unsigned char bytes[];
};

void mock_arena_free(struct mock_arena *a) {
  while (a->chunks) {
    struct mock_arena_chunk *next = a->chunks->next;
    free(a->chunks);
    a->chunks = next;
  }
}

void *mock_arena_room(struct mock_arena *a, size_t n) {
  if (n > SIZE_MAX / 2) return NULL;
  const size_t need = (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
  struct mock_arena_chunk *c = a->chunks;
  if (!c || c->size - c->used < need) {
    const size_t size = need > CHUNK_BYTES ? need : CHUNK_BYTES;
    c = malloc(sizeof *c + size);
    if (!c) return NULL;
    c->used = 0;
    c->size = size;
    c->next = a->chunks;
    a->chunks = c;
  }
  void *room = c->bytes + c->used;
  c->used += need;
  return room;
}

const struct mock_text *mock_arena_text(struct mock_arena *a, const void *p, size_t n) {
  if (n > SIZE_MAX / 2) return NULL;
  struct mock_text *text = mock_arena_room(a, sizeof *text + n);
  if (!text) return NULL;
  text->n = n;
  if (n > 0) memcpy(text->p, p, n);
  return text;
}
