/* fuzz_tls.h - what the TLS fuzz targets share: input in small numbers, an OpenSSL without chance, and its memory counted.
 * One translation unit of a program. */
#ifndef TESTLIB_FUZZ_TLS_H
#define TESTLIB_FUZZ_TLS_H

#define OPENSSL_SUPPRESS_DEPRECATED /* RAND_METHOD: the shortest way to the same numbers each time */
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void require(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "does not hold: %s\n", what);
  abort();
}

/* ---- input ------------------------------------------------------------------------------- */

struct fuzz_input {
  const uint8_t *p;
  size_t n;
};

static inline uint8_t fuzz_byte(struct fuzz_input *in) {
  if (in->n == 0) return 0;
  in->n--;
  return *in->p++;
}

/* 0 to 65535, small ones in one byte. */
static inline size_t fuzz_number(struct fuzz_input *in) {
  const size_t first = fuzz_byte(in);
  return first < 224 ? first : (first - 224) << 11 | (size_t)fuzz_byte(in) << 3;
}

static inline size_t fuzz_bytes(struct fuzz_input *in, size_t n, const uint8_t **p) {
  if (n > in->n) n = in->n;
  *p = in->p;
  in->p += n;
  in->n -= n;
  return n;
}

/* ---- chance ---------------------------------------------------------------------------------- */

static uint64_t fuzz_tls_state;

static inline void fuzz_tls_seed(void) { fuzz_tls_state = 0; }

static inline int fuzz_tls_random(unsigned char *out, int n) {
  for (int i = 0; i < n; i++) { /* splitmix64 */
    uint64_t z = fuzz_tls_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    out[i] = (unsigned char)(z >> 32);
  }
  return 1;
}

static inline int fuzz_tls_ready(void) { return 1; }

/* ---- memory ------------------------------------------------------------------------------------ */

static size_t fuzz_tls_bytes;

static inline size_t fuzz_tls_live_bytes(void) { return fuzz_tls_bytes; }

enum { FUZZ_TLS_HEAD = 16 }; /* keeps the alignment */

static inline void *fuzz_tls_realloc(void *p, size_t n, const char *file, int line) {
  (void)file;
  (void)line;
  uint8_t *old = p ? (uint8_t *)p - FUZZ_TLS_HEAD : NULL;
  size_t had = 0;
  if (old) memcpy(&had, old, sizeof had);
  uint8_t *now = realloc(old, n + FUZZ_TLS_HEAD);
  if (!now) return NULL;
  fuzz_tls_bytes += n - had;
  memcpy(now, &n, sizeof n);
  return now + FUZZ_TLS_HEAD;
}

static inline void *fuzz_tls_malloc(size_t n, const char *file, int line) {
  return n ? fuzz_tls_realloc(NULL, n, file, line) : NULL;
}

static inline void fuzz_tls_free(void *p, const char *file, int line) {
  (void)file;
  (void)line;
  if (!p) return;
  size_t had;
  memcpy(&had, (uint8_t *)p - FUZZ_TLS_HEAD, sizeof had);
  fuzz_tls_bytes -= had;
  free((uint8_t *)p - FUZZ_TLS_HEAD);
}

/* Before anything else of OpenSSL's. */
static inline void fuzz_tls_init(void) {
  static const RAND_METHOD same = {.bytes = fuzz_tls_random, .pseudorand = fuzz_tls_random, .status = fuzz_tls_ready};
  setenv("CMOCKA_TEST_ABORT", "1", 1); /* an assert of a kit is a finding */
  require(CRYPTO_set_mem_functions(fuzz_tls_malloc, fuzz_tls_realloc, fuzz_tls_free) == 1, "OpenSSL's memory is counted");
  require(RAND_set_rand_method(&same) == 1, "no chance");
}

#endif
