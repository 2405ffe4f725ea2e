/* probe - a connection beside the sender: somebody looks at the port, and goes away.
 *
 * Port scanners, load balancers and curious people do this to every server. What is sent is no request that the server
 * takes, so the mock journals it as unmatched and no entry of its script is used up (CASE-96).
 */
#ifndef SCN_PROBE_H
#define SCN_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "qwp/ops.h"

/* Connects to the first endpoint of the connect string, sends the text (it may be empty), ends its half, and waits
 * until the server has ended the other: then the server has seen all of it. False: `why` says what went wrong. */
bool probe_run(const struct qwp_ops *ops, const char *config, const char *text, char *why, size_t why_n);

#endif
