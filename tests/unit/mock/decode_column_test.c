/* One column at a time, against a model that holds the values as the test wrote them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "core/cells.h"
#include "core/decode_column.h"
#include "mock_kit.h"

static const struct mock_limits limits = {.max_rows = QWP_MAX_ROWS, .max_columns = QWP_MAX_COLUMNS, .max_symbols = 100};

struct column_run {
  struct mock_column column;
  struct mock_decode_error err;
  uint8_t *bytes;
  size_t used, violation_count;
  struct kit_violation violations[8];
  const uint8_t *locals[16];
};

static void on_violation(void *ctx, const char *requirement, size_t offset, const char *text) {
  struct column_run *run = ctx;
  (void)text;
  assert_true(run->violation_count < 8);
  struct kit_violation *v = &run->violations[run->violation_count++];
  snprintf(v->requirement, sizeof v->requirement, "%s", requirement);
  v->offset = offset;
}

/* Decodes a section out of a buffer of exactly its size. */
static bool decode(struct column_run *run, unsigned type, unsigned flags, size_t rows, const struct kit_bytes *b,
                   const struct mock_dict *dict) {
  *run = (struct column_run){.column = {.type = (uint8_t)type, .width = mock_column_type_width((uint8_t)type)}};
  run->bytes = malloc(b->n ? b->n : 1);
  if (!run->bytes) abort();
  memcpy(run->bytes, b->p, b->n);
  const struct mock_decode_sink sink = {.ctx = run, .on_violation = on_violation};
  struct mock_reader r = {
    .base = run->bytes, .p = run->bytes, .end = run->bytes + b->n, .sink = &sink, .err = &run->err};
  const struct mock_column_input in = {
    .reader = &r, .dict = dict, .limits = &limits, .flags = (uint8_t)flags, .rows = rows};
  const bool ok = mock_column_decode(&in, &run->column);
  run->used = mock_reader_offset(&r);
  return ok;
}

static void assert_fails(unsigned type, unsigned flags, size_t rows, const struct kit_bytes *b,
                         const struct mock_dict *dict, const char *text, size_t offset) {
  struct column_run run;
  assert_false(decode(&run, type, flags, rows, b, dict));
  assert_string_equal(run.err.text, text);
  assert_int_equal(run.err.status, QWP_ST_PARSE_ERROR);
  assert_int_equal(run.err.offset, offset);
  free(run.bytes);
}

/* ---- nulls and fixed widths -------------------------------------------------------------------- */

static const struct {
  unsigned type;
  size_t width;
} fixed[] = {{QWP_TYPE_BYTE, 1}, {QWP_TYPE_SHORT, 2}, {QWP_TYPE_INT, 4}, {QWP_TYPE_LONG, 8}, {QWP_TYPE_FLOAT, 4},
             {QWP_TYPE_DOUBLE, 8}, {QWP_TYPE_TIMESTAMP, 8}, {QWP_TYPE_DATE, 8}, {QWP_TYPE_UUID, 16},
             {QWP_TYPE_LONG256, 32}, {QWP_TYPE_TIMESTAMP_NANOS, 8}, {QWP_TYPE_CHAR, 2}, {QWP_TYPE_IPV4, 4}};

/* Row r holds r + 1 in its lowest byte (and 1 in every other, so that no sentinel arises). */
static void put_values(struct kit_bytes *b, size_t width, size_t rows, const bool *null) {
  for (size_t row = 0; row < rows; row++) {
    if (null[row]) continue;
    kit_u8(b, (unsigned)row + 1);
    for (size_t i = 1; i < width; i++) kit_u8(b, 1);
  }
}

static void put_bitmap(struct kit_bytes *b, size_t rows, const bool *null) {
  kit_u8(b, QWP_NULLS_BITMAP);
  for (size_t at = 0; at < rows; at += 8) {
    unsigned bits = 0;
    for (size_t i = at; i < rows && i < at + 8; i++) bits |= (unsigned)null[i] << (i - at);
    kit_u8(b, bits);
  }
}

