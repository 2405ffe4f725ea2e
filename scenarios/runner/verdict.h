/* verdict - what a run of a scenario comes to, and the one sentence that says why. */
#ifndef SCN_VERDICT_H
#define SCN_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "language/scenario.h"
#include "runner/observation.h"

enum verdict {
  VERDICT_PASSED,
  VERDICT_FAILED,
  VERDICT_DISPUTED,    /* the texts disagree: run, but counted apart */
  VERDICT_UNSUPPORTED, /* this client or world lacks the capability: nothing was judged */
  VERDICT_ERROR,       /* harness, environment, or a dead child: nothing was judged */
  VERDICTS
};
const char *verdict_name(enum verdict v);

/* Judges one run. `why` gets the first differing fact as "path:line: ..."; "" when passed. In this order: the
 * harness, what is unsupported, what should have been looked at and was not (CASE-100), bytes that no counter saw
 * (CASE-98), the client's steps, faults that did not fire, that the client gave the rows its steps speak of,
 * connections and the script, violations, expectations in the order of the file, rows, how the last connection ended,
 * what was left open, that anything was observed at all.
 * Behind a harness error or a failed step stands what did not fire, if anything: not behind a sender that could not be
 * made, told by the line of its connect string. */
enum verdict judge(const struct scn_scenario *s, const struct observation *o, char *why, size_t why_n);

/* The requirement that a sentence of judge() says was violated, copied to `id`; false: the sentence is about something
 * else. */
bool verdict_violated(const char *why, char *id, size_t n);

#endif
