/* mock - the mock server from outside: bytes and events in, bytes and actions out.
 *
 * A correct QWP server by default, a strict judge beside it, and as wrong as its
 * script says. It owns no socket, reads no clock but the one it is given, starts no
 * thread: a transport feeds it. Two transports exist: libwebsockets' raw-socket
 * role (mockserver/lws) and the simulated network (faults/sim, joined in
 * scenarios/runner).
 *
 * Threads: all calls from one thread. Nothing blocks.
 */
#ifndef MOCK_MOCK_H
#define MOCK_MOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/script.h"

struct mock;
struct mock_conn;

/* Time. Monotonic for timers, wall for designated timestamps and SERVER_INFO. */
struct mock_clock {
  void *ctx;
  int64_t (*now_ns)(void *ctx);
  int64_t (*wall_ns)(void *ctx);
};

/* What the mock may do to one connection. `peer` is the transport's own handle,
 * given to mock_accept. None of these calls back into the mock. */
struct mock_transport {
  void *ctx;
  /* Hands n bytes to the socket in one write. Returns bytes taken (0 = full now;
   * mock_writable is called later), or -1 if the connection is gone. */
  long (*write)(void *ctx, void *peer, const uint8_t *p, size_t n);
  void (*shutdown)(void *ctx, void *peer);           /* FIN; reading goes on */
  void (*close)(void *ctx, void *peer);              /* polite end: FIN, read to EOF, release */
  void (*reset)(void *ctx, void *peer);              /* RST, nothing else; release */
  void (*pause)(void *ctx, void *peer, bool paused); /* stop or resume reading */
  void (*wake_at)(void *ctx, int64_t at_ns);         /* call mock_tick then; the earliest counts */
  void (*listen)(void *ctx, bool open);              /* false: refuse connects from now on */
  /* Caps how much one receive pass may take from this peer, 0 = no cap. Used to
   * stop exactly at a byte ("reset at byte B"). */
  void (*limit_read)(void *ctx, void *peer, size_t max_bytes);
  /* Of a transport that is encrypted (mockserver/tls), else NULL: new keys, and a session ticket; at once. */
  void (*key_update)(void *ctx, void *peer);
  void (*ticket)(void *ctx, void *peer);
};

enum mock_rows { MOCK_ROWS_FULL, MOCK_ROWS_DIGEST, MOCK_ROWS_COUNT };
enum mock_journal_level { MOCK_JOURNAL_OFF, MOCK_JOURNAL_SUMMARY, MOCK_JOURNAL_FULL };

struct mock_options {
  struct mock_clock clock;
  struct mock_transport transport;
  const struct mock_script *script; /* borrowed; NULL = a correct server */
  uint64_t seed;                    /* of what rules with a range choose */
  enum mock_rows rows;
  enum mock_journal_level journal;
  bool journal_hex;                 /* payload bytes beside the hashes */
  /* One JSON line without newline, already complete; NULL = none. Written before
   * the reply it speaks of leaves. */
  void (*journal_line)(void *ctx, const char *line, size_t n);
  /* Lines given so far must be where they last: called before an answer leaves, and at the end
   * of a call that wrote lines. NULL = each line lasts as it is given. */
  void (*journal_flush)(void *ctx);
  void *journal_ctx;
  /* The bytes were recorded or written by hand: keys that a client draws at random (Sec-WebSocket-Key, masks) may
   * then come again without being a violation. */
  bool replayed;
};

struct mock *mock_new(const struct mock_options *options); /* NULL = out of memory */
void mock_del(struct mock *m);

/* ---- events from the transport ------------------------------------------------ */
struct mock_conn *mock_accept(struct mock *m, void *peer); /* NULL = refuse it (reset) */
/* One receive pass: these bytes came out of one read. May end the connection (the
 * transport's close or reset was called); then false is returned and the handle is dead. */
bool mock_received(struct mock_conn *c, const uint8_t *p, size_t n);
bool mock_writable(struct mock_conn *c);
void mock_ended(struct mock_conn *c, bool reset); /* peer closed (EOF) or reset; the handle is dead */
void mock_tick(struct mock *m);                   /* timers that are due */

/* The same as a table, for a transport that may have a filter between itself and the mock: `conn` is what accept
 * returned. */
struct mock_events {
  void *ctx;
  void *(*accept)(void *ctx, void *peer);
  bool (*received)(void *conn, const uint8_t *p, size_t n);
  bool (*writable)(void *conn);
  void (*ended)(void *conn, bool reset);
  void (*tick)(void *ctx);
};
struct mock_events mock_events(struct mock *m);

/* ---- what a filter for TLS tells beside (core/secure.c) -------------------------- */

/* The entry of the next ingress connection, which is not known to be one yet; NULL = none. */
const struct mock_entry *mock_next_entry(const struct mock *m);
/* An entry that speaks of TLS rules this connection from its first byte on: it counts as that ingress connection,
 * whatever becomes of its handshake. false: out of memory. */
bool mock_conn_claim(struct mock_conn *c);
/* What the connection's entry does to a handshake has happened. */
void mock_conn_handshake_fired(struct mock_conn *c);
/* The handshake is over: version "1.3", or "" = it failed; and the server name that the client sent, "" = none. Before
 * any byte of plaintext. */
