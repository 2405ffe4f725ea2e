/* qwp-scenario - reads scenarios, runs them in their worlds, judges, reports. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/real_time.h"
#include "client/said.h"
#include "language/keys.h"
#include "runner/catalogue.h"
#include "runner/collect.h"
#include "runner/compare.h"
#include "runner/job.h"
#include "runner/options.h"
#include "runner/pool.h"
#include "runner/report.h"

#define NS_PER_S INT64_C(1000000000)
#define JOB_LIMIT_S 60 /* beyond what the client may take: for the simulated world, and for the mock to come to rest */

static bool wanted(const struct options *o, const struct scn_scenario *s, enum scn_world w) {
  if (!s->worlds[w] || (o->only && !strstr(s->name, o->only))) return false;
  return o->all_worlds ? world_exists(w) : o->worlds[w];
}

/* Listed and not there: an error before the run, and the first to be told. */
static void add_missing(const struct options *o, const struct collection *c, struct jobs *jobs) {
  int world = 0;
  while (!o->all_worlds && world + 1 < SCN_WORLDS && !o->worlds[world]) world++;
  for (size_t i = 0; i < c->missing_count; i++) {
    struct job *j = jobs_add(jobs, &c->missing[i], (enum scn_world)world);
    j->done = true;
    j->verdict = VERDICT_ERROR;
    snprintf(j->why, sizeof j->why, "%s: missing: %s", c->missing[i].path, strerror(ENOENT));
  }
}

static size_t red_not_among(const struct report_names *red, const struct jobs *jobs) {
  size_t found = 0;
  for (size_t i = 0; i < jobs->count; i++) found += !jobs->at[i].done;
  return red->count > found ? red->count - found : 0;
}

static void add_comparison(const struct options *o, const struct scn_scenario *s, struct jobs *jobs) {
  if (compare_can(s) && (!o->only || strstr(s->name, o->only))) jobs_add(jobs, s, SCN_SIM)->compared = true;
}

static void select_comparisons(const struct options *o, const struct collection *c, struct jobs *jobs) {
  for (int round = 0; round < o->repeat; round++)
    for (size_t f = 0; f < c->count; f++)
      for (size_t i = 0; i < c->files[f].count; i++) add_comparison(o, &c->files[f].scenarios[i], jobs);
}

/* The simulated world first: it is fast, and what is red there is easiest to repeat. */
static bool select_jobs(const struct options *o, const struct collection *c, struct jobs *jobs) {
  if (o->compare) {
    select_comparisons(o, c, jobs);
    return true;
  }
  struct report_names red = {0};
  if (o->failed && !report_failed(o->report, &red)) {
    fprintf(stderr, "qwp-scenario: --failed: no report at %s: %s\n", o->report, strerror(errno));
    return false;
  }
  add_missing(o, c, jobs);
  for (int round = 0; round < o->repeat; round++)
    for (int w = 0; w < SCN_WORLDS; w++)
      for (size_t f = 0; f < c->count; f++)
        for (size_t i = 0; i < c->files[f].count; i++) {
          const struct scn_scenario *s = &c->files[f].scenarios[i];
          if (!wanted(o, s, (enum scn_world)w)) continue;
          struct job *j = jobs_add(jobs, s, (enum scn_world)w);
          if (o->client != o->default_client) j->client = o->client;
          if (o->failed && !report_has(&red, j)) jobs->count--;
        }
  const size_t elsewhere = o->failed && o->repeat == 1 ? red_not_among(&red, jobs) : 0;
  if (elsewhere) fprintf(stderr, "qwp-scenario: --failed: %zu red ones of %s are not among the files given\n", elsewhere, o->report);
  report_names_free(&red);
  return true;
}

