/* job - one scenario in one world, and what came of it. */
#ifndef SCN_JOB_H
#define SCN_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/verdict.h"
#include "runner/world.h"

#define JOB_WHY_BYTES 704

struct job {
  const struct scn_scenario *scenario;
  enum scn_world world;
  bool compared;      /* the worlds of the scenario with each other (compare.h); `world` says nothing then */
  const char *client; /* the command of another client than the built-in one, which repeating takes too; else NULL */
  /* filled by the pool */
  bool done;
  enum verdict verdict;
  int64_t took_ns;
  int64_t fired;   /* fault rules and script actions that happened, each time of them */
  int64_t samples; /* looks that were taken at what no counter tells (client.rss) */
  char why[JOB_WHY_BYTES];
};

struct jobs {
  struct job *at;
  size_t count, cap;
  char trouble[160]; /* what went wrong outside of any job; "" = nothing */
};

struct job *jobs_add(struct jobs *j, const struct scn_scenario *s, enum scn_world world);
void jobs_free(struct jobs *j);

/* How many ended with v. */
size_t jobs_with(const struct jobs *j, enum verdict v);

/* Faults that fired, and samples that were taken, in all of them. */
int64_t jobs_fired(const struct jobs *j);
int64_t jobs_samples(const struct jobs *j);

/* The exit code of a run: 0 all passed, 1 a failure, 3 an error, trouble outside of the jobs, or a job that was never
 * done, 4 nothing ran. */
int jobs_exit_code(const struct jobs *j);

/* Topic: the folder a scenario stands in, "batch"; its file's name if it was given without a folder. Valid until the
 * next call. */
const char *job_topic(const struct job *j);

/* Where it ran: the name of its world, or "compared". */
const char *job_place(const struct job *j);

/* The command that repeats it. */
void job_command(const struct job *j, const char *program, uint64_t seed, char *out, size_t n);

/* Adds to j->fired and j->samples what one run of it tells. */
void job_count(struct job *j, const struct observation *o);

/* Makes j->why plain text, whatever a dying client wrote into it. */
void job_make_text(struct job *j);

/* Appends to the file that several workers share: one piece at a time. The verdict v; but what would be green is an
 * error, with its sentence in j->why, if the file did not take all of it. */
enum verdict job_append(struct job *j, enum verdict v, int journal_fd, const struct buffer *journal);

/* Runs it in this process and judges. The journal is appended to journal_fd as one piece, if that is not -1. */
void job_run(struct job *j, const struct world_options *w, int journal_fd);

#endif
