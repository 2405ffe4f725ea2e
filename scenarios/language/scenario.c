/* The whole: a file, its YAML document, its matrix, its scenarios. */
#include "language/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "language/matrix.h"
#include "language/reader.h"

const char *scn_world_name(enum scn_world w) {
  static const char *const names[SCN_WORLDS] = {"sim", "live", "tls"};
  return (unsigned)w < SCN_WORLDS ? names[w] : "?";
}

void scn_file_free(struct scn_file *f) {
  scn_arena_del(f->arena);
  *f = (struct scn_file){0};
}

/* ---- one scenario ------------------------------------------------------------------- */

typedef bool (*build_fn)(struct scn_reader *r, scn_node *root, struct scn_scenario *s);

static bool build_scenario(struct scn_reader *r, scn_node *root, struct scn_scenario *s) {
  return scn_check(r, root, "") && scn_read_top(r, root, s) && scn_read_client(r, scn_get(r, root, "client"), s) &&
         scn_read_server_part(r, root, &s->server) && scn_read_faults(r, scn_get(r, root, "faults"), &s->faults) &&
         scn_read_expect(r, root, s) && scn_check_tls(r, root, s);
}

/* A file with a claim is a scenario and is checked as one; else only the server's keys may stand in it. */
static bool build_server(struct scn_reader *r, scn_node *root, struct scn_scenario *s) {
  if (scn_get(r, root, "claim")) return scn_check(r, root, "") && scn_read_server_part(r, root, &s->server);
  return scn_check(r, root, "script") && scn_read_server_part(r, root, &s->server);
}

/* The path without its extension. */
static const char *stem(struct scn_arena *a, const char *path) {
  size_t n = strlen(path);
  if (n > 5 && strcmp(path + n - 5, ".yaml") == 0) n -= 5;
  if (n > 4 && strcmp(path + n - 4, ".yml") == 0) n -= 4;
  return scn_arena_text(a, path, n);
}

static bool build_all(struct scn_reader *r, scn_node *root, build_fn build, struct scn_file *out) {
  struct scn_matrix matrix;
  if (!scn_is_map(root)) return scn_wrong(r, root, "", "expected a mapping of keys");
  if (!scn_matrix_read(r, scn_get(r, root, "matrix"), &matrix)) return false;
  const char *path = scn_arena_text(r->arena, r->path, strlen(r->path));
  const char *name = stem(r->arena, r->path);
  out->scenarios = scn_arena_array(r->arena, matrix.lines, sizeof *out->scenarios);
  if (!path || !name || !out->scenarios) return scn_no_memory(r);
  for (size_t i = 0; i < matrix.lines; i++) {
    struct scn_scenario *s = &out->scenarios[i];
    r->vars = scn_matrix_line(&matrix, i);
    s->path = path;
    s->name = scn_matrix_name(r->arena, name, r->vars);
    if (!s->name) return scn_no_memory(r);
    if (!build(r, root, s)) return false;
  }
  out->count = matrix.lines;
  return true;
}

/* ---- one document --------------------------------------------------------------------- */

static bool yaml_error(struct scn_reader *r, const yaml_parser_t *parser) {
  const bool marked = parser->error != YAML_MEMORY_ERROR && parser->error != YAML_READER_ERROR;
  const yaml_node_t place = {.start_mark = marked ? parser->problem_mark : (yaml_mark_t){0}};
  return scn_wrong(r, &place, "", "not YAML: %s", parser->problem ? parser->problem : "out of memory");
}

/* A file is one document: what stands behind a second "---" would be read by nobody. */
static bool check_no_more(struct scn_reader *r, yaml_parser_t *parser) {
  yaml_document_t next;
  if (!yaml_parser_load(parser, &next)) return yaml_error(r, parser);
  scn_node *root = yaml_document_get_root_node(&next);
  const bool ok = !root || scn_wrong(r, root, "", "a second document: a file has one");
  yaml_document_delete(&next);
  return ok;
}

static bool read_document(struct scn_reader *r, yaml_parser_t *parser, build_fn build, struct scn_file *out) {
  yaml_document_t doc;
  if (!yaml_parser_load(parser, &doc)) return yaml_error(r, parser);
  r->doc = &doc;
  scn_node *root = yaml_document_get_root_node(&doc);
  const bool ok = root ? build_all(r, root, build, out) && check_no_more(r, parser)
                       : scn_wrong(r, NULL, "", "the file is empty");
  yaml_document_delete(&doc);
  return ok;
}

static bool read_text(const char *name, const char *text, size_t n, build_fn build, struct scn_file *out,
                     struct scn_problem *problem) {
  *out = (struct scn_file){0};
  *problem = (struct scn_problem){0};
  struct scn_reader r = {.path = name, .problem = problem};
  if (n > SCN_FILE_BYTES_MAX) return scn_wrong(&r, NULL, "", "larger than 1 MiB");
  yaml_parser_t parser;
  r.arena = scn_arena_new(SCN_ARENA_BYTES_MAX);
  if (!r.arena || !yaml_parser_initialize(&parser)) {
    scn_arena_del(r.arena);
    return scn_no_memory(&r);
  }
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
  const bool ok = read_document(&r, &parser, build, out);
  yaml_parser_delete(&parser);
  out->arena = r.arena;
  if (!ok) scn_file_free(out);
  return ok;
}

bool scn_read(const char *name, const char *text, size_t n, struct scn_file *out, struct scn_problem *problem) {
  return read_text(name, text, n, build_scenario, out, problem);
}

/* ---- files ------------------------------------------------------------------------------- */

/* One byte more than allowed is read, so that a larger file is seen to be one. */
static bool read_file(const char *path, build_fn build, struct scn_file *out, struct scn_problem *problem) {
  *out = (struct scn_file){0};
  *problem = (struct scn_problem){0};
  struct scn_reader r = {.path = path, .problem = problem};
  FILE *f = fopen(path, "rb");
  if (!f) return scn_wrong(&r, NULL, "", "%s", strerror(errno));
  char *text = malloc(SCN_FILE_BYTES_MAX + 1);
  if (!text) {
    fclose(f);
    return scn_no_memory(&r);
  }
  const size_t n = fread(text, 1, SCN_FILE_BYTES_MAX + 1, f);
  const bool failed = ferror(f) != 0;
  fclose(f);
  const bool ok = failed ? scn_wrong(&r, NULL, "", "cannot be read") : read_text(path, text, n, build, out, problem);
  free(text);
  return ok;
}

bool scn_read_file(const char *path, struct scn_file *out, struct scn_problem *problem) {
  return read_file(path, build_scenario, out, problem);
}

bool scn_read_server(const char *path, struct scn_file *out, struct scn_problem *problem) {
  return read_file(path, build_server, out, problem);
}
