/* arena - texts and other pieces that live as long as their owner, written once and never moved. */
#ifndef MOCK_ARENA_H
#define MOCK_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct mock_text {
  size_t n;
  char p[];
};

struct mock_arena {
  struct mock_arena_chunk *chunks; /* newest first */
};

void mock_arena_free(struct mock_arena *a);  /* every text is gone; usable again */
/* n bytes, aligned for doubles, pointers and what is smaller. NULL = out of memory. */
void *mock_arena_room(struct mock_arena *a, size_t n);
/* A copy of p[0..n), NULL = out of memory. */
const struct mock_text *mock_arena_text(struct mock_arena *a, const void *p, size_t n);

#endif
