/* handshake - the request head of a connection and its answer (declared in connection.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/connection.h"
#include "core/hash.h"
#include "core/profile.h"
#include "core/reply.h"
#include "qwp/wire.h"

/* ---- who it is ------------------------------------------------------------------ */

static struct mock_record *new_record(struct mock *m) {
  if (m->record_count == m->record_cap) {
    size_t cap = m->record_cap ? 2 * m->record_cap : 8;
    struct mock_record **p = realloc(m->records, cap * sizeof(struct mock_record *));
    if (!p) return NULL;
    m->records = p;
    m->record_cap = cap;
  }
  struct mock_record *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->facts.last_ok = -1;
  memcpy(r->end, "open", 5);
  return m->records[m->record_count++] = r;
}

/* A whole head makes it the next ingress connection, or the next reader. */
bool mock_conn_take_number(struct mock_conn *c) {
  struct mock *m = c->m;
  const struct mock_script *s = m->options.script;
  c->reader = c->request.target == MOCK_TARGET_READ;
  if (c->reader) {
    m->facts.readers++;
    c->number = ++m->readers;
  } else {
    m->facts.conns++;
    c->record = new_record(m);
    if (!c->record) return false;
    c->number = (int)m->record_count;
    mock_record_secured(c->record, c);
  }
  c->entry = mock_script_entry(s, c->reader, c->number);
  bool *ever = NULL;
  if (c->entry) {
    struct mock_entry_state *state = &m->entries[c->entry - s->entries];
    state->came = true;
    ever = state->fired;
  }
  c->frame_max = mock_profile_frame_max(s, c->entry);
  c->cap = mock_profile_cap(s, c->entry);
  mock_acks_init(&c->acks, c->entry);
  uint64_t draw = mock_mix(m->options.seed + 1) + 2 * (uint64_t)c->number + c->reader;
  return mock_director_init(&c->director, c->entry, ever, draw);
}

static void journal_answer(struct mock_conn *c, const char *event, int status) {
  struct mock_journal *j = &c->m->journal;
  struct mock_journal_place at;
  mock_conn_place(c, &at);
  if (!mock_journal_begin(j, &at, event, false)) return;
  mock_journal_int(j, "status", status);
  mock_journal_text(j, "path", c->request.path.p, c->request.path.n);
  if (c->request.client_id.p) mock_journal_text(j, "client", c->request.client_id.p, c->request.client_id.n);
  if (c->entry) mock_journal_int(j, "line", c->entry->line);
  mock_journal_end(j);
}

/* ---- answers -------------------------------------------------------------------- */

static const char *role_of(const struct mock_conn *c) { return c->entry ? c->entry->role : NULL; }

static void refused(struct mock_conn *c, int status) {
  char label[32];
  snprintf(label, sizeof label, "refused %d", status);
  c->m->facts.refused++;
  journal_answer(c, "refuse", status);
  mock_conn_close(c, label);
}

static void upgraded(struct mock_conn *c) {
  struct mock *m = c->m;
  if (!c->reader) {
    m->facts.upgrades++;
    c->dict = mock_dict_new();
    c->pending = mock_pending_new(m->tables);
    if (!c->dict || !c->pending) {
      mock_conn_reset(c, "out of memory");
      return;
    }
    mock_pending_limit_tables(c->pending, m->limits.max_tables);
  }
  journal_answer(c, "upgrade", 101);
  c->stage = MOCK_STAGE_WS;
  c->director.upgraded_ns = m->now_ns;
  mock_answer_101(&c->out, &c->request, c->entry, c->cap);
  if (c->reader) mock_reply_server_info(&c->out, m->options.clock.wall_ns(m->options.clock.ctx));

  mock_conn_fire(c, MOCK_ON_UPGRADE, false, -1);
  if (!c->dead) mock_conn_flush(c);
  if (!c->dead) mock_conn_fire(c, MOCK_AT_BYTE, false, -1); /* "at byte 0" */
  if (!c->dead) mock_conn_pace(c);
}

/* An ordinary HTTP answer: the connection takes another request once the body is skipped. */
static void keep(struct mock_conn *c, const struct mock_verdict *v) {
  c->m->facts.refused++;
  journal_answer(c, "refuse", v->status);
  c->body_left = c->request.body_chunked ? UINT64_MAX : c->request.body_bytes;
  c->stage = MOCK_STAGE_HEAD;
  mock_out_clear(&c->head);
  c->head_seen = 0;
  mock_conn_flush(c);
}

static void as_judged(struct mock_conn *c, const struct mock_verdict *v) {
  if (v->kind == MOCK_VERDICT_UPGRADE) {
    upgraded(c);
    return;
  }
  mock_answer_refusal(&c->out, &c->request, v, role_of(c), c->m->options.clock.wall_ns(c->m->options.clock.ctx));
  if (v->kind == MOCK_VERDICT_KEEP) keep(c, v);
  else refused(c, v->status);
}

/* RST, at once or behind the first bytes of the answer that would have been given. */
static void die(struct mock_conn *c, const struct mock_verdict *v) {
  struct mock_out answer = {0};
  if (v->kind == MOCK_VERDICT_UPGRADE) mock_answer_101(&answer, &c->request, c->entry, c->cap);
  else mock_answer_refusal(&answer, &c->request, v, role_of(c), c->m->options.clock.wall_ns(c->m->options.clock.ctx));
  int64_t n = c->entry->die_after_bytes;
  if (n > 0) mock_out_put(&c->out, answer.p, (uint64_t)n < answer.n ? (size_t)n : answer.n);
  mock_out_free(&answer);
  journal_answer(c, "refuse", 0);
  mock_conn_reset(c, "script reset");
}

