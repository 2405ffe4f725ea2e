/* sender.h - rows in, acknowledged frames out.
 *
 * A sender owns one connection to a QWP server, a store of frames not yet
 * acknowledged, and the thread that sends them. Its life:
 *
 *     #include <stdio.h>
 *     #include <qwp/sender.h>
 *
 *     int main(void) {
 *       struct qwp_error err;
 *       qwp_sender *s = qwp_sender_create("ws::addr=127.0.0.1:9000;", NULL, &err);
 *       if (!s) { fprintf(stderr, "%s\n", err.text); return 1; }
 *       bool ok = qwp_table(s, "trades", &err) && qwp_symbol(s, "sym", "ETH-USD", &err) &&
 *                 qwp_double(s, "price", 2615.54, &err) && qwp_at_ns(s, 1700000000000000000, &err) &&
 *                 qwp_sender_drain(s, 10000, &err);    // flush, and wait for the server
 *       if (!ok) fprintf(stderr, "%s\n", err.text);
 *       return qwp_sender_close(s, &err) && ok ? 0 : 1;
 *     }
 *
 * Errors. Every fallible call returns false (or NULL) when it fails and fills
 * the optional last argument; a failed call changes nothing that it does not
 * name, and leaves the caller's buffers alone [API-004]. A transport failure is
 * no error of any call: the loop reconnects for ever and replays [RECON-001,
 * RECON-006]. Once the server has refused a frame for good, or the credentials,
 * every call but close, metrics and last_error fails with that same error.
 *
 * Threads. A sender is used by one thread at a time [API-006]. qwp_sender_metrics,
 * qwp_sender_acked_fsn, qwp_sender_published_fsn and qwp_sender_last_error may be
 * called by any thread while the sender lives.
 *
 * Delivery is at least once: frames sent but unacknowledged when a connection
 * breaks are sent again, with the same bytes.
 */
#ifndef QWP_SENDER_H
#define QWP_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qwp/driver.h"
#include "qwp/ops.h"
#include "qwp/status.h"

#define QWP_CLIENT_VERSION "0.1.0"

typedef struct qwp_sender qwp_sender;

enum qwp_log_level { QWP_LOG_DEBUG, QWP_LOG_INFO, QWP_LOG_WARN, QWP_LOG_ERROR };

/* What surrounds a sender. Zeroed = the real world and a thread of the library. */
struct qwp_sender_options {
  const struct qwp_ops *ops;       /* borrowed for the sender's life; NULL = POSIX */
  const struct qwp_driver *driver; /* borrowed likewise; NULL = a thread */
  /* Diagnostics, one line without newline, from any thread; NULL = warnings and errors go to
   * stderr as "qwp: line" [OBS-002]. */
  void (*log)(void *ctx, enum qwp_log_level level, const char *line);
  void *log_ctx;
  bool dense_dictionary; /* every frame carries the dictionary from id 0, as some clients do */
};

/* Parses `config` ("ws::addr=host:port;key=value;", with TLS "wss::..."), connects as
 * initial_connect_retry says, and returns a sender that qwp_sender_close frees.
 * NULL on failure: QWP_CONFIG (before any traffic; err->key names the key),
 * QWP_CONNECT, QWP_ROLE, QWP_AUTH, QWP_NOMEM. opt may be NULL. */
QWP_API qwp_sender *qwp_sender_create(const char *config, const struct qwp_sender_options *opt,
                                      struct qwp_error *err);

/* Ends the sender, whatever happens: cancels an open row, flushes pending rows, waits
 * up to close_flush_timeout_millis until everything published is acknowledged, sends
 * Close [CLOSE-001], ends the thread. false: QWP_TIMEOUT (the rest is lost in memory
 * mode), a terminal error that no call has reported yet, the codes of qwp_sender_flush for
 * rows that could not be flushed, or QWP_MISUSE if a row was open. Afterwards only metrics,
 * the FSN marks, last_error and free are left; a second stop does nothing and returns true.
 * One thing has no bound: while the thread is inside the system's name resolution, which
 * nothing can interrupt, stop waits for it. Numeric addresses are never looked up. */
QWP_API bool qwp_sender_stop(qwp_sender *s, struct qwp_error *err);

/* Releases the sender; one that was not stopped is dropped without a flush, a wait or
 * a Close. NULL is fine. */
QWP_API void qwp_sender_free(qwp_sender *s);

