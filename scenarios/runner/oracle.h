/* oracle - what the rows at the mock must look like, whatever else a scenario asserts.
 *
 * Every row carries a number that fixes all its values (workload.h). So loss, order, doubling and mix-ups are
 * all visible in the mock's tables:
 *   - every row that the sender accepted is there;
 *   - within a table the first arrivals of row numbers only go up;
 *   - each row stands in its table with exactly its values, also when it arrives again;
 *   - a row arrives twice only if a connection was lost (at-least-once delivery).
 */
#ifndef SCN_ORACLE_H
#define SCN_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "client/facts.h"
#include "core/tables.h"
#include "language/scenario.h"

/* true: all well. false: `why` names the first row that is wrong. Checks lifted by s->allow are left out. */
bool oracle_rows(const struct scn_scenario *s, const struct facts *facts, const struct mock_tables *tables, char *why,
                 size_t why_n);

#endif
