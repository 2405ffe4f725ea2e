#include "core/connection.h"

#include <stdlib.h>
#include <string.h>

#include "core/reply.h"

/* ---- life ------------------------------------------------------------------------ */

struct mock_conn *mock_conn_new(struct mock *m, void *peer) {
  struct mock_conn *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->m = m;
  c->peer = peer;
  c->link = ++m->links;
  c->upgrade_at_ns = INT64_MAX;
  mock_pieces_init(&c->pieces, NULL);
  c->director.upgraded_ns = -1;
  mock_mask_keys_init(&c->mask_keys);
  c->mask_keys.over = m->options.replayed;
  c->next = m->live;
  if (m->live) m->live->prev = c;
  m->live = c;
  return c;
}

void mock_conn_del(struct mock_conn *c) {
  if (c->prev) c->prev->next = c->next;
  else c->m->live = c->next;
  if (c->next) c->next->prev = c->prev;
  if (c->pending) mock_pending_del(c->pending);
  if (c->dict) mock_dict_del(c->dict);
  mock_director_free(&c->director);
  mock_acks_free(&c->acks);
  mock_answers_free(&c->answers);
  mock_out_free(&c->head);
  mock_out_free(&c->rx);
  mock_out_free(&c->held);
  mock_out_free(&c->out);
  free(c);
}

void mock_conn_violation(struct mock_conn *c, const char *requirement, int64_t wire_seq, int64_t offset,
                         const char *text) {
  struct mock *m = c->m;
  mock_violations_add(&m->violations, requirement, c->reader ? 0 : c->number, wire_seq, offset, text);
  m->facts.violations++;
  struct mock_journal_place at;
  mock_conn_place(c, &at);
  if (!mock_journal_begin(&m->journal, &at, "violation", false)) return;
  mock_journal_string(&m->journal, "requirement", requirement);
  mock_journal_int(&m->journal, "seq", wire_seq);
  mock_journal_int(&m->journal, "offset", offset);
  mock_journal_string(&m->journal, "text", text);
  mock_journal_end(&m->journal);
}

/* Without memory it is not remembered, and passes for new. */
bool mock_conn_seen_before(struct mock_id_set *set, uint64_t bits) {
  return mock_id_set_reserve(set, 1) && !mock_id_set_add(set, (int64_t)bits);
}

/* ---- the end ---------------------------------------------------------------------- */

static void set_label(struct mock_conn *c, const char *label) {
  if (c->end[0]) return; /* the first cause counts */
  size_t n = strlen(label);
  if (n >= sizeof c->end) n = sizeof c->end - 1;
  memcpy(c->end, label, n);
  c->end[n] = '\0';
  if (c->record) memcpy(c->record->end, c->end, sizeof c->end);
}

void mock_conn_ended(struct mock_conn *c, const char *label) {
  struct mock *m = c->m;
  set_label(c, label);
  if (c->pending) m->facts.rolled_back_rows += (int64_t)mock_tables_rollback(c->pending);
  if (c->number == 0) m->facts.unmatched++;
  c->dead = true;
  struct mock_journal_place at;
  mock_conn_place(c, &at);
  if (!mock_journal_begin(&m->journal, &at, "end", false)) return;
  mock_journal_string(&m->journal, "how", c->end);
  mock_journal_int(&m->journal, "unmatched", c->number == 0);
  mock_journal_end(&m->journal);
}

void mock_conn_reset(struct mock_conn *c, const char *label) {
  struct mock_transport *t = &c->m->options.transport;
  mock_conn_flush(c); /* what was said before is on its way, as far as the socket takes it */
  if (c->dead) return;
  t->reset(t->ctx, c->peer);
  mock_conn_ended(c, label);
}

/* A delay does not outlive the connection. */
static void release_all(struct mock_conn *c) {
  mock_answers_release(&c->answers, c->m->now_ns);
  mock_conn_release_answers(c, INT64_MAX);
}

void mock_conn_close(struct mock_conn *c, const char *label) {
  set_label(c, label);
  release_all(c);
  c->stage = MOCK_STAGE_ENDING;
  mock_conn_flush(c);
}

void mock_conn_close_frame(struct mock_conn *c, unsigned code, const char *reason, const char *label) {
  struct mock *m = c->m;
  mock_conn_ack(c, MOCK_ACK_AT_END);
  if (c->dead) return;
  release_all(c); /* before the Close, not behind it */
  if (!c->mute) {
    mock_reply_close(&c->out, code, reason);
    struct mock_journal_place at;
    mock_conn_place(c, &at);
    if (mock_journal_begin(&m->journal, &at, "close", false)) {
      mock_journal_string(&m->journal, "from", "mock");
      mock_journal_int(&m->journal, "code", code);
      mock_journal_string(&m->journal, "reason", reason);
      mock_journal_end(&m->journal);
    }
  }
  mock_conn_close(c, label);
}

/* ---- answers out ------------------------------------------------------------------- */

