#include "runner/catalogue.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* SCN_RULES: the folder with requirements.yaml and the tables, given by the build. */

struct rule {
  char *id, *about, *title, *text, *source; /* source may be "" */
};

struct catalogue {
  struct rule *at;
  size_t count;
};

static void *must(void *p) {
  if (!p) {
    fputs("out of memory\n", stderr);
    exit(3);
  }
  return p;
}

static char *copy(const char *text, size_t n) {
  char *out = must(malloc(n + 1));
  memcpy(out, text, n);
  out[n] = '\0';
  return out;
}

/* Up to the first period, colon or semicolon that a blank follows. */
static size_t first_sentence(const char *text) {
  size_t n = strlen(text);
  for (size_t i = 0; i + 1 < n; i++)
    if (strchr(".;:", text[i]) && text[i + 1] == ' ') return i;
  return n && text[n - 1] == '.' ? n - 1 : n;
}

static void add(struct catalogue *c, const char *id, const char *about, const char *text, const char *source) {
  c->at = must(realloc(c->at, (c->count + 1) * sizeof *c->at));
  c->at[c->count++] = (struct rule){
      .id = copy(id, strlen(id)),
      .about = copy(about, strlen(about)),
      .title = copy(text, first_sentence(text)),
      .text = copy(text, strlen(text)),
      .source = copy(source, strlen(source)),
  };
}

/* ---- requirements.yaml: a list of mappings ---- */

static const char *value_of(yaml_document_t *doc, const yaml_node_t *map, const char *key) {
  for (const yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
    const yaml_node_t *k = yaml_document_get_node(doc, p->key), *v = yaml_document_get_node(doc, p->value);
    if (!k || !v || k->type != YAML_SCALAR_NODE || v->type != YAML_SCALAR_NODE) continue;
    if (strcmp((const char *)k->data.scalar.value, key) == 0) return (const char *)v->data.scalar.value;
  }
  return "";
}

static void add_requirements(struct catalogue *c, yaml_document_t *doc) {
  const yaml_node_t *root = yaml_document_get_root_node(doc);
  if (!root || root->type != YAML_SEQUENCE_NODE) return;
  for (const yaml_node_item_t *i = root->data.sequence.items.start; i < root->data.sequence.items.top; i++) {
    const yaml_node_t *map = yaml_document_get_node(doc, *i);
    if (!map || map->type != YAML_MAPPING_NODE) continue;
    char about[80];
    snprintf(about, sizeof about, "requirement, %s, %s", value_of(doc, map, "side"), value_of(doc, map, "level"));
    add(c, value_of(doc, map, "id"), about, value_of(doc, map, "text"), value_of(doc, map, "source"));
  }
}

static void read_requirements(struct catalogue *c) {
  FILE *f = fopen(SCN_RULES "/requirements.yaml", "r");
  if (!f) return;
  yaml_parser_t parser;
  yaml_document_t doc;
  if (yaml_parser_initialize(&parser)) {
    yaml_parser_set_input_file(&parser, f);
    if (yaml_parser_load(&parser, &doc)) {
      add_requirements(c, &doc);
      yaml_document_delete(&doc);
    }
    yaml_parser_delete(&parser);
  }
  fclose(f);
}

/* ---- the tables: a rule a line, columns parted by tabs ---- */

/* Adds a rule for one line; columns that are missing are "". */
typedef void table_line(struct catalogue *c, const char *id, const char *second, const char *third);

static char *next_column(char *column) {
  char *tab = column + strcspn(column, "\t");
  if (*tab) *tab++ = '\0';
  return tab;
}

static void read_table(struct catalogue *c, const char *path, table_line *add_line) {
  FILE *f = fopen(path, "r");
  if (!f) return;
  char *line = NULL;
  size_t cap = 0;
  while (getline(&line, &cap, f) > 0) {
    line[strcspn(line, "\n")] = '\0';
    if (!*line || *line == '#') continue;
    char *second = next_column(line), *third = next_column(second);
    next_column(third);
    add_line(c, line, second, third);
  }
  free(line);
  fclose(f);
}

static void add_item(struct catalogue *c, const char *id, const char *tag, const char *title) {
  char about[80];
  snprintf(about, sizeof about, "seed item, %s", tag);
  add(c, id, about, title, "");
}

static void add_case(struct catalogue *c, const char *id, const char *title, const char *unused) {
  (void)unused;
  add(c, id, "case, a bug of a real program", title, "");
}

static void add_conflict(struct catalogue *c, const char *id, const char *what, const char *position) {
  char *text = must(malloc(strlen(what) + strlen(position) + sizeof " Taken: "));
  sprintf(text, "%s Taken: %s", what, position);
  add(c, id, "where the sources disagree", text, "");
  free(text);
}

struct catalogue *catalogue_load(void) {
  struct catalogue *c = must(calloc(1, sizeof *c));
  read_requirements(c);
  read_table(c, SCN_RULES "/seed-items.tsv", add_item);
  read_table(c, SCN_RULES "/cases.tsv", add_case);
  read_table(c, SCN_RULES "/conflicts.tsv", add_conflict);
  return c;
}

void catalogue_free(struct catalogue *c) {
  if (!c) return;
  for (size_t i = 0; i < c->count; i++) {
    struct rule *r = &c->at[i];
    free(r->id), free(r->about), free(r->title), free(r->text), free(r->source);
  }
  free(c->at);
  free(c);
}

static const struct rule *find(const struct catalogue *c, const char *id) {
  for (size_t i = 0; i < c->count; i++)
    if (strcmp(c->at[i].id, id) == 0) return &c->at[i];
  return NULL;
}

const char *catalogue_title(const struct catalogue *c, const char *id) {
  const struct rule *r = find(c, id);
  return r ? r->title : NULL;
}

bool catalogue_explain(const struct catalogue *c, FILE *out, const char *id) {
  const struct rule *r = find(c, id);
  if (!r) return false;
  fprintf(out, "%s (%s)\n  %s\n", r->id, r->about, r->text);
  if (*r->source) fprintf(out, "  source: %s\n", r->source);
  return true;
}
