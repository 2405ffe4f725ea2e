/* names - what an expectation may name.
 *
 * The counters of the client (QWP_METRICS), of the mock (MOCK_COUNTERS) and of the fault
 * layer (FAULT_COUNTERS) as their headers list them, and facts with a bracket:
 *
 *   srv.conn[N].FIELD    one connection of the mock: frames catchup dict oks errors
 *                        bytes_in rows next_seq last_ok, and end and pong, texts
 *   srv.rows[TABLE]      rows visible in a table
 *   srv.violation[ID]    how often a requirement was violated
 *   srv.dict[N]          symbols the mock holds for connection N
 *
 * and facts of the client process: client.error (status of the terminal error or of the
 * step that failed, or "none"), client.error.text (must be contained), client.error.key,
 * client.http_status, client.close ("ok" or a status), client.warnings, client.sigpipe, io.trace (a list),
 * io.max_send_run; and time.virtual_ns of the simulated world.
 */
#ifndef SCN_NAMES_H
#define SCN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "language/scenario.h"

/* How the value of a name is compared. */
enum scn_name_kind { SCN_NAME_NUMBER, SCN_NAME_TEXT, SCN_NAME_CONTAINS, SCN_NAME_STATUS, SCN_NAME_LIST };

struct scn_name {
  const char *name; /* "loop.sent", "srv.conn[].frames" */
  enum scn_source source;
  enum scn_name_kind kind;
  const char *help; /* one line */
};

size_t scn_name_count(void);
const struct scn_name *scn_name_at(size_t i);

/* The name as written: NULL if there is no such one. *selector and *selector_n are what
 * stands in the brackets (NULL, 0 without). */
const struct scn_name *scn_name_find(const char *written, const char **selector, size_t *selector_n);

/* The name that looks most like the one written, as it could be written; NULL if none is near. */
const char *scn_name_nearest(const char *written);

#endif
