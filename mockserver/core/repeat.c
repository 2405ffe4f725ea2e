#include "core/repeat.h"

#include <string.h>

#include "core/reader.h"
#include "core/tables_internal.h"
#include "qwp/wire.h"

/* ---- remembering ---------------------------------------------------------------------- */

/* All columns plain, and their values all that follows the head, with a null flag between them. */
static bool is_repeatable(const struct mock_plan *plan, const struct mock_block *b, const uint8_t *m, size_t n) {
  if (!mock_plan_holds(plan, b->schema) || !plan->plain || b->rows == 0 || b->column_count == 0) return false;
  const uint8_t *next = b->columns[0].values;
  for (size_t i = 0; i < b->column_count; i++) {
    const struct mock_column *c = &b->columns[i];
    if (c->nulls || c->values != next) return false;
    next = c->values + c->values_n + 1;
  }
  return next == m + n + 1;
}

void mock_repeat_learn(struct mock_repeat *r, const struct mock_pending *p, const uint8_t *m, size_t n,
                       const struct mock_block *block) {
  r->plan = NULL;
  if (p->level == MOCK_ROWS_FULL) return;
  const struct mock_plan *plan = &p->plans[block->schema % MOCK_PLANS];
  if (!is_repeatable(plan, block, m, n)) return;
  const size_t head_n = (size_t)(block->columns[0].values - m);
  if (head_n > sizeof r->head) return;
  memcpy(r->head, m, head_n);
  r->head_n = head_n;
  r->message_n = n;
  r->rows = block->rows;
  r->stride = block->rows * 8 + 1; /* values and a null flag */
  r->schema = block->schema;
  r->plan = plan;
}

/* ---- repeating ------------------------------------------------------------------------ */

MOCK_EVERY bool is_repetition(const struct mock_repeat *r, const struct mock_pending *p, const uint8_t *m, size_t n) {
  if (!r->plan || n != r->message_n || p->touched_count > 0) return false;
  if (!mock_plan_holds(r->plan, r->schema)) return false;
  if (!mock_same_bytes(m, r->head, r->head_n)) return false;
  for (size_t at = r->head_n + r->stride; at < n; at += r->stride)
    if (m[at - 1] != QWP_NULLS_NONE) return false;
  return true;
}

static void take_id(struct mock_tables *t, struct mock_table *table, int64_t id) {
  if (mock_id_set_add(&table->ids, id)) t->unique++;
  else t->doubled++;
}

/* The sum over the rows at `values`, and their ids into the table, for which room has been reserved. */
MOCK_EVERY uint64_t take_rows(const struct mock_repeat *r, struct mock_tables *t, const uint8_t *values) {
  const struct mock_plan *plan = r->plan;
  struct mock_table *table = plan->target->table;
  uint64_t digest = 0;
  for (size_t row = 0; row < r->rows; row++, values += 8) {
    uint64_t hash = 0;
    const uint8_t *value = values;
    for (size_t i = 0; i < plan->column_count; i++, value += r->stride) {
      const uint64_t v = mock_load64(value);
      hash += mock_plain_hash(&plan->columns[i], v);
      if (plan->columns[i].is_id && v != MOCK_LONG_NULL) take_id(t, table, (int64_t)v);
    }
    digest += mock_fold(hash);
  }
  return digest;
}

size_t mock_repeat_commit(const struct mock_repeat *r, struct mock_pending *p, const uint8_t *m, size_t n,
                          void (*each)(void *arg, const char *name, size_t n, int64_t seq_txn), void *arg) {
  if (!is_repetition(r, p, m, n)) return 0;
  struct mock_table *table = r->plan->target->table;
  if (p->level == MOCK_ROWS_DIGEST) {
    if (!mock_id_set_reserve(&table->ids, r->rows)) return 0; /* the long way fails and says so */
    table->digest += take_rows(r, p->tables, m + r->head_n);
  }
  table->rows += r->rows;
  table->seq_txn++;
  if (each) each(arg, table->name->p, table->name->n - 1, table->seq_txn);
  return r->rows;
}
