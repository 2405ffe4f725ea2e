#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 256, SCRIPT, PROFILE, ROWS, JOURNAL, LEVEL, HEX, FOLLOW, JSON, ROWS_OUT, STRICT, FAIL, TLS, CA_OUT, SEED,
       HELP, VERSION };

static const struct option known[] = {
  {"port", required_argument, NULL, PORT}, {"script", required_argument, NULL, SCRIPT},
  {"profile", required_argument, NULL, PROFILE}, {"rows", required_argument, NULL, ROWS},
  {"journal", required_argument, NULL, JOURNAL}, {"journal-level", required_argument, NULL, LEVEL},
  {"hex", no_argument, NULL, HEX}, {"follow", no_argument, NULL, FOLLOW}, {"json", required_argument, NULL, JSON},
  {"rows-out", required_argument, NULL, ROWS_OUT}, {"strict", no_argument, NULL, STRICT},
  {"fail-on-violation", no_argument, NULL, FAIL}, {"tls", no_argument, NULL, TLS},
  {"ca-out", required_argument, NULL, CA_OUT}, {"seed", required_argument, NULL, SEED},
  {"help", no_argument, NULL, HELP},
  {"version", no_argument, NULL, VERSION},
  {NULL, 0, NULL, 0}};

void options_help(void) {
  fputs(
    "qwp-mock - a QWP server that keeps the protocol exactly, or breaks it exactly as told\n"
    "\n"
    "usage: qwp-mock [options]\n"
    "\n"
    "It listens on 127.0.0.1, prints `ready 127.0.0.1:PORT` and serves until SIGTERM, SIGINT or SIGHUP, or until\n"
    "nobody reads what it shows; then it prints what came: connections, frames, rows by table, and every violation, a\n"
    "thing that no client may do although a server may let it pass.\n"
    "\n"
    "  --port N               port to listen on; 0 (default): one from the system, see the ready line\n"
    "  --script FILE          how to misbehave: a `server:` list as in a scenario file (scenarios/README.md), or a\n"
    "                         whole scenario, of which the server's part is taken: of a matrix its first line, and\n"
    "                         its `faults:` are nobody's here\n"
    "  --seed N               what the ranges of the script choose by (at_frame: 40..400); default: its `seed:`, or 0\n"
    "  --profile doc|jul2026  the published documentation (default), or the server's source of July 2026\n"
    "  --tls                  speak TLS (wss), with a certificate for 127.0.0.1 and localhost made at start; below\n"
    "                         the ready line stands `ca PATH`, the CA that a client has to trust: a file that goes\n"
    "                         when the server ends, unless --ca-out named it\n"
    "  --ca-out FILE          with --tls: write the CA to this file\n"
    "  --strict               refuse what is only a violation\n"
    "  --rows full|digest|count   keep every value (default), a hash by table, or counts; count is the fastest\n"
    "  --follow               print one line for every event\n"
    "  --journal FILE         write every event as one JSON line\n"
    "  --journal-level summary|full|off   full (default) has a line for every frame and reply\n"
    "  --hex                  the payloads too, in journal and --follow\n"
    "  --json FILE            at the end, the figures as one JSON object\n"
    "  --rows-out FILE        at the end, the rows as JSON lines (with --rows full)\n"
    "                         One FILE of these three may be -: standard output, and the rest goes to standard error\n"
    "  --fail-on-violation    exit with 1 if there were violations\n"
    "  --help, --version\n"
    "\n"
    "Exit: 0 served until the signal; 1 violations, with --fail-on-violation; 2 a wrong option or script; 3 no port, or\n"
    "a file that cannot be written.\n"
    "\n"
    "Watch what a client sends:\n"
    "  qwp-mock --port 9000 --follow\n"
    "\n"
    "A server that resets the first connection after three frames, and what became of it:\n"
    "  cat > reset.yaml <<EOF\n"
    "  server:\n"
    "  - {connection: 1, reset: {at_frame: 3}}\n"
    "  EOF\n"
    "  qwp-mock --port 9000 --script reset.yaml --journal out.jsonl --json figures.json\n"
    "\n"
    "The same over TLS, and a client that trusts it:\n"
    "  qwp-mock --port 9000 --tls --ca-out ca.pem --follow\n"
    "  qwp-send 'wss::addr=127.0.0.1:9000;tls_roots=ca.pem;'\n"
    "\n"
    "From a container or another machine: forward a port to it (ssh -L 9000:127.0.0.1:9000 HOST, or run the client\n"
    "with the host's network: docker run --network=host). It never listens on any other address.\n",
    stdout);
}

