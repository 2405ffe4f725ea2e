/* mock_bench - frames a second that qwp-mock decodes, beside a reader that only unmasks.
 *
 * Speeds of a machine are worth little alone, so each round runs all servers in turn on the same stream, and what
 * counts is the ratio within a round. Client and server have a processor each.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "server.h"

#define MAX_ROUNDS 99

enum kind { BARE, DIGEST, FULL, KINDS };

static const struct {
  const char *name, *key;
  size_t share; /* sends frames / share: the full journal is a line a frame, and a minute would be too long */
  const char *arguments[10]; /* up to a NULL */
} kinds[KINDS] = {
  [BARE] = {"bare reader", "bare", 1, {0}},
  [DIGEST] = {"qwp-mock, rows digest, journal summary", "mock_summary", 1,
              {"--rows", "digest", "--journal-level", "summary", "--journal", "/dev/null", "--fail-on-violation"}},
  [FULL] = {"qwp-mock, rows digest, journal full", "mock_full_journal", 8,
            {"--rows", "digest", "--journal-level", "full", "--journal", "/dev/null", NULL}},
};

struct options {
  size_t frames;
  int rounds;
  double require; /* 0 = only print */
  const char *json;
  char mock[PATH_MAX];
};

struct result {
  double frames_s[MAX_ROUNDS];  /* from first byte to last OK */
  double cpu_ns[MAX_ROUNDS];    /* processor time of the server a frame */
  double ratio[MAX_ROUNDS];     /* of frames_s to that of the bare reader in the same round */
};

