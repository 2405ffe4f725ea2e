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
};

/* Finds all *.yaml below the folders given (not known-gaps.yaml) and the files given, and reads each. Every problem is
 * printed to stderr as "path:line: key: ..."; false if there was one, or if nothing was found. */
bool collect(char *const *given, int n, struct collection *out);
void collection_free(struct collection *c);

#endif
