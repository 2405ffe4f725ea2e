#include "language/matrix.h"

#include <stdio.h>
#include <string.h>

#include "language/values.h"

#define COLUMNS_MAX 16u
#define VALUE_BYTES_MAX 256u

static const char *key_text(scn_node *key) { return (const char *)key->data.scalar.value; }

/* Names are plain words, so that ${name} cannot be misread and a name prints as it is typed. */
static bool check_name(struct scn_reader *r, scn_node *key) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  if (!scn_is_scalar(key)) return scn_wrong(r, key, "matrix", "a name must be a single word");
  const char *name = key_text(key);
  if (!*name || name[strspn(name, letters)]) return scn_wrong(r, key, "matrix", "names are letters, digits and _");
  if (strcmp(name, "server") == 0) return scn_wrong(r, key, "matrix", "${server} is the address of the mock");
  if (strcmp(name, "port") == 0) return scn_wrong(r, key, "matrix", "${port} is the port of the mock");
  if (strcmp(name, "ca") == 0) return scn_wrong(r, key, "matrix", "${ca} is the file with the CA of the world tls");
  return true;
}

static bool read_names(struct scn_reader *r, scn_node *map, const char **names) {
  for (size_t i = 0; i < scn_size(map); i++) {
    scn_node *key, *value;
    scn_pair(r, map, i, &key, &value);
    if (!check_name(r, key)) return false;
    names[i] = scn_arena_text(r->arena, key_text(key), strlen(key_text(key)));
    if (!names[i]) return scn_no_memory(r);
    for (size_t j = 0; j < i; j++) {
      if (strcmp(names[i], names[j]) == 0) return scn_wrong(r, key, names[i], "given twice in matrix");
    }
  }
  return true;
}

static bool cell(struct scn_reader *r, scn_node *value, const char *name, const char **out) {
  if (!scn_is_scalar(value)) return scn_wrong(r, value, name, "a value of a matrix is a single value");
  if (!scn_text(r, value, out)) return false;
  if (strlen(*out) > VALUE_BYTES_MAX) return scn_wrong(r, value, name, "longer than %u bytes", VALUE_BYTES_MAX);
  return true;
}

/* ---- lists by name: the cross product --------------------------------------------- */

struct column { const char **values; size_t count; };

static bool column_size(struct scn_reader *r, scn_node *list, const char *name, size_t *count) {
  *count = 0;
  if (!scn_is_list(list) || scn_size(list) == 0) return scn_wrong(r, list, name, "expected a list of values");
  for (size_t i = 0; i < scn_size(list); i++) {
    const char *text;
    int64_t from, to;
    if (!cell(r, scn_item(r, list, i), name, &text)) return false;
    const uint64_t more = scn_value_range(text, &from, &to) ? (uint64_t)to - (uint64_t)from : 0;
    if (more < SCN_SCENARIOS_MAX) *count += (size_t)more + 1;
    if (more >= SCN_SCENARIOS_MAX || *count > SCN_SCENARIOS_MAX) {
      return scn_wrong(r, list, name, "more than %d values", SCN_SCENARIOS_MAX);
    }
  }
  return true;
}

static bool read_column(struct scn_reader *r, scn_node *list, const char *name, struct column *c) {
  if (!column_size(r, list, name, &c->count)) return false;
  c->values = scn_arena_array(r->arena, c->count, sizeof *c->values);
  if (!c->values) return scn_no_memory(r);
  size_t n = 0;
  for (size_t i = 0; i < scn_size(list); i++) {
    const char *text;
    int64_t from, to;
    if (!cell(r, scn_item(r, list, i), name, &text)) return false;
    if (!scn_value_range(text, &from, &to)) {
      c->values[n++] = text;
      continue;
    }
    for (uint64_t j = 0; j <= (uint64_t)to - (uint64_t)from; j++) {
      char number[24];
      const int length = snprintf(number, sizeof number, "%lld", (long long)(from + (int64_t)j));
      c->values[n] = scn_arena_text(r->arena, number, (size_t)length);
      if (!c->values[n++]) return scn_no_memory(r);
    }
  }
  return true;
}

