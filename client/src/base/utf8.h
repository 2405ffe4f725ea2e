/* utf8 - is this text UTF-8? */
#ifndef QWP_BASE_UTF8_H
#define QWP_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* True if text[0..n) is well-formed UTF-8 as of Unicode 3.9, table 3-7 (the same set as RFC 3629): no overlong
 * form, no surrogate, nothing above U+10FFFF, nothing cut short [WIRE-VAR-003]. NUL is a character like any
 * other; n may be 0. */
bool qwp_utf8_valid(const void *text, size_t n);

/* Bytes of the well-formed character that text[0..n) begins with, 1 to 4; 0 if it begins with none. n > 0. */
size_t qwp_utf8_char(const void *text, size_t n);

#endif
