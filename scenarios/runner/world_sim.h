/* world_sim - one run in the simulated world with a guest inside it: somebody who injects faults of his own, stands
 * between the sender and the world, and sees it at work. A sweep is one.
 *
 * A guest's run is made once, not twice; whether it can be repeated is the guest's to say.
 */
#ifndef SCN_WORLD_SIM_H
#define SCN_WORLD_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/mock.h"
#include "faults.h"
#include "qwp/driver.h"
#include "qwp/ops.h"
#include "runner/world.h"
#include "sim/sim.h"

struct world_guest {
  void *ctx;
  const struct fault_plan *plan; /* instead of the scenario's own; borrowed for the run */
  bool journal;                  /* as in a run of the runner; else there is none, and no trace */
  uint64_t step_limit;           /* steps of the world at one moment; more is a hang. 0 = the world's own */
  /* The world stands. It hands the sender what these return instead of ops and driver. */
  const struct qwp_ops *(*ops)(void *ctx, struct sim *sim, struct faults *layer, const struct qwp_ops *ops);
  const struct qwp_driver *(*driver)(void *ctx, const struct qwp_driver *driver);
  /* The server's transport: c was accepted for peer; these bytes came, hand them on with mock_received. Returns as
   * that. */
  void (*accepted)(void *ctx, void *peer, struct mock_conn *c);
  bool (*received)(void *ctx, struct mock_conn *c, const uint8_t *p, size_t n);
  /* The client has ended and all is at rest; its facts are there, the rows are not judged yet. */
  void (*at_rest)(void *ctx, struct facts *facts);
};

void world_sim_visit(const struct scn_scenario *s, const struct world_options *w, const struct world_guest *guest,
                     struct observation *o);

#endif
