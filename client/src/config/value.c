#include "config/value.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/config.h"
#include "config/number.h"
#include "config/refusal.h"

/* Room for a rule in words, and for a value shown in an error. */
struct phrase {
  char text[160];
};

/* The value as an error shows it: cut at a character boundary after 40 bytes. */
static struct phrase shown(const char *value) {
  struct phrase out;
  size_t n = strnlen(value, 41);
  bool cut = n > 40;
  if (cut) n = 40;
  while (cut && n > 0 && ((unsigned char)value[n] & 0xC0) == 0x80) n--;
  snprintf(out.text, sizeof out.text, "%.*s%s", (int)n, value, cut ? "..." : "");
  return out;
}

static struct phrase range_rule(const struct qwp_key *key) {
  static const char *const kinds[] = {
      [QWP_VALUE_INT] = "a whole number",
      [QWP_VALUE_MILLIS] = "a whole number of milliseconds",
      [QWP_VALUE_BYTES] = "a whole number of bytes",
      [QWP_VALUE_SIZE] = "a number of bytes with an optional suffix k, m, g or t",
  };
  struct phrase out;
  int n = snprintf(out.text, sizeof out.text, "%s", kinds[key->type]);
  if (key->min != INT64_MIN) {
    n += snprintf(out.text + n, sizeof out.text - (size_t)n, ", %" PRId64 " to %" PRId64, key->min, key->max);
  }
  if (key->off) snprintf(out.text + n, sizeof out.text - (size_t)n, ", or off");
  return out;
}

/* "off,false|on,true" -> "off, false, on, true" */
static struct phrase word_rule(const char *words) {
  struct phrase out;
  size_t n = 0;
  for (const char *p = words; *p && n + 3 < sizeof out.text; p++) {
    bool between = *p == ',' || *p == '|';
    out.text[n++] = between ? ',' : *p;
    if (between) out.text[n++] = ' ';
  }
  out.text[n] = '\0';
  return out;
}

/* Number of the alternative of `words` that value spells, or -1. */
static int find_word(const char *words, const char *value, bool exact_case) {
  size_t length = strlen(value);
  int alternative = 0;
  for (const char *p = words;;) {
    size_t n = strcspn(p, ",|");
    if (n == length && (exact_case ? strncmp(p, value, n) : strncasecmp(p, value, n)) == 0) return alternative;
    if (p[n] == '\0') return -1;
    if (p[n] == '|') alternative++;
    p += n + 1;
  }
}

static enum qwp_status read_word(const struct qwp_key *key, const char *name, const char *value, int64_t *number,
                                 struct qwp_error *err) {
  int word = find_word(key->words, value, key->exact_case);
  if (word < 0) {
    return qwp_refuse(err, name, "%s=%s: must be one of %s%s%s%s", name, shown(value).text,
                      word_rule(key->words).text, key->exact_case ? " (in lower case)" : "", key->hint ? "; " : "",
                      key->hint ? key->hint : "");
  }
  if (key->only && word != find_word(key->words, key->only, true)) {
    return qwp_refuse(err, name, "%s=%s: this version of the client does not support it; use %s or leave the key out",
                      name, shown(value).text, key->only);
  }
  *number = word;
  return QWP_OK;
}

static enum qwp_status read_number(const struct qwp_key *key, const char *name, const char *value, int64_t *number,
                                   struct qwp_error *err) {
  if (key->off && strcasecmp(value, "off") == 0) {
    *number = QWP_CONFIG_OFF;
    return QWP_OK;
  }
  int64_t v = 0;
  enum qwp_number_result result =
      key->type == QWP_VALUE_SIZE ? qwp_number_read_size(value, &v) : qwp_number_read(value, &v);
  if (result == QWP_NUMBER_OK && v >= key->min && v <= key->max) {
    *number = v;
    return QWP_OK;
  }
  return qwp_refuse(err, name, "%s=%s: must be %s%s", name, shown(value).text, range_rule(key).text,
                    result == QWP_NUMBER_OVERFLOW ? "; this one does not fit 64 bits" : "");
}

enum qwp_status qwp_value_read(const struct qwp_key *key, const char *name, const char *value, int64_t *number,
                               struct qwp_error *err) {
  if (key->only && key->only[0] == '\0') {
    return qwp_refuse(err, name, "%s: this version of the client does not support the key; %s", name,
                      key->hint ? key->hint : "leave it out");
  }
  if (value[0] == '\0') {
    return qwp_refuse(err, name, "%s: the value must not be empty; leave the key out for its default", name);
  }
  switch (key->type) {
    case QWP_VALUE_BOOL:
    case QWP_VALUE_BOOL_PLUS:
    case QWP_VALUE_ENUM:
      return read_word(key, name, value, number, err);
    case QWP_VALUE_INT:
    case QWP_VALUE_MILLIS:
    case QWP_VALUE_BYTES:
    case QWP_VALUE_SIZE:
      return read_number(key, name, value, number, err);
    case QWP_VALUE_NONE:
    case QWP_VALUE_STRING:
    case QWP_VALUE_SECRET:
    case QWP_VALUE_PATH:
    case QWP_VALUE_HOSTS:
      break; /* text: the rules of its own key follow elsewhere */
  }
  return QWP_OK;
}
