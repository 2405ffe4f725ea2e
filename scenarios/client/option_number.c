#include "client/option_number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* strtoull would also take blanks, '+', and '-': a number far above zero. */
static bool is_decimal(const char *text) { return *text && !text[strspn(text, "0123456789")]; }

bool option_number(const char *program, const char *option, const char *text, uint64_t min, uint64_t max,
                   uint64_t *out) {
  errno = 0;
  const unsigned long long v = strtoull(text, NULL, 10);
  if (is_decimal(text) && !errno && v >= min && v <= max) {
    *out = v;
    return true;
  }
  fprintf(stderr, "%s: %s: '%s' is not a number from %" PRIu64 " to %" PRIu64 "\n", program, option, text, min, max);
  return false;
}
