#include "language/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool scn_value_int(const char *text, int64_t *out) {
  const char *digits = *text == '-' ? text + 1 : text;
  const bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  /* strtoll would also take blanks, '+', octal and locale groups. */
  const char *first = hex ? digits + 2 : digits;
  const char *allowed = hex ? "0123456789abcdefABCDEF" : "0123456789";
  if (!*first || first[strspn(first, allowed)]) return false;
  errno = 0;
  const long long v = strtoll(text, NULL, hex ? 16 : 10);
  if (errno) return false;
  *out = v;
  return true;
}

bool scn_value_bool(const char *text, bool *out) {
  *out = strcmp(text, "true") == 0;
  return *out || strcmp(text, "false") == 0;
}

struct unit { const char *name; int64_t factor; };

static bool with_unit(const char *text, const struct unit *units, size_t count, int64_t *out) {
  char digits[24];
  const size_t n = strspn(text, "0123456789");
  if (n == 0 || n >= sizeof digits) return false;
  memcpy(digits, text, n);
  digits[n] = '\0';
  int64_t v;
  if (!scn_value_int(digits, &v)) return false;
  for (size_t i = 0; i < count; i++) {
    if (strcmp(text + n, units[i].name) != 0) continue;
    if (v > INT64_MAX / units[i].factor) return false;
    *out = v * units[i].factor;
    return true;
  }
  return false;
}

bool scn_value_duration(const char *text, int64_t *ns) {
  static const struct unit units[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000},
    {"m", INT64_C(60) * 1000000000}, {"h", INT64_C(3600) * 1000000000},
  };
  if (strcmp(text, "0") == 0) return *ns = 0, true;
  return with_unit(text, units, sizeof units / sizeof *units, ns);
}

bool scn_value_size(const char *text, int64_t *bytes) {
  static const struct unit units[] = {{"", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}};
  return with_unit(text, units, sizeof units / sizeof *units, bytes);
}

typedef bool (*value_fn)(const char *text, int64_t *out);

/* "a..b", each side a value of the kind, and not the wrong way round. */
static bool with_dots(const char *text, value_fn value, int64_t *from, int64_t *to) {
  char left[32];
  const char *dots = strstr(text, "..");
  if (!dots || dots == text || (size_t)(dots - text) >= sizeof left) return false;
  memcpy(left, text, (size_t)(dots - text));
  left[dots - text] = '\0';
  return value(left, from) && value(dots + 2, to) && *from <= *to;
}

bool scn_value_range(const char *text, int64_t *from, int64_t *to) { return with_dots(text, scn_value_int, from, to); }

bool scn_value_durations(const char *text, int64_t *from_ns, int64_t *to_ns) {
  return with_dots(text, scn_value_duration, from_ns, to_ns);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool scn_value_hex(const char *text, uint8_t *out, size_t n, size_t *used) {
  size_t count = 0;
  for (const char *p = text; *p;) {
    if (*p == ' ') {
      p++;
      continue;
    }
    const int high = hex_digit(p[0]);
    const int low = high < 0 ? -1 : hex_digit(p[1]);
    if (low < 0) return false;
    if (count < n) out[count] = (uint8_t)(high * 16 + low);
    count++;
    p += 2;
  }
  *used = count;
  return true;
}

bool scn_value_compare(const char *text, enum scn_compare *op, int64_t *value, int64_t *to) {
  static const struct { const char *sign; enum scn_compare op; } signs[] = {
    {"==", SCN_EQ}, {"!=", SCN_NE}, {"<=", SCN_LE}, {">=", SCN_GE}, {"<", SCN_LT}, {">", SCN_GT},
  };
  *op = SCN_EQ;
  *to = 0;
  if (scn_value_range(text, value, to)) return *op = SCN_RANGE, true;
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
    const size_t n = strlen(signs[i].sign);
    if (strncmp(text, signs[i].sign, n) != 0) continue;
    *op = signs[i].op;
    text += n;
    text += strspn(text, " ");
    break;
  }
  return scn_value_int(text, value);
}

/* What stands behind a word: `form` is "N", "D" or "S", with ".." if it may be a range. */
static bool parameter(const char *form, const char *text, int64_t *from, int64_t *to) {
  const value_fn value = form[0] == 'N' ? scn_value_int : form[0] == 'D' ? scn_value_duration : scn_value_size;
  const bool ranged = form[1] == '.' && with_dots(text, value, from, to);
  if (!ranged && !value(text, from)) return false;
  if (!ranged) *to = *from;
  return *from >= 0;
}

int scn_value_choice(const char *choices, const char *text, int64_t *param) {
  int64_t to;
  return scn_value_choice_range(choices, text, param, &to);
}

int scn_value_choice_range(const char *choices, const char *text, int64_t *param, int64_t *to) {
  *param = *to = 0;
  int index = 0;
  for (const char *c = choices;; index++) {
    const size_t n = strcspn(c, "|");
    const char *blank = memchr(c, ' ', n);
    const size_t word = blank ? (size_t)(blank - c) : n;
    if (strncmp(text, c, word) == 0) {
      if (!blank && !text[word]) return index;
      if (blank && text[word] == ' ' && parameter(blank + 1, text + word + 1, param, to)) return index;
    }
    if (!c[n]) return -1;
    c += n + 1;
  }
}

bool scn_choice_word(const char *choices, size_t index, char *out, size_t n) {
  for (const char *c = choices;; index--) {
    const size_t length = strcspn(c, "|");
    if (index == 0) {
      const size_t word = strcspn(c, "| ");
      const size_t copied = word < n ? word : n - 1;
      memcpy(out, c, copied);
      out[copied] = '\0';
      return true;
    }
    if (!c[length]) return false;
    c += length + 1;
  }
}

#define WORD_MAX 63u

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

size_t scn_distance(const char *a, const char *b) {
  const size_t an = strnlen(a, WORD_MAX), bn = strnlen(b, WORD_MAX);
  /* Three rows of the usual table: two back for a swap of neighbours. */
  size_t rows[3][WORD_MAX + 1];
  size_t *before = rows[0], *last = rows[1], *now = rows[2];
  for (size_t j = 0; j <= bn; j++) last[j] = before[j] = j;
  for (size_t i = 1; i <= an; i++) {
    now[0] = i;
    for (size_t j = 1; j <= bn; j++) {
      const size_t replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
      now[j] = least(replaced, least(last[j], now[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = least(now[j], before[j - 2] + 1);
    }
    size_t *oldest = before;
    before = last;
    last = now;
    now = oldest;
  }
  return last[bn];
}
