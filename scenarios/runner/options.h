/* options - the command line of qwp-scenario. */
#ifndef SCN_OPTIONS_H
#define SCN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "language/scenario.h"

struct options {
  char **paths;
  int path_count;
  bool worlds[SCN_WORLDS];
  bool all_worlds;      /* every world a scenario claims */
  bool world_given;     /* by --world; else --client alone means live */
  uint64_t seed;
  const char *journal, *junit, *json, *report, *only, *client, *explain;
  bool failed, list, schema, no_deadline, full_journal, quiet;
  int workers;
  uint64_t client_limit_s; /* live: how long the client may take */
  uint64_t run_limit_s;    /* how long the whole run may take; 0 = no limit */
  int repeat;           /* rounds of the whole set */
  bool compare;         /* the worlds of each scenario with each other */
  char default_report[1024], default_client[1024];
};

/* Fills *o from the arguments. Returns -1 to go on, or the exit code to end with (help, version, a usage error). */
int options_read(struct options *o, int argc, char **argv);

#endif
