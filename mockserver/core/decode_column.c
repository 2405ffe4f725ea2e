#include "core/decode_column.h"

#include "core/dict.h"
#include "core/utf8.h"
#include "qwp/wire.h"

/* What a server calls the kind of column in its messages. */
#define FIXED "fixed-width"
#define TIMESTAMP "timestamp"
#define STRING "string"
#define SYMBOL "symbol"
#define BOOLEAN "boolean"
#define ARRAY "array"
#define OFFSETS "invalid QWP string offset array: "

static bool truncated(const struct mock_column_input *in, const char *kind, const char *what) {
  return mock_reader_fail(in->reader, "%s column data truncated: expected %s", kind, what);
}

static bool values_truncated(const struct mock_column_input *in, const char *kind, size_t present) {
  return mock_reader_fail(in->reader, "%s column data truncated: expected %zu values", kind, present);
}

/* ---- the null section, common to all types --------------------------------------- */

static size_t count_nulls(const uint8_t *bitmap, size_t rows) {
  size_t nulls = 0;
  for (size_t i = 0; i < rows / 8; i++) nulls += (size_t)__builtin_popcount(bitmap[i]);
  if (rows % 8) nulls += (size_t)__builtin_popcount(bitmap[rows / 8] & ((1u << rows % 8) - 1));
  return nulls;
}

static bool padding_set(const uint8_t *bits, size_t n) { return n % 8 && bits[n / 8] >> n % 8; }

static void judge_nulls(const struct mock_column_input *in, uint8_t flag, size_t flag_at, const struct mock_column *c) {
  struct mock_reader *r = in->reader;
  if (flag != QWP_NULLS_BITMAP) mock_reader_violation(r, "WIRE-NULL-002", flag_at, "null flag is neither 0 nor 1");
  if (c->present == in->rows && in->rows > 0)
    mock_reader_violation(r, "WIRE-NULL-006", flag_at, "null bitmap without a null");
  if (padding_set(c->nulls, in->rows))
    mock_reader_violation(r, "WIRE-NULL-013", flag_at + 1 + in->rows / 8, "padding bits of the null bitmap are set");
}

static bool bitmap_nulls(const struct mock_column_input *in, struct mock_column *c, uint8_t flag, const char *kind) {
  struct mock_reader *r = in->reader;
  const size_t flag_at = mock_reader_offset(r) - 1;
  c->nulls = mock_reader_take(r, (in->rows + 7) / 8);
  if (!c->nulls) return truncated(in, kind, "null bitmap");
  c->present = in->rows - count_nulls(c->nulls, in->rows);
  judge_nulls(in, flag, flag_at, c);
  return true;
}

static inline bool null_section(const struct mock_column_input *in, struct mock_column *c, const char *kind) {
  const uint8_t *flag = mock_reader_take(in->reader, 1);
  if (!flag) return truncated(in, kind, "null bitmap flag");
  c->nulls = NULL;
  c->present = in->rows;
  /* Any other value than 0 counts as "bitmap" (C-26). */
  return *flag == QWP_NULLS_NONE || bitmap_nulls(in, c, *flag, kind);
}

static inline bool take_values(const struct mock_column_input *in, struct mock_column *c, size_t width,
                               const char *kind) {
  c->values_n = c->present * width; /* at most rows * 32: no overflow */
  c->values = mock_reader_take(in->reader, c->values_n);
  return c->values || values_truncated(in, kind, c->present);
}

/* ---- one decoder per layout -------------------------------------------------------- */

static bool decode_fixed(const struct mock_column_input *in, struct mock_column *c, size_t width) {
  return null_section(in, c, FIXED) && take_values(in, c, width, FIXED);
}

static bool decode_boolean(const struct mock_column_input *in, struct mock_column *c, size_t width) {
  (void)width;
  if (!null_section(in, c, BOOLEAN)) return false;
  c->values_n = (c->present + 7) / 8;
  c->values = mock_reader_take(in->reader, c->values_n);
  if (!c->values) return truncated(in, BOOLEAN, "value bitmap");
  if (padding_set(c->values, c->present))
    mock_reader_violation(in->reader, "WIRE-NULL-013", mock_reader_offset(in->reader) - 1,
                          "padding bits of the BOOLEAN values are set");
  return true;
}

