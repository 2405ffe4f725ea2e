#include "core/mock.h"

#include <stdlib.h>
#include <string.h>

#include "core/connection.h"
#include "core/profile.h"

/* ---- the server -------------------------------------------------------------------- */

static bool new_entry_states(struct mock *m) {
  const struct mock_script *s = m->options.script;
  if (!s || s->entry_count == 0) return true;
  m->entries = calloc(s->entry_count, sizeof *m->entries);
  if (!m->entries) return false;
  for (size_t i = 0; i < s->entry_count; i++) {
    if (s->entries[i].rule_count == 0) continue;
    m->entries[i].fired = calloc(s->entries[i].rule_count, sizeof(bool));
    if (!m->entries[i].fired) return false;
  }
  return true;
}

struct mock *mock_new(const struct mock_options *options) {
  struct mock *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  m->options = *options;
  m->limits = mock_profile_limits(options->script);
  m->listen_at_ns = INT64_MAX;
  m->woken_for_ns = INT64_MAX;
  m->refuse_left = options->script && options->script->refuse_connects > 0 ? options->script->refuse_connects : 0;
  m->tables = mock_tables_new(options->rows);
  m->decoder = mock_decoder_new();
  if (!m->tables || !m->decoder || !new_entry_states(m)) {
    mock_del(m);
    return NULL;
  }
  mock_journal_init(&m->journal, options);
  return m;
}

void mock_del(struct mock *m) {
  if (!m) return;
  while (m->live) mock_conn_del(m->live);
  for (size_t i = 0; m->entries && i < m->options.script->entry_count; i++) free(m->entries[i].fired);
  free(m->entries);
  for (size_t i = 0; i < m->record_count; i++) free(m->records[i]);
  free(m->records);
  if (m->tables) mock_tables_del(m->tables);
  if (m->decoder) mock_decoder_del(m->decoder);
  mock_journal_free(&m->journal);
  mock_violations_free(&m->violations);
  mock_id_set_free(&m->upgrade_keys);
  mock_id_set_free(&m->first_masks);
  mock_id_set_free(&m->payloads);
  mock_out_free(&m->scratch);
  free(m);
}

/* ---- every call from the transport begins and ends alike ------------------------------- */

void mock_enter(struct mock *m) {
  m->now_ns = m->options.clock.now_ns(m->options.clock.ctx);
  m->wall_known = false;
}

void mock_leave(struct mock *m) {
  mock_journal_flush(&m->journal);
  int64_t next = m->listen_at_ns;
  struct mock_conn *after;
  for (struct mock_conn *c = m->live; c; c = after) {
    after = c->next;
    if (c->dead) {
      mock_conn_del(c);
      continue;
    }
    int64_t due = mock_conn_due(c);
    if (due < next) next = due;
  }
  if (next != INT64_MAX && next != m->woken_for_ns) m->options.transport.wake_at(m->options.transport.ctx, next);
  m->woken_for_ns = next;
}

static void journal_accept(const struct mock_conn *c) {
  struct mock_journal *j = &c->m->journal;
  struct mock_journal_place at;
  mock_conn_place(c, &at);
  if (mock_journal_begin(j, &at, "accept", false)) mock_journal_end(j);
}

static void journal_refused_connect(struct mock *m) {
  struct mock_journal_place at = {.t_ns = m->now_ns};
  if (!mock_journal_begin(&m->journal, &at, "refuse", false)) return;
  mock_journal_string(&m->journal, "what", "connect");
  mock_journal_end(&m->journal);
}

struct mock_conn *mock_accept(struct mock *m, void *peer) {
  mock_enter(m);
  struct mock_conn *c = NULL;
  if (m->refuse_left > 0) {
    m->refuse_left--;
    m->facts.attempts++;
    journal_refused_connect(m);
  } else {
    c = mock_conn_new(m, peer);
    if (c) journal_accept(c);
  }
  mock_leave(m);
  return c;
}

bool mock_received(struct mock_conn *c, const uint8_t *p, size_t n) {
  struct mock *m = c->m;
  mock_enter(m);
  m->facts.bytes_in += (int64_t)n;
  if (c->stage == MOCK_STAGE_WS && !c->reader) m->facts.reads++;
  mock_conn_consume(c, p, n);
  mock_conn_pass_end(c);
  bool alive = !c->dead;
  mock_leave(m);
  return alive;
}

