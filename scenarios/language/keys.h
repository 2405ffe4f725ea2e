/* keys - the one table of every key the language has.
 *
 * The checker, `--explain`, the JSON schema and the "nearest key" of an error all read
 * this table, so a key is added in one place. A section is the set of keys one kind of
 * mapping may hold; "" is the file itself.
 */
#ifndef SCN_KEYS_H
#define SCN_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Forms a value may take; a key that takes several has several bits. */
#define SCN_IS_TEXT (1u << 0)
#define SCN_IS_INT (1u << 1)
#define SCN_IS_BOOL (1u << 2)
#define SCN_IS_CHOICE (1u << 3)   /* one of `words`, see scn_value_choice */
#define SCN_IS_DURATION (1u << 4)
#define SCN_IS_SIZE (1u << 5)
#define SCN_IS_HEX (1u << 6)
#define SCN_IS_MAP (1u << 7)      /* a mapping of section `section_of` */
#define SCN_IS_MAPS (1u << 8)     /* a list of such mappings */
#define SCN_IS_TEXTS (1u << 9)    /* a list of texts, or of `words` */
#define SCN_IS_FACTS (1u << 10)   /* a mapping of counter names to comparisons */
#define SCN_IS_HEADERS (1u << 11) /* a mapping of free names to texts */
#define SCN_IS_MATRIX (1u << 12)  /* matrix.h */
#define SCN_IS_RANGE (1u << 13)   /* with SCN_IS_INT or SCN_IS_DURATION: two of them as well, "40..400", "0..2ms" */

struct scn_key {
  const char *section;    /* where the key may stand */
  const char *name;       /* "*" = any counter name, compared as in `expect` */
  unsigned forms;
  const char *words;      /* of SCN_IS_CHOICE, else NULL */
  const char *section_of; /* of SCN_IS_MAP and SCN_IS_MAPS: the section of the value */
  const char *standard;   /* default, as text; NULL = the key must be given; "" = absent */
  const char *help;       /* one sentence */
  const char *example;
};

extern const struct scn_key scn_keys[];
extern const size_t scn_key_count;

/* The key of a section, or NULL. "*" is not found by name. */
const struct scn_key *scn_key_find(const char *section, const char *name);

/* True if the section takes counter names beside its keys. */
bool scn_section_takes_facts(const char *section);

/* The key of the section that looks most like name; NULL if none is near enough to be meant. */
const char *scn_key_nearest(const char *section, const char *name);

/* True if `distance` is near enough for a hint: a third of the word, at least 2. */
bool scn_is_near(const char *name, size_t distance);

/* Prints what `key` means: every section that has it, or the counter of that name. NULL,
 * "" or "all" prints the whole table. false (and a hint on out): there is no such key. */
bool scn_explain(FILE *out, const char *key);

/* Prints the JSON schema of a scenario file (draft 2020-12), for editors. */
void scn_schema(FILE *out);

#endif
