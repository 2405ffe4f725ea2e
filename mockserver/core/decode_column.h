/* decode_column - the data section of one column: where its nulls and values lie, and that
 * they lie inside the payload. One decoder per type, found by type code.
 *
 *   section      null flag u8 [bitmap ceil(rows/8) unless the flag is 0] then, for the `present`
 *                rows that are not null [WIRE-NULL-001..004]:
 *   BOOLEAN      ceil(present/8) bytes, first value in bit 0
 *   fixed width  present * width bytes
 *   TIMESTAMP*   under flag 0x04 an encoding byte first (0 raw, 1 Gorilla); then present * 8
 *   VARCHAR      (present + 1) u32 offsets from 0, then the bytes; BINARY the same
 *   SYMBOL       present varints; without flag 0x08 before them the column's own dictionary:
 *                varint count, then count times varint length and text
 *   *_ARRAY      present times: dimensions u8, as many u32 lengths, product of the lengths * 8 bytes
 *
 * Order of checks and texts are the server's (server source, July 2026, and its recorded answers).
 */
#ifndef MOCK_DECODE_COLUMN_H
#define MOCK_DECODE_COLUMN_H

#include "core/decode.h"
#include "core/reader.h"

struct mock_column_input {
  struct mock_reader *reader;
  const struct mock_dict *dict;
  const struct mock_limits *limits;
  uint8_t flags; /* of the message */
  size_t rows;
};

/* True for the 23 codes of the protocol [MAL-ING-007]. */
bool mock_column_type_exists(uint8_t type);
/* "LONG", "TIMESTAMP_NANOS", ...; NULL for a code that does not exist. */
const char *mock_column_type_name(uint8_t type);

/* Bytes a value of a type that has a fixed width and nothing else; 0 for the others. */
uint8_t mock_column_type_width(uint8_t type);

bool mock_column_decode_any(const struct mock_column_input *in, struct mock_column *c);

/* Reads the section at the cursor into *c, whose name, type and width are set. false: the
 * reader's error tells. A type that exists but has no decoder here is refused with 0x05.
 * Fixed-width values without nulls, the usual case, are taken on the spot. */
static inline bool mock_column_decode(const struct mock_column_input *in, struct mock_column *c) {
  const uint8_t *p = in->reader->p;
  const size_t left = mock_reader_left(in->reader), bytes = in->rows * c->width;
  if (c->width == 0 || left <= bytes || *p != 0) return mock_column_decode_any(in, c);
  c->nulls = NULL;
  c->present = in->rows;
  c->values = p + 1;
  c->values_n = bytes;
  in->reader->p = p + 1 + bytes;
  return true;
}

#endif
