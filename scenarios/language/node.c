/* Nodes of libyaml's document, and the scalars in them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "language/reader.h"
#include "language/values.h"

/* ---- errors --------------------------------------------------------------------- */

static void note(struct scn_reader *r, scn_node *node, const char *key, const char *text) {
  if (r->failed) return;
  r->failed = true;
  struct scn_problem *p = r->problem;
  p->line = node ? scn_line(node) : 1;
  p->column = node ? (int)node->start_mark.column + 1 : 1;
  snprintf(p->key, sizeof p->key, "%s", key);
  snprintf(p->text, sizeof p->text, "%s:%d: %s%s%s", r->path, p->line, key, *key ? ": " : "", text);
}

bool scn_wrong(struct scn_reader *r, scn_node *node, const char *key, const char *fmt, ...) {
  char text[256];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  note(r, node, key, text);
  return false;
}

bool scn_wrong_near(struct scn_reader *r, scn_node *node, const char *key, const char *kind, const char *nearest,
                    const char *fmt, ...) {
  char text[256];
  va_list ap;
  va_start(ap, fmt);
  const int n = vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  if (nearest && n >= 0 && (size_t)n < sizeof text) {
    snprintf(text + n, sizeof text - (size_t)n, ", nearest valid %s '%s'", kind, nearest);
  }
  note(r, node, key, text);
  return false;
}

bool scn_no_memory(struct scn_reader *r) {
  return scn_wrong(r, NULL, "", "out of memory (a file may make 64 MiB of scenarios)");
}

/* ---- nodes ---------------------------------------------------------------------- */

int scn_line(scn_node *node) { return (int)node->start_mark.line + 1; }

scn_node *scn_node_at(struct scn_reader *r, int index) { return yaml_document_get_node(r->doc, index); }

bool scn_is_scalar(scn_node *node) { return node->type == YAML_SCALAR_NODE; }
bool scn_is_map(scn_node *node) { return node->type == YAML_MAPPING_NODE; }
bool scn_is_list(scn_node *node) { return node->type == YAML_SEQUENCE_NODE; }

