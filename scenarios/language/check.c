/* The first pass: a tree of YAML against the table of keys. */
#include <stdio.h>
#include <string.h>

#include "language/names.h"
#include "language/reader.h"
#include "language/values.h"

static bool check_map(struct scn_reader *r, scn_node *map, const char *section, const char *key, int depth);

/* A longer list of words would drown the message. */
#define LIST_SHOWN_MAX 80u

/* ---- what a key expects, in words ------------------------------------------------ */

static void append(char *out, size_t n, const char *text) {
  const size_t used = strlen(out);
  if (used + 1 < n) snprintf(out + used, n - used, "%s%s", used ? " or " : "", text);
}

static void expected(const struct scn_key *k, char *out, size_t n) {
  static const struct { unsigned form; const char *text; } forms[] = {
    {SCN_IS_INT, "a whole number"}, {SCN_IS_BOOL, "true or false"},
    {SCN_IS_DURATION, "a time such as 5s, 100ms, 10us"}, {SCN_IS_SIZE, "a size such as 4096, 64KiB"},
    {SCN_IS_HEX, "pairs of hex digits"}, {SCN_IS_MAP, "a mapping"}, {SCN_IS_MAPS, "a list of mappings"},
    {SCN_IS_TEXTS, "a list"}, {SCN_IS_FACTS, "a mapping of counters"}, {SCN_IS_HEADERS, "a mapping of headers"},
    {SCN_IS_TEXT, "a text"}, {SCN_IS_RANGE, "a range such as 1..50"},
    {SCN_IS_MATRIX, "a mapping of lists, or a list of mappings"},
  };
  *out = '\0';
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    const bool of_times = forms[i].form == SCN_IS_RANGE && k->forms & SCN_IS_DURATION;
    if (k->forms & forms[i].form) append(out, n, of_times ? "a range such as 0..2ms" : forms[i].text);
  }
  char list[LIST_SHOWN_MAX + 16];
  if (!(k->forms & SCN_IS_CHOICE)) return;
  if (strlen(k->words) <= LIST_SHOWN_MAX) snprintf(list, sizeof list, "one of %s", k->words);
  else snprintf(list, sizeof list, "a word that --explain lists");
  append(out, n, list);
}

static bool wrong_form(struct scn_reader *r, scn_node *node, const struct scn_key *k) {
  char text[256];
  expected(k, text, sizeof text);
  return scn_wrong(r, node, k->name, "expected %s", text);
}

/* ---- scalars ---------------------------------------------------------------------- */

/* The word of a choice list nearest to the text's first word; copied to out. NULL = none near. */
static const char *nearest_word(const char *words, const char *text, char *out, size_t n) {
  char word[64], given[64];
  snprintf(given, sizeof given, "%.*s", (int)strcspn(text, " "), text);
  size_t best = SIZE_MAX;
  for (size_t i = 0; scn_choice_word(words, i, word, sizeof word); i++) {
    const size_t distance = scn_distance(given, word);
    if (distance >= best) continue;
    best = distance;
    snprintf(out, n, "%s", word);
  }
  return scn_is_near(given, best) ? out : NULL;
}

/* "short 7..1" is the right word with the wrong number behind it. */
static bool is_word_of(const char *word, const char *text) {
  const size_t n = strlen(word);
  return strncmp(text, word, n) == 0 && (text[n] == ' ' || text[n] == '\0');
}

static bool wrong_word(struct scn_reader *r, scn_node *node, const struct scn_key *k, const char *text) {
  char near[64];
  const char *nearest = nearest_word(k->words, text, near, sizeof near);
  if (!nearest) return wrong_form(r, node, k);
  if (is_word_of(nearest, text)) {
    return scn_wrong(r, node, k->name, "'%.60s' is not how '%s' is written: see --explain %s.%s", text, nearest,
                     k->section, k->name);
  }
  if (strlen(k->words) > LIST_SHOWN_MAX) {
    return scn_wrong_near(r, node, k->name, "word", nearest, "'%.60s' is no word of this key", text);
  }
  return scn_wrong_near(r, node, k->name, "word", nearest, "'%.60s' is not one of %s", text, k->words);
}

/* What people ask a network simulator for, and a byte stream cannot have (CASE-97): a proxy that drops a piece of it
 * makes what no network does. */
static bool wrong_loss(struct scn_reader *r, scn_node *node, const char *key) {
  return scn_wrong(r, node, key, "a byte stream does not lose bytes: use net: {jitter: 0..2ms} for late segments, or "
                   "do: corrupt");
}

static bool is_loss(const char *word) {
  static const char *const words[] = {"loss", "lose", "drop", "packet_loss", "packet-loss"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strncmp(word, words[i], strlen(words[i])) == 0 && strcspn(word, " ") == strlen(words[i])) return true;
  }
  return false;
}

