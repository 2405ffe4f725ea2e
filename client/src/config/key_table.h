/* key_table - every key that a QuestDB connect string may hold, and what a plain
 * sender does with it. The vocabulary is tests/data/connect-string-keys.tsv; a
 * unit test compares the two, so that they cannot drift apart.
 */
#ifndef QWP_CONFIG_KEY_TABLE_H
#define QWP_CONFIG_KEY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who acts on a key. */
enum qwp_key_side {
  QWP_SIDE_BOTH,
  QWP_SIDE_INGRESS,
  QWP_SIDE_EGRESS,
  QWP_SIDE_POOL,
  QWP_SIDE_RESERVED /* of other transports or older clients: known for its hint only */
};

enum qwp_key_type {
  QWP_VALUE_NONE, /* no value is ever accepted */
  QWP_VALUE_BOOL, /* on, off */
  QWP_VALUE_BOOL_PLUS, /* on, true, off, false */
  QWP_VALUE_INT,
  QWP_VALUE_MILLIS,
  QWP_VALUE_BYTES, /* without a suffix */
  QWP_VALUE_SIZE,  /* with an optional suffix */
  QWP_VALUE_ENUM,
  QWP_VALUE_STRING,
  QWP_VALUE_SECRET, /* never shown */
  QWP_VALUE_PATH,
  QWP_VALUE_HOSTS
};

enum qwp_key_action {
  QWP_KEY_APPLIED, /* parsed, checked, used */
  QWP_KEY_IGNORED, /* any value passes, even one its owner would refuse [CONF-006] */
  QWP_KEY_REFUSED  /* refused, with the hint */
};

struct qwp_key {
  const char *name;
  const char *alias; /* another spelling of the same key, or NULL */
  enum qwp_key_side side;
  enum qwp_key_type type;
  enum qwp_key_action action;

  /* What this version of the client can do of an applied key: NULL = all of it,
   * "" = nothing (the key is refused), else the one word of `words` that it takes.
   * Building the feature means to set this to NULL. */
  const char *only;

  /* Words of a bool or enum: alternatives by '|', spellings of one alternative by
   * ','. The value is the number of the alternative, from 0. */
  const char *words;
  bool exact_case; /* words in lower case only */

  /* Numbers: inclusive range, and whether the word "off" is a value too. */
  int64_t min, max;
  bool off;

  int64_t standard; /* default of numbers and words, as value */
  const char *hint; /* what to do instead; NULL if the rule says it */
};

/* The row of a name or alias; NULL if there is none. Case-sensitive [CONF-001]. */
const struct qwp_key *qwp_key_find(const char *name);

/* All rows, in the order of the vocabulary. */
const struct qwp_key *qwp_key_table(size_t *count);

/* The name (or alias) of an accepted key that is nearest to a misspelt one, by
 * edits of a letter, whatever the case. Never NULL. */
const char *qwp_key_nearest(const char *name);

#endif
