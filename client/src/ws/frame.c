#include "ws/frame.h"

#include <string.h>

#define BIT_FIN 0x80u
#define BITS_RSV 0x70u
#define BITS_OPCODE 0x0Fu
#define BIT_MASK 0x80u
#define LENGTH_16 126u
#define LENGTH_64 127u

size_t qwp_frame_header_bytes(size_t payload_bytes) {
  if (payload_bytes <= QWP_FRAME_CONTROL_MAX) return 2 + QWP_FRAME_MASK_BYTES;
  if (payload_bytes <= UINT16_MAX) return 4 + QWP_FRAME_MASK_BYTES;
  return 10 + QWP_FRAME_MASK_BYTES;
}

static uint8_t *put_big_endian(uint8_t *p, uint64_t v, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) *p++ = (uint8_t)(v >> shift);
  return p;
}

static uint64_t get_big_endian(const uint8_t *p, int bytes) {
  uint64_t v = 0;
  for (int i = 0; i < bytes; i++) v = v << 8 | p[i];
  return v;
}

size_t qwp_frame_encode(uint8_t *out, unsigned opcode, size_t n, const uint8_t key[QWP_FRAME_MASK_BYTES]) {
  uint8_t *p = out;
  *p++ = (uint8_t)(BIT_FIN | (opcode & BITS_OPCODE));
  if (n <= QWP_FRAME_CONTROL_MAX) {
    *p++ = (uint8_t)(BIT_MASK | n);
  } else if (n <= UINT16_MAX) {
    *p++ = (uint8_t)(BIT_MASK | LENGTH_16);
    p = put_big_endian(p, n, 2);
  } else {
    *p++ = (uint8_t)(BIT_MASK | LENGTH_64);
    p = put_big_endian(p, n, 8);
  }
  memcpy(p, key, QWP_FRAME_MASK_BYTES);
  return (size_t)(p - out) + QWP_FRAME_MASK_BYTES;
}

void qwp_frame_mask(uint8_t *dst, const uint8_t *src, size_t n, const uint8_t key[QWP_FRAME_MASK_BYTES]) {
  /* Eight bytes at a time: two copies of the key, in memory order, so the byte order
   * of the machine does not matter. The compiler widens this further. */
  uint64_t wide_key;
  memcpy(&wide_key, key, 4);
  memcpy((uint8_t *)&wide_key + 4, key, 4);
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t word;
    memcpy(&word, src + i, 8);
    word ^= wide_key;
    memcpy(dst + i, &word, 8);
  }
  for (; i < n; i++) dst[i] = src[i] ^ key[i % QWP_FRAME_MASK_BYTES];
}

static bool opcode_known(unsigned opcode) { return opcode <= 0x2 || (opcode >= 0x8 && opcode <= 0xA); }

static int bad(const char **why, const char *text) {
  *why = text;
  return -1;
}

int qwp_frame_decode(const uint8_t *p, size_t n, struct qwp_frame *out, const char **why) {
  if (n < 1) return 0;
  out->fin = p[0] & BIT_FIN;
  out->opcode = p[0] & BITS_OPCODE;
  if (p[0] & BITS_RSV) return bad(why, "a reserved bit is set");
  if (!opcode_known(out->opcode)) return bad(why, "reserved opcode");
  if (qwp_frame_is_control(out->opcode) && !out->fin) return bad(why, "fragmented control frame");

  if (n < 2) return 0;
  out->masked = p[1] & BIT_MASK;
  unsigned form = p[1] & ~BIT_MASK;
  if (qwp_frame_is_control(out->opcode) && form > QWP_FRAME_CONTROL_MAX) {
    return bad(why, "control frame with more than 125 bytes");
  }

  int extra = form == LENGTH_64 ? 8 : form == LENGTH_16 ? 2 : 0;
  int total = 2 + extra + (out->masked ? QWP_FRAME_MASK_BYTES : 0);
  if (n >= 3 && form == LENGTH_64 && p[2] & 0x80) return bad(why, "64-bit length with its top bit set");
  if (n < (size_t)total) return 0;

  out->length = extra ? get_big_endian(p + 2, extra) : form;
  if ((extra == 2 && out->length <= QWP_FRAME_CONTROL_MAX) || (extra == 8 && out->length <= UINT16_MAX)) {
    return bad(why, "length is not in its shortest form");
  }
  if (out->masked) memcpy(out->key, p + 2 + extra, QWP_FRAME_MASK_BYTES);
  return total;
}
