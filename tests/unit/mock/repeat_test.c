/* What the short way makes of a message is what the long way makes of it. */
#include "core/connection.h"
#include "core/repeat.h"
#include "mock_rig.h"

#include "mock_kit.h"

/* ---- messages ------------------------------------------------------------------------- */

#define LONG_NULL INT64_MIN

/* `rows` rows of LONG columns named in `columns`, one letter each. */
static void plain_message(struct kit_bytes *b, unsigned flags, const char *table, const char *columns, size_t rows,
                          int64_t first) {
  kit_begin(b, flags | QWP_FLAG_DELTA, 1);
  kit_delta(b, 0, "");
  kit_block(b, table, rows, strlen(columns));
  for (const char *c = columns; *c; c++) kit_define(b, (const char[]){*c, '\0'}, QWP_TYPE_LONG);
  for (const char *c = columns; *c; c++) {
    kit_u8(b, QWP_NULLS_NONE);
    for (size_t row = 0; row < rows; row++) kit_le(b, (uint64_t)first + row * (uint64_t)(*c), 8);
  }
  kit_end(b);
}

/* ---- which messages are repetitions ------------------------------------------------------ */


struct learner {
  struct kit k;
  struct mock_repeat repeat;
  const uint8_t *m;
  size_t n;
};

static bool learn(void *ctx, const struct mock_block *block, struct mock_decode_error *err) {
  struct learner *l = ctx;
  if (!mock_tables_append(l->k.pending, block, l->k.dict, 1, 0, 0, err)) return false;
  mock_repeat_learn(&l->repeat, l->k.pending, l->m, l->n, block);
  return true;
}

/* The message has gone the long way; true: its form is remembered. */
static bool learnt(struct learner *l, enum mock_rows level, const struct kit_bytes *b) {
  const struct mock_decode_sink sink = {.ctx = l, .on_block = learn, .on_violation = kit_on_violation};
  memset(l, 0, sizeof *l);
  kit_open(&l->k, level);
  l->m = b->p;
  l->n = b->n;
  assert_true(mock_decode(l->k.decoder, l->k.dict, &l->k.limits, b->p, b->n, &sink, &l->k.msg, &l->k.err));
  mock_tables_commit(l->k.pending, NULL, NULL);
  return l->repeat.plan != NULL;
}

static size_t repeated(struct learner *l, size_t n) {
  return mock_repeat_commit(&l->repeat, l->k.pending, l->m, n, NULL, NULL);
}

static void each_byte_but_those_of_values_must_be_the_same(void **state) {
  (void)state;
  static struct learner l;
  struct kit_bytes b;
  const size_t rows = 3;
  plain_message(&b, 0, "t", "iv", rows, 7);
  assert_true(learnt(&l, MOCK_ROWS_DIGEST, &b));
  const size_t head_n = b.n - 2 * rows * 8 - 1, flag = head_n + rows * 8;
  size_t visible = rows;
  for (size_t at = 0; at < b.n; at++) {
    b.p[at] ^= 0x41;
    const bool is_value = at >= head_n && at != flag;
    assert_int_equal(repeated(&l, b.n), is_value ? rows : 0);
    visible += is_value ? rows : 0;
    assert_int_equal(mock_table_rows(l.k.tables, 0), visible);
    b.p[at] ^= 0x41;
  }
  for (size_t n = 0; n < b.n; n++) assert_int_equal(repeated(&l, n), 0);
  b.p[b.n] = 0;
  assert_int_equal(repeated(&l, b.n + 1), 0);
  kit_close(&l.k);
}

