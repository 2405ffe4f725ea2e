/* child - the client half of a live scenario: one request line in, one reply line out. */
#ifndef SCN_CHILD_H
#define SCN_CHILD_H

#include <stdio.h>

/* Reads one line from in, runs it over the real network, writes one line to out. Returns the exit code: 0 whatever
 * the scenario's outcome is, 2 for a line that cannot be read, 3 if the world cannot be set up. */
int child_run(FILE *in, FILE *out);

#endif
