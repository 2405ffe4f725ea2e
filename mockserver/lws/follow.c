#include "follow.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* One "key":value of a journal line, which has no nested values. */
struct pair {
  const char *key, *value; /* value without its quotes, escapes as they stand */
  int key_n, value_n;
};

static const char *string_end(const char *p, const char *end) { /* p behind the opening quote */
  while (p < end && *p != '"') p += *p == '\\' ? 2 : 1;
  return p < end ? p : end;
}

/* Takes the next pair off *p. */
static bool next_pair(const char **p, const char *end, struct pair *out) {
  const char *at = memchr(*p, '"', (size_t)(end - *p));
  if (!at) return false;
  out->key = at + 1;
  const char *key_end = string_end(out->key, end);
  out->key_n = (int)(key_end - out->key);
  at = key_end + 2; /* behind the quote and the colon */
  if (at >= end) return false;
  bool quoted = *at == '"';
  out->value = quoted ? at + 1 : at;
  const char *value_end = out->value;
  if (quoted) value_end = string_end(out->value, end);
  else while (value_end < end && *value_end != ',' && *value_end != '}') value_end++;
  out->value_n = (int)(value_end - out->value);
  *p = quoted && value_end < end ? value_end + 1 : value_end;
  return true;
}

static bool is(const struct pair *p, const char *key) {
  return (size_t)p->key_n == strlen(key) && memcmp(p->key, key, strlen(key)) == 0;
}

void mock_follow(FILE *f, int64_t start_ns, const char *line, size_t n) {
  const char *p = line, *end = line + n;
  struct pair x;
  if (!next_pair(&p, end, &x) || !is(&x, "t_ns")) return;
  double seconds = (double)(strtoll(x.value, NULL, 10) - start_ns) / 1e9;
  fprintf(f, "%11.6f  ", seconds);
  while (next_pair(&p, end, &x)) {
    if (is(&x, "side") || is(&x, "link") || is(&x, "hash")) continue;
    if (is(&x, "conn") || is(&x, "reader")) fprintf(f, "%.*s %-3.*s ", x.key_n, x.key, x.value_n, x.value);
    else if (is(&x, "event")) fprintf(f, "%-10.*s", x.value_n, x.value);
    else fprintf(f, " %.*s=%.*s", x.key_n, x.key, x.value_n, x.value);
  }
  putc('\n', f);
}
