/* faults - a layer over any ops: it counts every call and makes planned ones fail.
 *
 * The client is unaware: it gets a struct qwp_ops like any other. Counting and
 * failing are one layer, because a count is only exact where the fault is applied.
 *
 * FAULT_COUNTERS lists the counters with what each counts, exactly: `qwp-scenario --explain` prints it.
 * Calls count as the client makes them, failed and faulted ones too. Bytes behind the
 * 101 in the same recv count in io.bytes_in; the call itself is an upgrade call.
 *
 * The layer finds the end of the upgrade by reading the peer's bytes up to the blank
 * line, and frame boundaries by walking the client's WebSocket headers.
 *
 * Under TLS it sees ciphertext. A connection whose first byte sent is that of a TLS
 * handshake record is opaque: the upgrade, the TLS handshake with it, ends when `opened`
 * is called on the table; from then on every send is data (so io.flush counts each whole
 * one), bytes are bytes of ciphertext, and a rule with `frame` never fits.
 *
 * Connection N is the N-th that this client began and that came to stand: a refused or
 * abandoned dial gives its number back. A rule of client.connect for connection N fits
 * every dial that would become it.
 *
 * A whole fault: any errno of a send or recv but ENOBUFS, ENOMEM, EINTR and EAGAIN ends
 * the connection. ECONNRESET and RST reset it (options.reset), any other shuts our half
 * down (FIN), behind the bytes taken so far. The peer's bytes that had arrived when a
 * send failed are still delivered, then end of stream; later sends fail with EPIPE and
 * waits report ready (CASE-08). A failed recv loses what it has not delivered. Rules do
 * not fit the calls on a connection that is over. ENOBUFS, ENOMEM, EINTR, would-block
 * and a short transfer leave the connection alive.
 *
 * Threads: as ops.h says of each table. Counters may be read from any thread, and are
 * exact when the loop is parked or ended; the trace only then.
 */
#ifndef FAULT_FAULTS_H
#define FAULT_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan.h"
#include "qwp/ops.h"

struct faults;

#define FAULT_COUNTERS(X) \
  X(send, "io.send", "send calls after the 101, but of control frames only") \
  X(recv, "io.recv", "receive calls after the 101") \
  X(ctl_send, "io.ctl_send", "send calls of control frames only") \
  X(hs_send, "io.hs_send", "send calls of upgrades") \
  X(hs_recv, "io.hs_recv", "receive calls of upgrades") \
  X(hs_wait, "io.hs_wait", "waits of connects and upgrades") \
  X(poll_w, "io.poll_w", "waits after the 101 that ask for writable, with or without readable") \
  X(poll_r, "io.poll_r", "waits after the 101 that ask for readable only") \
  X(idle, "io.idle", "waits for a wake and for time only") \
  X(flush, "io.flush", "send calls after the 101 whose last byte was taken, but of control frames only") \
  X(bytes_out, "io.bytes_out", "bytes that sockets took after the 101, control frames included") \
  X(bytes_in, "io.bytes_in", "bytes that sockets gave behind the 101, control frames included") \
  X(hs_bytes_out, "io.hs_bytes_out", "bytes of upgrades that sockets took: with io.bytes_out all that they took") \
  X(connects, "io.connects", "connect calls") \
  X(clock, "clk.now", "clock reads of any kind") \
  X(alloc, "mem.alloc", "allocations made; a realloc is one") \
  X(live, "mem.live", "blocks of memory not yet freed") \
  X(bytes, "mem.bytes", "bytes of blocks not yet freed") \
  X(high_bytes, "mem.high_bytes", "the most bytes of blocks that there were at once") \
  X(open, "net.open", "sockets not yet closed")

struct fault_counters {
#define FAULT_COUNTER_FIELD(field, name, help) int64_t field;
  FAULT_COUNTERS(FAULT_COUNTER_FIELD)
#undef FAULT_COUNTER_FIELD
};

/* One call, for io.trace: "send(100)->40", "again", "poll_w". */
struct fault_trace {
  enum fault_point point;
  unsigned interest;    /* of a wait */
  int connection;
  size_t asked;
  int64_t result;       /* bytes, 0, or -errno */
  int64_t first_frame;  /* first data frame that begins in these bytes, 1-based; 0 = none */
  bool control;
  bool upgrade;
};

struct faults_options {
  const struct qwp_ops *under;      /* borrowed */
  const struct fault_plan *plan;    /* borrowed; NULL = count only */
  uint64_t seed;                    /* of what rules with a range choose: the same seed, the same choices */
  bool trace;                       /* keep the trace */
  /* How to do what a table cannot: make the peer see a reset. NULL = shutdown both ways. */
  void (*reset)(void *ctx, qwp_sock sock);
  void *reset_ctx;
  /* How a delay passes; NULL = a real one. Called by whoever made the call. */
  void (*delay)(void *ctx, int64_t ns);
  void *delay_ctx;
  /* Told of each call on the net table once its result is known, for a journal; NULL = none. Loop's thread. */
  void (*on_call)(void *ctx, const struct fault_trace *call);
  void *on_call_ctx;
};

#define FAULT_TRACE_MAX (1u << 20) /* calls kept */

struct faults *faults_new(const struct faults_options *o); /* options are copied. NULL = out of memory */
void faults_del(struct faults *f);
const struct qwp_ops *faults_ops(struct faults *f); /* hand this to the client */

void faults_counters(const struct faults *f, struct fault_counters *out);
/* Calls of send, recv, wait, connect and close, oldest first. */
size_t faults_trace_count(const struct faults *f);
const struct fault_trace *faults_trace_at(const struct faults *f, size_t i);
/* Calls that found no room or no memory: the trace ends before them. A check that needs
 * the whole trace must see 0 here. */
size_t faults_trace_lost(const struct faults *f);
/* "send(100)->40", "send(60)->again", "recv(65536)->EINTR", "poll_w", "connect->0", "close". */
void fault_trace_text(const struct fault_trace *t, char *out, size_t n);

/* Rules that never fired, or less often than their `times`, as "line N: client.send nth 3 connection 1 EPIPE did not
 * fire (2 such calls were made)" or "... x10 fired 3 of 10 times (3 such calls were made)". each may be NULL.
 * Returns how many. */
size_t faults_unfired(const struct faults *f, void (*each)(void *arg, const char *text), void *arg);
/* How often rule i fired. */
int64_t faults_fired(const struct faults *f, size_t rule);
/* An event that rules may wait for (FAULT_UNTIL). The layer itself says "connected" when
 * a 101 has been read, and "released" in faults_release(). Any thread. */
void faults_event(struct faults *f, const char *name);

/* ---- the gate: hold the loop (threads only; a simulated world just does not step) ----
 * While held, every net call but close and wake blocks at its entry. hold() returns
 * once the loop's thread is parked at the gate, and what it did before is visible to the
 * caller. A loop that sleeps in wait() is woken for it, and takes one turn that finds
 * nothing to do before it parks. If no net call was ever made, there is nothing to wait
 * for: the gate is shut and the loop will park at its first one. Do not hold a loop that
 * has ended, nor make net calls from the thread that holds: both would wait for ever. */
void faults_hold(struct faults *f);
void faults_release(struct faults *f);

#endif
