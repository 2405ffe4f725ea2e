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

/* Bounds besides the count. An id cannot be taken back, so a text that no frame could
 * carry would stop the sender for good: it is refused before it gets one. */
#define QWP_SYMBOL_BYTES_MAX (1024u * 1024u)
#define QWP_SYMBOLS_BYTES_MAX (256u * 1024u * 1024u) /* all texts together */

struct qwp_symbols;

/* max_count: at most that many ids, itself at most QWP_MAX_SYMBOLS_CLIENT [WIRE-DICT-016].
 * ops is borrowed. NULL = out of memory. */
struct qwp_symbols *qwp_symbols_new(const struct qwp_ops *ops, size_t max_count);
void qwp_symbols_del(struct qwp_symbols *s); /* NULL is fine */

/* The id of text, new or known; the text is copied and not examined. QWP_VALUE (longer than
 * QWP_SYMBOL_BYTES_MAX), QWP_DICT_FULL, QWP_NOMEM: nothing changed. */
enum qwp_status qwp_symbols_intern(struct qwp_symbols *s, const char *text, size_t n, uint32_t *id);

size_t qwp_symbols_count(const struct qwp_symbols *s);
size_t qwp_symbols_sent(const struct qwp_symbols *s);
void qwp_symbols_mark_sent(struct qwp_symbols *s, size_t count); /* only grows */

/* Text of an id < count; *n its length. Valid for the dictionary's life. */
const char *qwp_symbols_text(const struct qwp_symbols *s, uint32_t id, size_t *n);

#endif
