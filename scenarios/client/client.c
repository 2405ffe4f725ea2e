#include "client/client.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/probe.h"
#include "client/put_row.h"
#include "client/receiver.h"
#include "workload/workload.h"

#define DEFAULT_WITHIN_NS (10000 * QWP_NS_PER_MS)

struct run {
  const struct client_task *task;
  const struct client_stage *stage;
  qwp_sender *sender;
  int publishes;     /* publish steps so far */
  int64_t next_row;  /* number of the next row, counted over all publish steps */
  int64_t accepted;  /* rows a successful flush took: always the first so many */
  char *scratch;
  size_t scratch_n;
  struct qwp_error last; /* of the last failed step */
  int64_t warnings;
  bool closed;
  enum qwp_status close_status;
  struct facts *facts;
  char *why;
  size_t why_n;
};

static void count_warning(void *ctx, enum qwp_log_level level, const char *line) {
  struct run *r = ctx;
  (void)line;
  if (level >= QWP_LOG_WARN) __atomic_add_fetch(&r->warnings, 1, __ATOMIC_RELAXED);
}

static bool complain(struct run *r, const char *what, const struct qwp_error *err) {
  if (err)
    snprintf(r->why, r->why_n, "%s: %s: %s", what, qwp_status_name(err->code), err->text);
  else
    snprintf(r->why, r->why_n, "%s", what);
  return false;
}

/* Did a call end as the step says? */
static bool as_expected(struct run *r, const char *what, bool ok, const char *expected, const struct qwp_error *err) {
  if (!ok) r->last = *err;
  if (!expected) return ok || complain(r, what, err);
  if (ok) {
    snprintf(r->why, r->why_n, "%s: expected %s, but it succeeded", what, expected);
    return false;
  }
  if (strcmp(expected, qwp_status_name(err->code)) == 0) return true;
  snprintf(r->why, r->why_n, "%s: expected %s, seen %s: %s", what, expected, qwp_status_name(err->code), err->text);
  return false;
}

/* ---- rows ---- */

/* A row counts as given once the sender has it, also when a flush that it triggers fails. */
static bool give_row(struct run *r, const struct workload *w, struct qwp_error *err) {
  if (put_row(r->sender, w, r->next_row, r->scratch, r->scratch_n, err)) {
    r->next_row++;
    return true;
  }
  struct qwp_metrics m;
  qwp_sender_metrics(r->sender, &m);
  r->next_row = m.snd_rows;
  return false;
}

static bool flush_now(struct run *r, struct qwp_error *err) {
  if (!qwp_sender_flush(r->sender, NULL, err)) return false;
  r->accepted = r->next_row;
  return true;
}

static bool publish_rows(struct run *r, const struct scn_step *s, struct qwp_error *err) {
  for (int64_t i = 1; i <= s->work.rows; i++) {
    if (!give_row(r, &s->work, err)) return false;
    if (scn_flush_is_due(s, i) && !flush_now(r, err)) return false;
    if (s->flush == SCN_FLUSH_ACKED && !qwp_sender_drain(r->sender, 0, err)) return false;
  }
  return true;
}

static bool do_publish(struct run *r, const struct scn_step *s) {
  size_t need = workload_scratch_bytes(&s->work);
  if (need > r->scratch_n) {
    char *grown = realloc(r->scratch, need);
    if (!grown) return complain(r, "publish: out of memory", NULL);
    r->scratch = grown;
    r->scratch_n = need;
  }
  char name[40];
  snprintf(name, sizeof name, "client.first_row[%d]", ++r->publishes);
  facts_number(r->facts, name, r->next_row);
  struct qwp_error err;
  qwp_error_clear(&err);
  bool ok = publish_rows(r, s, &err);
  return as_expected(r, "publish", ok, s->error, &err);
}

static bool do_flush(struct run *r, const struct scn_step *s) {
  struct qwp_error err;
  qwp_error_clear(&err);
  bool ok = flush_now(r, &err);
  return as_expected(r, "flush", ok, s->error, &err);
}

/* ---- waiting ---- */

static void client_facts(struct run *r, struct facts *f) {
  struct qwp_metrics m;
  struct fault_counters c;
  qwp_sender_metrics(r->sender, &m);
  faults_counters(r->stage->layer, &c);
  facts_of_sender(f, &m);
  facts_of_layer(f, &c);
}

