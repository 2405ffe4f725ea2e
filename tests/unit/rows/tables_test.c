/* The tables a batch knows: what a flush carries, and which are forgotten, over lives of many names. */
#include "rows_kit.h"

#include <stdio.h>

#include "rows/tables.h"

/* One row of table "t<number>". */
static void a_row(struct rows_kit *k, unsigned number, const char *col) {
  char name[16];
  snprintf(name, sizeof name, "t%u", number);
  KIT_OK(kit_table(k, name));
  KIT_OK(kit_long(k, col, number));
  KIT_OK(kit_at_now(k));
}

static void a_flush_of(struct rows_kit *k, unsigned from, unsigned to) {
  for (unsigned i = from; i < to; i++) a_row(k, i, "x");
  assert_int_equal(qwp_batch_tables(k->batch), to - from);
  qwp_batch_clear(k->batch);
  assert_int_equal(qwp_batch_tables(k->batch), 0);
}

static const struct qwp_table *known(const struct rows_kit *k, const char *name) {
  for (size_t i = 0; i < qwp_batch_known(k->batch); i++)
    if (qwp_table_is_named(qwp_batch_known_at(k->batch, i), name, strlen(name)))
      return qwp_batch_known_at(k->batch, i);
  return NULL;
}

/* A message names its tables in 16 bits: only tables with rows count, and a flush makes room. */
static void one_message_is_limited_a_life_is_not(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  a_flush_of(&k, 0, 3); /* known, without rows: they do not count */
  for (unsigned i = 3; i < 3 + QWP_MAX_TABLES; i++) a_row(&k, i, "x");
  assert_int_equal(qwp_batch_tables(k.batch), QWP_MAX_TABLES);
  size_t bytes = qwp_batch_bytes(k.batch), tables = qwp_batch_known(k.batch);
  for (int which = 0; which < 2; which++) { /* a new table, and a known one without rows */
    assert_int_equal(kit_table(&k, which ? "t1" : "more"), QWP_TOO_LARGE);
    assert_string_equal(k.err.text, "65535 tables have rows waiting, the most a message can hold: flush");
    assert_false(qwp_batch_row_open(k.batch));
  }
  a_row(&k, 3, "x"); /* one that has rows may have more */
  assert_true(qwp_batch_bytes(k.batch) > bytes);
  assert_int_equal(qwp_batch_known(k.batch), tables);
  qwp_batch_clear(k.batch);
  assert_int_equal(qwp_batch_bytes(k.batch), 0);
  for (unsigned i = 100000; i < 200000; i += 5000) a_flush_of(&k, i, i + 5000);
  kit_free(&k);
}

/* Names that never come back: as many are kept as the bound says, the newest. */
static void the_oldest_go_first(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  int64_t live = 0;
  for (unsigned i = 0; i < 3000; i++) {
    a_flush_of(&k, i, i + 1);
    size_t want = i + 1 < QWP_TABLES_KEPT ? i + 1 : QWP_TABLES_KEPT;
    assert_int_equal(qwp_batch_known(k.batch), want);
    if (i == 2000) live = k.mem.live;
  }
  assert_int_equal(k.mem.live, live); /* and with them goes their memory */
  assert_null(known(&k, "t1975"));
  assert_non_null(known(&k, "t1976"));
  assert_non_null(known(&k, "t2999"));
  a_row(&k, 5, "y"); /* forgotten: a new table, with the column it names */
  assert_int_equal(qwp_batch_table_at(k.batch, 0)->known, 1);
  a_row(&k, 2000, "y"); /* known: with the one from before, all null */
  assert_int_equal(qwp_batch_table_at(k.batch, 1)->known, 2);
  kit_free(&k);
}

/* Whatever else comes and goes, a table that one of the last sixteen flushes carried keeps its columns. */
static void a_table_in_use_stays(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  unsigned other = 1000;
  a_row(&k, 1, "wide");
  a_row(&k, 2, "wide");
  qwp_batch_clear(k.batch);
  for (unsigned round = 0; round < 10; round++) {
    for (unsigned i = 0; i < QWP_TABLES_IDLE_FLUSHES - 1; i++, other += 500) a_flush_of(&k, other, other + 500);
    a_row(&k, 1, "x");
    assert_int_equal(qwp_batch_table_at(k.batch, 0)->known, 2);
    qwp_batch_clear(k.batch);
    assert_int_equal(qwp_batch_known(k.batch), (QWP_TABLES_IDLE_FLUSHES - 1) * 500 + 1); /* of the last 16 flushes */
  }
  assert_null(known(&k, "t2"));
  kit_free(&k);
}

/* More tables than are kept, in every flush: all are in use. */
static void a_crowd_in_use_stays(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  for (unsigned i = 0; i < 3000; i++) a_row(&k, i, "first");
  qwp_batch_clear(k.batch);
  for (unsigned flush = 0; flush < 2 * QWP_TABLES_IDLE_FLUSHES; flush++) a_flush_of(&k, 0, 3000);
  assert_int_equal(qwp_batch_known(k.batch), 3000);
  for (size_t i = 0; i < 3000; i++) assert_int_equal(qwp_batch_known_at(k.batch, i)->known, 2);
  kit_free(&k);
}

/* A crowd that stays away goes once it is due, a few with each flush. */
static void a_crowd_goes_in_small_steps(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  a_flush_of(&k, 0, 1200);
  for (unsigned i = 1; i < QWP_TABLES_IDLE_FLUSHES; i++) {
    a_flush_of(&k, 0, 1);
    qwp_batch_clear(k.batch); /* without rows: no flush, and nothing ages */
  }
  assert_int_equal(qwp_batch_known(k.batch), 1200);
  a_flush_of(&k, 0, 1);
  assert_int_equal(qwp_batch_known(k.batch), 1200 - 65);
  a_flush_of(&k, 0, 1);
  assert_int_equal(qwp_batch_known(k.batch), 1200 - 130);
  a_flush_of(&k, 0, 1);
  assert_int_equal(qwp_batch_known(k.batch), QWP_TABLES_KEPT);
  assert_non_null(known(&k, "t0"));
  assert_null(known(&k, "t176"));
  assert_non_null(known(&k, "t177"));
  kit_free(&k);
}

/* The batch remembers the last table it was given: not longer than there is one. A sanitizer sees the rest. */
static void the_last_table_may_be_forgotten(void **state) {
  (void)state;
  struct rows_kit k;
  kit_init(&k);
  a_flush_of(&k, 0, 1);
  for (unsigned i = 1; i < QWP_TABLES_KEPT + 1; i++) {
    KIT_OK(kit_table(&k, "t0"));
    qwp_batch_cancel(k.batch); /* a row taken back is no use of the table */
    if (i == QWP_TABLES_KEPT) break;
    a_flush_of(&k, i, i + 1);
  }
  assert_non_null(known(&k, "t0"));
  a_row(&k, 5000, "x");
  KIT_OK(kit_table(&k, "t0"));
  qwp_batch_clear(k.batch); /* takes the row back and forgets the table */
  assert_null(known(&k, "t0"));
  a_row(&k, 0, "y");
  assert_int_equal(qwp_batch_table_at(k.batch, 0)->known, 1);
  kit_free(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_message_is_limited_a_life_is_not),
      cmocka_unit_test(the_oldest_go_first),
      cmocka_unit_test(a_table_in_use_stays),
      cmocka_unit_test(a_crowd_in_use_stays),
      cmocka_unit_test(a_crowd_goes_in_small_steps),
      cmocka_unit_test(the_last_table_may_be_forgotten),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