/* Where a value stands in the request head; 0 = nowhere. */
static int64_t offset_of(const struct mock_conn *c, struct mock_slice s) {
  return s.p ? (int64_t)(s.p - (const char *)c->head.p) : 0;
}

/* What no client may ask for, whatever is answered. 421 is the node's fault, 404 a matter of addresses. */
static void note_fault(struct mock_conn *c, const struct mock_verdict *v) {
  if (v->status != 400 && v->status != 405 && v->status != 426) return;
  const char *text = v->text ? v->text : v->status == 405 ? "method other than GET" : "Sec-WebSocket-Version is not 13";
  mock_conn_violation(c, "UPG-REQ-001", -1, offset_of(c, v->at), text);
}

/* What a server lets pass in a request that is else in order. */
static void note_habits(struct mock_conn *c, const struct mock_verdict *v) {
  const struct mock_request *r = &c->request;
  if (v->status != 101 && v->status != 421) return;
  if (!r->max_version.p) mock_conn_violation(c, "UPG-REQ-003", -1, 0, QWP_HDR_MAX_VERSION " is missing");
  else if (r->max_version.n != 1 || *r->max_version.p != '1')
    mock_conn_violation(c, "UPG-REQ-003", -1, offset_of(c, r->max_version), QWP_HDR_MAX_VERSION " is not 1");
  if (c->m->options.replayed) return;
  /* Of 128 random bits 64 are kept: in C connections one is wrongly accused with C^2 * 2^-65 [UPG-REQ-001]. */
  if (mock_conn_seen_before(&c->m->upgrade_keys, mock_hash_bytes(r->key.p, r->key.n)))
    mock_conn_violation(c, "UPG-REQ-001", -1, offset_of(c, r->key), "Sec-WebSocket-Key of another connection");
}

void mock_conn_answer_head(struct mock_conn *c) {
  struct mock_verdict v = mock_request_judge(&c->request, role_of(c));
  c->upgrade_at_ns = INT64_MAX;
  mock_pieces_init(&c->pieces, c->entry);
  note_fault(c, &v);
  note_habits(c, &v);

  switch (c->entry ? c->entry->upgrade : MOCK_UPGRADE_ACCEPT) {
    case MOCK_UPGRADE_ACCEPT:
      as_judged(c, &v);
      return;
    case MOCK_UPGRADE_STATUS:
      mock_answer_status(&c->out, c->entry);
      refused(c, c->entry->status);
      return;
    case MOCK_UPGRADE_DIE:
      die(c, &v);
      return;
    case MOCK_UPGRADE_RAW:
      mock_out_put(&c->out, c->entry->raw, c->entry->raw_n);
      break;
    case MOCK_UPGRADE_HANG:
      break;
  }
  journal_answer(c, "refuse", 0);
  c->stage = MOCK_STAGE_SILENT;
  mock_conn_flush(c);
}

/* ---- the head, as it comes -------------------------------------------------------- */

static size_t skip_body(struct mock_conn *c, size_t n) {
  if (c->body_left == UINT64_MAX) return n; /* chunked: its end is not looked for */
  size_t skip = c->body_left < n ? (size_t)c->body_left : n;
  c->body_left -= skip;
  return skip;
}

static void on_head(struct mock_conn *c, size_t head_n, size_t behind) {
  bool first = c->number == 0;
  if (!mock_request_parse(c->head.p, head_n, &c->request)) {
    mock_conn_close(c, "bad request");
    return;
  }
  if (first && !mock_conn_take_number(c)) {
    mock_conn_reset(c, "out of memory");
    return;
  }
  if (!first && (c->request.target == MOCK_TARGET_READ) != c->reader) {
    mock_conn_close(c, "bad request"); /* one connection is one thing */
    return;
  }
  int64_t delay = c->entry ? c->entry->upgrade_delay_ns : 0;
  if (delay > 0) {
    c->stage = MOCK_STAGE_DELAYED;
    c->upgrade_at_ns = delay > INT64_MAX - 1 - c->m->now_ns ? INT64_MAX - 1 : c->m->now_ns + delay;
  } else {
    mock_conn_answer_head(c);
  }
  if (behind > 0 && !c->dead && (c->stage == MOCK_STAGE_WS || c->stage == MOCK_STAGE_DELAYED))
    mock_conn_violation(c, "WS-009", -1, (int64_t)head_n, "bytes in the same write as the request head: they are lost");
}

size_t mock_conn_head(struct mock_conn *c, const uint8_t *p, size_t n) {
  if (c->body_left > 0) return skip_body(c, n);

  size_t before = c->head.n;
  size_t room = MOCK_HEAD_MAX_BYTES - before, take = n < room ? n : room;
  mock_out_put(&c->head, p, take);
  if (c->head.failed) return n;
  size_t head_n = mock_head_end(c->head.p, c->head.n, &c->head_seen);
  if (head_n == 0) {
    if (c->head.n == MOCK_HEAD_MAX_BYTES) mock_conn_close(c, "head too long");
    return take;
  }
  size_t used = head_n - before;
  on_head(c, head_n, n - used);
  /* Behind a request that upgrades, the rest of the read is lost, as at the real server. */
  return c->stage == MOCK_STAGE_HEAD ? used : n;
}
