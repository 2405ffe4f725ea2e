#include "runner/compare.h"

#include <stdio.h>
#include <string.h>

#include "client/real_time.h"
#include "runner/normal.h"

/* The most bytes that arrive at once where they come in pieces: less than most frames. */
#define PIECE_BYTES 40

struct way {
  const char *name;
  enum scn_world world;
  int64_t chunk_max; /* 0 = as the scenario says */
  bool loop_first;
};

static const struct way ways[COMPARE_RUNS_MAX] = {
    {"sim", SCN_SIM, 0, false},
    {"sim, the loop first", SCN_SIM, 0, true},
    {"sim, bytes in pieces", SCN_SIM, PIECE_BYTES, false},
    {"live", SCN_LIVE, 0, false},
    {"tls", SCN_TLS, 0, false},
};

static bool goes(const struct scn_scenario *s, const struct way *way) {
  return s->worlds[way->world] && world_exists(way->world);
}

bool compare_can(const struct scn_scenario *s) {
  int worlds = 0;
  for (int w = 0; w < SCN_WORLDS; w++) worlds += s->worlds[w] && world_exists((enum scn_world)w);
  return worlds > 1;
}

static bool names_a_byte(const struct scn_scenario *s) {
  for (size_t i = 0; i < s->faults.rule_count; i++)
    if (s->faults.rules[i].byte >= 0) return true;
  return false;
}

/* Is it compared by what no scheduling can change, with one of its worlds at least? */
static bool needs_union(const struct scn_scenario *s) { return s->worlds_may_differ || names_a_byte(s); }

/* What a run left to compare: all of it, and, if needed, what no scheduling can change. */
struct trail {
  const struct way *way; /* NULL: none yet */
  struct buffer whole, united;
};

static void trail_free(struct trail *t) {
  buffer_free(&t->whole);
  buffer_free(&t->united);
}

/* Runs it and writes its trail. VERDICT_PASSED, or why there is nothing to compare in j->why. */
static enum verdict run_way(struct job *j, const struct way *way, const struct world_options *w, int journal_fd,
                            struct trail *t) {
  struct scn_scenario s = *j->scenario;
  struct world_options options = *w;
  if (way->chunk_max) s.net.chunk_max = way->chunk_max;
  options.loop_first = way->loop_first;
  struct observation o;
  observation_init(&o);
  world_run_in(way->world, &s, &options, &o);
  t->way = way;
  buffer_clear(&t->whole);
  buffer_clear(&t->united);
  enum verdict v = o.harness[0] ? VERDICT_ERROR : o.unsupported[0] ? VERDICT_UNSUPPORTED : VERDICT_PASSED;
  if (v != VERDICT_PASSED) {
    snprintf(j->why, sizeof j->why, "%s: %s: %s", s.path, way->name, o.harness[0] ? o.harness : o.unsupported);
  } else if (!normal_write(&o, &t->whole) || (needs_union(&s) && !normal_write_union(&o, &t->united))) {
    snprintf(j->why, sizeof j->why, "%s: %s: a line of the journal is no JSON object", s.path, way->name);
    v = VERDICT_ERROR;
  }
  job_count(j, &o);
  v = job_append(j, v, journal_fd, &o.journal);
  observation_free(&o);
  return v;
}

static bool same(const struct scn_scenario *s, const struct trail *a, const struct trail *b, char *why, size_t n) {
  bool other_bytes = (a->way->world == SCN_TLS) != (b->way->world == SCN_TLS) && names_a_byte(s);
  if (s->worlds_may_differ || other_bytes)
    return normal_equal(a->way->name, &a->united, b->way->name, &b->united, why, n);
  return normal_equal(a->way->name, &a->whole, b->way->name, &b->whole, why, n);
}

/* The first way that the scenario can go is what the others are held to. */
static enum verdict compare(struct job *j, const struct world_options *w, int journal_fd) {
  struct trail first = {0}, other = {0};
  enum verdict v = VERDICT_PASSED;
  char where[512];
  for (size_t i = 0; i < sizeof ways / sizeof *ways && v == VERDICT_PASSED; i++) {
    if (!goes(j->scenario, &ways[i])) continue;
    bool is_first = !first.way;
    v = run_way(j, &ways[i], w, journal_fd, is_first ? &first : &other);
    if (v != VERDICT_PASSED || is_first || same(j->scenario, &first, &other, where, sizeof where)) continue;
    snprintf(j->why, sizeof j->why, "%s: the worlds part: %s", j->scenario->path, where);
    v = VERDICT_FAILED;
  }
  trail_free(&first);
  trail_free(&other);
  return v;
}

void compare_run(struct job *j, const struct world_options *w, int journal_fd) {
  int64_t from_ns = real_time_ns();
  j->verdict = compare(j, w, journal_fd);
  j->took_ns = real_time_ns() - from_ns;
  job_make_text(j);
  j->done = true;
}
