/* policy - what a refusal means, and when a refused frame is given up.
 *
 * The default policy by category; nothing is ever dropped [NACK-001]. A retriable refusal
 * drops the connection and replays; the poison detector ends the sender when the same
 * frame at the head of the line has been refused max_frame_rejections times *and* the
 * window since its first refusal has passed [NACK-012..014]. A failed write is no verdict
 * on a frame and never a strike (P121-32). Pure.
 */
#ifndef QWP_SEND_POLICY_H
#define QWP_SEND_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum qwp_policy {
  QWP_POLICY_TERMINAL,        /* the sender is finished */
  QWP_POLICY_RETRIABLE,       /* new connection, replay, a strike */
  QWP_POLICY_RETRIABLE_OTHER  /* the same on the next endpoint, and no strike: the node is the
                                 cause, not the frame [NACK-007] */
};

/* Category of a status byte, as a word for people; "UNKNOWN" for all that is not assigned
 * on ingress [RESP-STAT-008]. */
const char *qwp_policy_category(uint8_t status);
enum qwp_policy qwp_policy_of(uint8_t status);

/* Is a WebSocket Close of this code an ordinary end? Then it is no strike [NACK-015]. */
bool qwp_policy_orderly_close(int close_code);

/* ---- poison detector ---------------------------------------------------------------- */

struct qwp_poison {
  int64_t fsn;       /* the suspect; -1 = none */
  int64_t strikes;   /* against it */
  int64_t first_ns;  /* when the first one fell */
  int64_t strikes_max, window_ns;
};

void qwp_poison_init(struct qwp_poison *p, int64_t strikes_max, int64_t window_ns);

/* A strike against fsn; another frame starts a new count and a new clock. true = poisoned. */
bool qwp_poison_strike(struct qwp_poison *p, int64_t fsn, int64_t now_ns);

/* Everything up to fsn is acknowledged; the suspect is cleared if it is among it [NACK-013]. */
void qwp_poison_acked(struct qwp_poison *p, int64_t fsn);

#endif