static bool choice(const char *option, const char *value, const char *const *names, int count, int *out) {
  for (int i = 0; i < count; i++) {
    if (strcmp(names[i], value) != 0) continue;
    *out = i;
    return true;
  }
  fprintf(stderr, "qwp-mock: %s: '%s' is none of:", option, value);
  for (int i = 0; i < count; i++) fprintf(stderr, " %s", names[i]);
  fputs("\n", stderr);
  return false;
}

static bool port(const char *text, int *out) {
  char *end;
  long v = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || v < 0 || v > 65535) {
    fprintf(stderr, "qwp-mock: --port: '%s' is no port: 1 to 65535, or 0 for one from the system\n", text);
    return false;
  }
  *out = (int)v;
  return true;
}

/* Digits and nothing else: strtoull would take " -5" for a number near 2^64. */
static bool seed(const char *text, uint64_t *out) {
  errno = 0;
  const unsigned long long v = strtoull(text, NULL, 10);
  if (*text == '\0' || text[strspn(text, "0123456789")] != '\0' || v == 0 || errno == ERANGE) {
    fprintf(stderr, "qwp-mock: --seed: '%s' is no number from 1 to %" PRIu64 "\n", text, UINT64_MAX);
    return false;
  }
  *out = v;
  return true;
}

static bool take(struct options *o, int option) {
  static const char *const profiles[] = {"doc", "jul2026"}, *const rows[] = {"full", "digest", "count"},
                           *const levels[] = {"off", "summary", "full"};
  int v = 0;
  bool good = true;
  switch (option) {
    case PORT: return port(optarg, &o->port);
    case SCRIPT: o->script = optarg; return true;
    case PROFILE:
      good = choice("--profile", optarg, profiles, 2, &v);
      o->profile = (enum mock_profile)v;
      o->profile_set = true;
      return good;
    case ROWS:
      good = choice("--rows", optarg, rows, 3, &v);
      o->rows = (enum mock_rows)v;
      return good;
    case LEVEL:
      o->level_set = true;
      good = choice("--journal-level", optarg, levels, 3, &v);
      o->level = (enum mock_journal_level)v;
      return good;
    case JOURNAL: o->journal = optarg; return true;
    case JSON: o->json = optarg; return true;
    case ROWS_OUT: o->rows_out = optarg; return true;
    case HEX: o->hex = true; return true;
    case FOLLOW: o->follow = true; return true;
    case STRICT: o->strict = true; return true;
    case FAIL: o->fail_on_violation = true; return true;
    case TLS: o->tls = true; return true;
    case CA_OUT: o->ca_out = optarg; return true;
    case SEED: return seed(optarg, &o->seed);
    case HELP: o->help = true; return true;
    case VERSION: o->version = true; return true;
    default: return false; /* getopt has said why */
  }
}

static bool is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

/* What would be taken and then do nothing is refused, and two files in one. */
static bool agree(const struct options *o) {
  const bool watched = o->journal || o->follow;
  const char *wrong = NULL;
  if (o->rows_out && o->rows != MOCK_ROWS_FULL) wrong = "--rows-out: no values are kept: it needs --rows full";
  else if (o->hex && !watched) wrong = "--hex: nothing shows the payloads: it needs --journal FILE or --follow";
  else if (o->level_set && !watched) wrong = "--journal-level: there is no journal: it needs --journal FILE or --follow";
  else if (o->seed && !o->script) wrong = "--seed: nothing is chosen: it needs --script FILE";
  else if (o->ca_out && !o->tls) wrong = "--ca-out: there is no CA: it needs --tls";
  else if (is_stdout(o->journal) + is_stdout(o->json) + is_stdout(o->rows_out) > 1)
    wrong = "-: only one of --journal, --json and --rows-out can be standard output";
  if (wrong) fprintf(stderr, "qwp-mock: %s\n", wrong);
  return !wrong;
}

bool options_read(struct options *o, int argc, char **argv) {
  *o = (struct options){.level = MOCK_JOURNAL_FULL};
  optind = 1;
  int option;
  while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
    if (take(o, option)) continue;
    fputs("try: qwp-mock --help\n", stderr);
    return false;
  }
  if (optind < argc) {
    fprintf(stderr, "qwp-mock: '%s': no argument is taken (a script is given by --script FILE)\n"
                    "try: qwp-mock --help\n", argv[optind]);
    return false;
  }
  return o->help || o->version || agree(o);
}
