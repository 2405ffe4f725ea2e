#include "faults.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "layer.h"

struct faults *faults_new(const struct faults_options *o) {
  struct faults *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  if (!matcher_init(&f->matcher, o->plan, o->seed)) {
    free(f);
    return NULL;
  }
  f->o = *o;
  f->under = o->under;
  f->trace.on = o->trace;
  f->trace.on_call = o->on_call;
  f->trace.on_call_ctx = o->on_call_ctx;
  gate_init(&f->gate);
  f->ops = (struct qwp_ops){
      .net = &faults_net_ops, .net_ctx = f,
      .file = o->under->file ? &faults_file_ops : NULL, .file_ctx = f,
      .clock = &faults_clock_ops, .clock_ctx = f,
      .mem = &faults_mem_ops, .mem_ctx = f,
  };
  return f;
}

void faults_del(struct faults *f) {
  if (!f) return;
  socks_free(&f->socks);
  trace_free(&f->trace);
  gate_free(&f->gate);
  matcher_free(&f->matcher);
  free(f);
}

const struct qwp_ops *faults_ops(struct faults *f) { return &f->ops; }

void faults_counters(const struct faults *f, struct fault_counters *out) { counters_read(&f->counters, out); }

/* ---- faults that any call may meet ---------------------------------------------------- */

void faults_pass_time(const struct faults *f, int64_t ns) {
  if (ns <= 0) return;
  if (f->o.delay) {
    f->o.delay(f->o.delay_ctx, ns);
    return;
  }
  struct timespec left = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
  while (nanosleep(&left, &left) < 0 && errno == EINTR) continue;
}

int faults_plain_call(struct faults *f, enum fault_point point, size_t n, struct verdict *v) {
  verdict_clear(v);
  if (!matcher_uses(&f->matcher, point)) return 0;
  struct call c = {.point = point, .phase = FAULT_PHASE_ANY, .n = n};
  match(&f->matcher, &c, v);
  faults_pass_time(f, v->delay_before_ns);
  if (!v->acts) return 0;
  return v->act == FAULT_DO_AGAIN ? -EWOULDBLOCK : -v->err;
}

/* ---- what came of the plan --------------------------------------------------------------- */

int64_t faults_fired(const struct faults *f, size_t rule) {
  struct matcher *m = (struct matcher *)&f->matcher; /* its lock is taken, nothing else changes */
  return matcher_state(m, rule).fired;
}

/* How often the rule must have fired: what a plan says happens ten times has not happened after three. */
static int64_t wanted(const struct fault_rule *r) { return r->repeat == FAULT_TIMES ? r->times : 1; }

static void tell_unfired(const struct fault_rule *r, const struct rule_state *s,
                         void (*each)(void *arg, const char *text), void *arg) {
  char rule[160], fired[64] = "did not fire", text[352];
  const char *blind = s->blind ? ": TLS hides where frames begin" : "";
  fault_rule_text(r, rule, sizeof rule);
  const char *problem = fault_rule_problem(r);
  if (s->fired > 0)
    snprintf(fired, sizeof fired, "fired %lld of %lld times", (long long)s->fired, (long long)wanted(r));
  if (problem) snprintf(text, sizeof text, "line %d: %s cannot fire: %s", r->line, rule, problem);
  else snprintf(text, sizeof text, "line %d: %s %s%s (%lld such call%s made)", r->line, rule, fired, blind,
                (long long)s->calls, s->calls == 1 ? " was" : "s were");
  each(arg, text);
}

size_t faults_unfired(const struct faults *f, void (*each)(void *arg, const char *text), void *arg) {
  struct matcher *m = (struct matcher *)&f->matcher;
  size_t unfired = 0;
  for (size_t i = 0; i < m->plan->rule_count; i++) {
    struct rule_state s = matcher_state(m, i);
    if (s.fired >= wanted(&m->plan->rules[i])) continue;
    unfired++;
    if (each) tell_unfired(&m->plan->rules[i], &s, each, arg);
  }
  return unfired;
}

void faults_event(struct faults *f, const char *name) { matcher_event(&f->matcher, name); }

size_t faults_trace_count(const struct faults *f) { return f->trace.count; }
size_t faults_trace_lost(const struct faults *f) { return f->trace.lost; }

const struct fault_trace *faults_trace_at(const struct faults *f, size_t i) {
  return i < f->trace.count ? &f->trace.entries[i] : NULL;
}

/* ---- the gate ------------------------------------------------------------------------------- */

void faults_hold(struct faults *f) {
  gate_shut(&f->gate);
  f->under->net->wake(f->under->net_ctx);
  gate_await(&f->gate);
}

void faults_release(struct faults *f) {
  matcher_event(&f->matcher, "released");
  gate_open(&f->gate);
}
