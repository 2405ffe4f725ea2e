/* The dictionary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fail_mem.h"
#include "rows/symbols.h"

static uint32_t intern(struct qwp_symbols *s, const char *text) {
  uint32_t id = UINT32_MAX;
  assert_int_equal(qwp_symbols_intern(s, text, strlen(text), &id), QWP_OK);
  return id;
}

static void ids_in_order_of_first_use(void **state) {
  (void)state;
  struct fail_mem mem;
  struct qwp_ops ops = fail_mem_ops(&mem);
  struct qwp_symbols *s = qwp_symbols_new(&ops, 100);
  size_t n;
  assert_int_equal(intern(s, "b"), 0);
  assert_int_equal(intern(s, ""), 1);
  assert_int_equal(intern(s, "a"), 2);
  assert_int_equal(intern(s, "b"), 0);
  assert_int_equal(intern(s, "B"), 3);
  assert_int_equal(intern(s, ""), 1);
  assert_int_equal(qwp_symbols_count(s), 4);
  assert_memory_equal(qwp_symbols_text(s, 3, &n), "B", 1);
  assert_int_equal(n, 1);
  qwp_symbols_text(s, 1, &n);
  assert_int_equal(n, 0);
  qwp_symbols_del(s);
  qwp_symbols_del(NULL);
  assert_int_equal(mem.live, 0);
}

/* Texts stay where they are while the dictionary grows over many blocks. */
static void texts_never_move(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  struct fail_mem mem;
  struct qwp_ops ops = fail_mem_ops(&mem);
  struct qwp_symbols *s = qwp_symbols_new(&ops, COUNT);
  const char **at = calloc(COUNT, sizeof *at);
  char text[32];
  size_t n;
  for (int i = 0; i < COUNT; i++) {
    snprintf(text, sizeof text, "symbol-%d", i);
    assert_int_equal(intern(s, text), i);
    at[i] = qwp_symbols_text(s, (uint32_t)i, &n);
  }
  for (int i = 0; i < COUNT; i++) {
    snprintf(text, sizeof text, "symbol-%d", i);
    assert_ptr_equal(qwp_symbols_text(s, (uint32_t)i, &n), at[i]);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(at[i], text, n);
    assert_int_equal(intern(s, text), i);
  }
  free(at);
  qwp_symbols_del(s);
  assert_int_equal(mem.live, 0);
}

static void bounds(void **state) {
  (void)state;
  struct fail_mem mem;
  struct qwp_ops ops = fail_mem_ops(&mem);
  struct qwp_symbols *s = qwp_symbols_new(&ops, 3);
  char *big = malloc(QWP_SYMBOL_BYTES_MAX + 1);
  uint32_t id = 77;
  size_t n;
  memset(big, 'x', QWP_SYMBOL_BYTES_MAX + 1);
  assert_int_equal(qwp_symbols_intern(s, big, QWP_SYMBOL_BYTES_MAX + 1, &id), QWP_VALUE);
  assert_int_equal(id, 77);
  assert_int_equal(qwp_symbols_intern(s, big, QWP_SYMBOL_BYTES_MAX, &id), QWP_OK);
  assert_int_equal(id, 0);
  assert_int_equal(intern(s, "b"), 1);
  assert_int_equal(intern(s, "c"), 2);
  id = 77;
  assert_int_equal(qwp_symbols_intern(s, "d", 1, &id), QWP_DICT_FULL);
  assert_int_equal(id, 77);
  assert_int_equal(qwp_symbols_count(s), 3);
  assert_int_equal(intern(s, "b"), 1); /* known ones still are */
  qwp_symbols_text(s, 0, &n);
  assert_int_equal(n, QWP_SYMBOL_BYTES_MAX);
  free(big);
  qwp_symbols_del(s);
}

static void sent_only_grows(void **state) {
  (void)state;
  struct fail_mem mem;
  struct qwp_ops ops = fail_mem_ops(&mem);
  struct qwp_symbols *s = qwp_symbols_new(&ops, 100);
  intern(s, "a");
  intern(s, "b");
  assert_int_equal(qwp_symbols_sent(s), 0);
  qwp_symbols_mark_sent(s, 2);
  qwp_symbols_mark_sent(s, 1);
  assert_int_equal(qwp_symbols_sent(s), 2);
  qwp_symbols_del(s);
}

