/* frame - one WebSocket frame as bytes (RFC 6455, 5.2). Knows no socket and no connection.
 *
 *    0                   1
 *    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5
 *   +-+-+-+-+-------+-+-------------+------------------------+---------+---------+
 *   |F|R|R|R|opcode |M| length 7    | length 16 or 64, big-  | mask    | payload |
 *   |I|S|S|S| (4)   |A| 126: 16 bit | endian, shortest form  | key, 4  |         |
 *   |N|V|V|V|       |S| 127: 64 bit | only                   | if M    |         |
 *   +-+-+-+-+-------+-+-------------+------------------------+---------+---------+
 */
#ifndef QWP_WS_FRAME_H
#define QWP_WS_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QWP_FRAME_MASK_BYTES 4
#define QWP_FRAME_HEADER_MAX 14     /* 2 + 8 + mask */
#define QWP_FRAME_CONTROL_MAX 125u  /* payload of a control frame (RFC 6455, 5.5) */

struct qwp_frame {
  bool fin;
  bool masked;
  unsigned opcode;
  uint8_t key[QWP_FRAME_MASK_BYTES]; /* valid if masked */
  uint64_t length;                   /* of the payload, at most 2^63 - 1 */
};

/* A control frame may stand between the fragments of a message, and is never one. */
static inline bool qwp_frame_is_control(unsigned opcode) { return opcode & 0x8; }

/* Bytes of the header of a client frame, mask key included: 6, 8 or 14 [WS-003]. */
size_t qwp_frame_header_bytes(size_t payload_bytes);

/* Writes the header of a client frame: final, masked with `key`, shortest length
 * form [WS-001, WS-009]. Returns qwp_frame_header_bytes(n); out has room for it. */
size_t qwp_frame_encode(uint8_t *out, unsigned opcode, size_t n, const uint8_t key[QWP_FRAME_MASK_BYTES]);

/* dst[i] = src[i] ^ key[i % 4]: masks and unmasks. dst may be src, or must not overlap it. */
void qwp_frame_mask(uint8_t *dst, const uint8_t *src, size_t n, const uint8_t key[QWP_FRAME_MASK_BYTES]);

/* Reads one header from p[0..n). Bytes it takes (2 to 14); 0 = more bytes are needed;
 * -1 = no peer may send this, and *why says so: a reserved bit or opcode, a length
 * that is not in its shortest form or has its top bit set, a control frame that is
 * fragmented or longer than 125 [WS-007]. Bad headers are refused on the first byte
 * that shows it. Who must mask is the caller's to judge. */
int qwp_frame_decode(const uint8_t *p, size_t n, struct qwp_frame *out, const char **why);

#endif
