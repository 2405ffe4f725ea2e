#define _GNU_SOURCE
#include "runner/collect.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_DEPTH 16

static bool add_path(struct collection *c, const char *path) {
  char **grown = realloc(c->paths, (c->count + 1) * sizeof *grown);
  if (grown) c->paths = grown;
  char *copy = strdup(path);
  if (!grown || !copy) {
    free(copy);
    fputs("qwp-scenario: out of memory\n", stderr);
    return false;
  }
  c->paths[c->count++] = copy;
  return true;
}

static bool is_scenario(const char *name) {
  size_t n = strlen(name);
  return n > 5 && strcmp(name + n - 5, ".yaml") == 0 && strcmp(name, "known-gaps.yaml") != 0;
}

static bool walk(struct collection *c, const char *folder, int depth) {
  struct dirent **entries;
  int n = scandir(folder, &entries, NULL, alphasort);
  if (n < 0 || depth > MAX_DEPTH) {
    fprintf(stderr, "qwp-scenario: %s: %s\n", folder, n < 0 ? strerror(errno) : "folders nest too deeply");
    return false;
  }
  bool ok = true;
  for (int i = 0; i < n; i++) {
    char path[4096];
    struct stat st;
    const char *name = entries[i]->d_name;
    size_t slash = strlen(folder) && folder[strlen(folder) - 1] == '/' ? 1 : 0;
    snprintf(path, sizeof path, "%s%s%s", folder, slash ? "" : "/", name);
    if (ok && name[0] != '.' && stat(path, &st) == 0) {
      if (S_ISDIR(st.st_mode))
        ok = walk(c, path, depth + 1);
      else if (is_scenario(name))
        ok = add_path(c, path);
    }
    free(entries[i]);
  }
  free(entries);
  return ok;
}

/* The path is borrowed from the command line. */
static bool add_missing(struct collection *c, const char *path) {
  struct scn_scenario *grown = realloc(c->missing, (c->missing_count + 1) * sizeof *grown);
  if (!grown) {
    fputs("qwp-scenario: out of memory\n", stderr);
    return false;
  }
  fprintf(stderr, "qwp-scenario: %s: %s\n", path, strerror(ENOENT));
  c->missing = grown;
  c->missing[c->missing_count++] = (struct scn_scenario){.path = path, .name = path, .claim = "What is listed is there."};
  return true;
}

static bool find(char *const *given, int n, struct collection *c) {
  for (int i = 0; i < n; i++) {
    struct stat st;
    if (stat(given[i], &st) != 0 && errno == ENOENT) {
      if (!add_missing(c, given[i])) return false;
      continue;
    }
    if (stat(given[i], &st) != 0) {
      fprintf(stderr, "qwp-scenario: %s: %s\n", given[i], strerror(errno));
      return false;
    }
    if (!(S_ISDIR(st.st_mode) ? walk(c, given[i], 0) : add_path(c, given[i]))) return false;
  }
  if (c->count + c->missing_count == 0) fputs("qwp-scenario: no scenario file (*.yaml) was found\n", stderr);
  return c->count + c->missing_count > 0;
}

bool collect(char *const *given, int n, struct collection *out) {
  *out = (struct collection){0};
  if (!find(given, n, out)) return false;
  out->files = calloc(out->count + 1, sizeof *out->files);
  if (!out->files) return false;
  bool ok = true;
  for (size_t i = 0; i < out->count; i++) {
    struct scn_problem problem;
    if (scn_read_file(out->paths[i], &out->files[i], &problem)) continue;
    fprintf(stderr, "%s\n", problem.text);
    ok = false;
  }
  return ok;
}

void collection_free(struct collection *c) {
  for (size_t i = 0; i < c->count; i++) {
    if (c->files) scn_file_free(&c->files[i]);
    free(c->paths[i]);
  }
  free(c->files);
  free(c->paths);
  free(c->missing);
  *c = (struct collection){0};
}
