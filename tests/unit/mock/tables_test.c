/* What the tables make of decoded blocks: who is made, what becomes visible when, what counts. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mock_kit.h"

static void open_full(struct kit *k) { kit_open(k, MOCK_ROWS_FULL); }

static void begin(struct kit_bytes *b, unsigned flags, unsigned tables) {
  kit_begin(b, QWP_FLAG_DELTA | flags, tables);
  kit_delta(b, 0, "");
}

/* One row: LONG `column` = v in `table`. */
static void put_row(struct kit_bytes *b, const char *table, const char *column, int64_t v) {
  kit_block(b, table, 1, 1);
  kit_define(b, column, QWP_TYPE_LONG);
  kit_u8(b, 0);
  kit_le(b, (uint64_t)v, 8);
}

static bool send_row(struct kit *k, unsigned flags, const char *table, const char *column, int64_t v) {
  struct kit_bytes b;
  begin(&b, flags, 1);
  put_row(&b, table, column, v);
  return kit_send(k, &b);
}

static void assert_row(const struct kit *k, size_t table, size_t row, const char *expected) {
  char text[512];
  kit_row(k, table, row, text, sizeof text);
  assert_string_equal(text, expected);
}

/* ---- commit and rollback -------------------------------------------------------------------------- */

struct told {
  size_t count;
  char text[128];
};

static void tell(void *arg, const char *name, size_t n, int64_t seq_txn) {
  struct told *t = arg;
  const size_t at = strlen(t->text);
  t->count++;
  snprintf(t->text + at, sizeof t->text - at, "%.*s=%" PRId64 " ", (int)n, name, seq_txn);
}

static void deferred_rows_are_invisible_until_the_group_closes(void **state) {
  (void)state;
  struct kit k;
  open_full(&k);
  assert_true(send_row(&k, QWP_FLAG_DEFER, "a", "id", 1));
  assert_true(send_row(&k, QWP_FLAG_DEFER, "b", "id", 2));
  assert_true(send_row(&k, QWP_FLAG_DEFER, "a", "id", 3));
  assert_int_equal(mock_table_count(k.tables), 2);
  assert_int_equal(mock_table_rows(k.tables, 0) + mock_table_rows(k.tables, 1), 0);
  assert_int_equal(mock_tables_unique(k.tables), 0);
  struct told told = {0};
  assert_int_equal(mock_tables_commit(k.pending, tell, &told), 3);
  assert_string_equal(told.text, "a=1 b=1 "); /* in order of the first block, each once */
  assert_row(&k, 0, 0, "[1, \"<now>\"]");
  assert_row(&k, 0, 1, "[3, \"<now>\"]");
  assert_int_equal(mock_tables_unique(k.tables), 3);
  assert_int_equal(mock_tables_commit(k.pending, tell, &told), 0);
  assert_int_equal(told.count, 2);
  kit_close(&k);
}

static void a_refusal_rolls_the_whole_group_back(void **state) {
  (void)state;
  for (enum mock_rows level = MOCK_ROWS_FULL; level <= MOCK_ROWS_COUNT; level++) {
    struct kit k;
    struct kit_bytes b;
    kit_open(&k, level);
    assert_true(send_row(&k, 0, "t", "id", 1));
    const uint64_t digest = mock_table_digest(k.tables, 0);
    assert_true(send_row(&k, QWP_FLAG_DEFER, "t", "id", 2));
    begin(&b, 0, 2);
    put_row(&b, "t", "id", 3);
    put_row(&b, "?", "id", 4);
    assert_false(kit_send(&k, &b));
    assert_int_equal(k.err.status, QWP_ST_INTERNAL_ERROR);
    assert_string_equal(k.err.text, "failed to create table update details for: ?");
    assert_int_equal(k.rolled_back, 2);
    assert_int_equal(mock_table_rows(k.tables, 0), 1);
    assert_true(mock_table_digest(k.tables, 0) == digest);
    assert_true(send_row(&k, 0, "t", "id", 5)); /* and nothing of the group is left behind */
    assert_int_equal(mock_table_rows(k.tables, 0), 2);
    if (level == MOCK_ROWS_FULL) assert_row(&k, 0, 1, "[5, \"<now>\"]");
    if (level != MOCK_ROWS_COUNT) assert_int_equal(mock_tables_unique(k.tables), 2);
    kit_close(&k);
  }
}

