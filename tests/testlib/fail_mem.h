/* fail_mem.h - a memory table that counts and can refuse.
 *
 *   struct fail_mem mem;
 *   struct qwp_ops ops = fail_mem_ops(&mem);   // mem.fail_at = n: the n-th call from now (from 1) fails, once
 *   ...
 *   assert_int_equal(mem.live, 0);             // everything was freed
 */
#ifndef TESTLIB_FAIL_MEM_H
#define TESTLIB_FAIL_MEM_H

#include <stdint.h>
#include <stdlib.h>

#include "qwp/ops.h"

struct fail_mem {
  uint64_t calls;   /* alloc and realloc so far */
  uint64_t fail_at; /* the call that fails when calls reaches it; 0 = none */
  uint64_t fail_count; /* how many in a row from it on; 0 = it alone */
  uint64_t failed;  /* how many did */
  int64_t live;     /* blocks not freed */
};

static inline int fail_mem_refuses(struct fail_mem *m) {
  uint64_t last = m->fail_at + (m->fail_count > 1 ? m->fail_count - 1 : 0);
  if (++m->calls < m->fail_at || m->calls > last) return 0;
  m->failed++;
  return 1;
}

static inline void *fail_mem_alloc(void *ctx, size_t n) {
  struct fail_mem *m = ctx;
  if (n == 0) abort(); /* the table's rule: n > 0 */
  void *p = fail_mem_refuses(m) ? NULL : malloc(n);
  if (p) m->live++;
  return p;
}

static inline void *fail_mem_realloc(void *ctx, void *p, size_t n) {
  struct fail_mem *m = ctx;
  if (!p || n == 0) abort();
  return fail_mem_refuses(m) ? NULL : realloc(p, n);
}

static inline void fail_mem_free(void *ctx, void *p) {
  struct fail_mem *m = ctx;
  if (p) m->live--;
  free(p);
}

static const struct qwp_mem_ops FAIL_MEM_OPS = {fail_mem_alloc, fail_mem_realloc, fail_mem_free};

static inline struct qwp_ops fail_mem_ops(struct fail_mem *m) {
  *m = (struct fail_mem){0};
  return (struct qwp_ops){.mem = &FAIL_MEM_OPS, .mem_ctx = m};
}

#endif
