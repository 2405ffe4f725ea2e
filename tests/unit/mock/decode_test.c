/* Header, delta section and blocks: the order of checks, where errors point, and what is noted
 * although it is accepted. Texts and statuses in breadth are server_answers_test's matter. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mock_kit.h"

static int set_up(void **state) {
  struct kit *k = malloc(sizeof *k);
  if (!k) return -1;
  kit_open(k, MOCK_ROWS_FULL);
  *state = k;
  return 0;
}

static int tear_down(void **state) {
  kit_close(*state);
  free(*state);
  return 0;
}

/* Table `name`, one LONG column `v`, one row. */
static void put_block(struct kit_bytes *b, const char *name, int64_t v) {
  kit_block(b, name, 1, 1);
  kit_define(b, "v", QWP_TYPE_LONG);
  kit_u8(b, QWP_NULLS_NONE);
  kit_le(b, (uint64_t)v, 8);
}

static struct kit_bytes good(const char *table) {
  struct kit_bytes b;
  kit_begin(&b, QWP_FLAG_DELTA, 1);
  kit_delta(&b, 0, "");
  put_block(&b, table, 7);
  kit_end(&b);
  return b;
}

static void assert_refused(struct kit *k, const struct kit_bytes *b, unsigned status, size_t offset, const char *text) {
  assert_false(kit_message(k, b->p, b->n));
  assert_string_equal(k->err.text, text);
  assert_int_equal(k->err.status, status);
  assert_int_equal(k->err.offset, offset);
}

static void assert_noted(struct kit *k, const struct kit_bytes *b, const char *requirement, size_t offset) {
  assert_true(kit_message(k, b->p, b->n));
  assert_int_equal(k->violation_count, 1);
  assert_string_equal(k->violations[0].requirement, requirement);
  assert_int_equal(k->violations[0].offset, offset);
}

/* ---- header --------------------------------------------------------------------------------- */

static void an_empty_message_is_an_empty_commit(void **state) {
  struct kit *k = *state;
  assert_true(kit_message(k, NULL, 0));
  assert_int_equal(k->msg.table_count, 0);
  assert_false(k->msg.dictionary_only);
  assert_int_equal(k->violation_count, 0);
}

static void a_good_message_leaves_nothing_to_note(void **state) {
  struct kit *k = *state;
  struct kit_bytes b = good("t");
  assert_true(kit_message(k, b.p, b.n));
  assert_int_equal(k->committed, 1);
  assert_int_equal(k->violation_count, 0);
  assert_int_equal(k->msg.flags, QWP_FLAG_DELTA);
  assert_int_equal(k->msg.table_count, 1);
}

/* Each header fault with all later ones present: the earlier check answers [MAL-ING-015]. */
static void header_faults_are_found_in_order(void **state) {
  struct kit *k = *state;
  struct kit_bytes b = good("t");
  b.p[0] = 'X';                             /* magic */
  b.p[QWP_HEADER_OFF_VERSION] = 0x80;       /* version */
  b.p[QWP_HEADER_OFF_LENGTH + 3] = 0x7F;    /* length */
  struct kit_bytes shorter = b;
  shorter.n = 11;
  assert_refused(k, &shorter, 0x05, 11, "message header too short");
  assert_refused(k, &b, 0x05, 4, "message version -128 does not match negotiated version 1");
  b.p[QWP_HEADER_OFF_VERSION] = 1;
  assert_refused(k, &b, 0x05, 0, "invalid magic bytes");
  b.p[0] = 'Q';
  assert_refused(k, &b, 0x05, 8, "payload exceeds maximum size");
  b.p[QWP_HEADER_OFF_LENGTH + 3] = 0;
  b.p[QWP_HEADER_OFF_LENGTH]++;
  assert_refused(k, &b, 0x05, 8, "message payload exceeds available data [payloadLength=19, available=18]");
}

static void reserved_flags_are_noted_each(void **state) {
  struct kit *k = *state;
  for (unsigned bit = 1; bit < 256; bit <<= 1) {
    struct kit_bytes b = good("t");
    if (!(QWP_FLAGS_RESERVED & bit)) continue;
    b.p[QWP_HEADER_OFF_FLAGS] |= (uint8_t)bit;
    assert_noted(k, &b, "WIRE-FLAG-002", QWP_HEADER_OFF_FLAGS);
  }
}

