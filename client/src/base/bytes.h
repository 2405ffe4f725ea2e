/* bytes - a bounded growing buffer to write into, and a bounds-checked cursor to read from. */
#ifndef QWP_BASE_BYTES_H
#define QWP_BASE_BYTES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "qwp/ops.h"
#include "qwp/status.h"

/* Owns its memory. Grows by doubling up to `limit`; never shrinks. */
struct qwp_bytes {
  uint8_t *data;
  size_t len, cap, limit;
  const struct qwp_ops *ops;
};

void qwp_bytes_init(struct qwp_bytes *b, const struct qwp_ops *ops, size_t limit);
void qwp_bytes_free(struct qwp_bytes *b);

/* Room for n more bytes without another allocation. QWP_NOMEM, QWP_TOO_LARGE (limit). */
QWP_MUST_USE enum qwp_status qwp_bytes_reserve(struct qwp_bytes *b, size_t n);
QWP_MUST_USE enum qwp_status qwp_bytes_append(struct qwp_bytes *b, const void *p, size_t n);

/* Writers into reserved room: the caller has reserved enough (asserted). */
static inline void qwp_put(struct qwp_bytes *b, const void *p, size_t n) {
  if (n) memcpy(b->data + b->len, p, n);
  b->len += n;
}
static inline void qwp_put_u8(struct qwp_bytes *b, uint8_t v) {
  assert(b->len < b->cap);
  b->data[b->len++] = v;
}
void qwp_put_u16(struct qwp_bytes *b, uint16_t v);
void qwp_put_u32(struct qwp_bytes *b, uint32_t v);
void qwp_put_u64(struct qwp_bytes *b, uint64_t v);
static inline void qwp_put_varint(struct qwp_bytes *b, uint64_t v) {
  for (; v >= 0x80; v >>= 7) qwp_put_u8(b, (uint8_t)(v | 0x80));
  qwp_put_u8(b, (uint8_t)v);
}

static inline size_t qwp_varint_size(uint64_t v) {
  size_t n = 1;
  for (; v >= 0x80; v >>= 7) n++;
  return n;
}

/* Little-endian at any alignment. */
uint16_t qwp_get_u16(const uint8_t *p);
uint32_t qwp_get_u32(const uint8_t *p);
uint64_t qwp_get_u64(const uint8_t *p);
void qwp_set_u32(uint8_t *p, uint32_t v);

/* Reads an unsigned LEB128 of at most 10 bytes from p[0..n). Bytes used, or 0 if
 * it is cut short or does not fit 64 bits. */
size_t qwp_varint_read(const uint8_t *p, size_t n, uint64_t *v);

#endif
