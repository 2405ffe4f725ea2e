#define _GNU_SOURCE
#include "runner/options.h"

#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/option_number.h"
#include "qwp/sender.h"

static const char help[] =
    "qwp-scenario - runs scenarios of a QWP client against a scripted server and judges them\n"
    "\n"
    "usage: qwp-scenario [options] FILE|FOLDER...\n"
    "\n"
    "  qwp-scenario scenarios                     everything, in each world it claims\n"
    "  qwp-scenario --world sim scenarios/batch   one topic, simulated: virtual time, one thread\n"
    "  qwp-scenario --journal - --world live F    one file over loopback, every event on the screen\n"
    "  qwp-scenario --failed scenarios            only what was red last time\n"
    "  qwp-scenario --explain publish             what a key means and takes\n"
    "\n"
    "which\n"
    "  --world sim|live|tls|all  where to run (tls: live over TLS); default all: each world that a scenario claims;\n"
    "                        live with --client. May be repeated\n"
    "  --only TEXT           only scenarios whose name contains TEXT\n"
    "  --failed              only those that were red in the last report\n"
    "  --compare-worlds      instead of judging: each scenario that claims several worlds, in each of them, and\n"
    "                        in the simulated one twice more: the send loop first, and bytes in pieces; frames,\n"
    "                        answers, ends and watermarks must be equal\n"
    "  --list                print the names, one \"world name\" a line, and run nothing\n"
    "how\n"
    "  --seed N              seed of all that is random: what ranges choose, and the simulated world;\n"
    "                        default: from the file, else from the name\n"
    "  -j N                  worker processes; default: the number of processors\n"
    "  --repeat N            run the whole set N times\n"
    "  --no-deadline         nothing ends a wait, one process: for a debugger\n"
    "  --client COMMAND      the client to start, live and tls only; default: qwp-send --child beside\n"
    "                        this program\n"
    "  --client-limit N      live, tls: seconds the client may take before it counts as hanging; default 60\n"
    "  --run-limit N         seconds the whole run may take: what is not done then is an error; default: no limit\n"
    "what is kept\n"
    "  --journal FILE        every event as JSON lines; - is standard output; runs stand in the order they end,\n"
    "                        each with its lines together: -j 1 for files to compare\n"
    "  --hex                 payload bytes in the journal\n"
    "  --junit FILE          JUnit XML\n"
    "  --json FILE           the results as JSON lines\n"
    "  --report FILE         the same, kept for --failed; default: qwp-report.jsonl in the build folder;\n"
    "                        results of what did not run this time stay in it\n"
    "  -q, --quiet           red ones and the closing line only\n"
    "language\n"
    "  --explain WORD        help for a key of the scenario language or a counter (`all`: for each), or what a rule\n"
    "                        says (P121-27, WIRE-FLAG-002, CASE-31), and which of the files given cite it\n"
    "  --schema              the JSON schema of a scenario file\n"
    "  --help, --version\n"
    "\n"
    "exit code: 0 all passed; 1 a failure; 2 a bad file or usage; 3 harness, environment or a dead client;\n"
    "4 nothing ran\n";

enum {
  OPT_WORLD = 256, OPT_SEED, OPT_JOURNAL, OPT_ONLY, OPT_FAILED, OPT_LIST, OPT_EXPLAIN, OPT_SCHEMA, OPT_NO_DEADLINE,
  OPT_CLIENT, OPT_CLIENT_LIMIT, OPT_RUN_LIMIT, OPT_HEX, OPT_JUNIT, OPT_JSON, OPT_REPORT, OPT_REPEAT, OPT_COMPARE,
  OPT_HELP, OPT_VERSION
};

static const struct option table[] = {
    {"world", required_argument, NULL, OPT_WORLD},     {"seed", required_argument, NULL, OPT_SEED},
    {"journal", required_argument, NULL, OPT_JOURNAL}, {"only", required_argument, NULL, OPT_ONLY},
    {"failed", no_argument, NULL, OPT_FAILED},         {"list", no_argument, NULL, OPT_LIST},
    {"explain", required_argument, NULL, OPT_EXPLAIN}, {"schema", no_argument, NULL, OPT_SCHEMA},
    {"no-deadline", no_argument, NULL, OPT_NO_DEADLINE}, {"client", required_argument, NULL, OPT_CLIENT},
    {"hex", no_argument, NULL, OPT_HEX},               {"junit", required_argument, NULL, OPT_JUNIT},
    {"json", required_argument, NULL, OPT_JSON},       {"report", required_argument, NULL, OPT_REPORT},
    {"repeat", required_argument, NULL, OPT_REPEAT},   {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, OPT_HELP},             {"version", no_argument, NULL, OPT_VERSION},
    {"compare-worlds", no_argument, NULL, OPT_COMPARE},
    {"client-limit", required_argument, NULL, OPT_CLIENT_LIMIT},
    {"run-limit", required_argument, NULL, OPT_RUN_LIMIT},
    {NULL, 0, NULL, 0}};

static int point_to_help(void) {
  fputs("qwp-scenario: `qwp-scenario --help` tells more\n", stderr);
  return 2;
}

