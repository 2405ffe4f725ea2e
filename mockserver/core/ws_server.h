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
#include <string.h>

#include "qwp/wire.h"

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

/* What nearly every frame of a client is: a whole binary message in the short form of length. False: it is
 * something else, or not all of it is here, and mock_ws_parse tells. True says what mock_ws_parse would. */
static inline bool mock_ws_parse_usual(const uint8_t *p, size_t n, struct mock_ws_frame *f) {
  enum { FIN_BINARY = 0x80 | QWP_WS_BINARY, MASK_BIT = 0x80, HEADER_N = 6 };
  if (n < HEADER_N || p[0] != FIN_BINARY) return false;
  const unsigned payload_n = p[1] ^ MASK_BIT; /* above 125: unmasked, or a longer form */
  if (payload_n > 125 || payload_n > n - HEADER_N) return false;
  f->fin = f->minimal = true;
  f->opcode = QWP_WS_BINARY;
  f->header_n = HEADER_N;
  f->payload_n = payload_n;
  memcpy(f->key, p + 2, 4);
  return true;
}

/* dst[i] = src[i] ^ key[i % 4]; dst may be src. Whole words, then what is left of one in halves, so that a
 * short message costs no loop over its last bytes. What was done before a step is a multiple of twice its size:
 * the key stands where it starts. */
static inline void mock_ws_unmask(uint8_t *dst, const uint8_t *src, size_t n, const uint8_t key[4]) {
  uint64_t eight;
  uint32_t key4, four;
  uint16_t key2, two;
  memcpy(&key4, key, 4); /* byte order does not matter: xor is bytewise */
  memcpy(&key2, key, 2);
  const uint64_t key8 = (uint64_t)key4 << 32 | key4;

  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    memcpy(&eight, src + i, 8);
    eight ^= key8;
    memcpy(dst + i, &eight, 8);
  }
  if (n & 4) {
    memcpy(&four, src + i, 4);
    four ^= key4;
    memcpy(dst + i, &four, 4);
    i += 4;
  }
  if (n & 2) {
    memcpy(&two, src + i, 2);
    two ^= key2;
    memcpy(dst + i, &two, 2);
    i += 2;
  }
  if (n & 1) dst[i] = src[i] ^ key[n & 2];
}

/* The code a Close is answered with [WS-008]: none, < 1000, > 4999, 1005, 1006, 1015
 * become 1000; 1004 and 2000-2999 become 1002; all others are echoed. code 0 = none. */
unsigned mock_ws_close_echo(unsigned code);

#endif
