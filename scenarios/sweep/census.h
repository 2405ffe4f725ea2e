/* census - what a life does when nothing goes wrong, counted: its calls, and the bytes of each connection. */
#ifndef SWEEP_CENSUS_H
#define SWEEP_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frames.h"
#include "plan.h"
#include "sweep/point.h"

#define CENSUS_CONNECTIONS 16
#define CENSUS_FRAMES 4096 /* of one connection */

struct census_connection {
  /* The client's side, from the first byte on. */
  int64_t up_out, out;      /* bytes sent: the request; behind the 101 */
  int64_t up_in, in;        /* bytes received: the answer's head (all of it, if it is no 101); behind it */
  int64_t in_with_head;     /* of `in`, those that came in the call that brought the end of the 101 */
  int64_t frame_at[CENSUS_FRAMES]; /* where in `out` each data frame begins */
  size_t frames;
  /* The server's side. */
  int64_t server_read;
  bool server_ended;        /* by its script, so that its last read is not one to stop behind */
};

struct census {
  int64_t calls[FAULT_POINTS];
  struct census_connection connections[CENSUS_CONNECTIONS];
  int client_connections, server_connections;
  bool overflow; /* the life has more connections or frames than there is room for */
};

/* The points of a life: every byte of each direction, every call, every allocation. A byte has each fault; but inside
 * the payload of a long frame sent, where one byte is like the next, the faults of the client's call and of the
 * server's end take turns, one a byte. */
#define CENSUS_LONG_FRAME_BYTES 4096

struct sweep_points {
  struct sweep_point *at;
  size_t count, cap;
  size_t by_turns; /* bytes that have one fault of all */
};

/* Adds all points. false: out of memory. */
bool census_points(const struct census *c, struct sweep_points *out);
void sweep_points_free(struct sweep_points *p);

#endif
