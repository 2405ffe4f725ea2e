/* prng - the seeded source of every random choice in a simulated run.
 *
 * xoshiro256** (Blackman and Vigna), its state filled by splitmix64, so that any seed,
 * zero too, is a good one. Each purpose draws from a generator of its own: a client
 * that asks for one mask key more must not change how the network cuts its bytes.
 */
#ifndef SIM_PRNG_H
#define SIM_PRNG_H

#include <stddef.h>
#include <stdint.h>

struct prng {
  uint64_t s[4];
};

/* `purpose` tells generators of one seed apart. */
void prng_init(struct prng *r, uint64_t seed, uint64_t purpose);
uint64_t prng_next(struct prng *r);
/* Even draw from 1 to max; max > 0. */
uint64_t prng_upto(struct prng *r, uint64_t max);
void prng_fill(struct prng *r, void *buf, size_t n);

#endif
