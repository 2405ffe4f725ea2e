#define _GNU_SOURCE
#include "sweep/options.h"

#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "client/option_number.h"
#include "qwp/sender.h"

static const char help[] =
    "qwp-sweep - lives a sender's life over and over, and each time one thing goes wrong, at the next place\n"
    "\n"
    "usage: qwp-sweep [options] [FILE|FOLDER...]     default: scenarios/lives of the sources\n"
    "\n"
    "  qwp-sweep                                     every place of every life\n"
    "  qwp-sweep --stride 16 --seed 3                one place in 16, another choice with each seed\n"
    "  qwp-sweep --life batches                      one life\n"
    "  qwp-sweep --life batches --list               the names of its places\n"
    "  qwp-sweep --life batches --point send/2/d77/EPIPE --journal -        one place, every event on the screen\n"
    "\n"
    "A life is a scenario: connect, publish, reconnect, close. It is run once with no fault, in the simulated world,\n"
    "and counted: its calls, and the bytes of each connection in each direction, the upgrade included. Then it is\n"
    "run once for each place and fault:\n"
    "\n"
    "  send/N/uB/F  send/N/dB/F  byte B that the client sends on connection N: u from the first on, d behind the 101\n"
    "  recv/N/uB/F  recv/N/dB/F  byte B that it receives; F is rst, fin, short (the call ends right before it), again\n"
    "                            (would block), or an errno\n"
    "  server/N/B/F              the server reads B bytes of connection N, then ends it with rst or fin\n"
    "  call/NAME/K/F[/ever]      the K-th send, recv, connect, wait, close, entropy: fails once, or from then on\n"
    "  alloc/K[/ever]            the K-th allocation\n"
    "\n"
    "No clock read is among them: the clock table has no way to fail. A call that fails for ever at no cost of time\n"
    "(an interrupted one, a wait) takes a millisecond each time, or no time would pass at all.\n"
    "\n"
    "What the life expects is not asked. What is judged: it ends; no violation; nothing acknowledged is missing,\n"
    "order and values are right; whatever failed says so with a status that fits; every socket and allocation is\n"
    "given back. Behind one fault it recovers within seconds, and at most one connection is lost, none where it can\n"
    "live on.\n"
    "A fault that never met its place is counted, named, and red: it proves nothing.\n"
    "\n"
    "  --life NAME       only this life (may be repeated)\n"
    "  --point ID        only this place, in this process; wants one --life\n"
    "  --journal FILE    with --point: every event as JSON lines; - is standard output\n"
    "  --stride N        one place in N, chosen by --seed N, but every call and allocation that fails once\n"
    "  -j, --jobs N      processes side by side; default: the number of processors\n"
    "  --show N          failures in full; default 10. Each is named with the command that repeats it\n"
    "  --stop-after N    ends after so many failures\n"
    "  --list            the places, one a line, and their number by life\n"
    "  --json FILE       the result as JSON\n"
    "  -q, --quiet       no progress\n"
    "  --help, --version\n"
    "\n"
    "exit code: 0 all is well; 1 a failure, or a fault that did not fire; 2 a bad file or usage; 3 harness or\n"
    "environment; 4 nothing ran\n";

enum { OPT_LIFE = 256, OPT_POINT, OPT_JOURNAL, OPT_STRIDE, OPT_SEED, OPT_SHOW, OPT_STOP, OPT_LIST, OPT_JSON, OPT_HELP,
       OPT_VERSION };

static const struct option table[] = {
    {"life", required_argument, NULL, OPT_LIFE},     {"point", required_argument, NULL, OPT_POINT},
    {"journal", required_argument, NULL, OPT_JOURNAL}, {"stride", required_argument, NULL, OPT_STRIDE},
    {"seed", required_argument, NULL, OPT_SEED},     {"jobs", required_argument, NULL, 'j'},
    {"show", required_argument, NULL, OPT_SHOW},     {"stop-after", required_argument, NULL, OPT_STOP},
    {"list", no_argument, NULL, OPT_LIST},           {"json", required_argument, NULL, OPT_JSON},
    {"quiet", no_argument, NULL, 'q'},               {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},     {NULL, 0, NULL, 0}};

static int point_to_help(void) {
  fputs("qwp-sweep: `qwp-sweep --help` tells more\n", stderr);
  return 2;
}

static int usage(const char *what) {
  fprintf(stderr, "qwp-sweep: %s\n", what);
  return point_to_help();
}

static int set_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *out) {
  return option_number("qwp-sweep", option, text, min, max, out) ? -1 : 2;
}

static int add_life(struct sweep_options *o, const char *name) {
  if (o->life_count == SWEEP_LIVES_MAX) return usage("--life: too many");
  o->lives[o->life_count++] = name;
  return -1;
}

static int take(struct sweep_options *o, int opt, const char *arg) {
  uint64_t n = 0;
  int code;
  switch (opt) {
    case OPT_LIFE: return add_life(o, arg);
    case OPT_POINT: o->point = arg; return -1;
    case OPT_JOURNAL: o->journal = arg; return -1;
    case OPT_STRIDE: return set_number("--stride", arg, 1, 1000000, &o->stride);
    case OPT_SEED: return set_number("--seed", arg, 0, UINT64_MAX, &o->seed);
    case OPT_SHOW: return set_number("--show", arg, 0, 1000000, &o->show);
    case OPT_STOP: return set_number("--stop-after", arg, 1, 1000000, &o->stop_after);
    case 'j':
      code = set_number("--jobs", arg, 1, 64, &n);
      o->workers = (int)n;
      return code;
    case OPT_LIST: o->list = true; return -1;
    case OPT_JSON: o->json = arg; return -1;
    case 'q': o->quiet = true; return -1;
    case OPT_HELP: fputs(help, stdout); return 0;
    case OPT_VERSION: printf("qwp-sweep %s\n", QWP_CLIENT_VERSION); return 0;
    default: return point_to_help(); /* getopt has told what is wrong */
  }
}

int sweep_options_read(struct sweep_options *o, int argc, char **argv) {
  *o = (struct sweep_options){.stride = 1, .show = 10};
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  o->workers = cpus > 0 && cpus < 64 ? (int)cpus : 2;
  int opt;
  while ((opt = getopt_long(argc, argv, "j:q", table, NULL)) != -1) {
    int code = take(o, opt, optarg);
    if (code >= 0) return code;
  }
  o->paths = argv + optind;
  o->path_count = argc - optind;
  if (o->point && o->life_count != 1) return usage("--point wants one --life");
  if (o->journal && !o->point) return usage("--journal wants --point: it tells one run");
  return -1;
}
