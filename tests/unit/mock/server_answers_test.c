/* The decoder and tables against what the real server answered: the frames of server-probes.tsv
 * and server-coercions.tsv are replayed, and the first refusal must be the server's in status,
 * sequence and text; where the server said OK, so must the mock.
 *
 * A row is left out when it needs what these parts do not have (a configuration, an SQL object,
 * other than whole binary frames); how many were compared is asserted, so none falls out unseen.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "golden.h"
#include "mock_kit.h"

/* ---- lines of a TSV ------------------------------------------------------------------------ */

#define MAX_FIELDS 16

static size_t split(char *line, char **fields) {
  size_t n = 0;
  for (char *p = line; n < MAX_FIELDS; p++) {
    fields[n++] = p;
    p = strchr(p, '\t');
    if (!p) break;
    *p = '\0';
  }
  return n;
}

/* Recorded text: \\ \t \n \r \uXXXX. */
static void unescape(char *text) {
  char *out = text;
  for (const char *p = text; *p; p++) {
    unsigned c;
    if (p[0] != '\\') {
      *out++ = *p;
    } else if (p[1] == 'u' && sscanf(p + 2, "%4x", &c) == 1) {
      char utf8[16];
      const size_t n = kit_put_char(utf8, sizeof utf8, c) - 2;
      memcpy(out, utf8 + 1, n);
      out += n;
      p += 5;
    } else {
      p++;
      *out++ = *p == 't' ? '\t' : *p == 'n' ? '\n' : *p == 'r' ? '\r' : *p;
    }
  }
  *out = '\0';
}

/* ---- bytes of a probe ----------------------------------------------------------------------- */

struct stream {
  uint8_t *p;
  size_t n;
};

/* "82a4...+61*127 | 82...": hex, repeated bytes, several writes. false: something else. */
static bool read_stream(char *text, struct stream *s) {
  s->p = malloc(1u << 22);
  s->n = 0;
  if (!s->p) abort();
  for (char *part = strtok(text, "+| "); part; part = strtok(NULL, "+| ")) {
    char *star = strchr(part, '*');
    const size_t times = star ? strtoul(star + 1, NULL, 10) : 1;
    size_t n;
    uint8_t *bytes = golden_unhex(part, star ? (size_t)(star - part) : strlen(part), &n);
    if (!bytes || s->n + n * times > 1u << 22) {
      free(bytes);
      return false;
    }
    for (size_t i = 0; i < times; i++, s->n += n) memcpy(s->p + s->n, bytes, n);
    free(bytes);
  }
  return s->n > 0;
}

/* The next frame, unmasked in place. false: no whole binary frame stands there. */
static bool next_frame(struct stream *s, size_t *at, uint8_t **payload, size_t *n) {
  const uint8_t *p = s->p + *at;
  const size_t left = s->n - *at;
  if (left < 6 || p[0] != 0x82 || !(p[1] & 0x80)) return false;
  size_t head = 2;
  *n = p[1] & 0x7F;
  if (*n == 126) *n = (size_t)p[2] << 8 | p[3], head = 4;
  else if (*n == 127) *n = (size_t)p[6] << 24 | (size_t)p[7] << 16 | (size_t)p[8] << 8 | p[9], head = 10;
  if (left < head + 4 + *n) return false;
  *payload = s->p + *at + head + 4;
  for (size_t i = 0; i < *n; i++) (*payload)[i] ^= p[head + i % 4];
  *at += head + 4 + *n;
  return true;
}

/* ---- "create table p_x1 (c boolean, timestamp timestamp) timestamp(timestamp) ..." ------------ */

/* "double[][]" has 2, what is no array 0. */
static unsigned array_dims(const char *type) {
  unsigned dims = 0;
  const char *p = type + strcspn(type, "[");
  for (; strncmp(p, "[]", 2) == 0; p += 2) dims++;
  return *p == '\0' && strncmp(type, "double[", 7) == 0 ? dims : 0;
}

static unsigned sql_type(const char *name, size_t n) {
  static const struct { const char *name; unsigned type; } types[] = {
    {"boolean", 0x01}, {"byte", 0x02}, {"short", 0x03}, {"int", 0x04}, {"long", 0x05}, {"float", 0x06},
    {"double", 0x07}, {"symbol", 0x09}, {"timestamp", 0x0A}, {"date", 0x0B}, {"uuid", 0x0C}, {"long256", 0x0D},
    {"varchar", 0x0F}, {"timestamp_ns", 0x10}, {"char", 0x16}, {"binary", 0x17}, {"ipv4", 0x18}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strlen(types[i].name) == n && strncmp(types[i].name, name, n) == 0) return types[i].type;
  return 0;
}

