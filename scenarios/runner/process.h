/* process - a child with a line in, a line out, and an end that can be told. */
#ifndef SCN_PROCESS_H
#define SCN_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/buffer.h"

struct process_result {
  struct buffer out; /* what it wrote on standard output */
  struct buffer err; /* on standard error, at most 64 KiB kept */
  int exit_code;     /* -1 if a signal ended it */
  int signal;        /* 0 = none */
  bool timed_out;    /* it was killed by us */
};

/* Runs command (program and arguments, split at blanks; no shell) with `input` on its standard input, until it ends
 * or timeout_ns passes (INT64_MAX = never). It is killed when the thread that called ends before it does. false: it
 * could not be started, errno says why. */
bool process_run(const char *command, const char *input, int64_t timeout_ns, struct process_result *out);
void process_result_free(struct process_result *r);

#endif
