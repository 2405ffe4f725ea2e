#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/dict.h"

static void assert_text(const struct mock_dict *d, uint64_t id, const char *expected) {
  size_t n = 0;
  const char *text = mock_dict_text(d, id, &n);
  if (!expected) {
    assert_null(text);
    return;
  }
  assert_non_null(text);
  assert_int_equal(n, strlen(expected));
  assert_memory_equal(text, expected, n);
}

static void ids_keep_their_texts(void **state) {
  (void)state;
  struct mock_dict *d = mock_dict_new();
  char text[32];
  for (uint64_t id = 0; id < 10000; id++) {
    snprintf(text, sizeof text, "symbol %d", (int)id);
    assert_int_equal(mock_dict_set(d, id, text, strlen(text)), 0);
    assert_int_equal(mock_dict_count(d), id + 1);
  }
  for (uint64_t id = 0; id < 10000; id++) {
    snprintf(text, sizeof text, "symbol %d", (int)id);
    assert_text(d, id, text);
  }
  mock_dict_del(d);
}

static void the_same_text_again_changes_nothing_another_redefines(void **state) {
  (void)state;
  struct mock_dict *d = mock_dict_new();
  assert_int_equal(mock_dict_set(d, 0, "a", 1), 0);
  assert_int_equal(mock_dict_set(d, 0, "a", 1), 1);
  assert_int_equal(mock_dict_set(d, 0, "ab", 2), 2);
  assert_text(d, 0, "ab");
  assert_int_equal(mock_dict_set(d, 0, "", 0), 2);
  assert_text(d, 0, "");
  assert_int_equal(mock_dict_count(d), 1);
  mock_dict_del(d);
}

static void a_gap_has_no_strings_until_they_come(void **state) {
  (void)state;
  struct mock_dict *d = mock_dict_new();
  assert_int_equal(mock_dict_set(d, 3, "d", 1), 0);
  assert_int_equal(mock_dict_count(d), 4);
  for (uint64_t id = 0; id < 3; id++) assert_text(d, id, NULL);
  assert_text(d, 3, "d");
  assert_int_equal(mock_dict_set(d, 1, "b", 1), 0); /* new, not redefined */
  assert_text(d, 1, "b");
  assert_true(mock_dict_fill(d, 6));
  assert_int_equal(mock_dict_count(d), 6);
  assert_text(d, 5, NULL);
  assert_true(mock_dict_fill(d, 2));
  assert_int_equal(mock_dict_count(d), 6);
  mock_dict_del(d);
}

static void an_impossible_id_is_out_of_memory(void **state) {
  (void)state;
  struct mock_dict *d = mock_dict_new();
  assert_int_equal(mock_dict_set(d, UINT64_MAX, "a", 1), -1);
  assert_int_equal(mock_dict_set(d, UINT64_MAX / 4, "a", 1), -1);
  assert_int_equal(mock_dict_count(d), 0);
  mock_dict_del(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(ids_keep_their_texts),
    cmocka_unit_test(the_same_text_again_changes_nothing_another_redefines),
    cmocka_unit_test(a_gap_has_no_strings_until_they_come),
    cmocka_unit_test(an_impossible_id_is_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
