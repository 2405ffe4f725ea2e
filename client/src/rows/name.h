/* name - table and column names that a server takes.
 *
 * Names are checked here because a server answers an illegal table name with the
 * retriable status 0x06: sent once, it would be replayed until the sender gives up
 * [WIRE-TBL-002]. The rules are the server's, no stricter:
 *
 *   both     1 to max bytes of UTF-8; none of ? , ' " \ / : ) ( + * % ~, no byte
 *            00-0F or 7F (10-1F pass), no U+FEFF
 *   tables   no dot first or last, no two dots in a row; no space first or last
 *   columns  no dot and no minus at all; spaces anywhere
 */
#ifndef QWP_ROWS_NAME_H
#define QWP_ROWS_NAME_H

#include <stddef.h>

#include "qwp/status.h"

/* What is wrong with the name, as the end of a sentence that starts with the name
 * ("must not begin or end with a dot"), or NULL if a server would take it. Static text. */
const char *qwp_name_table_fault(const char *name, size_t n, size_t max_bytes);
const char *qwp_name_column_fault(const char *name, size_t n, size_t max_bytes);

/* Fails with "KIND 'NAME' WHY", the name made fit for a person's eyes (control and non-ASCII bytes
 * as '?', cut to fit), and puts the name into err->key. Returns code. */
enum qwp_status qwp_name_fail(struct qwp_error *err, enum qwp_status code, const char *kind, const char *name,
                              size_t n, const char *why, ...) QWP_PRINTF(6, 7);

#endif
