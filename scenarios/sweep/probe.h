/* probe - stands between a sender and its world: counts for a census, and sees the loop at the moment of the fault.
 *
 * It wraps the ops of the fault layer and the driver, so that it is asked right after each call. At the first call
 * behind which the point's rule has fired it takes the loop's view. The server's end of a point is its own to do: it
 * hands the server the bytes up to the place and then ends the connection from the server's side.
 */
#ifndef SWEEP_PROBE_H
#define SWEEP_PROBE_H

#include "head.h"
#include "runner/world_sim.h"
#include "send/loop.h"
#include "sweep/census.h"

struct probe_socket {
  qwp_sock sock;
  int connection; /* index in the census */
  bool upgraded;
  struct head head;
  struct frames frames;
};

struct probe_server { /* a connection as the server has it */
  struct mock_conn *conn;
  void *peer;
  int64_t read;
  bool ended; /* the mock or the point has ended it */
};

struct probe {
  const struct sweep_point *point; /* NULL = nothing goes wrong */
  struct census *census;           /* NULL = not counted */
  /* The rest is the probe's own. */
  struct qwp_ops ops;
  const struct qwp_ops *under;
  struct qwp_driver driver;
  const struct qwp_driver *under_driver;
  struct sim *sim;
  struct faults *layer;
  struct qwp_loop *loop; /* between start and stop */
  bool fired;
  bool spent;            /* the server's script had ended the connection by then */
  bool viewed;           /* there was a loop at that moment, and `view` is what it looked like */
  struct qwp_loop_view view;
  struct probe_socket sockets[CENSUS_CONNECTIONS];
  int socket_count;
  struct probe_server servers[CENSUS_CONNECTIONS * 4];
  int server_count;
};

void probe_init(struct probe *p, const struct sweep_point *point, struct census *census);

/* Fits struct world_guest. */
const struct qwp_ops *probe_ops(void *probe, struct sim *sim, struct faults *layer, const struct qwp_ops *ops);
const struct qwp_driver *probe_driver(void *probe, const struct qwp_driver *driver);
void probe_accepted(void *probe, void *peer, struct mock_conn *c);
bool probe_received(void *probe, struct mock_conn *c, const uint8_t *p, size_t n);

#endif
