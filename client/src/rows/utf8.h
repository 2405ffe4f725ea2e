/* utf8 - is this text UTF-8? */
#ifndef QWP_ROWS_UTF8_H
#define QWP_ROWS_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* True if text[0..n) is well-formed UTF-8 as of Unicode 3.9, table 3-7: no overlong form, no surrogate,
 * nothing above U+10FFFF, nothing cut short [WIRE-VAR-003]. NUL is a character like any other; n may be 0. */
bool qwp_utf8_valid(const char *text, size_t n);

#endif