size_t scn_size(scn_node *node) {
  if (scn_is_map(node)) return (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
  if (scn_is_list(node)) return (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
  return 0;
}

scn_node *scn_item(struct scn_reader *r, scn_node *list, size_t i) {
  return scn_node_at(r, list->data.sequence.items.start[i]);
}

void scn_pair(struct scn_reader *r, scn_node *map, size_t i, scn_node **key, scn_node **value) {
  const yaml_node_pair_t *pair = &map->data.mapping.pairs.start[i];
  *key = scn_node_at(r, pair->key);
  *value = scn_node_at(r, pair->value);
}

static const char *raw(scn_node *scalar) { return (const char *)scalar->data.scalar.value; }

scn_node *scn_get(struct scn_reader *r, scn_node *map, const char *key) {
  if (!map || !scn_is_map(map)) return NULL;
  for (size_t i = 0; i < scn_size(map); i++) {
    scn_node *k, *v;
    scn_pair(r, map, i, &k, &v);
    if (scn_is_scalar(k) && strcmp(raw(k), key) == 0) return v;
  }
  return NULL;
}

/* ---- ${name} -------------------------------------------------------------------- */

static const char *variable(struct scn_reader *r, const char *name, size_t n) {
  for (size_t i = 0; i < r->vars.count; i++) {
    if (strlen(r->vars.names[i]) == n && memcmp(r->vars.names[i], name, n) == 0) return r->vars.values[i];
  }
  return NULL;
}

static const char *nearest_variable(struct scn_reader *r, const char *name) {
  const char *best = NULL;
  size_t best_distance = SIZE_MAX;
  for (size_t i = 0; i < r->vars.count; i++) {
    const size_t distance = scn_distance(name, r->vars.names[i]);
    if (distance < best_distance) best_distance = distance, best = r->vars.names[i];
  }
  return best;
}

/* ${server}, ${port} and ${ca} belong to the runner, who alone knows them, and stay. */
static bool of_the_runner(const char *name, size_t n) {
  static const char *const names[] = {"server", "port", "ca"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0) return true;
  return false;
}

/* Writes the text with its variables replaced; counts only if out is NULL. */
static bool expand(struct scn_reader *r, scn_node *node, char *out, size_t *length) {
  const char *text = raw(node);
  size_t n = 0;
  while (*text) {
    const char *close = text[0] == '$' && text[1] == '{' ? strchr(text, '}') : NULL;
    if (!close) {
      if (out) out[n] = *text;
      n++, text++;
      continue;
    }
    const size_t name_n = (size_t)(close - text) - 2;
    const char *value = variable(r, text + 2, name_n);
    if (value && strlen(value) > SCN_FILE_BYTES_MAX) return scn_no_memory(r);
    if (!value && !of_the_runner(text + 2, name_n)) {
      char name[64];
      snprintf(name, sizeof name, "%.*s", (int)(name_n < 40 ? name_n : 40), text + 2);
      return scn_wrong_near(r, node, name, "name", nearest_variable(r, name), "no such name in matrix");
    }
    const char *copied = value ? value : text;
    const size_t copied_n = value ? strlen(value) : name_n + 3;
    if (out) memcpy(out + n, copied, copied_n);
    n += copied_n;
    if (n > SCN_FILE_BYTES_MAX) return scn_wrong(r, node, "", "a text of more than 1 MiB");
    text = close + 1;
  }
  *length = n;
  return true;
}

bool scn_text(struct scn_reader *r, scn_node *node, const char **out) {
  if (!node) return true;
  if (!scn_is_scalar(node)) return scn_wrong(r, node, "", "expected a single value");
  const char *text = raw(node);
  const size_t n = node->data.scalar.length;
  if (strlen(text) != n) return scn_wrong(r, node, "", "a text cannot hold a NUL byte");
  if (!strstr(text, "${")) {
    *out = scn_arena_text(r->arena, text, n);
    return *out || scn_no_memory(r);
  }
  size_t length = 0;
  if (!expand(r, node, NULL, &length)) return false;
  char *copy = scn_arena_array(r->arena, length + 1, 1);
  if (!copy) return scn_no_memory(r);
  *out = copy;
  return expand(r, node, copy, &length);
}

/* ---- values by key --------------------------------------------------------------- */

bool scn_get_text(struct scn_reader *r, scn_node *map, const char *key, const char **out) {
  return scn_text(r, scn_get(r, map, key), out);
}

/* Fetches the text of a key for conversion; *text stays NULL if the key is absent. */
static bool fetch(struct scn_reader *r, scn_node *map, const char *key, scn_node **node, const char **text) {
  *text = NULL;
  *node = scn_get(r, map, key);
  return scn_text(r, *node, text);
}

static bool out_of_bounds(struct scn_reader *r, scn_node *node, const char *key, const char *text, int64_t min,
                          int64_t max, const char *unit) {
  if (max == INT64_MAX) return scn_wrong(r, node, key, "%s is less than %" PRId64 "%s", text, min, unit);
  return scn_wrong(r, node, key, "%s is not within %" PRId64 " and %" PRId64 "%s", text, min, max, unit);
}

bool scn_get_int(struct scn_reader *r, scn_node *map, const char *key, int64_t min, int64_t max, int64_t *out) {
  scn_node *node;
  const char *text;
  if (!fetch(r, map, key, &node, &text)) return false;
  int64_t v;
  if (!text || !scn_value_int(text, &v)) return true; /* absent, or another form that the table allows */
  if (v < min || v > max) return out_of_bounds(r, node, key, text, min, max, "");
  *out = v;
  return true;
}

bool scn_get_bool(struct scn_reader *r, scn_node *map, const char *key, bool *out) {
  scn_node *node;
  const char *text;
  if (!fetch(r, map, key, &node, &text)) return false;
  return !text || scn_value_bool(text, out) || scn_wrong(r, node, key, "expected true or false");
}

bool scn_get_duration(struct scn_reader *r, scn_node *map, const char *key, int64_t *ns) {
  scn_node *node;
  const char *text;
  int64_t v;
  if (!fetch(r, map, key, &node, &text)) return false;
  if (text && scn_value_duration(text, &v)) *ns = v;
  return true;
}

bool scn_get_size(struct scn_reader *r, scn_node *map, const char *key, int64_t min, int64_t max, int64_t *bytes) {
  scn_node *node;
  const char *text;
  if (!fetch(r, map, key, &node, &text)) return false;
  int64_t v;
  if (!text || !scn_value_size(text, &v)) return true;
  if (v < min || v > max) return out_of_bounds(r, node, key, text, min, max, " bytes");
  *bytes = v;
  return true;
}

bool scn_get_choice_range(struct scn_reader *r, scn_node *map, const char *key, const char *words, int *index,
                          int64_t *param, int64_t *to) {
  scn_node *node;
  const char *text;
  int64_t value = 0, end = 0;
  node = scn_get(r, map, key);
  if (!node || !scn_is_scalar(node)) return true;
  if (!fetch(r, map, key, &node, &text)) return false;
  const int found = scn_value_choice_range(words, text, &value, &end);
  if (found < 0) return true;
  *index = found;
  *param = value;
  *to = end;
  return true;
}

bool scn_get_choice(struct scn_reader *r, scn_node *map, const char *key, const char *words, int *index,
                    int64_t *param) {
  int64_t value = param ? *param : 0, to;
  if (!scn_get_choice_range(r, map, key, words, index, &value, &to)) return false;
  if (param) *param = value;
  return true;
}

bool scn_get_range(struct scn_reader *r, scn_node *map, const char *key, int64_t min, int64_t max, int64_t *from,
                   int64_t *to) {
  scn_node *node;
  const char *text;
  int64_t a, b;
  if (!fetch(r, map, key, &node, &text)) return false;
  if (!text) return true;
  if (!scn_value_range(text, &a, &b)) {
    if (!scn_value_int(text, &a)) return true; /* another form that the table allows */
    b = a;
  }
  if (a < min || b > max) return out_of_bounds(r, node, key, text, min, max, "");
  *from = a;
  *to = b;
  return true;
}

bool scn_get_durations(struct scn_reader *r, scn_node *map, const char *key, int64_t *from_ns, int64_t *to_ns) {
  scn_node *node;
  const char *text;
  int64_t a, b;
  if (!fetch(r, map, key, &node, &text)) return false;
  if (!text) return true;
  if (!scn_value_durations(text, &a, &b)) {
    if (!scn_value_duration(text, &a)) return true;
    b = a;
  }
  *from_ns = a;
  *to_ns = b;
  return true;
}

bool scn_get_texts(struct scn_reader *r, scn_node *map, const char *key, const char *const **out, size_t *count) {
  scn_node *list = scn_get(r, map, key);
  if (!list) return true;
  const size_t n = scn_size(list);
  const char **texts = scn_arena_array(r->arena, n, sizeof *texts);
  if (!texts) return scn_no_memory(r);
  for (size_t i = 0; i < n; i++) {
    if (!scn_text(r, scn_item(r, list, i), &texts[i])) return false;
  }
  *out = texts;
  *count = n;
  return true;
}
