#define _GNU_SOURCE
#include "soak/soak.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/proc.h"
#include "client/real_time.h"
#include "core/mock.h"
#include "lws/transport.h"

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define MAX_ARGS 32
#define LOOK_EVERY_MS 5 /* a quiet stretch of a tenth of a second still holds some twenty samples */

#define LONGER 10 /* times the time asked for, then it is given up */
#define RULES 2   /* of each connection: the outage and the reset */

/* Every connection lives this long, then a reset, and nobody listens for the time of the outage. */
struct script {
  struct mock_rule rules[RULES];
  struct mock_entry entry;
  struct mock_script script;
};

static void write_script(struct script *s, const struct soak_options *o) {
  const int64_t round_ns = o->seconds * NS_PER_S / o->resets, outage_ns = o->outage_ms * NS_PER_MS;
  const int64_t life_ns = round_ns > 2 * outage_ns ? round_ns - outage_ns : round_ns / 2 + 1;
  s->rules[0] = (struct mock_rule){
      .trigger = MOCK_AT_TIME, .n = life_ns, .action = MOCK_DO_REFUSE, .duration_ns = outage_ns};
  s->rules[1] = (struct mock_rule){.trigger = MOCK_AT_TIME, .n = life_ns, .action = MOCK_DO_RESET};
  s->entry = (struct mock_entry){.connection = MOCK_ANY, .rules = s->rules, .rule_count = RULES};
  s->script = (struct mock_script){.entries = &s->entry, .entry_count = 1};
}

/* ---- the client ---- */

/* Small segments: the store has touched all memory that it keeps before the first stretch is over. */
#define CONFIG \
  "ws::addr=127.0.0.1:%d;reconnect_initial_backoff_millis=10;reconnect_max_backoff_millis=20;sf_max_segment_bytes=16384;"

struct child {
  pid_t pid; /* 0 = it was waited for */
  int status;
  int said; /* what it writes on standard error: shown if it dies */
};

/* In the child. */
static void become(char *const argv[], pid_t parent, int said) {
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (nowhere < 0 || getppid() != parent || dup2(nowhere, 0) < 0 || dup2(nowhere, 1) < 0 || dup2(said, 2) < 0) _exit(127);
  execvp(argv[0], argv);
  dprintf(2, "%s: %s", argv[0], strerror(errno));
  _exit(127);
}

static bool start_client(struct child *c, const char *command, int port) {
  char words[1024], config[160], *argv[MAX_ARGS + 2], *save = NULL;
  size_t n = 0;
  snprintf(words, sizeof words, "%s", command);
  for (char *w = strtok_r(words, " ", &save); w && n < MAX_ARGS; w = strtok_r(NULL, " ", &save)) argv[n++] = w;
  snprintf(config, sizeof config, CONFIG, port);
  argv[n++] = config;
  argv[n] = NULL;
  const pid_t parent = getpid();
  c->said = memfd_create("said", MFD_CLOEXEC);
  if (c->said < 0) return false;
  c->pid = fork();
  if (c->pid == 0) become(argv, parent, c->said);
  return c->pid > 0;
}

static bool has_ended(struct child *c) {
  if (c->pid && waitpid(c->pid, &c->status, WNOHANG) == c->pid) c->pid = 0;
  return c->pid == 0;
}

/* With the last it said. */
static void tell_end(const struct child *c, const char *when, char *why, size_t why_n) {
  char last[120] = "";
  const off_t end = lseek(c->said, 0, SEEK_END), from = end > (off_t)sizeof last - 1 ? end - (off_t)sizeof last + 1 : 0;
  const ssize_t n = pread(c->said, last, sizeof last - 1, from);
  last[n > 0 ? n : 0] = '\0';
  if (WIFSIGNALED(c->status))
    snprintf(why, why_n, "the client died of signal %d (%s) %s. %s", WTERMSIG(c->status), strsignal(WTERMSIG(c->status)),
             when, last);
  else
    snprintf(why, why_n, "the client ended with exit code %d %s. %s", WEXITSTATUS(c->status), when, last);
}

