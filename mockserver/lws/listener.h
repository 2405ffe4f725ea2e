/* listener - a listening socket on 127.0.0.1 that can refuse connects and never loses its port.
 *
 * Between "refusing" and "listening again" the port stays bound, and nobody else may bind it, whatever options he sets:
 * a port that is given back is taken by another process that asks the system for any free one.
 */
#ifndef MOCK_LWS_LISTENER_H
#define MOCK_LWS_LISTENER_H

#include <stdbool.h>

/* Listens; *port 0 = one from the system, which it then tells. The descriptor, not blocking, or -1 with errno. */
int mock_listener_open(int *port);

/* From now on connects are refused; those that wait to be accepted are reset. */
void mock_listener_refuse(int fd);

/* Connects are taken again. false: errno tells. */
bool mock_listener_resume(int fd);

#endif
