/* The encoder against bytes that other clients wrote: every message here was recorded from, or is
 * pinned by, a client that shares no code with this one, and is reproduced byte for byte. */
#include "encode_kit.h"
#include "golden.h"

#define T_NS INT64_C(1700000000000000000)
#define T_US INT64_C(1700000000000000)
#define S_NS INT64_C(1000000000)
#define S_US INT64_C(1000000)

/* ---- comparing ------------------------------------------------------------------ */

static void expect_bytes(const struct qwp_bytes *got, const uint8_t *want, size_t want_len) {
  for (size_t i = 0; i < got->len && i < want_len; i++)
    if (got->data[i] != want[i]) fail_msg("byte %zu is 0x%02x, recorded 0x%02x", i, got->data[i], want[i]);
  assert_int_equal(got->len, want_len);
}

static void expect_encoded(struct rows_kit *k, const struct qwp_encoding *e, const uint8_t *want, size_t want_len) {
  struct qwp_bytes out;
  kit_encode(k, e, &out);
  expect_bytes(&out, want, want_len);
  qwp_bytes_free(&out);
}

/* What a sender does with a message that the store has taken. */
static void published(struct rows_kit *k) {
  qwp_symbols_mark_sent(k->symbols, qwp_symbols_count(k->symbols));
  qwp_batch_clear(k->batch);
}

static void expect_wire_file(struct rows_kit *k, const struct qwp_encoding *e, const char *name) {
  char path[1024];
  snprintf(path, sizeof path, REFERENCE_DATA "/wire/%s", name);
  size_t len;
  uint8_t *want = golden_hex_file(path, &len);
  if (!want) golden_die(path, 0, "is missing");
  expect_encoded(k, e, want, len);
  free(want);
}

/* The byte files of other projects' own tests are not part of this one. */
static bool reference_here(void) {
  size_t len;
  char *text = golden_slurp(REFERENCE_DATA "/wire/java-replay-first.hex", &len);
  free(text);
  if (!text) print_message("not run: reference bytes not here\n");
  return text != NULL;
}

static void load(struct golden_exchange *x, const char *name) {
  char path[1024];
  snprintf(path, sizeof path, TEST_DATA "/exchange/%s.txt", name);
  if (!golden_exchange_load(x, path)) golden_die(path, 0, "is missing");
}

static void expect_message(struct rows_kit *k, const struct qwp_encoding *e, const struct golden_exchange *x,
                           size_t index) {
  const struct golden_frame *f = golden_client_message(x, 1, index);
  assert_non_null(f);
  expect_encoded(k, e, f->payload, f->len);
}

static void expect_no_more(const struct golden_exchange *x, size_t count) {
  assert_null(golden_client_message(x, 1, count));
}

/* ---- rows of the recordings ------------------------------------------------------ */

static void sensor(struct rows_kit *k, const char *device, double temp, int64_t n, unsigned type, int64_t at) {
  KIT_OK(kit_table(k, "sensors"));
  KIT_OK(kit_symbol(k, "device", device));
  KIT_OK(kit_double(k, "temp", temp));
  KIT_OK(kit_long(k, "n", n));
  KIT_OK(qwp_batch_at(k->batch, type, at, &k->err));
}

/* The Java recordings: id, temp, cnt; the caller ends the row. */
static void java_row(struct rows_kit *k, const char *table, const char *id, double temp, int64_t cnt) {
  KIT_OK(kit_table(k, table));
  KIT_OK(kit_symbol(k, "id", id));
  KIT_OK(kit_double(k, "temp", temp));
  KIT_OK(kit_long(k, "cnt", cnt));
}

static void trade(struct rows_kit *k, const char *sym, int64_t qty, double px, int64_t ns) {
  KIT_OK(kit_table(k, "trades"));
  KIT_OK(kit_symbol(k, "sym", sym));
  KIT_OK(kit_long(k, "qty", qty));
  KIT_OK(kit_double(k, "px", px));
  KIT_OK(kit_at_ns(k, ns));
}

static void ten_trades(struct rows_kit *k) {
  for (int i = 0; i < 10; i++) {
    char sym[16];
    snprintf(sym, sizeof sym, "SYM_%03d", i);
    trade(k, sym, i, 100.0 + i, T_NS + i);
  }
}

/* ---- bytes of other projects' tests ----------------------------------------------- */