static void the_valid_flags_are_not_noted(void **state) {
  struct kit *k = *state;
  for (unsigned flags = 0; flags < 16; flags++) {
    if (flags & 0x02 || !(flags & QWP_FLAG_DELTA)) continue;
    struct kit_bytes b = good("t");
    b.p[QWP_HEADER_OFF_FLAGS] = (uint8_t)flags;
    assert_true(kit_message(k, b.p, b.n));
    assert_int_equal(k->violation_count, 0);
  }
}

static void a_clear_delta_flag_is_noted_and_reads_no_section(void **state) {
  struct kit *k = *state;
  struct kit_bytes b;
  kit_begin(&b, 0, 1);
  put_block(&b, "t", 1);
  kit_end(&b);
  assert_noted(k, &b, "WIRE-FLAG-003", QWP_HEADER_OFF_FLAGS);
  assert_int_equal(k->committed, 1);
}

static void surplus_bytes_are_noted_where_they_begin(void **state) {
  struct kit *k = *state;
  struct kit_bytes b = good("t");
  const size_t end = b.n;
  kit_u8(&b, 0xEE); /* behind payload_length */
  assert_noted(k, &b, "WIRE-HDR-005", end);
  kit_end(&b); /* now inside the payload, behind the last block */
  assert_noted(k, &b, "WIRE-HDR-007", end);
  assert_int_equal(mock_table_rows(k->tables, 0), 2);
}

/* ---- delta section --------------------------------------------------------------------------- */

static void delta(struct kit_bytes *b, uint64_t start, const char *texts) {
  kit_begin(b, QWP_FLAG_DELTA, 0);
  kit_delta(b, start, texts);
  kit_end(b);
}

static void entries_extend_the_dictionary(void **state) {
  struct kit *k = *state;
  struct kit_bytes b;
  delta(&b, 0, "a|bb");
  assert_true(kit_message(k, b.p, b.n));
  assert_true(k->msg.dictionary_only);
  assert_int_equal(k->msg.dict_start, 0);
  assert_int_equal(k->msg.dict_count, 2);
  delta(&b, 2, "");
  assert_true(kit_message(k, b.p, b.n));
  assert_false(k->msg.dictionary_only);
  assert_int_equal(k->msg.dict_start, 2);
  assert_int_equal(mock_dict_count(k->dict), 2);
}

static void repeating_a_symbol_is_fine_redefining_is_noted(void **state) {
  struct kit *k = *state;
  struct kit_bytes b;
  delta(&b, 0, "a|b");
  assert_true(kit_message(k, b.p, b.n));
  delta(&b, 0, "a|b|c");
  assert_true(kit_message(k, b.p, b.n));
  assert_int_equal(k->violation_count, 0);
  delta(&b, 1, "x");
  assert_noted(k, &b, "WIRE-DICT-015", 15); /* header, start, count, length: the text */
  assert_int_equal(mock_dict_count(k->dict), 3);
}

static void a_gap_is_refused_or_filled_by_profile(void **state) {
  struct kit *k = *state;
  struct kit_bytes b;
  size_t n;
  for (unsigned entries = 0; entries < 2; entries++) {
    delta(&b, 5, entries ? "f" : "");
    k->limits.gap_is_error = true;
    assert_refused(k, &b, QWP_ST_DICTIONARY_GAP, 12,
                   "delta symbol dictionary starts at 5, but the connection has 0 symbols");
    assert_int_equal(mock_dict_count(k->dict), 0);
    k->limits.gap_is_error = false;
    assert_noted(k, &b, "WIRE-DICT-004", 12);
    assert_int_equal(mock_dict_count(k->dict), 5 + entries);
    assert_null(mock_dict_text(k->dict, 4, &n));
    kit_reconnect(k);
  }
}

static void the_dictionary_limit_counts_ids(void **state) {
  struct kit *k = *state;
  struct kit_bytes b;
  k->limits.max_symbols = 3;
  delta(&b, 0, "a|b|c");
  assert_true(kit_message(k, b.p, b.n));
  delta(&b, 3, "d");
  assert_refused(k, &b, 0x05, 14, "delta symbol dictionary size exceeds limit: 4");
  delta(&b, 2, "c");
  assert_true(kit_message(k, b.p, b.n));
}

