/* qwp-send - sends a workload to any QWP server; with --child, the client half of a live scenario. */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/child.h"
#include "client/facts.h"
#include "client/option_number.h"
#include "client/put_row.h"
#include "client/real_time.h"
#include "client/said.h"
#include "qwp/sender.h"
#include "workload/workload.h"

static const char help[] =
    "qwp-send - sends rows to a QWP server: the mock, or a real one\n"
    "\n"
    "usage: qwp-send [options] CONNECT-STRING\n"
    "\n"
    "  qwp-send 'ws::addr=127.0.0.1:9000;'                     10000 rows, 100 a flush\n"
    "  qwp-send 'wss::addr=127.0.0.1:9000;tls_roots=ca.pem;'   the same over TLS, to whom this CA has signed\n"
    "  qwp-send --schema tiny --rows 1000000 --flush 1 'ws::addr=127.0.0.1:9000;'\n"
    "  qwp-send --pause-ms 100 --rows 600 'ws::addr=127.0.0.1:9000;'   one flush each tenth of a second\n"
    "\n"
    "  --schema NAME     narrow (symbol, long, double, timestamp; the default), tiny, symbols, types, tables\n"
    "  --rows N          how many rows; default 10000\n"
    "  --flush N         rows a flush; default 100\n"
    "  --pause-ms N      rest between flushes; default 0\n"
    "  --drain-ms N      how long the server may take without progress at the end; default 10000, 0 = for ever\n"
    "  --json FILE       the figures as JSON; -: on standard output, in place of the table\n"
    "  -q, --quiet       no progress, no table\n"
    "  --child           one request line on standard input, one reply line on standard output; no connect string\n"
    "  --help, --version\n"
    "\n"
    "Each row carries its number as `id` (`i` in tiny), so that a lost, doubled or mixed-up row can be told.\n"
    "SIGINT or SIGTERM ends it after the row at hand: it closes and prints the figures so far. The second one kills.\n"
    "exit code: 0 all rows acknowledged; 1 not; 2 usage or connect string; 3 standard output is lost\n";

struct send_options {
  struct workload work;
  int64_t flush, pause_ms, drain_ms;
  const char *json, *config;
  bool quiet, child;
};

struct figures {
  int64_t took_ns, rows;
  struct qwp_metrics metrics;
};

/* ---- options ---- */

static bool number(const char *option, const char *text, uint64_t min, int64_t *out) {
  uint64_t n;
  if (!option_number("qwp-send", option, text, min, INT64_MAX, &n)) return false;
  *out = (int64_t)n;
  return true;
}

static bool schema(const char *name, enum workload_schema *out) {
  for (int s = 0; s < WORKLOAD_SCHEMAS; s++)
    if (s != WORKLOAD_PADDED && strcmp(name, workload_schema_name((enum workload_schema)s)) == 0) {
      *out = (enum workload_schema)s;
      return true;
    }
  fprintf(stderr, "qwp-send: --schema: '%s' is none of narrow, tiny, symbols, types, tables\n", name);
  return false;
}

enum { OPT_SCHEMA = 256, OPT_ROWS, OPT_FLUSH, OPT_PAUSE, OPT_DRAIN, OPT_JSON, OPT_CHILD, OPT_HELP, OPT_VERSION };

static const struct option table[] = {
    {"schema", required_argument, NULL, OPT_SCHEMA}, {"rows", required_argument, NULL, OPT_ROWS},
    {"flush", required_argument, NULL, OPT_FLUSH},   {"pause-ms", required_argument, NULL, OPT_PAUSE},
    {"drain-ms", required_argument, NULL, OPT_DRAIN}, {"json", required_argument, NULL, OPT_JSON},
    {"quiet", no_argument, NULL, 'q'},               {"child", no_argument, NULL, OPT_CHILD},
    {"help", no_argument, NULL, OPT_HELP},           {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0}};

