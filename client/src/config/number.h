/* number - the numbers of a connect string, read strictly: decimal digits and
 * nothing around them. */
#ifndef QWP_CONFIG_NUMBER_H
#define QWP_CONFIG_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum qwp_number_result {
  QWP_NUMBER_OK,
  QWP_NUMBER_MALFORMED, /* empty, or something else than digits and the suffix */
  QWP_NUMBER_OVERFLOW   /* does not fit 64 bits */
};

/* Digits, with one "-" before them if the number is negative; no "+", no blanks,
 * no fraction. *out is written only on OK. */
enum qwp_number_result qwp_number_read(const char *text, int64_t *out);

/* Digits and optionally k, kb, m, mb, g, gb, t, tb in any case, powers of 1024
 * [CONF-011]. Not negative. */
enum qwp_number_result qwp_number_read_size(const char *text, int64_t *out);

#endif
