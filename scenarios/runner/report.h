/* report - the same results for a person, for a CI server, and for the next run. */
#ifndef SCN_REPORT_H
#define SCN_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runner/groups.h"
#include "runner/job.h"

struct screen {
  FILE *out;
  bool colour, terminal, quiet;
  const char *program; /* as it is to be called */
  uint64_t seed;
  size_t total, done;
  struct groups reds, skipped;
  struct catalogue *rules; /* titles of what was violated and cited; loaded at the first red one */
};

/* Colour and a line that is written over only on a terminal, and without NO_COLOR; else plain text. */
void screen_init(struct screen *s, FILE *out, const char *program, size_t total, uint64_t seed, bool quiet);
/* One job ended: progress on a terminal, a red one at once everywhere, unless one like it was told before. */
void screen_done(void *screen, const struct job *j);
/* How many more were like each of the red ones, the reasons of what was not judged, the table, one line a topic, and
 * the counts: verdicts, cases, faults that fired, samples (CASE-100). Frees what the screen holds. */
void screen_end(struct screen *s, const struct jobs *jobs, int64_t took_ns);

/* JUnit XML. false: the file cannot be written, errno says why. */
bool report_junit(const struct jobs *jobs, const char *path, int64_t took_ns);
/* One JSON object a line. The first is the header, and counts this run: cases, each verdict, fired, samples, and
 * skipped, a list of {verdict, reason, count}. The others: scenario, world, verdict, why, fired, samples, ns, claim,
 * cites, kills, repeat. --failed reads it. With keep_others the lines of a report at path stay if they are of no
 * scenario and world among these jobs: to repeat one scenario must not make the others forgotten. */
bool report_lines(const struct jobs *jobs, const char *path, const char *program, uint64_t seed, bool keep_others);

/* Names of the red ones of a report, "world name", in *names (freed by report_names_free). false: no such report. */
struct report_names {
  char **at;
  size_t count;
};
bool report_failed(const char *path, struct report_names *names);
bool report_has(const struct report_names *names, const struct job *j);
void report_names_free(struct report_names *names);

#endif
