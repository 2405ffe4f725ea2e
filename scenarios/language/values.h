/* values - the scalars of the language: numbers, times, sizes, bytes, comparisons, choices.
 *
 * Text in, value out; no YAML, no memory. Each returns false for text that is not
 * wholly a value of its kind, or that does not fit an int64.
 */
#ifndef SCN_VALUES_H
#define SCN_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "language/scenario.h"

bool scn_value_int(const char *text, int64_t *out);      /* "12", "-1", "0x0d" */
bool scn_value_bool(const char *text, bool *out);        /* "true", "false" */
bool scn_value_duration(const char *text, int64_t *ns);  /* "5s", "100ms", "10us", "7ns", "3m", "24h"; "0" */
bool scn_value_size(const char *text, int64_t *bytes);   /* "4096", "64KiB", "2MiB", "1GiB" */
bool scn_value_range(const char *text, int64_t *from, int64_t *to); /* "1..4", from <= to */
bool scn_value_durations(const char *text, int64_t *from_ns, int64_t *to_ns); /* "0..5ms", from <= to */

/* "8900", "89 00": pairs of hex digits, blanks between pairs allowed. Writes at most
 * n bytes; *used tells how many the text has (n may be 0 to ask). */
bool scn_value_hex(const char *text, uint8_t *out, size_t n, size_t *used);

/* "5", "<= 5", "!= 0", "1..4". to is set for SCN_RANGE only. */
bool scn_value_compare(const char *text, enum scn_compare *op, int64_t *value, int64_t *to);

/* `choices` is a list such as "each|end|none|every N|wait D": a word stands for itself,
 * "word N" wants a number behind it, "word D" a duration, "word S" a size; "word N.."
 * takes a range of them as well. Returns the index of the choice, or -1; *param is the
 * value behind the word (0 if it has none), or where a range begins. */
int scn_value_choice(const char *choices, const char *text, int64_t *param);
/* The same; *to is where a range ends, and *param where there is none. */
int scn_value_choice_range(const char *choices, const char *text, int64_t *param, int64_t *to);

/* The word of a choice list by index, copied without its parameter; false past the end. */
bool scn_choice_word(const char *choices, size_t index, char *out, size_t n);

/* How far two words are apart: insertions, deletions, replacements, neighbours swapped.
 * Words longer than 63 bytes are cut. */
size_t scn_distance(const char *a, const char *b);

#endif