/* The one place that meets a Gorilla body. With fewer than three values there are no bits, so
 * the body is a raw array of that many values [WIRE-GOR-011, WIRE-GOR-012]. */
static bool decode_gorilla(const struct mock_column_input *in, struct mock_column *c) {
  if (c->present > 2) return mock_reader_fail(in->reader, "gorilla timestamps are not supported by this mock");
  c->ts_encoding = QWP_TS_RAW;
  c->values_n = c->present * 8;
  c->values = mock_reader_take(in->reader, c->values_n);
  if (c->values) return true;
  return truncated(in, TIMESTAMP, mock_reader_left(in->reader) < 8 ? "first timestamp" : "first two timestamps");
}

static bool decode_timestamp(const struct mock_column_input *in, struct mock_column *c, size_t width) {
  struct mock_reader *r = in->reader;
  if (!null_section(in, c, TIMESTAMP)) return false;
  c->ts_encoding = QWP_TS_RAW;
  if (!(in->flags & QWP_FLAG_GORILLA)) return take_values(in, c, width, TIMESTAMP);

  const uint8_t *encoding = mock_reader_take(r, 1);
  if (!encoding) return truncated(in, TIMESTAMP, "encoding flag");
  if (*encoding == QWP_TS_RAW) return take_values(in, c, width, TIMESTAMP);
  if (*encoding == QWP_TS_GORILLA) return decode_gorilla(in, c);
  r->p--; /* the error names the byte itself */
  return mock_reader_fail(r, "unknown timestamp encoding: %d", (int8_t)*encoding);
}

/* Offsets start at 0, never decrease, and end inside the payload [MAL-ING-008]. */
static bool check_offsets(const struct mock_column_input *in, const struct mock_column *c, size_t offsets_at) {
  struct mock_decode_error *err = in->reader->err;
  const uint32_t size = mock_load32(c->offsets + c->present * 4);
  uint32_t previous = 0;
  for (size_t i = 0; i <= c->present; i++) {
    const uint32_t offset = mock_load32(c->offsets + i * 4);
    const size_t at = offsets_at + i * 4;
    if (i == 0 && offset != 0)
      return mock_refuse(err, QWP_ST_PARSE_ERROR, at, OFFSETS "offset[0]=%u, expected 0", offset);
    if (offset > size)
      return mock_refuse(err, QWP_ST_PARSE_ERROR, at, OFFSETS "offset[%zu]=%u exceeds string data size %u", i, offset,
                         size);
    if (offset < previous)
      return mock_refuse(err, QWP_ST_PARSE_ERROR, at, OFFSETS "offset[%zu]=%u is less than offset[%zu]=%u", i, offset,
                         i - 1, previous);
    previous = offset;
  }
  return true;
}

static bool decode_bytes(const struct mock_column_input *in, struct mock_column *c, size_t width) {
  (void)width;
  struct mock_reader *r = in->reader;
  if (!null_section(in, c, STRING)) return false;
  const size_t offsets_at = mock_reader_offset(r);
  c->offsets = mock_reader_take(r, (c->present + 1) * 4);
  if (!c->offsets) return truncated(in, STRING, "offset array");
  const uint32_t size = mock_load32(c->offsets + c->present * 4);
  if (mock_load32(c->offsets) == 0 && size > mock_reader_left(r)) return truncated(in, STRING, "string data");
  if (!check_offsets(in, c, offsets_at)) return false;
  c->values = mock_reader_take(r, size);
  c->values_n = size;
  return c->values || truncated(in, STRING, "string data");
}

