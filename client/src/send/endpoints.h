/* endpoints - which address of the list comes next.
 *
 * Each endpoint has one state; the smallest state wins, ties keep the order of `addr`
 * [FAIL-001, FAIL-002]. A round tries each endpoint at most once [FAIL-003]; when it is
 * exhausted and the pause is over, everything but the endpoint that worked last is
 * forgotten. Pure bookkeeping.
 */
#ifndef QWP_SEND_ENDPOINTS_H
#define QWP_SEND_ENDPOINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "qwp/ops.h"

enum qwp_health { /* best first */
  QWP_HEALTHY,
  QWP_UNKNOWN,
  QWP_TRANSIENT_REJECT, /* 421, role PRIMARY_CATCHUP: will take writes soon */
  QWP_TRANSPORT_ERROR,
  QWP_TOPOLOGY_REJECT   /* 421, any other role; or NOT_WRITABLE */
};

struct qwp_endpoint_state {
  enum qwp_health health;
  bool tried; /* in this round */
};

struct qwp_endpoints {
  struct qwp_endpoint_state *states;
  size_t count;
  int last_healthy; /* index, -1 = none ever */
  const struct qwp_ops *ops;
};

/* count >= 1. false = out of memory; then nothing needs freeing. */
bool qwp_endpoints_init(struct qwp_endpoints *e, const struct qwp_ops *ops, size_t count);
void qwp_endpoints_free(struct qwp_endpoints *e);

/* The next one to try, marked as tried; -1 = the round is exhausted. */
int qwp_endpoints_pick(struct qwp_endpoints *e);

/* An attempt ended: connected (QWP_HEALTHY; ends the round) or why not. */
void qwp_endpoints_mark(struct qwp_endpoints *e, int index, enum qwp_health health);

/* An established connection broke [FAIL-005]: a healthy endpoint becomes a transport
 * error, so that the next pick prefers a peer. It may be tried at once. */
void qwp_endpoints_lost(struct qwp_endpoints *e, int index);

/* Forgets what the exhausted round taught. */
void qwp_endpoints_new_round(struct qwp_endpoints *e);

#endif
