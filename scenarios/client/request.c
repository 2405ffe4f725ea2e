#include "client/request.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words of the protocol, in the order of the enums they stand for. */
static const char *const flush_words[] = {"each", "end", "none", "acked", "every"};
static const char *const compare_words[] = {"==", "!=", "<", "<=", ">", ">=", "..", "contains"};
static const char *const phase_words[] = {"data", "upgrade", "any"};
static const char *const kind_words[] = {"data", "control", "any"};
static const char *const do_words[] = {"errno", "short", "again", "delay-before", "delay-return",
                                       "rst",   "fin",   "corrupt", "chunk"};
static const char *const repeat_words[] = {"once", "times", "forever", "until"};

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- writing ------------------------------------------------------------------ */

static void put_int(json_t *o, const char *key, int64_t v) {
  if (v) json_object_set_new(o, key, json_integer(v));
}

static void put_text(json_t *o, const char *key, const char *v) {
  if (v) json_object_set_new(o, key, json_string(v));
}

static json_t *fact_json(const struct scn_fact *e) {
  json_t *o = json_pack("{s:s, s:s}", "name", e->name, "is", compare_words[e->op]);
  json_object_set_new(o, "line", json_integer(e->line));
  if (e->text)
    put_text(o, "text", e->text);
  else
    json_object_set_new(o, "value", json_integer(e->value));
  if (e->op == SCN_RANGE) json_object_set_new(o, "to", json_integer(e->to));
  return o;
}

static json_t *step_json(const struct scn_step *s) {
  json_t *o = json_pack("{s:s, s:i}", "do", scn_step_name(s->kind), "line", s->line);
  if (s->kind == SCN_PUBLISH) {
    put_text(o, "schema", workload_schema_name(s->work.schema));
    put_text(o, "flush", flush_words[s->flush]);
    put_int(o, "rows", s->work.rows);
    put_int(o, "frame_bytes", s->work.frame_bytes);
    put_int(o, "symbol_bytes", s->work.symbol_bytes);
    put_int(o, "every", s->every);
  }
  put_text(o, "error", s->error);
  put_int(o, "within_ns", s->within_ns);
  put_int(o, "timeout_ms", s->timeout_ms);
  put_int(o, "advance_ns", s->advance_ns);
  put_int(o, "messages", s->messages);
  put_text(o, "text", s->text);
  if (s->fact_count) {
    json_t *facts = json_array();
    for (size_t i = 0; i < s->fact_count; i++) json_array_append_new(facts, fact_json(&s->facts[i]));
    json_object_set_new(o, "facts", facts);
  }
  return o;
}

static json_t *rule_json(const struct fault_rule *r) {
  json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}", "at", fault_point_name(r->point), "phase",
                        phase_words[r->phase], "kind", kind_words[r->kind], "do", do_words[r->act], "repeat",
                        repeat_words[r->repeat], "line", r->line);
  json_object_set_new(o, "byte", json_integer(r->byte));
  put_int(o, "connection", r->connection);
  put_int(o, "nth", r->nth);
  put_int(o, "frame", r->frame);
  put_int(o, "least_bytes", r->least_bytes);
  put_int(o, "errno", r->err);
  put_int(o, "value", r->value);
  if (r->value_to > r->value) put_int(o, "value_to", r->value_to);
  put_int(o, "times", r->times);
  put_int(o, "every", r->every);
  if (r->until[0]) put_text(o, "until", r->until);
  return o;
}

/* Names of the client that `expect` will judge: an adapter that does not count one of them can say so at once. */
static json_t *judged_json(const struct scn_scenario *s) {
  json_t *names = json_array();
  for (size_t i = 0; i < s->expect_count; i++) {
    if (s->expect[i].only_sim) continue;
    enum scn_source from = s->expect[i].source;
    bool counted = from == SCN_FROM_METRICS || from == SCN_FROM_FAULTS;
    if (counted || from == SCN_FROM_CLIENT || from == SCN_FROM_TRACE || from == SCN_FROM_SAMPLES)
      json_array_append_new(names, json_string(s->expect[i].name));
  }
  return names;
}

