#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/report.h"

#define GREEN "\033[32m"
#define RED "\033[31m"
#define YELLOW "\033[33m"
#define DIM "\033[2m"
#define BOLD "\033[1m"
#define PLAIN "\033[0m"
#define CLEAR_LINE "\r\033[K"

static const char *paint(const struct screen *s, const char *code) { return s->colour ? code : ""; }

void screen_init(struct screen *s, FILE *out, const char *program, size_t total, uint64_t seed, bool quiet) {
  const char *no_colour = getenv("NO_COLOR");
  bool terminal = isatty(fileno(out)) == 1 && !(no_colour && *no_colour);
  *s = (struct screen){.out = out, .program = program, .total = total, .seed = seed, .quiet = quiet, .terminal = terminal,
                       .colour = terminal};
}

static bool is_red(const struct job *j) { return j->verdict == VERDICT_FAILED || j->verdict == VERDICT_ERROR; }

static void tell_red(struct screen *s, const struct job *j) {
  const struct scn_scenario *x = j->scenario;
  char command[1024];
  job_command(j, s->program, s->seed, command, sizeof command);
  fprintf(s->out, "%s%s%s %s [%s]\n", paint(s, RED), j->verdict == VERDICT_ERROR ? "ERROR" : "FAIL", paint(s, PLAIN),
          x->name, scn_world_name(j->world));
  fprintf(s->out, "  %s\n", x->claim);
  fprintf(s->out, "  %s%s%s\n", paint(s, BOLD), j->why, paint(s, PLAIN));
  fprintf(s->out, "  %srules:%s", paint(s, DIM), paint(s, PLAIN));
  for (size_t i = 0; i < x->cite_count; i++) fprintf(s->out, " %s", x->cites[i]);
  fprintf(s->out, "\n  %srepeat:%s %s\n", paint(s, DIM), paint(s, PLAIN), command);
}

/* Not judged, so neither green nor red; said, so that nobody takes it for either. */
static void tell_unsupported(const struct screen *s, const struct job *j) {
  fprintf(s->out, "%sunsupported%s %s [%s]\n  %s\n", paint(s, YELLOW), paint(s, PLAIN), j->scenario->name,
          scn_world_name(j->world), j->why);
}

void screen_done(void *screen, const struct job *j) {
  struct screen *s = screen;
  s->done++;
  s->red += is_red(j);
  if (s->terminal && !s->quiet) fputs(CLEAR_LINE, s->out);
  if (is_red(j)) tell_red(s, j);
  if (j->verdict == VERDICT_UNSUPPORTED && !s->quiet) tell_unsupported(s, j);
  if (s->terminal && !s->quiet) {
    fprintf(s->out, "%s[%zu/%zu]%s %s %s", paint(s, DIM), s->done, s->total, paint(s, PLAIN), scn_world_name(j->world),
            j->scenario->name);
    if (s->done == s->total) fputs(CLEAR_LINE, s->out);
  }
  fflush(s->out);
}

/* ---- the table ---- */

struct cell {
  size_t counts[VERDICTS];
};

struct row {
  char topic[64];
  struct cell worlds[SCN_WORLDS];
  int64_t took_ns;
};

struct table {
  struct row *rows;
  size_t count;
  bool shown[SCN_WORLDS];
};

static struct row *row_of(struct table *t, const char *topic) {
  for (size_t i = 0; i < t->count; i++)
    if (strcmp(t->rows[i].topic, topic) == 0) return &t->rows[i];
  struct row *r = &t->rows[t->count++];
  snprintf(r->topic, sizeof r->topic, "%s", topic);
  return r;
}

static bool collect(struct table *t, const struct jobs *jobs) {
  t->rows = calloc(jobs->count + 1, sizeof *t->rows);
  if (!t->rows) return false;
  for (size_t i = 0; i < jobs->count; i++) {
    const struct job *j = &jobs->at[i];
    struct row *r = row_of(t, job_topic(j));
    r->worlds[j->world].counts[j->verdict]++;
    r->took_ns += j->took_ns;
    t->shown[j->world] = true;
  }
  return true;
}

/* "12 ok" or "11 ok 1 red", padded to width. */
static void print_cell(const struct screen *s, const struct cell *c, int width) {
  size_t red = c->counts[VERDICT_FAILED] + c->counts[VERDICT_ERROR];
  size_t other = c->counts[VERDICT_DISPUTED] + c->counts[VERDICT_UNSUPPORTED];
  char text[64] = "-";
  if (c->counts[VERDICT_PASSED] + red + other) {
    int n = snprintf(text, sizeof text, "%zu ok", c->counts[VERDICT_PASSED]);
    if (red) n += snprintf(text + n, sizeof text - (size_t)n, ", %zu red", red);
    if (other) snprintf(text + n, sizeof text - (size_t)n, ", %zu apart", other);
  }
  const char *colour = red ? RED : other ? YELLOW : c->counts[VERDICT_PASSED] ? GREEN : DIM;
  fprintf(s->out, "  %s%-*s%s", paint(s, colour), width, text, paint(s, PLAIN));
}

static void print_table(const struct screen *s, const struct table *t) {
  fprintf(s->out, "\n%s%-16s", paint(s, BOLD), "topic");
  for (int w = 0; w < SCN_WORLDS; w++)
    if (t->shown[w]) fprintf(s->out, "  %-16s", scn_world_name((enum scn_world)w));
  fprintf(s->out, "  %s%s\n", "time", paint(s, PLAIN));
  for (size_t i = 0; i < t->count; i++) {
    fprintf(s->out, "%-16s", t->rows[i].topic);
    for (int w = 0; w < SCN_WORLDS; w++)
      if (t->shown[w]) print_cell(s, &t->rows[i].worlds[w], 16);
    fprintf(s->out, "  %s%.0f ms%s\n", paint(s, DIM), (double)t->rows[i].took_ns / 1e6, paint(s, PLAIN));
  }
}

void screen_end(struct screen *s, const struct jobs *jobs, int64_t took_ns) {
  struct table t = {0};
  if (!s->quiet && collect(&t, jobs)) print_table(s, &t);
  free(t.rows);
  size_t passed = jobs_with(jobs, VERDICT_PASSED), failed = jobs_with(jobs, VERDICT_FAILED) + jobs_with(jobs, VERDICT_ERROR);
  size_t apart = jobs_with(jobs, VERDICT_DISPUTED) + jobs_with(jobs, VERDICT_UNSUPPORTED);
  fprintf(s->out, "%s%s%zu passed, %zu failed", s->quiet ? "" : "\n", paint(s, failed || jobs->trouble[0] ? RED : GREEN), passed, failed);
  if (apart) fprintf(s->out, ", %zu skipped", apart);
  fprintf(s->out, "%s\n", paint(s, PLAIN));
  if (jobs->trouble[0]) fprintf(s->out, "%sERROR%s %s\n", paint(s, RED), paint(s, PLAIN), jobs->trouble);
  if (!s->quiet) fprintf(s->out, "%sin %.1f s%s\n", paint(s, DIM), (double)took_ns / 1e9, paint(s, PLAIN));
}
