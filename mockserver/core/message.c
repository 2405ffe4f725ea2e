/* message - a binary message of an ingress connection (declared in connection.h).
 *
 * Every one takes the next sequence number, from 0, whatever becomes of it [SEQ-001].
 * After a refusal all later ones are consumed silently [RESP-ERR-003].
 */
#include <stdio.h>
#include <string.h>

#include "core/connection.h"
#include "core/hash.h"
#include "core/reader.h"
#include "qwp/wire.h"

/* ---- answers -------------------------------------------------------------------- */

/* An answer enters `out`: now it is said. */
static void say(struct mock_conn *c, const uint8_t *p, const struct mock_answer *a) {
  struct mock *m = c->m;
  struct mock_conn_facts *facts = &c->record->facts;
  struct mock_journal_place at;
  bool ok = a->status == QWP_ST_OK;
  mock_out_put(&c->out, p, a->n);
  if (ok) {
    m->facts.oks++;
    facts->oks++;
    if (a->seq > facts->last_ok) facts->last_ok = a->seq;
  } else {
    m->facts.errors++;
    facts->errors++;
  }
  mock_conn_place(c, &at);
  if (!mock_journal_begin(&m->journal, &at, "reply", true)) return;
  mock_journal_string(&m->journal, "kind", ok ? "ok" : "error");
  mock_journal_int(&m->journal, "seq", a->seq);
  if (ok) mock_journal_int(&m->journal, "tables", (int64_t)a->tables);
  else mock_journal_int(&m->journal, "status", a->status);
  mock_journal_end(&m->journal);
}

void mock_conn_release_answers(struct mock_conn *c, int64_t now_ns) {
  const struct mock_answer *a;
  const uint8_t *p;
  while ((a = mock_answers_due(&c->answers, now_ns, &p)) != NULL) {
    if (!c->mute) say(c, p, a);
    mock_answers_pop(&c->answers);
  }
}

static int64_t leaves_at(const struct mock_conn *c) {
  int64_t delay = c->entry ? c->entry->ack_delay_ns : 0;
  if (delay <= 0) return c->m->now_ns;
  return delay > INT64_MAX - 1 - c->m->now_ns ? INT64_MAX - 1 : c->m->now_ns + delay;
}

/* The answer whose bytes were appended to the queue since `before`. */
static void queue_answer(struct mock_conn *c, size_t before, unsigned status, int64_t seq, size_t tables,
                         int64_t due_ns) {
  size_t n = c->answers.bytes.n - before;
  struct mock_answer a = {.due_ns = due_ns, .n = n, .seq = seq, .status = status, .tables = tables};
  if (!mock_answers_add(&c->answers, a)) c->out.failed = true; /* the flush will see it */
}

/* K single OKs leave in one write of their own. */
static void burst(struct mock_conn *c) {
  mock_conn_flush(c);
  if (c->dead) return;
  mock_answers_release(&c->answers, leaves_at(c));
  mock_conn_release_answers(c, c->m->now_ns);
  mock_conn_flush(c);
}

void mock_conn_ok(struct mock_conn *c, int64_t seq, bool with_tables) {
  if (c->mute) return;
  bool collect = c->acks.mode == MOCK_ACK_BURST;
  size_t tables = with_tables ? c->acks.table_count : 0;
  size_t before = c->answers.bytes.n;
  mock_reply_ok(&c->answers.bytes, seq, c->acks.tables, tables);
  queue_answer(c, before, QWP_ST_OK, seq, tables, collect ? INT64_MAX : leaves_at(c));
  if (with_tables) mock_acks_sent(&c->acks);
  if (!collect) mock_conn_release_answers(c, c->m->now_ns);
  else if (c->answers.count >= (size_t)(c->acks.value > 0 ? c->acks.value : 1)) burst(c);
}

