#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"
#include "runner/catalogue.h"
#include "runner/report.h"

#define GREEN "\033[32m"
#define RED "\033[31m"
#define YELLOW "\033[33m"
#define DIM "\033[2m"
#define BOLD "\033[1m"
#define PLAIN "\033[0m"
#define TITLE_COLUMNS 100
#define CLEAR_LINE "\r\033[K"

static const char *paint(const struct screen *s, const char *code) { return s->colour ? code : ""; }

void screen_init(struct screen *s, FILE *out, const char *program, size_t total, uint64_t seed, bool quiet) {
  const char *no_colour = getenv("NO_COLOR");
  bool terminal = isatty(fileno(out)) == 1 && !(no_colour && *no_colour);
  *s = (struct screen){.out = out, .program = program, .total = total, .seed = seed, .quiet = quiet, .terminal = terminal,
                       .colour = terminal};
}

/* How many bytes of the text are at most `columns` characters. */
static int fitting(const char *text, size_t columns) {
  const char *p = text, *end = text + strlen(text);
  for (; p < end && columns > 0; columns--) {
    size_t n = qwp_utf8_char(p, (size_t)(end - p));
    p += n ? n : 1;
  }
  return (int)(p - text);
}

static bool is_red(const struct job *j) { return j->verdict == VERDICT_FAILED || j->verdict == VERDICT_ERROR; }

/* "cited:   P121-27 title"; a long title is cut, --explain has all of it. */
static void tell_rule(struct screen *s, const char *what, const char *id) {
  if (!s->rules) s->rules = catalogue_load();
  const char *title = catalogue_title(s->rules, id);
  fprintf(s->out, "  %s%-9s%s %s", paint(s, DIM), what, paint(s, PLAIN), id);
  const int n = title ? fitting(title, TITLE_COLUMNS) : 0;
  if (title) fprintf(s->out, " %.*s%s", n, title, title[n] ? "..." : "");
  fputc('\n', s->out);
}

static void tell_red(struct screen *s, const struct job *j) {
  const struct scn_scenario *x = j->scenario;
  char command[2048], violated[40];
  job_command(j, s->program, s->seed, command, sizeof command);
  fprintf(s->out, "%s%s%s %s [%s]\n", paint(s, RED), j->verdict == VERDICT_ERROR ? "ERROR" : "FAIL", paint(s, PLAIN),
          x->name, job_place(j));
  fprintf(s->out, "  %s\n", x->claim);
  fprintf(s->out, "  %s%s%s\n", paint(s, BOLD), j->why, paint(s, PLAIN));
  if (verdict_violated(j->why, violated, sizeof violated)) tell_rule(s, "violated:", violated);
  for (size_t i = 0; i < x->cite_count; i++) tell_rule(s, i ? "" : "cited:", x->cites[i]);
  fprintf(s->out, "  %s%-9s%s %s\n", paint(s, DIM), "repeat:", paint(s, PLAIN), command);
  fprintf(s->out, "  %s%-9s%s %s --journal - --hex\n", paint(s, DIM), "bytes:", paint(s, PLAIN), command);
}

static void note(struct screen *s, const struct job *j) {
  char key[1024];
  if (is_red(j)) {
    groups_red_key(j, key, sizeof key);
    if (groups_add(&s->reds, key, j) == 1) tell_red(s, j);
  } else if (j->verdict != VERDICT_PASSED) {
    groups_reason_key(j, key, sizeof key);
    groups_add(&s->skipped, key, j);
  }
}

/* Reds like one that was told: their names stand in the report. */
static void tell_more(const struct screen *s) {
  for (size_t i = 0; i < s->reds.count; i++) {
    const struct group *g = &s->reds.at[i];
    size_t more = g->count - 1;
    if (!more) continue;
    const bool matrix = strchr(g->first->scenario->name, '[') != NULL;
    fprintf(s->out, "%s%s%s %s [%s] and %zu more %s%s%s: %s\n", paint(s, RED),
            g->first->verdict == VERDICT_ERROR ? "ERROR" : "FAIL", paint(s, PLAIN), g->first->scenario->name,
            job_place(g->first), more, matrix ? "line" : "run", more > 1 ? "s" : "",
            matrix ? " of this matrix" : "", groups_sentence(g->first));
  }
}

/* Not judged, so neither green nor red; said, so that nobody takes it for either. */
static void tell_skipped(const struct screen *s) {
  for (size_t i = 0; i < s->skipped.count; i++) {
    const struct group *g = &s->skipped.at[i];
    fprintf(s->out, "%s%s%s %zu x %s\n", paint(s, YELLOW), verdict_name(g->first->verdict), paint(s, PLAIN), g->count,
            g->key);
  }
}

