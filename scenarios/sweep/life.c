#include "sweep/life.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/world_sim.h"
#include "sweep/probe.h"

#define STEPS_AT_ONE_MOMENT 5000 /* a life has some hundred in all */

static void name_of(const char *path, char *out, size_t n) {
  const char *base = strrchr(path, '/');
  base = base ? base + 1 : path;
  const char *end = strrchr(base, '.');
  snprintf(out, n, "%.*s", end ? (int)(end - base) : (int)strlen(base), base);
}

bool life_of(const struct scn_scenario *s, struct sweep_life *out, char *why, size_t why_n) {
  const char *problem = NULL;
  if (!s->worlds[SCN_SIM]) problem = "does not run in the simulated world";
  else if (s->faults.rule_count > 0) problem = "has faults of its own";
  else if (s->receiver || s->create_error) problem = "has no sender that publishes";
  else if (strchr(s->name, '[')) problem = "is one of a matrix";
  else if (!strstr(s->config, "auto_flush_rows=off") || !strstr(s->config, "auto_flush_interval=off"))
    problem = "flushes by itself: a life wants auto_flush_rows=off and auto_flush_interval=off";
  if (problem) {
    snprintf(why, why_n, "%s: %s", s->path, problem);
    return false;
  }
  *out = (struct sweep_life){.scenario = s};
  name_of(s->path, out->name, sizeof out->name);
  for (size_t i = 0; i < s->step_count; i++) out->tells_errors |= s->steps[i].error != NULL;
  return true;
}

/* ---- which rows a frame holds ---- */

struct frames_of_steps {
  int64_t rows, pending, fsn, wanted, through;
};

static void flush(struct frames_of_steps *f) {
  if (f->pending == 0) return;
  f->pending = 0;
  if (f->fsn++ <= f->wanted) f->through = f->rows;
}

static void publish(struct frames_of_steps *f, const struct scn_step *s) {
  for (int64_t i = 1; i <= s->work.rows; i++) {
    f->rows++;
    f->pending++;
    if (scn_flush_is_due(s, i)) flush(f);
  }
}

int64_t life_rows_through(const struct sweep_life *life, int64_t fsn) {
  struct frames_of_steps f = {.wanted = fsn};
  for (size_t i = 0; i < life->scenario->step_count; i++) {
    const struct scn_step *s = &life->scenario->steps[i];
    if (s->kind == SCN_PUBLISH) publish(&f, s);
    if (s->kind == SCN_FLUSH || s->kind == SCN_DRAIN || s->kind == SCN_CLOSE) flush(&f);
  }
  flush(&f); /* the close at the end */
  return f.through;
}

/* ---- a run ---- */

struct visit {
  const struct sweep_life *life;
  struct probe probe;
};

static const struct qwp_ops *visit_ops(void *ctx, struct sim *sim, struct faults *layer, const struct qwp_ops *ops) {
  return probe_ops(&((struct visit *)ctx)->probe, sim, layer, ops);
}
static const struct qwp_driver *visit_driver(void *ctx, const struct qwp_driver *driver) {
  return probe_driver(&((struct visit *)ctx)->probe, driver);
}
static void visit_accepted(void *ctx, void *peer, struct mock_conn *c) {
  probe_accepted(&((struct visit *)ctx)->probe, peer, c);
}
static bool visit_received(void *ctx, struct mock_conn *c, const uint8_t *p, size_t n) {
  return probe_received(&((struct visit *)ctx)->probe, c, p, n);
}

static bool text_is(const struct facts *f, const char *name, const char *value) {
  const struct fact *fact = facts_find(f, name);
  return fact && fact->is_text && strcmp(fact->text, value) == 0;
}

/* What the server must have. Whatever else failed, an acknowledged frame is there; and a client that told of no
 * failure has delivered everything. */
static void visit_at_rest(void *ctx, struct facts *f) {
  const struct visit *v = ctx;
  int64_t given = facts_get(f, "client.rows", 0);
  bool told = !text_is(f, "client.error", "none") || !text_is(f, "client.close", "ok") ||
              !text_is(f, "client.create", "ok");
  int64_t acked = life_rows_through(v->life, facts_get(f, "ring.acked", -1));
  if (acked > given) acked = given;
  facts_number(f, "client.rows_accepted", told ? acked : given);
}

void life_run(const struct sweep_life *life, const struct sweep_point *point, struct census *census, bool journal,
              struct life_run *out) {
  static struct visit v; /* one run at a time in a process; left as it is by a hang */
  struct fault_rule rules[SWEEP_RULES_MAX];
  struct fault_plan plan = {rules, point ? sweep_point_rules(point, rules) : 0};
  struct world_options options = {.seed = 1, .full_journal = journal};
  struct world_guest guest = {.ctx = &v, .plan = &plan, .journal = journal, .step_limit = STEPS_AT_ONE_MOMENT,
                              .ops = visit_ops, .driver = visit_driver, .accepted = visit_accepted,
                              .received = visit_received, .at_rest = visit_at_rest};
  v.life = life;
  probe_init(&v.probe, point, census);
  observation_init(&out->o);
  world_sim_visit(life->scenario, &options, &guest, &out->o);
  out->fired = v.probe.fired;
  out->spent = v.probe.spent;
  out->viewed = v.probe.viewed;
  out->view = v.probe.view;
}

void life_run_free(struct life_run *r) { observation_free(&r->o); }