/* -1 to go on, else the exit code. */
static int take(struct send_options *o, int opt, const char *arg) {
  switch (opt) {
    case OPT_SCHEMA: return schema(arg, &o->work.schema) ? -1 : 2;
    case OPT_ROWS: return number("--rows", arg, 1, &o->work.rows) ? -1 : 2;
    case OPT_FLUSH: return number("--flush", arg, 1, &o->flush) ? -1 : 2;
    case OPT_PAUSE: return number("--pause-ms", arg, 0, &o->pause_ms) ? -1 : 2;
    case OPT_DRAIN: return number("--drain-ms", arg, 0, &o->drain_ms) ? -1 : 2;
    case OPT_JSON: o->json = arg; return -1;
    case OPT_CHILD: o->child = true; return -1;
    case 'q': o->quiet = true; return -1;
    case OPT_HELP: fputs(help, stdout); return 0;
    case OPT_VERSION: printf("qwp-send %s\n", QWP_CLIENT_VERSION); return 0;
    default: fputs("qwp-send: `qwp-send --help` tells more\n", stderr); return 2;
  }
}

static int read_options(struct send_options *o, int argc, char **argv) {
  *o = (struct send_options){.work = {.schema = WORKLOAD_NARROW, .rows = 10000}, .flush = 100, .drain_ms = 10000};
  int opt;
  while ((opt = getopt_long(argc, argv, "q", table, NULL)) != -1) {
    int code = take(o, opt, optarg);
    if (code >= 0) return code;
  }
  if (o->child) return -1;
  if (argc - optind == 1) {
    o->config = argv[optind];
    return -1;
  }
  fputs("qwp-send: one connect string is wanted, for example 'ws::addr=127.0.0.1:9000;'\n", stderr);
  return 2;
}

/* ---- sending ---- */

static volatile sig_atomic_t stopped_by; /* the signal, or 0 */

static void on_signal(int which) { stopped_by = which; }

/* No SA_RESTART: a rest between flushes ends at once. SA_RESETHAND: who asks twice does not wait for the close. */
static void stop_on_signals(void) {
  struct sigaction a = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&a.sa_mask);
  sigaction(SIGINT, &a, NULL);
  sigaction(SIGTERM, &a, NULL);
}

static void progress(const struct send_options *o, const qwp_sender *s, int64_t sent, int64_t *last_ns) {
  int64_t now = real_time_ns();
  if (o->quiet || !isatty(2) || now - *last_ns < 100000000) return;
  *last_ns = now;
  fprintf(stderr, "\r\033[K%" PRId64 " of %" PRId64 " rows, frame %" PRId64 " acknowledged of %" PRId64, sent,
          o->work.rows, qwp_sender_acked_fsn(s) + 1, qwp_sender_published_fsn(s) + 1);
}

/* qwp_sender_drain, in pieces so that a signal is seen. */
static bool drain(const struct send_options *o, qwp_sender *s, struct qwp_error *err) {
  const int64_t piece_ms = 100;
  int64_t still_ms = 0, acked = qwp_sender_acked_fsn(s);
  while (!stopped_by) {
    const bool last = o->drain_ms > 0 && o->drain_ms - still_ms <= piece_ms;
    if (qwp_sender_drain(s, last ? o->drain_ms - still_ms : piece_ms, err)) return true;
    if (err->code != QWP_TIMEOUT) return false;
    const bool moved = qwp_sender_acked_fsn(s) != acked;
    if (last && !moved) return false;
    still_ms = moved ? 0 : still_ms + piece_ms;
    acked = qwp_sender_acked_fsn(s);
  }
  return false;
}

/* false with stopped_by set: a signal came, and err says nothing. */
static bool send_rows(const struct send_options *o, qwp_sender *s, struct figures *f, struct qwp_error *err) {
  char scratch[512];
  int64_t last_ns = 0;
  for (f->rows = 0; f->rows < o->work.rows && !stopped_by;) {
    if (!put_row(s, &o->work, f->rows, scratch, sizeof scratch, err)) return false;
    f->rows++;
    if (f->rows % o->flush != 0) continue;
    if (!qwp_sender_flush(s, NULL, err)) return false;
    progress(o, s, f->rows, &last_ns);
    if (o->pause_ms) {
      struct timespec rest = {o->pause_ms / 1000, o->pause_ms % 1000 * 1000000};
      clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
    }
  }
  return drain(o, s, err);
}

static double per_second(int64_t n, int64_t ns) { return ns > 0 ? (double)n * 1e9 / (double)ns : 0; }

