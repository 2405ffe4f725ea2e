#include "sweep/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint8_t fate_of(const struct sweep_report *r, size_t job) {
  return r->outcome ? r->outcome->results[job].fate : SWEEP_PENDING;
}

struct sweep_counts sweep_count(const struct sweep_report *r, const struct sweep_set *set, enum sweep_kind kind) {
  struct sweep_counts n = {0};
  for (size_t i = 0; i < r->job_count; i++) {
    uint8_t fate = fate_of(r, i);
    if (fate == SWEEP_PENDING || (set && r->jobs[i].set != set)) continue;
    if (kind != SWEEP_KIND_COUNT && sweep_point_kind(r->jobs[i].point) != kind) continue;
    n.spent += fate == SWEEP_SPENT;
    n.points += fate != SWEEP_SPENT;
    n.failed += fate == SWEEP_FAILED;
    n.unfired += fate == SWEEP_UNFIRED;
  }
  return n;
}

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

size_t sweep_distinct_states(const struct sweep_report *r) {
  uint64_t *states = malloc((r->job_count + 1) * sizeof *states);
  size_t n = 0, distinct = 0;
  if (!states) return 0;
  for (size_t i = 0; i < r->job_count; i++)
    if (r->outcome && r->outcome->results[i].state) states[n++] = r->outcome->results[i].state;
  qsort(states, n, sizeof *states, by_value);
  for (size_t i = 0; i < n; i++) distinct += i == 0 || states[i] != states[i - 1];
  free(states);
  return distinct;
}

static size_t broken_lives(const struct sweep_report *r) {
  size_t n = 0;
  for (size_t i = 0; i < r->set_count; i++) n += r->sets[i].broken[0] != '\0';
  return n;
}

int sweep_exit_code(const struct sweep_report *r) {
  struct sweep_counts all = sweep_count(r, NULL, SWEEP_KIND_COUNT);
  if (all.failed || all.unfired || broken_lives(r)) return 1;
  return all.points ? 0 : 4;
}

/* ---- the screen ---- */

static void print_row(const struct sweep_report *r, const struct sweep_set *set, const char *name, FILE *out) {
  fprintf(out, "%-28s", name);
  for (int k = 0; k <= SWEEP_KIND_COUNT; k++) fprintf(out, " %9zu", sweep_count(r, set, (enum sweep_kind)k).points);
  fprintf(out, " %8zu\n", sweep_count(r, set, SWEEP_KIND_COUNT).failed);
}

static void print_table(const struct sweep_report *r, FILE *out) {
  fprintf(out, "%-28s", "life");
  for (int k = 0; k < SWEEP_KIND_COUNT; k++) fprintf(out, " %9s", sweep_kind_name((enum sweep_kind)k));
  fprintf(out, " %9s %8s\n", "points", "failures");
  for (size_t i = 0; i < r->set_count; i++) print_row(r, &r->sets[i], r->sets[i].life.name, out);
  print_row(r, NULL, "all", out);
  fprintf(out, "%-28s", "failures");
  for (int k = 0; k <= SWEEP_KIND_COUNT; k++) fprintf(out, " %9zu", sweep_count(r, NULL, (enum sweep_kind)k).failed);
  fputc('\n', out);
}

static void command(const struct sweep_report *r, size_t job, char *out, size_t n) {
  char point[SWEEP_POINT_TEXT];
  sweep_point_text(r->jobs[job].point, point);
  snprintf(out, n, "%s --life %s --point %s", r->program, r->jobs[job].set->life.name, point);
}

static void print_view(const struct qwp_loop_view *v, FILE *out) {
  static const char *const states[] = {"backoff", "connecting", "upgrading", "catch-up", "running", "closing",
                                       "stopped"};
  static const char *const unsent[] = {"nothing unsent", "unsent from a frame's begin", "stopped inside a header",
                                       "stopped inside a payload"};
  fprintf(out, "    the loop: %s, %s%s; in flight %" PRId64 ", acks held %" PRId64 ", backlog %" PRId64
          ", symbols told %" PRId64 " of %" PRId64 ", connects %" PRId64 "\n", states[v->state], unsent[v->unsent],
          v->control_half_out ? ", a control frame half out" : "", v->in_flight, v->held_acks, v->backlog,
          v->catchup_next, v->catchup_all, v->connects);
}

static size_t failures_kept(const struct sweep_report *r) {
  if (!r->outcome) return 0;
  return r->outcome->failures < SWEEP_FAILURES_KEPT ? r->outcome->failures : SWEEP_FAILURES_KEPT;
}

