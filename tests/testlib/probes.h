/* probes.h - reads tests/data/server-probes.tsv: hand-made requests and the real server's answers. */
#ifndef TESTLIB_PROBES_H
#define TESTLIB_PROBES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROBE_GROUP, PROBE_NAME, PROBE_SETUP, PROBE_HEAD, PROBE_GAP, PROBE_SENT, PROBE_HTTP, PROBE_FRAMES, PROBE_END,
       PROBE_READABLE, PROBE_RESULT, PROBE_SQL, PROBE_NOTE, PROBE_COLUMNS };

struct probe {
  char *column[PROBE_COLUMNS];
};

/* Calls each(arg, probe) for every probe of the group; returns how many, -1 = no such file. */
static inline int probes_each(const char *path, const char *group, void (*each)(void *arg, const struct probe *p),
    void *arg) {
  FILE *f = fopen(path, "r");
  if (!f) return -1;
  char *line = NULL;
  size_t cap = 0;
  int count = 0;
  while (getline(&line, &cap, f) >= 0) {
    line[strcspn(line, "\n")] = '\0';
    if (line[0] == '#') continue;
    struct probe p;
    char *at = line;
    int n = 0;
    for (; n < PROBE_COLUMNS && at; n++) {
      p.column[n] = at;
      at = strchr(at, '\t');
      if (at) *at++ = '\0';
    }
    if (n != PROBE_COLUMNS || strcmp(p.column[PROBE_GROUP], group) != 0) continue;
    each(arg, &p);
    count++;
  }
  free(line);
  fclose(f);
  return count;
}

/* Appends the bytes of one write, "820a+00*12", to *out (grown with realloc). */
static inline void probe_bytes(const char *text, size_t text_n, uint8_t **out, size_t *n) {
  size_t i = 0;
  while (i < text_n) {
    if (text[i] == '+' || text[i] == ' ') {
      i++;
      continue;
    }
    unsigned byte = 0;
    if (i + 1 >= text_n || sscanf(text + i, "%2x", &byte) != 1) abort();
    i += 2;
    size_t times = 1;
    if (i < text_n && text[i] == '*') {
      char *end;
      times = strtoul(text + i + 1, &end, 10);
      i = (size_t)(end - text);
    }
    *out = realloc(*out, *n + times + 1);
    if (!*out) abort();
    memset(*out + *n, (int)byte, times);
    *n += times;
  }
}

/* Replaces \r and \n escapes and a placeholder in place of text; the result is malloc'ed. */
static inline char *probe_text(const char *s, const char *placeholder, const char *with) {
  size_t holder_n = strlen(placeholder), with_n = strlen(with);
  char *out = malloc(strlen(s) * (with_n + 2) + 1), *to = out;
  if (!out) abort();
  while (*s) {
    if (strncmp(s, placeholder, holder_n) == 0) {
      memcpy(to, with, with_n);
      to += with_n;
      s += holder_n;
    } else if (s[0] == '\\' && (s[1] == 'r' || s[1] == 'n' || s[1] == 't')) {
      *to++ = s[1] == 'r' ? '\r' : s[1] == 'n' ? '\n' : '\t';
      s += 2;
    } else {
      *to++ = *s++;
    }
  }
  *to = '\0';
  return out;
}

#endif
