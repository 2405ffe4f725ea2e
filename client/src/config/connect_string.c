#include "config/connect_string.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "config/refusal.h"

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t word_length(const char *p) {
  size_t n = 0;
  while (is_word(p[n])) n++;
  return n;
}

static enum qwp_status read_schema(struct qwp_connect_string *s, struct qwp_error *err) {
  size_t n = word_length(s->copy);
  if (n == 0 || strncmp(s->copy + n, "::", 2) != 0) {
    return qwp_refuse(err, "schema", "the connect string must begin with a schema and two colons, "
                                     "for example ws::addr=localhost:9000;");
  }
  s->copy[n] = '\0';
  s->schema = s->copy;
  s->at = s->copy + n + 2;
  return QWP_OK;
}

enum qwp_status qwp_connect_string_init(struct qwp_connect_string *s, const struct qwp_ops *ops, const char *text,
                                        struct qwp_error *err) {
  *s = (struct qwp_connect_string){.ops = ops};
  if (!text) return qwp_refuse(err, "schema", "the connect string is missing");
  size_t n = strnlen(text, QWP_CONNECT_STRING_MAX_BYTES + 1);
  if (n > QWP_CONNECT_STRING_MAX_BYTES) {
    return qwp_refuse(err, "schema", "the connect string is longer than %u bytes", QWP_CONNECT_STRING_MAX_BYTES);
  }
  s->copy = ops->mem->alloc(ops->mem_ctx, n + 1);
  if (!s->copy) return qwp_fail(err, QWP_NOMEM, "out of memory for the connect string (%zu bytes)", n + 1);
  s->bytes = n;
  memcpy(s->copy, text, n);
  s->copy[n] = '\0';
  enum qwp_status status = read_schema(s, err);
  if (status != QWP_OK) qwp_connect_string_free(s);
  return status;
}

/* U+0000 to U+001F and U+007F to U+009F; p is well-formed. */
static bool is_control(const unsigned char *p) {
  return p[0] < 0x20 || p[0] == 0x7F || (p[0] == 0xC2 && p[1] < 0xA0);
}

enum qwp_status qwp_pair_check(const struct qwp_pair *pair, struct qwp_error *err) {
  const unsigned char *p = (const unsigned char *)pair->value;
  for (size_t left = strlen(pair->value), n; left > 0; p += n, left -= n) {
    n = qwp_utf8_char(p, left);
    if (n == 0) return qwp_refuse(err, pair->key, "%s: the value must be valid UTF-8", pair->key);
    if (is_control(p)) return qwp_refuse(err, pair->key, "%s: the value must not hold control characters", pair->key);
  }
  return QWP_OK;
}

/* Unescapes the value at p in place and ends it; returns where the next entry
 * begins. Writing never overtakes reading: at the end `to` is at most at the ";"
 * that ends the value, so the next entry is not touched. */
static char *cut_value(char *p) {
  char *to = p;
  for (; *p != '\0'; p++) {
    if (*p == ';' && *++p != ';') break; /* p is behind the ";" now */
    *to++ = *p;
  }
  *to = '\0';
  return p;
}

/* An entry that is not key=value. Shown only if it cannot be part of a secret. */
static enum qwp_pair_result bad_entry(const struct qwp_connect_string *s, size_t key_length, struct qwp_error *err) {
  if (s->after_secret) {
    qwp_refuse(err, s->after_secret, "%s: what follows the value is not key=value; "
               "write \";\" inside a value as \";;\"", s->after_secret);
  } else if (key_length == 0) {
    qwp_refuse(err, "", "an entry must be key=value, and a key is made of ASCII letters, digits and \"_\"");
  } else {
    char key[64];
    size_t n = key_length < sizeof key - 1 ? key_length : sizeof key - 1;
    memcpy(key, s->at, n);
    key[n] = '\0';
    qwp_refuse(err, key, "%s: the key must be followed by \"=\" and a value", key);
  }
  return QWP_PAIR_BAD;
}

enum qwp_pair_result qwp_connect_string_next(struct qwp_connect_string *s, struct qwp_pair *out,
                                             struct qwp_error *err) {
  if (*s->at == '\0') return QWP_PAIR_END;
  size_t n = word_length(s->at);
  if (n == 0 || s->at[n] != '=') return bad_entry(s, n, err);
  char *value = s->at + n + 1;
  s->at[n] = '\0';
  out->key = s->at;
  out->value = value;
  s->at = cut_value(value);
  return QWP_PAIR;
}

void qwp_wipe(void *p, size_t n) {
  volatile uint8_t *bytes = p;
  while (n--) *bytes++ = 0;
}

void qwp_connect_string_free(struct qwp_connect_string *s) {
  if (s->copy) qwp_wipe(s->copy, s->bytes);
  s->ops->mem->free(s->ops->mem_ctx, s->copy);
  memset(s, 0, sizeof *s);
}