static void connections_commit_for_themselves(void **state) {
  (void)state;
  struct kit k, other;
  struct told told = {0};
  open_full(&k);
  other = k;
  other.pending = mock_pending_new(k.tables);
  assert_true(send_row(&k, QWP_FLAG_DEFER, "t", "id", 1));
  assert_true(send_row(&other, QWP_FLAG_DEFER, "T", "ID", 2));
  assert_int_equal(mock_tables_commit(other.pending, tell, &told), 1);
  assert_int_equal(mock_tables_commit(k.pending, tell, &told), 1);
  assert_string_equal(told.text, "t=1 t=2 "); /* the table's own spelling */
  assert_row(&k, 0, 0, "[2, \"<now>\"]");
  assert_row(&k, 0, 1, "[1, \"<now>\"]");
  assert_true(send_row(&other, QWP_FLAG_DEFER, "t", "id", 3));
  mock_pending_del(other.pending); /* the connection is lost */
  assert_int_equal(mock_table_rows(k.tables, 0), 2);
  kit_close(&k);
}

static void rows_remember_how_they_came(void **state) {
  (void)state;
  struct kit k;
  int connection;
  int64_t seq;
  struct mock_value v[2];
  open_full(&k);
  k.wire_seq = 41;
  assert_true(send_row(&k, 0, "t", "id", 1));
  assert_true(send_row(&k, 0, "t", "id", 2));
  assert_true(mock_table_row(k.tables, 0, 1, v, &connection, &seq));
  assert_int_equal(connection, 1);
  assert_int_equal(seq, 42);
  assert_false(mock_table_row(k.tables, 0, 2, v, &connection, &seq));
  kit_close(&k);
}

/* A million uncommitted rows of one table are made visible at once (server-behaviour 4.3). */
static void a_million_pending_rows_do_not_wait(void **state) {
  (void)state;
  struct kit k;
  struct kit_bytes b;
  struct told told = {0};
  kit_open(&k, MOCK_ROWS_DIGEST);
  assert_true(send_row(&k, QWP_FLAG_DEFER, "other", "id", 1));
  begin(&b, QWP_FLAG_DEFER, 1);
  kit_block(&b, "t", MOCK_MAX_UNCOMMITTED_ROWS - 1, 0);
  assert_true(kit_send(&k, &b));
  assert_int_equal(mock_table_rows(k.tables, 1), 0);
  assert_true(send_row(&k, QWP_FLAG_DEFER, "t", "id", 1));
  assert_int_equal(mock_table_rows(k.tables, 1), MOCK_MAX_UNCOMMITTED_ROWS);
  assert_int_equal(mock_table_rows(k.tables, 0), 0);
  assert_true(send_row(&k, QWP_FLAG_DEFER, "t", "id", 2));
  assert_int_equal(mock_tables_rollback(k.pending), 2); /* what is visible stays */
  assert_int_equal(mock_tables_commit(k.pending, tell, &told), MOCK_MAX_UNCOMMITTED_ROWS);
  assert_string_equal(told.text, "t=1 ");
  assert_int_equal(mock_table_rows(k.tables, 1), MOCK_MAX_UNCOMMITTED_ROWS);
  kit_close(&k);
}

/* ---- catalogue ----------------------------------------------------------------------------------------- */

static void a_table_is_made_from_its_first_block(void **state) {
  (void)state;
  struct kit k;
  struct kit_bytes b;
  uint8_t type;
  open_full(&k);
  begin(&b, 0, 1);
  kit_block(&b, "Prices", 0, 3);
  kit_define(&b, "Px", QWP_TYPE_DOUBLE);
  kit_define(&b, "", QWP_TYPE_TIMESTAMP_NANOS);
  kit_define(&b, "qty", QWP_TYPE_LONG);
  for (unsigned i = 0; i < 3; i++) kit_u8(&b, 0);
  assert_true(kit_send(&k, &b));
  assert_int_equal(mock_table_columns(k.tables, 0), 3);
  assert_int_equal(mock_table_designated(k.tables, 0), 1);
  assert_string_equal(mock_table_column(k.tables, 0, 1, &type), "timestamp");
  assert_int_equal(type, QWP_TYPE_TIMESTAMP_NANOS);

  assert_true(send_row(&k, 0, "pRICES", "QTY", 5)); /* the same table and column */
  assert_true(send_row(&k, 0, "prices", "extra", 6));
  assert_int_equal(mock_table_count(k.tables), 1);
  assert_string_equal(mock_table_name(k.tables, 0), "Prices");
  assert_int_equal(mock_table_columns(k.tables, 0), 4);
  assert_row(&k, 0, 0, "[null, \"<now>\", 5, null]");
  assert_row(&k, 0, 1, "[null, \"<now>\", null, 6]");
  kit_close(&k);
}

