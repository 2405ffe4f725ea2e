/* plan - which call of the outside world fails, when, and how; as typed data.
 *
 * A rule picks calls by point, connection, phase, kind, n-th call, byte or frame, and says what
 * happens to them. A rule that never fired, or fewer than its `times`, is a failure of
 * the scenario that carries it. Rules keep the line of the file they came from.
 */
#ifndef FAULT_PLAN_H
#define FAULT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault_point {
  FAULT_SEND, FAULT_RECV, FAULT_CONNECT, FAULT_WAIT, FAULT_CLOSE,
  FAULT_CLOCK, FAULT_ALLOC, FAULT_ENTROPY,
  FAULT_SYNC, FAULT_MAP, FAULT_RESERVE, FAULT_UNLINK, FAULT_RENAME, FAULT_LOCK,
  FAULT_POINTS
};
const char *fault_point_name(enum fault_point p); /* "client.send" */
/* "EPIPE" of a number and the reverse, for those that a plan may name; NULL and 0 if unknown. */
const char *fault_errno_name(int err);
int fault_errno_named(const char *name);

/* The point of that name, or FAULT_POINTS. */
enum fault_point fault_point_named(const char *name);

/* Before the 101, or behind it; of send, recv and wait. Other points have no phase. */
enum fault_phase { FAULT_PHASE_DATA, FAULT_PHASE_UPGRADE, FAULT_PHASE_ANY };

/* Kinds of a send, seen from its bytes: control frames only, or anything else. Before
 * the 101 there are no kinds. */
enum fault_kind { FAULT_KIND_DATA, FAULT_KIND_CONTROL, FAULT_KIND_ANY };

enum fault_do {
  FAULT_DO_ERRNO,        /* `err` (> 0); a connection-ending one also shuts the socket down: a whole fault */
  FAULT_DO_SHORT,        /* take `value` bytes only; at a byte or frame 0 = end the call right before it */
  FAULT_DO_AGAIN,        /* would block; wait then reports ready at once unless the socket is full. Of a wait:
                          * it returns with nothing ready */
  FAULT_DO_DELAY_BEFORE, /* value ns before the call */
  FAULT_DO_DELAY_AFTER,  /* value ns after it, before its result is returned */
  FAULT_DO_RST,          /* reset the connection under the call */
  FAULT_DO_FIN,          /* end of stream from the peer's side: of a recv at this very call, else behind what
                          * has arrived; sends still work */
  FAULT_DO_CORRUPT,      /* flip bit `value` of the bytes, counted from the byte the rule names */
  FAULT_DO_CHUNK         /* recv gives at most `value` bytes */
};

enum fault_repeat { FAULT_ONCE, FAULT_TIMES, FAULT_FOREVER, FAULT_UNTIL };

/* Which calls a rule picks. Those that fit point, connection, phase and kind are "such
 * calls". `nth` picks among them and means the whole call. `byte` and `frame` name a
 * place in the stream, and what happens, happens exactly there: a call that would carry
 * the place further on is cut right before it (a short transfer, made for real), and the
 * call that begins at the place is the one picked; `nth` then counts those. Delays and
 * corruption cut nothing. SHORT, CHUNK and CORRUPT need bytes: `nth` of theirs counts
 * calls that moved some, so a receive that found nothing, or a send into a full socket,
 * is none of them (nobody knows how many there are), but a call that another rule failed
 * is; and they have fired when the call moved all that it was cut to, or
 * the byte with the bit. From the pick on, ONCE fires once, TIMES `times` picks in a
 * row, FOREVER always, UNTIL until the event; `every` leaves out those between. Of several rules that fit one call the
 * delays, cuts and flips add up, and the first of the others in plan order is done. */
struct fault_rule {
  int line;
  enum fault_point point;
  int connection;           /* N-th connection of this client, from 1; 0 = any */
  enum fault_phase phase;
  enum fault_kind kind;
  int64_t nth;              /* the n-th matching call from 1; 0 = any */
  int64_t byte;             /* this byte of the direction after the 101 (phase upgrade: from the connection's first
                             * byte), from 0; -1 = any */
  int64_t frame;            /* of a send: the first byte of the connection's n-th data frame, from 1; 0 = any */
  int64_t least_bytes;      /* of an allocation: only those, or growths, to at least so many bytes; 0 = any */
  enum fault_do act;
  int err;
  int64_t value;
  int64_t value_to;         /* > value: each pick takes one of value..value_to, chosen by faults_options.seed */
  enum fault_repeat repeat;
  int64_t times;            /* how often it fires */
  int64_t every;            /* fires at each such pick only, from the nth on (2 and no nth: the 2nd, the 4th, ...);
                             * 0 and 1 = at every one */
  char until[24];           /* event that ends FAULT_UNTIL: "connected", "released" */
};

/* Why no call could ever be picked by this rule or nothing could be done, as a phrase
 * ("a frame is a place in what is sent"); NULL = the rule makes sense. For whoever reads
 * rules from a file. The layer itself leaves a rule with a problem unfired. */
const char *fault_rule_problem(const struct fault_rule *r);

/* "client.send nth 3 connection 1 EPIPE", at most n - 1 characters. */
void fault_rule_text(const struct fault_rule *r, char *out, size_t n);

struct fault_plan {
  const struct fault_rule *rules;
  size_t rule_count;
};

#endif
