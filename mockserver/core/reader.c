#include "core/reader.h"

#include <stdarg.h>
#include <stdio.h>

#include "qwp/wire.h"

static void refuse(struct mock_decode_error *err, uint8_t status, size_t offset, const char *format, va_list args) {
  err->status = status;
  err->offset = offset;
  vsnprintf(err->text, sizeof err->text, format, args);
}

bool mock_refuse(struct mock_decode_error *err, uint8_t status, size_t offset, const char *format, ...) {
  va_list args;
  va_start(args, format);
  refuse(err, status, offset, format, args);
  va_end(args);
  return false;
}

bool mock_reader_fail(struct mock_reader *r, const char *format, ...) {
  va_list args;
  va_start(args, format);
  refuse(r->err, QWP_ST_PARSE_ERROR, mock_reader_offset(r), format, args);
  va_end(args);
  return false;
}

void mock_reader_violation(struct mock_reader *r, const char *requirement, size_t offset, const char *text) {
  if (r->sink && r->sink->on_violation) r->sink->on_violation(r->sink->ctx, requirement, offset, text);
}

bool mock_reader_long_varint(struct mock_reader *r, uint64_t *value) {
  const size_t start = mock_reader_offset(r);
  uint64_t v = 0;
  for (unsigned i = 0;; i++) {
    if (r->p == r->end) return mock_reader_fail(r, "incomplete varint: buffer underflow");
    const uint8_t byte = *r->p;
    /* The tenth byte has room for bit 63 alone: anything more is longer or larger than 64 bits. */
    if (i == QWP_MAX_VARINT_BYTES - 1 && byte > 1)
      return mock_reader_fail(r, "varint overflow: too many continuation bytes");
    r->p++;
    v |= (uint64_t)(byte & 0x7F) << (7 * i);
    if (byte & 0x80) continue;
    if (byte == 0 && i > 0) mock_reader_violation(r, "WIRE-ENC-002", start, "varint is not in its shortest form");
    *value = v;
    return true;
  }
}
