/* Expectations: names of counters and what they must come to. */
#include <stdio.h>
#include <string.h>

#include "language/names.h"
#include "language/reader.h"
#include "language/values.h"
#include "language/words.h"

#define CALLS_MAX 10000 /* of io.trace */

static bool read_number(struct scn_reader *r, scn_node *node, struct scn_fact *f) {
  const char *text;
  if (!scn_text(r, node, &text)) return false;
  if (scn_value_compare(text, &f->op, &f->value, &f->to)) return true;
  return scn_wrong(r, node, f->name, "'%.40s' is no comparison: write 5, \"<= 5\", \"!= 0\" or \"1..4\"", text);
}

/* A text that must be equal; "!= text" must differ. */
static bool read_equal(struct scn_reader *r, scn_node *node, struct scn_fact *f) {
  if (!scn_text(r, node, &f->text)) return false;
  f->op = SCN_EQ;
  if (strncmp(f->text, "!= ", 3) != 0) return true;
  f->op = SCN_NE;
  f->text += 3;
  return true;
}

static bool read_status(struct scn_reader *r, scn_node *node, struct scn_fact *f) {
  int64_t unused;
  if (!read_equal(r, node, f)) return false;
  if (scn_value_choice("none|ok|" SCN_WORDS_STATUS, f->text, &unused) >= 0) return true;
  return scn_wrong(r, node, f->name, "'%.40s' is no status name such as QWP_REJECTED, nor none, nor ok", f->text);
}

/* "send(100)->40", "send(60)->again", "recv->...", "poll_w", "poll_r": kind, asked, result. */
static bool is_trace_line(const char *line) {
  int64_t n;
  char number[24];
  if (strcmp(line, "poll_w") == 0 || strcmp(line, "poll_r") == 0 || strcmp(line, "recv") == 0) return true;
  if (strncmp(line, "send(", 5) != 0) return false;
  const char *close = strstr(line, ")->");
  if (!close || (size_t)(close - line) - 5 >= sizeof number) return false;
  snprintf(number, sizeof number, "%.*s", (int)(close - line - 5), line + 5);
  if (!scn_value_int(number, &n)) return false;
  const char *result = close + 3;
  return scn_value_int(result, &n) || strcmp(result, "again") == 0 || *result == 'E';
}

/* "54 x send(65520)->65520" is that call 54 times in a row. */
static bool read_call(struct scn_reader *r, scn_node *item, const char *name, const char **call, size_t *times) {
  const char *text;
  char number[24];
  int64_t n = 1;
  if (!scn_text(r, item, &text)) return false;
  const char *x = strstr(text, " x ");
  *call = x ? x + 3 : text;
  if (x) {
    snprintf(number, sizeof number, "%.*s", (int)(x - text), text);
    if (!scn_value_int(number, &n) || n < 1 || n > CALLS_MAX) {
      return scn_wrong(r, item, name, "'%.40s': how often? 1 to %d", text, CALLS_MAX);
    }
  }
  *times = (size_t)n;
  if (is_trace_line(*call)) return true;
  return scn_wrong(r, item, name, "'%.40s' is no call: send(asked)->taken, send(asked)->again, poll_w, poll_r", text);
}

static bool read_trace(struct scn_reader *r, scn_node *node, struct scn_fact *f) {
  if (!scn_is_list(node)) return scn_wrong(r, node, f->name, "expected a list such as [\"send(100)->40\", poll_w]");
  const char *call;
  size_t times, n = 0;
  for (size_t i = 0; i < scn_size(node); i++) {
    if (!read_call(r, scn_item(r, node, i), f->name, &call, &times)) return false;
    if ((n += times) > CALLS_MAX) return scn_wrong(r, node, f->name, "more than %d calls", CALLS_MAX);
  }
  const char **items = scn_arena_array(r->arena, n, sizeof *items);
  if (!items) return scn_no_memory(r);
  f->item_count = 0;
  for (size_t i = 0; i < scn_size(node); i++) {
    if (!read_call(r, scn_item(r, node, i), f->name, &call, &times)) return false;
    while (times-- > 0) items[f->item_count++] = call;
  }
  f->op = SCN_EQ;
  f->items = items;
  return true;
}

/* What stands in the brackets: a number for connections, else a name. */
static bool read_selector(struct scn_reader *r, scn_node *node, struct scn_fact *f, const char *selector, size_t n) {
  if (!selector) return true;
  f->selector = scn_arena_text(r->arena, selector, n);
  if (!f->selector) return scn_no_memory(r);
  if (f->source != SCN_FROM_CONN && f->source != SCN_FROM_DICT) return true;
  if (scn_value_int(f->selector, &f->index) && f->index >= 1 && f->index <= INT32_MAX) {
    f->selector = NULL;
    return true;
  }
  return scn_wrong(r, node, f->name, "the bracket holds a connection number, from 1");
}

