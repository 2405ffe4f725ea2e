/* facts - what was observed, as named numbers and texts.
 *
 * Every counter of the client, of the fault layer and of the mock ends up here under the
 * name that a scenario uses for it. A bag is small (about a hundred names), keeps the order
 * of insertion, and owns its texts; names from the counters' tables are borrowed.
 */
#ifndef SCN_FACTS_H
#define SCN_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faults.h"
#include "language/scenario.h"
#include "qwp/sender.h"

struct fact {
  const char *name;
  uint32_t hash; /* of the name: a search compares few texts */
  bool name_owned, is_text;
  int64_t number;
  char *text;
};

struct facts {
  struct fact *at;
  size_t count, cap;
};

void facts_init(struct facts *f);
void facts_free(struct facts *f);
/* Add or replace. Running out of memory ends the program: a runner without its facts has no verdict. */
void facts_number(struct facts *f, const char *name, int64_t value);
void facts_text(struct facts *f, const char *name, const char *value);
const struct fact *facts_find(const struct facts *f, const char *name);
int64_t facts_get(const struct facts *f, const char *name, int64_t otherwise);
/* Moves everything of `from` into f; from is empty afterwards. */
void facts_merge(struct facts *f, struct facts *from);

/* Adds a name that the bag does not hold yet and that outlives it; no search. */
void facts_add(struct facts *f, const char *name, int64_t value);

/* All of a sender's metrics, and all counters of its fault layer; once per bag. */
void facts_of_sender(struct facts *f, const struct qwp_metrics *m);
void facts_of_layer(struct facts *f, const struct fault_counters *c);

/* The data-phase trace as scenarios write it, one call a line: "send(100)->40", and io.max_send_run. Receives are left
 * out of the first: they say nothing about sending, and their sizes follow buffers. Neither, if calls are missing. */
void facts_of_trace(struct facts *f, const struct faults *layer);

/* faults.fired: how often the rules of a plan fired, taken together. */
void facts_of_rules(struct facts *f, const struct faults *layer, size_t rule_count);

/* Does the expectation hold? Otherwise `why` says what was expected and what was seen. A name that is not in
 * the bag counts as 0 if it is indexed (srv.rows[x]), else it does not hold. */
bool facts_hold(const struct facts *f, const struct scn_fact *expected, char *why, size_t why_n);

#endif
