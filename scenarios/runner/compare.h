/* compare - one scenario in each world it claims, and in the simulated one with two other schedules as well: the send
 * loop runs before the producer goes on, or bytes arrive in small pieces. Every time the protocol must have gone the
 * same way (normal.h).
 *
 * It judges no run; that is what the ordinary ones are for. A scenario in which scheduling decides how far a connection
 * came says so in `worlds_may_differ`; then only what no scheduling can change is compared. The same holds between a
 * plain world and TLS where a fault names a byte: there it is one of the ciphertext, another place.
 */
#ifndef SCN_COMPARE_H
#define SCN_COMPARE_H

#include <stdbool.h>

#include "runner/job.h"

#define COMPARE_RUNS_MAX 5 /* of one scenario: it may take that much longer than in one world */

/* Does it claim two worlds of this build? */
bool compare_can(const struct scn_scenario *s);

/* Fits pool_options.run. Passed: all the same. Failed: j->why has the first line of each side where two part. Error: a
 * world gave no run to compare. The journals of all runs are appended to journal_fd, if that is not -1. */
void compare_run(struct job *j, const struct world_options *w, int journal_fd);

#endif
