/* connect_string - the grammar, and nothing of what the keys mean [CONF-001].
 *
 *   schema "::" { key "=" value ";" }     the last ";" is optional
 *
 * Schema and keys are ASCII letters, digits and "_". A value is any UTF-8 text
 * without control characters [CONF-004]; ";;" in it is one ";" [CONF-003], so a
 * value ends at the first ";" that has no other behind it. Nothing is trimmed.
 */
#ifndef QWP_CONFIG_CONNECT_STRING_H
#define QWP_CONFIG_CONNECT_STRING_H

#include <stddef.h>

#include "qwp/ops.h"
#include "qwp/status.h"

#define QWP_CONNECT_STRING_MAX_BYTES 65536u

struct qwp_connect_string {
  const struct qwp_ops *ops; /* borrowed; its memory table */
  char *copy; /* owned; values are unescaped in place, pairs point into it */
  size_t bytes;
  char *at;   /* what follows; "" at the end */
  const char *schema;
  /* Set by the reader of the pairs: name of the secret key whose value was just
   * read, or NULL. With an unescaped ";" in a password the next entry is the rest
   * of it, so no error may then show that entry. */
  const char *after_secret;
};

struct qwp_pair {
  const char *key;
  char *value;
};

enum qwp_pair_result { QWP_PAIR, QWP_PAIR_END, QWP_PAIR_BAD };

/* Copies text and reads the schema. QWP_CONFIG or QWP_NOMEM: nothing to free. */
enum qwp_status qwp_connect_string_init(struct qwp_connect_string *s, const struct qwp_ops *ops, const char *text,
                                        struct qwp_error *err);

/* The next pair, its value unchecked, which lives as long as *s. BAD: *err is filled, do not go on. */
enum qwp_pair_result qwp_connect_string_next(struct qwp_connect_string *s, struct qwp_pair *out,
                                             struct qwp_error *err);

/* Checks the text of a value: UTF-8 without control characters. Apart from _next, so
 * that only keys that exist are ever named in its error. */
enum qwp_status qwp_pair_check(const struct qwp_pair *pair, struct qwp_error *err);

/* Wipes the copy (it may hold secrets) and frees it. */
void qwp_connect_string_free(struct qwp_connect_string *s);

/* Overwrites n bytes in a way that the compiler keeps. */
void qwp_wipe(void *p, size_t n);

#endif
