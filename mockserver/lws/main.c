/* qwp-mock - the mock server as a program. `qwp-mock --help` explains it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "follow.h"
#include "options.h"
#include "rows_out.h"
#include "summary.h"
#include "tls/identity.h"
#include "transport.h"
#ifdef MOCK_HAVE_SCRIPTS
#include "language/scenario.h"
#endif

enum { EXIT_VIOLATIONS = 1, EXIT_USAGE = 2, EXIT_ENVIRONMENT = 3 };

/* ---- script --------------------------------------------------------------------------- */

struct script {
  struct mock_script server; /* all zero = a correct server */
  uint64_t seed;
#ifdef MOCK_HAVE_SCRIPTS
  struct scn_file file;
  bool loaded;
#endif
};

static void script_free(struct script *s) {
#ifdef MOCK_HAVE_SCRIPTS
  if (s->loaded) scn_file_free(&s->file);
#endif
  (void)s;
}

static bool tells_of_tls(const struct mock_script *s) {
  for (size_t i = 0; i < s->entry_count; i++) {
    const struct mock_entry *e = &s->entries[i];
    if (e->tls.given) return true;
    for (size_t k = 0; k < e->rule_count; k++)
      if (e->rules[k].action == MOCK_DO_KEY_UPDATE || e->rules[k].action == MOCK_DO_TICKET) return true;
  }
  return false;
}

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
    if (s->file.count > 0) s->server = s->file.scenarios[0].server, s->seed = s->file.scenarios[0].seed;
    if (s->file.count > 1)
      fprintf(stderr, "qwp-mock: --script: %s has a matrix of %zu lines, the first is served: %s\n", o->script,
              s->file.count, s->file.scenarios[0].name);
#else
    fputs("qwp-mock: --script: this build has no scenario language\n", stderr);
    return false;
#endif
  }
  if (!o->tls && tells_of_tls(&s->server)) {
    fprintf(stderr, "qwp-mock: --script: %s speaks of TLS: it needs --tls\n", o->script);
    script_free(s);
    return false;
  }
  if (o->profile_set) s->server.profile = o->profile;
  if (o->strict) s->server.strict_refuse = true;
  if (o->seed) s->seed = o->seed;
  return true;
}

/* ---- who it is, over TLS ------------------------------------------------------------------ */

struct secure {
  struct mock_identity *identity; /* NULL = plain */
  char ca[512];
  bool temporary;
};

static bool secure_make(struct secure *s, const struct options *o) {
  *s = (struct secure){.temporary = !o->ca_out};
  if (!o->tls) return true;
  s->identity = mock_identity_new();
  if (!s->identity) {
    fputs("qwp-mock: --tls: no certificate can be made: out of memory or of entropy\n", stderr);
    return false;
  }
  const int n = snprintf(s->ca, sizeof s->ca, "%s", o->ca_out ? o->ca_out : "");
  if (n >= (int)sizeof s->ca) errno = ENAMETOOLONG;
  else if (s->temporary ? mock_identity_temporary_ca(s->identity, s->ca, sizeof s->ca)
                        : mock_identity_write_ca(s->identity, s->ca))
    return true;
  fprintf(stderr, "qwp-mock: %s: %s: %s\n", o->ca_out ? "--ca-out" : "--tls", s->ca, strerror(errno));
  mock_identity_del(s->identity);
  s->identity = NULL;
  return false;
}

static void secure_forget(struct secure *s) {
  if (s->identity && s->temporary) unlink(s->ca);
  mock_identity_del(s->identity);
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

/* A reader that went away (`| head`) ends the server as a signal does: its summary, its files and its CA are seen to. */
static void end_without_reader(void) {
  if (errno == EPIPE) kill(getpid(), SIGTERM);
}

static void on_flush(void *ctx) {
  struct sink *s = ctx;
  if (s->journal && fflush(s->journal) != 0) {
    note_failure(s);
    end_without_reader();
  }
  if (s->follow && fflush(s->person) != 0) end_without_reader();
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

/* The signals that end it, blocked before there is anything to leave behind, and in every thread, so that serve alone
 * meets them. A hang-up that was to be ignored (nohup) is. */
static bool block_ends(sigset_t *ends) {
  struct sigaction hangup;
  sigemptyset(ends);
  sigaddset(ends, SIGTERM);
  sigaddset(ends, SIGINT);
  if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(ends, SIGHUP);
  return sigprocmask(SIG_BLOCK, ends, NULL) == 0 && signal(SIGPIPE, SIG_IGN) != SIG_ERR;
}

/* Serves until one of `ends`. */
static int serve(const struct options *o, const struct script *script, const struct secure *secure, struct sink *sink,
                 const sigset_t *ends) {
  int which;
  bool watched = sink->journal || sink->follow;
  struct mock_options options = {
    .script = &script->server, .seed = script->seed, .rows = o->rows,
    .journal = watched ? o->level : MOCK_JOURNAL_OFF, .journal_hex = o->hex,
    .journal_line = watched ? on_line : NULL, .journal_flush = on_flush, .journal_ctx = sink};
  struct mock_lws *l = mock_lws_start_tls(&options, o->port, secure->identity);
  if (!l) {
    const bool taken = errno == EADDRINUSE;
    fprintf(stderr, "qwp-mock: --port: cannot listen on 127.0.0.1:%d: %s%s\n", o->port, strerror(errno),
            taken ? " (--port 0 takes a free one)" : "");
    return EXIT_ENVIRONMENT;
  }
  fprintf(sink->person, "ready 127.0.0.1:%d\n", mock_lws_port(l));
  if (secure->identity)
    fprintf(sink->person, "ca %s\n   a client trusts it: wss::addr=127.0.0.1:%d;tls_roots=%s;\n", secure->ca,
            mock_lws_port(l), secure->ca);
  fflush(sink->person);
  sigwait(ends, &which);

  struct report r = {.sink = sink, .rows = o->rows};
  mock_lws_call(l, report, &r);
  mock_lws_stop(l);
  fflush(sink->person);
  if (!r.good) return EXIT_ENVIRONMENT;
  return o->fail_on_violation && r.violations > 0 ? EXIT_VIOLATIONS : 0;
}

/* An answer that nobody got is none. */
static int said(int code) {
  errno = 0;
  const int flushed = fflush(stdout);
  if (flushed == 0 && !ferror(stdout)) return code;
  fprintf(stderr, "qwp-mock: standard output: %s\n", errno ? strerror(errno) : "what was said is lost");
  return code ? code : EXIT_ENVIRONMENT;
}

int main(int argc, char **argv) {
  struct options o;
  struct script script;
  struct sink sink;
  if (!options_read(&o, argc, argv)) return EXIT_USAGE;
  if (o.help || o.version) {
    if (o.help) options_help();
    else puts("qwp-mock " MOCK_VERSION);
    return said(0);
  }
  if (!script_load(&script, &o)) return EXIT_USAGE;
  int result = EXIT_ENVIRONMENT;
  struct secure secure;
  sigset_t ends;
  if (sink_open(&sink, &o) && block_ends(&ends) && secure_make(&secure, &o)) {
    result = serve(&o, &script, &secure, &sink, &ends);
    secure_forget(&secure);
  }
  if (!sink_close(&sink, &o)) result = EXIT_ENVIRONMENT;
  script_free(&script);
  return said(result);
}
