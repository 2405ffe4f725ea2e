/* Random lives of a batch against a model that keeps rows as rows and writes each message bit by bit from
 * the specification. Everything must agree: bytes in every encoding, and the size foretold by the batch. */
#include "encode_kit.h"

#include <stdio.h>
#include <stdlib.h>

enum { TABLES = 3, COLUMNS = 9, ROWS = 70, TEXTS = 200, DESIGNATED = 8 };

/* Column 8 is the designated timestamp; the others have one type each. */
static const unsigned TYPES[COLUMNS] = {QWP_TYPE_BOOLEAN, QWP_TYPE_LONG,      QWP_TYPE_DOUBLE,
                                        QWP_TYPE_SYMBOL,  QWP_TYPE_VARCHAR,   QWP_TYPE_TIMESTAMP,
                                        QWP_TYPE_TIMESTAMP_NANOS, QWP_TYPE_BOOLEAN, 0};

struct cell {
  bool set;
  uint64_t number; /* also bool, double bits, symbol id */
  char text[40];
};

struct model_table {
  unsigned order[COLUMNS]; /* known columns, first use first */
  unsigned known;
  unsigned designated_type;
  unsigned rows;
  struct cell cells[ROWS][COLUMNS];
};

struct model {
  unsigned order[TABLES]; /* with rows, by their first row since the last clear */
  unsigned known;
  struct model_table tables[TABLES];
  char symbols[TEXTS][40];
  unsigned symbol_count;
};

/* ---- the model's encoder ------------------------------------------------------------ */

struct writer {
  uint8_t data[1 << 17];
  size_t len;
};

static void w8(struct writer *w, unsigned v) {
  assert_true(w->len < sizeof w->data);
  w->data[w->len++] = (uint8_t)v;
}
static void wle(struct writer *w, uint64_t v, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++) w8(w, (unsigned)(v >> (8 * i)) & 0xFF);
}
static void wvar(struct writer *w, uint64_t v) {
  for (; v > 127; v >>= 7) w8(w, (unsigned)(v & 127) | 128);
  w8(w, (unsigned)v);
}
static void wtext(struct writer *w, const char *text) {
  for (; *text; text++) w8(w, (unsigned char)*text);
}
static void wname(struct writer *w, const char *text) {
  wvar(w, strlen(text));
  wtext(w, text);
}
static void wbit(struct writer *w, unsigned index, bool bit) {
  if (index % 8 == 0) w8(w, 0);
  w->data[w->len - 1] |= (uint8_t)(bit << index % 8);
}

static unsigned type_of(const struct model_table *t, unsigned col) {
  return col == DESIGNATED ? t->designated_type : TYPES[col];
}

static void column_name(char out[16], unsigned col) {
  if (col == DESIGNATED) out[0] = '\0';
  else snprintf(out, 16, "column%u", col);
}

static bool is_time(unsigned type) { return type == QWP_TYPE_TIMESTAMP || type == QWP_TYPE_TIMESTAMP_NANOS; }

static uint64_t sentinel_of(unsigned type) {
  if (type == QWP_TYPE_BOOLEAN) return 0;
  return type == QWP_TYPE_DOUBLE ? UINT64_C(0x7FF8000000000000) : UINT64_C(0x8000000000000000);
}

static void model_column(struct writer *w, const struct model_table *t, unsigned col, const struct qwp_encoding *e) {
  unsigned type = type_of(t, col);
  bool text = type == QWP_TYPE_VARCHAR, symbol = type == QWP_TYPE_SYMBOL;
  bool sentinel = e->nulls[type] == QWP_NULL_SENTINEL && !text && !symbol;
  unsigned nulls = 0;
  for (unsigned r = 0; r < t->rows; r++) nulls += !t->cells[r][col].set;
  w8(w, nulls && !sentinel);
  if (nulls && !sentinel)
    for (unsigned r = 0; r < t->rows; r++) wbit(w, r, !t->cells[r][col].set);
  if (is_time(type) && (e->flags & QWP_FLAG_GORILLA)) w8(w, 0);
  uint64_t offset = 0;
  if (text) wle(w, 0, 4);
  for (unsigned r = 0, bit = 0; r < t->rows; r++) {
    const struct cell *c = &t->cells[r][col];
    if (!c->set && !sentinel) continue;
    uint64_t number = c->set ? c->number : sentinel_of(type);
    if (text) wle(w, offset += strlen(c->text), 4);
    else if (symbol) wvar(w, number);
    else if (type == QWP_TYPE_BOOLEAN) wbit(w, bit++, number != 0);
    else wle(w, number, 8);
  }
  for (unsigned r = 0; text && r < t->rows; r++)
    if (t->cells[r][col].set) wtext(w, t->cells[r][col].text);
}

