#include "core/answers.h"

#include <stdlib.h>
#include <string.h>

void mock_answers_free(struct mock_answers *q) {
  mock_out_free(&q->bytes);
  free(q->list);
  *q = (struct mock_answers){0};
}

/* Moves what waits to the front once as much has gone: each entry is moved at most once on average. */
static void tidy(struct mock_answers *q) {
  if (q->gone < 64 || q->gone < q->count) return;
  memmove(q->list, q->list + q->gone, q->count * sizeof *q->list);
  q->gone = 0;
  mock_out_drop_front(&q->bytes, q->bytes_gone);
  q->bytes_gone = 0;
}

bool mock_answers_add(struct mock_answers *q, struct mock_answer a) {
  if (q->bytes.failed) return false;
  tidy(q);
  if (q->gone + q->count == q->cap) {
    size_t cap = q->cap ? 2 * q->cap : 16;
    struct mock_answer *p = realloc(q->list, cap * sizeof *p);
    if (!p) return false;
    q->list = p;
    q->cap = cap;
  }
  q->list[q->gone + q->count++] = a;
  return true;
}

int64_t mock_answers_next_ns(const struct mock_answers *q) { return q->count ? q->list[q->gone].due_ns : INT64_MAX; }

const struct mock_answer *mock_answers_due(const struct mock_answers *q, int64_t now_ns, const uint8_t **p) {
  if (q->count == 0 || q->list[q->gone].due_ns > now_ns) return NULL;
  *p = q->bytes.p + q->bytes_gone;
  return &q->list[q->gone];
}

void mock_answers_pop(struct mock_answers *q) {
  q->bytes_gone += q->list[q->gone].n;
  q->gone++;
  if (--q->count == 0) mock_answers_drop(q);
}

void mock_answers_release(struct mock_answers *q, int64_t due_ns) {
  for (size_t i = q->gone; i < q->gone + q->count; i++)
    if (q->list[i].due_ns == INT64_MAX) q->list[i].due_ns = due_ns;
}

void mock_answers_drop(struct mock_answers *q) {
  mock_out_clear(&q->bytes);
  q->bytes_gone = 0;
  q->gone = q->count = 0;
}