static uint64_t lowest_byte(const struct mock_cell *cell) {
  return cell->text ? (uint8_t)cell->text[0] : cell->word & 255;
}

static void check_fixed(unsigned type, size_t width, size_t rows, const bool *null, bool any) {
  struct kit_bytes b = {.n = 0};
  struct column_run run;
  struct mock_cells cells;
  if (any) put_bitmap(&b, rows, null);
  else kit_u8(&b, QWP_NULLS_NONE);
  put_values(&b, width, rows, null);
  const size_t section = b.n;
  kit_u8(&b, 0xEE); /* the next column */
  assert_true(decode(&run, type, 0, rows, &b, NULL));
  assert_int_equal(run.used, section);
  assert_int_equal(run.violation_count, 0);
  mock_cells_init(&cells, &run.column, NULL, NULL);
  for (size_t row = 0; row < rows; row++) {
    struct mock_cell cell;
    mock_cells_next(&cells, &cell);
    assert_int_equal(cell.null, null[row]);
    if (!null[row]) assert_int_equal(lowest_byte(&cell), row + 1);
  }
  free(run.bytes);
  b.n = section - 1; /* one byte short */
  if (section > 1) assert_false(decode(&run, type, 0, rows, &b, NULL));
  free(section > 1 ? run.bytes : NULL);
}

static void null_patterns_of_every_fixed_width_type(void **state) {
  (void)state;
  static const size_t counts[] = {1, 7, 8, 9, 64, 65};
  uint32_t seed = 1;
  for (size_t t = 0; t < sizeof fixed / sizeof *fixed; t++)
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
      for (unsigned pattern = 0; pattern < 6; pattern++) {
        bool null[65] = {false}, any = false;
        for (size_t row = 0; row < counts[c]; row++) {
          seed = seed * 1664525 + 1013904223;
          null[row] = pattern == 1 || (pattern > 1 && seed >> 24 & 1);
          any = any || null[row];
        }
        check_fixed(fixed[t].type, fixed[t].width, counts[c], null, any);
      }
}

/* Ten rows with nulls at 0, 2 and 9 are 05 02 [WIRE-NULL-003]. */
static void the_bitmap_is_lsb_first(void **state) {
  (void)state;
  struct kit_bytes b = {.n = 0};
  struct column_run run;
  kit_put(&b, "\x01\x05\x02", 3);
  for (unsigned i = 0; i < 7; i++) kit_u8(&b, i + 1);
  assert_true(decode(&run, QWP_TYPE_BYTE, 0, 10, &b, NULL));
  assert_int_equal(run.column.present, 7);
  for (size_t row = 0; row < 10; row++)
    assert_int_equal(mock_column_row_null(&run.column, row), row == 0 || row == 2 || row == 9);
  free(run.bytes);
}

