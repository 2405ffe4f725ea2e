/* secure - what a filter for TLS tells the mock of a connection (declared in mock.h). */
#include <stdio.h>
#include <string.h>

#include "core/connection.h"

const struct mock_entry *mock_next_entry(const struct mock *m) {
  return mock_script_entry(m->options.script, false, (int)m->record_count + 1);
}

static void journal_handshake(const struct mock_conn *c) {
  struct mock_journal *j = &c->m->journal;
  struct mock_journal_place at;
  mock_conn_place(c, &at);
  if (!mock_journal_begin(j, &at, "tls", false)) return;
  mock_journal_string(j, "version", c->tls);
  mock_journal_string(j, "sni", c->sni);
  mock_journal_end(j);
}

bool mock_conn_claim(struct mock_conn *c) { return c->number > 0 || mock_conn_take_number(c); }

void mock_conn_handshake_fired(struct mock_conn *c) {
  if (c->entry) c->m->entries[c->entry - c->m->options.script->entries].handshake_fired = true;
}

void mock_conn_secured(struct mock_conn *c, const char *version, const char *sni) {
  mock_enter(c->m);
  snprintf(c->tls, sizeof c->tls, "%s", version);
  snprintf(c->sni, sizeof c->sni, "%s", sni);
  if (c->record) mock_record_secured(c->record, c);
  if (*version) journal_handshake(c);
  mock_leave(c->m);
}

void mock_conn_insecure(struct mock_conn *c, const char *how) {
  struct mock *m = c->m;
  mock_enter(m);
  mock_conn_ended(c, how);
  mock_leave(m);
}

int mock_conn_number(const struct mock_conn *c) { return c->number; }

bool mock_conn_is_reader(const struct mock_conn *c) { return c->reader; }

void mock_conn_certified(struct mock_conn *c) {
  mock_enter(c->m);
  mock_conn_violation(c, "TLS-006", -1, -1, "the client offers a certificate of its own");
  mock_leave(c->m);
}

void mock_tls_ended(struct mock *m, int number, const char *how) {
  if (number < 1 || (size_t)number > m->record_count) return;
  struct mock_record *r = m->records[number - 1];
  snprintf(r->tls_end, sizeof r->tls_end, "%s", how);
}
