#include "client/facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *p) {
  if (!p) {
    fputs("out of memory\n", stderr);
    exit(3);
  }
  return p;
}

void facts_init(struct facts *f) { *f = (struct facts){0}; }

void facts_free(struct facts *f) {
  for (size_t i = 0; i < f->count; i++) {
    if (f->at[i].name_owned) free((char *)f->at[i].name);
    free(f->at[i].text);
  }
  free(f->at);
  facts_init(f);
}

static struct fact *append(struct facts *f) {
  if (f->count == f->cap) {
    f->cap = f->cap ? f->cap * 2 : 160;
    f->at = must(realloc(f->at, f->cap * sizeof *f->at));
  }
  struct fact *x = &f->at[f->count++];
  *x = (struct fact){0};
  return x;
}

static uint32_t hash_of(const char *name) {
  uint32_t h = 2166136261u; /* FNV-1a */
  for (; *name; name++) h = (h ^ (unsigned char)*name) * 16777619u;
  return h;
}

static struct fact *search(const struct facts *f, const char *name, uint32_t hash) {
  for (size_t i = 0; i < f->count; i++)
    if (f->at[i].hash == hash && strcmp(f->at[i].name, name) == 0) return &f->at[i];
  return NULL;
}

static struct fact *slot(struct facts *f, const char *name) {
  uint32_t hash = hash_of(name);
  struct fact *x = search(f, name, hash);
  if (x) return x;
  x = append(f);
  x->name = must(strdup(name));
  x->name_owned = true;
  x->hash = hash;
  return x;
}

void facts_add(struct facts *f, const char *name, int64_t value) {
  struct fact *x = append(f);
  x->name = name;
  x->hash = hash_of(name);
  x->number = value;
}

void facts_number(struct facts *f, const char *name, int64_t value) {
  struct fact *x = slot(f, name);
  free(x->text);
  x->text = NULL;
  x->is_text = false;
  x->number = value;
}

void facts_text(struct facts *f, const char *name, const char *value) {
  struct fact *x = slot(f, name);
  char *copy = must(strdup(value));
  free(x->text);
  x->text = copy;
  x->is_text = true;
}

const struct fact *facts_find(const struct facts *f, const char *name) { return search(f, name, hash_of(name)); }

int64_t facts_get(const struct facts *f, const char *name, int64_t otherwise) {
  const struct fact *x = facts_find(f, name);
  return x && !x->is_text ? x->number : otherwise;
}

void facts_merge(struct facts *f, struct facts *from) {
  for (size_t i = 0; i < from->count; i++) {
    const struct fact *x = &from->at[i];
    if (x->is_text)
      facts_text(f, x->name, x->text);
    else
      facts_number(f, x->name, x->number);
  }
  facts_free(from);
}

void facts_of_sender(struct facts *f, const struct qwp_metrics *m) {
#define ADD(field, name, help) facts_add(f, name, m->field);
  QWP_METRICS(ADD)
#undef ADD
}

void facts_of_layer(struct facts *f, const struct fault_counters *c) {
#define ADD(field, name, help) facts_add(f, name, c->field);
  FAULT_COUNTERS(ADD)
#undef ADD
}

static const char *transfer_name(enum fault_point p) { return p == FAULT_SEND ? "send" : "recv"; }

/* One call of the trace as text, or nothing for calls that scenarios do not speak of. */
static int trace_text(const struct fault_trace *t, char *out, size_t n) {
  if (t->upgrade || t->control) return 0;
  if (t->point == FAULT_WAIT) return snprintf(out, n, "%s\n", t->interest & QWP_WRITABLE ? "poll_w" : "poll_r");
  if (t->point != FAULT_SEND && t->point != FAULT_RECV) return 0;
  if (t->result == -EAGAIN) return snprintf(out, n, "%s(%zu)->again\n", transfer_name(t->point), t->asked);
  return snprintf(out, n, "%s(%zu)->%" PRId64 "\n", transfer_name(t->point), t->asked, t->result);
}

/* The longest run of bytes that sends of data gave to a connection with no receive attempt between them. */
static int64_t max_send_run(const struct faults *layer) {
  int64_t run = 0, longest = 0;
  int connection = 0;
  for (size_t i = 0; i < faults_trace_count(layer); i++) {
    const struct fault_trace *t = faults_trace_at(layer, i);
    if (t->point != FAULT_SEND && t->point != FAULT_RECV) continue;
    if (t->point == FAULT_RECV || t->connection != connection) run = 0;
    connection = t->connection;
    if (t->point == FAULT_SEND && !t->upgrade && !t->control && t->result > 0) run += t->result;
    if (run > longest) longest = run;
  }
  return longest;
}

