/* reply - everything the server says after the 101, as bytes.
 *
 * Server frames are unfragmented, unmasked, of minimal length form; ingress answers
 * are bare, their first byte is the status [RESP-OK-002]:
 *
 *   OK     00  seq i64  count u16  count x (name_len u16, name, seqTxn i64)   [RESP-OK-001]
 *   error  status u8  seq i64  len u16  text                                  [RESP-ERR-001]
 */
#ifndef MOCK_REPLY_H
#define MOCK_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "core/out.h"

/* A table that committed since the previous OK, with its latest transaction number. */
struct mock_committed {
  const char *name; /* borrowed from the table */
  size_t name_n;
  int64_t seq_txn;
};

/* Appends the header of one server frame (FIN set) whose n payload bytes follow. */
void mock_reply_frame(struct mock_out *o, unsigned opcode, size_t n);

void mock_reply_ok(struct mock_out *o, int64_t seq, const struct mock_committed *tables, size_t count);
/* Text longer than 1024 bytes is cut at a character boundary. */
void mock_reply_error(struct mock_out *o, unsigned status, int64_t seq, const char *text, size_t n);
/* code 0 = an empty payload. The reason is cut to 123 bytes, at a character boundary. */
void mock_reply_close(struct mock_out *o, unsigned code, const char *reason);
void mock_reply_ping(struct mock_out *o, const uint8_t *p, size_t n); /* n <= 125, else cut */
void mock_reply_pong(struct mock_out *o, const uint8_t *p, size_t n);
/* The first frame of a reader: role 0, epoch 0, capabilities 2, cluster "questdb", no node id. */
void mock_reply_server_info(struct mock_out *o, int64_t wall_ns);

/* Longest prefix of text[0..n) that is at most max bytes and does not cut a UTF-8 character. */
size_t mock_reply_cut(const char *text, size_t n, size_t max);

#endif
