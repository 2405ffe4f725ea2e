/* profile - the numbers in which the published documentation and the server of July
 * 2026 differ, and those that a script may set, as data. */
#ifndef MOCK_PROFILE_H
#define MOCK_PROFILE_H

#include "core/decode.h"
#include "core/script.h"

#define MOCK_RECV_BUFFER_BYTES 2097152 /* the server's http.recv.buffer.size */
#define MOCK_CAP_MARGIN_BYTES 14       /* the longest frame header, taken off for the advertised cap [UPG-RSP-005] */
#define MOCK_SYMBOLS_JUL2026 1000000
#define MOCK_MAX_TABLES 10000u         /* the server's qwp.max.tables.per.connection [LIMIT-002] */
#define MOCK_ACK_BATCH 8               /* this many unacknowledged messages make an OK due [RESP-OK-006] */

const char *mock_profile_name(const struct mock_script *s); /* s may be NULL: "doc" */
struct mock_limits mock_profile_limits(const struct mock_script *s);

/* The cap that the 101 advertises to a connection with this entry, <= 0 = none. */
int64_t mock_profile_cap(const struct mock_script *s, const struct mock_entry *e);

/* The most a frame with its header may have. An entry that advertises a larger cap
 * raises it, as the server derives one from the other. */
uint64_t mock_profile_frame_max(const struct mock_script *s, const struct mock_entry *e);

#endif
