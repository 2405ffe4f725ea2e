#include "base/errno_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *qwp_errno_text(int sys_errno, char *out, size_t cap) {
  int r = strerror_r(sys_errno, out, cap); /* POSIX: what stands in out after a failure is not said */
  if (r != 0) snprintf(out, cap, "error %d", sys_errno);
  return out;
}
