/* Messages that other clients wrote, decoded to the values their authors state.
 *
 * The hex files of wire/ come from the clients' own tests and are read beside the project, where they are;
 * exchange files are recordings of released clients and carry the rows that the real server held
 * afterwards. What waits for a decoder (Gorilla bodies, types that the mock does not read) is counted and
 * printed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>

#include "golden.h"
#include "mock_kit.h"

#define T_NS INT64_C(1700000000000000000)

/* ---- wire ----------------------------------------------------------------------------- */

struct wire_case {
  const char *file;
  const char *known;   /* dictionary before the message, one text */
  unsigned flags, dict_start, dict_count;
  const char *table, *columns; /* "name TYPE, ..." as rendered here */
  const char *rows[10];
};

#define REPLAY_ROWS                                                                                   \
  {"[\"SYM_000\", 0, 100.0, \"2023-11-14T22:13:20.000000000Z\"]",                                     \
   "[\"SYM_001\", 1, 101.0, \"2023-11-14T22:13:20.000000001Z\"]",                                     \
   "[\"SYM_002\", 2, 102.0, \"2023-11-14T22:13:20.000000002Z\"]",                                     \
   "[\"SYM_003\", 3, 103.0, \"2023-11-14T22:13:20.000000003Z\"]",                                     \
   "[\"SYM_004\", 4, 104.0, \"2023-11-14T22:13:20.000000004Z\"]",                                     \
   "[\"SYM_005\", 5, 105.0, \"2023-11-14T22:13:20.000000005Z\"]",                                     \
   "[\"SYM_006\", 6, 106.0, \"2023-11-14T22:13:20.000000006Z\"]",                                     \
   "[\"SYM_007\", 7, 107.0, \"2023-11-14T22:13:20.000000007Z\"]",                                     \
   "[\"SYM_008\", 8, 108.0, \"2023-11-14T22:13:20.000000008Z\"]",                                     \
   "[\"SYM_009\", 9, 109.0, \"2023-11-14T22:13:20.000000009Z\"]"}
#define REPLAY_COLUMNS "sym 09, qty 05, px 07, timestamp 10"

static const struct wire_case wire_cases[] = {
  {"java-replay-first", NULL, 0x08, 0, 10, "trades", REPLAY_COLUMNS, REPLAY_ROWS},
  {"m0-equivalent-buffer", NULL, 0x08, 0, 10, "trades", REPLAY_COLUMNS, REPLAY_ROWS},
  {"m0-equivalent-chunk", NULL, 0x08, 0, 10, "trades", REPLAY_COLUMNS, REPLAY_ROWS},
  {"java-replay-second", NULL, 0x08, 0, 10, "trades", REPLAY_COLUMNS,
   {"[\"SYM_009\", 99, 999.5, \"2023-11-14T22:13:20.000001000Z\"]"}},
  {"go-fixed-width", NULL, 0x0C, 0, 0, "t", "a 05, b 07, timestamp 0a",
   {"[1, 1.5, \"<now>\"]", "[2, 2.5, \"<now>\"]"}},
  {"go-delta-dict", "AAPL", 0x0C, 1, 2, "trades", "sym 09, timestamp 0a",
   {"[\"AAPL\", \"<now>\"]", "[\"GOOG\", \"<now>\"]"}},
  {"net-sensors", NULL, 0x0C, 0, 0, "sensors", "id 05, value 07, timestamp 0a",
   {"[1, 1.3, \"1970-01-01T02:46:40.000000Z\"]", "[2, 2.2, \"1970-01-01T00:00:00.400000Z\"]"}},
};

static void columns_text(const struct kit *k, size_t table, char *out, size_t size) {
  size_t n = 0;
  for (size_t i = 0; i < mock_table_columns(k->tables, table); i++) {
    uint8_t type;
    const char *name = mock_table_column(k->tables, table, i, &type);
    n += (size_t)snprintf(out + n, size - n, "%s%s %02x", i ? ", " : "", name, type);
  }
}