bool mock_writable(struct mock_conn *c) {
  struct mock *m = c->m;
  mock_enter(m);
  c->blocked = false;
  mock_conn_flush(c);
  mock_conn_resume(c);
  bool alive = !c->dead;
  mock_leave(m);
  return alive;
}

void mock_ended(struct mock_conn *c, bool reset) {
  struct mock *m = c->m;
  mock_enter(m);
  mock_conn_ended(c, reset ? "reset" : "fin");
  mock_leave(m);
}

static void *on_accept(void *m, void *peer) { return mock_accept(m, peer); }
static bool on_received(void *conn, const uint8_t *p, size_t n) { return mock_received(conn, p, n); }
static bool on_writable(void *conn) { return mock_writable(conn); }
static void on_ended(void *conn, bool reset) { mock_ended(conn, reset); }
static void on_tick(void *m) { mock_tick(m); }

struct mock_events mock_events(struct mock *m) {
  return (struct mock_events){m, on_accept, on_received, on_writable, on_ended, on_tick};
}

void mock_tick(struct mock *m) {
  mock_enter(m);
  m->woken_for_ns = INT64_MAX; /* that wake-up is spent */
  if (m->listen_at_ns <= m->now_ns) {
    m->listen_at_ns = INT64_MAX;
    m->options.transport.listen(m->options.transport.ctx, true);
  }
  for (struct mock_conn *c = m->live; c; c = c->next)
    if (!c->dead && mock_conn_due(c) <= m->now_ns) mock_conn_tick(c);
    else if (!c->dead && c->paused) mock_conn_resume(c); /* a drain or a stall that ended just now */
  mock_leave(m);
}

/* ---- facts ------------------------------------------------------------------------------- */

void mock_facts(const struct mock *m, struct mock_facts *out) {
  *out = m->facts;
  out->rows_unique = (int64_t)mock_tables_unique(m->tables);
  out->rows_doubled = (int64_t)mock_tables_doubled(m->tables);
}

size_t mock_violation_count(const struct mock *m) { return m->violations.count; }

const struct mock_violation *mock_violation_at(const struct mock *m, size_t i) {
  return i < m->violations.count ? &m->violations.list[i] : NULL;
}

static void tell_line(int line, const char *what, int number, void (*each)(void *, const char *), void *arg) {
  struct mock_out o = {0};
  mock_out_text(&o, "line ");
  mock_out_decimal(&o, line);
  mock_out_text(&o, ": ");
  mock_out_text(&o, what);
  if (number > 0) mock_out_decimal(&o, number);
  mock_out_text(&o, " never came");
  mock_out_u8(&o, 0);
  if (each && !o.failed) each(arg, (const char *)o.p);
  mock_out_free(&o);
}

size_t mock_unfired(const struct mock *m, void (*each)(void *arg, const char *text), void *arg) {
  const struct mock_script *s = m->options.script;
  size_t count = 0;
  for (size_t i = 0; s && i < s->entry_count; i++) {
    const struct mock_entry *e = &s->entries[i];
    if (!m->entries[i].came && e->connection != MOCK_ANY) {
      tell_line(e->line, e->reader ? "reader " : "connection ", e->connection, each, arg);
      count++;
      continue; /* its rules could not come either */
    }
    if (e->tls.handshake != MOCK_TLS_ACCEPT && m->entries[i].came && !m->entries[i].handshake_fired) {
      tell_line(e->tls.line, e->tls.handshake == MOCK_TLS_DIE ? "handshake die" : "handshake hang", 0, each, arg);
      count++;
    }
    for (size_t k = 0; k < e->rule_count; k++) {
      if (m->entries[i].fired[k]) continue;
      char text[96];
      mock_rule_text(&e->rules[k], text, sizeof text);
      tell_line(e->rules[k].line, text, 0, each, arg);
      count++;
    }
  }
  return count;
}

bool mock_conn_facts(const struct mock *m, int connection, struct mock_conn_facts *out) {
  if (connection < 1 || (size_t)connection > m->record_count) return false;
  const struct mock_record *r = m->records[connection - 1];
  *out = r->facts;
  out->end = r->end;
  out->pong = r->pong;
  out->tls = r->tls;
  out->sni = r->sni;
  out->tls_end = r->tls_end;
  return true;
}

const struct mock_tables *mock_tables(const struct mock *m) { return m->tables; }
