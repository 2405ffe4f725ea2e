/* violations - the list of what clients did and may not do. */
#ifndef MOCK_VIOLATIONS_H
#define MOCK_VIOLATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "core/mock.h"

#define MOCK_VIOLATIONS_KEPT 4096 /* further ones are only counted, by the caller */

struct mock_violations {
  struct mock_violation *list;
  size_t count, cap;
};

void mock_violations_free(struct mock_violations *v);
/* Remembers one and returns it; NULL = not: there are too many, or no memory. */
const struct mock_violation *mock_violations_add(struct mock_violations *v, const char *requirement, int connection,
                                                 int64_t wire_seq, int64_t offset, const char *text);

#endif
