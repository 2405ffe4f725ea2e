#include "core/out.h"

#include <stdlib.h>
#include <string.h>

void mock_out_free(struct mock_out *o) {
  free(o->p);
  *o = (struct mock_out){0};
}

static bool grow(struct mock_out *o, size_t need) {
  size_t cap = o->cap ? o->cap : 256;
  while (cap < need) cap *= 2;
  uint8_t *p = realloc(o->p, cap);
  if (!p) return false;
  o->p = p;
  o->cap = cap;
  return true;
}

uint8_t *mock_out_reserve_slow(struct mock_out *o, size_t n) {
  if (o->failed) return NULL;
  if (n > MOCK_OUT_LIMIT_BYTES - o->n || (o->cap - o->n < n && !grow(o, o->n + n))) {
    o->failed = true;
    return NULL;
  }
  uint8_t *at = o->p + o->n;
  o->n += n;
  return at;
}

void mock_out_decimal(struct mock_out *o, int64_t v) {
  char digits[20];
  size_t at = sizeof digits;
  uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  do {
    digits[--at] = (char)('0' + u % 10);
    u /= 10;
  } while (u);
  if (v < 0) digits[--at] = '-';
  mock_out_put(o, digits + at, sizeof digits - at);
}

void mock_out_le(struct mock_out *o, uint64_t v, size_t bytes) {
  uint8_t *at = mock_out_reserve(o, bytes);
  if (!at) return;
  for (size_t i = 0; i < bytes; i++) at[i] = (uint8_t)(v >> (8 * i));
}

void mock_out_hex(struct mock_out *o, const void *bytes, size_t n) {
  static const char digits[] = "0123456789abcdef";
  const uint8_t *p = bytes;
  uint8_t *at = mock_out_reserve(o, n > MOCK_OUT_LIMIT_BYTES ? n : 2 * n); /* so much fails, and 2 * n may be small */
  if (!at) return;
  for (size_t i = 0; i < n; i++) {
    *at++ = (uint8_t)digits[p[i] >> 4];
    *at++ = (uint8_t)digits[p[i] & 15];
  }
}

void mock_out_drop_front(struct mock_out *o, size_t n) {
  if (n < o->n) memmove(o->p, o->p + n, o->n - n);
  o->n -= n;
}
