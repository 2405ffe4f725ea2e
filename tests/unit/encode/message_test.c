/* Messages: what is refused and leaves the output alone, and the dictionary section read back. */
#include "encode_kit.h"

#include <stdio.h>
#include <stdlib.h>

static void expect_hex(const struct qwp_bytes *got, const char *want) {
  char hex[1024] = "";
  assert_true(got->len * 2 < sizeof hex);
  for (size_t i = 0; i < got->len; i++) sprintf(hex + 2 * i, "%02x", got->data[i]);
  assert_string_equal(hex, want);
}

static void a_row(struct rows_kit *k, const char *sym) {
  KIT_OK(kit_table(k, "t"));
  KIT_OK(kit_symbol(k, "s", sym));
  KIT_OK(kit_at_now(k));
}

/* ---- bytes by hand ----------------------------------------------------------------- */

/* Header, the two varints of the dictionary section, nothing else [WIRE-HDR-009, WIRE-DICT-002]. */
static void without_rows(void **state) {
  (void)state;
  struct rows_kit k;
  struct qwp_bytes out;
  uint32_t id;
  kit_init(&k);
  kit_encode_default(&k, &out);
  expect_hex(&out, "515750310108000002000000" "0000");
  qwp_bytes_free(&out);
  KIT_OK(qwp_symbols_intern(k.symbols, "a", 1, &id));
  kit_encode_default(&k, &out); /* no row refers to it */
  expect_hex(&out, "515750310108000002000000" "0000");
  qwp_bytes_free(&out);
  struct qwp_encoding e;
  qwp_encoding_default(&e, k.batch, k.symbols);
  e.dict_end = 1;
  kit_encode(&k, &e, &out);
  expect_hex(&out, "515750310108000004000000" "00010161");
  qwp_bytes_free(&out);
  kit_free(&k);
}

/* WIRE-NULL-003, WIRE-TYPE-001, WIRE-VAR-002 and WIRE-VAR-005 to 006 as one small table. */
static void nulls_by_hand(void **state) {
  (void)state;
  struct rows_kit k;
  struct qwp_bytes out;
  kit_init(&k);
  for (int row = 0; row < 10; row++) {
    KIT_OK(kit_table(&k, "t"));
    if (row != 0 && row != 2 && row != 9) KIT_OK(kit_varchar(&k, "v", row == 1 ? "" : "ab"));
    if (row != 4) KIT_OK(kit_bool(&k, "b", row != 1));
    KIT_OK(kit_null(&k, "n", QWP_TYPE_VARCHAR));
    KIT_OK(kit_at_now(&k));
  }
  kit_encode_default(&k, &out);
  /* Columns in the order of first use: row 0 has no "v". */
  expect_hex(&out, "515750310108010048000000" "0000"
                   "0174" "0a" "03" "016201" "016e0f" "01760f"
                   "00" "ed03"
                   "01" "ff03" "00000000"
                   "01" "0502" "00000000" "00000000" "02000000" "04000000" "06000000" "08000000" "0a000000" "0c000000"
                   "616261626162616261626162");
  qwp_bytes_free(&out);
  kit_free(&k);
}

/* ---- refusals ------------------------------------------------------------------------ */

static void expect_refused(struct rows_kit *k, const struct qwp_encoding *e, size_t limit, enum qwp_status want) {
  struct qwp_bytes out;
  qwp_bytes_init(&out, &k->ops, limit);
  KIT_OK(qwp_bytes_append(&out, "kept", 4));
  assert_int_equal(qwp_message_encode(k->batch, k->symbols, e, &out, &k->err), want);
  assert_int_equal(k->err.code, want);
  assert_int_equal(out.len, 4);
  assert_memory_equal(out.data, "kept", 4);
  qwp_bytes_free(&out);
}

