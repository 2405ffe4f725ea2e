#include "base/bytes.h"

#include <assert.h>

void qwp_bytes_init(struct qwp_bytes *b, const struct qwp_ops *ops, size_t limit) {
  *b = (struct qwp_bytes){.limit = limit, .ops = ops};
}

void qwp_bytes_free(struct qwp_bytes *b) {
  if (b->data) b->ops->mem->free(b->ops->mem_ctx, b->data);
  b->data = NULL;
  b->len = b->cap = 0;
}

enum qwp_status qwp_bytes_reserve(struct qwp_bytes *b, size_t n) {
  if (n <= b->cap - b->len) return QWP_OK;
  if (n > b->limit - b->len) return QWP_TOO_LARGE;
  size_t need = b->len + n;
  size_t cap = b->cap ? b->cap : b->limit < 256 ? b->limit : 256;
  while (cap < need) cap = cap > b->limit / 2 ? b->limit : cap * 2;
  void *grown = b->data ? b->ops->mem->realloc(b->ops->mem_ctx, b->data, cap)
                        : b->ops->mem->alloc(b->ops->mem_ctx, cap);
  if (!grown) return QWP_NOMEM;
  b->data = grown;
  b->cap = cap;
  return QWP_OK;
}

enum qwp_status qwp_bytes_append(struct qwp_bytes *b, const void *p, size_t n) {
  enum qwp_status st = qwp_bytes_reserve(b, n);
  if (st != QWP_OK) return st;
  qwp_put(b, p, n);
  return QWP_OK;
}

void qwp_put_u16(struct qwp_bytes *b, uint16_t v) {
  qwp_put_u8(b, (uint8_t)v);
  qwp_put_u8(b, (uint8_t)(v >> 8));
}

void qwp_put_u32(struct qwp_bytes *b, uint32_t v) {
  assert(b->cap - b->len >= 4);
  qwp_set_u32(b->data + b->len, v);
  b->len += 4;
}

void qwp_put_u64(struct qwp_bytes *b, uint64_t v) {
  qwp_put_u32(b, (uint32_t)v);
  qwp_put_u32(b, (uint32_t)(v >> 32));
}

uint16_t qwp_get_u16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }

uint32_t qwp_get_u32(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint64_t qwp_get_u64(const uint8_t *p) { return (uint64_t)qwp_get_u32(p) | (uint64_t)qwp_get_u32(p + 4) << 32; }

void qwp_set_u32(uint8_t *p, uint32_t v) {
  p[0] = (uint8_t)v;
  p[1] = (uint8_t)(v >> 8);
  p[2] = (uint8_t)(v >> 16);
  p[3] = (uint8_t)(v >> 24);
}

size_t qwp_varint_read(const uint8_t *p, size_t n, uint64_t *v) {
  uint64_t value = 0;
  for (size_t i = 0; i < n && i < 10; i++) {
    uint64_t group = p[i] & 0x7f;
    if (i == 9 && p[i] > 1) return 0; /* bit 64 and above, or an eleventh byte */
    value |= group << (7 * i);
    if (!(p[i] & 0x80)) {
      *v = value;
      return i + 1;
    }
  }
  return 0;
}
