/* The hash index: random puts and removes against a plain array, with hashes that collide on purpose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fail_mem.h"
#include "rows/index.h"

#define TEXTS 300

struct owner {
  char text[TEXTS][8];
  bool in[TEXTS];
};

static bool equal(const void *owner, uint32_t id, const char *text, size_t n) {
  const struct owner *o = owner;
  return strlen(o->text[id]) == n && memcmp(o->text[id], text, n) == 0;
}

static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static void expect_as_model(const struct qwp_index *ix, const struct owner *o, uint32_t hash_mask) {
  size_t count = 0;
  for (uint32_t id = 0; id < TEXTS; id++) {
    uint32_t hash = qwp_index_hash(o->text[id], strlen(o->text[id])) & hash_mask;
    uint32_t found = qwp_index_find(ix, hash, equal, o, o->text[id], strlen(o->text[id]));
    assert_int_equal(found, o->in[id] ? id : QWP_INDEX_NONE);
    count += o->in[id];
  }
  assert_int_equal(ix->count, count);
}

static void random_life(uint32_t hash_mask) {
  struct fail_mem mem;
  struct qwp_ops ops = fail_mem_ops(&mem);
  struct owner o = {0};
  struct qwp_index ix;
  uint32_t seed = 7;
  qwp_index_init(&ix, &ops);
  for (uint32_t id = 0; id < TEXTS; id++) snprintf(o.text[id], sizeof o.text[id], "t%u", (unsigned)id);
  for (int step = 0; step < 3000; step++) {
    uint32_t id = next_random(&seed) % TEXTS;
    uint32_t hash = qwp_index_hash(o.text[id], strlen(o.text[id])) & hash_mask;
    if (o.in[id]) {
      qwp_index_remove(&ix, hash, id);
    } else {
      assert_int_equal(qwp_index_reserve(&ix), QWP_OK);
      qwp_index_put(&ix, hash, id);
    }
    o.in[id] = !o.in[id];
    if (step % 50 == 0) expect_as_model(&ix, &o, hash_mask);
  }
  expect_as_model(&ix, &o, hash_mask);
  qwp_index_free(&ix);
  assert_int_equal(mem.live, 0);
}

static void spread_hashes(void **state) {
  (void)state;
  random_life(UINT32_MAX);
}

static void colliding_hashes(void **state) {
  (void)state;
  random_life(3);
  random_life(0);
  random_life(UINT32_MAX << 2 | 0x80000000u);
}

static void folding_is_ascii(void **state) {
  (void)state;
  assert_int_equal(qwp_index_hash_folded("Price", 5), qwp_index_hash_folded("pRICE", 5));
  assert_int_not_equal(qwp_index_hash_folded("@", 1), qwp_index_hash_folded("`", 1));
  assert_int_not_equal(qwp_index_hash_folded("[", 1), qwp_index_hash_folded("{", 1));
  assert_int_not_equal(qwp_index_hash("Price", 5), qwp_index_hash("price", 5));
}

static void a_failed_reserve_keeps_what_is_there(void **state) {
  (void)state;
  struct fail_mem mem;
  struct qwp_ops ops = fail_mem_ops(&mem);
  struct owner o = {0};
  struct qwp_index ix;
  qwp_index_init(&ix, &ops);
  mem.fail_at = 1;
  assert_int_equal(qwp_index_reserve(&ix), QWP_NOMEM);
  for (uint32_t id = 0; id < 12; id++) { /* three quarters of the first sixteen */
    snprintf(o.text[id], sizeof o.text[id], "t%u", (unsigned)id);
    assert_int_equal(qwp_index_reserve(&ix), QWP_OK);
    qwp_index_put(&ix, qwp_index_hash(o.text[id], strlen(o.text[id])), id);
  }
  mem.fail_at = mem.calls + 1;
  assert_int_equal(qwp_index_reserve(&ix), QWP_NOMEM);
  for (uint32_t id = 0; id < 12; id++) {
    size_t n = strlen(o.text[id]);
    assert_int_equal(qwp_index_find(&ix, qwp_index_hash(o.text[id], n), equal, &o, o.text[id], n), id);
  }
  qwp_index_free(&ix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spread_hashes),
      cmocka_unit_test(colliding_hashes),
      cmocka_unit_test(folding_is_ascii),
      cmocka_unit_test(a_failed_reserve_keeps_what_is_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
