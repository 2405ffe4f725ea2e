/* options - the command line of qwp-sweep. */
#ifndef SWEEP_OPTIONS_H
#define SWEEP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWEEP_LIVES_MAX 64

struct sweep_options {
  char **paths; /* files and folders of lives; none = those of the sources */
  int path_count;
  const char *lives[SWEEP_LIVES_MAX]; /* by name; none = all */
  int life_count;
  const char *point, *json, *journal;
  bool list, quiet;
  int workers;
  uint64_t stride, seed, show, stop_after;
};

/* Fills *o. Returns -1 to go on, or the exit code to end with (help, version, a usage error). */
int sweep_options_read(struct sweep_options *o, int argc, char **argv);

#endif
