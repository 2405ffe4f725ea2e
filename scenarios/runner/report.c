#include "runner/report.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runner/buffer.h"

/* ---- JUnit ---- */

static void xml_text(FILE *f, const char *p) {
  for (; *p; p++) {
    unsigned char c = (unsigned char)*p;
    if (c == '<')
      fputs("&lt;", f);
    else if (c == '>')
      fputs("&gt;", f);
    else if (c == '&')
      fputs("&amp;", f);
    else if (c == '"')
      fputs("&quot;", f);
    else if (c >= 0x20 || c == '\n' || c == '\t')
      fputc(c, f);
    else
      fputc('?', f);
  }
}

static void junit_case(FILE *f, const struct job *j) {
  fprintf(f, "  <testcase time=\"%.6f\" classname=\"%s.", (double)j->took_ns / 1e9, job_place(j));
  xml_text(f, job_topic(j));
  fputs("\" name=\"", f);
  xml_text(f, j->scenario->name);
  fputs("\">", f);
  const char *tag = j->verdict == VERDICT_FAILED ? "failure" : j->verdict == VERDICT_ERROR ? "error" : NULL;
  if (tag) {
    fprintf(f, "<%s message=\"", tag);
    xml_text(f, j->why);
    fputs("\">", f);
    xml_text(f, j->scenario->claim);
    fprintf(f, "</%s>", tag);
  } else if (j->verdict != VERDICT_PASSED) {
    fprintf(f, "<skipped message=\"%s: ", verdict_name(j->verdict));
    xml_text(f, j->why);
    fputs("\"/>", f);
  }
  fputs("</testcase>\n", f);
}

/* What belongs to no scenario stands as a case of its own, so that a CI server sees it too. */
static void junit_trouble(FILE *f, const char *trouble) {
  fputs("  <testcase time=\"0\" classname=\"runner\" name=\"workers\"><error message=\"", f);
  xml_text(f, trouble);
  fputs("\"/></testcase>\n", f);
}

bool report_junit(const struct jobs *jobs, const char *path, int64_t took_ns) {
  FILE *f = fopen(path, "w");
  if (!f) return false;
  size_t apart = jobs_with(jobs, VERDICT_DISPUTED) + jobs_with(jobs, VERDICT_UNSUPPORTED);
  size_t trouble = jobs->trouble[0] != '\0';
  fprintf(f,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"qwpkit\" tests=\"%zu\" failures=\"%zu\" "
          "errors=\"%zu\" skipped=\"%zu\" time=\"%.6f\">\n",
          jobs->count + trouble, jobs_with(jobs, VERDICT_FAILED), jobs_with(jobs, VERDICT_ERROR) + trouble, apart,
          (double)took_ns / 1e9);
  for (size_t i = 0; i < jobs->count; i++) junit_case(f, &jobs->at[i]);
  if (trouble) junit_trouble(f, jobs->trouble);
  fputs("</testsuite>\n", f);
  return fclose(f) == 0;
}

/* ---- JSON lines ---- */

static json_t *strings(const char *const *at, size_t n) {
  json_t *a = json_array();
  for (size_t i = 0; i < n; i++) json_array_append_new(a, json_string(at[i]));
  return a;
}

static bool ran(const struct jobs *jobs, const char *world, const char *name) {
  for (size_t i = 0; i < jobs->count; i++) {
    const struct job *j = &jobs->at[i];
    if (strcmp(j->scenario->name, name) == 0 && strcmp(job_place(j), world) == 0) return true;
  }
  return false;
}

/* The results of an earlier report that this run says nothing about. No report, or lines that are none: nothing. */
static void read_others(const struct jobs *jobs, const char *path, struct buffer *out) {
  struct stat st;
  if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return; /* a terminal or a pipe would wait for somebody to type */
  FILE *f = fopen(path, "r");
  if (!f) return;
  char *line = NULL;
  size_t cap = 0;
  while (getline(&line, &cap, f) > 0) {
    json_t *o = json_loads(line, 0, NULL);
    const char *world = json_string_value(json_object_get(o, "world"));
    const char *name = json_string_value(json_object_get(o, "scenario"));
    if (world && name && !ran(jobs, world, name)) buffer_line(out, line, strcspn(line, "\n"));
    json_decref(o);
  }
  free(line);
  fclose(f);
}

