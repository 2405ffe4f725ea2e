/* symbols - the sender's dictionary: text to id, ids in the order of first use.
 *
 * An id once given is never taken back [WIRE-DICT-003]; `sent` is how many of them
 * published frames have told the server about, moved by the encoder's caller after
 * a successful publish.
 */
#ifndef QWP_ROWS_SYMBOLS_H
#define QWP_ROWS_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "qwp/ops.h"
#include "qwp/status.h"

struct qwp_symbols;

struct qwp_symbols *qwp_symbols_new(const struct qwp_ops *ops, size_t max_count);
void qwp_symbols_del(struct qwp_symbols *s);

/* The id of text, new or known. QWP_DICT_FULL, QWP_NOMEM: nothing changed. */
enum qwp_status qwp_symbols_intern(struct qwp_symbols *s, const char *text, size_t n, uint32_t *id);

size_t qwp_symbols_count(const struct qwp_symbols *s);
size_t qwp_symbols_sent(const struct qwp_symbols *s);
void qwp_symbols_mark_sent(struct qwp_symbols *s, size_t count); /* only grows */

/* Text of an id < count; *n its length. Valid for the dictionary's life. */
const char *qwp_symbols_text(const struct qwp_symbols *s, uint32_t id, size_t *n);

#endif
