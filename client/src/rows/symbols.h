/* symbols - the sender's dictionary: text to id, ids in the order of first use.
 *
 * `sent` is how many of them published frames have told the server about, moved by the
 * encoder's caller after a successful publish: those keep their ids for ever
 * [WIRE-DICT-003]. Of the others the newest can be forgotten, while no row refers to them.
 */
#ifndef QWP_ROWS_SYMBOLS_H
#define QWP_ROWS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qwp/ops.h"
#include "qwp/status.h"

/* Bounds besides the count. */
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

/* Takes back the ids from `count` (>= sent) on; they will be given again. */
void qwp_symbols_forget(struct qwp_symbols *s, size_t count);

/* Whether the text has an id. */
bool qwp_symbols_known(const struct qwp_symbols *s, const char *text, size_t n);

/* Bytes of the entries from..to-1 (from <= to <= count) in wire form, | length varint | text |. */
size_t qwp_symbols_wire_bytes(const struct qwp_symbols *s, size_t from, size_t to);

/* Text of an id < count; *n its length. Valid for the dictionary's life. */
const char *qwp_symbols_text(const struct qwp_symbols *s, uint32_t id, size_t *n);

#endif
