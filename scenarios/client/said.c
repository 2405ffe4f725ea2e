#include "client/said.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int said(const char *program, int code) {
  errno = 0;
  const int flushed = fflush(stdout);
  if (flushed == 0 && !ferror(stdout)) return code;
  fprintf(stderr, "%s: standard output: %s\n", program, errno ? strerror(errno) : "what was said is lost");
  return code ? code : 3;
}