static void a_block_without_rows_gets_no_entry(void **state) {
  (void)state;
  struct kit k;
  struct kit_bytes b;
  struct told told = {0};
  open_full(&k);
  begin(&b, QWP_FLAG_DEFER, 1);
  kit_block(&b, "t", 0, 0);
  assert_true(kit_send(&k, &b));
  assert_int_equal(mock_tables_commit(k.pending, tell, &told), 0);
  assert_int_equal(told.count, 0);
  assert_int_equal(mock_table_count(k.tables), 1);
  kit_close(&k);
}

static void the_limit_of_tables_is_a_connections_own(void **state) {
  (void)state;
  struct kit k;
  open_full(&k);
  mock_pending_limit_tables(k.pending, 2);
  assert_true(send_row(&k, 0, "a", "id", 1));
  assert_true(send_row(&k, 0, "b", "id", 1));
  assert_true(send_row(&k, 0, "A", "id", 2));
  assert_false(send_row(&k, 0, "c", "id", 1));
  assert_int_equal(k.err.status, QWP_ST_WRITE_ERROR);
  assert_string_equal(k.err.text, "too many distinct tables, limit: 2");
  assert_int_equal(mock_table_count(k.tables), 2);
  kit_reconnect(&k);
  assert_true(send_row(&k, 0, "c", "id", 1));
  kit_close(&k);
}

static void designated_rows_without_a_value_get_the_servers_clock(void **state) {
  (void)state;
  struct kit k;
  struct kit_bytes b;
  open_full(&k);
  begin(&b, 0, 1);
  kit_block(&b, "t", 3, 2);
  kit_define(&b, "v", QWP_TYPE_LONG);
  kit_define(&b, "", QWP_TYPE_TIMESTAMP);
  kit_u8(&b, 0);
  for (unsigned i = 0; i < 3; i++) kit_le(&b, i, 8);
  kit_u8(&b, 1), kit_u8(&b, 5), kit_le(&b, 77, 8);
  assert_true(kit_send(&k, &b));
  assert_row(&k, 0, 0, "[0, \"<now>\"]");
  assert_row(&k, 0, 1, "[1, \"1970-01-01T00:00:00.000077Z\"]");
  assert_row(&k, 0, 2, "[2, \"<now>\"]");
  kit_close(&k);
}

/* ---- digest ------------------------------------------------------------------------------------------------ */

/* Rows (a, b) of LONG columns, in the given order of columns and rows. */
static uint64_t digest_of(const int64_t rows[][2], size_t n, bool swapped, bool one_by_one) {
  struct kit k;
  struct kit_bytes b;
  kit_open(&k, MOCK_ROWS_DIGEST);
  for (size_t at = 0; at < n;) {
    const size_t take = one_by_one ? 1 : n;
    begin(&b, 0, 1);
    kit_block(&b, "t", take, 2);
    for (unsigned c = 0; c < 2; c++) kit_define(&b, (c == 1) != swapped ? "b" : "a", QWP_TYPE_LONG);
    for (unsigned c = 0; c < 2; c++) {
      kit_u8(&b, 0);
      for (size_t i = at; i < at + take; i++) kit_le(&b, (uint64_t)rows[i][swapped ? 1 - c : c], 8);
    }
    assert_true(kit_send(&k, &b));
    at += take;
  }
  const uint64_t digest = mock_table_digest(k.tables, 0);
  kit_close(&k);
  return digest;
}

static void the_digest_depends_on_values_alone(void **state) {
  (void)state;
  static const int64_t rows[][2] = {{1, 2}, {3, 4}, {5, INT64_MIN}}, turned[][2] = {{5, INT64_MIN}, {1, 2}, {3, 4}},
                       crossed[][2] = {{1, 4}, {3, 2}, {5, INT64_MIN}}, moved[][2] = {{2, 1}, {3, 4}, {5, INT64_MIN}},
                       doubled[][2] = {{1, 2}, {1, 2}, {5, INT64_MIN}}, off[][2] = {{1, 2}, {3, 5}, {5, INT64_MIN}};
  const uint64_t digest = digest_of(rows, 3, false, false);
  assert_true(digest_of(rows, 3, true, false) == digest);
  assert_true(digest_of(rows, 3, false, true) == digest);
  assert_true(digest_of(turned, 3, true, true) == digest);
  assert_false(digest_of(crossed, 3, false, false) == digest); /* values of two rows exchanged */
  assert_false(digest_of(moved, 3, false, false) == digest);   /* values of two columns exchanged */
  assert_false(digest_of(doubled, 3, false, false) == digest);
  assert_false(digest_of(off, 3, false, false) == digest);
  assert_false(digest_of(rows, 2, false, false) == digest);
}

