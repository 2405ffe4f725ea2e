/* judge - what must hold behind any fault, whatever the life expected.
 *
 *  - the client neither hangs nor goes round in circles; it lets go of every socket and allocation;
 *  - the mock notes no violation; rows are whole, in order, with their values, doubled only over a lost connection;
 *  - what was acknowledged is at the server; everything is, if no call told of a failure;
 *  - who is acknowledged was counted as sent (P121-25); a fault of the network is no strike against a frame;
 *  - a call that fails says why, with a status that fits;
 *  - behind one fault the client recovers: every step succeeds, within seconds. Only what has no memory or no
 *    randomness may say so instead;
 *  - a fault that a connection outlives (a short transfer, would-block, EINTR, ENOBUFS of a send) costs none;
 *  - one fault costs at most one connection: all others end as without it.
 */
#ifndef SWEEP_JUDGE_H
#define SWEEP_JUDGE_H

#include "sweep/life.h"

/* What a run of a life that nothing happens to comes to: the measure for those behind a fault. */
struct sweep_measure {
  int64_t connections; /* that sent a whole request head */
  int64_t unclean;     /* that ended otherwise than by the client's Close, or by the script */
  int64_t strikes;     /* against frames */
  int64_t virtual_ns;
};
void sweep_measure(const struct facts *f, struct sweep_measure *out);

/* true: all of it holds. Else `why` names what does not. point NULL: of the reference itself. */
bool sweep_judge(const struct sweep_life *life, const struct sweep_measure *reference, const struct sweep_point *point,
                 const struct life_run *run, char *why, size_t why_n);

#endif
