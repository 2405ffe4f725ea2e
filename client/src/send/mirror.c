#include "send/mirror.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

void qwp_mirror_init(struct qwp_mirror *m, const struct qwp_ops *ops) {
  *m = (struct qwp_mirror){.ops = ops};
  qwp_bytes_init(&m->entries, ops, QWP_MIRROR_BYTES_MAX);
}

void qwp_mirror_free(struct qwp_mirror *m) {
  qwp_bytes_free(&m->entries);
  if (m->ends) m->ops->mem->free(m->ops->mem_ctx, m->ends);
  m->ends = NULL;
  m->count = m->ends_cap = 0;
}

size_t qwp_mirror_offset(const struct qwp_mirror *m, size_t i) { return i == 0 ? 0 : m->ends[i - 1]; }

/* Bytes of the entry at p[0..n), 0 if it is cut short. */
static size_t entry_bytes(const uint8_t *p, size_t n) {
  uint64_t text;
  size_t head = qwp_varint_read(p, n, &text);
  if (head == 0 || text > n - head) return 0;
  return head + (size_t)text;
}

static enum qwp_status reserve_ends(struct qwp_mirror *m, uint64_t more) {
  if (more <= m->ends_cap - m->count) return QWP_OK;
  if (more > QWP_MIRROR_BYTES_MAX - m->count) return QWP_DICT_FULL; /* an entry has a byte at least */
  size_t need = m->count + (size_t)more;
  size_t cap = m->ends_cap ? m->ends_cap * 2 : 64;
  if (cap < need) cap = need;
  size_t bytes = cap * sizeof *m->ends;
  void *grown = m->ends ? m->ops->mem->realloc(m->ops->mem_ctx, m->ends, bytes)
                        : m->ops->mem->alloc(m->ops->mem_ctx, bytes);
  if (!grown) return QWP_NOMEM;
  m->ends = grown;
  m->ends_cap = cap;
  return QWP_OK;
}

/* Whether the section begins with exactly the known entries it names again. Both are in wire form, so equal
 * bytes are equal entries: nothing needs to be walked. */
static bool repeats(const struct qwp_mirror *m, const struct qwp_delta_view *delta, size_t from, size_t bytes) {
  return bytes == 0 || (bytes <= delta->entries_bytes && memcmp(delta->entries, m->entries.data + from, bytes) == 0);
}

/* Notes where each of `count` new entries at p[0..n) will end; room is there. The bytes they take, 0 if one is
 * cut short. */
static size_t note_ends(struct qwp_mirror *m, const uint8_t *p, size_t n, size_t count) {
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    size_t bytes = entry_bytes(p + at, n - at);
    if (bytes == 0) return 0;
    at += bytes;
    m->ends[m->count + i] = (uint32_t)(m->entries.len + at);
  }
  return at;
}

enum qwp_status qwp_mirror_admit(struct qwp_mirror *m, const struct qwp_delta_view *delta) {
  m->admitted = (struct qwp_mirror_part){0};
  if (delta->start > m->count) return QWP_RESEND;
  size_t start = (size_t)delta->start, known = m->count - start;
  if (known > delta->count) known = (size_t)delta->count;
  size_t from = qwp_mirror_offset(m, start), at = qwp_mirror_offset(m, start + known) - from;
  if (!repeats(m, delta, from, at)) return QWP_RESEND;

  uint64_t fresh = delta->count - known;
  size_t bytes = delta->entries_bytes - at;
  if (fresh == 0) return QWP_OK;
  if (fresh > bytes) return QWP_RESEND; /* more entries than bytes */
  enum qwp_status st = reserve_ends(m, fresh);
  if (st == QWP_OK) st = qwp_bytes_reserve(&m->entries, bytes);
  if (st != QWP_OK) return st == QWP_TOO_LARGE ? QWP_DICT_FULL : st;
  bytes = note_ends(m, delta->entries + at, bytes, (size_t)fresh);
  if (bytes == 0) return QWP_RESEND;
  m->admitted = (struct qwp_mirror_part){.count = (size_t)fresh, .at = at, .bytes = bytes};
  return QWP_OK;
}

void qwp_mirror_extend(struct qwp_mirror *m, const struct qwp_delta_view *delta) {
  const struct qwp_mirror_part fresh = m->admitted;
  assert(fresh.at + fresh.bytes <= delta->entries_bytes);
  m->admitted = (struct qwp_mirror_part){0};
  qwp_put(&m->entries, delta->entries + fresh.at, fresh.bytes);
  m->count += fresh.count;
}
