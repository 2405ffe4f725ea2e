/* metrics - the loop's numbers, written by one thread and read by any.
 *
 * A counter has one writer, so adding needs no locked instruction; each reader sees an
 * exact value, two values may be a step apart.
 */
#ifndef QWP_SEND_METRICS_H
#define QWP_SEND_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "qwp/sender.h"
#include "ws/connection.h"

typedef _Atomic(int64_t) qwp_counter;

static inline void qwp_count_set(qwp_counter *c, int64_t v) { atomic_store_explicit(c, v, memory_order_relaxed); }

static inline int64_t qwp_count_get(const qwp_counter *c) {
  return atomic_load_explicit((qwp_counter *)c, memory_order_relaxed);
}

static inline void qwp_count_add(qwp_counter *c, int64_t n) { qwp_count_set(c, qwp_count_get(c) + n); }

/* The loop's part of QWP_METRICS; the names are those of the public struct. */
#define QWP_LOOP_COUNTERS(X) \
  X(loop_sent) X(loop_replayed) X(loop_acks) X(loop_acks_clamped) X(loop_nacks) X(loop_attempts) X(loop_connects) \
  X(loop_reconnects) X(loop_strikes) X(loop_catchup) X(loop_next_seq) X(loop_replay_target) X(loop_steps) \
  X(tx_capacity) X(tx_batches) X(tx_max_batch) X(tx_copied_bytes) \
  X(rx_capacity) X(rx_grows) X(rx_moves) X(rx_moved_bytes) X(rx_pings)

struct qwp_loop_metrics {
#define QWP_LOOP_COUNTER_FIELD(field) qwp_counter field;
  QWP_LOOP_COUNTERS(QWP_LOOP_COUNTER_FIELD)
#undef QWP_LOOP_COUNTER_FIELD
};

void qwp_loop_metrics_init(struct qwp_loop_metrics *m);
/* Loop thread: shows what the connection has counted. */
void qwp_loop_metrics_ws(struct qwp_loop_metrics *m, const struct qwp_ws_counters *ws);
/* Any thread: copies the loop's part into the public struct. */
void qwp_loop_metrics_read(const struct qwp_loop_metrics *m, struct qwp_metrics *out);

#endif
