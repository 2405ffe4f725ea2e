/* summary - what came, at the end of a run: for a person, and as one JSON object. */
#ifndef MOCK_LWS_SUMMARY_H
#define MOCK_LWS_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "core/mock.h"

/* Unique and doubled rows only where a table numbers its rows, as the workloads of qwp-send do. */
void summary_print(FILE *f, const struct mock *m);
/* {"counters":{"srv.conns":1,...},"tables":[{"name":"t","rows":2,"columns":3}],"connections":[...],
 *  "violations":[...],"unfired":[...]} and a newline; tables have a `digest` if rows, how they were kept, is
 *  MOCK_ROWS_DIGEST. false: f failed, or memory ran out. */
bool summary_json(FILE *f, const struct mock *m, enum mock_rows rows);

#endif
