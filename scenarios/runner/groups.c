#include "runner/groups.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "runner/job.h"

#define REASON_BYTES 80

static void *must(void *p) {
  if (!p) {
    fputs("out of memory\n", stderr);
    exit(3);
  }
  return p;
}

size_t groups_add(struct groups *g, const char *key, const struct job *j) {
  for (size_t i = 0; i < g->count; i++)
    if (strcmp(g->at[i].key, key) == 0) return ++g->at[i].count;
  g->at = must(realloc(g->at, (g->count + 1) * sizeof *g->at));
  g->at[g->count++] = (struct group){must(strdup(key)), j, 1};
  return 1;
}

void groups_free(struct groups *g) {
  for (size_t i = 0; i < g->count; i++) free(g->at[i].key);
  free(g->at);
  *g = (struct groups){0};
}

const char *groups_sentence(const struct job *j) {
  const char *why = j->why;
  size_t n = strlen(j->scenario->path);
  if (strncmp(why, j->scenario->path, n) != 0) return why;
  why += n;
  if (why[0] == ':' && why[1] != ' ') why += 1 + strspn(why + 1, "0123456789"); /* the line, if there is one */
  return why + strspn(why, ": ");
}

void groups_red_key(const struct job *j, char *out, size_t n) {
  int head = snprintf(out, n, "%s %s %s ", verdict_name(j->verdict), job_place(j), j->scenario->path);
  size_t used = head < 0 ? 0 : (size_t)head < n ? (size_t)head : n - 1;
  for (const char *p = groups_sentence(j); *p && used + 1 < n; used++) {
    bool digits = isdigit((unsigned char)*p) != 0;
    out[used] = digits ? '#' : *p;
    p += digits ? strspn(p, "0123456789") : 1;
  }
  out[used] = '\0';
}

void groups_reason_key(const struct job *j, char *out, size_t n) {
  const bool disputed = j->verdict == VERDICT_DISPUTED && j->scenario->disputed;
  const char *text = disputed ? j->scenario->disputed : groups_sentence(j), *end = text;
  while (*end && !((*end == '.' || *end == ';') && (end[1] == ' ' || !end[1])) && end - text < REASON_BYTES) {
    size_t bytes = qwp_utf8_char(end, strlen(end));
    bytes = bytes ? bytes : 1;
    if ((size_t)(end - text) + bytes > REASON_BYTES) break; /* no half character */
    end += bytes;
  }
  snprintf(out, n, "%.*s", (int)(end - text), text);
}