static void java_replay(void **state) {
  (void)state;
  if (!reference_here()) skip();
  struct rows_kit k;
  struct qwp_encoding e;
  kit_init(&k);
  ten_trades(&k);
  qwp_encoding_default(&e, k.batch, k.symbols);
  expect_wire_file(&k, &e, "java-replay-first.hex");
  expect_wire_file(&k, &e, "m0-equivalent-buffer.hex");
  expect_wire_file(&k, &e, "m0-equivalent-chunk.hex");
  published(&k);

  trade(&k, "SYM_009", 99, 999.5, T_NS + 1000);
  qwp_encoding_dense(&e, k.batch);
  expect_wire_file(&k, &e, "java-replay-second.hex");
  kit_free(&k);
}

static void go_fixed_width(void **state) {
  (void)state;
  if (!reference_here()) skip();
  struct rows_kit k;
  struct qwp_encoding e;
  kit_init(&k);
  for (int i = 1; i <= 2; i++) {
    KIT_OK(kit_table(&k, "t"));
    KIT_OK(kit_long(&k, "a", i));
    KIT_OK(kit_double(&k, "b", i + 0.5));
    KIT_OK(kit_at_now(&k));
  }
  qwp_encoding_default(&e, k.batch, k.symbols);
  e.flags |= QWP_FLAG_GORILLA;
  expect_wire_file(&k, &e, "go-fixed-width.hex");
  kit_free(&k);
}

static void go_delta_dict(void **state) {
  (void)state;
  if (!reference_here()) skip();
  struct rows_kit k;
  struct qwp_encoding e;
  uint32_t id;
  kit_init(&k);
  KIT_OK(qwp_symbols_intern(k.symbols, "AAPL", 4, &id));
  qwp_symbols_mark_sent(k.symbols, 1);
  KIT_OK(qwp_symbols_intern(k.symbols, "MSFT", 4, &id));
  const char *const sym[] = {"AAPL", "GOOG"};
  for (int i = 0; i < 2; i++) {
    KIT_OK(kit_table(&k, "trades"));
    KIT_OK(kit_symbol(&k, "sym", sym[i]));
    KIT_OK(kit_at_now(&k));
  }
  qwp_encoding_default(&e, k.batch, k.symbols);
  e.flags |= QWP_FLAG_GORILLA;
  expect_wire_file(&k, &e, "go-delta-dict.hex");
  kit_free(&k);
}

/* Two timestamps under the Gorilla flag: encoding byte 0 and plain values [WIRE-TS-002]. */
static void net_sensors(void **state) {
  (void)state;
  if (!reference_here()) skip();
  struct rows_kit k;
  struct qwp_encoding e;
  kit_init(&k);
  const double value[] = {1.3, 2.2};
  const int64_t us[] = {10000000000, 400000};
  for (int i = 0; i < 2; i++) {
    KIT_OK(kit_table(&k, "sensors"));
    KIT_OK(kit_long(&k, "id", i + 1));
    KIT_OK(kit_double(&k, "value", value[i]));
    KIT_OK(kit_at_us(&k, us[i]));
  }
  qwp_encoding_default(&e, k.batch, k.symbols);
  e.flags |= QWP_FLAG_GORILLA;
  expect_wire_file(&k, &e, "net-sensors.hex");
  kit_free(&k);
}

/* ---- recorded exchanges -------------------------------------------------------------- */

static void three(const char *recording, unsigned type, int64_t start, int64_t second) {
  struct rows_kit k;
  struct qwp_encoding e;
  struct golden_exchange x;
  load(&x, recording);
  kit_init(&k);
  sensor(&k, "dev0", 1.5, 1, type, start);
  sensor(&k, "dev1", 2.5, 2, type, start + second);
  sensor(&k, "dev0", -3.25, 3, type, start + 2 * second);
  qwp_encoding_default(&e, k.batch, k.symbols);
  expect_message(&k, &e, &x, 0);
  expect_no_more(&x, 1);
  kit_free(&k);
  golden_exchange_free(&x);
}

static void three_nanos(void **state) {
  (void)state;
  three("rust-three", QWP_TYPE_TIMESTAMP_NANOS, T_NS, S_NS);
  three("c-three", QWP_TYPE_TIMESTAMP_NANOS, T_NS, S_NS);
  three("py-three", QWP_TYPE_TIMESTAMP_NANOS, T_NS, S_NS);
}

static void three_micros(void **state) {
  (void)state;
  three("rust-three-us", QWP_TYPE_TIMESTAMP, T_US, S_US);
  three("c-three-us", QWP_TYPE_TIMESTAMP, T_US, S_US);
  three("py-three-us", QWP_TYPE_TIMESTAMP, T_US, S_US);
}

/* Two flushes on one connection. Rust and its relatives send the delta [WIRE-DICT-004]; Go sends its
 * whole dictionary every time, under the Gorilla flag. */