static bool cross(struct scn_reader *r, scn_node *map, struct scn_matrix *out) {
  struct column columns[COLUMNS_MAX];
  out->lines = 1;
  for (size_t i = 0; i < out->columns; i++) {
    scn_node *key, *list;
    scn_pair(r, map, i, &key, &list);
    if (!read_column(r, list, out->names[i], &columns[i])) return false;
    out->lines *= columns[i].count;
    if (out->lines > SCN_SCENARIOS_MAX) return scn_wrong(r, map, "matrix", "more than %d lines", SCN_SCENARIOS_MAX);
  }
  const char **cells = scn_arena_array(r->arena, out->lines * out->columns, sizeof *cells);
  if (!cells) return scn_no_memory(r);
  for (size_t line = 0; line < out->lines; line++) {
    size_t rest = line; /* the last column turns fastest */
    for (size_t i = out->columns; i-- > 0;) {
      cells[line * out->columns + i] = columns[i].values[rest % columns[i].count];
      rest /= columns[i].count;
    }
  }
  out->cells = cells;
  return true;
}

/* ---- a list of lines ---------------------------------------------------------------- */

static bool read_line(struct scn_reader *r, scn_node *map, const struct scn_matrix *m, const char **cells) {
  if (!scn_is_map(map) || scn_size(map) != m->columns) {
    return scn_wrong(r, map, "matrix", "each line must have the names of the first");
  }
  for (size_t i = 0; i < m->columns; i++) {
    scn_node *value = scn_get(r, map, m->names[i]);
    if (!value) return scn_wrong(r, map, m->names[i], "missing in this line of matrix");
    if (!cell(r, value, m->names[i], &cells[i])) return false;
  }
  return true;
}

static bool explicit_lines(struct scn_reader *r, scn_node *list, struct scn_matrix *out) {
  out->lines = scn_size(list);
  if (out->lines > SCN_SCENARIOS_MAX) return scn_wrong(r, list, "matrix", "more than %d lines", SCN_SCENARIOS_MAX);
  const char **cells = scn_arena_array(r->arena, out->lines * out->columns, sizeof *cells);
  if (!cells) return scn_no_memory(r);
  for (size_t i = 0; i < out->lines; i++) {
    if (!read_line(r, scn_item(r, list, i), out, cells + i * out->columns)) return false;
  }
  out->cells = cells;
  return true;
}

bool scn_matrix_read(struct scn_reader *r, scn_node *node, struct scn_matrix *out) {
  *out = (struct scn_matrix){.lines = 1};
  if (!node) return true;
  const bool list = scn_is_list(node);
  if (list && scn_size(node) == 0) return scn_wrong(r, node, "matrix", "has no line");
  scn_node *first = list ? scn_item(r, node, 0) : node;
  if (!scn_is_map(first)) return scn_wrong(r, node, "matrix", "expected a mapping of lists, or a list of mappings");
  out->columns = scn_size(first);
  if (out->columns == 0 || out->columns > COLUMNS_MAX) {
    return scn_wrong(r, node, "matrix", "has 1 to %u names", COLUMNS_MAX);
  }
  const char **names = scn_arena_array(r->arena, out->columns, sizeof *names);
  if (!names) return scn_no_memory(r);
  if (!read_names(r, first, names)) return false;
  out->names = names;
  return list ? explicit_lines(r, node, out) : cross(r, node, out);
}

struct scn_vars scn_matrix_line(const struct scn_matrix *m, size_t line) {
  return (struct scn_vars){m->names, m->cells ? m->cells + line * m->columns : NULL, m->columns};
}

const char *scn_matrix_name(struct scn_arena *a, const char *stem, struct scn_vars line) {
  size_t n = strlen(stem) + 3;
  for (size_t i = 0; i < line.count; i++) n += strlen(line.names[i]) + strlen(line.values[i]) + 2;
  char *name = scn_arena_array(a, n, 1);
  if (!name) return NULL;
  size_t used = (size_t)snprintf(name, n, "%s%s", stem, line.count ? "[" : "");
  for (size_t i = 0; i < line.count; i++) {
    used += (size_t)snprintf(name + used, n - used, "%s%s=%s", i ? "," : "", line.names[i], line.values[i]);
  }
  if (line.count) snprintf(name + used, n - used, "]");
  return name;
}