void mock_conn_ack(struct mock_conn *c, enum mock_ack_moment moment) {
  int64_t seq;
  if (c->reader || c->stage != MOCK_STAGE_WS) return;
  if (mock_acks_due(&c->acks, moment, &seq)) mock_conn_ok(c, seq, mock_acks_names_tables(&c->acks));
  bool rest = moment == MOCK_ACK_AT_PING || moment == MOCK_ACK_AT_END;
  if (!c->dead && rest && c->acks.mode == MOCK_ACK_BURST && c->answers.count > 0) burst(c);
}

/* ---- refusal -------------------------------------------------------------------- */

void mock_conn_refuse(struct mock_conn *c, int64_t seq, unsigned status, const char *text) {
  size_t gone = mock_tables_rollback(c->pending);
  c->m->facts.rolled_back_rows += (int64_t)gone;
  c->group_open = false;
  mock_conn_ack(c, MOCK_ACK_AT_END); /* what was committed before is acknowledged first */
  if (c->dead) return;
  c->failed = !(c->entry && c->entry->process_after_error);
  if (c->mute) return;

  size_t before = c->answers.bytes.n;
  mock_reply_error(&c->answers.bytes, status, seq, text, strlen(text));
  queue_answer(c, before, status, seq, 0, leaves_at(c));
  mock_conn_release_answers(c, c->m->now_ns);
}

/* ---- decoding ------------------------------------------------------------------- */

struct work { /* one message being decoded */
  struct mock_conn *c;
  const uint8_t *message;
  size_t message_n;
  int64_t seq;
  int64_t rows;
  bool broke_a_rule;
  char rule[200]; /* the first violation, for a strict refusal */
};

static int64_t wall(struct mock *m) {
  if (!m->wall_known) m->wall_ns = m->options.clock.wall_ns(m->options.clock.ctx);
  m->wall_known = true;
  return m->wall_ns;
}

static bool on_block(void *ctx, const struct mock_block *block, struct mock_decode_error *err) {
  struct work *w = ctx;
  struct mock_conn *c = w->c;
  /* Rows that are not kept by value need no time. */
  const int64_t now_ns = c->m->options.rows == MOCK_ROWS_FULL ? wall(c->m) : 0;
  if (!mock_tables_append(c->pending, block, c->dict, c->number, w->seq, now_ns, err)) return false;
  w->rows += (int64_t)block->rows;
  mock_repeat_learn(&c->repeat, c->pending, w->message, w->message_n, block);
  return true;
}

static void on_violation(void *ctx, const char *requirement, size_t offset, const char *text) {
  struct work *w = ctx;
  mock_conn_violation(w->c, requirement, w->seq, (int64_t)offset, text);
  if (w->broke_a_rule) return;
  w->broke_a_rule = true;
  snprintf(w->rule, sizeof w->rule, "%s: %s", requirement, text);
}

static bool decode(struct work *w, const uint8_t *p, size_t n, struct mock_message *msg,
                   struct mock_decode_error *err) {
  struct mock *m = w->c->m;
  *msg = (struct mock_message){0};
  err->text[0] = '\0';
  if (n == 0) return true; /* an empty commit */
  struct mock_decode_sink sink = {.ctx = w, .on_block = on_block, .on_violation = on_violation};
  if (!mock_decode(m->decoder, w->c->dict, &m->limits, p, n, &sink, msg, err)) return false;
  if (!w->broke_a_rule || !m->options.script || !m->options.script->strict_refuse) return true;
  err->status = QWP_ST_PARSE_ERROR;
  memcpy(err->text, w->rule, sizeof err->text < sizeof w->rule ? sizeof err->text : sizeof w->rule);
  err->text[sizeof err->text - 1] = '\0';
  return false;
}

/* A delta section with entries and no table: told from the first bytes, for frames that
 * are never decoded must be counted too. */