static void check_wire(const struct wire_case *c, const uint8_t *bytes, size_t n) {
  struct kit k;
  char text[512];
  size_t table;
  kit_open(&k, MOCK_ROWS_FULL);
  if (c->known) assert_int_equal(mock_dict_set(k.dict, 0, c->known, strlen(c->known)), 0);
  if (!kit_message(&k, bytes, n)) fail_msg("%s: offset %zu: %s", c->file, k.err.offset, k.err.text);
  assert_int_equal(k.msg.flags, c->flags);
  assert_int_equal(k.msg.table_count, 1);
  assert_int_equal(k.msg.dict_start, c->dict_start);
  assert_int_equal(k.msg.dict_count, c->dict_count);
  assert_int_equal(k.violation_count, 0);
  assert_true(mock_table_find(k.tables, c->table, strlen(c->table), &table));
  columns_text(&k, table, text, sizeof text);
  assert_string_equal(text, c->columns);
  size_t rows = 0;
  for (; rows < 10 && c->rows[rows]; rows++) {
    kit_row(&k, table, rows, text, sizeof text);
    assert_string_equal(text, c->rows[rows]);
  }
  assert_int_equal(mock_table_rows(k.tables, table), rows);
  kit_close(&k);
}

static void wire_files_decode_to_the_stated_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof wire_cases / sizeof *wire_cases; i++) {
    char path[512];
    size_t n = 0;
    snprintf(path, sizeof path, REFERENCE_DATA "/wire/%s.hex", wire_cases[i].file);
    uint8_t *bytes = golden_hex_file(path, &n);
    if (!bytes) {
      print_message("not run: reference bytes not here\n");
      skip();
    }
    check_wire(&wire_cases[i], bytes, n);
    free(bytes);
  }
}

/* ---- exchanges --------------------------------------------------------------------------- */

/* The "# table:" lines of a recording. */
struct recorded_table {
  char name[64];
  size_t rows, designated;
  char *columns;
  char *lines[32];
  size_t line_count;
};

struct recording {
  const char *file;
  struct golden_exchange x;
  struct recorded_table tables[4];
  size_t table_count;
  bool real_server, client_cut, precreated;
};

static void read_table_line(struct recording *r, const char *line) {
  struct recorded_table *t = &r->tables[r->table_count ? r->table_count - 1 : 0];
  if (line[0] == '[' && r->table_count > 0 && t->line_count < 32) {
    t->lines[t->line_count++] = golden_copy(line);
    return;
  }
  const char *columns = strstr(line, " columns: "), *designated = strstr(line, " ; designated="),
             *rows = strstr(line, " ; rows=");
  if (!columns || !designated || !rows) return; /* "does not exist", "none", lengths of binaries */
  assert_true(r->table_count < 4);
  t = &r->tables[r->table_count++];
  snprintf(t->name, sizeof t->name, "%.*s", (int)(columns - line), line);
  t->columns = strndup(columns + 10, (size_t)(designated - columns - 10));
  t->designated = strtoul(designated + 14, NULL, 10);
  t->rows = strtoul(rows + 8, NULL, 10);
}

static void read_recording(struct recording *r, const char *path, const char *file) {
  *r = (struct recording){.file = file};
  size_t n;
  char *text = golden_slurp(path, &n);
  assert_non_null(text);
  bool client = false;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    if (strncmp(line, "# table: ", 9) == 0) read_table_line(r, line + 9);
    if (strncmp(line, "# server: real", 14) == 0) r->real_server = true;
    if (strstr(line, "pre-created") || strncmp(line, "# setup: create table", 21) == 0) r->precreated = true;
    if (strncmp(line, "## ", 3) == 0) client = strncmp(line, "## client: frames", 17) == 0;
    if (client && strncmp(line, "# cut here", 10) == 0) r->client_cut = true;
  }
  free(text);
  assert_true(golden_exchange_load(&r->x, path));
}

static void free_recording(struct recording *r) {
  for (size_t i = 0; i < r->table_count; i++) {
    free(r->tables[i].columns);
    for (size_t j = 0; j < r->tables[i].line_count; j++) free(r->tables[i].lines[j]);
  }
  golden_exchange_free(&r->x);
}

static unsigned sql_type(const char *name, size_t n) {
  static const struct { const char *name; unsigned type; } types[] = {
    {"SYMBOL", 0x09}, {"DOUBLE", 0x07}, {"LONG", 0x05}, {"TIMESTAMP", 0x0A}, {"TIMESTAMP_NS", 0x10}};
  for (size_t i = 0; i < 5; i++)
    if (strlen(types[i].name) == n && strncmp(types[i].name, name, n) == 0) return types[i].type;
  return 0;
}

