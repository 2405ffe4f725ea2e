/* backoff - how long to wait before the next round of connection attempts.
 *
 * Equal jitter [RECON-003]: a pause is uniform in [base, 2 x base). The base starts at
 * the initial value, doubles after each failed round and stops at the maximum
 * [RECON-002]; so a pause may be up to twice the maximum. Pure: time and chance are
 * arguments.
 */
#ifndef QWP_SEND_BACKOFF_H
#define QWP_SEND_BACKOFF_H

#include <stdint.h>

struct qwp_backoff {
  int64_t initial_ns; /* >= 1 ms and <= max_ns */
  int64_t max_ns;
  int64_t base_ns;    /* of the next pause */
};

/* Values below 1 ms count as 1 ms, an initial value above the maximum as the maximum:
 * no order of the two keys may end in a busy loop or an empty range [RECON-011]. */
void qwp_backoff_init(struct qwp_backoff *b, int64_t initial_ns, int64_t max_ns);

/* The pause after a failed round; doubles the base. */
int64_t qwp_backoff_next(struct qwp_backoff *b, uint64_t random);

/* The pause after a round in which every endpoint rejected by role: [initial, 2 x initial),
 * and the base starts over, as nothing is wrong with the network [RECON-008]. */
int64_t qwp_backoff_role(struct qwp_backoff *b, uint64_t random);

/* After a successful connection [RECON-009]. */
void qwp_backoff_reset(struct qwp_backoff *b);

/* The pause before redialling a server that answers but refuses, or ends every connection:
 * [dose, 2 x dose), dose = initial x 2^min(times - 1, 6), at most the maximum [NACK-018].
 * times >= 1; leaves the base alone. */
int64_t qwp_backoff_dose(const struct qwp_backoff *b, int64_t times, uint64_t random);

#endif