/* One row for set_up to roll back: nulls, but for arrays, which need a value to tell their dimensions. */
static void put_setup_cell(struct kit_bytes *b, unsigned type, unsigned dims) {
  static const uint32_t empty[32];
  kit_u8(b, dims ? QWP_NULLS_NONE : QWP_NULLS_BITMAP);
  if (dims) {
    kit_array(b, dims, empty, 0);
    return;
  }
  kit_u8(b, 1);
  if (type == QWP_TYPE_VARCHAR || type == QWP_TYPE_BINARY) kit_le(b, 0, 4);
}

static bool create_table(struct kit *k, const char *sql) {
  struct kit_bytes b;
  char name[160], columns[512];
  if (sscanf(sql, " create table %159s (%511[^)]", name, columns) != 2) return false;
  if (!strstr(sql, ") timestamp(timestamp) partition by day wal") || strstr(sql, "dedup")) return false;
  size_t count = 1, at = 0;
  unsigned types[64], dims[64];
  for (const char *p = columns; *p; p++) count += *p == ',';
  if (count > 64) return false;
  kit_begin(&b, QWP_FLAG_DELTA | QWP_FLAG_DEFER, 1);
  kit_delta(&b, 0, "");
  kit_block(&b, name, 1, count);
  for (char *p = strtok(columns, ","); p; p = strtok(NULL, ",")) {
    char column[64], type[64];
    if (sscanf(p, " %63s %63s", column, type) != 2) return false;
    dims[at] = array_dims(type);
    types[at] = dims[at] ? QWP_TYPE_DOUBLE_ARRAY : sql_type(type, strlen(type));
    if (types[at] == 0) return false;
    kit_define(&b, strcmp(column, "timestamp") == 0 ? "" : column, types[at++]);
  }
  for (size_t i = 0; i < at; i++) put_setup_cell(&b, types[i], dims[i]);
  return kit_send(k, &b);
}

static bool set_up(struct kit *k, char *sql) {
  for (char *statement = sql, *next; statement; statement = next) {
    next = strstr(statement, ";; ");
    if (next) *next = '\0', next += 3;
    if (strncmp(statement, "drop table if exists", 20) == 0 || strcmp(statement, "-") == 0) continue;
    if (!create_table(k, statement)) return false;
  }
  kit_reconnect(k); /* rolls the rows back; the tables stay */
  return true;
}

/* ---- one row ------------------------------------------------------------------------------------ */

enum outcome { LEFT_OUT, EQUAL, WAITS, KNOWN, DIFFERENT, OUTCOMES };

/* What is known to be answered otherwise, and why; mockserver/README.md has it by kind. A '*' ends a prefix. */
static const struct {
  const char *name, *why;
} deviations[] = {
  {"table name not UTF-8", "unspecified on the server; refused here [MAL-ING-006]"},
  {"column name not UTF-8", "the same"},
  {"table name with 00", "the text of a refusal is a C string"},
  {"designated as VARCHAR by name", "status 0x06 as recorded, but not the names of Java classes"},
  {"FLOAT -> symbol", "printing a floating number as the server does is not done"},
  {"FLOAT -> varchar", "the same"},
  {"DOUBLE -> varchar", "the same"},
  {"TIMESTAMP_NANOS -> varchar", "printing a time is not done"},
  {"DATE -> varchar", "the same"},
  {"LONG256 -> varchar", "printing ids is not done"},
  {"IPv4 -> varchar", "the same"},
  {"VARCHAR -> char", "parsing characters, times and ids is not done"},
  {"VARCHAR AB -> char", "the same"},
  {"VARCHAR emoji -> char", "the same"},
  {"VARCHAR -> date", "the same"},
  {"VARCHAR 123 -> date", "the same"},
  {"VARCHAR -> timestamp", "the same"},
  {"VARCHAR 2023-11-14 -> timestamp", "the same"},
  {"VARCHAR -> timestamp_ns", "the same"},
  {"VARCHAR -> uuid", "the same"},
  {"VARCHAR -> long256", "the same"},
  {"LONG_ARRAY -> double[]*", "the server takes the bits for doubles: a quirk, see WIRE-TYPE-018"},
  {"BINARY -> *", "the server parses the bytes as if they were text: a quirk that is not imitated"},
};

