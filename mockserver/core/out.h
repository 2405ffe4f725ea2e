/* out - a growing byte buffer that answers are written into.
 *
 * Appending never fails in the caller's face: when memory runs out, or the limit
 * would be passed, `failed` is set, nothing is appended any more, and the owner ends
 * the connection when it looks. So code that builds an answer reads as its layout.
 */
#ifndef MOCK_OUT_H
#define MOCK_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MOCK_OUT_LIMIT_BYTES ((size_t)1 << 30) /* far above any queue bound: a last fence */

struct mock_out {
  uint8_t *p;
  size_t n, cap;
  bool failed;
};

void mock_out_free(struct mock_out *o);
static inline void mock_out_clear(struct mock_out *o) { o->n = 0; } /* empty again, memory kept */

uint8_t *mock_out_reserve_slow(struct mock_out *o, size_t n); /* reserve, when the buffer must grow */

/* Room for n more bytes at the end, which the caller fills; NULL when failed. Inline, as are the
 * other short ones: a journal line is some fifty of them. */
static inline uint8_t *mock_out_reserve(struct mock_out *o, size_t n) {
  if (o->failed || n > o->cap - o->n) return mock_out_reserve_slow(o, n);
  uint8_t *at = o->p + o->n;
  o->n += n;
  return at;
}

static inline void mock_out_put(struct mock_out *o, const void *p, size_t n) {
  uint8_t *at = n ? mock_out_reserve(o, n) : NULL;
  if (at) memcpy(at, p, n);
}

static inline void mock_out_text(struct mock_out *o, const char *s) { mock_out_put(o, s, strlen(s)); }

static inline void mock_out_u8(struct mock_out *o, unsigned v) {
  uint8_t *at = mock_out_reserve(o, 1);
  if (at) *at = (uint8_t)v;
}

void mock_out_decimal(struct mock_out *o, int64_t v);
void mock_out_le(struct mock_out *o, uint64_t v, size_t bytes); /* little-endian, 1..8 bytes */
void mock_out_hex(struct mock_out *o, const void *bytes, size_t n); /* two small digits a byte */

void mock_out_drop_front(struct mock_out *o, size_t n); /* n <= o->n */

#endif