char *request_write(const struct scn_scenario *s, const char *config, uint64_t seed, bool no_deadline) {
  json_t *steps = json_array(), *rules = json_array();
  for (size_t i = 0; i < s->step_count; i++) json_array_append_new(steps, step_json(&s->steps[i]));
  for (size_t i = 0; i < s->faults.rule_count; i++) json_array_append_new(rules, rule_json(&s->faults.rules[i]));
  json_t *o = json_pack("{s:i, s:s, s:b, s:b, s:b, s:o, s:o, s:o}", "request", REQUEST_VERSION, "config", config,
                        "dense_dictionary", s->dense_dictionary, "receiver", s->receiver, "no_deadline", no_deadline,
                        "steps", steps, "faults", rules, "judged", judged_json(s));
  put_text(o, "create_error", s->create_error);
  put_int(o, "send_buffer_bytes", s->net.send_buffer_bytes);
  put_int(o, "recv_buffer_bytes", s->net.recv_buffer_bytes);
  put_int(o, "seed", (int64_t)seed);
  char *line = json_dumps(o, JSON_COMPACT);
  json_decref(o);
  return line;
}

char *reply_write(const struct reply *r) {
  if (r->unsupported[0]) {
    json_t *short_one = json_pack("{s:i, s:s}", "reply", REQUEST_VERSION, "unsupported", r->unsupported);
    char *text = short_one ? json_dumps(short_one, JSON_COMPACT) : NULL;
    json_decref(short_one);
    return text;
  }
  json_t *facts = json_object();
  for (size_t i = 0; i < r->facts.count; i++) {
    const struct fact *f = &r->facts.at[i];
    json_object_set_new(facts, f->name, f->is_text ? json_string(f->text) : json_integer(f->number));
  }
  json_t *o = json_pack("{s:i, s:b, s:i, s:s, s:s, s:o}", "reply", REQUEST_VERSION, "ok", r->ok, "line", r->line, "why",
                        r->why, "unfired", r->unfired, "facts", facts);
  char *line = o ? json_dumps(o, JSON_COMPACT) : NULL;
  json_decref(o);
  return line;
}

/* ---- reading ------------------------------------------------------------------ */

struct reading {
  char *why;
  size_t why_n;
  bool bad;
};

static void bad(struct reading *rd, const char *key, const char *what) {
  if (!rd->bad) snprintf(rd->why, rd->why_n, "%s: %s", key, what);
  rd->bad = true;
}

static int64_t get_int(struct reading *rd, json_t *o, const char *key, int64_t otherwise) {
  json_t *v = json_object_get(o, key);
  if (!v) return otherwise;
  if (!json_is_integer(v)) bad(rd, key, "an integer is wanted");
  return json_integer_value(v);
}

static const char *get_text(struct reading *rd, json_t *o, const char *key) {
  json_t *v = json_object_get(o, key);
  if (v && !json_is_string(v)) bad(rd, key, "a string is wanted");
  return json_string_value(v);
}

static int get_word(struct reading *rd, json_t *o, const char *key, const char *const *words, size_t n) {
  const char *word = get_text(rd, o, key);
  for (size_t i = 0; word && i < n; i++)
    if (strcmp(word, words[i]) == 0) return (int)i;
  bad(rd, key, word ? word : "missing");
  return 0;
}

static enum scn_step_kind get_step_kind(struct reading *rd, json_t *o) {
  const char *word = get_text(rd, o, "do");
  for (int k = SCN_HOLD; word && k < SCN_STEP_KINDS; k++)
    if (strcmp(word, scn_step_name((enum scn_step_kind)k)) == 0) return (enum scn_step_kind)k;
  bad(rd, "do", word ? word : "missing");
  return SCN_HOLD;
}

static void read_work(struct reading *rd, json_t *o, struct scn_step *s) {
  const char *schema = get_text(rd, o, "schema");
  bool known = false;
  for (int k = 0; schema && k < WORKLOAD_SCHEMAS; k++)
    if (strcmp(schema, workload_schema_name((enum workload_schema)k)) == 0) {
      s->work.schema = (enum workload_schema)k;
      known = true;
    }
  if (!known) bad(rd, "schema", schema ? schema : "missing");
  s->flush = (enum scn_flush)get_word(rd, o, "flush", flush_words, COUNT(flush_words));
  s->work.rows = get_int(rd, o, "rows", 0);
  s->work.frame_bytes = get_int(rd, o, "frame_bytes", 0);
  s->work.symbol_bytes = get_int(rd, o, "symbol_bytes", 0);
  s->every = get_int(rd, o, "every", 1);
  if (s->every < 1) bad(rd, "every", "1 or more is wanted");
}

