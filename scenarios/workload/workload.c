#include "workload/workload.h"

#include <stdio.h>
#include <string.h>

const char *workload_schema_name(enum workload_schema s) {
  static const char *const names[WORKLOAD_SCHEMAS] = {"narrow", "tiny", "padded", "symbols", "types", "tables"};
  return (unsigned)s < WORKLOAD_SCHEMAS ? names[s] : "?";
}

/* ---- columns, one by one ------------------------------------------------------- */

/* The row being told, and what is left of the caller's scratch for its texts. */
struct row {
  struct workload_value *out;
  size_t columns;
  char *scratch;
  size_t room;
};

static struct workload_value *column(struct row *r, const char *name, enum workload_type type) {
  struct workload_value *v = &r->out[r->columns++];
  *v = (struct workload_value){.column = name, .type = type};
  return v;
}

static void integer(struct row *r, const char *name, enum workload_type type, int64_t i) {
  column(r, name, type)->i = i;
}

/* Takes n bytes of scratch that already hold the text, plus one for a NUL. */
static void text(struct row *r, const char *name, enum workload_type type, size_t n) {
  struct workload_value *v = column(r, name, type);
  v->text = r->scratch;
  v->text_n = n;
  r->scratch[n] = '\0';
  r->scratch += n + 1;
  r->room -= n + 1;
}

/* "<prefix><number>", padded with '.' up to `width` bytes. false: no room. */
static bool label(struct row *r, const char *name, enum workload_type type, const char *prefix, int64_t number,
                  size_t width) {
  const int n = snprintf(r->scratch, r->room, "%s%lld", prefix, (long long)number);
  if (n < 0 || (size_t)n >= r->room || width >= r->room) return false;
  size_t length = (size_t)n;
  if (length < width) {
    memset(r->scratch + length, '.', width - length);
    length = width;
  }
  text(r, name, type, length);
  return true;
}

/* ---- one function a schema ------------------------------------------------------ */

static bool narrow(struct row *r, int64_t k) {
  if (!label(r, "sym", WORKLOAD_SYMBOL, "s", k % 16, 0)) return false;
  integer(r, "id", WORKLOAD_LONG, k);
  column(r, "px", WORKLOAD_DOUBLE)->d = (double)k * 0.25 - 100;
  integer(r, "", WORKLOAD_TS_NS, WORKLOAD_T_NS + k * 1000);
  return true;
}

#define LETTERS 26

static bool padded(struct row *r, const struct workload *w, int64_t k) {
  const int64_t pad = workload_pad_bytes(w->frame_bytes);
  if (pad < 0 || (uint64_t)pad >= r->room) return false;
  integer(r, "id", WORKLOAD_LONG, k);
  /* Neighbouring bytes and neighbouring rows differ, so that a shift by one shows. */
  const size_t n = (size_t)pad;
  size_t done = n < LETTERS ? n : LETTERS;
  for (size_t i = 0; i < done; i++) r->scratch[i] = (char)('a' + ((size_t)(k % LETTERS) + i) % LETTERS);
  while (done < n) { /* whole alphabets, twice as many each time */
    const size_t more = done < n - done ? done : n - done;
    memcpy(r->scratch + done, r->scratch, more);
    done += more;
  }
  text(r, "pad", WORKLOAD_VARCHAR, n);
  return true;
}

static bool symbols(struct row *r, const struct workload *w, int64_t k) {
  const size_t width = w->symbol_bytes > 0 ? (size_t)w->symbol_bytes : 0;
  if (!label(r, "sym", WORKLOAD_SYMBOL, "sym", k, width)) return false;
  integer(r, "id", WORKLOAD_LONG, k);
  integer(r, "", WORKLOAD_TS_NS, WORKLOAD_T_NS + k * 1000);
  return true;
}