/* qwp_sender_stop, then qwp_sender_free. NULL is fine. */
QWP_API bool qwp_sender_close(qwp_sender *s, struct qwp_error *err);

/* ---- rows --------------------------------------------------------------------
 * A row is: qwp_table, then columns in any order, then one of qwp_at_*. Text is
 * UTF-8; the NUL-terminated forms are shorthands for the _n forms. A column set
 * twice in a row keeps its first value. A column not set is null. On an error the
 * open row stays as it was before the call. Codes: QWP_NAME, QWP_TYPE, QWP_VALUE,
 * QWP_MISUSE, QWP_NOMEM, QWP_DICT_FULL, QWP_TOO_LARGE (a symbol that no message could
 * hold, more tables, columns or rows than a message may have), and a latched terminal error.
 */
QWP_API bool qwp_table(qwp_sender *s, const char *name, struct qwp_error *err);
QWP_API bool qwp_table_n(qwp_sender *s, const char *name, size_t n, struct qwp_error *err);

QWP_API bool qwp_bool(qwp_sender *s, const char *column, bool v, struct qwp_error *err);
QWP_API bool qwp_long(qwp_sender *s, const char *column, int64_t v, struct qwp_error *err);
QWP_API bool qwp_double(qwp_sender *s, const char *column, double v, struct qwp_error *err);
QWP_API bool qwp_symbol(qwp_sender *s, const char *column, const char *v, struct qwp_error *err);
QWP_API bool qwp_symbol_n(qwp_sender *s, const char *column, const char *v, size_t n, struct qwp_error *err);
QWP_API bool qwp_varchar(qwp_sender *s, const char *column, const char *v, struct qwp_error *err);
QWP_API bool qwp_varchar_n(qwp_sender *s, const char *column, const char *v, size_t n, struct qwp_error *err);
QWP_API bool qwp_timestamp_us(qwp_sender *s, const char *column, int64_t us, struct qwp_error *err);
QWP_API bool qwp_timestamp_ns(qwp_sender *s, const char *column, int64_t ns, struct qwp_error *err);
/* Names a column of wire type `type` (QWP_TYPE_*) without giving it a value. */
QWP_API bool qwp_null(qwp_sender *s, const char *column, unsigned type, struct qwp_error *err);

/* Ends the row: designated timestamp in the unit named (negative: QWP_VALUE), or
 * the server's clock for _now. May flush afterwards, as the auto_flush_* keys say; then
 * the codes of qwp_sender_flush apply too, and the row is kept: qwp_sender_metrics counts
 * it in snd_rows, do not append it again. A row that does not fit into the message of the
 * rows before it flushes them first, unless auto_flush_bytes=off or all triggers are off;
 * if that fails the row stays open: end it again, or cancel it. QWP_TOO_LARGE for a row
 * that no message could hold: it is taken back, the rows before it are kept [CAP-006]. */
QWP_API bool qwp_at_us(qwp_sender *s, int64_t us, struct qwp_error *err);
QWP_API bool qwp_at_ns(qwp_sender *s, int64_t ns, struct qwp_error *err);
QWP_API bool qwp_at_now(qwp_sender *s, struct qwp_error *err);

/* Takes back the open row, columns and symbols first seen in it included. Without one: no
 * effect. */
QWP_API void qwp_cancel_row(qwp_sender *s);

/* ---- shipping ------------------------------------------------------------------ */

/* Encodes the pending rows into one message and publishes it to the store; returns
 * when it is there, not when the server has it [SEND-001]. *fsn (optional) is the
 * frame's number, or -1 when there was nothing to flush. Blocks while the store is
 * full, up to sf_append_deadline_millis: QWP_BACKPRESSURE, rows kept. QWP_TOO_LARGE:
 * the message exceeds the server's cap or a segment, rows kept; it can be so where the
 * application sizes the messages (auto_flush_bytes=off), or when another server takes less
 * than the one before. Until a server takes them, or they are discarded, so ends every
 * flush. QWP_MISUSE: a row is open. */
QWP_API bool qwp_sender_flush(qwp_sender *s, int64_t *fsn, struct qwp_error *err);

/* Drops the rows that are not flushed, and takes back an open one; what is published stays.
 * Returns how many finished rows were dropped. The way out when they cannot be flushed; the
 * application has their values, if anybody. In any state of the sender. */
