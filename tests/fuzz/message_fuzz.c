/* The message decoder and the tables behind it, from any bytes.
 *
 * Input: one byte of switches (bit 0: a dictionary gap is an error), then messages, each behind a
 * length in two bytes, little-endian; all on one connection. Every message is taken at all three
 * levels of row keeping, which must agree: the same answer, the same text at the same offset, the
 * same rows counted. A refusal has a status, a text, and an offset inside the message; every row
 * that was kept can be read, text by text. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cells.h"
#include "core/decode.h"
#include "core/dict.h"
#include "core/tables.h"
#include "qwp/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LEVELS 3
#define MAX_MESSAGES 16

static void require(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "does not hold: %s\n", what);
  abort();
}

struct taker {
  struct mock_decoder *decoder;
  struct mock_dict *dict;
  struct mock_tables *tables;
  struct mock_pending *pending;
  struct mock_message msg;
  struct mock_decode_error err;
  size_t message_n, violations, rows;
};

static bool on_block(void *ctx, const struct mock_block *block, struct mock_decode_error *err) {
  struct taker *t = ctx;
  return mock_tables_append(t->pending, block, t->dict, 1, 0, INT64_C(1800000000000000000), err);
}

static void on_violation(void *ctx, const char *requirement, size_t offset, const char *text) {
  struct taker *t = ctx;
  t->violations++;
  require(offset <= t->message_n, "a violation lies in the message");
  require(strlen(requirement) < 24 && text[0], "a violation has an id and a text");
}

static void open_taker(struct taker *t, enum mock_rows level) {
  *t = (struct taker){.decoder = mock_decoder_new(), .dict = mock_dict_new(), .tables = mock_tables_new(level)};
  t->pending = mock_pending_new(t->tables);
  mock_pending_limit_tables(t->pending, 8);
}

static void close_taker(struct taker *t) {
  mock_pending_del(t->pending);
  mock_tables_del(t->tables);
  mock_dict_del(t->dict);
  mock_decoder_del(t->decoder);
}

static bool take(struct taker *t, const struct mock_limits *limits, const uint8_t *p, size_t n) {
  const struct mock_decode_sink sink = {.ctx = t, .on_block = on_block, .on_violation = on_violation};
  t->err = (struct mock_decode_error){0};
  t->message_n = n;
  const bool ok = mock_decode(t->decoder, t->dict, limits, p, n, &sink, &t->msg, &t->err);
  if (!ok) {
    require(t->err.status != QWP_ST_OK && t->err.text[0] && t->err.offset <= n, "a refusal is told");
    mock_tables_rollback(t->pending);
    require(mock_tables_commit(t->pending, NULL, NULL) == 0, "a rollback leaves nothing");
  } else if (!(t->msg.flags & QWP_FLAG_DEFER)) {
    t->rows += mock_tables_commit(t->pending, NULL, NULL);
  }
  return ok;
}

static void require_agreement(const struct taker *a, const struct taker *b) {
  require(strcmp(a->err.text, b->err.text) == 0 && a->err.status == b->err.status && a->err.offset == b->err.offset,
          "the same refusal at every level");
  require(a->violations == b->violations, "the same violations at every level");
  require(a->rows == b->rows, "the same number of rows at every level");
  require(mock_table_count(a->tables) == mock_table_count(b->tables), "the same tables at every level");
}

/* Touches all that the value points to. */
static uint64_t sum_of(const struct mock_value *v) {
  uint64_t sum = 0;
  if (v->null) return 0;
  if (mock_cell_is_text(v->type))
    for (size_t k = 0; k < v->as.text.n; k++) sum += (uint8_t)v->as.text.p[k];
  if (v->type != QWP_TYPE_DOUBLE_ARRAY) return sum;
  const struct mock_array *a = v->as.array;
  size_t product = 1;
  for (unsigned k = 0; k < a->dims; k++) product *= a->lengths[k];
  require(a->dims >= 1 && a->dims <= MOCK_MAX_ARRAY_DIMS && product == a->n, "an array is as long as its lengths say");
  for (size_t k = 0; k < a->n; k++) sum += a->data[k] > 0;
  return sum;
}

static void read_all_rows(const struct taker *t) {
  static struct mock_value v[QWP_MAX_COLUMNS];
  size_t rows = 0;
  uint64_t sum = 0;
  for (size_t table = 0; table < mock_table_count(t->tables); table++) {
    for (size_t row = 0; mock_table_row(t->tables, table, row, v, NULL, NULL); row++, rows++)
      for (size_t i = 0; i < mock_table_columns(t->tables, table); i++) sum += sum_of(&v[i]);
  }
  require(rows == t->rows, "every row that was counted can be read");
  require(sum != UINT64_MAX, "texts and arrays are readable");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  const struct mock_limits limits = {
    .max_rows = 500, .max_columns = QWP_MAX_COLUMNS, .max_symbols = 300, .gap_is_error = data[0] & 1};
  struct taker takers[LEVELS];
  for (size_t i = 0; i < LEVELS; i++) open_taker(&takers[i], (enum mock_rows)i);

  const uint8_t *p = data + 1, *end = data + size;
  for (unsigned messages = 0; messages < MAX_MESSAGES && end - p >= 2; messages++) {
    size_t n = (size_t)p[0] | (size_t)p[1] << 8;
    p += 2;
    if (n > (size_t)(end - p)) n = (size_t)(end - p);
    uint8_t *exact = malloc(n ? n : 1); /* so that a sanitizer sees a read beyond */
    if (!exact) abort();
    if (n > 0) memcpy(exact, p, n);
    for (size_t i = 0; i < LEVELS; i++) take(&takers[i], &limits, exact, n);
    free(exact);
    for (size_t i = 1; i < LEVELS; i++) require_agreement(&takers[0], &takers[i]);
    p += n;
  }

  read_all_rows(&takers[MOCK_ROWS_FULL]);
  const struct mock_tables *full = takers[MOCK_ROWS_FULL].tables, *digest = takers[MOCK_ROWS_DIGEST].tables;
  require(mock_tables_unique(full) == mock_tables_unique(digest), "ids are counted alike");
  require(mock_tables_doubled(full) == mock_tables_doubled(digest), "doubled ids are counted alike");
  for (size_t i = 0; i < LEVELS; i++) close_taker(&takers[i]);
  return 0;
}
