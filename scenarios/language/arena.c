#include "language/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)8192)

struct block {
  struct block *next;
  size_t used, size;
  alignas(max_align_t) unsigned char bytes[];
};

struct scn_arena {
  struct block *blocks; /* newest first; only the newest is filled */
  size_t left;          /* bytes that blocks may still take */
};

struct scn_arena *scn_arena_new(size_t max_bytes) {
  struct scn_arena *a = calloc(1, sizeof *a);
  if (a) a->left = max_bytes;
  return a;
}

void scn_arena_del(struct scn_arena *a) {
  if (!a) return;
  for (struct block *b = a->blocks, *next; b; b = next) {
    next = b->next;
    free(b);
  }
  free(a);
}

static struct block *block_new(struct scn_arena *a, size_t n) {
  const size_t size = n > BLOCK_BYTES ? n : BLOCK_BYTES;
  if (size > a->left) return NULL;
  struct block *b = size <= SIZE_MAX - sizeof *b ? malloc(sizeof *b + size) : NULL;
  if (!b) return NULL;
  a->left -= size;
  b->next = a->blocks;
  b->used = 0;
  b->size = size;
  a->blocks = b;
  return b;
}

static void *take(struct scn_arena *a, size_t n) {
  const size_t unit = alignof(max_align_t);
  if (n > SIZE_MAX - unit) return NULL;
  n = (n + unit - 1) / unit * unit;
  struct block *b = a->blocks;
  if (!b || b->size - b->used < n) b = block_new(a, n);
  if (!b) return NULL;
  void *p = b->bytes + b->used;
  b->used += n;
  return p;
}

void *scn_arena_array(struct scn_arena *a, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) return NULL;
  const size_t n = count * size;
  void *p = take(a, n ? n : 1);
  if (p) memset(p, 0, n);
  return p;
}

char *scn_arena_text(struct scn_arena *a, const char *text, size_t n) {
  if (n == SIZE_MAX) return NULL;
  char *p = take(a, n + 1);
  if (!p) return NULL;
  if (n) memcpy(p, text, n);
  p[n] = '\0';
  return p;
}
