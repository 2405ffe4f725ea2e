/* receiver - a bare WebSocket client that only receives, through the blocking call.
 *
 * A sender never blocks in a receive; whoever reads a stream of results does. This drives that half of
 * ws/connection.h through the same stage, faults and counters.
 */
#ifndef SCN_RECEIVER_H
#define SCN_RECEIVER_H

#include "client/client.h"

/* As client_run, for a task whose steps are SCN_RECEIVE only. Fills rx.*, the layer's counters, and
 * client.messages. */
bool receiver_run(const struct client_task *task, const struct client_stage *stage, struct facts *facts, int *why_line,
                  char *why, size_t why_n);

#endif
