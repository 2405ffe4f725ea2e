#include "sim/prng.h"

#include <string.h>

#include "splitmix.h"

static uint64_t rotate(uint64_t x, unsigned by) { return (x << by) | (x >> (64 - by)); }

void prng_init(struct prng *r, uint64_t seed, uint64_t purpose) {
  uint64_t x = splitmix(&seed) ^ purpose;
  for (size_t i = 0; i < 4; i++) r->s[i] = splitmix(&x);
}

uint64_t prng_next(struct prng *r) {
  uint64_t *s = r->s;
  uint64_t out = rotate(s[1] * 5, 7) * 9;
  uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 45);
  return out;
}

uint64_t prng_upto(struct prng *r, uint64_t max) {
  /* Draws from the incomplete last round of the modulus are drawn again. */
  uint64_t surplus = (0 - max) % max;
  uint64_t x;
  do x = prng_next(r);
  while (x < surplus);
  return x % max + 1;
}

void prng_fill(struct prng *r, void *buf, size_t n) {
  uint8_t *p = buf;
  while (n > 0) {
    uint64_t x = prng_next(r);
    size_t k = n < sizeof x ? n : sizeof x;
    memcpy(p, &x, k);
    p += k;
    n -= k;
  }
}