void mock_conn_secured(struct mock_conn *c, const char *version, const char *sni);
/* It ends here, for this cause; the handle is dead. */
void mock_conn_insecure(struct mock_conn *c, const char *how);
/* 0 = it has sent no request head. */
int mock_conn_number(const struct mock_conn *c);
bool mock_conn_is_reader(const struct mock_conn *c);
/* A certificate of the client came with the handshake [TLS-006]. */
void mock_conn_certified(struct mock_conn *c);
/* How the client's direction ended, of a connection that may be long gone: "close_notify" or "truncated". */
void mock_tls_ended(struct mock *m, int number, const char *how);

/* ---- facts -------------------------------------------------------------------- */

/* A thing no client may do, although a server may let it pass. */
struct mock_violation {
  char requirement[24]; /* id of tests/data/requirements.yaml */
  int connection;
  int64_t wire_seq;     /* -1 = outside a message */
  int64_t offset;       /* in the message, or in the request head */
  char text[160];
};

/* Every counter a scenario may name; field `rows_unique` is `srv.rows.unique`. */
#define MOCK_COUNTERS(X) \
  X(conns, "srv.conns", "ingress connections that sent a whole request head") \
  X(readers, "srv.readers", "connections to the reader endpoint") \
  X(unmatched, "srv.unmatched", "connections that ended before a request head") \
  X(attempts, "srv.attempts", "connects refused by script") \
  X(upgrades, "srv.upgrades", "101 answers on ingress") \
  X(refused, "srv.refused", "upgrades refused") \
  X(frames, "srv.frames", "binary messages but dictionary-only ones") \
  X(catchup, "srv.catchup", "dictionary-only messages") \
  X(repeated, "srv.repeated", "of srv.frames, those equal to an earlier one to the byte; 0 unless rows are kept in full") \
  X(dropped, "srv.dropped", "messages consumed silently after an error") \
  X(bytes, "srv.bytes", "payload bytes of binary messages") \
  X(bytes_in, "srv.bytes_in", "bytes received on all connections, request heads and Ping and Close included") \
  X(rows, "srv.rows", "rows made visible") \
  X(rows_unique, "srv.rows.unique", "distinct row ids among them") \
  X(rows_doubled, "srv.rows.doubled", "visible rows whose id was there before") \
  X(rolled_back_rows, "srv.rolled_back_rows", "rows of groups that never committed") \
  X(commits, "srv.commits", "messages that made a row visible, or closed an open group empty") \
  X(oks, "srv.oks", "OK answers") \
  X(errors, "srv.errors", "error answers") \
  X(pings, "srv.pings", "pings received") \
  X(pongs, "srv.pongs", "pongs received") \
  X(closes, "srv.closes", "Close frames received") \
  X(reads, "srv.reads", "receive passes of ingress connections behind the 101") \
  X(writes, "srv.writes", "writes of ingress connections handed to the transport, the 101 and later") \
  X(fired, "srv.fired", "actions of the script that happened") \
  X(violations, "srv.violations", "violations noted")

struct mock_facts {
#define MOCK_COUNTER_FIELD(field, name, help) int64_t field;
  MOCK_COUNTERS(MOCK_COUNTER_FIELD)
#undef MOCK_COUNTER_FIELD
};
void mock_facts(const struct mock *m, struct mock_facts *out);

size_t mock_violation_count(const struct mock *m);
const struct mock_violation *mock_violation_at(const struct mock *m, size_t i);

/* Script rules whose trigger never came, as text "line N: ..."; returns how many. */
size_t mock_unfired(const struct mock *m, void (*each)(void *arg, const char *text), void *arg);

/* Per connection, 1 = the first ingress connection. false = there is no such one. */
struct mock_conn_facts {
  int64_t frames, catchup, dict, oks, errors, bytes_in, rows;
  int64_t next_seq;     /* messages numbered */
  int64_t last_ok;      /* highest sequence told OK, -1 */
  /* How it ended, the first cause: "open" (not yet), "fin" or "reset" (the peer's doing without
   * a Close), "close 1000" (the peer's Close with its code), "close without code", "sent close
   * 1009" (a protocol error answered with Close), "dropped" (one that TCP's end answers),
   * "refused 404" (upgrade), "script reset", "script close 1011", "script fin", "bad request",
   * "head too long", "gone" (a write failed), "out of memory". Over TLS also "tls unknown ca" (the
   * alert with which the client refused the handshake), "handshake failed" (without an alert), "bad
   * record" (bytes that are none), "script handshake die". */
  const char *end;
  const char *pong; /* payload of the last Pong, "" = none came; what is not printable ASCII reads '?' */
  const char *tls;     /* version of TLS: "1.2", "1.3", "" = a plain connection, or no handshake was completed */
  const char *sni;     /* server name that the client sent, "" = none */
  const char *tls_end; /* how the client ended its direction: "close_notify", "truncated", "" = not yet, or plain */
};
bool mock_conn_facts(const struct mock *m, int connection, struct mock_conn_facts *out);

struct mock_tables;
const struct mock_tables *mock_tables(const struct mock *m); /* core/tables.h */

#endif
