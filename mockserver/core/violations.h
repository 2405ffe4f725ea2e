/* violations - the list of what clients did and may not do. */
#ifndef MOCK_VIOLATIONS_H
#define MOCK_VIOLATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "core/mock.h"

#define MOCK_VIOLATIONS_KEPT 4096 /* further ones are only counted */

struct mock_violations {
  struct mock_violation *list;
  size_t count, cap;
  int64_t total;
};

void mock_violations_free(struct mock_violations *v);
/* Remembers one; returns it, or NULL if it was only counted. */
const struct mock_violation *mock_violations_add(struct mock_violations *v, const char *requirement, int connection,
                                                 int64_t wire_seq, int64_t offset, const char *text);

#endif
