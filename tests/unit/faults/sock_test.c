#include "kit.h"

#include "sock.h"

static void the_table_finds_each_of_many(void **state) {
  (void)state;
  struct fsocks t = {0};
  for (int i = 0; i < 40; i++) assert_non_null(socks_add(&t, i * 3));
  for (int i = 0; i < 40; i += 2) socks_drop(&t, socks_find(&t, i * 3));
  for (int i = 0; i < 40; i++) {
    struct fsock *s = socks_find(&t, i * 3);
    assert_int_equal(s != NULL, i % 2);
    if (s) assert_int_equal(s->sock, i * 3);
  }
  socks_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_finds_each_of_many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