static bool all_hold(struct run *r, const struct scn_step *s, char *why, size_t why_n) {
  struct facts now;
  facts_init(&now);
  client_facts(r, &now);
  bool ok = true;
  for (size_t i = 0; ok && i < s->fact_count; i++) ok = facts_hold(&now, &s->facts[i], why, why_n);
  facts_free(&now);
  return ok;
}

static int64_t deadline(struct run *r, const struct scn_step *s) {
  if (r->task->no_deadline) return QWP_NEVER;
  return r->stage->now_ns(r->stage->ctx) + (s->within_ns ? s->within_ns : DEFAULT_WITHIN_NS);
}

static bool do_wait(struct run *r, const struct scn_step *s) {
  int64_t until = deadline(r, s);
  char why[256];
  while (!all_hold(r, s, why, sizeof why)) {
    if (r->stage->now_ns(r->stage->ctx) >= until || !r->stage->pass(r->stage->ctx, until)) {
      snprintf(r->why, r->why_n, "wait: %s", why);
      return false;
    }
  }
  return true;
}

static bool do_expect(struct run *r, const struct scn_step *s) {
  char why[256];
  if (all_hold(r, s, why, sizeof why)) return true;
  snprintf(r->why, r->why_n, "expect: %s", why);
  return false;
}

/* `within` is total time of the world; the API's own deadline is one without progress. */
static bool do_drain(struct run *r, const struct scn_step *s) {
  struct qwp_error err;
  qwp_error_clear(&err);
  if (s->timeout_ms > 0 || s->error) {
    bool ok = qwp_sender_drain(r->sender, s->timeout_ms, &err);
    if (ok) r->accepted = r->next_row;
    return as_expected(r, "drain", ok, s->error, &err);
  }
  if (!flush_now(r, &err)) return as_expected(r, "drain", false, NULL, &err);
  int64_t until = deadline(r, s);
  while (qwp_sender_acked_fsn(r->sender) < qwp_sender_published_fsn(r->sender)) {
    if (qwp_sender_last_error(r->sender, &err)) return as_expected(r, "drain", false, NULL, &err);
    if (r->stage->now_ns(r->stage->ctx) >= until || !r->stage->pass(r->stage->ctx, until)) {
      snprintf(r->why, r->why_n, "drain: acknowledged up to FSN %" PRId64 " of %" PRId64 " within the time given",
               qwp_sender_acked_fsn(r->sender), qwp_sender_published_fsn(r->sender));
      return false;
    }
  }
  return true;
}

static bool do_advance(struct run *r, const struct scn_step *s) {
  int64_t until = r->stage->now_ns(r->stage->ctx) + s->advance_ns;
  while (r->stage->pass(r->stage->ctx, until) && r->stage->now_ns(r->stage->ctx) < until) continue;
  return true;
}

/* ---- the end ---- */

/* Ends the sender; its numbers are read between its end and its release. */
static bool do_close(struct run *r, const char *expected, const char *what) {
  struct qwp_error err;
  qwp_error_clear(&err);
  if (qwp_sender_last_error(r->sender, &err)) r->last = err;
  bool ok = qwp_sender_stop(r->sender, &err);
  struct qwp_metrics m;
  qwp_sender_metrics(r->sender, &m);
  facts_of_sender(r->facts, &m);
  qwp_sender_free(r->sender);
  r->sender = NULL;
  r->closed = true;
  r->close_status = ok ? QWP_OK : err.code;
  if (ok) r->accepted = r->next_row;
  return as_expected(r, what, ok, expected, &err);
}

/* After a failure only the clean end matters, whatever its outcome. */
static void clean_up(struct run *r) {
  r->stage->hold(r->stage->ctx, false); /* a held loop would block the close */
  if (!r->sender) return;
  char story[512];
  snprintf(story, sizeof story, "%s", r->why);
  (void)do_close(r, NULL, "close");
  snprintf(r->why, r->why_n, "%s", story);
}

static bool do_probe(struct run *r, const struct scn_step *s) {
  return probe_run(r->stage->beside, r->task->config, s->text ? s->text : "", r->why, r->why_n);
}

