/* posix - the real tables, one file each. This folder is the only one that calls the system. */
#ifndef QWP_OPS_POSIX_H
#define QWP_OPS_POSIX_H

#include "qwp/ops.h"

extern const struct qwp_net_ops qwp_posix_net;
extern const struct qwp_file_ops qwp_posix_file;
extern const struct qwp_clock_ops qwp_posix_clock;
extern const struct qwp_mem_ops qwp_posix_mem;

/* The context of the net table: what wake() rings and wait() hears. 0 or -errno. */
int qwp_posix_net_new(void **ctx);
void qwp_posix_net_del(void *ctx);

#endif
