/* qwp-mock - the mock server as a program. `qwp-mock --help` explains it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "follow.h"
#include "options.h"
#include "rows_out.h"
#include "summary.h"
#include "transport.h"
#ifdef MOCK_HAVE_SCRIPTS
#include "language/scenario.h"
#endif

enum { EXIT_VIOLATIONS = 1, EXIT_USAGE = 2, EXIT_ENVIRONMENT = 3 };

/* ---- script --------------------------------------------------------------------------- */

struct script {
  struct mock_script server; /* all zero = a correct server */
#ifdef MOCK_HAVE_SCRIPTS
  struct scn_file file;
  bool loaded;
#endif
};

static bool script_load(struct script *s, const struct options *o) {
  memset(s, 0, sizeof *s);
  if (o->script) {
#ifdef MOCK_HAVE_SCRIPTS
    struct scn_problem problem;
    if (!scn_read_server(o->script, &s->file, &problem)) {
      fprintf(stderr, "%s\n", problem.text);
      return false;
    }
    s->loaded = true;
    if (s->file.count > 0) s->server = s->file.scenarios[0].server;
    if (s->file.count > 1)
      fprintf(stderr, "qwp-mock: --script: %s has a matrix of %zu lines, the first is served: %s\n", o->script,
              s->file.count, s->file.scenarios[0].name);
#else
    fputs("qwp-mock: --script: this build has no scenario language\n", stderr);
    return false;
#endif
  }
  if (o->profile_set) s->server.profile = o->profile;
  if (o->strict) s->server.strict_refuse = true;
  return true;
}

static void script_free(struct script *s) {
#ifdef MOCK_HAVE_SCRIPTS
  if (s->loaded) scn_file_free(&s->file);
#endif
  (void)s;
}

/* ---- journal --------------------------------------------------------------------------- */

struct sink {
  FILE *journal, *json, *rows_out; /* or NULL */
  FILE *person; /* what is not for a program: standard output, or standard error where a file is standard output */
  bool follow;
  int64_t start_ns;
  int journal_errno; /* of the first write that failed */
};

static void note_failure(struct sink *s) {
  if (s->journal_errno == 0) s->journal_errno = errno;
}

/* These run on the service thread. The flush comes before the reply leaves. */
static void on_line(void *ctx, const char *line, size_t n) {
  struct sink *s = ctx;
  if (s->journal && (fwrite(line, 1, n, s->journal) < n || putc('\n', s->journal) == EOF)) note_failure(s);
  if (s->follow) mock_follow(s->person, s->start_ns, line, n);
}

static void on_flush(void *ctx) {
  struct sink *s = ctx;
  if (s->journal && fflush(s->journal) != 0) note_failure(s);
  if (s->follow) fflush(s->person);
}

/* At the start, not at the end: a path that cannot be written costs nobody a run. */
static bool open_file(const char *option, const char *path, FILE **out) {
  if (!path) return true;
  *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
  if (!*out) fprintf(stderr, "qwp-mock: %s: %s: %s\n", option, path, strerror(errno));
  return *out != NULL;
}

static bool sink_open(struct sink *s, const struct options *o) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  *s = (struct sink){.follow = o->follow, .start_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec};
  if (!open_file("--journal", o->journal, &s->journal) || !open_file("--json", o->json, &s->json) ||
      !open_file("--rows-out", o->rows_out, &s->rows_out))
    return false;
  if (s->journal) setvbuf(s->journal, NULL, _IOFBF, 1 << 18);
  s->person = s->journal == stdout || s->json == stdout || s->rows_out == stdout ? stderr : stdout;
  return true;
}

static bool close_file(const char *option, const char *path, FILE *f) {
  if (!f) return true;
  bool good = !ferror(f);
  if ((f == stdout ? fflush(f) : fclose(f)) != 0) good = false;
  if (!good) fprintf(stderr, "qwp-mock: %s: %s: not written to its end: %s\n", option, path, strerror(errno));
  return good;
}

static bool sink_close(struct sink *s, const struct options *o) {
  bool good = close_file("--json", o->json, s->json);
  if (!close_file("--rows-out", o->rows_out, s->rows_out)) good = false;
  if (s->journal && (s->journal == stdout ? fflush(stdout) : fclose(s->journal)) != 0) note_failure(s);
  if (s->journal_errno == 0) return good;
  fprintf(stderr, "qwp-mock: --journal: lines are missing: %s\n", strerror(s->journal_errno));
  return false;
}

/* ---- the end ------------------------------------------------------------------------------ */

struct report {
  const struct sink *sink;
  enum mock_rows rows;
  size_t violations;
  bool good;
};

static void report(struct mock *m, void *arg) {
  struct report *r = arg;
  r->violations = mock_violation_count(m);
  summary_print(r->sink->person, m);
  r->good = !r->sink->json || summary_json(r->sink->json, m, r->rows);
  if (r->sink->rows_out && !mock_rows_out(r->sink->rows_out, mock_tables(m))) r->good = false;
}

/* Serves until a signal. Signals are blocked in every thread, so that they come here alone. */
static int serve(const struct options *o, const struct script *script, struct sink *sink) {
  sigset_t ends;
  int which;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  sigprocmask(SIG_BLOCK, &ends, NULL);

  bool watched = sink->journal || sink->follow;
  struct mock_options options = {
    .script = &script->server, .rows = o->rows, .journal = watched ? o->level : MOCK_JOURNAL_OFF, .journal_hex = o->hex,
    .journal_line = watched ? on_line : NULL, .journal_flush = on_flush, .journal_ctx = sink};
  struct mock_lws *l = mock_lws_start(&options, o->port);
  if (!l) {
    const bool taken = errno == EADDRINUSE;
    fprintf(stderr, "qwp-mock: --port: cannot listen on 127.0.0.1:%d: %s%s\n", o->port, strerror(errno),
            taken ? " (--port 0 takes a free one)" : "");
    return EXIT_ENVIRONMENT;
  }
  fprintf(sink->person, "ready 127.0.0.1:%d\n", mock_lws_port(l));
  fflush(sink->person);
  sigwait(&ends, &which);

  struct report r = {.sink = sink, .rows = o->rows};
  mock_lws_call(l, report, &r);
  mock_lws_stop(l);
  fflush(sink->person);
  if (!r.good) return EXIT_ENVIRONMENT;
  return o->fail_on_violation && r.violations > 0 ? EXIT_VIOLATIONS : 0;
}

int main(int argc, char **argv) {
  struct options o;
  struct script script;
  struct sink sink;
  if (!options_read(&o, argc, argv)) return EXIT_USAGE;
  if (o.help || o.version) {
    if (o.help) options_help();
    else puts("qwp-mock " MOCK_VERSION);
    return 0;
  }
  if (!script_load(&script, &o)) return EXIT_USAGE;
  int result = EXIT_ENVIRONMENT;
  if (sink_open(&sink, &o)) result = serve(&o, &script, &sink);
  if (!sink_close(&sink, &o)) result = EXIT_ENVIRONMENT;
  script_free(&script);
  return result;
}
