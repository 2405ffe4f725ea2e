#include "runner/samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SAMPLES 1000000

static const char *const kind_names[] = {"bytes", "descriptors"};

void samples_init(struct samples *s, const char *name, enum sample_kind kind) {
  *s = (struct samples){.kind = kind};
  snprintf(s->name, sizeof s->name, "%s", name);
}

void samples_free(struct samples *s) {
  free(s->at);
  s->at = NULL;
  s->count = s->cap = 0;
}

bool samples_add(struct samples *s, int64_t t_ns, int64_t value, bool in_fault) {
  if (value < 0) return true;
  if (s->count == s->cap) {
    const size_t cap = s->cap ? s->cap * 2 : 256;
    struct sample *grown = realloc(s->at, cap * sizeof *grown);
    if (!grown) return false;
    s->at = grown;
    s->cap = cap;
  }
  s->at[s->count++] = (struct sample){t_ns, value, in_fault};
  return true;
}

/* "# client.rss bytes" names the series; any other line with '#' is a remark. */
static void read_remark(struct samples *s, const char *line) {
  char name[64], kind[16];
  if (s->name[0] || sscanf(line, "# %63s %15s", name, kind) != 2) return;
  for (int k = 0; k < 2; k++)
    if (strcmp(kind, kind_names[k]) == 0) {
      snprintf(s->name, sizeof s->name, "%s", name);
      s->kind = (enum sample_kind)k;
    }
}

static bool read_line(struct samples *s, const char *line) {
  int64_t t_ns, value;
  int fault, used = 0;
  if (sscanf(line, "%" SCNd64 " %" SCNd64 " %d %n", &t_ns, &value, &fault, &used) != 3 || line[used]) return false;
  if (value < 0 || (fault != 0 && fault != 1) || s->count >= MAX_SAMPLES) return false;
  if (s->count && t_ns < s->at[s->count - 1].t_ns) return false;
  return samples_add(s, t_ns, value, fault == 1);
}

bool samples_read(struct samples *s, FILE *f, char *why, size_t why_n) {
  char line[160];
  samples_init(s, "", SAMPLE_BYTES);
  for (size_t number = 1; fgets(line, sizeof line, f); number++) {
    if (line[0] == '#') {
      read_remark(s, line);
    } else if (!read_line(s, line)) {
      snprintf(why, why_n, "line %zu is no sample: \"t_ns value 0|1\", in order of time", number);
      samples_free(s);
      return false;
    }
  }
  if (!ferror(f) && s->name[0]) return true;
  snprintf(why, why_n, "%s", ferror(f) ? "cannot be read" : "no line \"# NAME bytes\" or \"# NAME descriptors\"");
  samples_free(s);
  return false;
}

bool samples_write(const struct samples *s, FILE *f) {
  fprintf(f, "# %s %s\n", s->name, kind_names[s->kind]);
  for (size_t i = 0; i < s->count; i++)
    fprintf(f, "%" PRId64 " %" PRId64 " %d\n", s->at[i].t_ns, s->at[i].value, s->at[i].in_fault);
  return fflush(f) == 0 && !ferror(f);
}
