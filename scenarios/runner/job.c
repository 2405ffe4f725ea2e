#define _GNU_SOURCE
#include "runner/job.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/utf8.h"
#include "client/real_time.h"

struct job *jobs_add(struct jobs *j, const struct scn_scenario *s, enum scn_world world) {
  if (j->count == j->cap) {
    j->cap = j->cap ? j->cap * 2 : 64;
    j->at = realloc(j->at, j->cap * sizeof *j->at);
    if (!j->at) {
      fputs("out of memory\n", stderr);
      exit(3);
    }
  }
  struct job *x = &j->at[j->count++];
  *x = (struct job){.scenario = s, .world = world};
  return x;
}

void jobs_free(struct jobs *j) {
  free(j->at);
  *j = (struct jobs){0};
}

size_t jobs_with(const struct jobs *j, enum verdict v) {
  size_t n = 0;
  for (size_t i = 0; i < j->count; i++) n += j->at[i].done && j->at[i].verdict == v;
  return n;
}

int64_t jobs_fired(const struct jobs *j) {
  int64_t n = 0;
  for (size_t i = 0; i < j->count; i++) n += j->at[i].fired;
  return n;
}

int64_t jobs_samples(const struct jobs *j) {
  int64_t n = 0;
  for (size_t i = 0; i < j->count; i++) n += j->at[i].samples;
  return n;
}

static bool all_done(const struct jobs *j) {
  for (size_t i = 0; i < j->count; i++)
    if (!j->at[i].done) return false;
  return true;
}

int jobs_exit_code(const struct jobs *j) {
  if (j->trouble[0] || !all_done(j) || jobs_with(j, VERDICT_ERROR)) return 3;
  if (jobs_with(j, VERDICT_FAILED)) return 1;
  return jobs_with(j, VERDICT_PASSED) ? 0 : 4;
}

const char *job_topic(const struct job *j) {
  static char topic[64];
  const char *path = j->scenario->path, *end = strrchr(path, '/'), *start = end;
  while (start && start > path && start[-1] != '/') start--;
  if (!end) { /* "a.yaml": the name without its extension */
    start = path;
    end = strrchr(path, '.');
    if (!end || end == path) end = path + strlen(path);
  }
  snprintf(topic, sizeof topic, "%.*s", (int)(end - start), start);
  return topic;
}

const char *job_place(const struct job *j) { return j->compared ? "compared" : scn_world_name(j->world); }

/* The part of a matrix scenario's name that selects its line, "[byte=12]" or nothing. */
static const char *matrix_part(const struct scn_scenario *s) {
  const char *at = strchr(s->name, '[');
  return at ? at : "";
}

void job_command(const struct job *j, const char *program, uint64_t seed, char *out, size_t n) {
  char where[32] = "--compare-worlds", only[256] = "", with_seed[48] = "", client[512] = "";
  if (!j->compared) snprintf(where, sizeof where, "--world %s", scn_world_name(j->world));
  const char *part = matrix_part(j->scenario);
  if (*part) snprintf(only, sizeof only, " --only '%s'", part);
  if (seed) snprintf(with_seed, sizeof with_seed, " --seed %" PRIu64, seed);
  if (j->client) snprintf(client, sizeof client, " --client '%s'", j->client);
  snprintf(out, n, "%s %s%s%s%s %s", program, where, client, with_seed, only, j->scenario->path);
}

/* 0, or the errno of the write that failed. */
static int write_all(int fd, const char *p, size_t n) {
  while (n > 0) {
    ssize_t w = write(fd, p, n);
    if (w < 0 && errno == EINTR) continue;
    if (w <= 0) return w < 0 ? errno : ENOSPC;
    p += w;
    n -= (size_t)w;
  }
  return 0;
}

enum verdict job_append(struct job *j, enum verdict v, int fd, const struct buffer *journal) {
  if (fd < 0 || journal->n == 0) return v;
  flock(fd, LOCK_EX);
  const int failed = write_all(fd, journal->at, journal->n);
  flock(fd, LOCK_UN);
  if (!failed || v == VERDICT_FAILED || v == VERDICT_ERROR) return v;
  snprintf(j->why, sizeof j->why, "%s: the journal cannot be written: %s", j->scenario->path, strerror(failed));
  return VERDICT_ERROR;
}

/* The sentence may also end inside a character: reports take text only. */
void job_make_text(struct job *j) {
  char *why = j->why;
  const char *end = why + strlen(why);
  for (char *p = why; p < end;) {
    const size_t n = qwp_utf8_char(p, (size_t)(end - p));
    if (n == 0)
      *p = '?';
    else if (iscntrl((unsigned char)*p))
      *p = ' ';
    p += n ? n : 1;
  }
}

/* A count for the summary. What another client tells may be anything, and sums of it must stay numbers. */
static int64_t told(const struct facts *f, const char *name) {
  const int64_t n = facts_get(f, name, 0);
  return n < 0 ? 0 : n > INT32_MAX ? INT32_MAX : n;
}

void job_count(struct job *j, const struct observation *o) {
  j->fired += told(&o->facts, "faults.fired") + told(&o->facts, "srv.fired");
  j->samples += told(&o->facts, "client.samples");
}

void job_run(struct job *j, const struct world_options *w, int journal_fd) {
  struct observation o;
  observation_init(&o);
  int64_t from_ns = real_time_ns();
  world_run_in(j->world, j->scenario, w, &o);
  j->took_ns = real_time_ns() - from_ns;
  j->verdict = judge(j->scenario, &o, j->why, sizeof j->why);
  j->verdict = job_append(j, j->verdict, journal_fd, &o.journal);
  job_make_text(j);
  job_count(j, &o);
  j->done = true;
  observation_free(&o);
}