/* The server stores any bytes as VARCHAR; a client must not send what is not UTF-8. */
static bool decode_varchar(const struct mock_column_input *in, struct mock_column *c, size_t width) {
  if (!decode_bytes(in, c, width)) return false;
  if (mock_utf8_is_ascii(c->values, c->values_n)) return true;
  for (size_t i = 0; i < c->present; i++) {
    const uint32_t from = mock_load32(c->offsets + i * 4), to = mock_load32(c->offsets + i * 4 + 4);
    const size_t valid = mock_utf8_valid_prefix(c->values + from, to - from);
    if (valid < to - from)
      mock_reader_violation(in->reader, "WIRE-VAR-003", (size_t)(c->values - in->reader->base) + from + valid,
                            "VARCHAR value is not UTF-8");
  }
  return true;
}

/* ---- SYMBOL ------------------------------------------------------------------------- */

/* Entries are bounds-checked only; their UTF-8 matters when a row uses one [WIRE-SYM-004]. */
static bool local_dictionary(const struct mock_column_input *in, struct mock_column *c) {
  struct mock_reader *r = in->reader;
  uint64_t count;
  if (!mock_reader_varint(r, &count)) return false;
  if (count > mock_reader_left(r))
    return mock_reader_fail(r, "dictionary size exceeds data length: %lld", (long long)count);
  if (count > in->limits->max_symbols)
    return mock_reader_fail(r, "dictionary size exceeds limit: %lld", (long long)count);
  c->entries = r->p;
  c->entry_count = (size_t)count;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t length;
    if (!mock_reader_varint(r, &length)) return false;
    if (!mock_reader_take(r, length))
      return mock_reader_fail(r, "dictionary string length out of bounds: %lld", (long long)length);
  }
  c->entries_n = (size_t)(r->p - c->entries);
  return true;
}

static bool decode_symbol(const struct mock_column_input *in, struct mock_column *c, size_t width) {
  (void)width;
  struct mock_reader *r = in->reader;
  if (!null_section(in, c, SYMBOL)) return false;
  c->local = !(in->flags & QWP_FLAG_DELTA);
  if (c->local && !local_dictionary(in, c)) return false;

  const uint64_t size = c->local ? c->entry_count : mock_dict_count(in->dict);
  c->values = r->p;
  for (size_t i = 0; i < c->present; i++) {
    const size_t at = mock_reader_offset(r);
    uint64_t id;
    if (!mock_reader_varint(r, &id)) return false;
    if (id >= size)
      return mock_refuse(r->err, QWP_ST_PARSE_ERROR, at, "symbol index out of range: %lld", (long long)id);
  }
  c->values_n = (size_t)(r->p - c->values);
  return true;
}

/* ---- arrays ------------------------------------------------------------------------- */

/* Product of the lengths. Each partial product must fit an int32, also before a length of 0
 * [MAL-ING-012]. */
static bool count_elements(struct mock_reader *r, const uint8_t *lengths, unsigned dims, uint64_t *count) {
  *count = 1;
  for (unsigned i = 0; i < dims; i++) {
    const uint32_t length = mock_load32(lengths + 4 * i);
    const size_t at = (size_t)(lengths - r->base) + 4 * i;
    if (length > INT32_MAX)
      return mock_refuse(r->err, QWP_ST_PARSE_ERROR, at, "invalid array dimension size: %d", (int32_t)length);
    *count *= length;
    if (*count > INT32_MAX) return mock_refuse(r->err, QWP_ST_PARSE_ERROR, at, "array element count overflow");
  }
  return true;
}

/* Its dimensions; 0 = refused. */
static uint8_t take_array(struct mock_reader *r) {
  if (r->p == r->end) return mock_reader_fail(r, "array data truncated: expected nDims byte");
  const uint8_t dims = *r->p;
  if (dims == 0 || dims > MOCK_MAX_ARRAY_DIMS)
    return mock_reader_fail(r, "invalid array dimensions: %u (must be 1-%u)", dims, MOCK_MAX_ARRAY_DIMS);
  r->p++;
  const uint8_t *lengths = mock_reader_take(r, 4u * dims);
  if (!lengths) return mock_reader_fail(r, "array data truncated: expected %u dimension sizes", dims);
  uint64_t count;
  if (!count_elements(r, lengths, dims, &count)) return 0;
  if (mock_reader_take(r, count * 8)) return dims;
  return mock_reader_fail(r, "array data truncated: expected %llu values", (unsigned long long)count);
}