/* Asked politely first. A client that was stopped before all was acknowledged may say so: 1 is no failure here. */
static bool end_client(struct child *c, char *why, size_t why_n) {
  kill(c->pid, SIGTERM);
  for (int ms = 0; ms < 10000 && !has_ended(c); ms++) poll(NULL, 0, 1);
  if (!has_ended(c)) {
    kill(c->pid, SIGKILL);
    while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR) continue;
    snprintf(why, why_n, "the client did not end within 10 s of a SIGTERM");
    return false;
  }
  if (WIFEXITED(c->status) && WEXITSTATUS(c->status) <= 1) return true;
  if (WIFSIGNALED(c->status) && WTERMSIG(c->status) == SIGTERM) return true; /* it has no handler for it */
  tell_end(c, "at its end", why, why_n);
  return false;
}

/* ---- looking ---- */

struct view {
  struct mock_facts facts;
  char violation[256];
};

static void take_view(struct mock *m, void *arg) {
  struct view *v = arg;
  mock_facts(m, &v->facts);
  if (v->violation[0] || mock_violation_count(m) == 0) return;
  const struct mock_violation *x = mock_violation_at(m, 0);
  snprintf(v->violation, sizeof v->violation, "%s at connection %d: %s", x->requirement, x->connection, x->text);
}

/* Quiet: a connection is open, and is the one that was open at the look before. Rows that are sent again just after a
 * reconnect lie in quiet time; only the floor of it counts. */
static bool look(struct mock_lws *server, pid_t pid, struct view *v, struct soak_result *r) {
  const int64_t before = v->facts.upgrades;
  mock_lws_call(server, take_view, v);
  const bool in_fault = mock_lws_open(server) == 0 || v->facts.upgrades != before;
  const int64_t now_ns = real_time_ns();
  r->looks++;
  return samples_add(&r->series[SOAK_RSS], now_ns, proc_rss_bytes(pid), in_fault) &&
         samples_add(&r->series[SOAK_FDS], now_ns, proc_fds(pid), in_fault);
}

/* Ends with the last reset, not with a time: a slow machine takes longer and sees as much. */
static bool watch(const struct soak_options *o, struct mock_lws *server, struct child *c, struct view *v,
                  struct soak_result *r, char *why, size_t why_n) {
  const int64_t until_ns = real_time_ns() + (LONGER * o->seconds + 30) * NS_PER_S;
  while (v->facts.fired < RULES * o->resets) {
    if (real_time_ns() > until_ns) {
      snprintf(why, why_n, "only %" PRId64 " of %" PRId64 " resets in %d times the time they should take",
               v->facts.fired / RULES, o->resets, LONGER);
      return false;
    }
    poll(NULL, 0, LOOK_EVERY_MS);
    if (has_ended(c)) {
      tell_end(c, "by itself", why, why_n);
      return false;
    }
    if (!look(server, c->pid, v, r)) {
      snprintf(why, why_n, "out of memory");
      return false;
    }
  }
  return end_client(c, why, why_n);
}

bool soak_run(const struct soak_options *o, struct soak_result *r, char *why, size_t why_n) {
  *r = (struct soak_result){0};
  samples_init(&r->series[SOAK_RSS], "client.rss", SAMPLE_BYTES);
  samples_init(&r->series[SOAK_FDS], "client.fds", SAMPLE_DESCRIPTORS);
  struct script s;
  write_script(&s, o);
  struct mock_options mo = {.script = &s.script, .rows = MOCK_ROWS_COUNT};
  struct mock_lws *server = mock_lws_start(&mo, 0);
  if (!server) {
    snprintf(why, why_n, "the mock cannot listen on 127.0.0.1: %s", strerror(errno));
    return false;
  }
  struct child c = {.said = -1};
  struct view v = {.violation = ""};
  bool ok = start_client(&c, o->client, mock_lws_port(server));
  if (!ok) snprintf(why, why_n, "%s cannot be started: %s", o->client, strerror(errno));
  ok = ok && watch(o, server, &c, &v, r, why, why_n);
  if (c.pid > 0) {
    kill(c.pid, SIGKILL);
    waitpid(c.pid, NULL, 0);
  }
  if (c.said >= 0) close(c.said);
  mock_lws_call(server, take_view, &v);
  mock_lws_stop(server);
  r->connections = v.facts.upgrades;
  r->frames = v.facts.frames;
  r->violations = v.facts.violations;
  r->resets = v.facts.fired / RULES;
  memcpy(r->violation, v.violation, sizeof r->violation);
  return ok;
}

void soak_result_free(struct soak_result *r) {
  for (int i = 0; i < SOAK_SERIES; i++) samples_free(&r->series[i]);
}
