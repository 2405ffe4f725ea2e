#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

#define HIGH_BITS UINT64_C(0x8080808080808080)

static bool within(uint8_t byte, uint8_t low, uint8_t high) { return byte >= low && byte <= high; }

/* The second byte is the only one whose range depends on the first: that is what keeps out overlong
 * forms, surrogates and what lies beyond U+10FFFF. */
size_t qwp_utf8_char(const void *text, size_t n) {
  const uint8_t *p = text;
  if (p[0] < 0x80) return 1;
  if (within(p[0], 0xC2, 0xDF)) return n >= 2 && within(p[1], 0x80, 0xBF) ? 2 : 0;
  if (within(p[0], 0xE0, 0xEF)) {
    uint8_t low = p[0] == 0xE0 ? 0xA0 : 0x80;
    uint8_t high = p[0] == 0xED ? 0x9F : 0xBF;
    return n >= 3 && within(p[1], low, high) && within(p[2], 0x80, 0xBF) ? 3 : 0;
  }
  if (within(p[0], 0xF0, 0xF4)) {
    uint8_t low = p[0] == 0xF0 ? 0x90 : 0x80;
    uint8_t high = p[0] == 0xF4 ? 0x8F : 0xBF;
    bool ok = n >= 4 && within(p[1], low, high) && within(p[2], 0x80, 0xBF) && within(p[3], 0x80, 0xBF);
    return ok ? 4 : 0;
  }
  return 0;
}

bool qwp_utf8_valid(const void *text, size_t n) {
  const uint8_t *p = text;
  while (n > 0) {
    if (n >= 8) { /* most text is ASCII: eight bytes at a time while it is */
      uint64_t word;
      memcpy(&word, p, sizeof word);
      if (!(word & HIGH_BITS)) {
        p += 8;
        n -= 8;
        continue;
      }
    }
    size_t used = qwp_utf8_char(p, n);
    if (!used) return false;
    p += used;
    n -= used;
  }
  return true;
}
