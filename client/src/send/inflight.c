#include "send/inflight.h"

#define NONE (-1)

void qwp_inflight_init(struct qwp_inflight *f) {
  *f = (struct qwp_inflight){.acked = NONE, .replay_target = NONE};
  qwp_inflight_connect(f);
}

void qwp_inflight_connect(struct qwp_inflight *f) {
  f->fsn_at_zero = f->acked + 1;
  f->catchup_frames = 0;
  f->next_seq = 0;
  f->sent_fsn = f->acked;
  f->held_fsn = NONE;
  qwp_inflight_begin(f);
}

static void drop_reached_target(struct qwp_inflight *f) {
  if (f->replay_target <= f->acked) f->replay_target = NONE;
}

void qwp_inflight_disconnect(struct qwp_inflight *f) {
  int64_t completed = qwp_inflight_next_fsn(f) - 1;
  if (completed > f->replay_target) f->replay_target = completed;
  drop_reached_target(f);
}

int64_t qwp_inflight_fsn(const struct qwp_inflight *f, int64_t seq) {
  return f->fsn_at_zero + seq - f->catchup_frames;
}

int64_t qwp_inflight_next_fsn(const struct qwp_inflight *f) { return qwp_inflight_fsn(f, f->next_seq); }

/* ---- a batch ------------------------------------------------------------------- */

void qwp_inflight_begin(struct qwp_inflight *f) {
  f->batch_frames = 0;
  f->batch_catchup = 0;
  f->batch_replayed = 0;
  f->saved_target = f->replay_target;
}

void qwp_inflight_append(struct qwp_inflight *f) {
  int64_t fsn = qwp_inflight_next_fsn(f);
  if (fsn <= f->replay_target) f->batch_replayed++;
  if (fsn == f->replay_target) f->replay_target = NONE;
  f->next_seq++;
  f->batch_frames++;
}

void qwp_inflight_append_catchup(struct qwp_inflight *f) {
  f->next_seq++;
  f->catchup_frames++;
  f->batch_catchup++;
}

void qwp_inflight_flushed(struct qwp_inflight *f) {
  f->sent_fsn = qwp_inflight_next_fsn(f) - 1;
  qwp_inflight_begin(f);
}

void qwp_inflight_rollback(struct qwp_inflight *f) {
  f->next_seq -= f->batch_frames;
  f->next_seq -= f->batch_catchup;
  f->catchup_frames -= f->batch_catchup;
  f->replay_target = f->saved_target;
  drop_reached_target(f);
  qwp_inflight_begin(f);
}

/* ---- answers --------------------------------------------------------------------- */

/* What the batch under way has appended is not sent: an answer that names none of its
 * frames says nothing about them. */
int64_t qwp_inflight_clamp(const struct qwp_inflight *f, int64_t seq) {
  if (seq < f->next_seq) return seq;
  return f->next_seq - f->batch_frames - f->batch_catchup - 1;
}

bool qwp_inflight_ok(struct qwp_inflight *f, int64_t seq) {
  if (seq < 0) return false;
  bool beyond = seq >= f->next_seq;
  int64_t fsn = qwp_inflight_fsn(f, qwp_inflight_clamp(f, seq));
  if (fsn > f->held_fsn) f->held_fsn = fsn;
  return beyond;
}

int64_t qwp_inflight_ackable(const struct qwp_inflight *f) {
  return f->held_fsn < f->sent_fsn ? f->held_fsn : f->sent_fsn;
}

bool qwp_inflight_acked(struct qwp_inflight *f, int64_t fsn) {
  if (fsn <= f->acked) return false;
  f->acked = fsn;
  drop_reached_target(f);
  return true;
}

bool qwp_inflight_names_data(const struct qwp_inflight *f, int64_t seq) {
  if (seq < f->catchup_frames || seq >= f->next_seq) return false;
  return qwp_inflight_fsn(f, seq) > f->acked;
}
