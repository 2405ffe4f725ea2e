/* hash - 64-bit hashes for digests and look-ups. Not for secrets; the same on every machine. */
#ifndef MOCK_HASH_H
#define MOCK_HASH_H

#include <stddef.h>
#include <stdint.h>

/* A bijection in which each bit of x moves half of the result (two rounds of multiply and fold). */
static inline uint64_t mock_mix(uint64_t x) {
  x ^= x >> 32;
  x *= UINT64_C(0xD6E8FEB86659FD93);
  x ^= x >> 32;
  x *= UINT64_C(0xD6E8FEB86659FD93);
  return x ^ x >> 32;
}

/* One round: for the sum of what mock_mix made, so that sums of results still tell which values
 * stood together (a plain sum would not). */
static inline uint64_t mock_fold(uint64_t x) {
  x = (x + 1) * UINT64_C(0xD6E8FEB86659FD93);
  return x ^ x >> 32;
}

static inline uint64_t mock_hash_bytes(const void *bytes, size_t n) {
  const uint8_t *p = bytes;
  uint64_t h = mock_mix(n + 1);
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word |= (uint64_t)p[i] << (8 * i); /* one load, where the compiler can */
    h = mock_mix(h ^ word);
  }
  if (n == 0) return h;
  uint64_t word = 0;
  for (size_t i = 0; i < n; i++) word |= (uint64_t)p[i] << (8 * i);
  return mock_mix(h ^ word);
}

#endif
