/* sim_bench - scenarios a second that one processor runs in the simulated world.
 *
 * One turn of a file is all that a run of it costs: the file is read and parsed, each of its scenarios is run twice
 * (the twin runs whose journals must be equal), and the run is judged. What counts is processor time, so that the
 * neighbours on the machine do not. The scenarios of one file (the lines of a matrix) share its speed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "language/scenario.h"
#include "runner/collect.h"
#include "runner/job.h"

#define SLOWEST 5
#define ENOUGH_S 1.0 /* of measuring one file: some move a hundred thousand frames */

struct measured {
  const char *path;
  size_t scenarios; /* of the file, that run in the simulated world */
  double per_s;
};

struct options {
  char **paths;
  int path_count;
  int count;
  double require;
  const char *json;
};

static double cpu_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One turn. Returns how many scenarios ran, or -1 after telling what did not pass. */
static int turn(const char *path) {
  static const struct world_options world = {0};
  struct scn_file file;
  struct scn_problem problem;
  int ran = 0;
  if (!scn_read_file(path, &file, &problem)) {
    fprintf(stderr, "%s\n", problem.text);
    return -1;
  }
  for (size_t i = 0; i < file.count && ran >= 0; i++) {
    struct job j = {.scenario = &file.scenarios[i], .world = SCN_SIM};
    if (!j.scenario->worlds[SCN_SIM]) continue;
    job_run(&j, &world, -1);
    ran++;
    if (j.verdict == VERDICT_PASSED || j.verdict == VERDICT_DISPUTED) continue;
    fprintf(stderr, "sim_bench: %s is %s: %s\n", j.scenario->name, verdict_name(j.verdict), j.why);
    ran = -1;
  }
  scn_file_free(&file);
  return ran;
}

/* The first turn warms caches and allocator and is not measured. false: something did not pass. */
static bool measure(const char *path, int count, struct measured *m) {
  const int scenarios = turn(path);
  if (scenarios < 0) return false;
  const double from_s = cpu_s();
  double spent_s = 0;
  int turns = 0;
  for (; turns < count && spent_s < ENOUGH_S && scenarios > 0; turns++) {
    if (turn(path) != scenarios) return false;
    spent_s = cpu_s() - from_s;
  }
  *m = (struct measured){path, (size_t)scenarios, (double)scenarios * turns / spent_s};
  return true;
}

static int by_speed(const void *a, const void *b) {
  const double x = ((const struct measured *)a)->per_s, y = ((const struct measured *)b)->per_s;
  return (x > y) - (x < y);
}

/* Of the files, each once. */
static double median_file(const struct measured *sorted, size_t n) {
  return (sorted[(n - 1) / 2].per_s + sorted[n / 2].per_s) / 2;
}

/* Of the scenarios: a matrix of ten lines counts ten times. */
static double median_scenario(const struct measured *sorted, size_t scenarios) {
  size_t at = 0, below = 0;
  while (below + sorted[at].scenarios <= (scenarios - 1) / 2) below += sorted[at++].scenarios;
  return sorted[at].per_s;
}

static void print(const struct options *o, const struct measured *m, size_t n, size_t scenarios) {
  printf("scenarios a second on one processor (parse, both twin runs, judge)\n");
  printf("%zu files, %zu scenarios, up to %d turns\n", n, scenarios, o->count);
  printf("  %9.0f  the median scenario\n  %9.0f  the median file\n  %9.0f  the fastest file\n",
         median_scenario(m, scenarios), median_file(m, n), m[n - 1].per_s);
  puts("the slowest files");
  for (size_t i = 0; i < n && i < SLOWEST; i++) printf("  %9.0f  %s\n", m[i].per_s, m[i].path);
}

static bool write_json(const struct options *o, const struct measured *m, size_t n, size_t scenarios) {
  FILE *f = fopen(o->json, "w");
  if (!f) return false;
  fprintf(f, "{\"files\": %zu, \"scenarios\": %zu, \"turns\": %d, \"median_scenario_per_s\": %.0f, "
             "\"median_file_per_s\": %.0f, \"min_per_s\": %.0f, \"max_per_s\": %.0f,\n \"slowest\": [",
          n, scenarios, o->count, median_scenario(m, scenarios), median_file(m, n), m[0].per_s, m[n - 1].per_s);
  for (size_t i = 0; i < n && i < SLOWEST; i++)
    fprintf(f, "%s{\"path\": \"%s\", \"per_s\": %.0f}", i ? ", " : "", m[i].path, m[i].per_s);
  fprintf(f, "]}\n");
  return fclose(f) == 0;
}

static int run(const struct options *o, const struct collection *c, struct measured *m) {
  size_t n = 0, scenarios = 0;
  bool good = true;
  for (size_t i = 0; i < c->count; i++) {
    if (!measure(c->paths[i], o->count, &m[n])) good = false;
    else if (m[n].scenarios > 0) scenarios += m[n++].scenarios;
  }
  if (!good) return 3; /* figures of scenarios that fail are worth nothing */
  if (n == 0) {
    fputs("sim_bench: no scenario runs in the simulated world\n", stderr);
    return 4;
  }
  qsort(m, n, sizeof *m, by_speed);
  print(o, m, n, scenarios);
  if (o->json && !write_json(o, m, n, scenarios)) {
    fprintf(stderr, "sim_bench: %s: %s\n", o->json, strerror(errno));
    return 3;
  }
  if (o->require <= 0 || median_scenario(m, scenarios) >= o->require) return 0;
  printf("the median scenario is below the %.0f that are required\n", o->require);
  return 1;
}

static int usage(FILE *out, int code) {
  fprintf(out, "usage: sim_bench [--count N] [--require PER_SECOND] [--json FILE] FILE-OR-FOLDER...\n"
               "Runs every scenario of the simulated world N times (50; a file at most a second) in this process and\n"
               "prints scenarios a second of processor time: the median scenario, the median file, and the five\n"
               "slowest files.\n"
               "Exit: 0 measured; 1 the median scenario is below --require; 2 bad file or usage; 3 a scenario did\n"
               "not pass; 4 nothing to run.\n");
  return code;
}

/* -1 = go on, else the exit code. */
static int read_options(struct options *o, int argc, char **argv) {
  *o = (struct options){.count = 50};
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i += 2) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(argv[i], "--help") == 0) return usage(stdout, 0);
    if (strcmp(argv[i], "--version") == 0) return puts("sim_bench " QWPKIT_VERSION) < 0;
    if (!value) return usage(stderr, 2);
    if (strcmp(argv[i], "--count") == 0) o->count = atoi(value);
    else if (strcmp(argv[i], "--require") == 0) o->require = atof(value);
    else if (strcmp(argv[i], "--json") == 0) o->json = value;
    else return usage(stderr, 2);
  }
  o->paths = argv + i;
  o->path_count = argc - i;
  return o->count >= 1 && o->path_count >= 1 ? -1 : usage(stderr, 2);
}

int main(int argc, char **argv) {
  struct options o;
  struct collection c;
  int code = read_options(&o, argc, argv);
  if (code >= 0) return code;
  if (!collect(o.paths, o.path_count, &c)) return 2;
  struct measured *m = calloc(c.count + 1, sizeof *m);
  code = m ? run(&o, &c, m) : 3;
  free(m);
  collection_free(&c);
  return code;
}
