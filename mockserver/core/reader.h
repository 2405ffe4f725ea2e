/* reader - a bounds-checked cursor over one message.
 *
 * Every read says by its result whether the bytes were there; the caller's next line
 * names what was missing. The first failure is kept in *err with its status, its
 * offset from the start of the message and the text that a server sends.
 */
#ifndef MOCK_READER_H
#define MOCK_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/decode.h"

struct mock_reader {
  const uint8_t *base; /* the message */
  const uint8_t *p;    /* next byte */
  const uint8_t *end;  /* behind the last byte of the payload */
  const struct mock_decode_sink *sink; /* told of violations; NULL = nobody */
  struct mock_decode_error *err;
};

/* A message of one row is judged in some twenty nanoseconds; what is rare stays out of the
 * registers of what happens every time, and the reverse. */
#define MOCK_RARE __attribute__((noinline))
#define MOCK_EVERY static inline __attribute__((always_inline))

static inline size_t mock_reader_left(const struct mock_reader *r) { return (size_t)(r->end - r->p); }
static inline size_t mock_reader_offset(const struct mock_reader *r) { return (size_t)(r->p - r->base); }

/* Fills *err and returns false, so that "return mock_refuse(...)" reads as a refusal. */
bool mock_refuse(struct mock_decode_error *err, uint8_t status, size_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));
/* The same behind the decoder: the offset it gave, that of the block, stays. */
#define MOCK_REFUSE(err, status, ...) mock_refuse(err, status, (err)->offset, __VA_ARGS__)
/* A PARSE_ERROR at the cursor. */
bool mock_reader_fail(struct mock_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* A thing no client may do although the server lets it pass, at `offset`. */
void mock_reader_violation(struct mock_reader *r, const char *requirement, size_t offset, const char *text)
    __attribute__((cold));

/* A varint longer than one byte, or none at all; see mock_reader_varint. */
bool mock_reader_long_varint(struct mock_reader *r, uint64_t *value);

/* Unsigned LEB128 [WIRE-ENC-002, MAL-ING-004]. Refused: the payload ends inside, more
 * than 10 bytes, bits above 64. A non-minimal form is read and noted. */
static inline bool mock_reader_varint(struct mock_reader *r, uint64_t *value) {
  if (r->p < r->end && *r->p < 0x80) {
    *value = *r->p++;
    return true;
  }
  return mock_reader_long_varint(r, value);
}

/* The next n bytes, or NULL if the payload is shorter. Refuses nothing by itself. */
static inline const uint8_t *mock_reader_take(struct mock_reader *r, uint64_t n) {
  if (n > mock_reader_left(r)) return NULL;
  const uint8_t *p = r->p;
  r->p += n;
  return p;
}

/* Little-endian loads from anywhere [WIRE-ENC-001]. Compilers turn each into one move. */
static inline uint16_t mock_load16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static inline uint32_t mock_load32(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t mock_load64(const uint8_t *p) {
  return (uint64_t)mock_load32(p) | (uint64_t)mock_load32(p + 4) << 32;
}

/* Short equal strings are the rule: no call for them, and the tail is compared once more with
 * what precedes it rather than byte by byte. */
MOCK_EVERY bool mock_same_bytes(const uint8_t *p, const uint8_t *q, size_t n) {
  if (n > 64) return memcmp(p, q, n) == 0;
  if (n >= 8) {
    for (size_t i = 0; i + 8 < n; i += 8)
      if (mock_load64(p + i) != mock_load64(q + i)) return false;
    return mock_load64(p + n - 8) == mock_load64(q + n - 8);
  }
  if (n >= 4) return mock_load32(p) == mock_load32(q) && mock_load32(p + n - 4) == mock_load32(q + n - 4);
  return n == 0 || (p[0] == q[0] && p[n / 2] == q[n / 2] && p[n - 1] == q[n - 1]);
}

#endif
