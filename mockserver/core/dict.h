/* dict - the symbol dictionary of one connection, as a server keeps it. */
#ifndef MOCK_DICT_H
#define MOCK_DICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mock_dict;
struct mock_dict *mock_dict_new(void);
void mock_dict_del(struct mock_dict *d);

size_t mock_dict_count(const struct mock_dict *d);
/* Text of an id < count, or NULL for an id that only a gap created. */
const char *mock_dict_text(const struct mock_dict *d, uint64_t id, size_t *n);
/* Sets id (== count: append; < count: redefine; > count: fill the gap with "no string").
 * The text is copied. Returns 0 new, 1 same text as before, 2 redefined, -1 out of memory. */
int mock_dict_set(struct mock_dict *d, uint64_t id, const char *text, size_t n);
/* Fills up to `count` ids with "no string", as a delta section that starts too high does
 * in profile jul2026 even if it brings no entry. false = out of memory. */
bool mock_dict_fill(struct mock_dict *d, uint64_t count);

#endif