static bool is_catchup(const uint8_t *p, size_t n) {
  if (n < QWP_HEADER_BYTES + 2 || !(p[QWP_HEADER_OFF_FLAGS] & QWP_FLAG_DELTA)) return false;
  if (p[QWP_HEADER_OFF_TABLES] || p[QWP_HEADER_OFF_TABLES + 1]) return false;
  size_t at = QWP_HEADER_BYTES;
  while (at < n && (p[at] & 0x80)) at++; /* behind the start id */
  return at + 1 < n && p[at + 1] != 0;   /* the count */
}

MOCK_RARE static void write_frame(struct mock_conn *c, const uint8_t *p, size_t n, int64_t seq, bool catchup,
                                  int64_t rows, const char *fate) {
  struct mock_journal *j = &c->m->journal;
  struct mock_journal_place at;
  mock_conn_place(c, &at);
  if (!mock_journal_begin(j, &at, "frame", true)) return;
  bool headed = n >= QWP_HEADER_BYTES;
  mock_journal_int(j, "seq", seq);
  mock_journal_int(j, "flags", headed ? p[QWP_HEADER_OFF_FLAGS] : 0);
  mock_journal_int(j, "tables", headed ? p[QWP_HEADER_OFF_TABLES] | p[QWP_HEADER_OFF_TABLES + 1] << 8 : 0);
  mock_journal_int(j, "rows", rows);
  mock_journal_int(j, "bytes", (int64_t)n);
  mock_journal_hash(j, "hash", mock_hash_bytes(p, n));
  if (catchup) mock_journal_int(j, "catchup", 1);
  mock_journal_string(j, "fate", fate);
  if (j->hex) mock_journal_bytes(j, "hex", p, n);
  mock_journal_end(j);
}

MOCK_EVERY void journal_frame(struct mock_conn *c, const uint8_t *p, size_t n, int64_t seq, bool catchup, int64_t rows,
                              const char *fate) {
  if (c->m->journal.level == MOCK_JOURNAL_FULL) write_frame(c, p, n, seq, catchup, rows, fate);
}

/* ---- commit --------------------------------------------------------------------- */

static void note_table(void *arg, const char *name, size_t n, int64_t seq_txn) {
  struct mock_conn *c = arg;
  if (!mock_acks_table(&c->acks, name, n, seq_txn)) c->out.failed = true;
}

/* These rows became visible, and all that was acceptable up to seq is done. */
static enum mock_ack_moment committed(struct mock_conn *c, int64_t seq, size_t rows) {
  struct mock *m = c->m;
  bool closes_group = c->group_open;
  c->group_open = false;
  c->acks.done = seq;
  m->facts.rows += (int64_t)rows;
  c->record->facts.rows += (int64_t)rows;
  if (rows > 0 || closes_group) m->facts.commits++;
  return closes_group ? MOCK_ACK_AT_GROUP : MOCK_ACK_AT_MESSAGE;
}

/* Says nothing yet: the journal has the frame first. false: nothing became visible, *err tells. */
static bool commit(struct mock_conn *c, int64_t seq, enum mock_ack_moment *moment, struct mock_decode_error *err) {
  size_t rows = mock_tables_commit(c->pending, note_table, c);
  if (rows == MOCK_COMMIT_OUT_OF_MEMORY) return mock_refuse(err, QWP_ST_INTERNAL_ERROR, 0, "out of memory");
  *moment = committed(c, seq, rows);
  return true;
}

/* A deferred message gets no OK, unless scripted. */
static void leave_group_open(struct mock_conn *c, int64_t seq) {
  c->group_open = true;
  if (!c->entry || !c->entry->ack_deferred) return;
  c->acks.done = seq;
  mock_conn_ack(c, MOCK_ACK_AT_MESSAGE);
}

/* Only a message without a flaw, of one block and no dictionary entry, may be repeated without a look at it. */
static bool plain_and_clean(const struct work *w, const struct mock_message *msg) {
  return !w->broke_a_rule && msg->table_count == 1 && msg->dict_count == 0;
}