/* What is forgotten is as if it had never been, over block borders and with texts of no bytes. */
static void the_newest_are_forgotten(void **state) {
  (void)state;
  struct fail_mem mem;
  struct qwp_ops ops = fail_mem_ops(&mem);
  struct qwp_symbols *s = qwp_symbols_new(&ops, 1000);
  char *big = malloc(70000);
  memset(big, 'x', 70000);
  uint32_t id;
  size_t n;
  assert_int_equal(intern(s, "told"), 0);
  qwp_symbols_mark_sent(s, 1);
  for (int round = 0; round < 3; round++) {
    assert_int_equal(intern(s, "a"), 1);
    assert_int_equal(qwp_symbols_intern(s, big, 70000, &id), QWP_OK); /* a block of its own */
    assert_int_equal(intern(s, ""), 3);
    assert_int_equal(intern(s, "b"), 4);
    assert_int_equal(qwp_symbols_wire_bytes(s, 1, 5), 2 + 70003 + 1 + 2);
    assert_int_equal(qwp_symbols_wire_bytes(s, 5, 5), 0);
    qwp_symbols_forget(s, 4);
    assert_false(qwp_symbols_known(s, "b", 1));
    assert_true(qwp_symbols_known(s, "", 0));
    qwp_symbols_forget(s, 1);
    assert_int_equal(qwp_symbols_count(s), 1);
    assert_false(qwp_symbols_known(s, big, 70000));
    assert_int_equal(qwp_symbols_wire_bytes(s, 0, 1), 5);
    assert_memory_equal(qwp_symbols_text(s, 0, &n), "told", 4);
  }
  assert_int_equal(intern(s, "told"), 0);
  free(big);
  qwp_symbols_del(s);
  assert_int_equal(mem.live, 0);
}

/* A call that found no memory may leave an empty block: forgetting reaches over it. */
static void forgetting_after_a_failure(void **state) {
  (void)state;
  struct fail_mem mem;
  struct qwp_ops ops = fail_mem_ops(&mem);
  char text[200];
  unsigned failures = 0;
  struct qwp_symbols *s = qwp_symbols_new(&ops, 100000);
  for (uint32_t i = 0; i < 2000; i++) {
    uint32_t id;
    snprintf(text, sizeof text, "%0150u", (unsigned)i);
    for (int nth = 1; nth <= 3; nth++) {
      mem.fail_at = mem.calls + (uint64_t)nth;
      if (qwp_symbols_intern(s, text, 150, &id) == QWP_OK) break;
      mem.fail_at = 0;
      failures++;
      if (i > 0) { /* the last one goes, and comes back */
        char last[200];
        snprintf(last, sizeof last, "%0150u", (unsigned)i - 1);
        qwp_symbols_forget(s, i - 1);
        assert_int_equal(intern(s, last), i - 1);
      }
    }
    mem.fail_at = 0;
    assert_int_equal(intern(s, text), i);
  }
  assert_true(failures >= 15);
  qwp_symbols_forget(s, 0);
  assert_int_equal(qwp_symbols_count(s), 0);
  qwp_symbols_del(s);
  assert_int_equal(mem.live, 0);
}

/* Every allocation of a growing dictionary fails once; the same call then succeeds with the same id. */
static void out_of_memory(void **state) {
  (void)state;
  struct fail_mem mem;
  struct qwp_ops ops = fail_mem_ops(&mem);
  mem.fail_at = 1;
  assert_null(qwp_symbols_new(&ops, 10));
  struct qwp_symbols *s = qwp_symbols_new(&ops, 100000);
  char text[200];
  unsigned failures = 0;
  for (uint32_t i = 0; i < 2000; i++) {
    uint32_t id = UINT32_MAX;
    snprintf(text, sizeof text, "%0150u", (unsigned)i);
    enum qwp_status st;
    do {
      mem.fail_at = mem.calls + 1;
      size_t count = qwp_symbols_count(s);
      st = qwp_symbols_intern(s, text, strlen(text), &id);
      if (st == QWP_OK) break;
      assert_int_equal(st, QWP_NOMEM);
      assert_int_equal(qwp_symbols_count(s), count);
      failures++;
      mem.fail_at = 0;
      st = qwp_symbols_intern(s, text, strlen(text), &id);
    } while (st != QWP_OK);
    assert_int_equal(id, i);
  }
  assert_int_equal(failures, mem.failed - 1);
  assert_true(failures >= 15);
  qwp_symbols_del(s);
  assert_int_equal(mem.live, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ids_in_order_of_first_use), cmocka_unit_test(texts_never_move), cmocka_unit_test(bounds),
      cmocka_unit_test(sent_only_grows), cmocka_unit_test(the_newest_are_forgotten),
      cmocka_unit_test(forgetting_after_a_failure),           cmocka_unit_test(out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
