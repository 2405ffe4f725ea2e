#include "core/coerce.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arrays.h"
#include "core/decode_column.h"
#include "core/utf8.h"
#include "qwp/wire.h"

#define NAME(c) (int)(c)->column_n, (c)->column

/* ---- numbers ------------------------------------------------------------------------ */

static double as_double(uint64_t word) {
  double d;
  memcpy(&d, &word, sizeof d);
  return d;
}

static uint64_t double_bits(double d) {
  uint64_t word;
  memcpy(&word, &d, sizeof word);
  return word;
}

static uint64_t float_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

static bool integer_to_double(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  (void)c, (void)err;
  if (!cell->null) cell->word = double_bits((double)(int64_t)cell->word);
  return true;
}

static bool integer_to_float(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  (void)c, (void)err;
  if (!cell->null) cell->word = float_bits((float)(int64_t)cell->word);
  return true;
}

static bool float_to_double(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  (void)c, (void)err;
  const uint32_t bits = (uint32_t)cell->word;
  float f;
  memcpy(&f, &bits, sizeof f);
  cell->word = double_bits((double)f);
  return true;
}

/* Beyond what a FLOAT holds becomes null, as it reads back. */
static bool double_to_float(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  (void)c, (void)err;
  const double d = as_double(cell->word);
  if (cell->null) return true;
  cell->null = d > (double)FLT_MAX || d < -(double)FLT_MAX;
  if (!cell->null) cell->word = float_bits((float)d);
  return true;
}

static bool in_range(const struct mock_coercion *c, struct mock_cell *cell, const char *type, int64_t min, int64_t max,
                     struct mock_decode_error *err) {
  const int64_t v = (int64_t)cell->word;
  if (cell->null || (v >= min && v <= max)) return true;
  return MOCK_REFUSE(err, QWP_ST_SCHEMA_MISMATCH,
                     "integer value %" PRId64 " out of range for %s [column=%.*s, min=%" PRId64 ", max=%" PRId64 "]", v,
                     type, NAME(c), min, max);
}

static bool integer_to_byte(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  return in_range(c, cell, "BYTE", INT8_MIN, INT8_MAX, err);
}

static bool integer_to_short(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  return in_range(c, cell, "SHORT", INT16_MIN, INT16_MAX, err);
}

/* The smallest int fits and is what INT calls null. */
static bool integer_to_int(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  if (!in_range(c, cell, "INT", INT32_MIN, INT32_MAX, err)) return false;
  cell->null = cell->null || (int64_t)cell->word == INT32_MIN;
  return true;
}

static bool int_to_ipv4(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  (void)c, (void)err;
  cell->word &= UINT32_MAX;
  cell->null = cell->null || cell->word == 0;
  return true;
}

static bool whole_number(const struct mock_coercion *c, struct mock_cell *cell, const char *type,
                         struct mock_decode_error *err) {
  const double d = as_double(cell->word);
  if (cell->null) return true;
  if (!(d >= -9223372036854775808.0 && d < 9223372036854775808.0) || (double)(int64_t)d != d)
    return MOCK_REFUSE(err, QWP_ST_SCHEMA_MISMATCH,
                       "double value %.17g loses precision when converted to %s [column=%.*s]", d, type, NAME(c));
  cell->word = (uint64_t)(int64_t)d;
  return true;
}

static bool double_to_long(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  if (!whole_number(c, cell, "LONG", err)) return false;
  cell->null = cell->null || cell->word == MOCK_LONG_NULL;
  return true;
}

static bool double_to_int(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  return whole_number(c, cell, "INT", err) && integer_to_int(c, cell, err);
}

static bool double_to_short(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  return whole_number(c, cell, "SHORT", err) && integer_to_short(c, cell, err);
}

static bool double_to_byte(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  return whole_number(c, cell, "BYTE", err) && integer_to_byte(c, cell, err);
}

/* A FLOAT column block goes through DOUBLE, which holds every float. */
#define VIA_DOUBLE(to)                                                                                               \
  static bool float_to_##to(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {        \
    return float_to_double(c, cell, err) && double_to_##to(c, cell, err);                                            \
  }
VIA_DOUBLE(long)
VIA_DOUBLE(int)
VIA_DOUBLE(short)
VIA_DOUBLE(byte)
#undef VIA_DOUBLE

/* ---- texts --------------------------------------------------------------------------- */

static bool integer_to_text(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  (void)err;
  if (cell->null) return true;
  cell->text_n = (size_t)snprintf(c->scratch, sizeof c->scratch, "%" PRId64, (int64_t)cell->word);
  cell->text = c->scratch;
  return true;
}

static bool boolean_to_text(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  (void)c, (void)err;
  cell->text = cell->word ? "true" : "false";
  cell->text_n = strlen(cell->text);
  return true;
}

static bool text_to_symbol(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  (void)c;
  if (cell->null || mock_utf8_valid((const uint8_t *)cell->text, cell->text_n)) return true;
  return MOCK_REFUSE(err, QWP_ST_WRITE_ERROR, "invalid UTF8 in value for ");
}