static void only_plain_columns_without_nulls_are_remembered(void **state) {
  (void)state;
  static struct learner l;
  struct kit_bytes b;
  plain_message(&b, 0, "t", "i", 1, 7);
  assert_true(learnt(&l, MOCK_ROWS_COUNT, &b));
  kit_close(&l.k);
  assert_false(learnt(&l, MOCK_ROWS_FULL, &b)); /* values are kept with their origin */
  kit_close(&l.k);

  plain_message(&b, 0, "t", "i", 0, 7); /* no rows */
  assert_false(learnt(&l, MOCK_ROWS_DIGEST, &b));
  kit_close(&l.k);

  plain_message(&b, 0, "t", "i", 1, 7);
  kit_u8(&b, 0); /* bytes behind the block */
  kit_end(&b);
  assert_false(learnt(&l, MOCK_ROWS_DIGEST, &b));
  kit_close(&l.k);

  const struct { unsigned type; size_t width; bool null; const char *name; } others[] = {
    {QWP_TYPE_LONG, 8, true, "i"}, {QWP_TYPE_DOUBLE, 8, false, "d"}, {QWP_TYPE_TIMESTAMP, 8, false, ""},
    {QWP_TYPE_INT, 4, false, "n"}, {QWP_TYPE_LONG, 8, false, "timestamp"}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    kit_begin(&b, QWP_FLAG_DELTA, 1);
    kit_delta(&b, 0, "");
    kit_block(&b, "t", 1, 1);
    kit_define(&b, others[i].name, others[i].type);
    kit_u8(&b, others[i].null);
    if (others[i].null) kit_u8(&b, 1); /* the bitmap: nothing follows */
    else kit_le(&b, 5, others[i].width);
    kit_end(&b);
    assert_false(learnt(&l, MOCK_ROWS_DIGEST, &b));
    kit_close(&l.k);
  }
}

/* Rows of a deferred group would have to be committed first. */
static void with_rows_pending_nothing_is_a_repetition(void **state) {
  (void)state;
  static struct learner l;
  struct kit_bytes b;
  plain_message(&b, 0, "t", "i", 1, 7);
  assert_true(learnt(&l, MOCK_ROWS_DIGEST, &b));
  const struct mock_decode_sink sink = {.ctx = &l, .on_block = learn, .on_violation = kit_on_violation};
  assert_true(mock_decode(l.k.decoder, l.k.dict, &l.k.limits, b.p, b.n, &sink, &l.k.msg, &l.k.err));
  assert_int_equal(repeated(&l, b.n), 0);
  assert_int_equal(mock_table_rows(l.k.tables, 0), 1);
  mock_tables_commit(l.k.pending, NULL, NULL);
  assert_int_equal(repeated(&l, b.n), 1);
  assert_int_equal(mock_table_rows(l.k.tables, 0), 3);
  kit_close(&l.k);
}

