/* index - finds the number of a text: an open-addressing hash of ids.
 *
 * The texts stay with whoever numbers them (tables of a batch, columns of a table,
 * symbols of a dictionary); the index holds only hash and id, and asks the owner
 * to compare when the hashes agree. Linear probing, at most three quarters full.
 */
#ifndef QWP_ROWS_INDEX_H
#define QWP_ROWS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qwp/ops.h"
#include "qwp/status.h"

#define QWP_INDEX_NONE UINT32_MAX

struct qwp_index_slot {
  uint32_t hash;
  uint32_t id_plus_1; /* 0 = free */
};

struct qwp_index {
  struct qwp_index_slot *slots;
  size_t cap; /* 0 or a power of two */
  size_t count;
  const struct qwp_ops *ops;
};

void qwp_index_init(struct qwp_index *ix, const struct qwp_ops *ops);
void qwp_index_free(struct qwp_index *ix);

/* Hash of the bytes as they are, and with A-Z read as a-z. Not keyed: for use within one process only. */
uint32_t qwp_index_hash(const char *text, size_t n);
uint32_t qwp_index_hash_folded(const char *text, size_t n);

/* Whether the owner's text number id equals text[0..n). */
typedef bool qwp_index_equal(const void *owner, uint32_t id, const char *text, size_t n);

/* The id of the text, or QWP_INDEX_NONE. */
uint32_t qwp_index_find(const struct qwp_index *ix, uint32_t hash, qwp_index_equal *equal, const void *owner,
                        const char *text, size_t n);

/* Room for one more put, which then cannot fail. QWP_NOMEM: nothing changed. */
QWP_MUST_USE enum qwp_status qwp_index_reserve(struct qwp_index *ix);
void qwp_index_put(struct qwp_index *ix, uint32_t hash, uint32_t id);

/* Takes out an id that was put with this hash. */
void qwp_index_remove(struct qwp_index *ix, uint32_t hash, uint32_t id);

#endif