static bool run_one(enum kind k, const struct load *all, const struct options *o, struct result *r, int round) {
  const struct load part = {all->bytes, all->frames / kinds[k].share}, *load = &part;
  char why[200] = "";
  struct server s;
  int64_t took_ns = 0, cpu_ns = 0;
  bool good = k == BARE ? server_start_bare(&s, load->frames, why, sizeof why)
                        : server_start_mock(&s, o->mock, kinds[k].arguments, why, sizeof why);
  if (good) {
    char ending[200] = "";
    good = load_run(load, s.port, &took_ns, why, sizeof why);
    if (!good && k == BARE) kill(s.pid, SIGKILL); /* it waits for more */
    const bool ended = server_end(&s, k != BARE, &cpu_ns, ending, sizeof ending);
    if (good && !ended) memcpy(why, ending, sizeof why);
    good = good && ended;
  }
  if (!good) {
    fprintf(stderr, "mock_bench: %s: %s\n", kinds[k].name, why);
    return false;
  }
  r->frames_s[round] = (double)load->frames * 1e9 / (double)took_ns;
  r->cpu_ns[round] = (double)cpu_ns / (double)load->frames;
  return true;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void sort(double *v, int n) { qsort(v, (size_t)n, sizeof *v, by_value); }
static double median(const double *sorted, int n) { return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2; }

static bool write_json(const struct options *o, const struct result *r) {
  FILE *f = fopen(o->json, "w");
  if (!f) return false;
  fprintf(f, "{\"frames\": %zu, \"frame_bytes\": %u, \"rounds\": %d", o->frames, LOAD_FRAME_BYTES, o->rounds);
  for (int k = 0; k < KINDS; k++)
    fprintf(f, ",\n \"%s\": {\"frames_per_s\": %.0f, \"server_cpu_ns_per_frame\": %.2f, \"ratio\": %.4f, "
               "\"ratio_min\": %.4f, \"ratio_max\": %.4f}",
            kinds[k].key, median(r[k].frames_s, o->rounds), median(r[k].cpu_ns, o->rounds),
            median(r[k].ratio, o->rounds), r[k].ratio[0], r[k].ratio[o->rounds - 1]);
  fprintf(f, "}\n");
  return fclose(f) == 0;
}

static void print(const struct options *o, const struct result *r) {
  printf("%u-byte frames, %zu a round, %d rounds, medians\n", LOAD_FRAME_BYTES, o->frames, o->rounds);
  printf("%-40s %12s %9s %15s   %s\n", "", "M frames/s", "ns/frame", "server CPU ns", "of the bare reader");
  for (int k = 0; k < KINDS; k++) {
    const double speed = median(r[k].frames_s, o->rounds);
    printf("%-40s %12.2f %9.1f %15.1f", kinds[k].name, speed / 1e6, 1e9 / speed, median(r[k].cpu_ns, o->rounds));
    if (k == BARE) puts("   1");
    else printf("   %.2f (%.2f to %.2f)\n", median(r[k].ratio, o->rounds), r[k].ratio[0], r[k].ratio[o->rounds - 1]);
  }
}

static int measure(const struct options *o) {
  static struct result r[KINDS];
  struct load load;
  if (!load_make(&load, o->frames)) {
    fprintf(stderr, "mock_bench: out of memory for %zu frames\n", o->frames);
    return 3;
  }
  bool good = true;
  for (int round = 0; good && round < o->rounds; round++)
    for (int k = 0; good && k < KINDS; k++) {
      good = run_one((enum kind)k, &load, o, &r[k], round);
      r[k].ratio[round] = r[k].frames_s[round] / r[BARE].frames_s[round];
    }
  load_free(&load);
  if (!good) return 3;
  for (int k = 0; k < KINDS; k++) {
    sort(r[k].frames_s, o->rounds);
    sort(r[k].cpu_ns, o->rounds);
    sort(r[k].ratio, o->rounds);
  }
  print(o, r);
  if (o->json && !write_json(o, r)) {
    fprintf(stderr, "mock_bench: %s: %s\n", o->json, strerror(errno));
    return 3;
  }
  const double ratio = median(r[DIGEST].ratio, o->rounds);
  if (o->require <= 0 || ratio >= o->require) return 0;
  printf("below the ratio of %.2f that is required\n", o->require);
  return 1;
}

static int usage(FILE *out, int code) {
  fprintf(out,
          "usage: mock_bench [--frames N] [--rounds N] [--mock PROGRAM] [--require RATIO] [--json FILE]\n"
          "Sends a prebuilt stream of 36-byte frames over loopback to a bare epoll reader that only unmasks, to\n"
          "qwp-mock with rows digest and journal summary, and to qwp-mock with the full journal (into /dev/null), in\n"
          "turn, and prints medians: frames a second from the first byte to the OK of the last frame, and processor\n"
          "time of the server a frame.\n"
          "  --frames N       frames a round (4000000); an eighth of it with the full journal\n"
          "  --rounds N       1 to 99 (5)\n"
          "  --mock PROGRAM   qwp-mock (the one beside this program)\n"
          "  --require RATIO  exit 1 if the mock with the journal summary is slower than that, as a share of the bare\n"
          "                   reader's frames a second (median of the rounds)\n"
          "  --json FILE      the same figures\n"
          "Exit: 0 measured; 1 below --require; 2 usage; 3 a server or the load failed.\n");
  return code;
}

static void mock_beside_us(char *out, size_t n) {
  char self[PATH_MAX - 16];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  self[length > 0 ? length : 0] = '\0';
  snprintf(out, n, "%s/qwp-mock", dirname(self));
}

/* -1 = go on, else the exit code. */
static int read_options(struct options *o, int argc, char **argv) {
  *o = (struct options){.frames = 4000000, .rounds = 5};
  mock_beside_us(o->mock, sizeof o->mock);
  for (int i = 1; i < argc; i += 2) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(argv[i], "--help") == 0) return usage(stdout, 0);
    if (strcmp(argv[i], "--version") == 0) return puts("mock_bench " QWPKIT_VERSION) < 0;
    if (!value) return usage(stderr, 2);
    if (strcmp(argv[i], "--frames") == 0) o->frames = strtoul(value, NULL, 10);
    else if (strcmp(argv[i], "--rounds") == 0) o->rounds = atoi(value);
    else if (strcmp(argv[i], "--require") == 0) o->require = atof(value);
    else if (strcmp(argv[i], "--json") == 0) o->json = value;
    else if (strcmp(argv[i], "--mock") == 0) snprintf(o->mock, sizeof o->mock, "%s", value);
    else return usage(stderr, 2);
  }
  const bool good = o->frames >= 8 && o->frames <= 100000000 && o->rounds >= 1 && o->rounds <= MAX_ROUNDS;
  return good ? -1 : usage(stderr, 2);
}

int main(int argc, char **argv) {
  struct options o;
  const int code = read_options(&o, argc, argv);
  if (code >= 0) return code;
  server_pin(0);
  return measure(&o);
}
