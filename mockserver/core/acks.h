/* acks - when an OK is due, and for which sequence.
 *
 * Pure bookkeeping; it sends nothing. OKs are cumulative: done is the highest message
 * that was committed, told the highest that an OK has named [RESP-OK-006]. As the real
 * server: an OK is due once 8 messages are unacknowledged, at the end of a receive pass,
 * on Ping, on Close, before an error, and at once when a deferred group closes. The
 * scripted modes of enum mock_ack deviate from that on purpose.
 */
#ifndef MOCK_ACKS_H
#define MOCK_ACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"
#include "core/reply.h"
#include "core/script.h"

enum mock_ack_moment {
  MOCK_ACK_AT_MESSAGE, /* a message was committed */
  MOCK_ACK_AT_GROUP,   /* the same, and it closed a deferred group */
  MOCK_ACK_AT_PASS,    /* the receive pass is over */
  MOCK_ACK_AT_PING,
  MOCK_ACK_AT_END      /* Close, fatal Close, error, disconnect by us */
};

struct mock_acks {
  enum mock_ack mode;
  int64_t value;
  int64_t done, told; /* -1 = none yet */
  bool spoke;         /* UPTO and LIE: the one OK is out */
  struct mock_committed *tables; /* committed since the last OK, in order of first commit */
  size_t table_count, table_cap;
};

void mock_acks_init(struct mock_acks *a, const struct mock_entry *e); /* e NULL = as the server */
void mock_acks_free(struct mock_acks *a);

bool mock_acks_any_table(struct mock_acks *a, const char *name, size_t n, int64_t seq_txn); /* see mock_acks_table */

/* A table committed. The name is borrowed until the OK that names it, and must not change. false = out of
 * memory. */
static inline bool mock_acks_table(struct mock_acks *a, const char *name, size_t n, int64_t seq_txn) {
  /* Mostly it is the one that came last, and the very same string. */
  struct mock_committed *last = a->table_count > 0 ? &a->tables[a->table_count - 1] : NULL;
  if (!last || last->name != name || last->name_n != n) return mock_acks_any_table(a, name, n, seq_txn);
  last->seq_txn = seq_txn;
  return true;
}

/* true: an OK for *seq is due at this moment; it is then taken for told. The caller
 * sends it with a->tables and calls mock_acks_sent. */
bool mock_acks_due(struct mock_acks *a, enum mock_ack_moment moment, int64_t *seq);

/* Behind most messages nothing is due, and this tells it without a call: too few are unacknowledged. True:
 * mock_acks_due would say false. */
static inline bool mock_acks_gather(const struct mock_acks *a, enum mock_ack_moment moment) {
  return a->mode == MOCK_ACK_SERVER && moment == MOCK_ACK_AT_MESSAGE && a->done - a->told < MOCK_ACK_BATCH;
}

/* LIE: true once, after the first message whatever became of it. */
static inline bool mock_acks_lie(struct mock_acks *a, int64_t *seq) {
  if (a->mode != MOCK_ACK_LIE || a->spoke) return false;
  a->spoke = true;
  a->mode = MOCK_ACK_SERVER;
  *seq = a->value;
  return true;
}

void mock_acks_sent(struct mock_acks *a); /* forgets the tables */

/* Whether an OK carries the tables committed so far: one that lags behind them says nothing of them. */
static inline bool mock_acks_names_tables(const struct mock_acks *a) {
  return a->mode != MOCK_ACK_LAG || a->told == a->done;
}

/* Ends a hold, or any other mode: from now on as the server. true: OK *seq is due. */
bool mock_acks_release(struct mock_acks *a, int64_t *seq);

#endif