static int usage(const char *fmt, const char *arg) {
  fprintf(stderr, "qwp-scenario: ");
  fprintf(stderr, fmt, arg);
  fputc('\n', stderr);
  return point_to_help();
}

static int set_world(struct options *o, const char *name) {
  o->world_given = true;
  if (strcmp(name, "all") == 0) {
    o->all_worlds = true;
    return -1;
  }
  for (int w = 0; w < SCN_WORLDS; w++)
    if (strcmp(name, scn_world_name((enum scn_world)w)) == 0) {
      o->worlds[w] = true;
      o->all_worlds = false;
      return -1;
    }
  return usage("--world: there is no world '%s'; known are sim, live, tls and all", name);
}

static int set_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *out) {
  return option_number("qwp-scenario", option, text, min, max, out) ? -1 : 2;
}

/* The simulated world has the built-in client inside it: with another one a run there would be green about the wrong
 * client. */
static int keep_client_live(struct options *o) {
  if (o->client == o->default_client) return -1;
  if (o->all_worlds && o->world_given)
    return usage("%s", "--client: another client runs in the worlds live and tls only, not in all");
  if (o->worlds[SCN_SIM]) return usage("%s", "--client: another client runs in the worlds live and tls only, not in sim");
  if (o->all_worlds) o->worlds[SCN_LIVE] = true;
  o->all_worlds = false;
  return -1;
}

/* What is compared is fixed: every world that a scenario claims, with the client that all of them have. */
static int keep_compare_whole(const struct options *o) {
  if (!o->compare) return -1;
  if (o->world_given) return usage("%s", "--compare-worlds: runs in every world that a scenario claims; leave out --world");
  if (o->client != o->default_client)
    return usage("%s", "--compare-worlds: another client has one world only; leave out --client");
  if (o->failed) return usage("%s", "--compare-worlds: the report that --failed reads is of other runs; name the files");
  return -1;
}

/* The programs stand together, the report one folder above them. */
static void find_defaults(struct options *o, const char *called) {
  char self[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n < 0) n = snprintf(self, sizeof self, "%s", called); /* no /proc here: as it was called, then */
  self[n < (ssize_t)sizeof self ? n : (ssize_t)sizeof self - 1] = '\0';
  const char *bin = dirname(self);
  snprintf(o->default_client, sizeof o->default_client, "%.900s/qwp-send --child", bin);
  snprintf(o->default_report, sizeof o->default_report, "%.900s/../qwp-report.jsonl", bin);
}

static int take(struct options *o, int opt, const char *arg) {
  uint64_t n = 0;
  int code = -1;
  switch (opt) {
    case OPT_WORLD: return set_world(o, arg);
    case OPT_SEED: return set_number("--seed", arg, 1, UINT64_MAX, &o->seed);
    case 'j':
      code = set_number("-j", arg, 1, 64, &n);
      o->workers = (int)n;
      return code;
    case OPT_REPEAT:
      code = set_number("--repeat", arg, 1, 1000000, &n);
      o->repeat = (int)n;
      return code;
    case OPT_JOURNAL: o->journal = arg; return -1;
    case OPT_ONLY: o->only = arg; return -1;
    case OPT_FAILED: o->failed = true; return -1;
    case OPT_COMPARE: o->compare = true; return -1;
    case OPT_LIST: o->list = true; return -1;
    case OPT_EXPLAIN: o->explain = arg; return -1;
    case OPT_SCHEMA: o->schema = true; return -1;
    case OPT_NO_DEADLINE: o->no_deadline = true; return -1;
    case OPT_CLIENT: o->client = arg; return -1;
    case OPT_CLIENT_LIMIT: return set_number("--client-limit", arg, 1, 86400, &o->client_limit_s);
    case OPT_RUN_LIMIT: return set_number("--run-limit", arg, 1, 86400, &o->run_limit_s);
    case OPT_HEX: o->full_journal = true; return -1;
    case OPT_JUNIT: o->junit = arg; return -1;
    case OPT_JSON: o->json = arg; return -1;
    case OPT_REPORT: o->report = arg; return -1;
    case 'q': o->quiet = true; return -1;
    case OPT_HELP: fputs(help, stdout); return 0;
    case OPT_VERSION: printf("qwp-scenario %s\n", QWP_CLIENT_VERSION); return 0;
    default: return point_to_help(); /* getopt has told what is wrong */
  }
}

int options_read(struct options *o, int argc, char **argv) {
  *o = (struct options){.all_worlds = true, .repeat = 1, .client_limit_s = 60};
  find_defaults(o, argc > 0 ? argv[0] : "qwp-scenario");
  o->client = o->default_client;
  o->report = o->default_report;
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  o->workers = cpus > 0 && cpus < 64 ? (int)cpus : 2;
  int opt;
  while ((opt = getopt_long(argc, argv, "j:q", table, NULL)) != -1) {
    int code = take(o, opt, optarg);
    if (code >= 0) return code;
  }
  o->paths = argv + optind;
  o->path_count = argc - optind;
  if (o->path_count == 0 && !o->explain && !o->schema) return usage("no scenario file or folder given%s", "");
  int code = keep_compare_whole(o);
  return code >= 0 ? code : keep_client_live(o);
}
