#include "kit.h"

#include "head.h"

static size_t scan(struct head *h, const char *text) { return head_scan(h, (const uint8_t *)text, strlen(text)); }

static void the_blank_line_ends_the_head(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t head; /* 0 = not complete */
  } table[] = {
      {"HTTP/1.1 101 x\r\n\r\nab", 18},     {"HTTP/1.1 101 x\r\n\r", 0},          {"HTTP/1.1 101 x\n\n", 0},
      {"HTTP/1.1 101 x\r\r\n\r\nab", 19},   {"HTTP/1.1 101 x\r\n\r\r\n\r\nab", 21}, {"HTTP/1.1 101 x\r\na\r\n\r\n", 21},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    struct head h = {0};
    size_t n = scan(&h, table[i].text);
    assert_int_equal(h.complete, table[i].head > 0);
    assert_int_equal(n, table[i].head ? table[i].head : strlen(table[i].text));
    assert_int_equal(head_is_101(&h), table[i].head > 0);
  }
}

static void only_a_101_opens_the_connection(void **state) {
  (void)state;
  static const char *const others[] = {"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 1010\r\n\r\n", "ICY 101 OK xx\r\n\r\n",
                                       "\r\n\r\n"};
  for (size_t i = 0; i < 4; i++) {
    struct head h = {0};
    scan(&h, others[i]);
    assert_true(h.complete);
    assert_int_equal(head_is_101(&h), i == 1); /* the fourth digit is the client's to judge */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_blank_line_ends_the_head),
      cmocka_unit_test(only_a_101_opens_the_connection),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