static void a_bad_entry_leaves_the_earlier_ones(void **state) {
  struct kit *k = *state;
  struct kit_bytes b;
  delta(&b, 0, "a|\xC3(");
  assert_refused(k, &b, QWP_ST_WRITE_ERROR, 17, "cannot convert invalid UTF-8 sequence to UTF-16 [seq=\\xC3(]");
  assert_int_equal(mock_dict_count(k->dict), 1);
}

/* ---- blocks ------------------------------------------------------------------------------------ */

static void blocks_are_handed_over_one_by_one(void **state) {
  struct kit *k = *state;
  struct kit_bytes b;
  size_t table;
  kit_begin(&b, QWP_FLAG_DELTA, 2);
  kit_delta(&b, 0, "");
  put_block(&b, "a", 1);
  kit_block(&b, "b", 1, 1);
  kit_define(&b, "v", 0x19);
  assert_false(kit_send(k, &b));
  assert_string_equal(k->err.text, "invalid column type code: 0x19");
  assert_int_equal(k->err.offset, b.n - 1);
  assert_int_equal(k->blocks, 1);
  assert_int_equal(k->rolled_back, 1);
  assert_true(mock_table_find(k->tables, "a", 1, &table)); /* the table stays, its row does not */
  assert_int_equal(mock_table_rows(k->tables, table), 0);
  assert_false(mock_table_find(k->tables, "b", 1, &table));
}

/* The payload cut at every byte: always a parse error, never a row [MAL-ING-003]. */
static void every_truncation_is_refused(void **state) {
  struct kit *k = *state;
  struct kit_bytes b;
  kit_begin(&b, QWP_FLAG_DELTA | QWP_FLAG_GORILLA, 1);
  kit_delta(&b, 0, "one|two");
  kit_block(&b, "t", 3, 6);
  kit_define(&b, "b", QWP_TYPE_BOOLEAN);
  kit_define(&b, "d", QWP_TYPE_DOUBLE);
  kit_define(&b, "s", QWP_TYPE_SYMBOL);
  kit_define(&b, "u", QWP_TYPE_UUID);
  kit_define(&b, "v", QWP_TYPE_VARCHAR);
  kit_define(&b, "", QWP_TYPE_TIMESTAMP);
  kit_u8(&b, 0), kit_u8(&b, 5);
  kit_u8(&b, 1), kit_u8(&b, 2), kit_le(&b, 0x3FF0000000000000, 8), kit_le(&b, 0x4000000000000000, 8);
  kit_u8(&b, 1), kit_u8(&b, 1), kit_u8(&b, 0), kit_u8(&b, 1);
  kit_u8(&b, 1), kit_u8(&b, 6), kit_le(&b, 1, 8), kit_le(&b, 2, 8);
  kit_u8(&b, 1), kit_u8(&b, 2), kit_le(&b, 0, 4), kit_le(&b, 1, 4), kit_le(&b, 3, 4), kit_put(&b, "xyz", 3);
  kit_u8(&b, 0), kit_u8(&b, QWP_TS_RAW);
  for (unsigned i = 0; i < 3; i++) kit_le(&b, 1000 + i, 8);
  const size_t whole = b.n;
  for (b.n = 13; b.n < whole; b.n++) {
    kit_reconnect(k);
    assert_false(kit_send(k, &b));
    assert_int_equal(k->err.status, 0x05);
    assert_true(k->err.offset <= b.n);
    assert_int_equal(k->blocks, 0);
  }
  kit_reconnect(k);
  assert_true(kit_send(k, &b));
  assert_int_equal(k->committed, 3);
  assert_int_equal(k->violation_count, 0);
  char row[256];
  kit_row(k, 0, 1, row, sizeof row);
  assert_string_equal(row, "[false, null, \"one\", null, null, \"1970-01-01T00:00:00.001001Z\"]");
}