static bool read_fact(struct scn_reader *r, scn_node *key, scn_node *value, struct scn_fact *f) {
  const char *selector;
  size_t selector_n;
  *f = (struct scn_fact){.line = scn_line(key)};
  const char *written = (const char *)key->data.scalar.value;
  f->name = scn_arena_text(r->arena, written, strlen(written));
  if (!f->name) return scn_no_memory(r);
  const struct scn_name *name = scn_name_find(f->name, &selector, &selector_n);
  if (!name) return scn_wrong(r, key, f->name, "no such counter"); /* the check has told the nearest */
  f->source = name->source;
  const char *field = strstr(name->name, "[].");
  f->field = field ? field + 3 : f->name;
  if (!read_selector(r, key, f, selector, selector_n)) return false;
  switch (name->kind) {
    case SCN_NAME_NUMBER: return read_number(r, value, f);
    case SCN_NAME_TEXT: return read_equal(r, value, f);
    case SCN_NAME_CONTAINS: f->op = SCN_MATCH; return scn_text(r, value, &f->text);
    case SCN_NAME_STATUS: return read_status(r, value, f);
    case SCN_NAME_LIST: return read_trace(r, value, f);
  }
  return false;
}

bool scn_read_facts(struct scn_reader *r, scn_node *map, const char *skip, const struct scn_fact **out, size_t *count) {
  struct scn_fact *facts = scn_arena_array(r->arena, scn_size(map), sizeof *facts);
  if (!facts) return scn_no_memory(r);
  size_t n = 0;
  for (size_t i = 0; i < scn_size(map); i++) {
    scn_node *key, *value;
    scn_pair(r, map, i, &key, &value);
    if (skip && strcmp((const char *)key->data.scalar.value, skip) == 0) continue;
    if (!read_fact(r, key, value, &facts[n++])) return false;
  }
  *out = facts;
  *count = n;
  return true;
}

/* Virtual time exists in one world: elsewhere nobody could judge it. */
static bool check_worlds(struct scn_reader *r, scn_node *map, const struct scn_scenario *s, const struct scn_fact *f,
                         size_t n) {
  if (!s->worlds[SCN_LIVE] && !s->worlds[SCN_TLS]) return true;
  for (size_t i = 0; i < n; i++)
    if (f[i].source == SCN_FROM_WORLD) {
      return scn_wrong(r, scn_get(r, map, f[i].name), f[i].name,
                       "is known in the simulated world only: write expect_sim");
    }
  return true;
}

bool scn_read_expect(struct scn_reader *r, scn_node *root, struct scn_scenario *s) {
  scn_node *expect = scn_get(r, root, "expect"), *sim = scn_get(r, root, "expect_sim");
  const struct scn_fact *everywhere, *only_sim = NULL;
  size_t n = 0, sim_n = 0;
  if (!scn_read_facts(r, expect, NULL, &everywhere, &n) || !check_worlds(r, expect, s, everywhere, n)) return false;
  if (sim && !s->worlds[SCN_SIM]) return scn_wrong(r, sim, "expect_sim", "the scenario does not run in the world sim");
  if (sim && !scn_read_facts(r, sim, NULL, &only_sim, &sim_n)) return false;
  struct scn_fact *all = scn_arena_array(r->arena, n + sim_n, sizeof *all);
  if (!all) return scn_no_memory(r);
  for (size_t i = 0; i < n; i++) all[i] = everywhere[i];
  for (size_t i = 0; i < sim_n; i++) {
    all[n + i] = only_sim[i];
    all[n + i].only_sim = true;
  }
  s->expect = all;
  s->expect_count = n + sim_n;
  return true;
}

bool scn_read_client_facts(struct scn_reader *r, scn_node *map, const char *skip, const struct scn_fact **out,
                           size_t *count) {
  if (!scn_read_facts(r, map, skip, out, count)) return false;
  for (size_t i = 0; i < *count; i++) {
    const struct scn_fact *f = &(*out)[i];
    if (f->source == SCN_FROM_METRICS || f->source == SCN_FROM_FAULTS) continue;
    return scn_wrong(r, scn_get(r, map, f->name), f->name,
                     "a step knows the client's counters only: judge this in expect");
  }
  return true;
}