static void delta(const char *recording, uint8_t flags, bool from_zero) {
  struct rows_kit k;
  struct qwp_encoding e;
  struct golden_exchange x;
  load(&x, recording);
  kit_init(&k);
  for (int flush = 0; flush < 2; flush++) {
    if (flush == 0) {
      sensor(&k, "dev0", 1.5, 1, QWP_TYPE_TIMESTAMP_NANOS, T_NS);
      sensor(&k, "dev1", 2.5, 2, QWP_TYPE_TIMESTAMP_NANOS, T_NS + S_NS);
    } else {
      sensor(&k, "dev0", 3.5, 3, QWP_TYPE_TIMESTAMP_NANOS, T_NS + 2 * S_NS);
      sensor(&k, "dev2", 4.5, 4, QWP_TYPE_TIMESTAMP_NANOS, T_NS + 3 * S_NS);
    }
    qwp_encoding_default(&e, k.batch, k.symbols);
    if (from_zero) qwp_encoding_dense(&e, k.batch);
    e.flags = flags;
    expect_message(&k, &e, &x, (size_t)flush);
    published(&k);
  }
  expect_no_more(&x, 2);
  kit_free(&k);
  golden_exchange_free(&x);
}

static void two_flushes(void **state) {
  (void)state;
  delta("rust-delta", QWP_FLAG_DELTA, false);
  delta("c-delta", QWP_FLAG_DELTA, false);
  delta("py-delta", QWP_FLAG_DELTA, false);
  delta("go-delta", QWP_FLAG_DELTA | QWP_FLAG_GORILLA, true);
}

/* This Java client sends the dictionary from 0 to the highest id of the batch: 1, 2 and 1 entries. */
static void java_three_flushes(void **state) {
  (void)state;
  static const struct {
    const char *id;
    double temp;
    int64_t cnt, us;
  } rows[] = {{"alpha", 1.5, 1, T_US}, {"beta", -2.25, -1, T_US + 1}, {"alpha", 1e10, 1234567890123, T_US + S_US}};
  struct rows_kit k;
  struct qwp_encoding e;
  struct golden_exchange x;
  load(&x, "java-3rows-3flush");
  kit_init(&k);
  for (size_t i = 0; i < 3; i++) {
    java_row(&k, "sensors2", rows[i].id, rows[i].temp, rows[i].cnt);
    KIT_OK(kit_at_us(&k, rows[i].us));
    qwp_encoding_dense(&e, k.batch);
    e.flags |= QWP_FLAG_GORILLA;
    expect_message(&k, &e, &x, i);
    published(&k);
  }
  expect_no_more(&x, 3);
  kit_free(&k);
  golden_exchange_free(&x);
}

/* One message each: no timestamp column, nanoseconds, two tables (rows 0 and 2 in the first). */
static void java_single(void **state) {
  (void)state;
  static const char *const recordings[] = {"java-atnow", "java-nanos", "java-twotables"};
  for (int i = 0; i < 3; i++) {
    struct rows_kit k;
    struct qwp_encoding e;
    struct golden_exchange x;
    load(&x, recordings[i]);
    kit_init(&k);
    if (i == 0) {
      java_row(&k, "sens_atnow", "alpha", 1.5, 1);
      KIT_OK(kit_at_now(&k));
    } else if (i == 1) {
      java_row(&k, "sens_nanos", "alpha", 1.5, 1);
      KIT_OK(kit_at_ns(&k, T_NS + 123));
    } else {
      java_row(&k, "sens_tt", "alpha", 1.5, 1);
      KIT_OK(kit_at_us(&k, T_US));
      java_row(&k, "sens_tt_b", "beta", -2.25, -1);
      KIT_OK(kit_at_us(&k, T_US + 1));
      java_row(&k, "sens_tt", "alpha", 1e10, 1234567890123);
      KIT_OK(kit_at_us(&k, T_US + S_US));
    }
    qwp_encoding_default(&e, k.batch, k.symbols);
    e.flags |= QWP_FLAG_GORILLA;
    expect_message(&k, &e, &x, 0);
    expect_no_more(&x, 1);
    kit_free(&k);
    golden_exchange_free(&x);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(java_replay),   cmocka_unit_test(go_fixed_width),     cmocka_unit_test(go_delta_dict),
      cmocka_unit_test(net_sensors),   cmocka_unit_test(three_nanos),        cmocka_unit_test(three_micros),
      cmocka_unit_test(two_flushes),   cmocka_unit_test(java_three_flushes), cmocka_unit_test(java_single),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
