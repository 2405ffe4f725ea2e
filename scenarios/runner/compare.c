#include "runner/compare.h"

#include <stdio.h>
#include <string.h>

#include "client/real_time.h"
#include "runner/normal.h"

/* The most bytes that arrive at once in the last run: less than most frames. */
#define PIECE_BYTES 40

struct way {
  const char *name;
  enum scn_world world;
  int64_t chunk_max; /* 0 = as the scenario says */
};

static const struct way ways[] = {
    {"sim", SCN_SIM, 0}, {"live", SCN_LIVE, 0}, {"tls", SCN_TLS, 0}, {"sim, bytes in pieces", SCN_SIM, PIECE_BYTES}};

static bool goes(const struct scn_scenario *s, const struct way *way) {
  return s->worlds[way->world] && world_exists(way->world);
}

bool compare_can(const struct scn_scenario *s) {
  int worlds = 0;
  for (int w = 0; w < SCN_WORLDS; w++) worlds += s->worlds[w] && world_exists((enum scn_world)w);
  return worlds > 1;
}

/* Runs it and writes what is to be compared. VERDICT_PASSED, or why there is nothing to compare in j->why. */
static enum verdict run_way(struct job *j, const struct way *way, const struct world_options *w, int journal_fd,
                            struct buffer *normal) {
  struct scn_scenario s = *j->scenario;
  if (way->chunk_max) s.net.chunk_max = way->chunk_max;
  struct observation o;
  observation_init(&o);
  world_run_in(way->world, &s, w, &o);
  enum verdict v = o.harness[0] ? VERDICT_ERROR : o.unsupported[0] ? VERDICT_UNSUPPORTED : VERDICT_PASSED;
  if (v != VERDICT_PASSED)
    snprintf(j->why, sizeof j->why, "%s: %s: %s", s.path, way->name, o.harness[0] ? o.harness : o.unsupported);
  else if (!(s.worlds_may_differ ? normal_write_union : normal_write)(&o, normal)) {
    snprintf(j->why, sizeof j->why, "%s: %s: a line of the journal is no JSON object", s.path, way->name);
    v = VERDICT_ERROR;
  }
  job_append(journal_fd, &o.journal);
  observation_free(&o);
  return v;
}

static enum verdict compare(struct job *j, const struct world_options *w, int journal_fd) {
  const struct way *first = NULL;
  struct buffer reference = {0}, other = {0};
  enum verdict v = VERDICT_PASSED;
  char where[512];
  for (size_t i = 0; i < sizeof ways / sizeof *ways && v == VERDICT_PASSED; i++) {
    const struct way *way = &ways[i];
    if (!goes(j->scenario, way)) continue;
    buffer_clear(&other);
    v = run_way(j, way, w, journal_fd, first ? &other : &reference);
    if (v != VERDICT_PASSED) break;
    if (!first) {
      first = way;
      continue;
    }
    if (normal_equal(first->name, &reference, way->name, &other, where, sizeof where)) continue;
    snprintf(j->why, sizeof j->why, "%s: the worlds part: %s", j->scenario->path, where);
    v = VERDICT_FAILED;
  }
  buffer_free(&reference);
  buffer_free(&other);
  return v;
}

void compare_run(struct job *j, const struct world_options *w, int journal_fd) {
  int64_t from_ns = real_time_ns();
  j->verdict = compare(j, w, journal_fd);
  j->took_ns = real_time_ns() - from_ns;
  job_make_text(j);
  j->done = true;
}
