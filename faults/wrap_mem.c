/* wrap_mem - counts allocations and their bytes, and makes planned ones fail. Any thread.
 *
 * Each block has a word in front that remembers its size, for free() is not told it.
 */
#include <stdalign.h>

#include "layer.h"

/* As aligned as malloc's own blocks, so what is behind it is as well. */
struct block {
  alignas(max_align_t) size_t bytes;
};

static struct block *block_of(void *p) { return p ? (struct block *)p - 1 : NULL; }

/* `more` bytes are in use now, beside what was. */
static void count_bytes(struct faults *f, int64_t more) {
  int64_t now = counter_add(&f->counters, COUNTER_bytes, more) + more;
  if (more > 0) counter_raise(&f->counters, COUNTER_high_bytes, now);
}

static void *mem_alloc(void *ctx, size_t n) {
  struct faults *f = ctx;
  struct verdict v;
  if (faults_plain_call(f, FAULT_ALLOC, n, &v) != 0 || n > PTRDIFF_MAX - sizeof(struct block)) return NULL;
  struct block *b = f->under->mem->alloc(f->under->mem_ctx, sizeof *b + n);
  faults_pass_time(f, v.delay_after_ns);
  if (!b) return NULL;
  b->bytes = n;
  counter_add(&f->counters, COUNTER_alloc, 1);
  counter_add(&f->counters, COUNTER_live, 1);
  count_bytes(f, (int64_t)n);
  return b + 1;
}

static void *mem_realloc(void *ctx, void *p, size_t n) {
  struct faults *f = ctx;
  struct verdict v;
  if (faults_plain_call(f, FAULT_ALLOC, n, &v) != 0 || n > PTRDIFF_MAX - sizeof(struct block)) return NULL;
  size_t before = p ? block_of(p)->bytes : 0;
  struct block *b = f->under->mem->realloc(f->under->mem_ctx, block_of(p), sizeof *b + n);
  faults_pass_time(f, v.delay_after_ns);
  if (!b) return NULL;
  b->bytes = n;
  counter_add(&f->counters, COUNTER_alloc, 1);
  if (!p) counter_add(&f->counters, COUNTER_live, 1);
  count_bytes(f, (int64_t)n - (int64_t)before);
  return b + 1;
}

static void mem_free(void *ctx, void *p) {
  struct faults *f = ctx;
  if (p) {
    counter_add(&f->counters, COUNTER_live, -1);
    count_bytes(f, -(int64_t)block_of(p)->bytes);
  }
  f->under->mem->free(f->under->mem_ctx, block_of(p));
}

const struct qwp_mem_ops faults_mem_ops = {mem_alloc, mem_realloc, mem_free};
