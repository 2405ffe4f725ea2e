/* follow - a journal line as words for a person who watches. */
#ifndef MOCK_LWS_FOLLOW_H
#define MOCK_LWS_FOLLOW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Prints one readable line for a line of the journal:
 *
 *     0.003512  conn 1  frame       seq=4 flags=12 tables=1 rows=10 bytes=181 fate=ok
 *
 * Times are seconds since start_ns. The header line is left out. */
void mock_follow(FILE *f, int64_t start_ns, const char *line, size_t n);

#endif
