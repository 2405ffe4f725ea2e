/* inflight - the arithmetic between frame numbers and one connection's sequence.
 *
 *   FSN      0 1 2 3 4 5 6 7 8 ...          for ever, over all connections
 *   wireSeq        0 1 2 3 4 5              from 0 on each connection, catch-up frames first
 *
 *   fsn = acked_at_connect + 1 + wireSeq - catchup_frames        [SEQ-005]
 *
 * Three marks move on a connection: frames are *appended* (next_seq), a flush makes them
 * *sent* (sent_fsn), an answer makes them *acked*. The acked mark never passes the sent
 * mark: an answer that names a frame whose flush is not complete is held until it is
 * (P121-25); one beyond everything appended names nothing of ours and is taken as the last
 * frame completely sent by then, not as one of the batch under way [SEQ-007].
 *
 * A frame counts as sent when the flush that carried it completed, and as replayed if it
 * had been sent before: its FSN is at or below the replay target, the highest FSN that
 * was completely sent on an earlier connection and is not acked (P121-27 to P121-31).
 *
 * Pure; one thread.
 */
#ifndef QWP_SEND_INFLIGHT_H
#define QWP_SEND_INFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

struct qwp_inflight {
  int64_t acked;          /* highest FSN acknowledged, -1 = none */
  int64_t fsn_at_zero;    /* acked_at_connect + 1 */
  int64_t catchup_frames; /* of next_seq, those that are dictionary frames */
  int64_t next_seq;       /* wireSeq of the next frame */
  int64_t sent_fsn;       /* highest FSN whose flush completed here; fsn_at_zero - 1 = none */
  int64_t held_fsn;       /* highest FSN that an OK named, or was clamped to; -1 = none */
  int64_t replay_target;  /* -1 = none */

  /* The batch under way: appended, its flush not complete. */
  int64_t batch_frames;   /* data frames */
  int64_t batch_catchup;  /* or dictionary frames; never both */
  int64_t batch_replayed;
  int64_t saved_target;   /* replay_target before it */
};

void qwp_inflight_init(struct qwp_inflight *f);

/* A connection is up: numbering starts over at the first frame not acked [RECON-005]. */
void qwp_inflight_connect(struct qwp_inflight *f);

/* It is gone; the batch under way, if any, was rolled back before. What was sent on it and
 * is not acked will be a replay; a higher target of an earlier connection stays. */
void qwp_inflight_disconnect(struct qwp_inflight *f);

int64_t qwp_inflight_fsn(const struct qwp_inflight *f, int64_t seq); /* of a wireSeq; may be <= acked */
int64_t qwp_inflight_next_fsn(const struct qwp_inflight *f);         /* of the next data frame */

/* ---- a batch ------------------------------------------------------------------- */

void qwp_inflight_begin(struct qwp_inflight *f);
void qwp_inflight_append(struct qwp_inflight *f);         /* one more data frame */
void qwp_inflight_append_catchup(struct qwp_inflight *f); /* one more dictionary frame */
void qwp_inflight_flushed(struct qwp_inflight *f);        /* its last byte was taken */
void qwp_inflight_rollback(struct qwp_inflight *f);       /* it failed: as if never appended */

/* ---- answers --------------------------------------------------------------------- */

/* seq, or the last wireSeq completely sent if seq lies beyond everything appended; -1 = none
 * was sent. */
int64_t qwp_inflight_clamp(const struct qwp_inflight *f, int64_t seq);

/* An OK for wireSeq seq. true: it lay beyond everything appended and was clamped. A
 * negative one is ignored. */
bool qwp_inflight_ok(struct qwp_inflight *f, int64_t seq);

/* The FSN that may be acknowledged now: what OKs named, as far as it is sent. */
int64_t qwp_inflight_ackable(const struct qwp_inflight *f);

/* Moves the acked mark up to fsn. false: it was there already. */
bool qwp_inflight_acked(struct qwp_inflight *f, int64_t fsn);

/* Does an error answer for seq concern a data frame that is not acked? */
bool qwp_inflight_names_data(const struct qwp_inflight *f, int64_t seq);

#endif
