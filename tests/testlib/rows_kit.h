/* rows_kit.h - a batch with its dictionary and counting memory, and short ways to fill it. */
#ifndef TESTLIB_ROWS_KIT_H
#define TESTLIB_ROWS_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fail_mem.h"
#include "qwp/wire.h"
#include "rows/batch.h"
#include "rows/table.h"

struct rows_kit {
  struct fail_mem mem;
  struct qwp_ops ops;
  struct qwp_symbols *symbols;
  struct qwp_batch *batch;
  struct qwp_error err;
};

static inline void kit_init(struct rows_kit *k) {
  k->ops = fail_mem_ops(&k->mem);
  k->symbols = qwp_symbols_new(&k->ops, 1000000);
  assert_non_null(k->symbols);
  k->batch = qwp_batch_new(&k->ops, k->symbols, 127);
  assert_non_null(k->batch);
  qwp_error_clear(&k->err);
}

/* Every block must have come back. */
static inline void kit_free(struct rows_kit *k) {
  qwp_batch_del(k->batch);
  qwp_symbols_del(k->symbols);
  assert_int_equal(k->mem.live, 0);
}

#define KIT_OK(call) assert_int_equal((call), QWP_OK)

static inline enum qwp_status kit_table(struct rows_kit *k, const char *name) {
  return qwp_batch_table(k->batch, name, strlen(name), &k->err);
}
static inline enum qwp_status kit_bool(struct rows_kit *k, const char *col, bool v) {
  return qwp_batch_bool(k->batch, col, strlen(col), v, &k->err);
}
static inline enum qwp_status kit_long(struct rows_kit *k, const char *col, int64_t v) {
  return qwp_batch_long(k->batch, col, strlen(col), v, &k->err);
}
static inline enum qwp_status kit_double(struct rows_kit *k, const char *col, double v) {
  return qwp_batch_double(k->batch, col, strlen(col), v, &k->err);
}
static inline enum qwp_status kit_symbol(struct rows_kit *k, const char *col, const char *v) {
  return qwp_batch_symbol(k->batch, col, strlen(col), v, strlen(v), &k->err);
}
static inline enum qwp_status kit_varchar(struct rows_kit *k, const char *col, const char *v) {
  return qwp_batch_varchar(k->batch, col, strlen(col), v, strlen(v), &k->err);
}
static inline enum qwp_status kit_timestamp(struct rows_kit *k, const char *col, unsigned type, int64_t v) {
  return qwp_batch_timestamp(k->batch, col, strlen(col), type, v, &k->err);
}
static inline enum qwp_status kit_null(struct rows_kit *k, const char *col, unsigned type) {
  return qwp_batch_null(k->batch, col, strlen(col), type, &k->err);
}
static inline enum qwp_status kit_at_us(struct rows_kit *k, int64_t us) {
  return qwp_batch_at(k->batch, QWP_TYPE_TIMESTAMP, us, &k->err);
}
static inline enum qwp_status kit_at_ns(struct rows_kit *k, int64_t ns) {
  return qwp_batch_at(k->batch, QWP_TYPE_TIMESTAMP_NANOS, ns, &k->err);
}
static inline enum qwp_status kit_at_now(struct rows_kit *k) { return qwp_batch_at(k->batch, 0, 0, &k->err); }

#endif
