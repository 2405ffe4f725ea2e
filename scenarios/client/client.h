/* client - a sender driven through the steps of a scenario.
 *
 * The same code runs in the simulated world (in the runner's process) and in the child of
 * a live one; what differs is the stage it stands on: the ops and driver of the sender, how
 * the loop is held, how time passes. It takes a task, returns facts. Adapters of other
 * languages do the same behind the JSON lines of request.h.
 */
#ifndef SCN_CLIENT_H
#define SCN_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/facts.h"
#include "language/scenario.h"
#include "qwp/ops.h"
#include "qwp/sender.h"

/* What the client half of a scenario asks for. Everything is borrowed. */
struct client_task {
  const char *config; /* ${server} already replaced */
  bool dense_dictionary;
  bool receiver; /* receiver.h does it */
  const char *create_error; /* status name that create must end with, or NULL */
  const struct scn_step *steps;
  size_t step_count;
  bool no_deadline; /* `within` never ends: for a debugger */
};

/* The world under the sender. */
struct client_stage {
  void *ctx;
  const struct qwp_ops *ops;
  const struct qwp_driver *driver; /* NULL = a thread of the library */
  struct faults *layer;            /* the fault layer that made ops */
  void (*hold)(void *ctx, bool held);
  /* Lets something happen, for at most until_ns; false = nothing can happen before. */
  bool (*pass)(void *ctx, int64_t until_ns);
  int64_t (*now_ns)(void *ctx);
  const struct qwp_ops *beside; /* another way to the same server, past the fault layer: for probes */
};

/* Runs the steps, closes the sender, and fills *facts: all metrics as they were right before the close returned
 * its sender, the layer's counters after it, and
 *   client.rows           rows given to the sender
 *   client.first_row[n]   number of the first row of the n-th publish step
 *   client.rows_accepted  rows that a successful flush or close took
 *   client.create         "ok" or the status name
 *   client.close          "ok" or the status name
 *   client.error, .text, .key, client.http_status, client.server_status  the latched error or the last failed step's
 *   client.warnings       warnings logged
 * true: every step ended as the scenario says. false: `why` names the first that did not, with its line; *why_line. */
bool client_run(const struct client_task *task, const struct client_stage *stage, struct facts *facts, int *why_line,
                char *why, size_t why_n);

#endif
