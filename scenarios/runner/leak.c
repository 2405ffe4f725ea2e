#include "runner/leak.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct floors {
  struct sample *at; /* the lowest sample of each stretch */
  size_t count;
};

struct leak_limits leak_limits_of(enum sample_kind kind) {
  return (struct leak_limits){.allowance = kind == SAMPLE_BYTES ? 64 * 1024 : 0};
}

/* "12345678" or "3 descriptors". */
static const char *unit(const struct samples *s) { return s->kind == SAMPLE_BYTES ? "bytes" : "descriptors"; }

static double seconds(const struct samples *s, int64_t t_ns) { return (double)(t_ns - s->at[0].t_ns) / 1e9; }

static bool above_ceiling(const struct samples *s, const struct leak_limits *l, char *why, size_t why_n) {
  for (size_t i = 0; l->ceiling > 0 && i < s->count; i++) {
    if (s->at[i].value <= l->ceiling) continue;
    snprintf(why, why_n, "%s: %" PRId64 " %s at %.1f s, above the ceiling of %" PRId64 "%s", s->name, s->at[i].value,
             unit(s), seconds(s, s->at[i].t_ns), l->ceiling, s->at[i].in_fault ? ", inside a fault window" : "");
    return true;
  }
  return false;
}

/* ---- stretches ---- */

static void lower(struct floors *f, size_t stretch, const struct sample *x) {
  if (stretch >= f->count) {
    f->at[f->count++] = *x;
    return;
  }
  if (x->value < f->at[stretch].value) f->at[stretch] = *x;
}

/* One for each quiet time between faults. */
static void between_faults(const struct samples *s, struct floors *f) {
  bool quiet = false;
  for (size_t i = 0; i < s->count; i++) {
    if (!s->at[i].in_fault) lower(f, quiet ? f->count - 1 : f->count, &s->at[i]);
    quiet = !s->at[i].in_fault;
  }
}

static size_t quiet_count(const struct samples *s) {
  size_t n = 0;
  for (size_t i = 0; i < s->count; i++) n += !s->at[i].in_fault;
  return n;
}

/* Of equal numbers of quiet samples, as many as are wanted. */
static void by_number(const struct samples *s, size_t quiet, struct floors *f) {
  size_t n = 0;
  for (size_t i = 0; i < s->count; i++)
    if (!s->at[i].in_fault) lower(f, n++ * LEAK_STRETCHES / quiet, &s->at[i]);
}

static void find_floors(const struct samples *s, struct floors *f) {
  between_faults(s, f);
  const size_t quiet = quiet_count(s);
  if (f->count >= LEAK_STRETCHES || quiet < LEAK_STRETCHES) return;
  f->count = 0;
  by_number(s, quiet, f);
}

/* ---- the verdict ---- */

static enum leak_verdict compare(const struct samples *s, const struct leak_limits *l, const struct floors *f,
                                 char *why, size_t why_n) {
  const struct sample *first = f->at + 1, *end = f->at + f->count;
  const size_t third = (f->count - 1) / 3;
  const struct sample *highest = first, *lowest = end - third;
  for (size_t i = 0; i < third; i++) {
    if (first[i].value > highest->value) highest = &first[i];
    if (end[-1 - (ptrdiff_t)i].value < lowest->value) lowest = end - 1 - i;
  }
  const int64_t rise = lowest->value - highest->value;
  if (rise > l->allowance) {
    snprintf(why, why_n,
             "%s: leaks: it never came below %" PRId64 " %s after %.1f s, and had been at %" PRId64
             " or less until %.1f s (%zu quiet stretches, %" PRId64 " may be kept)",
             s->name, lowest->value, unit(s), seconds(s, end[-(ptrdiff_t)third].t_ns), highest->value,
             seconds(s, first[third - 1].t_ns), f->count, l->allowance);
    return LEAK_FOUND;
  }
  /* A steady leak lifts the first floor of the last third above the last of the first third by what it leaks
   * meanwhile. */
  const double apart_s = (double)(end[-(ptrdiff_t)third].t_ns - first[third - 1].t_ns) / 1e9;
  const double rate = apart_s > 0 ? (double)(l->allowance + 1) / apart_s : 0;
  snprintf(why, why_n,
           "%s: no leak: back to %" PRId64 " %s at %.1f s, %" PRId64 " before (%zu quiet stretches; more than %.1f "
           "%s/s would be noticed)",
           s->name, lowest->value, unit(s), seconds(s, lowest->t_ns), highest->value, f->count, rate, unit(s));
  return LEAK_NONE;
}

enum leak_verdict leak_judge(const struct samples *s, const struct leak_limits *limits, char *why, size_t why_n) {
  if (s->count == 0) {
    snprintf(why, why_n, "0 samples for %s", s->name);
    return LEAK_UNKNOWN;
  }
  if (above_ceiling(s, limits, why, why_n)) return LEAK_FOUND;
  struct floors f = {calloc(s->count + 1, sizeof *f.at), 0};
  if (!f.at) {
    snprintf(why, why_n, "%s: out of memory", s->name);
    return LEAK_UNKNOWN;
  }
  find_floors(s, &f);
  enum leak_verdict v = LEAK_UNKNOWN;
  if (f.count >= LEAK_STRETCHES)
    v = compare(s, limits, &f, why, why_n);
  else
    snprintf(why, why_n, "%s: %zu quiet stretches of %zu samples, %d are wanted to tell a leak", s->name, f.count,
             s->count, LEAK_STRETCHES);
  free(f.at);
  return v;
}
