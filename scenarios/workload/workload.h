/* workload - rows by a fixed rule, the same in the sender's child, in every adapter and in the oracle.
 *
 * Row number k (from 0, counted over the whole run) of a schema has one id (= k) and
 * values that follow from it, so that the judge knows each value without being told.
 *
 *   narrow   table "narrow":  sym SYMBOL "s<k mod 16>", id LONG k, px DOUBLE k*0.25 - 100,
 *            designated TIMESTAMP_NANOS T + k us           (T = 1700000000000000000)
 *   tiny     table "t": column "i" LONG k; nothing else: 36 wire bytes for one row a frame
 *   padded   table "p": id LONG k, pad VARCHAR of the bytes that make the frame exactly
 *            frame_bytes on the wire (one row a frame)
 *   symbols  table "symbols": sym SYMBOL "sym<k>" (a new one each row), id LONG k, designated ns
 *   types    table "types": the seven types. Columns by number: 0 id LONG k, 1 b BOOLEAN k odd,
 *            2 l LONG k*1000003 (negative for odd k), 3 d DOUBLE k/8 - 3, 4 s SYMBOL "t<k mod 8>",
 *            5 v VARCHAR "<lambda><k>", 6 us TIMESTAMP T/1000 + k, 7 ns TIMESTAMP_NANOS T + k;
 *            designated ns T + k us. Column j >= 1 is null when (k + j) mod 5 == 0; a null
 *            BOOLEAN has no form of its own and reads as false [WIRE-NULL-012]
 *   tables   rows go in turn to "a", "b", "c" with id LONG k, designated us
 *
 * tiny has no column `id`: its id column is `i`.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum workload_schema {
  WORKLOAD_NARROW, WORKLOAD_TINY, WORKLOAD_PADDED, WORKLOAD_SYMBOLS, WORKLOAD_TYPES, WORKLOAD_TABLES,
  WORKLOAD_SCHEMAS
};
const char *workload_schema_name(enum workload_schema s);

struct workload {
  enum workload_schema schema;
  int64_t rows;
  int64_t frame_bytes;  /* WORKLOAD_PADDED: wire bytes of each frame */
  int64_t symbol_bytes; /* WORKLOAD_SYMBOLS: 0, or the length each symbol is padded to with '.' */
};

#define WORKLOAD_T_NS INT64_C(1700000000000000000)

/* One value of a row, by the rule. */
enum workload_type { WORKLOAD_BOOL, WORKLOAD_LONG, WORKLOAD_DOUBLE, WORKLOAD_SYMBOL, WORKLOAD_VARCHAR,
                     WORKLOAD_TS_US, WORKLOAD_TS_NS };
struct workload_value {
  const char *column;   /* "" = the designated timestamp */
  enum workload_type type;
  bool null;
  bool b;
  int64_t i;
  double d;
  const char *text; size_t text_n; /* into the caller's scratch */
};
#define WORKLOAD_MAX_COLUMNS 10

/* Bytes of scratch that are enough for any row. */
size_t workload_scratch_bytes(const struct workload *w);

/* The row k: table name, and its columns in the order they are set; out has WORKLOAD_MAX_COLUMNS places. scratch
 * holds texts. A null column keeps its value beside `null`.
 * Returns the number of columns; 0: scratch is too small, k is negative, or frame_bytes cannot be made. */
size_t workload_row(const struct workload *w, int64_t k, const char **table, struct workload_value *out,
                    char *scratch, size_t scratch_n);

/* The pad length that makes a `padded` frame of one row exactly frame_bytes on the wire: the same for every
 * row, as id is a LONG, while fewer than 128 symbols were sent before. -1: below the minimum of 51, or a
 * size that no frame has (132, 133, 65544 to 65549: the WebSocket header grows there). */
int64_t workload_pad_bytes(int64_t frame_bytes);

#endif
