/* qwp-sweep - every byte, every call, every allocation of the reference lives, one fault each. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/real_time.h"
#include "client/said.h"
#include "runner/collect.h"
#include "sweep/options.h"
#include "sweep/report.h"

#define NS_PER_S 1e9

struct sweep {
  struct sweep_options o;
  const char *program;
  struct collection files;
  struct sweep_set *sets;
  size_t set_count;
  struct sweep_job *jobs;
  size_t job_count;
};

/* ---- which lives ---- */

static bool wanted(const struct sweep_options *o, const char *name) {
  for (int i = 0; i < o->life_count; i++)
    if (strcmp(o->lives[i], name) == 0) return true;
  return o->life_count == 0;
}

static bool each_name_is_known(const struct sweep *s) {
  for (int i = 0; i < s->o.life_count; i++) {
    bool known = false;
    for (size_t k = 0; k < s->set_count; k++) known |= strcmp(s->o.lives[i], s->sets[k].life.name) == 0;
    if (known) continue;
    fprintf(stderr, "qwp-sweep: --life: there is no life %s; there are:", s->o.lives[i]);
    for (size_t f = 0; f < s->files.count; f++)
      for (size_t k = 0; k < s->files.files[f].count; k++) {
        const char *name = s->files.files[f].scenarios[k].name, *slash = strrchr(name, '/');
        fprintf(stderr, " %s", slash ? slash + 1 : name);
      }
    fputc('\n', stderr);
    return false;
  }
  return true;
}

static bool choose_lives(struct sweep *s) {
  static char standard[] = SWEEP_LIVES;
  char *standard_paths[] = {standard};
  char **paths = s->o.path_count ? s->o.paths : standard_paths;
  if (!collect(paths, s->o.path_count ? s->o.path_count : 1, &s->files) || s->files.missing_count > 0) return false;
  size_t most = 0;
  for (size_t f = 0; f < s->files.count; f++) most += s->files.files[f].count;
  s->sets = calloc(most + 1, sizeof *s->sets);
  for (size_t f = 0; s->sets && f < s->files.count; f++)
    for (size_t i = 0; i < s->files.files[f].count; i++) {
      char why[512];
      struct sweep_set *set = &s->sets[s->set_count];
      if (!life_of(&s->files.files[f].scenarios[i], &set->life, why, sizeof why)) {
        fprintf(stderr, "qwp-sweep: %s\n", why);
        return false;
      }
      s->set_count += wanted(&s->o, set->life.name);
    }
  return s->sets && each_name_is_known(s);
}

/* ---- which points ---- */

/* One in `stride`, by a hash: neighbours are the same place with another fault, which a plain stride would never meet.
 * Of the bytes inside long payloads, which are many and alike, one in eight of those. Calls and allocations that fail once, and the bytes that come with the 101, are few, and no two are alike: all. */
static bool chosen(const struct sweep_options *o, const struct sweep_point *p, uint64_t number) {
  bool by_number = p->site == SWEEP_CALL || p->site == SWEEP_ALLOC;
  if ((by_number && !p->ever) || p->head_bytes > 0) return true;
  uint64_t h = (number + 1 + o->seed * UINT64_C(1000003)) * UINT64_C(0x9e3779b97f4a7c15);
  uint64_t one_in = o->stride > 1 && p->by_turns ? o->stride * 8 : o->stride;
  return (h ^ h >> 31) % one_in == 0;
}

static bool prepare(struct sweep *s) {
  size_t all = 0;
  uint64_t seen = 0;
  for (size_t i = 0; i < s->set_count; i++) {
    if (!sweep_prepare(&s->sets[i])) return false;
    all += s->sets[i].points.count;
  }
  s->jobs = malloc((all + 1) * sizeof *s->jobs);
  if (!s->jobs) return false;
  for (size_t i = 0; i < s->set_count; i++)
    for (size_t k = 0; k < s->sets[i].points.count; k++)
      if (chosen(&s->o, &s->sets[i].points.at[k], seen++))
        s->jobs[s->job_count++] = (struct sweep_job){&s->sets[i], &s->sets[i].points.at[k]};
  return true;
}

static bool any_broken(const struct sweep *s) {
  for (size_t i = 0; i < s->set_count; i++)
    if (s->sets[i].broken[0]) return true;
  return false;
}

static int list(const struct sweep *s) {
  for (size_t i = 0; i < s->job_count; i++) {
    char text[SWEEP_POINT_TEXT];
    sweep_point_text(s->jobs[i].point, text);
    printf("%s %s\n", s->jobs[i].set->life.name, text);
  }
  for (size_t i = 0; i < s->set_count; i++)
    fprintf(stderr, "%s: %zu points%s%s\n", s->sets[i].life.name, s->sets[i].points.count,
            s->sets[i].broken[0] ? "; broken: " : "", s->sets[i].broken);
  return s->job_count ? 0 : 4;
}

