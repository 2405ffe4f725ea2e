/* summary - what came, at the end of a run: for a person, and as one JSON object. */
#ifndef MOCK_LWS_SUMMARY_H
#define MOCK_LWS_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "core/mock.h"

void summary_print(FILE *f, const struct mock *m);
/* {"counters":{"srv.conns":1,...},"tables":[{"name":"t","rows":2,"digest":"..."}],"connections":[...],
 *  "violations":[...],"unfired":[...]} and a newline. false: f failed, or memory ran out. */
bool summary_json(FILE *f, const struct mock *m);

#endif
