/* decode - one ingress message, strictly, into decoded tables.
 *
 * Written from the specification, not from the client. Every length and count is
 * bounded before it is used; a failure says what, at which offset of the message,
 * and with which status a server answers. What a server lets pass but no client may
 * do is reported as a violation and goes on.
 *
 * Blocks are streamed: on_block is called for each block once its columns have been
 * bounds-checked, as the server appends block 1 before it looks at block 2.
 * Order of checks and texts: tests/data/README.md names the source; in short version
 * before magic, then lengths, dictionary, blocks [WIRE-HDR-003].
 */
#ifndef MOCK_DECODE_H
#define MOCK_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOCK_MAX_ARRAY_DIMS 32u /* [WIRE-ARR-001] */

struct mock_dict; /* core/dict.h: one connection's dictionary */

struct mock_limits {
  uint64_t max_rows;     /* QWP_MAX_ROWS */
  uint64_t max_columns;  /* QWP_MAX_COLUMNS */
  uint64_t max_symbols;  /* of the connection's dictionary */
  size_t max_tables;     /* distinct ones that a connection may write to [LIMIT-002]; the decoder does not count them */
  bool gap_is_error;     /* profile doc: 0x0D; jul2026: filled with "no string" */
};

/* One column of a block, values undecoded but proven to lie inside the message (core/cells.h
 * walks them row by row). Names point into the decoder, values into the message; both are
 * good until on_block returns. */
struct mock_column {
  const char *name; size_t name_n;   /* not NUL-terminated; empty = designated timestamp */
  uint8_t type;
  uint8_t ts_encoding;               /* QWP_TS_*; how `values` is laid out */
  uint8_t width;                     /* bytes a value, where the type has a fixed width and nothing else */
  uint8_t dims, other_dims;          /* arrays: of the first value, and of the first that differs; 0 = none */
  const uint8_t *nulls;              /* bitmap or NULL */
  const uint8_t *values;             /* dense, present values only (per type, see decode_column.h) */
  size_t values_n;
  size_t present;                    /* how many values */
  const uint8_t *offsets;            /* VARCHAR, BINARY: present + 1 u32 */
  bool local;                        /* SYMBOL without flag 0x08: ids index the column's own entries */
  const uint8_t *entries;            /* then: entry_count times varint length and text */
  size_t entries_n, entry_count;
};

struct mock_block {
  const char *name; size_t name_n;
  size_t rows;
  const struct mock_column *columns;
  size_t column_count;
  /* Not 0: two blocks with this number have the same name and schema bytes, whoever decoded
   * them, so what was worked out for the first holds for the second. */
  uint64_t schema;
};

struct mock_decode_error {
  uint8_t status;   /* QWP_ST_* */
  size_t offset;    /* in the message */
  char text[400];
};

struct mock_decode_sink {
  void *ctx;
  /* false: refused; fill *err. */
  bool (*on_block)(void *ctx, const struct mock_block *block, struct mock_decode_error *err);
  void (*on_violation)(void *ctx, const char *requirement, size_t offset, const char *text);
};

struct mock_message {
  uint8_t flags;
  unsigned table_count;
  uint64_t dict_start, dict_count;
  bool dictionary_only; /* table_count 0 and a delta section with entries */
};

/* A decoder keeps its column array, and what it worked out for the schemas it saw last, between
 * messages. It may serve several connections; the limits must be the same in all its calls. */
struct mock_decoder;
struct mock_decoder *mock_decoder_new(void);
void mock_decoder_del(struct mock_decoder *d);

/* Decodes p[0..n). dict is extended by the delta section. false: *err tells; blocks
 * already handed over stay handed over. *msg is filled as far as it was read. n = 0 is an
 * empty commit and good [WIRE-HDR-009]. A refusal by on_block that sets no offset gets that
 * of the block. */
bool mock_decode(struct mock_decoder *d, struct mock_dict *dict, const struct mock_limits *limits,
                 const uint8_t *p, size_t n, const struct mock_decode_sink *sink,
                 struct mock_message *msg, struct mock_decode_error *err);

#endif