/* create table, by a block without rows */
static void precreate(struct kit *k, const struct recorded_table *t) {
  struct kit_bytes b;
  size_t count = 1, at = 0;
  for (const char *p = t->columns; *p; p++) count += *p == ',';
  kit_begin(&b, QWP_FLAG_DELTA, 1);
  kit_delta(&b, 0, "");
  kit_block(&b, t->name, 0, count);
  for (const char *p = t->columns; *p; at++) {
    const size_t name_n = strcspn(p, " ");
    const char *type = p + name_n + 1;
    const size_t type_n = strcspn(type, ",");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)name_n, p);
    kit_define(&b, at == t->designated ? "" : name, sql_type(type, type_n));
    p = type + type_n + (type[type_n] ? 2 : 0);
  }
  for (size_t i = 0; i < count; i++) kit_u8(&b, 0);
  if (!kit_send(k, &b)) fail_msg("cannot create %s: %s", t->name, k->err.text);
}

/* The first error answer of the server on a connection, or NULL. */
static const struct golden_frame *server_error(const struct recording *r, int connection) {
  for (size_t i = 0; i < r->x.count; i++) {
    const struct golden_frame *f = &r->x.frames[i];
    if (f->connection == connection && !f->from_client && f->opcode == 2 && f->len >= 11 && f->payload[0] != 0 &&
        f->payload[0] != QWP_ST_DURABLE_ACK && f->payload[0] != QWP_KIND_SERVER_INFO)
      return f;
  }
  return NULL;
}

static void check_refusal(const struct recording *r, const struct kit *k, int connection, int64_t seq) {
  const struct golden_frame *e = server_error(r, connection);
  if (!r->real_server || !e) fail_msg("%s: message %" PRId64 " refused: %s", r->file, seq, k->err.text);
  char text[512];
  snprintf(text, sizeof text, "%.*s", (int)(e->len - 11), (const char *)e->payload + 11);
  assert_int_equal(k->err.status, e->payload[0]);
  assert_int_equal(seq, e->payload[1]);
  assert_string_equal(k->err.text, text);
}

struct tally {
  size_t files, messages, rows, waits;
  char waiting[1024];
};

static size_t recorded_refusals(const struct recording *r) {
  size_t n = 0;
  for (int connection = 1; connection <= 8 && r->real_server; connection++) n += server_error(r, connection) != NULL;
  return n;
}

/* Replays the client's messages; after a refusal the connection is deaf. False: one waits. */
static bool replay(const struct recording *r, struct kit *k, struct tally *tally) {
  int connection = 0, deaf = 0;
  size_t refusals = 0;
  bool complete = true;
  for (size_t i = 0; i < r->x.count; i++) {
    const struct golden_frame *f = &r->x.frames[i];
    if (!f->from_client || f->opcode != 2 || f->connection == deaf) continue;
    if (f->connection != connection) kit_reconnect(k);
    connection = f->connection;
    const int64_t seq = k->wire_seq;
    if (kit_message(k, f->payload, f->len)) {
      tally->messages++;
      continue;
    }
    deaf = connection;
    if (strstr(k->err.text, "not supported by this mock")) {
      tally->waits++;
      complete = false;
    } else {
      check_refusal(r, k, connection, seq);
      refusals++;
    }
  }
  if (complete) assert_int_equal(refusals, recorded_refusals(r));
  return complete;
}

/* ---- rows: what the server held, or the rule of the workload ------------------------------ */

static int64_t designated_value(const struct kit *k, size_t table, size_t row) {
  struct mock_value v[64];
  assert_true(mock_table_row(k->tables, table, row, v, NULL, NULL));
  return v[mock_table_designated(k->tables, table)].as.i;
}