void facts_of_trace(struct facts *f, const struct faults *layer) {
  if (faults_trace_lost(layer) > 0) return; /* half a trace proves nothing: unobserved is red */
  facts_number(f, "io.max_send_run", max_send_run(layer));
  size_t count = faults_trace_count(layer);
  size_t cap = 64 + count * 48, len = 0;
  char *text = must(malloc(cap));
  text[0] = '\0';
  for (size_t i = 0; i < count && len + 48 < cap; i++) {
    const struct fault_trace *t = faults_trace_at(layer, i);
    bool reading = t->point == FAULT_RECV || (t->point == FAULT_WAIT && !(t->interest & QWP_WRITABLE));
    if (!reading) len += (size_t)trace_text(t, text + len, cap - len);
  }
  facts_text(f, "io.trace", text);
  free(text);
}

void facts_of_rules(struct facts *f, const struct faults *layer, size_t rule_count) {
  int64_t fired = 0;
  for (size_t i = 0; i < rule_count; i++) fired += faults_fired(layer, i);
  facts_number(f, "faults.fired", fired);
}

static const char *compare_sign(enum scn_compare op) {
  switch (op) {
    case SCN_EQ: return "";
    case SCN_NE: return "!= ";
    case SCN_LT: return "< ";
    case SCN_LE: return "<= ";
    case SCN_GT: return "> ";
    case SCN_GE: return ">= ";
    case SCN_RANGE: return "";
    case SCN_MATCH: return "contains ";
  }
  return "";
}

static bool number_holds(int64_t seen, const struct scn_fact *e) {
  switch (e->op) {
    case SCN_EQ: return seen == e->value;
    case SCN_NE: return seen != e->value;
    case SCN_LT: return seen < e->value;
    case SCN_LE: return seen <= e->value;
    case SCN_GT: return seen > e->value;
    case SCN_GE: return seen >= e->value;
    case SCN_RANGE: return seen >= e->value && seen <= e->to;
    case SCN_MATCH: return false;
  }
  return false;
}

static bool text_holds(const char *seen, const struct scn_fact *e) {
  if (e->op == SCN_MATCH) return strstr(seen, e->text) != NULL;
  bool equal = strcmp(seen, e->text) == 0;
  return e->op == SCN_NE ? !equal : e->op == SCN_EQ && equal;
}

/* The trace against the calls expected, in order; both must end together. */
static bool trace_holds(const char *seen, const struct scn_fact *e, char *why, size_t why_n) {
  for (size_t i = 0; i <= e->item_count; i++) {
    const char *want = i < e->item_count ? e->items[i] : "";
    size_t n = strcspn(seen, "\n");
    if (strlen(want) != n || memcmp(want, seen, n) != 0) {
      snprintf(why, why_n, "io.trace: call %zu: expected %s, seen %.*s", i + 1, *want ? want : "nothing more",
               n ? (int)n : 12, n ? seen : "nothing more");
      return false;
    }
    if (seen[n]) seen += n + 1;
  }
  return true;
}

bool facts_hold(const struct facts *f, const struct scn_fact *e, char *why, size_t why_n) {
  static const struct fact none = {.number = 0};
  const struct fact *x = facts_find(f, e->name);
  if (!x && strchr(e->name, '[')) x = &none;
  if (!x) {
    snprintf(why, why_n, "%s was not observed", e->name);
    return false;
  }
  const char *seen = x->is_text ? x->text : "";
  if (e->source == SCN_FROM_TRACE && x->is_text) return trace_holds(seen, e, why, why_n);
  if (e->text) {
    if (text_holds(seen, e)) return true;
    snprintf(why, why_n, "%s: expected %s%s, seen %s", e->name, compare_sign(e->op), e->text, *seen ? seen : "nothing");
    return false;
  }
  if (!x->is_text && number_holds(x->number, e)) return true;
  char want[64];
  if (e->op == SCN_RANGE)
    snprintf(want, sizeof want, "%" PRId64 "..%" PRId64, e->value, e->to);
  else
    snprintf(want, sizeof want, "%s%" PRId64, compare_sign(e->op), e->value);
  if (x->is_text)
    snprintf(why, why_n, "%s: expected %s, seen %s", e->name, want, x->text);
  else
    snprintf(why, why_n, "%s: expected %s, seen %" PRId64, e->name, want, x->number);
  return false;
}