static void model_message(struct writer *w, const struct model *m, const struct qwp_encoding *e) {
  w->len = 0;
  wtext(w, "QWP1");
  w8(w, 1);
  w8(w, e->flags);
  wle(w, m->known, 2);
  wle(w, 0, 4);
  wvar(w, e->dict_start);
  wvar(w, e->dict_end - e->dict_start);
  for (size_t i = e->dict_start; i < e->dict_end; i++) wname(w, m->symbols[i]);
  for (unsigned i = 0; i < m->known; i++) {
    const struct model_table *t = &m->tables[m->order[i]];
    char name[16];
    snprintf(name, sizeof name, "table%u", m->order[i]);
    wname(w, name);
    wvar(w, t->rows);
    wvar(w, t->known);
    for (unsigned c = 0; c < t->known; c++) {
      column_name(name, t->order[c]);
      wname(w, name);
      w8(w, type_of(t, t->order[c]));
    }
    for (unsigned c = 0; c < t->known; c++) model_column(w, t, t->order[c], e);
  }
  uint64_t payload = w->len - 12;
  for (unsigned i = 0; i < 4; i++) w->data[8 + i] = (uint8_t)(payload >> (8 * i));
}

/* ---- a random life -------------------------------------------------------------------- */

static uint32_t seed;

static unsigned random_below(unsigned n) {
  seed ^= seed << 13;
  seed ^= seed >> 17;
  seed ^= seed << 5;
  return seed % n;
}

static uint64_t model_symbol(struct model *m, const char *text) {
  for (unsigned i = 0; i < m->symbol_count; i++)
    if (strcmp(m->symbols[i], text) == 0) return i;
  strcpy(m->symbols[m->symbol_count], text);
  return m->symbol_count++;
}

static enum qwp_status set_cell(struct rows_kit *k, unsigned col, const struct cell *c) {
  char name[16];
  column_name(name, col);
  double d;
  memcpy(&d, &c->number, sizeof d);
  switch (TYPES[col]) {
    case QWP_TYPE_BOOLEAN: return kit_bool(k, name, c->number != 0);
    case QWP_TYPE_LONG: return kit_long(k, name, (int64_t)c->number);
    case QWP_TYPE_DOUBLE: return kit_double(k, name, d);
    case QWP_TYPE_SYMBOL: return kit_symbol(k, name, c->text);
    case QWP_TYPE_VARCHAR: return kit_varchar(k, name, c->text);
    default: return kit_timestamp(k, name, TYPES[col], (int64_t)c->number);
  }
}

static struct cell random_cell(struct model *m, unsigned col) {
  struct cell c = {.set = true, .number = (uint64_t)random_below(UINT32_MAX) << 31 ^ random_below(UINT32_MAX)};
  if (TYPES[col] == QWP_TYPE_BOOLEAN) c.number &= 1;
  if (TYPES[col] == QWP_TYPE_VARCHAR)
    snprintf(c.text, sizeof c.text, "%.*s", (int)random_below(30), "words of some length, or none");
  if (TYPES[col] == QWP_TYPE_SYMBOL) {
    snprintf(c.text, sizeof c.text, "symbol%u", random_below(TEXTS - 1));
    c.number = model_symbol(m, c.text);
  }
  return c;
}

static void know(unsigned *order, unsigned *known, unsigned what) {
  for (unsigned i = 0; i < *known; i++)
    if (order[i] == what) return;
  order[(*known)++] = what;
}

static void expect_message(struct rows_kit *k, const struct model *m, const struct qwp_encoding *e, struct writer *w) {
  struct qwp_bytes out;
  kit_encode(k, e, &out);
  model_message(w, m, e);
  assert_int_equal(out.len, w->len);
  assert_memory_equal(out.data, w->data, w->len);
  qwp_bytes_free(&out);
}

/* The finished rows go, the stamped one stays, and is the first of the next message. symbols_before: when it began. */
static void flush_before(struct rows_kit *k, struct model *m, unsigned symbols_before, struct writer *w) {
  struct qwp_encoding e;
  qwp_encoding_default(&e, k->batch, k->symbols);
  assert_true(e.dict_end <= symbols_before); /* those of the open row go with it */
  expect_message(k, m, &e, w);
  qwp_symbols_mark_sent(k->symbols, e.dict_end);
  qwp_batch_clear_finished(k->batch);
  m->known = 0;
  for (unsigned t = 0; t < TABLES; t++) m->tables[t].rows = 0;
}

