#include "core/violations.h"

#include <stdlib.h>
#include <string.h>

void mock_violations_free(struct mock_violations *v) {
  free(v->list);
  *v = (struct mock_violations){0};
}

static void copy_text(char *to, size_t cap, const char *from) {
  size_t n = strlen(from);
  if (n >= cap) n = cap - 1;
  memcpy(to, from, n);
  to[n] = '\0';
}

const struct mock_violation *mock_violations_add(struct mock_violations *v, const char *requirement, int connection,
                                                 int64_t wire_seq, int64_t offset, const char *text) {
  if (v->count == MOCK_VIOLATIONS_KEPT) return NULL;
  if (v->count == v->cap) {
    size_t cap = v->cap ? 2 * v->cap : 16;
    struct mock_violation *p = realloc(v->list, cap * sizeof *p);
    if (!p) return NULL;
    v->list = p;
    v->cap = cap;
  }
  struct mock_violation *x = &v->list[v->count++];
  *x = (struct mock_violation){.connection = connection, .wire_seq = wire_seq, .offset = offset};
  copy_text(x->requirement, sizeof x->requirement, requirement);
  copy_text(x->text, sizeof x->text, text);
  return x;
}