static void read_fact(struct reading *rd, json_t *o, struct scn_fact *e) {
  e->name = get_text(rd, o, "name");
  if (!e->name) bad(rd, "name", "missing");
  e->line = (int)get_int(rd, o, "line", 0);
  e->op = (enum scn_compare)get_word(rd, o, "is", compare_words, COUNT(compare_words));
  e->value = get_int(rd, o, "value", 0);
  e->to = get_int(rd, o, "to", 0);
  e->text = get_text(rd, o, "text");
}

static void read_step(struct reading *rd, json_t *o, struct scn_step *s, struct scn_fact **next) {
  s->kind = get_step_kind(rd, o);
  s->line = (int)get_int(rd, o, "line", 0);
  if (s->kind == SCN_PUBLISH) read_work(rd, o, s);
  s->error = get_text(rd, o, "error");
  s->within_ns = get_int(rd, o, "within_ns", 0);
  s->timeout_ms = get_int(rd, o, "timeout_ms", 0);
  s->advance_ns = get_int(rd, o, "advance_ns", 0);
  s->messages = get_int(rd, o, "messages", 0);
  s->text = get_text(rd, o, "text");
  json_t *facts = json_object_get(o, "facts");
  s->facts = *next;
  s->fact_count = json_array_size(facts);
  for (size_t i = 0; i < s->fact_count; i++) read_fact(rd, json_array_get(facts, i), (*next)++);
}

static void read_rule(struct reading *rd, json_t *o, struct fault_rule *r) {
  const char *at = get_text(rd, o, "at");
  bool known = false;
  for (int p = 0; at && p < FAULT_POINTS; p++)
    if (strcmp(at, fault_point_name((enum fault_point)p)) == 0) {
      r->point = (enum fault_point)p;
      known = true;
    }
  if (!known) bad(rd, "at", at ? at : "missing");
  r->phase = (enum fault_phase)get_word(rd, o, "phase", phase_words, COUNT(phase_words));
  r->kind = (enum fault_kind)get_word(rd, o, "kind", kind_words, COUNT(kind_words));
  r->act = (enum fault_do)get_word(rd, o, "do", do_words, COUNT(do_words));
  r->repeat = (enum fault_repeat)get_word(rd, o, "repeat", repeat_words, COUNT(repeat_words));
  r->line = (int)get_int(rd, o, "line", 0);
  r->byte = get_int(rd, o, "byte", -1);
  r->connection = (int)get_int(rd, o, "connection", 0);
  r->nth = get_int(rd, o, "nth", 0);
  r->frame = get_int(rd, o, "frame", 0);
  r->least_bytes = get_int(rd, o, "least_bytes", 0);
  r->err = (int)get_int(rd, o, "errno", 0);
  r->value = get_int(rd, o, "value", 0);
  r->value_to = get_int(rd, o, "value_to", 0);
  r->times = get_int(rd, o, "times", 0);
  r->every = get_int(rd, o, "every", 0);
  const char *until = get_text(rd, o, "until");
  if (until) snprintf(r->until, sizeof r->until, "%s", until);
}

/* All facts of all steps stand in one array, so that one count sizes it. */
static size_t fact_total(json_t *steps) {
  size_t total = 0, i;
  json_t *step;
  json_array_foreach(steps, i, step) total += json_array_size(json_object_get(step, "facts"));
  return total;
}

