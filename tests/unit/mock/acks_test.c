/* The short answers about OKs are those of the long ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/acks.h"

/* Whenever a message is said to bring no OK, the whole rule says so too, and the other way round. */
static void gathering_is_what_the_rule_says(void **state) {
  (void)state;
  int gathered = 0;
  for (int mode = MOCK_ACK_SERVER; mode <= MOCK_ACK_LIE; mode++)
    for (int moment = MOCK_ACK_AT_MESSAGE; moment <= MOCK_ACK_AT_END; moment++)
      for (int64_t done = -1; done <= 20; done++) {
        const struct mock_entry e = {.ack = (enum mock_ack)mode};
        struct mock_acks a;
        int64_t seq;
        mock_acks_init(&a, &e);
        a.done = done;
        const bool gathers = mock_acks_gather(&a, (enum mock_ack_moment)moment);
        const bool due = mock_acks_due(&a, (enum mock_ack_moment)moment, &seq);
        if (gathers) assert_false(due);
        if (mode == MOCK_ACK_SERVER && moment == MOCK_ACK_AT_MESSAGE) assert_int_equal(gathers, !due);
        gathered += gathers;
      }
  assert_int_equal(gathered, 8); /* none to seven, in one mode at one moment */
}

static void a_table_is_named_once_with_its_latest_transaction(void **state) {
  (void)state;
  static const char one[] = "one", same[] = "one", two[] = "two";
  struct mock_acks a;
  mock_acks_init(&a, NULL);
  const char *const names[] = {one, one, two, one, same, two, same};
  for (int i = 0; i < 7; i++) assert_true(mock_acks_table(&a, names[i], 3, i));
  assert_int_equal(a.table_count, 2);
  assert_memory_equal(a.tables[0].name, "one", 3);
  assert_int_equal(a.tables[0].seq_txn, 6);
  assert_memory_equal(a.tables[1].name, "two", 3);
  assert_int_equal(a.tables[1].seq_txn, 5);

  assert_true(mock_acks_table(&a, two, 2, 9)); /* the same string, but less of it */
  assert_int_equal(a.table_count, 3);
  mock_acks_sent(&a);
  assert_true(mock_acks_table(&a, two, 3, 10));
  assert_int_equal(a.table_count, 1);
  assert_int_equal(a.tables[0].seq_txn, 10);
  mock_acks_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(gathering_is_what_the_rule_says),
    cmocka_unit_test(a_table_is_named_once_with_its_latest_transaction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
