/* ws_server - the server's end of WebSocket framing, as bytes.
 *
 * Knows one frame at a time: its header, what is wrong with it, how to unmask it, and
 * how a Close is answered. Knows no connection. Two kinds of wrong are told apart,
 * because the server treats them apart (server behaviour of July 2026):
 *
 *   BROKEN   unmasked, RSV bit, opcode 3-7 or B-F, control frame without FIN or longer
 *            than 125, Close of one byte, 64-bit length with the top bit: TCP ends,
 *            no Close frame [MAL-ING-014]
 *   later    text, fragments, too long: answered with Close 1003, 1002, 1009 by the
 *            connection, once the frame (1009: its header) is in
 *
 * A non-minimal length form is accepted and reported.
 */
#ifndef MOCK_WS_SERVER_H
#define MOCK_WS_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOCK_WS_HEADER_MAX 14

enum mock_ws_answer { MOCK_WS_MORE, MOCK_WS_HEADER, MOCK_WS_BROKEN };

struct mock_ws_frame {
  bool fin, minimal;
  uint8_t opcode;
  uint8_t header_n;    /* 6, 8 or 14: bytes before the payload */
  uint8_t key[4];
  uint64_t payload_n;
  const char *wrong;       /* BROKEN: what, for a person */
  const char *requirement; /* BROKEN: which requirement the client broke */
};

/* Looks at the first n bytes of a frame. BROKEN is told as early as the bytes show it. */
enum mock_ws_answer mock_ws_parse(const uint8_t *p, size_t n, struct mock_ws_frame *f);

/* dst[i] = src[i] ^ key[i % 4]; dst may be src. Eight bytes at a time. */
void mock_ws_unmask(uint8_t *dst, const uint8_t *src, size_t n, const uint8_t key[4]);

/* The code a Close is answered with [WS-008]: none, < 1000, > 4999, 1005, 1006, 1015
 * become 1000; 1004 and 2000-2999 become 1002; all others are echoed. code 0 = none. */
unsigned mock_ws_close_echo(unsigned code);

#endif