bool request_read(const char *line, struct request *out, char *why, size_t why_n) {
  *out = (struct request){0};
  json_error_t e;
  json_t *o = json_loads(line, JSON_REJECT_DUPLICATES, &e);
  if (!o) {
    snprintf(why, why_n, "column %d: %s", e.column, e.text);
    return false;
  }
  out->json = o;
  struct reading rd = {.why = why, .why_n = why_n};
  if (get_int(&rd, o, "request", 0) != REQUEST_VERSION) bad(&rd, "request", "only version 1 is known");
  json_t *steps = json_object_get(o, "steps"), *rules = json_object_get(o, "faults");
  size_t step_n = json_array_size(steps), rule_n = json_array_size(rules);
  out->steps = calloc(step_n + 1, sizeof *out->steps);
  out->facts = calloc(fact_total(steps) + 1, sizeof *out->facts);
  out->rules = calloc(rule_n + 1, sizeof *out->rules);
  if (!out->steps || !out->facts || !out->rules) {
    snprintf(why, why_n, "out of memory");
    return false;
  }
  struct scn_fact *next = out->facts;
  for (size_t i = 0; i < step_n; i++) read_step(&rd, json_array_get(steps, i), &out->steps[i], &next);
  for (size_t i = 0; i < rule_n; i++) read_rule(&rd, json_array_get(rules, i), &out->rules[i]);
  out->task = (struct client_task){.config = get_text(&rd, o, "config"),
                                   .dense_dictionary = json_is_true(json_object_get(o, "dense_dictionary")),
                                   .receiver = json_is_true(json_object_get(o, "receiver")),
                                   .create_error = get_text(&rd, o, "create_error"),
                                   .steps = out->steps,
                                   .step_count = step_n,
                                   .no_deadline = json_is_true(json_object_get(o, "no_deadline"))};
  out->plan = (struct fault_plan){.rules = out->rules, .rule_count = rule_n};
  out->send_buffer_bytes = get_int(&rd, o, "send_buffer_bytes", 0);
  out->recv_buffer_bytes = get_int(&rd, o, "recv_buffer_bytes", 0);
  out->seed = (uint64_t)get_int(&rd, o, "seed", 0);
  if (!out->task.config) bad(&rd, "config", "missing");
  return !rd.bad;
}

void request_free(struct request *r) {
  json_decref(r->json);
  free(r->steps);
  free(r->facts);
  free(r->rules);
  *r = (struct request){0};
}

/* What the client says of a run that it made. */
static void read_outcome(struct reading *rd, json_t *o, struct reply *out) {
  json_t *ok = json_object_get(o, "ok"), *facts = json_object_get(o, "facts");
  if (!json_is_boolean(ok)) bad(rd, "ok", "true or false is wanted");
  if (!json_is_object(facts)) bad(rd, "facts", "an object is wanted");
  out->ok = json_is_true(ok);
  out->line = (int)get_int(rd, o, "line", 0);
  const char *text = get_text(rd, o, "why"), *unfired = get_text(rd, o, "unfired");
  if (!unfired) bad(rd, "unfired", "a string is wanted, empty if every fault fired");
  snprintf(out->why, sizeof out->why, "%s", text ? text : "");
  snprintf(out->unfired, sizeof out->unfired, "%s", unfired ? unfired : "");
  const char *name;
  json_t *value;
  json_object_foreach(facts, name, value) {
    if (json_is_string(value))
      facts_text(&out->facts, name, json_string_value(value));
    else if (json_is_integer(value))
      facts_number(&out->facts, name, json_integer_value(value));
    else
      bad(rd, name, "an integer or a string is wanted");
  }
}

bool reply_read(const char *line, struct reply *out, char *why, size_t why_n) {
  *out = (struct reply){0};
  facts_init(&out->facts);
  json_error_t e;
  json_t *o = json_loads(line, JSON_REJECT_DUPLICATES, &e);
  if (!o) {
    snprintf(why, why_n, "the client's answer is no line of JSON: column %d: %s", e.column, e.text);
    return false;
  }
  struct reading rd = {.why = why, .why_n = why_n};
  if (get_int(&rd, o, "reply", 0) != REQUEST_VERSION) bad(&rd, "reply", "only version 1 is known");
  const char *unsupported = get_text(&rd, o, "unsupported");
  if (unsupported && !*unsupported) bad(&rd, "unsupported", "a reason is wanted");
  if (unsupported)
    snprintf(out->unsupported, sizeof out->unsupported, "%s", unsupported);
  else
    read_outcome(&rd, o, out);
  json_decref(o);
  if (rd.bad) reply_free(out);
  return !rd.bad;
}

void reply_free(struct reply *r) { facts_free(&r->facts); }