static void encodings_that_are_none(void **state) {
  (void)state;
  struct rows_kit k;
  struct qwp_encoding good, e;
  kit_init(&k);
  a_row(&k, "x");
  a_row(&k, "y");
  qwp_encoding_default(&good, k.batch, k.symbols);
  for (unsigned flags = 0; flags < 256; flags++) {
    e = good;
    e.flags = (uint8_t)flags;
    if ((flags & QWP_FLAG_DELTA) && !(flags & QWP_FLAGS_RESERVED)) continue;
    expect_refused(&k, &e, 1000, QWP_MISUSE);
  }
  e = good;
  e.dict_end = 3; /* more than there are */
  expect_refused(&k, &e, 1000, QWP_MISUSE);
  e = good;
  e.dict_start = 3;
  expect_refused(&k, &e, 1000, QWP_MISUSE);
  e = good;
  e.dict_end = 1; /* leaves out "y", which row 1 refers to [WIRE-SYM-002] */
  expect_refused(&k, &e, 1000, QWP_MISUSE);
  expect_refused(&k, &good, 20, QWP_TOO_LARGE);
  kit_free(&k);
}

static void no_memory_for_the_output(void **state) {
  (void)state;
  struct rows_kit k;
  struct qwp_encoding e;
  kit_init(&k);
  KIT_OK(kit_table(&k, "t"));
  char text[300] = ""; /* a message longer than the 256 bytes that a buffer begins with */
  memset(text, 'x', sizeof text - 1);
  KIT_OK(kit_varchar(&k, "v", text));
  KIT_OK(kit_at_now(&k));
  qwp_encoding_default(&e, k.batch, k.symbols);
  k.mem.fail_at = k.mem.calls + 2; /* the first call is that of the bytes that are kept */
  expect_refused(&k, &e, 1000, QWP_NOMEM);
  assert_int_equal(k.mem.failed, 1);
  kit_free(&k);
}

/* The message as a whole stays at or below 16 MiB [LIMIT-001]. */
static void the_largest_message(void **state) {
  (void)state;
  struct rows_kit k;
  struct qwp_encoding e;
  struct qwp_bytes out;
  char *text = calloc(1, QWP_MAX_PAYLOAD_BYTES);
  assert_non_null(text);
  memset(text, 'x', QWP_MAX_PAYLOAD_BYTES);
  for (unsigned over = 0; over <= 1; over++) {
    kit_init(&k);
    KIT_OK(kit_table(&k, "t"));
    /* 12 header, 2 dictionary, 4 table, 3 column, 9 null flag and offsets */
    KIT_OK(qwp_batch_varchar(k.batch, "v", 1, text, QWP_MAX_PAYLOAD_BYTES - 30 + over, &k.err));
    KIT_OK(kit_at_now(&k));
    qwp_encoding_default(&e, k.batch, k.symbols);
    assert_int_equal(qwp_message_size(k.batch, k.symbols, &e), QWP_MAX_PAYLOAD_BYTES + over);
    if (over) {
      expect_refused(&k, &e, 1u << 25, QWP_TOO_LARGE);
      assert_int_equal(qwp_batch_rows(k.batch), 1); /* rows kept */
    } else {
      kit_encode(&k, &e, &out);
      qwp_bytes_free(&out);
    }
    kit_free(&k);
  }
  free(text);
}

/* ---- an open row ------------------------------------------------------------------------ */

static void an_open_row_is_no_part_of_it(void **state) {
  (void)state;
  struct rows_kit k;
  struct qwp_encoding e;
  struct qwp_bytes before, during;
  kit_init(&k);
  a_row(&k, "x");
  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_varchar(&k, "v", "one"));
  KIT_OK(kit_at_us(&k, 1));
  qwp_encoding_dense(&e, k.batch);
  kit_encode(&k, &e, &before);
  KIT_OK(kit_table(&k, "t"));
  KIT_OK(kit_symbol(&k, "s", "new"));
  KIT_OK(kit_varchar(&k, "v", "two"));
  KIT_OK(kit_bool(&k, "fresh", true));
  qwp_encoding_dense(&e, k.batch);
  kit_encode(&k, &e, &during);
  assert_int_equal(during.len, before.len);
  assert_memory_equal(during.data, before.data, before.len);
  qwp_bytes_free(&before);
  qwp_bytes_free(&during);
  kit_free(&k);
}

/* ---- the section read back ---------------------------------------------------------------- */

