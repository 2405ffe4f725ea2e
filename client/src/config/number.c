#include "config/number.h"

#include <strings.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Reads the digits at *at, moves *at behind them, and gives their value with the
 * sign. Counts down for negative numbers, whose range is one larger. */
static enum qwp_number_result read_digits(const char **at, bool negative, int64_t *out) {
  const char *p = *at;
  if (!is_digit(*p)) return QWP_NUMBER_MALFORMED;
  int64_t v = 0;
  bool overflow = false;
  for (; is_digit(*p); p++) {
    int64_t digit = *p - '0';
    if (negative) {
      if (v < (INT64_MIN + digit) / 10) overflow = true;
      else v = v * 10 - digit;
    } else {
      if (v > (INT64_MAX - digit) / 10) overflow = true;
      else v = v * 10 + digit;
    }
  }
  *at = p;
  if (!overflow) *out = v;
  return overflow ? QWP_NUMBER_OVERFLOW : QWP_NUMBER_OK;
}

enum qwp_number_result qwp_number_read(const char *text, int64_t *out) {
  bool negative = text[0] == '-';
  const char *p = text + (negative ? 1 : 0);
  int64_t v = 0;
  enum qwp_number_result result = read_digits(&p, negative, &v);
  if (*p != '\0') return QWP_NUMBER_MALFORMED;
  if (result == QWP_NUMBER_OK) *out = v;
  return result;
}

/* log2 of the multiplier, or -1 for a suffix that does not exist. */
static int suffix_shift(const char *suffix) {
  static const char *const names[] = {"k", "m", "g", "t"};
  if (suffix[0] == '\0') return 0;
  for (int i = 0; i < 4; i++) {
    if (strncasecmp(suffix, names[i], 1) != 0) continue;
    return suffix[1] == '\0' || strcasecmp(suffix + 1, "b") == 0 ? 10 * (i + 1) : -1;
  }
  return -1;
}

enum qwp_number_result qwp_number_read_size(const char *text, int64_t *out) {
  const char *p = text;
  int64_t v = 0;
  enum qwp_number_result result = read_digits(&p, false, &v);
  int shift = result == QWP_NUMBER_MALFORMED ? -1 : suffix_shift(p);
  if (shift < 0) return QWP_NUMBER_MALFORMED;
  if (result == QWP_NUMBER_OVERFLOW || v > (INT64_MAX >> shift)) return QWP_NUMBER_OVERFLOW;
  *out = v * (INT64_C(1) << shift);
  return QWP_NUMBER_OK;
}