/* What this run comes to, so that nobody takes silence for green. The reasons are grouped as on the screen. */
static json_t *skipped_json(const struct jobs *jobs) {
  struct groups groups = {0};
  char key[1024];
  for (size_t i = 0; i < jobs->count; i++) {
    const struct job *j = &jobs->at[i];
    if (j->verdict != VERDICT_DISPUTED && j->verdict != VERDICT_UNSUPPORTED) continue;
    groups_reason_key(j, key, sizeof key);
    groups_add(&groups, key, j);
  }
  json_t *list = json_array();
  for (size_t i = 0; i < groups.count; i++) {
    const struct group *g = &groups.at[i];
    json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "verdict", verdict_name(g->first->verdict), "reason",
                                          g->key, "count", (json_int_t)g->count));
  }
  groups_free(&groups);
  return list;
}

static bool write_header(FILE *f, const struct jobs *jobs) {
  json_t *o = json_pack("{s:s, s:i, s:I}", "report", "qwp-scenario", "version", 1, "cases", (json_int_t)jobs->count);
  for (int v = 0; v < VERDICTS; v++)
    json_object_set_new(o, verdict_name((enum verdict)v), json_integer((json_int_t)jobs_with(jobs, (enum verdict)v)));
  json_object_set_new(o, "fired", json_integer((json_int_t)jobs_fired(jobs)));
  json_object_set_new(o, "samples", json_integer((json_int_t)jobs_samples(jobs)));
  json_object_set_new(o, "skipped", skipped_json(jobs));
  char *line = json_dumps(o, JSON_COMPACT);
  if (line) fprintf(f, "%s\n", line);
  free(line);
  json_decref(o);
  return line != NULL;
}

bool report_lines(const struct jobs *jobs, const char *path, const char *program, uint64_t seed, bool keep_others) {
  struct buffer others = {0};
  if (keep_others) read_others(jobs, path, &others);
  FILE *f = fopen(path, "w");
  if (!f) {
    buffer_free(&others);
    return false;
  }
  bool whole = write_header(f, jobs);
  if (others.n) fwrite(others.at, 1, others.n, f);
  buffer_free(&others);
  for (size_t i = 0; i < jobs->count; i++) {
    const struct job *j = &jobs->at[i];
    char command[2048];
    job_command(j, program, seed, command, sizeof command);
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:o, s:o, s:s}", "scenario", j->scenario->name,
                          "world", job_place(j), "verdict", verdict_name(j->verdict), "why", j->why, "fired",
                          (json_int_t)j->fired, "samples", (json_int_t)j->samples, "ns", (json_int_t)j->took_ns,
                          "claim", j->scenario->claim, "cites", strings(j->scenario->cites, j->scenario->cite_count), "kills",
                          strings(j->scenario->kills, j->scenario->kill_count), "repeat", command);
    char *line = o ? json_dumps(o, JSON_COMPACT) : NULL;
    if (line)
      fprintf(f, "%s\n", line);
    else
      whole = false; /* a name that is no UTF-8 */
    free(line);
    json_decref(o);
  }
  if (fclose(f) != 0) return false;
  if (!whole) errno = EILSEQ;
  return whole;
}

/* ---- what was red last time ---- */

static bool add_name(struct report_names *names, const char *world, const char *scenario) {
  char **grown = realloc(names->at, (names->count + 1) * sizeof *grown);
  size_t n = strlen(world) + strlen(scenario) + 2;
  char *name = malloc(n);
  if (grown) names->at = grown;
  if (!grown || !name) {
    free(name);
    return false;
  }
  snprintf(name, n, "%s %s", world, scenario);
  names->at[names->count++] = name;
  return true;
}

bool report_failed(const char *path, struct report_names *names) {
  *names = (struct report_names){0};
  FILE *f = fopen(path, "r");
  if (!f) return false;
  char *line = NULL;
  size_t cap = 0;
  while (getline(&line, &cap, f) > 0) {
    json_t *o = json_loads(line, 0, NULL);
    const char *verdict = json_string_value(json_object_get(o, "verdict"));
    const char *world = json_string_value(json_object_get(o, "world"));
    const char *name = json_string_value(json_object_get(o, "scenario"));
    bool red = verdict && (strcmp(verdict, "failed") == 0 || strcmp(verdict, "error") == 0);
    if (red && world && name) add_name(names, world, name);
    json_decref(o);
  }
  free(line);
  fclose(f);
  return true;
}

bool report_has(const struct report_names *names, const struct job *j) {
  char name[1024];
  snprintf(name, sizeof name, "%s %s", job_place(j), j->scenario->name);
  for (size_t i = 0; i < names->count; i++)
    if (strcmp(names->at[i], name) == 0) return true;
  return false;
}

void report_names_free(struct report_names *names) {
  for (size_t i = 0; i < names->count; i++) free(names->at[i]);
  free(names->at);
  *names = (struct report_names){0};
}
