/* Every allocation of a small workload fails once. The call that met it reports QWP_NOMEM and changes
 * nothing: what can be seen of the batch is as before, the same call then succeeds, and the message in
 * the end has the bytes of a run without failures. */
#include "encode_kit.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 400 };

/* What can be seen of a batch. Encoded into memory of its own, so that looking does not count. */
struct sight {
  struct qwp_bytes message;
  size_t rows, bytes, symbols, tables;
  uint32_t open_columns; /* of all tables, those of the open row included */
  bool open;
};

static struct fail_mem looking_mem;
static struct qwp_ops looking_ops;

static struct sight look(struct rows_kit *k) {
  struct qwp_encoding e;
  struct sight s = {.rows = qwp_batch_rows(k->batch), .bytes = qwp_batch_bytes(k->batch)};
  s.symbols = qwp_symbols_count(k->symbols);
  s.tables = qwp_batch_known(k->batch);
  s.open = qwp_batch_row_open(k->batch);
  for (size_t i = 0; i < s.tables; i++) s.open_columns += qwp_batch_known_at(k->batch, i)->count;
  qwp_encoding_default(&e, k->batch, k->symbols);
  qwp_bytes_init(&s.message, &looking_ops, 1u << 20);
  KIT_OK(qwp_message_encode(k->batch, k->symbols, &e, &s.message, NULL));
  return s;
}

static void expect_same(const struct sight *a, const struct sight *b) {
  assert_int_equal(a->rows, b->rows);
  assert_int_equal(a->bytes, b->bytes);
  assert_int_equal(a->symbols, b->symbols);
  assert_int_equal(a->tables, b->tables);
  assert_int_equal(a->open_columns, b->open_columns);
  assert_int_equal(a->open, b->open);
  assert_int_equal(a->message.len, b->message.len);
  assert_memory_equal(a->message.data, b->message.data, a->message.len);
}

/* Step i of the workload: ten tables, up to thirteen columns, gaps, growing buffers, a cancelled row in
 * seven; eight calls a row, so that every call stands alone. */
static enum qwp_status step(struct rows_kit *k, unsigned i) {
  unsigned row = i / 8;
  char name[32], text[128];
  switch (i % 8) {
    case 0:
      snprintf(name, sizeof name, "table%u", row < 20 ? row / 2 : 0);
      return kit_table(k, name);
    case 1:
      snprintf(text, sizeof text, "symbol %u of some length", row);
      return kit_symbol(k, "sym", text);
    case 2:
      snprintf(text, sizeof text, "%0100u", row);
      return row % 3 ? kit_varchar(k, "text", text) : QWP_OK;
    case 3: snprintf(name, sizeof name, "c%u", row % 11); return kit_long(k, name, row);
    case 4: return row % 5 ? kit_bool(k, "flag", row % 2) : QWP_OK;
    case 5: snprintf(name, sizeof name, "n%u", row % 4); return kit_null(k, name, QWP_TYPE_DOUBLE);
    case 6: return row == 47 ? kit_timestamp(k, "late", QWP_TYPE_TIMESTAMP, 1) : QWP_OK;
    default:
      if (row % 7 != 6) return row % 4 ? kit_at_ns(k, row) : kit_at_now(k);
      qwp_batch_cancel(k->batch);
      return QWP_OK;
  }
}

/* Runs all steps; the fail_at-th allocation fails. Returns the final message and how many there were. */
static struct sight run(uint64_t fail_at, uint64_t *calls) {
  struct rows_kit k;
  kit_init(&k);
  k.mem.calls = 0;
  k.mem.fail_at = fail_at;
  for (unsigned i = 0; i < STEPS; i++) {
    struct sight before = look(&k);
    enum qwp_status st = step(&k, i);
    if (st != QWP_OK) {
      assert_int_equal(st, QWP_NOMEM);
      assert_int_equal(k.err.code, QWP_NOMEM);
      struct sight after = look(&k);
      expect_same(&before, &after);
      qwp_bytes_free(&after.message);
      KIT_OK(step(&k, i));
    }
    qwp_bytes_free(&before.message);
  }
  assert_int_equal(k.mem.failed, fail_at ? 1 : 0);
  *calls = k.mem.calls;
  struct sight end = look(&k);
  kit_free(&k);
  return end;
}

static void each_allocation_fails_once(void **state) {
  (void)state;
  looking_ops = fail_mem_ops(&looking_mem);
  uint64_t calls, ignored;
  struct sight want = run(0, &calls);
  assert_true(calls > 150); /* or the workload would show little */
  for (uint64_t n = 1; n <= calls; n++) {
    struct sight got = run(n, &ignored);
    expect_same(&want, &got);
    qwp_bytes_free(&got.message);
  }
  print_message("%u allocations, each failed once\n", (unsigned)calls);
  qwp_bytes_free(&want.message);
  assert_int_equal(looking_mem.live, 0);
}

static void a_batch_that_cannot_be_made(void **state) {
  (void)state;
  struct fail_mem mem;
  struct qwp_ops ops = fail_mem_ops(&mem);
  mem.fail_at = 1;
  assert_null(qwp_batch_new(&ops, NULL, 127));
  assert_int_equal(mem.live, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_allocation_fails_once),
      cmocka_unit_test(a_batch_that_cannot_be_made),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
