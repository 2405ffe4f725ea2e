/* qwp-soak - does a client leak while it lives long and is reset now and then? */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/option_number.h"
#include "client/said.h"
#include "qwp/sender.h"
#include "runner/leak.h"
#include "soak/soak.h"

static const char help[] =
    "qwp-soak - a client that lives long against a mock that resets it now and then; fails when it leaks\n"
    "\n"
    "usage: qwp-soak [options]\n"
    "\n"
    "  qwp-soak                         a minute of qwp-send, 24 resets, each with an outage\n"
    "  qwp-soak --seconds 86400 --out series      a day; the series of its memory and descriptors are kept\n"
    "  qwp-soak --judge series/client.rss         judges a recorded series, and runs nothing\n"
    "  qwp-soak --client 'python3 my_sender.py'   another client; the connect string is its last argument\n"
    "\n"
    "  --seconds N      about how long: it ends with the last reset; default 60\n"
    "  --resets N       connections that are reset; default 24, at least 16: between them lie the floors that are compared\n"
    "  --outage-ms N    how long connects are refused behind each; default 200\n"
    "  --ceiling BYTES  memory that the client may never pass; default: none\n"
    "  --client CMD     default: qwp-send beside this program, a flush of ten rows every 5 ms\n"
    "  --out FOLDER     writes client.rss and client.fds there, one sample a line\n"
    "  --judge FILE     judges that series\n"
    "  --help, --version\n"
    "\n"
    "Memory and descriptors are read from /proc every 5 ms. A leak is a floor that never comes back to where it was; what\n"
    "is in use during an outage is held against the ceiling alone. scenarios/runner/leak.h says exactly how.\n"
    "exit code: 0 no leak; 1 a leak or a violation of the protocol; 2 usage; 3 nothing can be said\n";

struct options {
  struct soak_options soak;
  int64_t ceiling;
  const char *out, *judge;
  char client[PATH_MAX + 128];
};

enum { OPT_SECONDS = 256, OPT_RESETS, OPT_OUTAGE, OPT_CEILING, OPT_CLIENT, OPT_OUT, OPT_JUDGE, OPT_HELP, OPT_VERSION };

static const struct option table[] = {
    {"seconds", required_argument, NULL, OPT_SECONDS}, {"resets", required_argument, NULL, OPT_RESETS},
    {"outage-ms", required_argument, NULL, OPT_OUTAGE}, {"ceiling", required_argument, NULL, OPT_CEILING},
    {"client", required_argument, NULL, OPT_CLIENT},   {"out", required_argument, NULL, OPT_OUT},
    {"judge", required_argument, NULL, OPT_JUDGE},     {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},       {NULL, 0, NULL, 0}};

static int number(const char *option, const char *text, uint64_t min, uint64_t max, int64_t *out) {
  uint64_t n;
  if (!option_number("qwp-soak", option, text, min, max, &n)) return 2;
  *out = (int64_t)n;
  return -1;
}

/* -1 to go on, else the exit code. */
static int take(struct options *o, int opt, const char *arg) {
  switch (opt) {
    case OPT_SECONDS: return number("--seconds", arg, 1, 31536000, &o->soak.seconds);
    case OPT_RESETS: return number("--resets", arg, LEAK_STRETCHES, 1000000, &o->soak.resets);
    case OPT_OUTAGE: return number("--outage-ms", arg, 1, 3600000, &o->soak.outage_ms);
    case OPT_CEILING: return number("--ceiling", arg, 1, INT64_MAX, &o->ceiling);
    case OPT_CLIENT: o->soak.client = arg; return -1;
    case OPT_OUT: o->out = arg; return -1;
    case OPT_JUDGE: o->judge = arg; return -1;
    case OPT_HELP: fputs(help, stdout); return 0;
    case OPT_VERSION: printf("qwp-soak %s\n", QWP_CLIENT_VERSION); return 0;
    default: fputs("qwp-soak: `qwp-soak --help` tells more\n", stderr); return 2;
  }
}

static int read_options(struct options *o, int argc, char **argv) {
  *o = (struct options){.soak = {.seconds = 60, .resets = 24, .outage_ms = 200}};
  char self[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  self[n > 0 ? n : 0] = '\0';
  snprintf(o->client, sizeof o->client, "%s/qwp-send -q --rows 9000000000000 --flush 10 --pause-ms 5", dirname(self));
  o->soak.client = o->client;
  int opt;
  while ((opt = getopt_long(argc, argv, "", table, NULL)) != -1) {
    const int code = take(o, opt, optarg);
    if (code >= 0) return code;
  }
  if (optind == argc) return -1;
  fprintf(stderr, "qwp-soak: '%s' is no option (see --help)\n", argv[optind]);
  return 2;
}

static int say(const struct options *o, const struct samples *s) {
  static const int codes[] = {[LEAK_NONE] = 0, [LEAK_FOUND] = 1, [LEAK_UNKNOWN] = 3};
  struct leak_limits limits = leak_limits_of(s->kind);
  if (s->kind == SAMPLE_BYTES) limits.ceiling = o->ceiling;
  char why[400];
  const enum leak_verdict v = leak_judge(s, &limits, why, sizeof why);
  printf("%s\n", why);
  return codes[v];
}

static int judge_file(const struct options *o) {
  struct samples s;
  char why[200];
  FILE *f = fopen(o->judge, "re");
  if (!f) snprintf(why, sizeof why, "%s", strerror(errno));
  const bool ok = f && samples_read(&s, f, why, sizeof why);
  if (f) fclose(f);
  if (!ok) {
    fprintf(stderr, "qwp-soak: --judge %s: %s\n", o->judge, why);
    return 2;
  }
  const int code = say(o, &s);
  samples_free(&s);
  return code;
}

static bool keep(const char *folder, const struct samples *s) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, s->name);
  FILE *f = fopen(path, "we");
  const bool ok = f && samples_write(s, f);
  if (f) fclose(f);
  if (!ok) fprintf(stderr, "qwp-soak: --out %s: %s\n", path, strerror(errno));
  return ok;
}

/* The worst of both: what cannot be said weighs more than a leak that was seen elsewhere, as in the runner. */
static int judge_run(const struct options *o, const struct soak_result *r) {
  int code = 0;
  printf("%" PRId64 " connections, %" PRId64 " resets with an outage, %" PRId64 " frames, %" PRId64 " looks\n",
         r->connections, r->resets, r->frames, r->looks);
  for (int i = 0; i < SOAK_SERIES; i++) {
    const int one = say(o, &r->series[i]);
    if (one > code) code = one;
    if (o->out && !keep(o->out, &r->series[i])) code = 3;
  }
  if (r->violations == 0) return code;
  printf("%" PRId64 " violations, the first: %s\n", r->violations, r->violation);
  return code > 1 ? code : 1;
}

static int command(int argc, char **argv) {
  struct options o;
  const int code = read_options(&o, argc, argv);
  if (code >= 0) return code;
  if (o.judge) return judge_file(&o);
  if (o.out && mkdir(o.out, 0755) != 0 && errno != EEXIST) {
    fprintf(stderr, "qwp-soak: --out %s: %s\n", o.out, strerror(errno));
    return 2;
  }
  struct soak_result r;
  char why[256];
  const bool ran = soak_run(&o.soak, &r, why, sizeof why);
  if (!ran) fprintf(stderr, "qwp-soak: %s\n", why);
  const int result = ran ? judge_run(&o, &r) : 3;
  soak_result_free(&r);
  return result;
}

int main(int argc, char **argv) { return said("qwp-soak", command(argc, argv)); }