QWP_API int64_t qwp_sender_discard_pending(qwp_sender *s);

/* Flushes, then waits until everything published is acknowledged. timeout_ms is a
 * deadline without progress, not a total [API-002]; 0 waits for ever. QWP_TIMEOUT
 * leaves everything queued. */
QWP_API bool qwp_sender_drain(qwp_sender *s, int64_t timeout_ms, struct qwp_error *err);

QWP_API int64_t qwp_sender_published_fsn(const qwp_sender *s); /* highest, -1 = none */
QWP_API int64_t qwp_sender_acked_fsn(const qwp_sender *s);     /* highest, -1 = none */
QWP_API bool qwp_sender_was_connected(const qwp_sender *s);    /* [INIT-005] */

/* ---- what it has done ------------------------------------------------------------ */

/* Every number the library counts, by the names that scenarios use: the struct
 * field `loop_sent` is the counter `loop.sent`. QWP_METRICS lists them all once. */
#define QWP_METRICS(X) \
  X(snd_rows, "snd.rows", "rows finished by qwp_at_*") \
  X(snd_pending_rows, "snd.pending_rows", "rows not yet flushed") \
  X(snd_pending_bytes, "snd.pending_bytes", "size of the message they would make, without header and dictionary") \
  X(snd_flushes, "snd.flushes", "flush calls of the application") \
  X(snd_frames, "snd.frames", "messages encoded and published") \
  X(snd_symbols, "snd.symbols", "symbols in the dictionary") \
  X(snd_stalls, "snd.stalls", "calls that had to wait for room in the store") \
  X(snd_latched, "snd.latched", "1 once a terminal error is latched") \
  X(clk_row, "clk.row", "clock reads on the row path") \
  X(ring_published, "ring.published", "highest FSN in the store, -1 = none") \
  X(ring_acked, "ring.acked", "highest FSN acknowledged, -1 = none") \
  X(ring_bytes, "ring.bytes", "bytes of segments held") \
  X(loop_sent, "loop.sent", "data frames whose flush completed") \
  X(loop_replayed, "loop.replayed", "of these, frames that had been sent before") \
  X(loop_acks, "loop.acks", "OK answers read") \
  X(loop_acks_clamped, "loop.acks_clamped", "OK answers beyond the last frame sent") \
  X(loop_nacks, "loop.nacks", "error answers read") \
  X(loop_attempts, "loop.attempts", "connection attempts begun") \
  X(loop_connects, "loop.connects", "upgrades completed") \
  X(loop_reconnects, "loop.reconnects", "upgrades completed after the first") \
  X(loop_strikes, "loop.strikes", "strikes against the head frame") \
  X(loop_catchup, "loop.catchup", "dictionary frames sent") \
  X(loop_next_seq, "loop.next_seq", "wireSeq of the next frame on this connection") \
  X(loop_replay_target, "loop.replay_target", "FSN up to which sending counts as replay, -1 = none") \
  X(loop_wakes, "loop.wakes", "times a producer woke the loop") \
  X(loop_steps, "loop.steps", "turns of the loop") \
  X(tx_cap, "tx.cap", "65536: wire bytes in one write of several frames") \
  X(tx_capacity, "tx.capacity", "size of the send buffer") \
  X(tx_batches, "tx.batches", "batches handed to the socket") \
  X(tx_max_batch, "tx.max_batch", "wire bytes of the largest batch of several frames") \
  X(tx_copied_bytes, "tx.copied_bytes", "payload bytes copied (and masked) into the send buffer") \
  X(rx_capacity, "rx.capacity", "size of the receive buffer") \
  X(rx_grows, "rx.grows", "times it grew") \
  X(rx_moves, "rx.moves", "compactions") \
  X(rx_moved_bytes, "rx.moved_bytes", "bytes moved by them") \
  X(rx_pings, "rx.pings", "pings answered")

struct qwp_metrics {
#define QWP_METRIC_FIELD(field, name, help) int64_t field;
  QWP_METRICS(QWP_METRIC_FIELD)
#undef QWP_METRIC_FIELD
};

/* A snapshot; each number is exact, together they may be a step apart. */
QWP_API void qwp_sender_metrics(const qwp_sender *s, struct qwp_metrics *out);

/* The latched terminal error; false if there is none. */
QWP_API bool qwp_sender_last_error(const qwp_sender *s, struct qwp_error *out);

#endif