/* A world that a scenario claims and this build lacks; "" = none: then nothing matches the options. */
static const char *missing_worlds(const struct options *o, const struct collection *c) {
  for (size_t f = 0; f < c->count; f++)
    for (size_t i = 0; i < c->files[f].count; i++) {
      const struct scn_scenario *s = &c->files[f].scenarios[i];
      if (o->only && !strstr(s->name, o->only)) continue;
      for (int w = 0; w < SCN_WORLDS; w++)
        if (s->worlds[w] && !world_exists((enum scn_world)w)) return scn_world_name((enum scn_world)w);
    }
  return "";
}

static bool any_has_the_name(const struct options *o, const struct collection *c) {
  for (size_t f = 0; f < c->count; f++)
    for (size_t i = 0; i < c->files[f].count; i++)
      if (!o->only || strstr(c->files[f].scenarios[i].name, o->only)) return true;
  return false;
}

static void tell_nothing(const struct options *o, const struct collection *c) {
  const char *world = o->all_worlds ? missing_worlds(o, c) : "";
  if (o->compare)
    fputs("qwp-scenario: nothing to compare: no scenario that matches claims two worlds of this build\n", stderr);
  else if (*world)
    fprintf(stderr, "qwp-scenario: nothing to run: the world %s is not in this build\n", world);
  else if (!any_has_the_name(o, c))
    fprintf(stderr, "qwp-scenario: nothing to run: no scenario %s (--list prints the names)\n",
            o->only ? "has the text of --only in its name" : "is there");
  else if (o->failed)
    fputs("qwp-scenario: nothing to run: none of these was red in the last report\n", stderr);
  else
    fputs("qwp-scenario: nothing to run: no scenario that matches claims such a world; a file's key `worlds` says "
          "which it does (without it: sim and live)\n", stderr);
}

static void list_jobs(const struct jobs *jobs) {
  for (size_t i = 0; i < jobs->count; i++)
    printf("%s %s\n", job_place(&jobs->at[i]), jobs->at[i].scenario->name);
}

static int open_journal(const char *path) {
  if (!path) return -1;
  if (strcmp(path, "-") == 0) return dup(1);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) fprintf(stderr, "qwp-scenario: --journal %s: %s\n", path, strerror(errno));
  return fd;
}

static bool written(bool ok, const char *option, const char *path) {
  if (!ok) fprintf(stderr, "qwp-scenario: %s %s: %s\n", option, path, strerror(errno));
  return ok;
}

static bool write_reports(const struct options *o, const struct jobs *jobs, const char *program, int64_t took_ns) {
  bool ok = true;
  if (o->junit) ok = written(report_junit(jobs, o->junit, took_ns), "--junit", o->junit) && ok;
  if (o->json) ok = written(report_lines(jobs, o->json, program, o->seed, false), "--json", o->json) && ok;
  /* A read-only build folder is no reason to fail: --failed then has nothing to read. */
  if (o->report != o->default_report)
    ok = written(report_lines(jobs, o->report, program, o->seed, true), "--report", o->report) && ok;
  else if (!o->compare) /* --failed is about scenarios in a world */
    (void)report_lines(jobs, o->report, program, o->seed, true);
  return ok;
}

static void tell_missing(struct screen *s, const struct jobs *jobs) {
  for (size_t i = 0; i < jobs->count; i++)
    if (jobs->at[i].done) screen_done(s, &jobs->at[i]);
}

static bool runs_over_tls(const struct jobs *jobs) {
  for (size_t i = 0; i < jobs->count; i++)
    if (jobs->at[i].world == SCN_TLS || (jobs->at[i].compared && jobs->at[i].scenario->worlds[SCN_TLS])) return true;
  return false;
}