static bool decode_array(const struct mock_column_input *in, struct mock_column *c, size_t width) {
  (void)width;
  struct mock_reader *r = in->reader;
  c->dims = c->other_dims = 0;
  if (!null_section(in, c, ARRAY)) return false;
  c->values = r->p;
  for (size_t i = 0; i < c->present; i++) {
    const uint8_t dims = take_array(r);
    if (dims == 0) return false;
    if (c->dims == 0) c->dims = dims;
    else if (dims != c->dims && c->other_dims == 0) c->other_dims = dims;
  }
  c->values_n = (size_t)(r->p - c->values);
  return true;
}

/* ---- the table ---------------------------------------------------------------------- */

struct decoder {
  const char *name;
  bool (*decode)(const struct mock_column_input *in, struct mock_column *c, size_t width); /* NULL = none here */
  uint8_t width;
};

static const struct decoder decoders[] = {
  [QWP_TYPE_BOOLEAN] = {"BOOLEAN", decode_boolean, 0},
  [QWP_TYPE_BYTE] = {"BYTE", decode_fixed, 1},
  [QWP_TYPE_SHORT] = {"SHORT", decode_fixed, 2},
  [QWP_TYPE_INT] = {"INT", decode_fixed, 4},
  [QWP_TYPE_LONG] = {"LONG", decode_fixed, 8},
  [QWP_TYPE_FLOAT] = {"FLOAT", decode_fixed, 4},
  [QWP_TYPE_DOUBLE] = {"DOUBLE", decode_fixed, 8},
  [QWP_TYPE_SYMBOL] = {"SYMBOL", decode_symbol, 0},
  [QWP_TYPE_TIMESTAMP] = {"TIMESTAMP", decode_timestamp, 8},
  [QWP_TYPE_DATE] = {"DATE", decode_fixed, 8}, /* never an encoding byte on ingress [WIRE-TYPE-011] */
  [QWP_TYPE_UUID] = {"UUID", decode_fixed, 16},
  [QWP_TYPE_LONG256] = {"LONG256", decode_fixed, 32},
  [QWP_TYPE_GEOHASH] = {"GEOHASH", NULL, 0},
  [QWP_TYPE_VARCHAR] = {"VARCHAR", decode_varchar, 0},
  [QWP_TYPE_TIMESTAMP_NANOS] = {"TIMESTAMP_NANOS", decode_timestamp, 8},
  [QWP_TYPE_DOUBLE_ARRAY] = {"DOUBLE_ARRAY", decode_array, 0},
  [QWP_TYPE_LONG_ARRAY] = {"LONG_ARRAY", decode_array, 0},
  [QWP_TYPE_DECIMAL64] = {"DECIMAL64", NULL, 0},
  [QWP_TYPE_DECIMAL128] = {"DECIMAL128", NULL, 0},
  [QWP_TYPE_DECIMAL256] = {"DECIMAL256", NULL, 0},
  [QWP_TYPE_CHAR] = {"CHAR", decode_fixed, 2},
  [QWP_TYPE_BINARY] = {"BINARY", decode_bytes, 0},
  [QWP_TYPE_IPV4] = {"IPv4", decode_fixed, 4},
};

const char *mock_column_type_name(uint8_t type) {
  return type < sizeof decoders / sizeof *decoders ? decoders[type].name : NULL;
}

bool mock_column_type_exists(uint8_t type) { return mock_column_type_name(type) != NULL; }

uint8_t mock_column_type_width(uint8_t type) {
  return decoders[type].decode == decode_fixed ? decoders[type].width : 0;
}

bool mock_column_decode_any(const struct mock_column_input *in, struct mock_column *c) {
  const struct decoder *decoder = &decoders[c->type];
  if (!decoder->decode) return mock_reader_fail(in->reader, "%s columns are not supported by this mock", decoder->name);
  return decoder->decode(in, c, decoder->width);
}
