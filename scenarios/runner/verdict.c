#include "runner/verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *verdict_name(enum verdict v) {
  static const char *const names[VERDICTS] = {"passed", "failed", "disputed", "unsupported", "error"};
  return names[v];
}

struct judging {
  const struct scn_scenario *s;
  const struct observation *o;
  char *why;
  size_t why_n;
};

static bool fails(struct judging *j, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static bool fails(struct judging *j, int line, const char *fmt, ...) {
  char text[640];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  if (line > 0)
    snprintf(j->why, j->why_n, "%s:%d: %s", j->s->path, line, text);
  else
    snprintf(j->why, j->why_n, "%s: %s", j->s->path, text);
  return false;
}

/* All of them: which is the cause of the others is for a person to see. */
static bool everything_fired(struct judging *j) {
  const char *rest = j->o->unfired;
  if (!*rest) return true;
  int line = 0, skip = 0;
  if (sscanf(rest, "line %d: %n", &line, &skip) == 1) rest += skip;
  char text[600] = "";
  while (*rest) {
    size_t n = strcspn(rest, "\n"), used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%.*s", used ? "; " : "", (int)n, rest);
    rest += n + (rest[n] == '\n');
  }
  return fails(j, line, "%s", text);
}

/* A fault or step of the script that never came is often why something else went wrong: it is told behind it. */
static void add_unfired(struct judging *j) {
  if (!j->o->unfired[0]) return;
  size_t n = strlen(j->why);
  snprintf(j->why + n, j->why_n - n, "; and ");
  n = strlen(j->why);
  struct judging behind = {j->s, j->o, j->why + n, j->why_n - n};
  (void)everything_fired(&behind);
}

/* A client that does not tell is taken to have made one. */
static bool sender_created(const struct judging *j) {
  const struct fact *create = facts_find(&j->o->facts, "client.create");
  return !create || !create->is_text || strcmp(create->text, "ok") == 0;
}

static bool steps_held(struct judging *j) {
  if (j->o->client_ok) return true;
  const bool created = sender_created(j);
  fails(j, created ? j->o->client_line : j->s->config_line, "%s", j->o->client_why);
  /* Without a sender nothing could happen: what did not is no cause. Where a failure is wanted it may be. */
  if (created || j->s->create_error) add_unfired(j);
  return false;
}

/* What a client must have given, and had accepted, if every step ended as the scenario says: a client is not asked
 * how much it had to do. Of a step that must fail nothing is known but that. */
static void promised_rows(const struct scn_scenario *s, int64_t *given, int64_t *accepted) {
  bool close_fails = false;
  *given = *accepted = 0;
  for (size_t i = 0; i < s->step_count; i++) {
    const struct scn_step *step = &s->steps[i];
    if (step->kind == SCN_CLOSE) close_fails = step->error != NULL;
    if (step->error) continue;
    if (step->kind == SCN_PUBLISH) *given += step->work.rows;
    bool flushes = step->kind == SCN_PUBLISH ? step->flush != SCN_FLUSH_NONE
                                             : step->kind == SCN_FLUSH || step->kind == SCN_DRAIN;
    if (flushes) *accepted = *given;
  }
  if (!close_fails) *accepted = *given;
}

static bool rows_given(struct judging *j) {
  int64_t given, accepted;
  if (j->s->create_error || j->s->receiver) return true;
  promised_rows(j->s, &given, &accepted);
  int64_t told = facts_get(&j->o->facts, "client.rows", 0), taken = facts_get(&j->o->facts, "client.rows_accepted", 0);
  if (told < given) return fails(j, 0, "the client gave %" PRId64 " rows, its steps publish %" PRId64, told, given);
  if (taken >= accepted) return true;
  return fails(j, 0, "%" PRId64 " rows were accepted, the steps that succeeded flushed %" PRId64, taken, accepted);
}

/* Every ingress connection must stand in the script, unless it says otherwise; and every entry must be met. */
static bool connections_scripted(struct judging *j) {
  int64_t conns = facts_get(&j->o->facts, "srv.conns", 0);
  const struct mock_script *script = &j->s->server;
  bool any = j->s->any_connections;
  for (size_t i = 0; i < script->entry_count; i++) {
    const struct mock_entry *e = &script->entries[i];
    if (e->reader) continue;
    if (e->connection == MOCK_ANY) any = true;
    if (e->connection > conns)
      return fails(j, e->line, "connection %d never came (%" PRId64 " did)", e->connection, conns);
  }
  for (int n = 1; !any && n <= conns; n++)
    if (!mock_script_entry(script, false, n))
      return fails(j, 0, "connection %d is not in the script (`connections: any` allows it)", n);
  return true;
}

static bool no_violation(struct judging *j) { return !j->o->violation[0] || fails(j, 0, "%s", j->o->violation); }

/* `expect_sim` speaks of what only the simulated world has exact. */
static bool judged_here(const struct judging *j, const struct scn_fact *e) {
  return !e->only_sim || j->o->world == SCN_SIM;
}

static bool expectations_hold(struct judging *j) {
  for (size_t i = 0; i < j->s->expect_count; i++) {
    char why[512];
    if (!judged_here(j, &j->s->expect[i])) continue;
    if (!facts_hold(&j->o->facts, &j->s->expect[i], why, sizeof why)) return fails(j, j->s->expect[i].line, "%s", why);
  }
  return true;
}

static bool rows_right(struct judging *j) { return !j->o->rows_why[0] || fails(j, 0, "%s", j->o->rows_why); }

/* A client that ends while it is connected says so: its Close, code 1000, is the cause of the last connection's end.
 * Not its doing are a refused upgrade and what the script did: there the client ended while it was not connected. */
static bool clean_end(struct judging *j) {
  int64_t last = facts_get(&j->o->facts, "srv.conns", 0);
  if (last == 0 || (j->s->allow & SCN_ALLOW_UNCLEAN_END)) return true;
  char name[48];
  snprintf(name, sizeof name, "srv.conn[%" PRId64 "].end", last);
  const struct fact *end = facts_find(&j->o->facts, name);
  const char *how = end && end->is_text ? end->text : "not known";
  const bool by_server = strncmp(how, "refused ", 8) == 0 || strncmp(how, "script ", 7) == 0 ||
                         strncmp(how, "tls ", 4) == 0;
  if (by_server || strcmp(how, "close 1000") == 0) return true;
  return fails(j, 0, "connection %" PRId64 ", the last, ended with \"%s\", not with the client's Close 1000"
               " (`allow: [unclean-end]` lifts this)", last, how);
}

/* What must be 0 after the close. An adapter may not know; of our own client silence would hide a leak. */
static const struct balance {
  const char *name;
  bool of_a_process; /* known of a client in a process of its own */
} balances[] = {{"mem.live", false}, {"net.open", false}, {"proc.threads", true}, {"proc.fds", true}};

static bool must_be_told(const struct judging *j, const struct balance *b) {
  return j->o->own_client && (!b->of_a_process || j->o->world != SCN_SIM);
}

static bool nothing_left(struct judging *j) {
  if (j->s->allow & SCN_ALLOW_LEAKS) return true;
  for (size_t i = 0; i < sizeof balances / sizeof *balances; i++) {
    const char *name = balances[i].name;
    const struct fact *left = facts_find(&j->o->facts, name);
    if (!left && must_be_told(j, &balances[i])) return fails(j, 0, "%s was not told after the close", name);
    if (left && (left->is_text || left->number != 0))
      return fails(j, 0, "%s is %" PRId64 " after the close, not 0", name, left->number);
  }
  return true;
}

/* Nothing observed is never a green: the mock saw a connection attempt, or the scenario speaks of the client's
 * own refusal; and at least one expectation was compared. */
static bool something_observed(struct judging *j) {
  static const char *const traces[] = {"srv.conns", "srv.readers", "srv.unmatched", "srv.attempts", "io.connects"};
  size_t expected = 0;
  for (size_t i = 0; i < j->s->expect_count; i++) expected += judged_here(j, &j->s->expect[i]);
  if (expected == 0) return fails(j, 0, "nothing is expected: a scenario without `expect` proves nothing");
  if (j->s->create_error) return true;
  for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
    if (facts_get(&j->o->facts, traces[i], 0) > 0) return true;
  return fails(j, 0, "nothing was observed: no connection was ever tried");
}

/* What nobody looked at is not known to be well: memory without a sample, a balance that could not be taken. Of another
 * client than ours a balance may be missing. NULL = all that is judged was seen. */
static const char *unseen(const struct judging *j) {
  for (size_t i = 0; i < j->s->expect_count; i++) {
    const struct scn_fact *e = &j->s->expect[i];
    if (e->source == SCN_FROM_SAMPLES && judged_here(j, e) && !facts_find(&j->o->facts, e->name)) return e->name;
  }
  if ((j->s->allow & SCN_ALLOW_LEAKS) || facts_get(&j->o->facts, "client.samples", -1) != 0) return NULL;
  for (size_t i = 0; i < sizeof balances / sizeof *balances; i++) {
    const struct balance *b = &balances[i];
    if (b->of_a_process && must_be_told(j, b) && !facts_find(&j->o->facts, b->name)) return b->name;
  }
  return NULL;
}

/* A world that has no such thing cannot judge it; where it exists and was not seen, the harness or its environment is
 * to blame, never the client. */
static enum verdict without_evidence(struct judging *j, const char *name) {
  if (j->o->world == SCN_SIM) {
    fails(j, 0, "%s does not exist in the simulated world, where the client is no process of its own", name);
    return VERDICT_UNSUPPORTED;
  }
  fails(j, 0, "0 samples for %s: no evidence is no proof", name);
  return VERDICT_ERROR;
}

/* ---- bytes that nobody counted ---- */

static bool ended_in_order(const struct judging *j, int64_t connection) {
  char name[48];
  snprintf(name, sizeof name, "srv.conn[%" PRId64 "].end", connection);
  const struct fact *end = facts_find(&j->o->facts, name);
  return end && end->is_text && (strcmp(end->text, "close 1000") == 0 || strcmp(end->text, "fin") == 0);
}

static int64_t probes(const struct scn_scenario *s, int64_t *bytes) {
  int64_t n = 0;
  *bytes = 0;
  for (size_t i = 0; i < s->step_count; i++) {
    if (s->steps[i].kind != SCN_PROBE) continue;
    n++;
    if (s->steps[i].text) *bytes += (int64_t)strlen(s->steps[i].text);
  }
  return n;
}

/* Every byte of every connection was read: all were a probe's or the sender's, and each of its ended with its Close or
 * its FIN. After a reset, and behind what the server did to end a connection, bytes may be on their way for ever. */
static bool all_was_read(const struct judging *j, int64_t probe_count) {
  const struct facts *f = &j->o->facts;
  const int64_t conns = facts_get(f, "srv.conns", 0);
  if (j->o->reader_count > 0 || facts_get(f, "srv.attempts", 0) > 0) return false;
  if (facts_get(f, "srv.unmatched", 0) != probe_count) return false;
  for (int64_t n = 1; n <= conns; n++)
    if (!ended_in_order(j, n)) return false;
  return true;
}

/* What another client tells may be anything. */
static bool is_byte_count(const struct fact *f) { return !f->is_text && f->number >= 0 && f->number <= INT64_MAX / 4; }

/* A layer that does not see a call can neither count nor fail it: then no number of it proves anything (CASE-98). Of
 * TLS the layer sees records, the mock what is in them: less, however it is cut. Another client need not count; if it
 * tells both of its counters, it is taken at its word. */
static bool bytes_accounted(struct judging *j) {
  const struct fact *data = facts_find(&j->o->facts, "io.bytes_out");
  const struct fact *head = facts_find(&j->o->facts, "io.hs_bytes_out");
  if (!j->o->own_client && (!data || !head)) return true;
  const struct fact *seen = facts_find(&j->o->facts, "srv.bytes_in");
  if (!data || !head || !seen) return fails(j, 0, "the bytes of both ends were not told, so they cannot be compared");
  if (!is_byte_count(data) || !is_byte_count(head))
    return fails(j, 0, "%s and %s are no numbers of bytes", data->name, head->name);
  int64_t probed;
  const int64_t probe_count = probes(j->s, &probed);
  const int64_t sent = data->number + head->number + probed, received = seen->number;
  if (received > sent)
    return fails(j, 0, "the server received %" PRId64 " bytes, the client's counters know of %" PRId64
                 ": some went round them", received, sent);
  if (received == sent || j->o->world == SCN_TLS || !all_was_read(j, probe_count)) return true;
  return fails(j, 0, "the server received %" PRId64 " bytes of %" PRId64 " that were counted, though every "
               "connection ended in order", received, sent);
}

enum verdict judge(const struct scn_scenario *s, const struct observation *o, char *why, size_t why_n) {
  struct judging j = {s, o, why, why_n};
  why[0] = '\0';
  if (o->harness[0]) {
    fails(&j, 0, "%s", o->harness);
    add_unfired(&j);
    return VERDICT_ERROR;
  }
  if (o->unsupported[0]) {
    fails(&j, 0, "%s", o->unsupported);
    return VERDICT_UNSUPPORTED;
  }
  const char *not_seen = o->client_ok ? unseen(&j) : NULL;
  if (not_seen) return without_evidence(&j, not_seen);
  if (o->client_ok && !bytes_accounted(&j)) return VERDICT_ERROR;
  bool ok = steps_held(&j) && everything_fired(&j) && rows_given(&j) && connections_scripted(&j) && no_violation(&j) &&
            expectations_hold(&j) && rows_right(&j) && clean_end(&j) && nothing_left(&j) && something_observed(&j);
  if (s->disputed) return VERDICT_DISPUTED;
  return ok ? VERDICT_PASSED : VERDICT_FAILED;
}

/* observation.c begins it with "WIRE-FLAG-002 violated at connection ", judge() puts "path: " before that. */
bool verdict_violated(const char *why, char *id, size_t n) {
  const char *at = strstr(why, " violated at connection "), *start = at;
  while (start && start > why && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", start[-1])) start--;
  if (!at || start == at || start - why < 2 || memcmp(start - 2, ": ", 2) != 0) return false;
  snprintf(id, n, "%.*s", (int)(at - start), start);
  return true;
}
