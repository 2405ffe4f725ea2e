/* hosts - the endpoints of addr: host, host:port, [v6], [v6]:port, by commas
 * [CONF-007, CONF-008, CONF-009]. */
#ifndef QWP_CONFIG_HOSTS_H
#define QWP_CONFIG_HOSTS_H

#include "config/config.h"

#define QWP_HOSTS_MAX 1024

/* Appends the entries of one addr value to c->endpoints, in memory of ops; the
 * caller frees them also after a failure. Entries are trimmed. Refuses an empty entry, a port outside
 * 1..65535, an IPv6 address without brackets, a character no host name has, an
 * endpoint that is there already, and entry 1025. QWP_CONFIG or QWP_NOMEM. */
enum qwp_status qwp_hosts_add(struct qwp_config *c, const struct qwp_ops *ops, const char *list,
                              struct qwp_error *err);

#endif
