#include "send/mirror.h"

#include <assert.h>

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

const uint8_t *qwp_mirror_entry(const struct qwp_mirror *m, size_t i, size_t *n) {
  size_t at = qwp_mirror_offset(m, i);
  *n = m->ends[i] - at;
  return m->entries.data + at;
}

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

/* Where the part of the section begins that the mirror does not have yet: the overlap is
 * walked and compared. */
static enum qwp_status skip_known(const struct qwp_mirror *m, const struct qwp_delta_view *delta, size_t *fresh_at) {
  size_t at = 0;
  for (uint64_t k = 0; k < delta->count && delta->start + k < m->count; k++) {
    size_t n, known_n;
    n = entry_bytes(delta->entries + at, delta->entries_bytes - at);
    const uint8_t *known = qwp_mirror_entry(m, (size_t)(delta->start + k), &known_n);
    if (n != known_n || memcmp(delta->entries + at, known, n) != 0) return QWP_RESEND;
    at += n;
  }
  *fresh_at = at;
  return QWP_OK;
}

static uint64_t fresh_count(const struct qwp_mirror *m, const struct qwp_delta_view *delta) {
  uint64_t known = m->count - delta->start;
  return delta->count > known ? delta->count - known : 0;
}

enum qwp_status qwp_mirror_admit(struct qwp_mirror *m, const struct qwp_delta_view *delta) {
  if (delta->start > m->count) return QWP_RESEND;
  size_t at;
  enum qwp_status st = skip_known(m, delta, &at);
  if (st != QWP_OK) return st;
  uint64_t fresh = fresh_count(m, delta);
  if (fresh == 0) return QWP_OK;
  if (fresh > delta->entries_bytes - at) return QWP_RESEND; /* more entries than bytes */
  for (uint64_t k = 0; k < fresh; k++) {
    size_t n = entry_bytes(delta->entries + at, delta->entries_bytes - at);
    if (n == 0) return QWP_RESEND;
    at += n;
  }
  st = reserve_ends(m, fresh);
  if (st != QWP_OK) return st;
  st = qwp_bytes_reserve(&m->entries, delta->entries_bytes);
  return st == QWP_TOO_LARGE ? QWP_DICT_FULL : st;
}

void qwp_mirror_extend(struct qwp_mirror *m, const struct qwp_delta_view *delta) {
  uint64_t fresh = fresh_count(m, delta);
  if (fresh == 0) return;
  size_t at = 0;
  for (uint64_t k = delta->count - fresh; k > 0; k--) at += entry_bytes(delta->entries + at, delta->entries_bytes - at);
  for (uint64_t k = 0; k < fresh; k++) {
    size_t n = entry_bytes(delta->entries + at, delta->entries_bytes - at);
    assert(n > 0 && m->count < m->ends_cap);
    qwp_put(&m->entries, delta->entries + at, n);
    m->ends[m->count++] = (uint32_t)m->entries.len;
    at += n;
  }
}
