/* faults - a layer over any ops: it counts every call and makes planned ones fail.
 *
 * The client is unaware: it gets a struct qwp_ops like any other. Counting and
 * failing are one layer, because a count is only exact where the fault is applied.
 *
 * Counters, as the scenarios name them (each exact):
 *   io.send, io.recv      calls that reach the socket table after the 101, but control frames
 *   io.ctl_send           sends of control frames only
 *   io.hs_send, io.hs_recv the upgrade's own calls
 *   io.poll_w             waits that ask for writable (with or without readable)
 *   io.poll_r             waits that ask for readable only, while a connection is open
 *   io.idle               waits for wake and time only
 *   io.bytes_out, io.bytes_in  bytes taken and given after the 101
 *   io.flush              completed hand-overs of at least one byte
 *   io.connects           connect calls
 *   clk.now               clock reads of any kind
 *   mem.alloc, mem.live   allocations made, and those not yet freed
 *   net.open              sockets not yet closed
 *
 * The layer finds the end of the upgrade by reading the peer's bytes up to the blank
 * line, and frame boundaries by walking the client's WebSocket headers.
 *
 * A whole fault: an injected EPIPE or reset makes later sends fail and tells the
 * peer; bytes already received are delivered first (CASE-08). ENOBUFS, ENOMEM,
 * EINTR, would-block and a short transfer leave the connection alive.
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
  X(send, "io.send") X(recv, "io.recv") X(ctl_send, "io.ctl_send") X(hs_send, "io.hs_send") \
  X(hs_recv, "io.hs_recv") X(poll_w, "io.poll_w") X(poll_r, "io.poll_r") X(idle, "io.idle") \
  X(flush, "io.flush") X(bytes_out, "io.bytes_out") X(bytes_in, "io.bytes_in") \
  X(connects, "io.connects") X(clock, "clk.now") X(alloc, "mem.alloc") X(live, "mem.live") \
  X(open, "net.open")

struct fault_counters {
#define FAULT_COUNTER_FIELD(field, name) int64_t field;
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
  bool trace;                       /* keep the trace */
  /* How to do what a table cannot: make the peer see a reset. NULL = shutdown both ways. */
  void (*reset)(void *ctx, qwp_sock sock);
  void *reset_ctx;
  /* How a delay passes; NULL = a real one through poll(). */
  void (*delay)(void *ctx, int64_t ns);
  void *delay_ctx;
};

struct faults *faults_new(const struct faults_options *o); /* NULL = out of memory */
void faults_del(struct faults *f);
const struct qwp_ops *faults_ops(struct faults *f); /* hand this to the client */

void faults_counters(const struct faults *f, struct fault_counters *out);
size_t faults_trace_count(const struct faults *f);
const struct fault_trace *faults_trace_at(const struct faults *f, size_t i);

/* Rules that never fired, "line N: client.send ... did not fire". Returns how many. */
size_t faults_unfired(const struct faults *f, void (*each)(void *arg, const char *text), void *arg);
/* How often rule i fired. */
int64_t faults_fired(const struct faults *f, size_t rule);
/* An event that rules may wait for (FAULT_UNTIL). */
void faults_event(struct faults *f, const char *name);

/* ---- the gate: hold the loop (threads only; a simulated world just does not step) ----
 * While held, every net call but close and wake blocks at its entry. hold() returns
 * once the loop's thread is parked at the gate. */
void faults_hold(struct faults *f);
void faults_release(struct faults *f);

#endif