static int run(const struct options *o, struct jobs *jobs, const char *program) {
  int journal_fd = open_journal(o->journal);
  if (o->journal && journal_fd < 0) return 2;
  struct screen screen;
  screen_init(&screen, o->journal && strcmp(o->journal, "-") == 0 ? stderr : stdout, program, jobs->count, o->seed, o->quiet);
  const int64_t runs = o->compare ? COMPARE_RUNS_MAX : 1; /* in one job */
  struct pool_options po = {
      .world = {.seed = o->seed,
                .no_deadline = o->no_deadline,
                .full_journal = o->full_journal,
                .client_limit_ns = (int64_t)o->client_limit_s * NS_PER_S,
                .client = o->client,
                .own_client = o->client == o->default_client},
      .workers = o->workers,
      .in_process = o->no_deadline,
      .journal_fd = journal_fd,
      .job_limit_ns = o->no_deadline ? INT64_MAX : (int64_t)(o->client_limit_s + JOB_LIMIT_S) * NS_PER_S * runs,
      .run_limit_ns = o->no_deadline ? 0 : (int64_t)o->run_limit_s * NS_PER_S,
      .on_done = screen_done,
      .ctx = &screen,
      .run = o->compare ? compare_run : NULL,
  };
  tell_missing(&screen, jobs);
  char why[256];
  if (runs_over_tls(jobs) && !world_tls_prepare(&po.world, why, sizeof why)) {
    fprintf(stderr, "qwp-scenario: %s\n", why);
    if (journal_fd >= 0) close(journal_fd);
    return 3;
  }
  int64_t from_ns = real_time_ns();
  const bool ran = pool_run(jobs, &po);
  world_tls_forget(&po.world);
  if (!ran) {
    fprintf(stderr, "qwp-scenario: no worker process could be started: %s\n", strerror(errno));
    if (journal_fd >= 0) close(journal_fd);
    return 3;
  }
  int64_t took_ns = real_time_ns() - from_ns;
  if (journal_fd >= 0) close(journal_fd);
  screen_end(&screen, jobs, took_ns);
  int code = jobs_exit_code(jobs);
  return write_reports(o, jobs, program, took_ns) || code ? code : 3;
}

static bool cites(const struct scn_scenario *s, const char *id) {
  for (size_t i = 0; i < s->cite_count; i++)
    if (strcmp(s->cites[i], id) == 0) return true;
  return false;
}

/* The files that cite a rule, among those given; all lines of a matrix cite the same. */
static bool print_citing(const struct options *o, const char *id) {
  struct collection c;
  const bool ok = collect(o->paths, o->path_count, &c);
  for (size_t f = 0; ok && f < c.count; f++)
    if (c.files[f].count && cites(&c.files[f].scenarios[0], id)) printf("  cited by: %s\n", c.paths[f]);
  collection_free(&c);
  return ok;
}

static int explain_or_schema(const struct options *o) {
  if (o->schema) {
    scn_schema(stdout);
    return 0;
  }
  struct catalogue *rules = catalogue_load();
  const bool rule = catalogue_explain(rules, stdout, o->explain);
  catalogue_free(rules);
  if (rule) return o->path_count == 0 || print_citing(o, o->explain) ? 0 : 2;
  return scn_explain(stdout, strcmp(o->explain, "all") == 0 ? NULL : o->explain) ? 0 : 2;
}

static int command(int argc, char **argv) {
  struct options o;
  int code = options_read(&o, argc, argv);
  if (code >= 0) return code;
  if (o.explain || o.schema) return explain_or_schema(&o);
  struct collection c;
  struct jobs jobs = {0};
  if (!collect(o.paths, o.path_count, &c) || !select_jobs(&o, &c, &jobs)) {
    code = 2;
  } else if (o.list) {
    list_jobs(&jobs);
    code = c.missing_count ? 2 : jobs.count ? 0 : 4;
  } else if (jobs.count == 0) {
    tell_nothing(&o, &c);
    code = 4;
  } else {
    code = run(&o, &jobs, argv[0]);
    if (c.missing_count) code = 2;
  }
  jobs_free(&jobs);
  collection_free(&c);
  return code;
}

int main(int argc, char **argv) { return said("qwp-scenario", command(argc, argv)); }