/* Row numbers in the order SQL returns them: by designated timestamp, then as they came. */
static size_t *sorted_rows(const struct kit *k, size_t table) {
  const size_t n = mock_table_rows(k->tables, table);
  size_t *order = calloc(n + 1, sizeof *order);
  for (size_t i = 0; i < n; i++) {
    size_t at = i;
    for (; at > 0 && designated_value(k, table, order[at - 1]) > designated_value(k, table, i); at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  return order;
}

static void check_table(const struct recording *r, const struct recorded_table *t, const struct kit *k) {
  size_t table;
  char text[1024];
  if (!mock_table_find(k->tables, t->name, strlen(t->name), &table)) fail_msg("%s: no table %s", r->file, t->name);
  assert_int_equal(mock_table_designated(k->tables, table), t->designated);
  const size_t rows = mock_table_rows(k->tables, table);
  if (!r->client_cut) assert_int_equal(rows, t->rows);
  size_t *order = sorted_rows(k, table);
  for (size_t i = 0; i < t->line_count && i < rows; i++) {
    kit_row(k, table, order[i], text, sizeof text);
    if (strcmp(text, t->lines[i]) != 0) fail_msg("%s: row %zu is %s, recorded %s", r->file, i, text, t->lines[i]);
  }
  free(order);
}

static size_t column_index(const struct kit *k, size_t table, const char *name) {
  for (size_t i = 0; i < mock_table_columns(k->tables, table); i++)
    if (strcmp(mock_table_column(k->tables, table, i, NULL), name) == 0) return i;
  fail_msg("no column %s", name);
  return 0;
}

/* Row i of a fault case: device dev<i&15>, temp 20+(i%100)*0.25, n=i, T + i us. */
static void check_rule(const struct recording *r, const struct kit *k) {
  size_t table;
  if (!mock_table_find(k->tables, "sensors", 7, &table)) return;
  const size_t device = column_index(k, table, "device"), temp = column_index(k, table, "temp"),
               n = column_index(k, table, "n"), at = mock_table_designated(k->tables, table);
  for (size_t row = 0; row < mock_table_rows(k->tables, table); row++) {
    struct mock_value v[64];
    char name[16];
    assert_true(mock_table_row(k->tables, table, row, v, NULL, NULL));
    const int64_t i = v[n].as.i;
    snprintf(name, sizeof name, "dev%d", (int)(i & 15));
    if (v[device].as.text.n != strlen(name) || memcmp(v[device].as.text.p, name, strlen(name)) != 0 ||
        v[temp].as.d != 20 + (double)(i % 100) * 0.25 || v[at].as.i != T_NS + i * 1000)
      fail_msg("%s: row %zu does not follow the rule", r->file, row);
  }
}

static void check_recording(const char *path, const char *file, struct tally *tally) {
  struct recording r;
  struct kit k;
  read_recording(&r, path, file);
  kit_open(&k, MOCK_ROWS_FULL);
  k.limits.gap_is_error = false; /* the recorded server is that of July */
  if (r.precreated)
    for (size_t i = 0; i < r.table_count; i++) precreate(&k, &r.tables[i]);
  tally->files++;
  if (replay(&r, &k, tally)) {
    for (size_t i = 0; i < r.table_count; i++) check_table(&r, &r.tables[i], &k);
    if (!r.real_server) check_rule(&r, &k);
  } else {
    const size_t n = strlen(tally->waiting);
    snprintf(tally->waiting + n, sizeof tally->waiting - n, " %s", file);
  }
  for (size_t i = 0; i < mock_table_count(k.tables); i++) tally->rows += mock_table_rows(k.tables, i);
  kit_close(&k);
  free_recording(&r);
}

static void recordings_decode_to_the_rows_the_server_held(void **state) {
  (void)state;
  const char *folder = TEST_DATA "/exchange";
  DIR *dir = opendir(folder);
  if (!dir) dir = opendir(folder = REFERENCE_DATA "/exchange");
  assert_non_null(dir);
  struct tally tally = {0};
  for (struct dirent *e; (e = readdir(dir));) {
    const char *dot = strrchr(e->d_name, '.');
    if (!dot || strcmp(dot, ".txt") != 0 || strncmp(e->d_name, "egress", 6) == 0) continue;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    check_recording(path, e->d_name, &tally);
  }
  closedir(dir);
  print_message("%zu files, %zu messages decoded, %zu rows\n", tally.files, tally.messages, tally.rows);
  print_message("waits: %zu messages of these files:%s\n", tally.waits, tally.waiting);
  assert_int_equal(tally.files, 56);
  assert_int_equal(tally.messages, 498);
  assert_int_equal(tally.waits, 13);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(wire_files_decode_to_the_stated_rows),
    cmocka_unit_test(recordings_decode_to_the_rows_the_server_held),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
