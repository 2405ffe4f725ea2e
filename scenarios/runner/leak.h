/* leak - does a series of samples show a leak? (CASE-77)
 *
 * A healthy sender's memory is a saw-tooth: buffers fill while the peer is away, and stay allocated or come back. A
 * slope through such samples follows the teeth. What a healthy process does, however, is come back down: so only
 * floors are compared, and only of quiet time.
 *
 *   samples ──► without fault windows ──► floors, the lowest sample of each stretch ──► first third | middle | last
 *
 * A leak is: every floor of the last third lies above every floor of the first third, by more than the allowance. A
 * process that leaks can never come down to where it was; one that does not, does so once. A step that stays counts as
 * a leak, one that returns does not.
 *
 * Stretches are the quiet times between faults, or, if those are few, equal numbers of samples. Nothing is measured
 * against a clock: how fast the machine is, and how regularly it looks, changes neither order nor minima. The first
 * stretch is left out: a process that starts allocates what it keeps. With LEAK_FLOORS in each third the order of
 * floors that only wobble shows a leak by chance once in C(2n, n) times, n = 5: 252; the allowance, wider than the
 * wobble, lowers that to nothing.
 *
 * The ceiling holds for every sample, those inside fault windows too.
 */
#ifndef SCN_LEAK_H
#define SCN_LEAK_H

#include "runner/samples.h"

#define LEAK_FLOORS 5                         /* in each third */
#define LEAK_STRETCHES (3 * LEAK_FLOORS + 1)  /* fewest there must be: the first one is left out */

struct leak_limits {
  int64_t ceiling;   /* no sample may be above it; 0 = none */
  int64_t allowance; /* how far the floor may rise; what wobbles without leaking must be below it */
};

/* What a series is judged by unless somebody knows better: memory wobbles by what an allocator keeps of its arenas,
 * 64 KiB; descriptors do not wobble. No ceiling. */
struct leak_limits leak_limits_of(enum sample_kind kind);

enum leak_verdict {
  LEAK_NONE,
  LEAK_FOUND,
  LEAK_UNKNOWN /* too few samples to say: no evidence is no proof */
};

/* Judges s. `why` says in one sentence, with the name of the series, what was seen, whatever the verdict: of a clean
 * series it tells how slow a leak would have been noticed. */
enum leak_verdict leak_judge(const struct samples *s, const struct leak_limits *limits, char *why, size_t why_n);

#endif