static void after_write(struct mock_conn *c) {
  struct mock_transport *t = &c->m->options.transport;
  if (c->out.n > 0) return;
  if (c->stage == MOCK_STAGE_ENDING) {
    t->close(t->ctx, c->peer);
    mock_conn_ended(c, "closed");
  } else if (c->fin_wanted) {
    c->fin_wanted = false;
    c->mute = true;
    set_label(c, "script fin");
    mock_answers_drop(&c->answers);
    t->shutdown(t->ctx, c->peer);
  }
}

/* The first `most` bytes of `out`, in one write. */
static void write_some(struct mock_conn *c, size_t most) {
  struct mock *m = c->m;
  struct mock_transport *t = &m->options.transport;
  if (c->stage == MOCK_STAGE_WS && !c->reader) m->facts.writes++;
  mock_journal_flush(&m->journal);
  long took = t->write(t->ctx, c->peer, c->out.p, most);
  if (took < 0) {
    t->reset(t->ctx, c->peer); /* so that the transport lets go of it in every case */
    mock_conn_ended(c, "gone");
    return;
  }
  size_t n = (size_t)took < most ? (size_t)took : most;
  mock_out_drop_front(&c->out, n);
  mock_pieces_took(&c->pieces, n, m->now_ns);
  c->blocked = n < most;
}

static void write_out(struct mock_conn *c) {
  size_t may;
  while (!c->dead && !c->blocked && (may = mock_pieces_allow(&c->pieces, c->out.n, c->m->now_ns)) > 0) {
    write_some(c, may);
  }
}

void mock_conn_flush(struct mock_conn *c) {
  struct mock_transport *t = &c->m->options.transport;
  if (c->dead) return;
  if (c->out.failed) {
    t->reset(t->ctx, c->peer);
    mock_conn_ended(c, "out of memory");
    return;
  }
  write_out(c);
  if (!c->dead) after_write(c);
}

/* ---- pace of reading ----------------------------------------------------------------- */

static size_t wanted_limit(const struct mock_conn *c) {
  enum { PIECES_A_SECOND = 100, PIECE_MAX = 65536 };
  if (c->stage != MOCK_STAGE_WS) return 0;
  int64_t limit = 0;
  if (c->drain_rate > 0) {
    limit = c->drain_rate / PIECES_A_SECOND;
    limit = limit < 1 ? 1 : limit > PIECE_MAX ? PIECE_MAX : limit;
  }
  int64_t left = mock_director_bytes_left(&c->director);
  if (left > 0 && (limit == 0 || left < limit)) limit = left;
  return (size_t)limit;
}

void mock_conn_pace(struct mock_conn *c) {
  struct mock_transport *t = &c->m->options.transport;
  if (c->dead) return;
  size_t limit = wanted_limit(c);
  if (limit != c->read_limit) t->limit_read(t->ctx, c->peer, limit);
  c->read_limit = limit;
  bool paused = mock_conn_held(c);
  if (paused != c->paused) t->pause(t->ctx, c->peer, paused);
  c->paused = paused;
}

void mock_conn_resume(struct mock_conn *c) {
  if (c->dead) return;
  if (c->held.n > 0 && !mock_conn_held(c)) {
    struct mock_out held = c->held; /* what is held again goes into a new one */
    c->held = (struct mock_out){0};
    mock_conn_consume(c, held.p, held.n);
    mock_out_free(&held);
    mock_conn_pass_end(c);
  }
  if (!c->dead) mock_conn_pace(c);
}

/* ---- timers --------------------------------------------------------------------------- */

static void earlier(int64_t *at, int64_t candidate) {
  if (candidate < *at) *at = candidate;
}

int64_t mock_conn_due(const struct mock_conn *c) {
  int64_t at = c->upgrade_at_ns, now = c->m->now_ns;
  earlier(&at, c->pieces.at_ns);
  if (c->stage != MOCK_STAGE_WS) return at;
  earlier(&at, mock_answers_next_ns(&c->answers));
  earlier(&at, mock_director_next_time(&c->director));
  if (c->stalled_until_ns > 0 && c->paused) earlier(&at, c->stalled_until_ns);
  if (c->drain_rate > 0 && c->drain_at_ns > now) earlier(&at, c->drain_at_ns);
  return at;
}

void mock_conn_tick(struct mock_conn *c) {
  if (c->stage == MOCK_STAGE_DELAYED && c->upgrade_at_ns <= c->m->now_ns) mock_conn_answer_head(c);
  if (!c->dead && c->pieces.at_ns <= c->m->now_ns) mock_conn_flush(c);
  if (c->dead || c->stage != MOCK_STAGE_WS) return;
  mock_conn_release_answers(c, c->m->now_ns);
  mock_conn_fire(c, MOCK_AT_TIME, false, c->next_seq - 1);
  if (c->dead) return;
  mock_conn_flush(c);
  if (c->stalled_until_ns <= c->m->now_ns) c->stalled_until_ns = 0;
  mock_conn_resume(c);
}
