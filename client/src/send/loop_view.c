/* Where the loop stands, read and not touched. */
#include "send/loop_impl.h"

struct qwp_loop_view qwp_loop_view(const struct qwp_loop *loop) {
  const struct qwp_inflight *f = &loop->inflight;
  int64_t held = f->held_fsn > f->acked ? f->held_fsn : f->acked;
  return (struct qwp_loop_view){
      .state = (int)loop->state,
      .ws_state = (int)qwp_ws_state(loop->ws),
      .batch_open = loop->batch_open,
      .unsent = (int)qwp_ws_unsent(loop->ws),
      .control_half_out = qwp_ws_control_half_out(loop->ws),
      .catchup_next = (int64_t)loop->catchup.next_id,
      .catchup_all = (int64_t)loop->mirror.count,
      .in_flight = qwp_inflight_next_fsn(f) - 1 - f->acked,
      .held_acks = held - f->acked,
      .backlog = qwp_ring_published(loop->ring) + 1 - qwp_inflight_next_fsn(f),
      .replay_target = f->replay_target,
      .connects = qwp_count_get(&loop->metrics.loop_connects),
      .backoff_ns = loop->backoff.base_ns,
      .idle_recycles = loop->idle_recycles,
      .strikes = loop->poison.strikes,
  };
}