static void counts_and_lengths_are_bounded_before_use(void **state) {
  struct kit *k = *state;
  struct kit_bytes b;
  kit_begin(&b, QWP_FLAG_DELTA, 1);
  kit_delta(&b, 0, "");
  const size_t start = b.n;
  static const struct {
    uint64_t name, rows, columns;
    const char *text;
  } cases[] = {
    {0, 1, 1, "empty table name"},
    {128, 1, 1, "table name too long: 128 (max 127)"},
    {UINT64_C(1) << 63, 1, 1, "table name too long: -9223372036854775808 (max 127)"},
    {1, 1000001, 1, "row count exceeds maximum: 1000001 (max 1000000)"},
    {1, UINT64_C(1) << 60, 1, "row count exceeds maximum: 1152921504606846976 (max 1000000)"},
    {1, UINT64_MAX, 1, "row count exceeds maximum: -1 (max 1000000)"},
    {1, 1, 2049, "column count exceeds maximum: 2049 (max 2048)"},
    {1, 1, UINT64_C(1) << 32, "column count exceeds maximum: 4294967296 (max 2048)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    b.n = start;
    kit_varint(&b, cases[i].name);
    kit_u8(&b, 't');
    kit_varint(&b, cases[i].rows);
    kit_varint(&b, cases[i].columns);
    assert_false(kit_send(k, &b));
    assert_string_equal(k->err.text, cases[i].text);
    assert_int_equal(k->err.status, 0x05);
  }
}

static void names_of_127_bytes_pass(void **state) {
  struct kit *k = *state;
  struct kit_bytes b;
  char name[128];
  memset(name, 'n', 127);
  name[127] = '\0';
  kit_begin(&b, QWP_FLAG_DELTA, 1);
  kit_delta(&b, 0, "");
  kit_block(&b, name, 1, 1);
  kit_define(&b, name, QWP_TYPE_BYTE);
  kit_u8(&b, 0);
  kit_u8(&b, 0x80);
  assert_true(kit_send(k, &b));
  char row[64];
  kit_row(k, 0, 0, row, sizeof row);
  assert_string_equal(row, "[-128, \"<now>\"]");
}

/* Noted each time, although the schema is known by then. */
static void duplicate_column_names_are_noted_every_time(void **state) {
  struct kit *k = *state;
  struct kit_bytes b;
  kit_begin(&b, QWP_FLAG_DELTA, 1);
  kit_delta(&b, 0, "");
  kit_block(&b, "t", 1, 3);
  kit_define(&b, "Aa", QWP_TYPE_LONG);
  kit_define(&b, "b", QWP_TYPE_LONG);
  const size_t second = b.n + 1;
  kit_define(&b, "aA", QWP_TYPE_LONG);
  for (unsigned i = 1; i <= 3; i++) kit_u8(&b, 0), kit_le(&b, i, 8);
  kit_end(&b);
  for (unsigned i = 0; i < 2; i++) {
    assert_noted(k, &b, "WIRE-SCH-001", second);
    char row[64];
    kit_row(k, 0, i, row, sizeof row); /* the first of a name wins */
    assert_string_equal(row, "[1, 2, \"<now>\"]");
  }
}

static void non_minimal_varints_are_noted_every_time(void **state) {
  struct kit *k = *state;
  struct kit_bytes b;
  static const uint8_t one[2] = {0x81, 0x00};
  for (unsigned where = 0; where < 4; where++) {
    kit_begin(&b, QWP_FLAG_DELTA, 1);
    kit_delta(&b, 0, "");
    size_t at = 0;
    for (unsigned field = 0; field < 4; field++) { /* name length, rows, columns, column name length */
      if (field == where) at = b.n, kit_put(&b, one, 2);
      else kit_u8(&b, 1);
      if (field == 0) kit_u8(&b, 't');
    }
    kit_u8(&b, 'v');
    kit_u8(&b, QWP_TYPE_LONG);
    kit_u8(&b, 0);
    kit_le(&b, where, 8);
    kit_end(&b);
    for (unsigned again = 0; again < 2; again++) assert_noted(k, &b, "WIRE-ENC-002", at);
  }
  assert_int_equal(mock_table_rows(k->tables, 0), 8);
}

/* What is remembered of a schema must not outlive a change of it. */
static void a_changed_schema_is_seen(void **state) {
  struct kit *k = *state;
  struct kit_bytes b;
  for (unsigned i = 0; i < 4; i++) {
    kit_begin(&b, QWP_FLAG_DELTA, 1);
    kit_delta(&b, 0, "");
    kit_block(&b, "t", 1 + (i & 1), 1);
    kit_define(&b, i < 2 ? "v" : "w", QWP_TYPE_LONG);
    kit_u8(&b, 0);
    for (unsigned row = 0; row < 1 + (i & 1); row++) kit_le(&b, 10 * i + row, 8);
    assert_true(kit_send(k, &b));
  }
  static const char *const rows[] = {"[0, \"<now>\", null]", "[10, \"<now>\", null]", "[11, \"<now>\", null]",
                                     "[null, \"<now>\", 20]", "[null, \"<now>\", 30]", "[null, \"<now>\", 31]"};
  char row[64];
  assert_int_equal(mock_table_rows(k->tables, 0), 6);
  for (size_t i = 0; i < 6; i++) {
    kit_row(k, 0, i, row, sizeof row);
    assert_string_equal(row, rows[i]);
  }
}

/* A decoder may serve the next connection after a refusal: the schema that failed half-way must not
 * stand in for the one that was remembered. */
static void a_refused_schema_leaves_nothing_behind(void **state) {
  struct kit *k = *state;
  struct kit_bytes first = good("t"), b;
  assert_true(kit_message(k, first.p, first.n));
  kit_begin(&b, QWP_FLAG_DELTA, 1);
  kit_delta(&b, 0, "");
  kit_block(&b, "t", 1, 2);
  kit_define(&b, "wrong", QWP_TYPE_BYTE);
  kit_define(&b, "type", 0x19);
  assert_false(kit_send(k, &b));
  kit_reconnect(k);
  assert_true(kit_message(k, first.p, first.n));
  char row[64];
  kit_row(k, 0, 1, row, sizeof row);
  assert_string_equal(row, "[7, \"<now>\"]");
}

/* Many tables in turn share the decoder's few slots. */
static void schemas_of_many_tables_do_not_mix(void **state) {
  struct kit *k = *state;
  struct kit_bytes b;
  for (unsigned round = 0; round < 3; round++) {
    for (unsigned t = 0; t < 100; t++) {
      char name[16], column[16];
      snprintf(name, sizeof name, "t%u", t);
      snprintf(column, sizeof column, "c%u", t % 7);
      kit_begin(&b, QWP_FLAG_DELTA, 1);
      kit_delta(&b, 0, "");
      kit_block(&b, name, 1, 1);
      kit_define(&b, column, t % 2 ? QWP_TYPE_LONG : QWP_TYPE_DATE);
      kit_u8(&b, 0);
      kit_le(&b, 1000 * round + t, 8);
      assert_true(kit_send(k, &b));
    }
  }
  assert_int_equal(mock_table_count(k->tables), 100);
  for (unsigned t = 0; t < 100; t++) {
    struct mock_value v[2];
    char column[16];
    uint8_t type;
    snprintf(column, sizeof column, "c%u", t % 7);
    assert_int_equal(mock_table_columns(k->tables, t), 2);
    assert_string_equal(mock_table_column(k->tables, t, 0, &type), column);
    assert_int_equal(type, t % 2 ? QWP_TYPE_LONG : QWP_TYPE_DATE);
    for (unsigned round = 0; round < 3; round++) {
      assert_true(mock_table_row(k->tables, t, round, v, NULL, NULL));
      assert_int_equal(v[0].as.i, 1000 * round + t);
    }
  }
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
  const struct CMUnitTest tests[] = {
    T(an_empty_message_is_an_empty_commit),
    T(a_good_message_leaves_nothing_to_note),
    T(header_faults_are_found_in_order),
    T(reserved_flags_are_noted_each),
    T(the_valid_flags_are_not_noted),
    T(a_clear_delta_flag_is_noted_and_reads_no_section),
    T(surplus_bytes_are_noted_where_they_begin),
    T(entries_extend_the_dictionary),
    T(repeating_a_symbol_is_fine_redefining_is_noted),
    T(a_gap_is_refused_or_filled_by_profile),
    T(the_dictionary_limit_counts_ids),
    T(a_bad_entry_leaves_the_earlier_ones),
    T(blocks_are_handed_over_one_by_one),
    T(every_truncation_is_refused),
    T(counts_and_lengths_are_bounded_before_use),
    T(names_of_127_bytes_pass),
    T(duplicate_column_names_are_noted_every_time),
    T(non_minimal_varints_are_noted_every_time),
    T(a_changed_schema_is_seen),
    T(a_refused_schema_leaves_nothing_behind),
    T(schemas_of_many_tables_do_not_mix),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