static bool cannot_parse(struct mock_coercion *c, const struct mock_cell *cell, const char *type,
                         struct mock_decode_error *err) {
  const int shown = cell->text_n < 64 ? (int)cell->text_n : 64;
  return MOCK_REFUSE(err, QWP_ST_SCHEMA_MISMATCH, "cannot parse %s from string [value=%.*s, column=%.*s]", type, shown,
                     cell->text, NAME(c));
}

/* strtoll and strtod want an end, and take what a server does not (blanks, hex, "inf"): only
 * digits, sign, point and exponent reach them. */
static bool number_text(const struct mock_cell *cell, const char *alphabet, char *out, size_t size) {
  if (cell->text_n == 0 || cell->text_n >= size) return false;
  for (size_t i = 0; i < cell->text_n; i++)
    if (cell->text[i] == '\0' || !strchr(alphabet, cell->text[i])) return false;
  memcpy(out, cell->text, cell->text_n);
  out[cell->text_n] = '\0';
  return true;
}

/* The smallest value is what the type calls null, where it has one. */
static bool text_to_integer(struct mock_coercion *c, struct mock_cell *cell, const char *type, int64_t min, int64_t max,
                            struct mock_decode_error *err) {
  if (cell->null) return true;
  char text[32], *end;
  if (!number_text(cell, "-0123456789", text, sizeof text)) return cannot_parse(c, cell, type, err);
  errno = 0;
  const long long v = strtoll(text, &end, 10);
  if (*end || end == text || errno || v < min || v > max) return cannot_parse(c, cell, type, err);
  cell->word = (uint64_t)v;
  cell->null = v == min && min < INT16_MIN;
  return true;
}

static bool text_to_long(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  return text_to_integer(c, cell, "LONG", INT64_MIN, INT64_MAX, err);
}

static bool text_to_int(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  return text_to_integer(c, cell, "INT", INT32_MIN, INT32_MAX, err);
}

static bool text_to_short(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  return text_to_integer(c, cell, "SHORT", INT16_MIN, INT16_MAX, err);
}

static bool text_to_byte(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  return text_to_integer(c, cell, "BYTE", INT8_MIN, INT8_MAX, err);
}

static bool parse_double(struct mock_coercion *c, struct mock_cell *cell, const char *type,
                         struct mock_decode_error *err) {
  char text[64], *end;
  if (!number_text(cell, "+-0123456789.eE", text, sizeof text)) return cannot_parse(c, cell, type, err);
  const double d = strtod(text, &end);
  if (*end || end == text || d - d != 0) return cannot_parse(c, cell, type, err);
  cell->word = double_bits(d);
  return true;
}

static bool text_to_double(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  return cell->null || parse_double(c, cell, "DOUBLE", err);
}

static bool text_to_float(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  return cell->null || (parse_double(c, cell, "FLOAT", err) && double_to_float(c, cell, err));
}

static bool equals_folded(const struct mock_cell *cell, const char *lower) {
  if (cell->text_n != strlen(lower)) return false;
  for (size_t i = 0; i < cell->text_n; i++)
    if ((cell->text[i] | 0x20) != lower[i]) return false;
  return true;
}

static bool text_to_boolean(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  if (cell->null) return true;
  if (!equals_folded(cell, "true") && !equals_folded(cell, "false")) return cannot_parse(c, cell, "boolean", err);
  cell->word = equals_folded(cell, "true");
  return true;
}

/* ---- time ---------------------------------------------------------------------------- */

static bool micros_to_nanos(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  (void)c;
  const int64_t us = (int64_t)cell->word;
  if (cell->null) return true;
  if (us > INT64_MAX / 1000 || us < INT64_MIN / 1000)
    return MOCK_REFUSE(err, QWP_ST_SCHEMA_MISMATCH, "timestamp overflow converting micros to nanos: %" PRId64, us);
  cell->word = (uint64_t)(us * 1000);
  return true;
}

/* Truncates towards zero, as the server: -1 ns is the epoch. */
static bool nanos_to_micros(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  (void)c, (void)err;
  if (!cell->null) cell->word = (uint64_t)((int64_t)cell->word / 1000);
  return true;
}

static bool as_it_is(struct mock_coercion *c, struct mock_cell *cell, struct mock_decode_error *err) {
  (void)c, (void)cell, (void)err;
  return true;
}

/* ---- the table ------------------------------------------------------------------------ */

static bool is_integer(uint8_t type) { return type >= QWP_TYPE_BYTE && type <= QWP_TYPE_LONG; }
static bool is_string(uint8_t type) { return type == QWP_TYPE_VARCHAR || type == QWP_TYPE_SYMBOL; }

static mock_coerce from_integer(uint8_t wire, uint8_t column) {
  if (mock_type_is_timestamp(column) || is_string(column)) return is_string(column) ? integer_to_text : as_it_is;
  switch (column) {
    case QWP_TYPE_BYTE: return integer_to_byte;
    case QWP_TYPE_SHORT: return integer_to_short;
    case QWP_TYPE_INT: return integer_to_int;
    case QWP_TYPE_LONG:
    case QWP_TYPE_DATE: return as_it_is; /* dates and timestamps: the raw epoch */
    case QWP_TYPE_FLOAT: return integer_to_float;
    case QWP_TYPE_DOUBLE: return integer_to_double;
    case QWP_TYPE_IPV4: return wire == QWP_TYPE_INT ? int_to_ipv4 : NULL;
    default: return NULL;
  }
}