/* "[12/345] sim scenarios/batch/a", cut to the terminal: a line that wraps cannot be written over. */
static void tell_progress(const struct screen *s, const struct job *j) {
  struct winsize size = {0};
  char head[64], text[1024];
  int columns = ioctl(fileno(s->out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  int n = snprintf(head, sizeof head, "[%zu/%zu]", s->done, s->total);
  snprintf(text, sizeof text, " %s %s", job_place(j), j->scenario->name);
  int room = columns - 1 - n;
  fprintf(s->out, "%s%s%s%.*s", paint(s, DIM), head, paint(s, PLAIN), fitting(text, room > 0 ? (size_t)room : 0), text);
}

void screen_done(void *screen, const struct job *j) {
  struct screen *s = screen;
  s->done++;
  if (s->terminal && !s->quiet) fputs(CLEAR_LINE, s->out);
  note(s, j);
  if (s->terminal && !s->quiet) {
    tell_progress(s, j);
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

#define CELL_BYTES 160

struct table {
  struct row *rows;
  size_t count;
  bool shown[SCN_WORLDS];
  bool compared; /* then there is one column */
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
    t->compared = j->compared;
  }
  return true;
}

static size_t red_of(const struct cell *c) { return c->counts[VERDICT_FAILED] + c->counts[VERDICT_ERROR]; }

/* "12 ok", or "11 ok, 1 red, 2 unsupported"; returns its length. */
static int cell_text(const struct cell *c, char *out, size_t cap) {
  const struct {
    size_t count;
    const char *word;
  } parts[] = {{red_of(c), "red"},
               {c->counts[VERDICT_UNSUPPORTED], "unsupported"},
               {c->counts[VERDICT_DISPUTED], "disputed"}};
  size_t all = c->counts[VERDICT_PASSED] + parts[0].count + parts[1].count + parts[2].count;
  if (all == 0) return snprintf(out, cap, "-");
  int n = snprintf(out, cap, "%zu ok", c->counts[VERDICT_PASSED]);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (parts[i].count) n += snprintf(out + n, cap - (size_t)n, ", %zu %s", parts[i].count, parts[i].word);
  return n;
}

static const char *column_title(const struct table *t, int world) {
  return t->compared ? "compared" : scn_world_name((enum scn_world)world);
}

static int column_width(const struct table *t, int world) {
  char text[CELL_BYTES];
  int width = 16;
  for (size_t i = 0; i < t->count; i++) {
    int n = cell_text(&t->rows[i].worlds[world], text, sizeof text);
    if (n > width) width = n;
  }
  return width;
}

static void print_cell(const struct screen *s, const struct cell *c, int width) {
  size_t other = c->counts[VERDICT_DISPUTED] + c->counts[VERDICT_UNSUPPORTED];
  char text[CELL_BYTES];
  cell_text(c, text, sizeof text);
  const char *colour = red_of(c) ? RED : other ? YELLOW : c->counts[VERDICT_PASSED] ? GREEN : DIM;
  fprintf(s->out, "  %s%-*s%s", paint(s, colour), width, text, paint(s, PLAIN));
}

static void print_table(const struct screen *s, const struct table *t) {
  fprintf(s->out, "\n%s%-16s", paint(s, BOLD), "topic");
  for (int w = 0; w < SCN_WORLDS; w++)
    if (t->shown[w]) fprintf(s->out, "  %-*s", column_width(t, w), column_title(t, w));
  fprintf(s->out, "  %s%s\n", "time", paint(s, PLAIN));
  for (size_t i = 0; i < t->count; i++) {
    fprintf(s->out, "%-16s", t->rows[i].topic);
    for (int w = 0; w < SCN_WORLDS; w++)
      if (t->shown[w]) print_cell(s, &t->rows[i].worlds[w], column_width(t, w));
    fprintf(s->out, "  %s%.0f ms%s\n", paint(s, DIM), (double)t->rows[i].took_ns / 1e6, paint(s, PLAIN));
  }
}

void screen_end(struct screen *s, const struct jobs *jobs, int64_t took_ns) {
  struct table t = {0};
  tell_more(s);
  tell_skipped(s);
  if (!s->quiet && collect(&t, jobs)) print_table(s, &t);
  free(t.rows);
  size_t passed = jobs_with(jobs, VERDICT_PASSED);
  size_t failed = jobs_with(jobs, VERDICT_FAILED) + jobs_with(jobs, VERDICT_ERROR);
  size_t apart = jobs_with(jobs, VERDICT_DISPUTED) + jobs_with(jobs, VERDICT_UNSUPPORTED);
  const char *colour = paint(s, failed || jobs->trouble[0] ? RED : GREEN);
  fprintf(s->out, "%s%s%zu passed, %zu failed", s->quiet ? "" : "\n", colour, passed, failed);
  if (apart) fprintf(s->out, ", %zu skipped", apart);
  fprintf(s->out, "%s of %zu cases; %" PRId64 " faults fired, %" PRId64 " samples\n", paint(s, PLAIN), jobs->count,
          jobs_fired(jobs), jobs_samples(jobs));
  if (jobs->trouble[0]) fprintf(s->out, "%sERROR%s %s\n", paint(s, RED), paint(s, PLAIN), jobs->trouble);
  if (!s->quiet) fprintf(s->out, "%sin %.1f s%s\n", paint(s, DIM), (double)took_ns / 1e9, paint(s, PLAIN));
  groups_free(&s->reds);
  groups_free(&s->skipped);
  catalogue_free(s->rules);
  s->rules = NULL;
}