static bool asks_for_loss(const char *section, const char *key) {
  return (strcmp(section, "net") == 0 || strcmp(section, "fault") == 0) && is_loss(key);
}

/* "50..1", "short 7..1": would be right the other way round. */
static bool is_backwards(const struct scn_key *k, const char *text) {
  char turned[128];
  const char *dots = strstr(text, ".."), *blank = strrchr(text, ' ');
  if (!dots || (blank && blank > dots)) return false;
  const char *left = blank ? blank + 1 : text;
  int n = snprintf(turned, sizeof turned, "%.*s%s..%.*s", (int)(left - text), text, dots + 2, (int)(dots - left), left);
  if (n < 0 || (size_t)n >= sizeof turned) return false;
  int64_t from, to;
  const bool ranged = k->forms & SCN_IS_RANGE;
  return (ranged && (k->forms & SCN_IS_INT) && scn_value_range(turned, &from, &to)) ||
         (ranged && (k->forms & SCN_IS_DURATION) && scn_value_durations(turned, &from, &to)) ||
         ((k->forms & SCN_IS_CHOICE) && scn_value_choice_range(k->words, turned, &from, &to) >= 0);
}

static bool check_scalar(struct scn_reader *r, scn_node *node, const struct scn_key *k) {
  const char *text;
  if (!scn_text(r, node, &text)) return false;
  int64_t v, to;
  bool b;
  size_t n;
  const unsigned f = k->forms;
  if (f & SCN_IS_TEXT) return true;
  if ((f & SCN_IS_RANGE) && (f & SCN_IS_INT) && scn_value_range(text, &v, &to)) return true;
  if ((f & SCN_IS_RANGE) && (f & SCN_IS_DURATION) && scn_value_durations(text, &v, &to)) return true;
  if ((f & SCN_IS_INT) && scn_value_int(text, &v)) return true;
  if ((f & SCN_IS_BOOL) && scn_value_bool(text, &b)) return true;
  if ((f & SCN_IS_DURATION) && scn_value_duration(text, &v)) return true;
  if ((f & SCN_IS_SIZE) && scn_value_size(text, &v)) return true;
  if ((f & SCN_IS_HEX) && scn_value_hex(text, NULL, 0, &n)) return true;
  if ((f & SCN_IS_CHOICE) && scn_value_choice(k->words, text, &v) >= 0) return true;
  if (is_backwards(k, text)) return scn_wrong(r, node, k->name, "'%.60s': the lower end of a range comes first", text);
  if (!(f & SCN_IS_CHOICE)) return wrong_form(r, node, k);
  const bool is_deed = strcmp(k->section, "fault") == 0 && strcmp(k->name, "do") == 0;
  return is_deed && is_loss(text) ? wrong_loss(r, node, k->name) : wrong_word(r, node, k, text);
}

static bool check_texts(struct scn_reader *r, scn_node *list, const struct scn_key *k) {
  for (size_t i = 0; i < scn_size(list); i++) {
    scn_node *item = scn_item(r, list, i);
    const char *text;
    int64_t unused;
    if (!scn_is_scalar(item)) return scn_wrong(r, item, k->name, "expected a list of texts");
    if (!scn_text(r, item, &text)) return false;
    if (k->words && scn_value_choice(k->words, text, &unused) < 0) return wrong_word(r, item, k, text);
  }
  return true;
}

/* ---- mappings ----------------------------------------------------------------------- */

static bool visit(struct scn_reader *r, scn_node *node, const char *key, int depth) {
  if (depth > SCN_DEPTH_MAX) return scn_wrong(r, node, key, "nested deeper than %d levels", SCN_DEPTH_MAX);
  if (++r->visited > SCN_NODES_MAX) return scn_wrong(r, node, key, "more than %d values", SCN_NODES_MAX);
  return true;
}

/* A key must be a single value, and stand once in its mapping. Sorting would be faster for
 * hostile files, but the mappings of the language have a dozen keys and NODES_MAX bounds the rest. */
static bool check_key_node(struct scn_reader *r, scn_node *map, size_t i) {
  scn_node *key, *other, *value;
  scn_pair(r, map, i, &key, &value);
  if (!scn_is_scalar(key)) return scn_wrong(r, key, "", "a key must be a single word");
  const char *name = (const char *)key->data.scalar.value;
  for (size_t j = 0; j < i; j++) {
    if (++r->visited > SCN_NODES_MAX) return scn_wrong(r, key, name, "more than %d values", SCN_NODES_MAX);
    scn_pair(r, map, j, &other, &value);
    if (strcmp((const char *)other->data.scalar.value, name) != 0) continue;
    return scn_wrong(r, key, name, "given twice, first in line %d", scn_line(other));
  }
  return true;
}