static bool types(struct row *r, int64_t k) {
  integer(r, "id", WORKLOAD_LONG, k);
  column(r, "b", WORKLOAD_BOOL)->b = k % 2 == 1;
  integer(r, "l", WORKLOAD_LONG, k % 2 ? -k * 1000003 : k * 1000003);
  column(r, "d", WORKLOAD_DOUBLE)->d = (double)k / 8 - 3;
  if (!label(r, "s", WORKLOAD_SYMBOL, "t", k % 8, 0)) return false;
  if (!label(r, "v", WORKLOAD_VARCHAR, "\xce\xbb", k, 0)) return false; /* Greek lambda: two bytes of UTF-8 */
  integer(r, "us", WORKLOAD_TS_US, WORKLOAD_T_NS / 1000 + k);
  integer(r, "ns", WORKLOAD_TS_NS, WORKLOAD_T_NS + k);
  for (size_t j = 1; j < r->columns; j++) r->out[j].null = (k + (int64_t)j) % 5 == 0;
  integer(r, "", WORKLOAD_TS_NS, WORKLOAD_T_NS + k * 1000);
  return true;
}

static void tables(struct row *r, int64_t k) {
  integer(r, "id", WORKLOAD_LONG, k);
  integer(r, "", WORKLOAD_TS_US, WORKLOAD_T_NS / 1000 + k);
}

size_t workload_scratch_bytes(const struct workload *w) {
  const int64_t texts = (w->frame_bytes > 0 ? w->frame_bytes : 0) + (w->symbol_bytes > 0 ? w->symbol_bytes : 0);
  return (size_t)texts + 256;
}

size_t workload_row(const struct workload *w, int64_t k, const char **table, struct workload_value *out,
                    char *scratch, size_t scratch_n) {
  static const char *const turn[] = {"a", "b", "c"};
  struct row r = {.out = out, .scratch = scratch, .room = scratch_n};
  bool ok = k >= 0;
  if (!ok) return 0;
  *table = workload_schema_name(w->schema);
  switch (w->schema) {
    case WORKLOAD_NARROW: ok = narrow(&r, k); break;
    case WORKLOAD_TINY: *table = "t"; integer(&r, "i", WORKLOAD_LONG, k); break;
    case WORKLOAD_PADDED: *table = "p"; ok = padded(&r, w, k); break;
    case WORKLOAD_SYMBOLS: ok = symbols(&r, w, k); break;
    case WORKLOAD_TYPES: ok = types(&r, k); break;
    case WORKLOAD_TABLES: *table = turn[k % 3]; tables(&r, k); break;
    default: ok = false;
  }
  return ok ? r.columns : 0;
}

/* ---- the exact size of a padded frame ------------------------------------------- */

/* A client's WebSocket header: 2 bytes, the length's extension, 4 of mask (RFC 6455, 5.2). */
static int64_t frame_header_bytes(int64_t payload) {
  if (payload <= 125) return 6;
  return payload <= 65535 ? 8 : 14;
}

int64_t workload_pad_bytes(int64_t frame_bytes) {
  enum {
    HEADER = 12,
    DELTA = 1 + 1,              /* start and count, both below 128 */
    BLOCK = 1 + 1 + 1 + 1,      /* length and text of "p", row count, column count */
    COLUMNS = 1 + 2 + 1 + 1 + 3 + 1, /* length, text, type of "id" and of "pad" */
    ID = 1 + 8,                 /* null flag, one LONG: fixed, whatever the row number */
    PAD = 1 + 4 + 4,            /* null flag, two offsets of u32 */
    EMPTY = HEADER + DELTA + BLOCK + COLUMNS + ID + PAD
  };
  static const int64_t widths[] = {6, 8, 14};
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
    const int64_t payload = frame_bytes - widths[i];
    /* Some sizes do not exist: a payload of 126 has a header 2 bytes longer than one of 125. */
    if (payload >= EMPTY && frame_header_bytes(payload) == widths[i]) return payload - EMPTY;
  }
  return -1;
}
