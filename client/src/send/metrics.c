#include "send/metrics.h"

void qwp_loop_metrics_init(struct qwp_loop_metrics *m) {
#define INIT(field) atomic_init(&m->field, 0);
  QWP_LOOP_COUNTERS(INIT)
#undef INIT
  qwp_count_set(&m->loop_replay_target, -1);
}

void qwp_loop_metrics_ws(struct qwp_loop_metrics *m, const struct qwp_ws_counters *ws) {
  qwp_count_set(&m->tx_capacity, ws->tx_capacity);
  qwp_count_set(&m->tx_copied_bytes, ws->tx_copied_bytes);
  qwp_count_set(&m->rx_capacity, ws->rx_capacity);
  qwp_count_set(&m->rx_grows, ws->rx_grows);
  qwp_count_set(&m->rx_moves, ws->rx_moves);
  qwp_count_set(&m->rx_moved_bytes, ws->rx_moved_bytes);
  qwp_count_set(&m->rx_pings, ws->pings);
}

void qwp_loop_metrics_read(const struct qwp_loop_metrics *m, struct qwp_metrics *out) {
#define READ(field) out->field = qwp_count_get(&m->field);
  QWP_LOOP_COUNTERS(READ)
#undef READ
}