static void a_head_too_long_to_remember_takes_the_long_way(void **state) {
  (void)state;
  static struct learner l;
  struct kit_bytes b;
  char name[QWP_MAX_NAME_BYTES + 1];
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  plain_message(&b, 0, name, "i", 1, 1);
  assert_true(learnt(&l, MOCK_ROWS_DIGEST, &b));
  kit_close(&l.k);
  plain_message(&b, 0, name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP", 1, 1);
  assert_false(learnt(&l, MOCK_ROWS_DIGEST, &b));
  kit_close(&l.k);
}

/* ---- both ways, in a whole server --------------------------------------------------------- */

static uint64_t dice; /* splitmix64 */

static unsigned roll(unsigned sides) {
  uint64_t z = (dice += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return (unsigned)((z ^ (z >> 31)) % sides);
}

static int64_t some_id(void) {
  if (roll(20) == 0) return LONG_NULL;
  return (int64_t)roll(4000) - 1000;
}

/* Two blocks, the first always the same. */
static void two_blocks(struct kit_bytes *b, int64_t id) {
  kit_begin(b, QWP_FLAG_DELTA, 2);
  kit_delta(b, 0, "");
  for (int i = 0; i < 2; i++) {
    kit_block(b, i == 0 ? "w" : "t", 1, 1);
    kit_define(b, "i", QWP_TYPE_LONG);
    kit_u8(b, QWP_NULLS_NONE);
    kit_le(b, i == 0 ? 5 : (uint64_t)id, 8);
  }
  kit_end(b);
}

/* From now on the rows of t are told apart by another column. */
static void better_id(struct kit_bytes *b) {
  kit_begin(b, QWP_FLAG_DELTA, 1);
  kit_delta(b, 0, "");
  kit_block(b, "t", 1, 2);
  kit_define(b, "id", QWP_TYPE_LONG);
  kit_define(b, "d", QWP_TYPE_DOUBLE);
  for (int i = 0; i < 2; i++) {
    kit_u8(b, QWP_NULLS_NONE);
    kit_le(b, roll(1000), 8);
  }
  kit_end(b);
}

struct habit { /* of a client: mostly one form at a time */
  unsigned form, flags;
  size_t rows;
};

/* A message of that habit, which changes at times, with all that can come between. */
static void some_message(struct kit_bytes *b, struct habit *h, bool late) {
  static const char *const tables[] = {"t", "t", "u", "t"}, *const columns[] = {"i", "iv", "i", "v"};
  if (roll(30) == 0) h->form = roll(5);
  if (roll(30) == 0) h->flags = roll(4) == 0 ? QWP_FLAG_DEFER : 0;
  if (roll(60) == 0) h->rows = 1 + roll(3);
  if (h->form == 4) two_blocks(b, some_id());
  else plain_message(b, h->flags, tables[h->form], columns[h->form], h->rows, some_id());
  switch (roll(h->flags ? 40 : 150)) {
    case 0: b->p[roll((unsigned)b->n)] ^= (uint8_t)(1u << roll(8)); return;
    case 1: b->n -= 1 + roll(9); return;
    case 2:
    case 3:
    case 4: b->n = 0; return;
    case 5: kit_u8(b, 0); return;             /* behind payload_length */
    case 6: kit_u8(b, 0), kit_end(b); return; /* behind the last block */
    case 7: b->p[QWP_HEADER_OFF_FLAGS] |= 0x20; return; /* reserved */
    case 8:                                   /* a dictionary alone */
      kit_begin(b, QWP_FLAG_DELTA, 0);
      kit_delta(b, 0, "one|two");
      kit_end(b);
      return;
    case 9:
      if (late) better_id(b);
      return;
    default: return;
  }
}

static void compare(struct rig *shorter, struct rig *longer, const struct rig_peer *p, const struct rig_peer *q) {
  const struct mock_facts f = rig_facts(shorter), g = rig_facts(longer);
  assert_memory_equal(&f, &g, sizeof f);
  assert_int_equal(p->out_n, q->out_n);
  assert_memory_equal(p->out, q->out, p->out_n);
  assert_int_equal(mock_table_count(shorter->m->tables), mock_table_count(longer->m->tables));
  for (size_t i = 0; i < mock_table_count(shorter->m->tables); i++) {
    assert_int_equal(mock_table_rows(shorter->m->tables, i), mock_table_rows(longer->m->tables, i));
    assert_true(mock_table_digest(shorter->m->tables, i) == mock_table_digest(longer->m->tables, i));
  }
}

/* Two servers are told the same by two clients each; one is made to forget before each message, so that it always
 * takes the long way. After every message they have said, counted, journalled and kept the same. */
static void both_ways_end_alike(void **state) {
  (void)state;
  enum { MESSAGES = 6000 };
  static struct rig_bytes frame;
  const struct mock_entry all = {.connection = MOCK_ANY, .process_after_error = true};
  const struct mock_script script = {.entries = &all, .entry_count = 1};
  for (enum mock_rows level = MOCK_ROWS_DIGEST; level <= MOCK_ROWS_COUNT; level++) {
    struct rig shorter, longer;
    rig_start_with(&shorter, &script, level, MOCK_JOURNAL_FULL);
    rig_start_with(&longer, &script, level, MOCK_JOURNAL_FULL);
    struct rig_peer *p[2] = {rig_client(&shorter), rig_client(&shorter)};
    struct rig_peer *q[2] = {rig_client(&longer), rig_client(&longer)};
    struct habit habits[2] = {{.rows = 1}, {.rows = 1}};
    size_t remembered = 0;
    dice = 1;
    for (int i = 0; i < MESSAGES; i++) {
      struct kit_bytes b;
      const unsigned who = roll(2);
      some_message(&b, &habits[who], i > MESSAGES * 2 / 3);
      frame.n = 0;
      rig_frame(&frame, 0x82, b.p, b.n);
      remembered += p[who]->conn->repeat.plan != NULL;
      mock_repeat_forget(&q[who]->conn->repeat);
      rig_feed(p[who], frame.p, frame.n);
      rig_feed(q[who], frame.p, frame.n);
      compare(&shorter, &longer, p[who], q[who]);
    }
    const struct mock_facts f = rig_facts(&shorter);
    assert_true(remembered > MESSAGES / 2);
    assert_true(f.errors > 0 && f.violations > 0 && f.rolled_back_rows > 0);
    if (level == MOCK_ROWS_DIGEST) assert_true(f.rows_unique > 1000 && f.rows_doubled > 1000);
    assert_int_equal(shorter.journal_n, longer.journal_n);
    assert_memory_equal(shorter.journal, longer.journal, shorter.journal_n);
    rig_stop(&shorter);
    rig_stop(&longer);
  }
}

/* A message that was noted for something is noted again when it comes again. */
static void what_was_noted_once_is_noted_again(void **state) {
  (void)state;
  static struct rig_bytes frame;
  struct rig r;
  rig_start_with(&r, NULL, MOCK_ROWS_DIGEST, MOCK_JOURNAL_SUMMARY);
  struct rig_peer *p = rig_client(&r);
  for (int i = 1; i <= 3; i++) {
    frame.n = 0;
    rig_row(&frame, 0x20, 7); /* a reserved flag bit */
    rig_feed(p, frame.p, frame.n);
    assert_int_equal(rig_facts(&r).violations, i);
  }
  rig_stop(&r);
}

/* Once another client has given the table a column `id`, an `i` tells no rows apart any more, whichever way. */
static void a_better_id_column_counts_from_then_on(void **state) {
  (void)state;
  static struct rig_bytes frame;
  for (int longer = 0; longer < 2; longer++) {
    struct rig r;
    rig_start_with(&r, NULL, MOCK_ROWS_DIGEST, MOCK_JOURNAL_SUMMARY);
    struct rig_peer *p = rig_client(&r), *q = rig_client(&r);
    struct kit_bytes b;
    for (int i = 0; i < 3; i++) {
      if (i == 2) better_id(&b);
      else plain_message(&b, 0, "t", "i", 1, 7);
      frame.n = 0;
      rig_frame(&frame, 0x82, b.p, b.n);
      rig_feed(i == 2 ? q : p, frame.p, frame.n);
    }
    assert_int_equal(rig_facts(&r).rows_unique, 2);
    assert_int_equal(rig_facts(&r).rows_doubled, 1);

    plain_message(&b, 0, "t", "i", 1, 7);
    frame.n = 0;
    rig_frame(&frame, 0x82, b.p, b.n);
    assert_non_null(p->conn->repeat.plan);
    if (longer) mock_repeat_forget(&p->conn->repeat);
    rig_feed(p, frame.p, frame.n);
    assert_int_equal(rig_facts(&r).rows, 4);
    assert_int_equal(rig_facts(&r).rows_unique, 2);
    assert_int_equal(rig_facts(&r).rows_doubled, 1);
    rig_stop(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_byte_but_those_of_values_must_be_the_same),
    cmocka_unit_test(only_plain_columns_without_nulls_are_remembered),
    cmocka_unit_test(with_rows_pending_nothing_is_a_repetition),
    cmocka_unit_test(a_head_too_long_to_remember_takes_the_long_way),
    cmocka_unit_test(both_ways_end_alike),
    cmocka_unit_test(what_was_noted_once_is_noted_again),
    cmocka_unit_test(a_better_id_column_counts_from_then_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