static bool deviates(const char *name) {
  for (size_t i = 0; i < sizeof deviations / sizeof *deviations; i++) {
    const size_t n = strcspn(deviations[i].name, "*");
    if (strncmp(deviations[i].name, name, n) == 0 && (deviations[i].name[n] == '*' || name[n] == '\0')) return true;
  }
  return false;
}

/* "05(1):text" among the answers; NULL = no error answer. */
static char *find_error(char *readable) {
  for (char *p = readable; p; p = strstr(p, " | ") ? strstr(p, " | ") + 3 : NULL) {
    unsigned status, seq;
    int at = 0;
    if (sscanf(p, "%2x(%u):%n", &status, &seq, &at) == 2 && at > 0 && p[0] == '0') return p;
  }
  return NULL;
}

/* ---- what SQL read afterwards: "select v, timestamp from p_x1", as [[1, "..."], ...] ---------- */

static bool select_columns(const struct kit *k, const char *sql, size_t *table, size_t *columns, size_t *count) {
  char list[256], name[160];
  const char *from = strstr(sql, " from ");
  *count = 0;
  if (strncmp(sql, "select ", 7) != 0 || !from || (size_t)(from - sql) >= sizeof list) return false;
  const size_t name_n = strcspn(from + 6, " ");
  if (from[6 + name_n] && strncmp(from + 6 + name_n, " order by ", 10) != 0) return false;
  snprintf(list, sizeof list, "%.*s", (int)(from - sql - 7), sql + 7);
  snprintf(name, sizeof name, "%.*s", (int)name_n, from + 6);
  if (!mock_table_find(k->tables, name, strlen(name), table)) return false;
  for (char *p = strtok(list, ", "); p; p = strtok(NULL, ", ")) {
    size_t i = 0;
    const size_t n = mock_table_columns(k->tables, *table);
    while (i < n && strcmp(mock_table_column(k->tables, *table, i, NULL), p) != 0) i++;
    if (i == n || *count == 8) return false;
    columns[(*count)++] = i;
  }
  return *count > 0;
}

static int64_t designated_value(const struct kit *k, size_t table, size_t row) {
  struct mock_value v[64];
  assert_true(mock_table_row(k->tables, table, row, v, NULL, NULL));
  return v[mock_table_designated(k->tables, table)].as.i;
}

