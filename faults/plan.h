/* plan - which call of the outside world fails, when, and how; as typed data.
 *
 * A rule picks calls by point, connection, phase, kind, n-th call, byte or frame, and says what
 * happens to them. A rule that never fired is a failure of the scenario that
 * carries it. Rules keep the line of the file they came from.
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

enum fault_phase { FAULT_PHASE_DATA, FAULT_PHASE_UPGRADE, FAULT_PHASE_ANY };

/* Kinds of a send, seen from its bytes. */
enum fault_kind { FAULT_KIND_DATA, FAULT_KIND_CONTROL, FAULT_KIND_ANY };

enum fault_do {
  FAULT_DO_ERRNO,        /* `err`; a connection-ending one also shuts the socket down: a whole fault */
  FAULT_DO_SHORT,        /* take `value` bytes only */
  FAULT_DO_AGAIN,        /* would block; wait then reports ready at once unless the socket is full */
  FAULT_DO_DELAY_BEFORE, /* value ns before the call */
  FAULT_DO_DELAY_AFTER,  /* value ns after it, before its result is returned */
  FAULT_DO_RST,          /* reset the connection under the call */
  FAULT_DO_FIN,          /* end of stream from the peer's side */
  FAULT_DO_CORRUPT,      /* flip bit `value` of the bytes */
  FAULT_DO_CHUNK         /* recv gives at most `value` bytes */
};

enum fault_repeat { FAULT_ONCE, FAULT_TIMES, FAULT_FOREVER, FAULT_UNTIL };

struct fault_rule {
  int line;
  enum fault_point point;
  int connection;           /* N-th connection of this client, from 1; 0 = any */
  enum fault_phase phase;
  enum fault_kind kind;
  int64_t nth;              /* the n-th matching call from 1; 0 = any */
  int64_t byte;             /* the call that carries this byte of the direction after the 101 (from 0); -1 = any */
  int64_t frame;            /* the call that carries the first byte of the n-th data frame (from 1) of the connection; 0 = any */
  enum fault_do act;
  int err;
  int64_t value;
  enum fault_repeat repeat;
  int64_t times;
  char until[24];           /* event that ends FAULT_UNTIL: "connected", "released" */
};

struct fault_plan {
  const struct fault_rule *rules;
  size_t rule_count;
};

#endif
