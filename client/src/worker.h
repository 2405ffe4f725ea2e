/* worker - the default driver: one thread that turns the send loop.
 *
 * The only file that knows threads. The producer and the worker meet in one mutex and
 * one condition for progress; wake goes through the net table, where the worker waits.
 */
#ifndef QWP_WORKER_H
#define QWP_WORKER_H

#include "qwp/driver.h"
#include "qwp/ops.h"

struct qwp_worker;

/* ops is borrowed. NULL = out of memory. No thread runs before start(). */
struct qwp_worker *qwp_worker_new(const struct qwp_ops *ops);
/* After stop(), or if start() failed or was never called. NULL is fine. */
void qwp_worker_del(struct qwp_worker *w);

/* The driver; lives as long as the worker. stop() waits for the thread: it comes back when
 * the loop has stopped or, if it has not been asked to, after the step under way. A step is
 * short but for name resolution, which the system may take its time for. */
const struct qwp_driver *qwp_worker_driver(const struct qwp_worker *w);

#endif
