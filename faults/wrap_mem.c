/* wrap_mem - counts allocations and makes planned ones fail. Any thread. */
#include "layer.h"

static void *mem_alloc(void *ctx, size_t n) {
  struct faults *f = ctx;
  struct verdict v;
  if (faults_plain_call(f, FAULT_ALLOC, n, &v) != 0) return NULL;
  void *p = f->under->mem->alloc(f->under->mem_ctx, n);
  faults_pass_time(f, v.delay_after_ns);
  if (!p) return NULL;
  counter_add(&f->counters, COUNTER_alloc, 1);
  counter_add(&f->counters, COUNTER_live, 1);
  return p;
}

static void *mem_realloc(void *ctx, void *p, size_t n) {
  struct faults *f = ctx;
  struct verdict v;
  if (faults_plain_call(f, FAULT_ALLOC, n, &v) != 0) return NULL;
  void *moved = f->under->mem->realloc(f->under->mem_ctx, p, n);
  faults_pass_time(f, v.delay_after_ns);
  if (!moved) return NULL;
  counter_add(&f->counters, COUNTER_alloc, 1);
  if (!p) counter_add(&f->counters, COUNTER_live, 1);
  return moved;
}

static void mem_free(void *ctx, void *p) {
  struct faults *f = ctx;
  if (p) counter_add(&f->counters, COUNTER_live, -1);
  f->under->mem->free(f->under->mem_ctx, p);
}

const struct qwp_mem_ops faults_mem_ops = {mem_alloc, mem_realloc, mem_free};