static void what_a_null_section_should_not_have_is_noted(void **state) {
  (void)state;
  static const struct {
    uint8_t flag, bitmap;
    const char *requirement;
    size_t offset;
  } cases[] = {{0x02, 0x01, "WIRE-NULL-002", 0}, {0xFF, 0x01, "WIRE-NULL-002", 0}, {0x01, 0x00, "WIRE-NULL-006", 0},
               {0x01, 0x81, "WIRE-NULL-013", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct kit_bytes b = {.n = 0};
    struct column_run run;
    kit_u8(&b, cases[i].flag);
    kit_u8(&b, cases[i].bitmap);
    for (unsigned v = 0; v < 3; v++) kit_u8(&b, 9);
    assert_true(decode(&run, QWP_TYPE_BYTE, 0, 3, &b, NULL));
    assert_int_equal(run.violation_count, 1);
    assert_string_equal(run.violations[0].requirement, cases[i].requirement);
    assert_int_equal(run.violations[0].offset, cases[i].offset);
    assert_int_equal(run.column.present, 3 - (cases[i].bitmap & 1));
    free(run.bytes);
  }
}

/* Sentinels under flag 0, and among the dense values under flag 1. */
static void sentinels_read_as_null(void **state) {
  (void)state;
  static const struct {
    unsigned type;
    size_t width;
    uint64_t word; /* every 8 bytes, or the value */
  } cases[] = {{QWP_TYPE_INT, 4, UINT64_C(0x80000000)}, {QWP_TYPE_LONG, 8, UINT64_C(1) << 63},
               {QWP_TYPE_DATE, 8, UINT64_C(1) << 63}, {QWP_TYPE_TIMESTAMP, 8, UINT64_C(1) << 63},
               {QWP_TYPE_TIMESTAMP_NANOS, 8, UINT64_C(1) << 63}, {QWP_TYPE_FLOAT, 4, 0x7FC00000},
               {QWP_TYPE_FLOAT, 4, 0xFF800001}, {QWP_TYPE_DOUBLE, 8, UINT64_C(0x7FF8000000000000)},
               {QWP_TYPE_DOUBLE, 8, UINT64_C(0xFFF0000000000001)}, {QWP_TYPE_UUID, 16, UINT64_C(1) << 63},
               {QWP_TYPE_LONG256, 32, UINT64_C(1) << 63}, {QWP_TYPE_IPV4, 4, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct kit_bytes b = {.n = 0};
    struct column_run run;
    struct mock_cells cells;
    struct mock_cell first, second;
    kit_u8(&b, 0);
    const size_t word_bytes = cases[i].width < 8 ? cases[i].width : 8;
    for (size_t at = 0; at < cases[i].width; at += 8) kit_le(&b, cases[i].word, word_bytes);
    kit_u8(&b, 1);
    for (size_t at = 1; at < cases[i].width; at++) kit_u8(&b, 0);
    assert_true(decode(&run, cases[i].type, 0, 2, &b, NULL));
    mock_cells_init(&cells, &run.column, NULL, NULL);
    mock_cells_next(&cells, &first);
    mock_cells_next(&cells, &second);
    assert_true(first.null);
    assert_false(second.null);
    free(run.bytes);
  }
}

static void infinities_and_halves_of_sentinels_are_values(void **state) {
  (void)state;
  struct kit_bytes b = {.n = 0};
  struct column_run run;
  struct mock_cells cells;
  struct mock_cell cell;
  kit_u8(&b, 0);
  kit_le(&b, UINT64_C(0x7FF0000000000000), 8);
  kit_le(&b, UINT64_C(1) << 63, 8); /* -0.0 */
  assert_true(decode(&run, QWP_TYPE_DOUBLE, 0, 2, &b, NULL));
  mock_cells_init(&cells, &run.column, NULL, NULL);
  for (unsigned i = 0; i < 2; i++) {
    mock_cells_next(&cells, &cell);
    assert_false(cell.null);
  }
  free(run.bytes);
  b.n = 1;
  kit_le(&b, UINT64_C(1) << 63, 8);
  kit_le(&b, 0, 8);
  assert_true(decode(&run, QWP_TYPE_UUID, 0, 1, &b, NULL));
  mock_cells_init(&cells, &run.column, NULL, NULL);
  mock_cells_next(&cells, &cell);
  assert_false(cell.null);
  free(run.bytes);
}

/* ---- BOOLEAN -------------------------------------------------------------------------------------- */

/* true,false,true,true,false,false,false,true is 8D [WIRE-TYPE-001]. */
static void booleans_are_packed(void **state) {
  (void)state;
  struct kit_bytes b = {.n = 0};
  struct column_run run;
  struct mock_cells cells;
  struct mock_cell cell;
  static const bool expected[8] = {true, false, true, true, false, false, false, true};
  kit_put(&b, "\x00\x8D", 2);
  assert_true(decode(&run, QWP_TYPE_BOOLEAN, 0, 8, &b, NULL));
  mock_cells_init(&cells, &run.column, NULL, NULL);
  for (size_t i = 0; i < 8; i++) {
    mock_cells_next(&cells, &cell);
    assert_int_equal(cell.word, expected[i]);
  }
  free(run.bytes);
}

/* Nine rows with three nulls: six bits in one byte [WIRE-TYPE-025]. */
static void booleans_pack_present_values_only(void **state) {
  (void)state;
  struct kit_bytes b = {.n = 0};
  struct column_run run;
  struct mock_cells cells;
  kit_put(&b, "\x01\x92\x00\x2A\xEE", 5); /* nulls 1, 4, 7; values 0,1,0,1,0,1 */
  assert_true(decode(&run, QWP_TYPE_BOOLEAN, 0, 9, &b, NULL));
  assert_int_equal(run.used, 4);
  assert_int_equal(run.violation_count, 0);
  mock_cells_init(&cells, &run.column, NULL, NULL);
  for (size_t row = 0, value = 0; row < 9; row++) {
    struct mock_cell cell;
    mock_cells_next(&cells, &cell);
    assert_int_equal(cell.null, row % 3 == 1);
    if (!cell.null) assert_int_equal(cell.word, value++ % 2);
  }
  free(run.bytes);
  b.p[3] |= 0x40;
  assert_true(decode(&run, QWP_TYPE_BOOLEAN, 0, 9, &b, NULL));
  assert_int_equal(run.violation_count, 1);
  assert_string_equal(run.violations[0].requirement, "WIRE-NULL-013");
  assert_int_equal(run.violations[0].offset, 3);
  free(run.bytes);
}

/* ---- VARCHAR ---------------------------------------------------------------------------------------- */

static struct kit_bytes varchar(const uint32_t *offsets, size_t n, const char *data) {
  struct kit_bytes b = {.n = 0};
  kit_u8(&b, 0);
  for (size_t i = 0; i < n; i++) kit_le(&b, offsets[i], 4);
  kit_put(&b, data, strlen(data));
  return b;
}

static void texts_lie_between_offsets(void **state) {
  (void)state;
  struct kit_bytes b = varchar((const uint32_t[]){0, 3, 3, 9}, 4, "foob\xC3\xA9z!!");
  struct column_run run;
  struct mock_cells cells;
  struct mock_cell cell;
  static const char *const expected[] = {"foo", "", "b\xC3\xA9z!!"};
  assert_true(decode(&run, QWP_TYPE_VARCHAR, 0, 3, &b, NULL));
  assert_int_equal(run.used, b.n);
  assert_int_equal(run.violation_count, 0);
  mock_cells_init(&cells, &run.column, NULL, NULL);
  for (size_t i = 0; i < 3; i++) {
    mock_cells_next(&cells, &cell);
    assert_false(cell.null); /* empty is not null [WIRE-VAR-005] */
    assert_int_equal(cell.text_n, strlen(expected[i]));
    assert_memory_equal(cell.text, expected[i], cell.text_n);
  }
  free(run.bytes);
}

static void bad_offsets_are_refused(void **state) {
  (void)state;
  struct kit_bytes b = varchar((const uint32_t[]){1, 3}, 2, "abc");
  assert_fails(QWP_TYPE_VARCHAR, 0, 1, &b, NULL, "invalid QWP string offset array: offset[0]=1, expected 0", 1);
  b = varchar((const uint32_t[]){0, 3, 2}, 3, "ab");
  assert_fails(QWP_TYPE_VARCHAR, 0, 2, &b, NULL,
               "invalid QWP string offset array: offset[1]=3 exceeds string data size 2", 5);
  b = varchar((const uint32_t[]){0, 2, 1, 3}, 4, "abc");
  assert_fails(QWP_TYPE_BINARY, 0, 3, &b, NULL,
               "invalid QWP string offset array: offset[2]=1 is less than offset[1]=2", 9);
  b = varchar((const uint32_t[]){0, UINT32_MAX}, 2, "abc");
  assert_fails(QWP_TYPE_VARCHAR, 0, 1, &b, NULL, "string column data truncated: expected string data", 9);
  b.n = 8;
  assert_fails(QWP_TYPE_VARCHAR, 0, 1, &b, NULL, "string column data truncated: expected offset array", 1);
}

/* Each value for itself: a character cut by an offset is two bad values. */
static void text_that_is_not_utf8_is_noted_binary_is_not(void **state) {
  (void)state;
  struct kit_bytes b = varchar((const uint32_t[]){0, 2, 3, 4}, 4, "a\xC3\xA9z");
  struct column_run run;
  assert_true(decode(&run, QWP_TYPE_VARCHAR, 0, 3, &b, NULL));
  assert_int_equal(run.violation_count, 2);
  assert_string_equal(run.violations[0].requirement, "WIRE-VAR-003");
  assert_int_equal(run.violations[0].offset, 18);
  assert_int_equal(run.violations[1].offset, 19);
  free(run.bytes);
  assert_true(decode(&run, QWP_TYPE_BINARY, 0, 3, &b, NULL));
  assert_int_equal(run.violation_count, 0);
  free(run.bytes);
}

/* ---- SYMBOL ------------------------------------------------------------------------------------------ */

static void global_ids_name_dictionary_texts(void **state) {
  (void)state;
  struct mock_dict *dict = mock_dict_new();
  struct kit_bytes b = {.n = 0};
  struct column_run run;
  struct mock_cells cells;
  struct mock_cell cell;
  for (unsigned id = 0; id < 200; id++) {
    char text[8];
    snprintf(text, sizeof text, "s%u", id);
    assert_int_equal(mock_dict_set(dict, id, text, strlen(text)), 0);
  }
  kit_put(&b, "\x01\x02", 2);
  kit_varint(&b, 199);
  kit_varint(&b, 0);
  assert_true(decode(&run, QWP_TYPE_SYMBOL, QWP_FLAG_DELTA, 3, &b, dict));
  mock_cells_init(&cells, &run.column, dict, NULL);
  mock_cells_next(&cells, &cell);
  assert_memory_equal(cell.text, "s199", 4);
  mock_cells_next(&cells, &cell);
  assert_true(cell.null);
  mock_cells_next(&cells, &cell);
  assert_int_equal(cell.text_n, 2);
  assert_memory_equal(cell.text, "s0", 2);
  free(run.bytes);

  b.n = 0;
  kit_put(&b, "\x00", 1);
  kit_varint(&b, 200);
  assert_fails(QWP_TYPE_SYMBOL, QWP_FLAG_DELTA, 1, &b, dict, "symbol index out of range: 200", 1);
  b.n = 1;
  kit_varint(&b, UINT64_C(1) << 32);
  assert_fails(QWP_TYPE_SYMBOL, QWP_FLAG_DELTA, 1, &b, dict, "symbol index out of range: 4294967296", 1);
  mock_dict_del(dict);
}

static void without_the_flag_ids_are_the_columns_own(void **state) {
  (void)state;
  struct mock_dict *dict = mock_dict_new();
  struct kit_bytes b = {.n = 0};
  struct column_run run;
  struct mock_cells cells;
  struct mock_cell cell;
  kit_u8(&b, 0);
  kit_varint(&b, 3);
  kit_text(&b, "p");
  kit_text(&b, "");
  kit_text(&b, "qq");
  kit_u8(&b, 2), kit_u8(&b, 1), kit_u8(&b, 0);
  assert_true(decode(&run, QWP_TYPE_SYMBOL, 0, 3, &b, dict));
  assert_int_equal(run.used, b.n);
  mock_cells_init(&cells, &run.column, dict, run.locals);
  static const char *const expected[] = {"qq", "", "p"};
  for (size_t i = 0; i < 3; i++) {
    mock_cells_next(&cells, &cell);
    assert_false(cell.null);
    assert_int_equal(cell.text_n, strlen(expected[i]));
    assert_memory_equal(cell.text, expected[i], cell.text_n);
  }
  assert_int_equal(mock_dict_count(dict), 0); /* [WIRE-SYM-005] */
  free(run.bytes);
  b.p[b.n - 1] = 3;
  assert_fails(QWP_TYPE_SYMBOL, 0, 3, &b, dict, "symbol index out of range: 3", b.n - 1);
  b.n = 1;
  kit_varint(&b, 500);
  assert_fails(QWP_TYPE_SYMBOL, 0, 0, &b, dict, "dictionary size exceeds data length: 500", 3);
  b.n = 1;
  kit_varint(&b, 101); /* one above the limit of this test */
  for (unsigned i = 0; i < 101; i++) kit_u8(&b, 0);
  assert_fails(QWP_TYPE_SYMBOL, 0, 0, &b, dict, "dictionary size exceeds limit: 101", 2);
  mock_dict_del(dict);
}

/* ---- timestamps ---------------------------------------------------------------------------------------- */

static void the_encoding_byte_stands_under_its_flag_only(void **state) {
  (void)state;
  struct kit_bytes b = {.n = 0};
  struct column_run run;
  kit_u8(&b, 0), kit_u8(&b, QWP_TS_RAW);
  for (unsigned i = 0; i < 3; i++) kit_le(&b, i, 8);
  for (unsigned type = QWP_TYPE_TIMESTAMP; type <= QWP_TYPE_TIMESTAMP_NANOS; type += 6) {
    assert_true(decode(&run, type, QWP_FLAG_GORILLA, 3, &b, NULL));
    assert_int_equal(run.used, b.n);
    assert_ptr_equal(run.column.values, run.bytes + 2);
    free(run.bytes);
    assert_true(decode(&run, type, 0, 3, &b, NULL));
    assert_int_equal(run.used, b.n - 1);
    assert_ptr_equal(run.column.values, run.bytes + 1);
    free(run.bytes);
  }
  assert_true(decode(&run, QWP_TYPE_DATE, QWP_FLAG_GORILLA, 3, &b, NULL)); /* never on a DATE [WIRE-TYPE-011] */
  assert_int_equal(run.used, b.n - 1);
  free(run.bytes);
  b.p[1] = 0x80;
  assert_fails(QWP_TYPE_TIMESTAMP, QWP_FLAG_GORILLA, 3, &b, NULL, "unknown timestamp encoding: -128", 1);
}

static void gorilla_without_bits_is_raw_with_bits_it_waits(void **state) {
  (void)state;
  struct kit_bytes b = {.n = 0};
  struct column_run run;
  kit_u8(&b, 0), kit_u8(&b, QWP_TS_GORILLA);
  for (unsigned i = 0; i < 3; i++) kit_le(&b, 100 + i, 8);
  for (size_t rows = 0; rows < 3; rows++) {
    assert_true(decode(&run, QWP_TYPE_TIMESTAMP, QWP_FLAG_GORILLA, rows, &b, NULL));
    assert_int_equal(run.used, 2 + rows * 8);
    assert_int_equal(run.column.ts_encoding, QWP_TS_RAW);
    free(run.bytes);
  }
  assert_fails(QWP_TYPE_TIMESTAMP, QWP_FLAG_GORILLA, 3, &b, NULL, "gorilla timestamps are not supported by this mock", 2);
}

/* ---- arrays ---------------------------------------------------------------------------------------------- */

static const unsigned array_types[] = {QWP_TYPE_DOUBLE_ARRAY, QWP_TYPE_LONG_ARRAY};

/* Flag, then dims and lengths, then `elements` elements: what the lengths say is the caller's affair. */
static void put_array_section(struct kit_bytes *b, unsigned dims, const uint32_t *lengths, size_t elements) {
  b->n = 0;
  kit_u8(b, QWP_NULLS_NONE);
  kit_u8(b, dims);
  for (unsigned i = 0; i < dims; i++) kit_le(b, lengths[i], 4);
  for (size_t i = 0; i < elements * 8; i++) kit_u8(b, 0x11);
}

static void arrays_refused(unsigned dims, const uint32_t *lengths, size_t elements, const char *text, size_t offset) {
  struct kit_bytes b;
  put_array_section(&b, dims, lengths, elements);
  for (size_t i = 0; i < 2; i++) assert_fails(array_types[i], 0, 1, &b, NULL, text, offset);
}

static void arrays_taken(unsigned dims, const uint32_t *lengths, size_t elements) {
  struct kit_bytes b;
  put_array_section(&b, dims, lengths, elements);
  const size_t section = b.n;
  kit_u8(&b, 0xEE); /* the next column */
  for (size_t i = 0; i < 2; i++) {
    struct column_run run;
    assert_true(decode(&run, array_types[i], 0, 1, &b, NULL));
    assert_int_equal(run.used, section);
    assert_int_equal(run.column.dims, dims);
    assert_int_equal(run.column.other_dims, 0);
    assert_int_equal(run.column.values_n, section - 1);
    free(run.bytes);
  }
}

static void array_bounds(void **state) {
  (void)state;
  uint32_t lengths[33];
  for (unsigned i = 0; i < 33; i++) lengths[i] = 1;
  arrays_taken(1, lengths, 1);
  arrays_taken(32, lengths, 1);
  arrays_refused(0, lengths, 0, "invalid array dimensions: 0 (must be 1-32)", 1);
  arrays_refused(33, lengths, 1, "invalid array dimensions: 33 (must be 1-32)", 1);
  arrays_refused(255, (uint32_t[255]){0}, 0, "invalid array dimensions: 255 (must be 1-32)", 1);

  arrays_taken(2, (uint32_t[]){2, 3}, 6);
  arrays_refused(2, (uint32_t[]){2, 3}, 5, "array data truncated: expected 6 values", 10);
  arrays_refused(2, (uint32_t[]){2, UINT32_MAX}, 6, "invalid array dimension size: -1", 6);
  arrays_refused(2, (uint32_t[]){0x80000000, 0}, 6, "invalid array dimension size: -2147483648", 2);
}

/* Element counts up to the largest int32 are only stopped by the data that is not there; partial products count. */
static void array_products(void **state) {
  (void)state;
  const uint32_t most = INT32_MAX;
  arrays_refused(1, &most, 1, "array data truncated: expected 2147483647 values", 6);
  arrays_refused(2, (uint32_t[]){1, most}, 1, "array data truncated: expected 2147483647 values", 10);
  arrays_refused(2, (uint32_t[]){65536, 32768}, 1, "array element count overflow", 6);
  arrays_refused(2, (uint32_t[]){most, most}, 1, "array element count overflow", 6);
  arrays_refused(3, (uint32_t[]){most, 2, 0}, 0, "array element count overflow", 6);
  arrays_taken(3, (uint32_t[]){0, most, most}, 0);
  arrays_taken(3, (uint32_t[]){most, 0, most}, 0);
  uint32_t twos[32]; /* 2^32 elements: wraps to 0 where nobody looks */
  for (unsigned i = 0; i < 32; i++) twos[i] = 2;
  arrays_refused(32, twos, 0, "array element count overflow", 2 + 4 * 30);
}

static void every_cut_of_an_array_is_refused(void **state) {
  (void)state;
  struct kit_bytes b;
  put_array_section(&b, 2, (uint32_t[]){2, 1}, 2);
  for (size_t n = b.n; n-- > 0;) {
    b.n = n;
    const char *text = n == 0   ? "array column data truncated: expected null bitmap flag"
                       : n == 1 ? "array data truncated: expected nDims byte"
                       : n < 10 ? "array data truncated: expected 2 dimension sizes"
                                : "array data truncated: expected 2 values";
    for (size_t i = 0; i < 2; i++) assert_fails(array_types[i], 0, 1, &b, NULL, text, n < 2 ? n : n < 10 ? 2 : 10);
  }
}

/* Rows [1.0], null, [], [2.0, 3.0] [WIRE-ARR-004, WIRE-ARR-005]. */
static void array_cells_are_walked_over_nulls(void **state) {
  (void)state;
  static const uint32_t one = 1, none = 0, two = 2;
  struct kit_bytes b = {.n = 0};
  struct column_run run;
  struct mock_cells cells;
  struct mock_cell cell;
  kit_u8(&b, QWP_NULLS_BITMAP), kit_u8(&b, 2);
  kit_array(&b, 1, &one, 1);
  kit_array(&b, 1, &none, 0);
  kit_array(&b, 1, &two, 2);
  assert_true(decode(&run, QWP_TYPE_DOUBLE_ARRAY, 0, 4, &b, NULL));
  assert_int_equal(run.column.present, 3);
  mock_cells_init(&cells, &run.column, NULL, NULL);
  static const size_t sizes[] = {13, 0, 5, 21};
  size_t at = 2;
  for (size_t row = 0; row < 4; row++) {
    mock_cells_next(&cells, &cell);
    assert_int_equal(cell.null, row == 1);
    if (cell.null) continue;
    assert_int_equal(cell.text_n, sizes[row]);
    assert_memory_equal(cell.text, b.p + at, sizes[row]);
    at += sizes[row];
  }
  assert_int_equal(at, b.n);
  free(run.bytes);
}

/* The first number of dimensions and the first that differs are told; it is no parse error. */
static void mixed_dimensions_are_told(void **state) {
  (void)state;
  static const uint32_t lengths[] = {1, 1, 1};
  static const struct {
    unsigned dims[3], first, other;
  } cases[] = {{{1, 1, 1}, 1, 0}, {{2, 1, 3}, 2, 1}, {{1, 1, 3}, 1, 3}, {{3, 1, 3}, 3, 1}};
  struct column_run run;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct kit_bytes b = {.n = 0};
    kit_u8(&b, QWP_NULLS_NONE);
    for (size_t row = 0; row < 3; row++) kit_array(&b, cases[i].dims[row], lengths, 0);
    assert_true(decode(&run, QWP_TYPE_DOUBLE_ARRAY, 0, 3, &b, NULL));
    assert_int_equal(run.column.dims, cases[i].first);
    assert_int_equal(run.column.other_dims, cases[i].other);
    free(run.bytes);
  }
  struct kit_bytes b = {.n = 0};
  kit_u8(&b, QWP_NULLS_BITMAP), kit_u8(&b, 7);
  assert_true(decode(&run, QWP_TYPE_DOUBLE_ARRAY, 0, 3, &b, NULL));
  assert_int_equal(run.column.dims, 0);
  free(run.bytes);
}

/* ---- the table of types ---------------------------------------------------------------------------------- */

static void types_that_exist_and_types_that_wait(void **state) {
  (void)state;
  struct mock_dict *dict = mock_dict_new();
  struct kit_bytes b = {.n = 0};
  kit_u8(&b, 0);
  size_t exist = 0, wait = 0;
  for (unsigned type = 0; type < 256; type++) {
    const bool known = (type >= 0x01 && type <= 0x18) && type != 0x08;
    assert_int_equal(mock_column_type_exists((uint8_t)type), known);
    if (!known) continue;
    struct column_run run;
    exist++;
    if (!decode(&run, type, QWP_FLAG_DELTA, 0, &b, dict))
      wait += strstr(run.err.text, "columns are not supported by this mock") != NULL;
    free(run.bytes);
  }
  mock_dict_del(dict);
  assert_int_equal(exist, 23);
  assert_int_equal(wait, 4); /* GEOHASH, three decimals */
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(null_patterns_of_every_fixed_width_type),
    cmocka_unit_test(the_bitmap_is_lsb_first),
    cmocka_unit_test(what_a_null_section_should_not_have_is_noted),
    cmocka_unit_test(sentinels_read_as_null),
    cmocka_unit_test(infinities_and_halves_of_sentinels_are_values),
    cmocka_unit_test(booleans_are_packed),
    cmocka_unit_test(booleans_pack_present_values_only),
    cmocka_unit_test(texts_lie_between_offsets),
    cmocka_unit_test(bad_offsets_are_refused),
    cmocka_unit_test(text_that_is_not_utf8_is_noted_binary_is_not),
    cmocka_unit_test(global_ids_name_dictionary_texts),
    cmocka_unit_test(without_the_flag_ids_are_the_columns_own),
    cmocka_unit_test(the_encoding_byte_stands_under_its_flag_only),
    cmocka_unit_test(gorilla_without_bits_is_raw_with_bits_it_waits),
    cmocka_unit_test(array_bounds),
    cmocka_unit_test(array_products),
    cmocka_unit_test(every_cut_of_an_array_is_refused),
    cmocka_unit_test(array_cells_are_walked_over_nulls),
    cmocka_unit_test(mixed_dimensions_are_told),
    cmocka_unit_test(types_that_exist_and_types_that_wait),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
