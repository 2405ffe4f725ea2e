/* journal - what happened, one JSON object a line, built by hand into one small buffer.
 *
 * The first line is the header; every other line begins alike:
 *
 *   {"journal":"qwp-mock","version":1,"profile":"doc","rows":"full","level":"full"}
 *   {"t_ns":12,"side":"srv","conn":1,"link":1,"event":"frame","seq":0,"flags":12,...}
 *
 * conn is the number of the ingress connection (0: none, not yet or a reader), reader
 * stands in its place for a reader, link counts accepted sockets. A line is handed over
 * before the reply it speaks of is written to the transport.
 *
 * Events: accept, upgrade, refuse, frame, reply, ping, pong, close, end, violation, rule,
 * listen. Level summary leaves out frame, reply, ping and pong.
 */
#ifndef MOCK_JOURNAL_H
#define MOCK_JOURNAL_H

#include "core/mock.h"
#include "core/out.h"

struct mock_journal {
  void (*line)(void *ctx, const char *line, size_t n);
  void (*flush)(void *ctx);
  void *ctx;
  enum mock_journal_level level;
  bool hex;
  bool unflushed; /* lines were given since the last flush */
  struct mock_out buffer;
};

/* Where a line belongs. */
struct mock_journal_place {
  int64_t t_ns;
  int number;  /* connection or reader; 0 = none */
  bool reader;
  int64_t link;
};

void mock_journal_init(struct mock_journal *j, const struct mock_options *o);
void mock_journal_free(struct mock_journal *j);

/* What every line begins with. */
void mock_journal_head(struct mock_journal *j, const struct mock_journal_place *at, const char *event);

/* Begins a line; false = it is not wanted (then nothing else may be called). detail:
 * the event belongs to level full only. */
static inline bool mock_journal_begin(struct mock_journal *j, const struct mock_journal_place *at, const char *event,
                                      bool detail) {
  if (j->level == MOCK_JOURNAL_OFF || (detail && j->level != MOCK_JOURNAL_FULL)) return false;
  mock_journal_head(j, at, event);
  return true;
}
static inline void mock_journal_key(struct mock_journal *j, const char *key) {
  mock_out_put(&j->buffer, ",\"", 2);
  mock_out_text(&j->buffer, key);
  mock_out_put(&j->buffer, "\":", 2);
}
static inline void mock_journal_int(struct mock_journal *j, const char *key, int64_t v) {
  mock_journal_key(j, key);
  mock_out_decimal(&j->buffer, v);
}
void mock_journal_text(struct mock_journal *j, const char *key, const char *s, size_t n); /* escaped; any bytes */
void mock_journal_string(struct mock_journal *j, const char *key, const char *s);         /* NULL: nothing written */
void mock_journal_hash(struct mock_journal *j, const char *key, uint64_t hash);           /* 16 hex digits */
void mock_journal_bytes(struct mock_journal *j, const char *key, const uint8_t *p, size_t n); /* hex */
void mock_journal_end(struct mock_journal *j);
void mock_journal_flush(struct mock_journal *j);

/* s[0..n) as a JSON string, quotes included. Bytes that are no UTF-8 appear as U+00XX. */
void mock_json_string(struct mock_out *o, const char *s, size_t n);

#endif
