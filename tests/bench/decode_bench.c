/* decode_bench - what a message costs the mock, before any socket.
 *
 * The messages are the payloads of the 36-byte frames that the throughput goal is stated in: table
 * `t`, LONG column `i`, one row, an empty delta section; ids rise, as a workload's do. Each line is
 * the best of several rounds over all messages, so that it names the work and not the neighbours.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/decode.h"
#include "core/dict.h"
#include "core/tables.h"
#include "qwp/wire.h"

#define MESSAGES 1000000u
#define MESSAGE_BYTES 30u
#define ROUNDS 7

static const struct mock_limits limits = {
  .max_rows = QWP_MAX_ROWS, .max_columns = QWP_MAX_COLUMNS, .max_symbols = QWP_MAX_SYMBOLS_DOC, .gap_is_error = true};

struct bench {
  struct mock_decoder *decoder;
  struct mock_dict *dict;
  struct mock_pending *pending; /* NULL = decode only */
  size_t rows;
};

static bool on_block(void *ctx, const struct mock_block *block, struct mock_decode_error *err) {
  struct bench *b = ctx;
  b->rows += block->rows;
  return !b->pending || mock_tables_append(b->pending, block, b->dict, 1, 0, 0, err);
}

static void on_violation(void *ctx, const char *requirement, size_t offset, const char *text) {
  (void)ctx;
  fprintf(stderr, "decode_bench: violation %s at %zu: %s\n", requirement, offset, text);
  exit(1);
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint8_t *prebuilt(void) {
  static const uint8_t head[22] = {'Q', 'W', 'P', '1', 1, QWP_FLAG_DELTA, 1, 0, 18, 0, 0, 0,
                                   0, 0, 1, 't', 1, 1, 1, 'i', QWP_TYPE_LONG, 0};
  uint8_t *all = malloc((size_t)MESSAGES * MESSAGE_BYTES);
  if (!all) abort();
  for (size_t i = 0; i < MESSAGES; i++) {
    uint8_t *p = all + i * MESSAGE_BYTES;
    memcpy(p, head, sizeof head);
    for (unsigned k = 0; k < 8; k++) p[22 + k] = (uint8_t)((uint64_t)i >> (8 * k));
  }
  return all;
}

/* One round: every message decoded, appended and committed on a fresh store. */
static int64_t round_ns(const uint8_t *all, const enum mock_rows *level) {
  struct mock_tables *tables = level ? mock_tables_new(*level) : NULL;
  struct bench b = {.decoder = mock_decoder_new(), .dict = mock_dict_new(),
                    .pending = tables ? mock_pending_new(tables) : NULL};
  const struct mock_decode_sink sink = {.ctx = &b, .on_block = on_block, .on_violation = on_violation};
  struct mock_message msg;
  struct mock_decode_error err;
  const int64_t start = now_ns();
  for (size_t i = 0; i < MESSAGES; i++) {
    const uint8_t *p = all + i * MESSAGE_BYTES;
    if (!mock_decode(b.decoder, b.dict, &limits, p, MESSAGE_BYTES, &sink, &msg, &err)) abort();
    if (b.pending) mock_tables_commit(b.pending, NULL, NULL);
  }
  const int64_t spent = now_ns() - start;
  if (b.rows != MESSAGES || (tables && mock_table_rows(tables, 0) != MESSAGES)) abort();
  if (level && *level != MOCK_ROWS_COUNT && mock_tables_unique(tables) != MESSAGES) abort();
  mock_pending_del(b.pending);
  mock_tables_del(tables);
  mock_dict_del(b.dict);
  mock_decoder_del(b.decoder);
  return spent;
}

static int usage(FILE *out, int code) {
  fprintf(out, "usage: decode_bench [--json FILE]\n"
               "Prints nanoseconds a message for %u prebuilt messages of %u bytes (36 bytes as a masked frame):\n"
               "decoding alone, and decoding with the row appended and committed at each level.\n",
          MESSAGES, MESSAGE_BYTES);
  return code;
}

int main(int argc, char **argv) {
  const char *json = NULL;
  if (argc == 2 && strcmp(argv[1], "--help") == 0) return usage(stdout, 0);
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    puts("decode_bench " QWPKIT_VERSION);
    return 0;
  }
  if (argc == 3 && strcmp(argv[1], "--json") == 0) json = argv[2];
  else if (argc != 1) return usage(stderr, 2);

  static const enum mock_rows digest = MOCK_ROWS_DIGEST, count = MOCK_ROWS_COUNT, full = MOCK_ROWS_FULL;
  static const struct {
    const char *name, *key;
    const enum mock_rows *level;
  } lines[] = {{"decode only", "decode", NULL},
               {"decode + digest + commit", "digest", &digest},
               {"decode + count + commit", "count", &count},
               {"decode + full + commit", "full", &full}};
  FILE *out = json ? fopen(json, "w") : NULL;
  if (json && !out) {
    perror(json);
    return 3;
  }
  enum { LINES = sizeof lines / sizeof *lines };
  int64_t best[LINES];
  uint8_t *all = prebuilt();
  /* Interleaved, so that a slow second of the machine does not fall on one line alone. */
  for (int i = 0; i < ROUNDS; i++) {
    for (size_t line = 0; line < LINES; line++) {
      const int64_t spent = round_ns(all, lines[line].level);
      if (i == 0 || spent < best[line]) best[line] = spent;
    }
  }
  free(all);

  printf("%-34s %12s %14s\n", "30-byte messages (36-byte frames)", "ns/message", "M messages/s");
  if (out) fprintf(out, "{\"messages\": %u, \"message_bytes\": %u", MESSAGES, MESSAGE_BYTES);
  for (size_t line = 0; line < LINES; line++) {
    const double ns = (double)best[line] / MESSAGES;
    printf("%-34s %12.1f %14.1f\n", lines[line].name, ns, 1000.0 / ns);
    if (out) fprintf(out, ", \"%s_ns\": %.2f", lines[line].key, ns);
  }
  if (out) fprintf(out, "}\n");
  return out && fclose(out) != 0 ? 3 : 0;
}
