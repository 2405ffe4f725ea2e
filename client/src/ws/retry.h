/* retry - how often a call that a signal interrupted is made again. */
#ifndef QWP_WS_RETRY_H
#define QWP_WS_RETRY_H

/* No kernel interrupts a non-blocking call that often; a table that does is told "not now". */
#define QWP_EINTR_TRIES 100

#endif