/* The long way, for every message. */
static void judge(struct mock_conn *c, const uint8_t *p, size_t n, int64_t seq, bool catchup) {
  struct work w; /* its text, and that of err, are not worth clearing for every message */
  struct mock_message msg;
  struct mock_decode_error err;
  w.c = c;
  w.message = p;
  w.message_n = n;
  w.seq = seq;
  w.rows = 0;
  w.broke_a_rule = false;
  bool deferred = n >= QWP_HEADER_BYTES && (p[QWP_HEADER_OFF_FLAGS] & QWP_FLAG_DEFER);

  enum mock_ack_moment moment = MOCK_ACK_AT_MESSAGE;
  bool good = decode(&w, p, n, &msg, &err) && (deferred || commit(c, seq, &moment, &err));
  if (!good || deferred || !plain_and_clean(&w, &msg)) mock_repeat_forget(&c->repeat);
  c->record->facts.dict = (int64_t)mock_dict_count(c->dict);
  journal_frame(c, p, n, seq, catchup, w.rows, !good ? "refused" : deferred ? "deferred" : "ok");
  if (!good) mock_conn_refuse(c, seq, err.status, err.text);
  else if (deferred) leave_group_open(c, seq);
  else mock_conn_ack(c, moment);
}

/* The short way, for one that repeats an earlier one but for its values. False: it does not. */
static bool repeat(struct mock_conn *c, const uint8_t *p, size_t n, int64_t seq) {
  size_t rows = mock_repeat_commit(&c->repeat, c->pending, p, n, note_table, c);
  if (rows == 0) return false;
  enum mock_ack_moment moment = committed(c, seq, rows);
  journal_frame(c, p, n, seq, false, (int64_t)rows, "ok");
  if (!mock_acks_gather(&c->acks, moment)) mock_conn_ack(c, moment);
  return true;
}

/* A frame that is sent again is the same to the byte [SEND-003]; told by hashes, as no payload is kept. Only where
 * rows are kept too: in no other run is a look at each message's bytes the smaller part of the work. */
static bool repeated(struct mock *m, const uint8_t *p, size_t n) {
  return m->options.rows == MOCK_ROWS_FULL && mock_conn_seen_before(&m->payloads, mock_hash_bytes(p, n));
}

static void count(struct mock_conn *c, const uint8_t *p, size_t n, bool catchup) {
  struct mock_facts *all = &c->m->facts;
  struct mock_conn_facts *own = &c->record->facts;
  own->next_seq = c->next_seq;
  all->bytes += (int64_t)n;
  c->director.frames++;
  if (catchup) {
    all->catchup++;
    own->catchup++;
    c->director.catchup++;
  } else {
    all->frames++;
    own->frames++;
    c->director.data++;
    all->repeated += repeated(c->m, p, n);
  }
}

/* A rule that uses the frame up ends its story before it is decoded; the journal has the frame first. */
static bool used_up(struct mock_conn *c, const uint8_t *p, size_t n, int64_t seq, bool catchup) {
  if (mock_director_idle(&c->director)) return false;
  if (mock_director_expects(&c->director, MOCK_AT_FRAME, catchup, c->m->now_ns, mock_action_uses_up))
    journal_frame(c, p, n, seq, catchup, 0, "unprocessed");
  return mock_conn_fire(c, MOCK_AT_FRAME, catchup, seq);
}

void mock_conn_message(struct mock_conn *c, const uint8_t *p, size_t n) {
  int64_t seq = c->next_seq++, lie;
  bool catchup = is_catchup(p, n);
  count(c, p, n, catchup);
  if (c->cap > 0 && n > (uint64_t)c->cap)
    mock_conn_violation(c, "CAP-001", seq, 0, "message larger than the advertised cap");
  if (used_up(c, p, n, seq, catchup)) return;

  if (c->failed) {
    c->m->facts.dropped++;
    journal_frame(c, p, n, seq, catchup, 0, "dropped");
    return;
  }
  if (!repeat(c, p, n, seq)) judge(c, p, n, seq, catchup);
  if (!c->dead && mock_acks_lie(&c->acks, &lie)) mock_conn_ok(c, lie, false);
}
