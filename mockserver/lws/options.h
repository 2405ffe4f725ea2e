/* options - the command line of qwp-mock. */
#ifndef MOCK_LWS_OPTIONS_H
#define MOCK_LWS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/mock.h"

struct options {
  int port;
  const char *script, *journal, *json, *rows_out;
  enum mock_profile profile;
  bool profile_set;
  enum mock_rows rows;
  enum mock_journal_level level;
  bool level_set;
  bool hex, follow, strict, fail_on_violation;
  bool tls;
  const char *ca_out; /* NULL = a temporary file */
  uint64_t seed;      /* 0 = the script's, if it has one */
  bool help, version;
};

/* false: what is wrong, and what would be right, was printed to stderr. Texts point into argv. */
bool options_read(struct options *o, int argc, char **argv);
void options_help(void);

#endif