static bool do_step(struct run *r, const struct scn_step *s) {
  switch (s->kind) {
    case SCN_HOLD: r->stage->hold(r->stage->ctx, true); return true;
    case SCN_RELEASE:
      r->stage->hold(r->stage->ctx, false);
      faults_event(r->stage->layer, "released");
      return true;
    case SCN_PUBLISH: return do_publish(r, s);
    case SCN_FLUSH: return do_flush(r, s);
    case SCN_DRAIN: return do_drain(r, s);
    case SCN_WAIT: return do_wait(r, s);
    case SCN_ADVANCE: return do_advance(r, s);
    case SCN_CLOSE: return do_close(r, s->error, "close");
    case SCN_EXPECT: return do_expect(r, s);
    case SCN_PROBE: return do_probe(r, s);
    case SCN_RECEIVE: break; /* receiver.c: the reader of scenarios keeps it out of here */
  }
  return complain(r, "a step of no known kind", NULL);
}

/* The probes that stand before all other steps: they come before the sender is made. */
static size_t early_probes(const struct client_task *task) {
  size_t n = 0;
  while (n < task->step_count && task->steps[n].kind == SCN_PROBE) n++;
  return n;
}

static bool run_early_probes(struct run *r, int *why_line) {
  for (size_t i = 0; i < early_probes(r->task); i++) {
    *why_line = r->task->steps[i].line;
    if (!do_probe(r, &r->task->steps[i])) return false;
  }
  *why_line = 0;
  return true;
}

static bool run_steps(struct run *r, int *why_line) {
  for (size_t i = early_probes(r->task); i < r->task->step_count; i++) {
    const struct scn_step *s = &r->task->steps[i];
    *why_line = s->line;
    if (!r->sender) return complain(r, "a step after the sender was closed", NULL);
    if (!do_step(r, s)) return false;
  }
  *why_line = 0;
  return true;
}

static void tell_end(struct run *r, enum qwp_status created) {
  struct facts *f = r->facts;
  struct fault_counters c;
  faults_counters(r->stage->layer, &c);
  facts_of_layer(f, &c);
  facts_of_trace(f, r->stage->layer);
  facts_number(f, "client.rows", r->next_row);
  facts_number(f, "client.rows_accepted", r->accepted);
  facts_number(f, "client.warnings", __atomic_load_n(&r->warnings, __ATOMIC_RELAXED));
  facts_text(f, "client.create", created == QWP_OK ? "ok" : qwp_status_name(created));
  const char *closed = r->close_status == QWP_OK ? "ok" : qwp_status_name(r->close_status);
  facts_text(f, "client.close", r->closed ? closed : "none");
  facts_text(f, "client.error", r->last.code == QWP_OK ? "none" : qwp_status_name(r->last.code));
  facts_text(f, "client.error.text", r->last.text);
  facts_text(f, "client.error.key", r->last.key);
  facts_number(f, "client.http_status", r->last.http_status);
  facts_number(f, "client.server_status", r->last.code == QWP_OK ? -1 : r->last.server_status);
}

static bool run_sender(struct run *r, int *why_line) {
  if (!run_steps(r, why_line)) {
    clean_up(r);
    return false;
  }
  r->stage->hold(r->stage->ctx, false);
  return !r->sender || do_close(r, NULL, "close at the end");
}

/* A sender that was never made has counted nothing. */
static void no_sender(struct run *r) {
  facts_of_sender(r->facts, &(struct qwp_metrics){.ring_published = -1, .ring_acked = -1, .loop_replay_target = -1});
}

bool client_run(const struct client_task *task, const struct client_stage *stage, struct facts *facts, int *why_line,
                char *why, size_t why_n) {
  if (task->receiver) return receiver_run(task, stage, facts, why_line, why, why_n);
  struct run r = {.task = task, .stage = stage, .facts = facts, .why = why, .why_n = why_n};
  qwp_error_clear(&r.last);
  *why_line = 0;
  struct qwp_sender_options opt = {.ops = stage->ops, .driver = stage->driver, .log = count_warning, .log_ctx = &r,
                                   .dense_dictionary = task->dense_dictionary};
  struct qwp_error err;
  qwp_error_clear(&err);
  if (!run_early_probes(&r, why_line)) return false;
  r.sender = qwp_sender_create(task->config, &opt, &err);
  enum qwp_status created = r.sender ? QWP_OK : err.code;
  bool ok = as_expected(&r, "create", r.sender != NULL, task->create_error, &err);
  if (!r.sender)
    no_sender(&r);
  else if (ok)
    ok = run_sender(&r, why_line);
  else
    clean_up(&r);
  tell_end(&r, created);
  free(r.scratch);
  return ok;
}
