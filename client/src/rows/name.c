#include "rows/name.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static const char *const REFUSED = "?,'\"\\/:)(+*%~";

static bool refused_byte(uint8_t c) { return c < 0x10 || c == 0x7F || strchr(REFUSED, c) != NULL; }

static bool holds_byte_order_mark(const char *name, size_t n) {
  for (size_t i = 0; i + 3 <= n; i++)
    if (memcmp(name + i, "\xEF\xBB\xBF", 3) == 0) return true;
  return false;
}

/* The rules that tables and columns share. */
static const char *common_fault(const char *name, size_t n, size_t max_bytes) {
  if (n == 0) return "must not be empty";
  if (n > max_bytes) return "is too long";
  if (!qwp_utf8_valid(name, n)) return "is not valid UTF-8";
  for (size_t i = 0; i < n; i++)
    if (refused_byte((uint8_t)name[i])) return "must not contain ? , ' \" \\ / : ) ( + * % ~ or a control character";
  if (holds_byte_order_mark(name, n)) return "must not contain U+FEFF";
  return NULL;
}

const char *qwp_name_table_fault(const char *name, size_t n, size_t max_bytes) {
  const char *fault = common_fault(name, n, max_bytes);
  if (fault) return fault;
  if (name[0] == '.' || name[n - 1] == '.') return "must not begin or end with a dot";
  if (name[0] == ' ' || name[n - 1] == ' ') return "must not begin or end with a space";
  for (size_t i = 1; i < n; i++)
    if (name[i] == '.' && name[i - 1] == '.') return "must not contain two dots in a row";
  return NULL;
}

const char *qwp_name_column_fault(const char *name, size_t n, size_t max_bytes) {
  const char *fault = common_fault(name, n, max_bytes);
  if (fault) return fault;
  if (memchr(name, '.', n)) return "must not contain a dot";
  if (memchr(name, '-', n)) return "must not contain a minus";
  return NULL;
}

static void printable(char *out, size_t cap, const char *name, size_t n) {
  size_t take = n < cap - 1 ? n : cap - 1;
  for (size_t i = 0; i < take; i++) {
    uint8_t c = (uint8_t)name[i];
    out[i] = c < 0x20 || c >= 0x7F ? '?' : name[i];
  }
  out[take] = '\0';
}

enum qwp_status qwp_name_fail(struct qwp_error *err, enum qwp_status code, const char *kind, const char *name,
                              size_t n, const char *why, ...) {
  if (!err) return code;
  char shown[sizeof err->key];
  char reason[256];
  printable(shown, sizeof shown, name, n);
  va_list args;
  va_start(args, why);
  vsnprintf(reason, sizeof reason, why, args);
  va_end(args);
  qwp_fail(err, code, "%s '%s' %s", kind, shown, reason);
  memcpy(err->key, shown, sizeof shown);
  return code;
}