static void print_failures(const struct sweep_report *r, FILE *out) {
  size_t kept = failures_kept(r);
  for (size_t i = 0; i < kept; i++) {
    const struct sweep_failure *f = &r->outcome->failure[i];
    char text[320];
    command(r, f->job, text, sizeof text);
    fprintf(out, "FAIL %s\n", text);
    if (i >= r->show) continue;
    fprintf(out, "    %s\n", f->why);
    if (f->viewed) print_view(&f->view, out);
  }
  if (r->outcome->failures > kept) fprintf(out, "... and %zu more failures\n", r->outcome->failures - kept);
}

/* A fault that met nothing proves nothing: it is named. */
static void print_unfired(const struct sweep_report *r, FILE *out) {
  for (size_t i = 0; i < r->job_count; i++) {
    char text[320];
    if (fate_of(r, i) != SWEEP_UNFIRED) continue;
    command(r, i, text, sizeof text);
    fprintf(out, "UNFIRED %s\n", text);
  }
}

static void print_broken(const struct sweep_report *r, FILE *out) {
  for (size_t i = 0; i < r->set_count; i++)
    if (r->sets[i].broken[0])
      fprintf(out, "BROKEN %s, with no fault at all: %s\n", r->sets[i].life.scenario->path, r->sets[i].broken);
}

void sweep_print(const struct sweep_report *r, FILE *out) {
  print_broken(r, out);
  if (!r->outcome) return;
  print_failures(r, out);
  print_unfired(r, out);
  print_table(r, out);
  struct sweep_counts all = sweep_count(r, NULL, SWEEP_KIND_COUNT);
  size_t by_turns = 0;
  for (size_t i = 0; i < r->set_count; i++) by_turns += r->sets[i].points.by_turns;
  fprintf(out, "by turns: %zu bytes inside frames of %d bytes and more have one fault each\n", by_turns,
          CENSUS_LONG_FRAME_BYTES);
  if (all.spent)
    fprintf(out, "not counted: %zu ends by the server behind its own script's end of that connection\n", all.spent);
  fprintf(out, "%zu points in %.1f s, %.0f a second; %zu distinct states of the loop; %zu failures, %zu did not fire\n",
          all.points, r->seconds, r->seconds > 0 ? (double)all.points / r->seconds : 0.0, sweep_distinct_states(r),
          all.failed, all.unfired);
}

/* ---- JSON ---- */

static void json_text(const char *text, FILE *out) {
  fputc('"', out);
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') fprintf(out, "\\%c", c);
    else if (c < 0x20 || c > 0x7e) fputc('?', out);
    else fputc(c, out);
  }
  fputc('"', out);
}

static void json_life(const struct sweep_report *r, const struct sweep_set *set, FILE *out) {
  struct sweep_counts n = sweep_count(r, set, SWEEP_KIND_COUNT);
  fprintf(out, "{\"life\":");
  json_text(set->life.name, out);
  fprintf(out, ",\"points\":%zu,\"failures\":%zu,\"unfired\":%zu,\"bytes_by_turns\":%zu,\"broken\":", n.points, n.failed,
          n.unfired, set->points.by_turns);
  json_text(set->broken, out);
  fputs(",\"kinds\":{", out);
  for (int k = 0; k < SWEEP_KIND_COUNT; k++) {
    n = sweep_count(r, set, (enum sweep_kind)k);
    fprintf(out, "%s\"%s\":[%zu,%zu]", k ? "," : "", sweep_kind_name((enum sweep_kind)k), n.points, n.failed);
  }
  fputs("}}", out);
}

bool sweep_write_json(const struct sweep_report *r, const char *path) {
  FILE *out = fopen(path, "w");
  if (!out) return false;
  struct sweep_counts all = sweep_count(r, NULL, SWEEP_KIND_COUNT);
  fprintf(out, "{\"points\":%zu,\"failures\":%zu,\"unfired\":%zu,\"spent\":%zu,\"seconds\":%.2f,"
          "\"distinct_states\":%zu,\"lives\":[", all.points, all.failed, all.unfired, all.spent, r->seconds,
          sweep_distinct_states(r));
  for (size_t i = 0; i < r->set_count; i++) {
    fputs(i ? ",\n" : "\n", out);
    json_life(r, &r->sets[i], out);
  }
  fputs("],\"failed\":[", out);
  for (size_t i = 0; i < failures_kept(r); i++) {
    char text[320];
    command(r, r->outcome->failure[i].job, text, sizeof text);
    fputs(i ? ",\n{\"command\":" : "\n{\"command\":", out);
    json_text(text, out);
    fputs(",\"why\":", out);
    json_text(r->outcome->failure[i].why, out);
    fputc('}', out);
  }
  fputs("]}\n", out);
  bool ok = !ferror(out);
  return fclose(out) == 0 && ok;
}