/* ---- one point ---- */

static bool write_journal(const char *path, const struct buffer *journal) {
  if (!path) return true;
  FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
  if (!out) return false;
  bool ok = fwrite(journal->at, 1, journal->n, out) == journal->n;
  return (out == stdout ? fflush(out) : fclose(out)) == 0 && ok;
}

static int run_point(struct sweep *s) {
  struct sweep_point point;
  struct sweep_set *set = &s->sets[0];
  if (!sweep_point_parse(s->o.point, &point)) {
    fprintf(stderr, "qwp-sweep: --point: no place has the name %s (see --help)\n", s->o.point);
    return 2;
  }
  struct life_run run;
  char why[320];
  life_run(&set->life, &point, NULL, s->o.journal != NULL, &run);
  bool ok = sweep_judge(&set->life, &set->measure, &point, &run, why, sizeof why);
  bool kept = write_journal(s->o.journal, &run.o.journal);
  FILE *out = s->o.journal && strcmp(s->o.journal, "-") == 0 ? stderr : stdout;
  if (!kept) fprintf(stderr, "qwp-sweep: --journal %s: %s\n", s->o.journal, strerror(errno));
  const bool unfired = ok && !run.fired && !run.spent;
  if (unfired) snprintf(why, sizeof why, "the life never came to this place; --list tells those that it has");
  fprintf(out, "%s %s at %s%s%s\n", !ok ? "FAIL" : run.fired ? "ok" : run.spent ? "spent" : "UNFIRED", set->life.name,
          s->o.point, ok && !unfired ? "" : ": ", why);
  int code = !ok || unfired ? 1 : 0;
  life_run_free(&run);
  return kept ? code : 3;
}

/* ---- all of them ---- */

static void progress(size_t done, size_t count) {
  static int64_t shown_ns;
  int64_t now = real_time_ns();
  if (now - shown_ns < 500000000 && done != count) return;
  shown_ns = now;
  fprintf(stderr, "\r%zu of %zu points", done, count);
  if (done == count) fputs("\r\033[K", stderr);
}

static int run_all(struct sweep *s) {
  struct sweep_outcome outcome;
  bool shows = !s->o.quiet && isatty(2);
  int64_t from_ns = real_time_ns();
  if (!sweep_run(s->jobs, s->job_count, s->o.workers, s->o.stop_after, shows ? progress : NULL, &outcome)) {
    fprintf(stderr, "qwp-sweep: no worker process could be started: %s\n", strerror(errno));
    sweep_outcome_free(&outcome);
    return 3;
  }
  if (shows) fputs("\r\033[K", stderr);
  struct sweep_report report = {s->program, s->sets, s->set_count, s->jobs, s->job_count, &outcome,
                                (double)(real_time_ns() - from_ns) / NS_PER_S, s->o.show};
  sweep_print(&report, stdout);
  int code = sweep_exit_code(&report);
  if (s->o.json && !sweep_write_json(&report, s->o.json)) {
    fprintf(stderr, "qwp-sweep: --json %s: %s\n", s->o.json, strerror(errno));
    code = 3;
  }
  sweep_outcome_free(&outcome);
  return code;
}

/* A life that fails with no fault leaves nothing to be measured by. */
static int tell_broken(const struct sweep *s) {
  struct sweep_report report = {.program = s->program, .sets = s->sets, .set_count = s->set_count};
  sweep_print(&report, stdout);
  if (s->o.json && !sweep_write_json(&report, s->o.json)) return 3;
  return 1;
}

static int sweep(struct sweep *s) {
  if (!choose_lives(s)) return 2;
  if (!prepare(s)) {
    fprintf(stderr, "qwp-sweep: the lives could not be measured: %s\n", strerror(errno));
    return 3;
  }
  if (s->o.list) return list(s);
  if (any_broken(s)) return tell_broken(s);
  return s->o.point ? run_point(s) : run_all(s);
}

static int command(int argc, char **argv) {
  struct sweep s = {.program = argv[0]};
  int code = sweep_options_read(&s.o, argc, argv);
  if (code >= 0) return code;
  code = sweep(&s);
  for (size_t i = 0; i < s.set_count; i++) sweep_points_free(&s.sets[i].points);
  free(s.sets);
  free(s.jobs);
  collection_free(&s.files);
  return code;
}

int main(int argc, char **argv) { return said("qwp-sweep", command(argc, argv)); }