static mock_coerce from_double(uint8_t column) {
  switch (column) {
    case QWP_TYPE_BYTE: return double_to_byte;
    case QWP_TYPE_SHORT: return double_to_short;
    case QWP_TYPE_INT: return double_to_int;
    case QWP_TYPE_LONG: return double_to_long;
    case QWP_TYPE_FLOAT: return double_to_float;
    default: return NULL;
  }
}

static mock_coerce from_float(uint8_t column) {
  switch (column) {
    case QWP_TYPE_BYTE: return float_to_byte;
    case QWP_TYPE_SHORT: return float_to_short;
    case QWP_TYPE_INT: return float_to_int;
    case QWP_TYPE_LONG: return float_to_long;
    case QWP_TYPE_DOUBLE: return float_to_double;
    default: return NULL;
  }
}

static mock_coerce from_boolean(uint8_t column) {
  if (is_integer(column)) return as_it_is;
  if (column == QWP_TYPE_DOUBLE) return integer_to_double;
  if (column == QWP_TYPE_FLOAT) return integer_to_float;
  return column == QWP_TYPE_VARCHAR ? boolean_to_text : NULL;
}

static mock_coerce from_varchar(uint8_t column) {
  switch (column) {
    case QWP_TYPE_SYMBOL: return text_to_symbol;
    case QWP_TYPE_BYTE: return text_to_byte;
    case QWP_TYPE_SHORT: return text_to_short;
    case QWP_TYPE_INT: return text_to_int;
    case QWP_TYPE_LONG: return text_to_long;
    case QWP_TYPE_FLOAT: return text_to_float;
    case QWP_TYPE_DOUBLE: return text_to_double;
    case QWP_TYPE_BOOLEAN: return text_to_boolean;
    case QWP_TYPE_BINARY: return as_it_is;
    default: return NULL;
  }
}

static mock_coerce conversion(uint8_t wire, uint8_t column) {
  if (is_integer(wire)) return from_integer(wire, column);
  switch (wire) {
    case QWP_TYPE_BOOLEAN: return from_boolean(column);
    case QWP_TYPE_DOUBLE: return from_double(column);
    case QWP_TYPE_FLOAT: return from_float(column);
    case QWP_TYPE_VARCHAR: return from_varchar(column);
    case QWP_TYPE_SYMBOL: return column == QWP_TYPE_VARCHAR ? as_it_is : NULL;
    case QWP_TYPE_TIMESTAMP: return column == QWP_TYPE_TIMESTAMP_NANOS ? micros_to_nanos : NULL;
    case QWP_TYPE_TIMESTAMP_NANOS: return column == QWP_TYPE_TIMESTAMP ? nanos_to_micros : NULL;
    default: return NULL;
  }
}

/* ---- the text of a refusal -------------------------------------------------------------- */

static const char *column_type_name(uint8_t type, unsigned dims, char array[MOCK_ARRAY_NAME_BYTES]) {
  if (type != QWP_TYPE_DOUBLE_ARRAY)
    return type == QWP_TYPE_TIMESTAMP_NANOS ? "TIMESTAMP_NS" : mock_column_type_name(type);
  mock_array_type_name(dims, array);
  return array;
}

/* Two texts, as the server's conversion code happens to be laid out. */
static bool says_cannot_write(uint8_t wire, uint8_t column) {
  if (column == QWP_TYPE_DOUBLE_ARRAY) return true;
  if (wire == QWP_TYPE_BINARY || column == QWP_TYPE_IPV4 || column == QWP_TYPE_BINARY) return false;
  if (mock_type_is_array(wire)) return true;
  if (wire == QWP_TYPE_BOOLEAN || wire == QWP_TYPE_SYMBOL || mock_type_is_timestamp(wire)) return true;
  return column == QWP_TYPE_BOOLEAN || column == QWP_TYPE_CHAR || column == QWP_TYPE_SYMBOL;
}

bool mock_coerce_find(uint8_t wire, uint8_t column, const struct mock_coercion *c, mock_coerce *convert,
                      struct mock_decode_error *err) {
  *convert = NULL;
  if (wire == column) return true;
  *convert = conversion(wire, column);
  if (*convert) return true;
  char array[MOCK_ARRAY_NAME_BYTES];
  const char *name = column_type_name(column, c->dims, array);
  if (says_cannot_write(wire, column))
    return MOCK_REFUSE(err, QWP_ST_SCHEMA_MISMATCH, "cannot write %s to column [column=%.*s, type=%s]",
                       mock_column_type_name(wire), NAME(c), name);
  return MOCK_REFUSE(err, QWP_ST_SCHEMA_MISMATCH, "type coercion from %s to %s is not supported [column=%.*s]",
                     mock_column_type_name(wire), name, NAME(c));
}
