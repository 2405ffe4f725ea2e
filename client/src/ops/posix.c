#include "ops/posix.h"

#include <stdlib.h>

static void *mem_alloc(void *ctx, size_t n) {
  (void)ctx;
  return malloc(n);
}

static void *mem_realloc(void *ctx, void *p, size_t n) {
  (void)ctx;
  return realloc(p, n);
}

static void mem_free(void *ctx, void *p) {
  (void)ctx;
  free(p);
}

const struct qwp_mem_ops qwp_posix_mem = {.alloc = mem_alloc, .realloc = mem_realloc, .free = mem_free};

int qwp_ops_posix_init(struct qwp_ops *ops) {
  *ops = (struct qwp_ops){
      .net = &qwp_posix_net, .file = &qwp_posix_file, .clock = &qwp_posix_clock, .mem = &qwp_posix_mem};
  return qwp_posix_net_new(&ops->net_ctx);
}

void qwp_ops_posix_free(struct qwp_ops *ops) {
  if (ops->net_ctx) qwp_posix_net_del(ops->net_ctx);
  *ops = (struct qwp_ops){.net = NULL};
}