static void print_figures(const struct figures *f) {
  const struct qwp_metrics *m = &f->metrics;
  printf("%" PRId64 " rows in %" PRId64 " frames, %.3f s: %.0f rows/s, %.0f frames/s\n", f->rows, m->snd_frames,
         (double)f->took_ns / 1e9, per_second(f->rows, f->took_ns), per_second(m->loop_sent, f->took_ns));
  printf("  %-22s %12" PRId64 "\n", "frames acknowledged", m->ring_acked + 1);
  printf("  %-22s %12" PRId64 "\n", "frames sent again", m->loop_replayed);
  printf("  %-22s %12" PRId64 "\n", "batches", m->tx_batches);
  printf("  %-22s %12" PRId64 "\n", "connections", m->loop_connects);
  printf("  %-22s %12" PRId64 "\n", "answers read", m->loop_acks);
}

static bool write_json(const char *path, const struct figures *f, bool ok) {
  json_t *counters = json_object();
#define PUT(field, name, text) json_object_set_new(counters, name, json_integer(f->metrics.field));
  QWP_METRICS(PUT)
#undef PUT
  json_t *o = json_pack("{s:s, s:b, s:I, s:I, s:f, s:o}", "program", "qwp-send", "ok", ok, "rows", (json_int_t)f->rows,
                        "ns", (json_int_t)f->took_ns, "rows_per_s", per_second(f->rows, f->took_ns), "counters",
                        counters);
  bool written = o != NULL;
  if (strcmp(path, "-") != 0) written = written && json_dump_file(o, path, JSON_INDENT(2)) == 0;
  else written = written && json_dumpf(o, stdout, JSON_INDENT(2)) == 0 && puts("") >= 0 && fflush(stdout) == 0;
  json_decref(o);
  if (!written) fprintf(stderr, "qwp-send: --json %s: cannot be written\n", path);
  return written;
}

/* Errors are left out: each ends the sender, and the call that then fails tells it. */
static void log_line(void *ctx, enum qwp_log_level level, const char *line) {
  (void)ctx;
  if (level == QWP_LOG_WARN) fprintf(stderr, "qwp-send: %s\n", line);
}

/* What went wrong, on standard error. */
static void tell(const struct send_options *o, const struct figures *f, const struct qwp_error *sending,
                 const struct qwp_error *ending) {
  if (!o->quiet && isatty(2)) fputs("\r\033[K", stderr);
  if (sending && stopped_by) fprintf(stderr, "qwp-send: %s after %" PRId64 " rows\n", strsignal(stopped_by), f->rows);
  else if (sending) fprintf(stderr, "qwp-send: after %" PRId64 " rows: %s\n", f->rows, sending->text);
  else if (ending) fprintf(stderr, "qwp-send: at the end: %s\n", ending->text);
}

static int send_workload(const struct send_options *o) {
  struct qwp_error err;
  struct qwp_sender_options so = {.log = log_line};
  qwp_sender *s = qwp_sender_create(o->config, &so, &err);
  if (!s) {
    fprintf(stderr, "qwp-send: %s\n", err.text);
    return err.code == QWP_CONFIG ? 2 : 1;
  }
  stop_on_signals();
  struct figures f = {0};
  int64_t from_ns = real_time_ns();
  bool sent = send_rows(o, s, &f, &err);
  f.took_ns = real_time_ns() - from_ns;
  struct qwp_error at_end;
  bool closed = qwp_sender_stop(s, &at_end);
  qwp_sender_metrics(s, &f.metrics);
  qwp_sender_free(s);
  tell(o, &f, sent ? NULL : &err, closed ? NULL : &at_end);
  const bool ok = sent && closed, json_instead = o->json && strcmp(o->json, "-") == 0;
  if (!o->quiet && !json_instead) print_figures(&f);
  if (o->json && !write_json(o->json, &f, ok)) return 1;
  return ok ? 0 : 1;
}

static int command(int argc, char **argv) {
  struct send_options o;
  int code = read_options(&o, argc, argv);
  if (code >= 0) return code;
  return o.child ? child_run(stdin, stdout) : send_workload(&o);
}

int main(int argc, char **argv) { return said("qwp-send", command(argc, argv)); }
