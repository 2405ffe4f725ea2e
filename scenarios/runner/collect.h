/* collect - scenario files from paths and folders. */
#ifndef SCN_COLLECT_H
#define SCN_COLLECT_H

#include <stdbool.h>
#include <stddef.h>

#include "language/scenario.h"

struct collection {
  char **paths; /* sorted, as reached from what was given */
  struct scn_file *files;
  size_t count;
  struct scn_scenario *missing; /* a path given that is not there, as a scenario with a path, a name and a claim */
  size_t missing_count;
};

/* Finds all *.yaml below the folders given (not known-gaps.yaml) and the files given, and reads each. Every problem is
 * printed to stderr as "path:line: key: ..."; false if there was one, or if nothing was found. A path that is not there
 * is told too, and kept in `missing`: the others can run, and it must not be forgotten (CASE-80). */
bool collect(char *const *given, int n, struct collection *out);
void collection_free(struct collection *c);

#endif
