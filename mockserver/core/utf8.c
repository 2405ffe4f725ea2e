#include "core/utf8.h"

#include <string.h>

bool mock_utf8_is_ascii(const uint8_t *p, size_t n) {
  uint64_t bits = 0;
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    bits |= word;
  }
  for (; n > 0; p++, n--) bits |= *p;
  return (bits & UINT64_C(0x8080808080808080)) == 0;
}

/* Unicode 15, table 3-7: only the second byte has ranges of its own. */
size_t mock_utf8_character(const uint8_t *p, size_t n) {
  const uint8_t lead = p[0];
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (n < length) return 0;
  const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (p[1] < low || p[1] > high) return 0;
  for (size_t i = 2; i < length; i++)
    if ((p[i] & 0xC0) != 0x80) return 0;
  return length;
}

size_t mock_utf8_valid_prefix(const uint8_t *p, size_t n) {
  size_t at = 0;
  while (at < n) {
    const size_t length = mock_utf8_character(p + at, n - at);
    if (length == 0) break;
    at += length;
  }
  return at;
}