/* The quick way (LONG only) and the general one (a bitmap, another type beside) agree. */
static void quick_and_general_digests_are_the_same(void **state) {
  (void)state;
  uint64_t digests[3];
  for (unsigned way = 0; way < 3; way++) {
    struct kit k;
    struct kit_bytes b;
    kit_open(&k, MOCK_ROWS_DIGEST);
    begin(&b, 0, 1);
    kit_block(&b, "t", 2, way == 2 ? 2 : 1);
    kit_define(&b, "id", QWP_TYPE_LONG);
    if (way == 2) kit_define(&b, "x", QWP_TYPE_BOOLEAN);
    if (way == 1) kit_u8(&b, 1), kit_u8(&b, 2), kit_le(&b, 9, 8); /* null by bitmap */
    else kit_u8(&b, 0), kit_le(&b, 9, 8), kit_le(&b, UINT64_C(1) << 63, 8); /* by sentinel */
    if (way == 2) kit_u8(&b, 0), kit_u8(&b, 0);
    assert_true(kit_send(&k, &b));
    digests[way] = mock_table_digest(k.tables, 0);
    assert_int_equal(mock_tables_unique(k.tables), 1);
    kit_close(&k);
  }
  assert_true(digests[0] == digests[1]);
  assert_true(digests[0] == digests[2]); /* false is what a missing BOOLEAN reads as */
}

static void the_servers_clock_is_not_in_the_digest(void **state) {
  (void)state;
  struct kit k;
  struct kit_bytes b;
  uint64_t digests[3];
  for (unsigned way = 0; way < 3; way++) {
    kit_open(&k, MOCK_ROWS_DIGEST);
    begin(&b, 0, 1);
    kit_block(&b, "t", 1, way == 0 ? 1 : 2);
    kit_define(&b, "id", QWP_TYPE_LONG);
    if (way > 0) kit_define(&b, "", QWP_TYPE_TIMESTAMP);
    kit_u8(&b, 0), kit_le(&b, 9, 8);
    if (way == 1) kit_u8(&b, 1), kit_u8(&b, 1);
    if (way == 2) kit_u8(&b, 0), kit_le(&b, 123, 8);
    assert_true(kit_send(&k, &b));
    digests[way] = mock_table_digest(k.tables, 0);
    kit_close(&k);
  }
  assert_true(digests[0] == digests[1]);
  assert_false(digests[0] == digests[2]); /* a time the client chose is */
}

/* ---- ids ------------------------------------------------------------------------------------------------------ */

static void unique_and_doubled_count_visible_ids_by_table(void **state) {
  (void)state;
  for (enum mock_rows level = MOCK_ROWS_FULL; level <= MOCK_ROWS_DIGEST; level++) {
    struct kit k;
    kit_open(&k, level);
    static const int64_t ids[] = {0, 63, 64, -1, -64, -65, INT64_MAX, INT64_MIN + 1, 1000000007};
    const size_t n = sizeof ids / sizeof *ids;
    for (unsigned round = 0; round < 2; round++)
      for (size_t i = 0; i < n; i++) assert_true(send_row(&k, 0, "t", "id", ids[i]));
    assert_int_equal(mock_tables_unique(k.tables), n);
    assert_int_equal(mock_tables_doubled(k.tables), n);
    assert_true(send_row(&k, 0, "u", "id", 0)); /* another table, another row */
    assert_int_equal(mock_tables_unique(k.tables), n + 1);
    assert_true(send_row(&k, QWP_FLAG_DEFER, "u", "id", 0));
    assert_int_equal(mock_tables_rollback(k.pending), 1);
    assert_int_equal(mock_tables_doubled(k.tables), n);
    assert_true(send_row(&k, 0, "u", "id", INT64_MIN)); /* null: a row without an id */
    assert_int_equal(mock_tables_unique(k.tables) + mock_tables_doubled(k.tables), 2 * n + 1);
    kit_close(&k);
  }
}

