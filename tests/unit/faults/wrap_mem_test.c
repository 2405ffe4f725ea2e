#include <errno.h>
#include <pthread.h>

#include "kit.h"

static void *alloc(struct kit *k, size_t n) { return k->ops->mem->alloc(k->ops->mem_ctx, n); }
static void *grow(struct kit *k, void *p, size_t n) { return k->ops->mem->realloc(k->ops->mem_ctx, p, n); }
static void release(struct kit *k, void *p) { k->ops->mem->free(k->ops->mem_ctx, p); }

static void allocations_are_counted(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, NULL, 0);
  void *a = alloc(&k, 8), *b = grow(&k, NULL, 8);
  b = grow(&k, b, 16);
  assert_int_equal(kit_counters(&k).alloc, 3);
  assert_int_equal(kit_counters(&k).live, 2);
  release(&k, NULL);
  release(&k, a);
  release(&k, b);
  assert_int_equal(kit_counters(&k).live, 0);
  kit_end(&k);
}

static void bytes_in_use_are_counted(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_ALLOC, .least_bytes = 1000, .nth = 1, .act = FAULT_DO_ERRNO, .err = ENOMEM)};
  struct kit k;
  kit_new(&k, rules, 1);
  const struct step {
    int block;
    size_t bytes; /* 0 = it is freed */
    int64_t now, high;
  } steps[] = {
      {0, 100, 100, 100}, {1, 30, 130, 130}, {0, 10, 40, 130}, {0, 0, 30, 130}, {0, 1000, 30, 130},
      {0, 99, 129, 130},  {1, 32, 131, 131}, {1, 0, 99, 131},  {0, 0, 0, 131},
  };
  void *blocks[2] = {0};
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    void **p = &blocks[steps[i].block];
    if (steps[i].bytes == 0) {
      release(&k, *p);
      *p = NULL;
    } else {
      void *grown = grow(&k, *p, steps[i].bytes);
      if (grown) memset(*p = grown, 0xa5, steps[i].bytes);
    }
    assert_int_equal(kit_counters(&k).bytes, steps[i].now);
    assert_int_equal(kit_counters(&k).high_bytes, steps[i].high);
  }
  kit_end(&k);
}

/* A block is as good as the one below it: aligned for anything, and nothing wraps around. */
static void blocks_are_aligned_and_bounded(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, NULL, 0);
  void *p = alloc(&k, 1);
  assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
  assert_null(alloc(&k, SIZE_MAX));
  assert_null(grow(&k, p, SIZE_MAX - 8));
  assert_int_equal(kit_counters(&k).bytes, 1);
  release(&k, p);
  kit_end(&k);
}

static void the_nth_fails_once_or_from_then_on(void **state) {
  (void)state;
  const struct fault_rule once[] = {RULE(.point = FAULT_ALLOC, .nth = 2, .act = FAULT_DO_ERRNO, .err = ENOMEM)};
  struct kit k;
  kit_new(&k, once, 1);
  void *p = alloc(&k, 8);
  assert_non_null(p);
  assert_null(grow(&k, p, 16)); /* p stays valid */
  p = grow(&k, p, 16);
  assert_non_null(p);
  assert_int_equal(kit_counters(&k).alloc, 2);
  release(&k, p);
  kit_end(&k);

  const struct fault_rule always[] = {
      RULE(.point = FAULT_ALLOC, .nth = 2, .act = FAULT_DO_ERRNO, .err = ENOMEM, .repeat = FAULT_FOREVER)};
  kit_new(&k, always, 1);
  p = alloc(&k, 8);
  for (int i = 0; i < 3; i++) assert_null(alloc(&k, 8));
  assert_int_equal(faults_fired(k.f, 0), 3);
  assert_int_equal(kit_counters(&k).live, 1);
  release(&k, p);
  kit_end(&k);
}

static void an_allocation_is_picked_by_its_size(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_ALLOC, .least_bytes = 100, .nth = 2, .act = FAULT_DO_ERRNO, .err = ENOMEM)};
  struct kit k;
  kit_new(&k, rules, 1);
  void *p = alloc(&k, 99);
  p = grow(&k, p, 100);          /* the first of such a size */
  assert_non_null(p);
  p = grow(&k, p, 99);           /* none */
  assert_non_null(p);
  assert_null(grow(&k, p, 101)); /* the second */
  assert_int_equal(faults_fired(k.f, 0), 1);
  release(&k, p);
  p = alloc(&k, 200);
  assert_non_null(p);
  release(&k, p);
  kit_end(&k);
}

#define ROUNDS 20000

static void *allocate_often(void *arg) {
  struct kit *k = arg;
  for (int i = 0; i < ROUNDS; i++) release(k, alloc(k, 8));
  return NULL;
}

static void two_threads_lose_no_count(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_ALLOC, .nth = ROUNDS, .act = FAULT_DO_ERRNO, .err = ENOMEM, .repeat = FAULT_TIMES,
           .times = 5)};
  struct kit k;
  kit_new(&k, rules, 1);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, allocate_often, &k), 0);
  for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  assert_int_equal(kit_counters(&k).alloc, 2 * ROUNDS - 5);
  assert_int_equal(kit_counters(&k).live, 0);
  assert_int_equal(kit_counters(&k).bytes, 0);
  assert_in_range(kit_counters(&k).high_bytes, 8, 16); /* one block a thread */
  assert_int_equal(faults_fired(k.f, 0), 5);
  kit_end(&k);
}

static void entropy_can_fail_and_be_spoilt(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_ENTROPY, .nth = 1, .act = FAULT_DO_ERRNO, .err = EIO),
      RULE(.point = FAULT_ENTROPY, .nth = 3, .act = FAULT_DO_CORRUPT, .value = 10),
  };
  struct kit k;
  uint8_t clean[4], spoilt[4];
  kit_new(&k, rules, 2);
  const struct qwp_clock_ops *clock = k.ops->clock;
  assert_int_equal(clock->entropy(k.ops->clock_ctx, clean, 4), -EIO);
  uint64_t start = k.sn.entropy_state;
  assert_int_equal(clock->entropy(k.ops->clock_ctx, clean, 4), 0);
  k.sn.entropy_state = start;
  assert_int_equal(clock->entropy(k.ops->clock_ctx, spoilt, 4), 0);
  for (size_t i = 0; i < 4; i++) assert_int_equal(clean[i] ^ spoilt[i], i == 1 ? 4 : 0);
  kit_end(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(allocations_are_counted),
      cmocka_unit_test(bytes_in_use_are_counted),
      cmocka_unit_test(blocks_are_aligned_and_bounded),
      cmocka_unit_test(the_nth_fails_once_or_from_then_on),
      cmocka_unit_test(an_allocation_is_picked_by_its_size),
      cmocka_unit_test(two_threads_lose_no_count),
      cmocka_unit_test(entropy_can_fail_and_be_spoilt),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
