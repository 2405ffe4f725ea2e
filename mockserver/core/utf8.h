/* utf8 - is this UTF-8 as Unicode defines it: no overlong form, no surrogate, nothing
 * above U+10FFFF, nothing cut. */
#ifndef MOCK_UTF8_H
#define MOCK_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the valid character at the front of p[0..n), n > 0; 0 = there is none. */
size_t mock_utf8_character(const uint8_t *p, size_t n);
/* How many leading bytes of p[0..n) are whole, valid characters; n = all of it is valid. */
size_t mock_utf8_valid_prefix(const uint8_t *p, size_t n);
static inline bool mock_utf8_valid(const uint8_t *p, size_t n) { return mock_utf8_valid_prefix(p, n) == n; }
/* Only bytes below 0x80: then every cut of it is valid too. */
bool mock_utf8_is_ascii(const uint8_t *p, size_t n);

#endif