static bool check_fact(struct scn_reader *r, scn_node *key, scn_node *value, const char *section) {
  const char *name = (const char *)key->data.scalar.value;
  const char *selector;
  size_t selector_n;
  if (scn_name_find(name, &selector, &selector_n)) {
    return scn_is_map(value) ? scn_wrong(r, value, name, "expected a number, a comparison or a text") : true;
  }
  const char *nearest = scn_name_nearest(name);
  const char *kind = "counter";
  if (!nearest && section) nearest = scn_key_nearest(section, name), kind = "key";
  return scn_wrong_near(r, key, name, kind, nearest, "no such counter");
}

static bool check_facts(struct scn_reader *r, scn_node *map, const char *key_name, int depth) {
  if (!visit(r, map, key_name, depth)) return false;
  for (size_t i = 0; i < scn_size(map); i++) {
    scn_node *key, *value;
    scn_pair(r, map, i, &key, &value);
    if (!visit(r, value, key_name, depth + 1)) return false;
    if (!check_key_node(r, map, i) || !check_fact(r, key, value, NULL)) return false;
  }
  return true;
}

static bool check_headers(struct scn_reader *r, scn_node *map, const char *key_name) {
  for (size_t i = 0; i < scn_size(map); i++) {
    scn_node *key, *value;
    scn_pair(r, map, i, &key, &value);
    if (!visit(r, value, key_name, 0) || !check_key_node(r, map, i)) return false;
    if (!scn_is_scalar(value)) return scn_wrong(r, value, key_name, "expected a mapping of names to texts");
  }
  return true;
}

static bool check_maps(struct scn_reader *r, scn_node *list, const struct scn_key *k, int depth) {
  for (size_t i = 0; i < scn_size(list); i++) {
    scn_node *item = scn_item(r, list, i);
    if (!scn_is_map(item)) return scn_wrong(r, item, k->name, "expected a list of mappings");
    if (!check_map(r, item, k->section_of, k->name, depth + 1)) return false;
  }
  return true;
}

static bool check_value(struct scn_reader *r, scn_node *value, const struct scn_key *k, int depth) {
  if (!visit(r, value, k->name, depth)) return false;
  const unsigned scalars = SCN_IS_TEXT | SCN_IS_INT | SCN_IS_BOOL | SCN_IS_CHOICE | SCN_IS_DURATION | SCN_IS_SIZE |
                           SCN_IS_HEX;
  if (k->forms & SCN_IS_MATRIX) return true; /* matrix.c reads it before the rest */
  if (scn_is_scalar(value) && (k->forms & scalars)) return check_scalar(r, value, k);
  if (scn_is_map(value) && (k->forms & SCN_IS_MAP)) return check_map(r, value, k->section_of, k->name, depth + 1);
  if (scn_is_map(value) && (k->forms & SCN_IS_FACTS)) return check_facts(r, value, k->name, depth + 1);
  if (scn_is_map(value) && (k->forms & SCN_IS_HEADERS)) return check_headers(r, value, k->name);
  if (scn_is_list(value) && (k->forms & SCN_IS_MAPS)) return check_maps(r, value, k, depth);
  if (scn_is_list(value) && (k->forms & SCN_IS_TEXTS)) return check_texts(r, value, k);
  return wrong_form(r, value, k);
}

static bool check_missing(struct scn_reader *r, scn_node *map, const char *section) {
  for (size_t i = 0; i < scn_key_count; i++) {
    const struct scn_key *k = &scn_keys[i];
    if (k->standard || strcmp(k->section, section) != 0) continue;
    if (!scn_get(r, map, k->name)) return scn_wrong(r, map, k->name, "missing: %s", k->help);
  }
  return true;
}

static bool check_map(struct scn_reader *r, scn_node *map, const char *section, const char *key, int depth) {
  if (!visit(r, map, key, depth)) return false;
  const bool facts = scn_section_takes_facts(section);
  for (size_t i = 0; i < scn_size(map); i++) {
    scn_node *name, *value;
    if (!check_key_node(r, map, i)) return false;
    scn_pair(r, map, i, &name, &value);
    const char *text = (const char *)name->data.scalar.value;
    const struct scn_key *k = scn_key_find(section, text);
    if (k && !check_value(r, value, k, depth + 1)) return false;
    if (k) continue;
    if (asks_for_loss(section, text)) return wrong_loss(r, name, text);
    if (!facts) return scn_wrong_near(r, name, text, "key", scn_key_nearest(section, text), "no such key here");
    if (!visit(r, value, text, depth + 1) || !check_fact(r, name, value, section)) return false;
  }
  return check_missing(r, map, section);
}

bool scn_check(struct scn_reader *r, scn_node *map, const char *section) {
  if (!scn_is_map(map)) return scn_wrong(r, map, "", "expected a mapping of keys");
  r->visited = 0;
  return check_map(r, map, section, "", 0);
}
