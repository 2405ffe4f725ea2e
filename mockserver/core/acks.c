#include "core/acks.h"

#include <stdlib.h>
#include <string.h>

void mock_acks_init(struct mock_acks *a, const struct mock_entry *e) {
  *a = (struct mock_acks){.mode = e ? e->ack : MOCK_ACK_SERVER, .value = e ? e->ack_value : 0, .done = -1, .told = -1};
}

void mock_acks_free(struct mock_acks *a) {
  free(a->tables);
  a->tables = NULL;
}

bool mock_acks_any_table(struct mock_acks *a, const char *name, size_t n, int64_t seq_txn) {
  for (size_t i = 0; i < a->table_count; i++) {
    struct mock_committed *t = &a->tables[i];
    if (t->name_n != n || memcmp(t->name, name, n) != 0) continue;
    t->seq_txn = seq_txn;
    return true;
  }
  if (a->table_count == a->table_cap) {
    size_t cap = a->table_cap ? 2 * a->table_cap : 4;
    struct mock_committed *p = realloc(a->tables, cap * sizeof *p);
    if (!p) return false;
    a->tables = p;
    a->table_cap = cap;
  }
  a->tables[a->table_count++] = (struct mock_committed){.name = name, .name_n = n, .seq_txn = seq_txn};
  return true;
}

static bool all_of_it(struct mock_acks *a, int64_t *seq) {
  if (a->done <= a->told) return false;
  *seq = a->told = a->done;
  return true;
}

static bool upto(struct mock_acks *a, int64_t *seq) {
  if (a->spoke || a->done < a->value) return false;
  a->spoke = true;
  *seq = a->told = a->value;
  return true;
}

/* As far behind as it is told to be; what is left is acknowledged to whoever asks, or says good-bye. */
static bool lagging(struct mock_acks *a, enum mock_ack_moment moment, int64_t *seq) {
  if (moment == MOCK_ACK_AT_PING || moment == MOCK_ACK_AT_END) return all_of_it(a, seq);
  if (moment == MOCK_ACK_AT_PASS || a->done < a->value || a->done - a->value <= a->told) return false;
  *seq = a->told = a->done - a->value;
  return true;
}

bool mock_acks_due(struct mock_acks *a, enum mock_ack_moment moment, int64_t *seq) {
  bool message = moment == MOCK_ACK_AT_MESSAGE || moment == MOCK_ACK_AT_GROUP;
  switch (a->mode) {
    case MOCK_ACK_HOLD: return false;
    case MOCK_ACK_UPTO: return upto(a, seq);
    case MOCK_ACK_LAG: return lagging(a, moment, seq);
    case MOCK_ACK_EACH:
    case MOCK_ACK_BURST: return message && all_of_it(a, seq);
    case MOCK_ACK_PER_READ: return (moment == MOCK_ACK_AT_PASS || moment == MOCK_ACK_AT_END) && all_of_it(a, seq);
    case MOCK_ACK_LIE: /* until the lie is told */
    case MOCK_ACK_SERVER: break;
  }
  if (moment == MOCK_ACK_AT_MESSAGE && a->done - a->told < MOCK_ACK_BATCH) return false;
  return all_of_it(a, seq);
}

void mock_acks_sent(struct mock_acks *a) { a->table_count = 0; }

bool mock_acks_release(struct mock_acks *a, int64_t *seq) {
  a->mode = MOCK_ACK_SERVER;
  return all_of_it(a, seq);
}