static size_t rows_text(const struct kit *k, size_t table, const size_t *columns, size_t count, char *out,
                        size_t size) {
  size_t n = (size_t)snprintf(out, size, "[");
  const size_t rows = mock_table_rows(k->tables, table);
  size_t order[64];
  if (rows > 64) return 0;
  for (size_t i = 0; i < rows; i++) {
    size_t at = i;
    for (; at > 0 && designated_value(k, table, order[at - 1]) > designated_value(k, table, i); at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  for (size_t i = 0; i < rows; i++) {
    struct mock_value v[64];
    mock_table_row(k->tables, table, order[i], v, NULL, NULL);
    n += (size_t)snprintf(out + n, size - n, i ? ", [" : "[");
    for (size_t c = 0; c < count; c++) {
      n += (size_t)snprintf(out + n, size - n, c ? ", " : "");
      n += kit_put_value(out + n, size - n, &v[columns[c]]);
    }
    n += (size_t)snprintf(out + n, size - n, "]");
  }
  return n + (size_t)snprintf(out + n, size - n, "]");
}

static size_t rows_compared;

/* False: the values differ. True too when the question is not a plain select. */
static bool same_rows(const char *name, const struct kit *k, const char *result, const char *sql) {
  size_t table, columns[8], count;
  static char mine[1 << 20];
  if (result[0] != '[' || strchr(result, '\\') || !select_columns(k, sql, &table, columns, &count)) return true;
  if (rows_text(k, table, columns, count, mine, sizeof mine) == 0) return true;
  rows_compared++;
  if (strcmp(mine, result) == 0) return true;
  print_message("%s (%s)\n  server: %.200s\n  mock:   %.200s\n", name, sql, result, mine);
  return false;
}

static enum outcome compare(const char *name, struct kit *k, struct stream *s, char *readable) {
  char mine[512] = "ok";
  size_t at = 0, n;
  uint8_t *payload;
  while (at < s->n) {
    if (!next_frame(s, &at, &payload, &n)) return LEFT_OUT;
    const int64_t seq = k->wire_seq;
    if (kit_message(k, payload, n)) continue;
    snprintf(mine, sizeof mine, "%02x(%" PRId64 "):%s", k->err.status, seq, k->err.text);
    break;
  }
  if (strstr(mine, "not supported by this mock")) return WAITS;
  char *theirs = find_error(readable);
  if (theirs) unescape(theirs);
  if (strcmp(theirs ? theirs : "ok", mine) == 0) return EQUAL;
  if (deviates(name)) return KNOWN;
  print_message("%s\n  server: %s\n  mock:   %s\n", name, theirs ? theirs : readable, mine);
  return DIFFERENT;
}

static enum outcome judge(const char *name, char *setup, char *sent, char *readable, const char *result,
                          const char *sql) {
  struct kit k;
  struct stream s = {0};
  enum outcome outcome = LEFT_OUT;
  kit_open(&k, MOCK_ROWS_FULL);
  k.limits.gap_is_error = false;
  k.limits.max_symbols = 1000000;
  if (set_up(&k, setup) && read_stream(sent, &s)) outcome = compare(name, &k, &s, readable);
  if (outcome == EQUAL && !same_rows(name, &k, result, sql)) outcome = DIFFERENT;
  free(s.p);
  kit_close(&k);
  return outcome;
}

struct tally {
  size_t of[OUTCOMES], rows;
};

static void run_file(const char *path, bool probes, struct tally *t) {
  static const char *const groups[] = {"header", "delta", "block", "column",
                                       "name", "designated", "deferred", "coercion"};
  size_t n = 0;
  char *text = golden_slurp(path, &n);
  assert_non_null(text);
  for (char *line = text, *end; line < text + n; line = end + 1) {
    char *f[MAX_FIELDS];
    end = strchr(line, '\n');
    if (!end) end = text + n;
    *end = '\0';
    const size_t fields = split(line, f);
    if (line[0] == '#' || fields < (probes ? 12u : 7u)) continue;
    bool wanted = !probes;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) wanted = wanted || strcmp(f[0], groups[i]) == 0;
    if (!wanted) continue;
    const char *name = f[probes ? 1 : 0];
    t->of[judge(name, f[probes ? 2 : 1], f[probes ? 5 : 2], f[probes ? 9 : 4],
                                 f[probes ? 10 : 5], f[probes ? 11 : 6])]++;
  }
  free(text);
}

/* Exact counts: a case that stops being compared is as bad as one that differs. */
static void check(const struct tally *t, const char *what, struct tally expected) {
  print_message("%s: %zu equal (%zu of them by their rows too), waits: %zu, left out: %zu, known to differ: %zu\n",
                what, t->of[EQUAL], rows_compared, t->of[WAITS], t->of[LEFT_OUT], t->of[KNOWN]);
  assert_int_equal(t->of[DIFFERENT], 0);
  assert_int_equal(t->of[EQUAL], expected.of[EQUAL]);
  assert_int_equal(rows_compared, expected.rows);
  assert_int_equal(t->of[WAITS], expected.of[WAITS]);
  assert_int_equal(t->of[LEFT_OUT], expected.of[LEFT_OUT]);
  assert_int_equal(t->of[KNOWN], expected.of[KNOWN]);
}

static void probes_are_answered_as_recorded(void **state) {
  (void)state;
  struct tally t = {0};
  rows_compared = 0;
  run_file(TEST_DATA "/server-probes.tsv", true, &t);
  check(&t, "probes", (struct tally){.of = {[EQUAL] = 324, [WAITS] = 50, [LEFT_OUT] = 17, [KNOWN] = 9}, .rows = 83});
}

static void type_pairs_are_answered_as_recorded(void **state) {
  (void)state;
  struct tally t = {0};
  rows_compared = 0;
  run_file(TEST_DATA "/server-coercions.tsv", false, &t);
  check(&t, "type pairs",
        (struct tally){.of = {[EQUAL] = 265, [WAITS] = 63, [LEFT_OUT] = 129, [KNOWN] = 26}, .rows = 248});
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(probes_are_answered_as_recorded),
    cmocka_unit_test(type_pairs_are_answered_as_recorded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
