/* option_number - a whole number behind an option of a command line. */
#ifndef SCN_OPTION_NUMBER_H
#define SCN_OPTION_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Decimal digits and nothing else, min to max. false: *out is as it was, and standard error says which option of which
 * program wants what. */
bool option_number(const char *program, const char *option, const char *text, uint64_t min, uint64_t max,
                   uint64_t *out);

#endif