/* One row with a random set of columns in nearly constant order; one in six is cancelled. */
static void random_row(struct rows_kit *k, struct model *m, unsigned unit, struct writer *w) {
  unsigned which = random_below(TABLES);
  struct model_table *t = &m->tables[which];
  if (t->rows == ROWS) return;
  struct model_table after = *t;
  struct cell *row = after.cells[after.rows];
  unsigned symbols_before = m->symbol_count;
  memset(row, 0, COLUMNS * sizeof *row);
  char name[16];
  snprintf(name, sizeof name, "table%u", which);
  KIT_OK(kit_table(k, name));
  unsigned rotate = random_below(8) ? 0 : random_below(DESIGNATED), sparse = random_below(4);
  bool named = false;
  for (unsigned i = 0; i < DESIGNATED; i++) {
    unsigned col = (i + rotate) % DESIGNATED;
    if (random_below(4) < sparse) continue;
    named = true;
    know(after.order, &after.known, col);
    column_name(name, col);
    if (random_below(10) == 0) {
      KIT_OK(kit_null(k, name, TYPES[col]));
      continue;
    }
    row[col] = random_cell(m, col);
    KIT_OK(set_cell(k, col, &row[col]));
    struct cell second = row[col];
    if (random_below(10) == 0) KIT_OK(set_cell(k, col, &second));
  }
  if (random_below(6) == 0) {
    qwp_batch_cancel(k->batch);
    m->symbol_count = symbols_before;
    return;
  }
  if (random_below(8) == 0) { /* another one follows */
    KIT_OK(qwp_batch_stamp(k->batch, unit, 7, &k->err));
    after.designated_type = unit;
  }
  if (named && random_below(5) == 0) {
    KIT_OK(qwp_batch_stamp(k->batch, 0, 0, &k->err));
  } else {
    know(after.order, &after.known, DESIGNATED);
    after.designated_type = unit;
    row[DESIGNATED] = (struct cell){.set = true, .number = random_below(UINT32_MAX)};
    KIT_OK(qwp_batch_stamp(k->batch, unit, (int64_t)row[DESIGNATED].number, &k->err));
  }
  size_t alone = qwp_batch_bytes_of_row(k->batch);
  if (random_below(25) == 0) {
    t->designated_type = after.designated_type; /* of a column that has no value yet */
    flush_before(k, m, symbols_before, w);
    memmove(after.cells[0], row, COLUMNS * sizeof *row);
    after.rows = 0;
    assert_int_equal(qwp_batch_bytes_with_row(k->batch), alone);
  }
  size_t foretold = qwp_batch_bytes_with_row(k->batch);
  qwp_batch_end_row(k->batch);
  assert_int_equal(qwp_batch_bytes(k->batch), foretold);
  after.rows++;
  *t = after;
  know(m->order, &m->known, which);
}

/* The size of the blocks is that of a message with neither dictionary entries nor Gorilla flag. */
static void expect_batch_bytes(struct rows_kit *k, const struct model *m, struct writer *w) {
  struct qwp_encoding e;
  qwp_encoding_default(&e, k->batch, k->symbols);
  e.dict_start = e.dict_end;
  model_message(w, m, &e);
  size_t section = qwp_varint_size(e.dict_start) + 1;
  assert_int_equal(qwp_batch_bytes(k->batch), w->len - QWP_HEADER_BYTES - section);
}

static void one_life(uint32_t start, struct model *m, struct writer *w) {
  struct rows_kit k;
  struct qwp_encoding e;
  seed = start;
  memset(m, 0, sizeof *m);
  kit_init(&k);
  for (unsigned batch = 0; batch < 6; batch++) {
    unsigned unit = random_below(2) ? QWP_TYPE_TIMESTAMP : QWP_TYPE_TIMESTAMP_NANOS;
    for (unsigned rows = random_below(2 * ROWS); rows > 0; rows--) {
      random_row(&k, m, unit, w);
      if (rows % 16 == 0) expect_batch_bytes(&k, m, w);
    }
    assert_int_equal(qwp_symbols_count(k.symbols), m->symbol_count);
    expect_batch_bytes(&k, m, w);
    qwp_encoding_default(&e, k.batch, k.symbols);
    expect_message(&k, m, &e, w);
    qwp_encoding_dense(&e, k.batch);
    expect_message(&k, m, &e, w);
    e.flags = QWP_FLAG_DELTA | QWP_FLAG_GORILLA | QWP_FLAG_DEFER;
    for (unsigned code = 0; code < QWP_TYPE_CODES; code++) e.nulls[code] = random_below(2);
    expect_message(&k, m, &e, w);
    qwp_symbols_mark_sent(k.symbols, qwp_symbols_count(k.symbols));
    qwp_batch_clear(k.batch);
    m->known = 0;
    for (unsigned t = 0; t < TABLES; t++) m->tables[t].rows = 0;
  }
  kit_free(&k);
}

static void random_lives(void **state) {
  (void)state;
  struct model *m = malloc(sizeof *m);
  struct writer *w = malloc(sizeof *w);
  assert_true(m && w);
  for (uint32_t start = 1; start <= 60; start++) {
    print_message("%s%u", start == 1 ? "seeds " : " ", (unsigned)start);
    one_life(start, m, w);
  }
  print_message("\n");
  free(m);
  free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_lives)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