static void delta_of_our_own(void **state) {
  (void)state;
  struct rows_kit k;
  struct qwp_encoding e;
  struct qwp_bytes out;
  struct qwp_delta_view view;
  kit_init(&k);
  a_row(&k, "x");
  qwp_symbols_mark_sent(k.symbols, 1);
  a_row(&k, "yy");
  a_row(&k, "");
  qwp_encoding_default(&e, k.batch, k.symbols);
  e.flags |= QWP_FLAG_DEFER;
  kit_encode(&k, &e, &out);
  KIT_OK(qwp_message_delta(out.data, out.len, &view));
  assert_int_equal(view.start, 1);
  assert_int_equal(view.count, 2);
  assert_int_equal(view.flags, QWP_FLAG_DELTA | QWP_FLAG_DEFER);
  assert_int_equal(view.entries_bytes, 4);
  assert_memory_equal(view.entries, "\x02yy\x00", 4);
  qwp_bytes_free(&out);
  kit_free(&k);
}

/* Cut anywhere, even with a payload_length that agrees, it is refused or lies within the bytes. */
static void delta_of_broken_bytes(void **state) {
  (void)state;
  struct rows_kit k;
  struct qwp_bytes out;
  struct qwp_delta_view view;
  kit_init(&k);
  a_row(&k, "first");
  a_row(&k, "second");
  kit_encode_default(&k, &out);
  size_t section = 2 + 6 + 7;
  for (size_t n = 0; n < out.len; n++) {
    uint8_t *cut = malloc(n ? n : 1); /* its own block, so that a sanitizer sees a read beyond it */
    assert_non_null(cut);
    memcpy(cut, out.data, n);
    assert_int_equal(qwp_message_delta(cut, n, &view), QWP_CONN_PROTOCOL);
    if (n >= QWP_HEADER_BYTES) {
      qwp_set_u32(cut + QWP_HEADER_OFF_LENGTH, (uint32_t)(n - QWP_HEADER_BYTES));
      bool whole = n >= QWP_HEADER_BYTES + section;
      assert_int_equal(qwp_message_delta(cut, n, &view), whole ? QWP_OK : QWP_CONN_PROTOCOL);
    }
    free(cut);
  }
  static const size_t places[] = {0, QWP_HEADER_OFF_VERSION, QWP_HEADER_OFF_LENGTH};
  for (size_t i = 0; i < 3; i++) {
    out.data[places[i]] ^= 1;
    assert_int_equal(qwp_message_delta(out.data, out.len, &view), QWP_CONN_PROTOCOL);
    out.data[places[i]] ^= 1;
  }
  out.data[QWP_HEADER_OFF_FLAGS] = 0; /* without the flag there is no section */
  assert_int_equal(qwp_message_delta(out.data, out.len, &view), QWP_CONN_PROTOCOL);
  qwp_bytes_free(&out);
  kit_free(&k);
}

static void delta_with_absurd_counts(void **state) {
  (void)state;
  struct qwp_delta_view view;
  static const char *const sections[] = {
      "\x00\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x01",         /* count 2^64 - 1 */
      "\xFF\xFF\xFF\xFF\x0F\x00",                                 /* start 2^32 - 1 */
      "\x00\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01",         /* entry of 2^64 - 1 bytes */
      "\x00\x02\x00",                                             /* one entry short */
  };
  static const size_t lengths[] = {12, 6, 12, 3};
  for (size_t i = 0; i < 4; i++) {
    uint8_t message[32] = {'Q', 'W', 'P', '1', 1, QWP_FLAG_DELTA};
    message[QWP_HEADER_OFF_LENGTH] = (uint8_t)lengths[i];
    memcpy(message + QWP_HEADER_BYTES, sections[i], lengths[i]);
    assert_int_equal(qwp_message_delta(message, QWP_HEADER_BYTES + lengths[i], &view), QWP_CONN_PROTOCOL);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_rows),
      cmocka_unit_test(nulls_by_hand),
      cmocka_unit_test(encodings_that_are_none),
      cmocka_unit_test(no_memory_for_the_output),
      cmocka_unit_test(the_largest_message),
      cmocka_unit_test(an_open_row_is_no_part_of_it),
      cmocka_unit_test(delta_of_our_own),
      cmocka_unit_test(delta_of_broken_bytes),
      cmocka_unit_test(delta_with_absurd_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
