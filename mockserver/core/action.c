/* action - what a rule of the script does to a connection (declared in connection.h). */
#include <stdio.h>

#include "core/connection.h"
#include "core/reply.h"
#include "qwp/wire.h"

bool mock_action_uses_up(enum mock_action a) {
  return a == MOCK_DO_NACK || a == MOCK_DO_CLOSE || a == MOCK_DO_RESET || a == MOCK_DO_BLACKHOLE;
}

static int64_t in(const struct mock_conn *c, int64_t duration_ns) {
  int64_t now = c->m->now_ns;
  if (duration_ns < 0 || duration_ns > INT64_MAX - now) return INT64_MAX; /* MOCK_ANY: for ever */
  return now + duration_ns;
}

static void refuse_connects(struct mock_conn *c, const struct mock_rule *r) {
  struct mock *m = c->m;
  if (r->value > 0) {
    m->refuse_left = r->value;
    return;
  }
  m->options.transport.listen(m->options.transport.ctx, false);
  m->listen_at_ns = in(c, r->duration_ns);
}

static void black_hole(struct mock_conn *c) {
  mock_conn_flush(c); /* what was said before has left */
  c->blackhole = c->mute = true;
  mock_answers_drop(&c->answers);
}

static void close_as_told(struct mock_conn *c, const struct mock_rule *r) {
  char label[32];
  snprintf(label, sizeof label, "script close %u", r->code);
  mock_conn_close_frame(c, r->code, r->text, label);
}

/* A record without data, behind what was said before. A plain transport has none. */
static void secure(struct mock_conn *c, void (*act)(void *ctx, void *peer)) {
  mock_conn_flush(c);
  if (act && !c->dead) act(c->m->options.transport.ctx, c->peer);
}

static void perform(struct mock_conn *c, const struct mock_rule *r, int64_t seq) {
  int64_t ok;
  bool ingress = !c->reader && c->stage == MOCK_STAGE_WS;
  switch (r->action) {
    case MOCK_DO_NACK:
      if (ingress) mock_conn_refuse(c, seq < 0 ? 0 : seq, r->code, r->text ? r->text : "refused by the script");
      return;
    case MOCK_DO_CLOSE: close_as_told(c, r); return;
    case MOCK_DO_RESET: mock_conn_reset(c, "script reset"); return;
    case MOCK_DO_FIN:
      c->fin_wanted = true;
      mock_conn_flush(c);
      return;
    case MOCK_DO_STALL: c->stalled_until_ns = in(c, r->duration_ns); return;
    case MOCK_DO_DRAIN:
      c->drain_rate = r->rate > 0 ? r->rate : 1;
      c->drain_at_ns = c->m->now_ns + 1; /* the rest of this pass waits as well */
      return;
    case MOCK_DO_BLACKHOLE: black_hole(c); return;
    case MOCK_DO_RAW:
      if (!c->mute) mock_out_put(&c->out, r->raw, r->raw_n);
      return;
    case MOCK_DO_PING:
      if (!c->mute) mock_reply_ping(&c->out, r->raw, r->raw_n);
      return;
    case MOCK_DO_OK:
      if (ingress) mock_conn_ok(c, r->value, false);
      return;
    case MOCK_DO_REFUSE: refuse_connects(c, r); return;
    case MOCK_DO_RELEASE:
      if (ingress && mock_acks_release(&c->acks, &ok)) mock_conn_ok(c, ok, true);
      mock_answers_release(&c->answers, c->m->now_ns); /* and what a burst had collected */
      mock_conn_release_answers(c, c->m->now_ns);
      return;
    case MOCK_DO_KEY_UPDATE: secure(c, c->m->options.transport.key_update); return;
    case MOCK_DO_TICKET: secure(c, c->m->options.transport.ticket); return;
  }
}

bool mock_conn_fire(struct mock_conn *c, enum mock_trigger t, bool is_catchup, int64_t seq) {
  const struct mock_rule *r;
  size_t at = 0;
  bool used_up = false;
  while (!c->dead && c->stage == MOCK_STAGE_WS &&
         (r = mock_director_take(&c->director, t, is_catchup, c->m->now_ns, &at)) != NULL) {
    struct mock_journal_place place;
    mock_conn_place(c, &place);
    c->m->facts.fired++;
    if (mock_journal_begin(&c->m->journal, &place, "rule", false)) {
      char text[96];
      mock_rule_text(r, text, sizeof text);
      mock_journal_int(&c->m->journal, "line", r->line);
      mock_journal_string(&c->m->journal, "text", text);
      if (r->n_to > r->n) mock_journal_int(&c->m->journal, "n", mock_director_number(&c->director, r));
      mock_journal_end(&c->m->journal);
    }
    perform(c, r, seq);
    bool on_control = t == MOCK_ON_PING || t == MOCK_ON_CLOSE;
    /* A refusal answers a message; the Ping or Close that led to it is answered all the same. */
    if (mock_action_uses_up(r->action) && !(on_control && r->action == MOCK_DO_NACK)) used_up = true;
  }
  return used_up || c->dead || c->stage != MOCK_STAGE_WS;
}
