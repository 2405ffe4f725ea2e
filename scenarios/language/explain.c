/* The table of keys as text for a person. */
#include <stdio.h>
#include <string.h>

#include "language/keys.h"
#include "language/names.h"
#include "language/values.h"

static const char *section_title(const char *section) { return *section ? section : "the file"; }

static void print_forms(FILE *out, const struct scn_key *k) {
  static const struct { unsigned form; const char *text; } forms[] = {
    {SCN_IS_TEXT, "text"}, {SCN_IS_INT, "number"}, {SCN_IS_BOOL, "true|false"}, {SCN_IS_DURATION, "time"},
    {SCN_IS_SIZE, "size"}, {SCN_IS_HEX, "hex bytes"}, {SCN_IS_MAP, "mapping"}, {SCN_IS_MAPS, "list of mappings"},
    {SCN_IS_TEXTS, "list"}, {SCN_IS_FACTS, "counters and comparisons"}, {SCN_IS_HEADERS, "headers"},
    {SCN_IS_MATRIX, "lists by name, or lines"}, {SCN_IS_RANGE, "a range of two"},
  };
  const char *between = "";
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (!(k->forms & forms[i].form)) continue;
    if (forms[i].form == SCN_IS_TEXTS && k->words) continue; /* "list of ..." below */
    fprintf(out, "%s%s", between, forms[i].text);
    between = " or ";
  }
  if (k->words) fprintf(out, "%s%s%s", between, k->forms & SCN_IS_TEXTS ? "list of " : "", k->words);
}

/* The keys of a mapping, a line each: what they take, what holds without them, what they mean. */
#define LINE_OF_WORDS 80

static void print_section(FILE *out, const char *section) {
  fprintf(out, "  keys:\n");
  for (size_t i = 0; i < scn_key_count; i++) {
    const struct scn_key *k = &scn_keys[i];
    if (strcmp(k->section, section) != 0) continue;
    fprintf(out, "    %s: ", strcmp(k->name, "*") == 0 ? "(any counter)" : k->name);
    if (k->words && strlen(k->words) > LINE_OF_WORDS)
      fprintf(out, "one word of many (--explain %s.%s)", section, k->name);
    else
      print_forms(out, k);
    if (!k->standard) fprintf(out, "; must be given");
    else if (*k->standard) fprintf(out, "; default %s", k->standard);
    fprintf(out, "\n        %s\n", k->help);
  }
}

static bool is_same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* A trigger is the same wherever it stands: told once, with all places. */
static bool is_same(const struct scn_key *a, const struct scn_key *b) {
  return a->forms == b->forms && is_same_text(a->name, b->name) && is_same_text(a->words, b->words) &&
         is_same_text(a->section_of, b->section_of) && is_same_text(a->standard, b->standard) &&
         is_same_text(a->help, b->help) && is_same_text(a->example, b->example);
}

static bool was_told(const struct scn_key *k) {
  for (const struct scn_key *before = scn_keys; before < k; before++)
    if (is_same(before, k)) return true;
  return false;
}

static void print_key(FILE *out, const struct scn_key *k, bool everywhere) {
  fprintf(out, "%s (in %s", k->name, section_title(k->section));
  for (const struct scn_key *other = k + 1; everywhere && other < scn_keys + scn_key_count; other++)
    if (is_same(other, k)) fprintf(out, ", %s", section_title(other->section));
  fprintf(out, ")\n  %s\n  value:   ", k->help);
  print_forms(out, k);
  if (k->section_of) fprintf(out, " (keys of %s)", k->section_of);
  if (!k->standard) fprintf(out, "\n  must be given");
  else if (*k->standard) fprintf(out, "\n  default: %s", k->standard);
  fprintf(out, "\n  example: %s\n", k->example);
  if (k->section_of) print_section(out, k->section_of);
}

/* "rows", or "publish.rows" for one section. */
static bool is_asked(const struct scn_key *k, const char *key) {
  if (strcmp(k->name, key) == 0) return true;
  const size_t n = strlen(k->section);
  return n && strncmp(key, k->section, n) == 0 && key[n] == '.' && strcmp(key + n + 1, k->name) == 0;
}

static void print_all(FILE *out) {
  const char *section = NULL;
  for (size_t i = 0; i < scn_key_count; i++) {
    const struct scn_key *k = &scn_keys[i];
    if (!section || strcmp(section, k->section) != 0) fprintf(out, "\n%s\n", section_title(section = k->section));
    fprintf(out, "  %-18s %s\n", k->name, k->help);
  }
  fprintf(out, "\ncounters and facts\n");
  for (size_t i = 0; i < scn_name_count(); i++) {
    fprintf(out, "  %-22s %s\n", scn_name_at(i)->name, scn_name_at(i)->help);
  }
}

static const char *nearest_anywhere(const char *key) {
  const char *best = NULL;
  size_t best_distance = SIZE_MAX;
  for (size_t i = 0; i < scn_key_count; i++) {
    const size_t distance = scn_distance(key, scn_keys[i].name);
    if (distance < best_distance) best_distance = distance, best = scn_keys[i].name;
  }
  const char *name = scn_name_nearest(key);
  if (name && scn_distance(key, name) < best_distance) return name;
  return best && scn_is_near(key, best_distance) ? best : NULL;
}

bool scn_explain(FILE *out, const char *key) {
  if (!key || !*key || strcmp(key, "all") == 0) return print_all(out), true;
  bool found = false;
  for (size_t i = 0; i < scn_key_count; i++) {
    const bool by_name = strcmp(scn_keys[i].name, key) == 0; /* of every section */
    if (!is_asked(&scn_keys[i], key) || (by_name && was_told(&scn_keys[i]))) continue;
    if (found) fprintf(out, "\n");
    print_key(out, &scn_keys[i], by_name);
    found = true;
  }
  const char *selector;
  size_t selector_n;
  const struct scn_name *name = scn_name_find(key, &selector, &selector_n);
  if (name) fprintf(out, "%s%s (in expect and wait)\n  %s\n", found ? "\n" : "", key, name->help);
  if (found || name) return true;
  const char *nearest = nearest_anywhere(key);
  fprintf(out, "%s: no such key or counter", key);
  if (nearest) fprintf(out, ", nearest valid key '%s'", nearest);
  fprintf(out, "\n");
  return false;
}
