/* keys - mask keys: 32 unpredictable bits for every frame [WS-001], drawn from the clock
 * table in blocks, so that a small frame does not cost a system call. */
#ifndef QWP_WS_KEYS_H
#define QWP_WS_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "qwp/ops.h"
#include "qwp/status.h"
#include "ws/frame.h"

struct qwp_keys {
  const struct qwp_ops *ops;
  size_t at;     /* next unused byte of the block; sizeof block = draw a new one */
  int sys_errno; /* why the newest draw failed; 0 = it did not */
  uint8_t block[4096];
};

static inline void qwp_keys_init(struct qwp_keys *k, const struct qwp_ops *ops) {
  k->ops = ops;
  k->at = sizeof k->block;
  k->sys_errno = 0;
}

/* A key that no other frame gets. QWP_CONN_LOST if the source of entropy fails, k->sys_errno
 * says why: there is no fallback, a predictable key is worse than no connection (CASE-49). */
QWP_MUST_USE static inline enum qwp_status qwp_keys_next(struct qwp_keys *k, uint8_t key[QWP_FRAME_MASK_BYTES]) {
  if (k->at == sizeof k->block) {
    k->sys_errno = -k->ops->clock->entropy(k->ops->clock_ctx, k->block, sizeof k->block);
    if (k->sys_errno != 0) return QWP_CONN_LOST;
    k->at = 0;
  }
  for (size_t i = 0; i < QWP_FRAME_MASK_BYTES; i++) key[i] = k->block[k->at++];
  return QWP_OK;
}

#endif
