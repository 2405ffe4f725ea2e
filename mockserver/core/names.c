#include "core/names.h"

#include <string.h>

#include "core/hash.h"

static bool illegal_byte(uint8_t c) {
  /* 0x10 to 0x1F are let through, as the server does. */
  return c <= 0x0F || c == 0x7F || strchr("?,'\"\\/:)(+*%~", c) != NULL;
}

static bool has_byte_order_mark(const char *p, size_t n) {
  for (size_t i = 0; i + 3 <= n; i++)
    if (memcmp(p + i, "\xEF\xBB\xBF", 3) == 0) return true;
  return false;
}

static bool legal_bytes(const char *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (illegal_byte((uint8_t)p[i])) return false;
  return !has_byte_order_mark(p, n);
}

bool mock_name_table_legal(const char *p, size_t n) {
  if (n == 0 || !legal_bytes(p, n)) return false;
  if (p[0] == ' ' || p[n - 1] == ' ' || p[0] == '.' || p[n - 1] == '.') return false;
  for (size_t i = 0; i + 1 < n; i++)
    if (p[i] == '.' && p[i + 1] == '.') return false;
  return true;
}

bool mock_name_column_legal(const char *p, size_t n) {
  return n > 0 && legal_bytes(p, n) && !memchr(p, '.', n) && !memchr(p, '-', n);
}

static uint8_t fold(char c) { return (uint8_t)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c); }

bool mock_name_equal(const char *a, size_t a_n, const char *b, size_t b_n) {
  if (a_n != b_n) return false;
  for (size_t i = 0; i < a_n; i++)
    if (fold(a[i]) != fold(b[i])) return false;
  return true;
}

uint64_t mock_name_hash(const char *p, size_t n) {
  uint64_t h = n;
  for (size_t i = 0; i < n; i++) h = (h ^ fold(p[i])) * UINT64_C(0x100000001B3);
  return mock_mix(h);
}