static void many_scattered_ids_are_told_apart(void **state) {
  (void)state;
  struct kit k;
  kit_open(&k, MOCK_ROWS_DIGEST);
  for (unsigned round = 0; round < 2; round++) {
    uint64_t id = 1;
    for (unsigned i = 0; i < 5000; i++) {
      id = id * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      assert_true(send_row(&k, 0, "t", "id", (int64_t)(id & INT64_MAX)));
    }
    assert_int_equal(mock_tables_unique(k.tables), 5000);
    assert_int_equal(mock_tables_doubled(k.tables), 5000 * round);
  }
  kit_close(&k);
}

static void id_goes_before_i_and_only_long_counts(void **state) {
  (void)state;
  struct kit k;
  struct kit_bytes b;
  kit_open(&k, MOCK_ROWS_DIGEST);
  assert_true(send_row(&k, 0, "a", "i", 1));
  assert_int_equal(mock_tables_unique(k.tables), 1);
  begin(&b, 0, 1);
  kit_block(&b, "b", 2, 2);
  kit_define(&b, "i", QWP_TYPE_LONG);
  kit_define(&b, "Id", QWP_TYPE_LONG);
  kit_u8(&b, 0), kit_le(&b, 1, 8), kit_le(&b, 2, 8);
  kit_u8(&b, 0), kit_le(&b, 5, 8), kit_le(&b, 5, 8);
  assert_true(kit_send(&k, &b));
  assert_int_equal(mock_tables_unique(k.tables), 2);
  assert_int_equal(mock_tables_doubled(k.tables), 1);
  begin(&b, 0, 1);
  kit_block(&b, "c", 1, 1);
  kit_define(&b, "id", QWP_TYPE_DOUBLE);
  kit_u8(&b, 0), kit_le(&b, 5, 8);
  assert_true(kit_send(&k, &b));
  assert_int_equal(mock_tables_unique(k.tables), 2);
  kit_close(&k);
}

/* ---- texts -------------------------------------------------------------------------------------------------- */

static void texts_outlive_message_dictionary_and_connection(void **state) {
  (void)state;
  struct kit k;
  struct kit_bytes b;
  open_full(&k);
  kit_begin(&b, QWP_FLAG_DELTA, 1);
  kit_delta(&b, 0, "red|green");
  kit_block(&b, "t", 2, 3);
  kit_define(&b, "s", QWP_TYPE_SYMBOL);
  kit_define(&b, "v", QWP_TYPE_VARCHAR);
  kit_define(&b, "", QWP_TYPE_TIMESTAMP);
  kit_put(&b, "\x00\x01\x00", 3);
  kit_u8(&b, 0), kit_le(&b, 0, 4), kit_le(&b, 2, 4), kit_le(&b, 2, 4), kit_put(&b, "hi", 2);
  kit_u8(&b, 0), kit_le(&b, 1, 8), kit_le(&b, 2, 8);
  assert_true(kit_send(&k, &b));
  kit_begin(&b, QWP_FLAG_DELTA, 0);
  kit_delta(&b, 0, "blue|black"); /* redefined: later rows only */
  assert_true(kit_send(&k, &b));
  kit_reconnect(&k);
  assert_row(&k, 0, 0, "[\"green\", \"hi\", \"1970-01-01T00:00:00.000001Z\"]");
  assert_row(&k, 0, 1, "[\"red\", \"\", \"1970-01-01T00:00:00.000002Z\"]");
  kit_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(deferred_rows_are_invisible_until_the_group_closes),
    cmocka_unit_test(a_refusal_rolls_the_whole_group_back),
    cmocka_unit_test(connections_commit_for_themselves),
    cmocka_unit_test(rows_remember_how_they_came),
    cmocka_unit_test(a_million_pending_rows_do_not_wait),
    cmocka_unit_test(a_table_is_made_from_its_first_block),
    cmocka_unit_test(a_block_without_rows_gets_no_entry),
    cmocka_unit_test(the_limit_of_tables_is_a_connections_own),
    cmocka_unit_test(designated_rows_without_a_value_get_the_servers_clock),
    cmocka_unit_test(the_digest_depends_on_values_alone),
    cmocka_unit_test(quick_and_general_digests_are_the_same),
    cmocka_unit_test(the_servers_clock_is_not_in_the_digest),
    cmocka_unit_test(unique_and_doubled_count_visible_ids_by_table),
    cmocka_unit_test(many_scattered_ids_are_told_apart),
    cmocka_unit_test(id_goes_before_i_and_only_long_counts),
    cmocka_unit_test(texts_outlive_message_dictionary_and_connection),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
