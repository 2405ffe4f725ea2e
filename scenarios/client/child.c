#define _GNU_SOURCE
#include "client/child.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/client.h"
#include "client/proc.h"
#include "client/real_time.h"
#include "client/request.h"
#include "faults.h"
#include "qwp/ops.h"

/* ---- what must be the same before and after ---- */

struct census {
  int64_t threads, fds; /* -1 = could not be seen */
};

static struct census take_census(void) { return (struct census){proc_threads(getpid()), proc_fds(getpid())}; }

/* What could not be counted both times is not told: the judge takes silence for a leak, never for a zero. */
static void tell_balance(struct facts *f, const char *name, int64_t before, int64_t after) {
  if (before >= 0 && after >= 0) facts_number(f, name, after - before);
}

static void *tell_id(void *arg) {
  *(pid_t *)arg = gettid();
  return NULL;
}

/* Some runtimes (the thread sanitizer's) start a helper of their own beside a process's first thread, which stays: it
 * must be there before the first census, and the first thread gone. */
static void wake_the_runtime(void) {
  pthread_t first;
  pid_t id = 0;
  char path[40];
  if (pthread_create(&first, NULL, tell_id, &id) != 0) return;
  pthread_join(first, NULL);
  snprintf(path, sizeof path, "/proc/self/task/%d", (int)id);
  while (access(path, F_OK) == 0) poll(NULL, 0, 1);
}

/* A joined thread may stand in /proc a moment longer: the join returns when the kernel has cleared its id, not when
 * the task is gone. What is still there after a second is a leak. */
static struct census census_at_rest(const struct census *before) {
  struct census now = take_census();
  for (int ms = 0; ms < 1000 && now.threads > before->threads; ms++) {
    poll(NULL, 0, 1);
    now = take_census();
  }
  return now;
}

/* ---- a signal that is none of the library's business ---- */

/* An application leaves SIGPIPE at its default, so that a write without protection kills the process here too; what
 * the parent had set would hide it (CASE-54). */
static void leave_sigpipe_alone(void) {
  struct sigaction by_default = {.sa_handler = SIG_DFL};
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigaction(SIGPIPE, &by_default, NULL);
  pthread_sigmask(SIG_UNBLOCK, &pipe_signal, NULL);
}

/* Is it as it was? Blocking it in a thread of the application's is a change as well. */
static const char *sigpipe_now(void) {
  struct sigaction now;
  sigset_t blocked;
  bool same = sigaction(SIGPIPE, NULL, &now) == 0 && pthread_sigmask(SIG_SETMASK, NULL, &blocked) == 0 &&
              !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL && !sigismember(&blocked, SIGPIPE);
  return same ? "default" : "changed";
}

/* ---- memory, looked at now and then ---- */

#define SAMPLE_EVERY_NS (10 * QWP_NS_PER_MS)

struct memory {
  int64_t last_ns, rss, rss_max, samples;
};

static void sample_memory(struct memory *m) {
  const int64_t rss = proc_rss_bytes(getpid());
  m->last_ns = real_time_ns();
  if (rss < 0) return;
  m->rss = rss;
  if (rss > m->rss_max) m->rss_max = rss;
  m->samples++;
}

/* The number of samples is told in any case: 0 of them are no evidence. */
static void tell_memory(struct facts *f, const struct memory *m) {
  facts_number(f, "client.samples", m->samples);
  if (m->samples == 0) return;
  facts_number(f, "client.rss", m->rss);
  facts_number(f, "client.rss_max", m->rss_max);
}

/* ---- the stage: real ops under the fault layer ---- */

struct stage {
  struct qwp_ops real, tuned;
  struct qwp_ops beside; /* for probes: a net context of its own */
  struct qwp_net_ops net; /* the real one, but connect sets the buffer sizes */
  int64_t send_buffer_bytes, recv_buffer_bytes;
  struct faults *layer;
  struct memory memory;
};

static struct stage *the_stage; /* for the net calls that need more than their context */

/* Socket buffers are set before the connect: afterwards the window is agreed. The POSIX table hands out its
 * descriptors as handles, but only after it has begun to connect; the receive side still shrinks in time, since
 * the peer has sent nothing yet. */
static int tuned_connect(void *ctx, const struct qwp_addr *addr, qwp_sock *out) {
  int r = the_stage->real.net->connect(ctx, addr, out);
  if (*out < 0) return r;
  int send_bytes = (int)the_stage->send_buffer_bytes, recv_bytes = (int)the_stage->recv_buffer_bytes;
  if (send_bytes > 0) setsockopt(*out, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes);
  if (recv_bytes > 0) setsockopt(*out, SOL_SOCKET, SO_RCVBUF, &recv_bytes, sizeof recv_bytes);
  return r;
}

/* Names below .test are this machine [RFC 6761]: a scenario can dial two servers by name, and no resolver is asked. */
static int tuned_resolve(void *ctx, const char *host, int port, struct qwp_addr *out, int max) {
  static const char suffix[] = ".test";
  const size_t n = strlen(host), tail = sizeof suffix - 1;
  const bool here = n > tail && strcmp(host + n - tail, suffix) == 0;
  return the_stage->real.net->resolve(ctx, here ? "127.0.0.1" : host, port, out, max);
}

/* A reset as the peer sees it: an RST instead of a FIN. */
static void reset_sock(void *ctx, qwp_sock sock) {
  (void)ctx;
  struct sockaddr unspecified = {.sa_family = AF_UNSPEC};
  struct linger now = {.l_onoff = 1};
  setsockopt(sock, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  if (connect(sock, &unspecified, sizeof unspecified) != 0) shutdown(sock, SHUT_RDWR);
}

static void hold(void *ctx, bool held) {
  struct stage *s = ctx;
  if (held)
    faults_hold(s->layer);
  else
    faults_release(s->layer);
}

static int64_t now_ns(void *ctx) {
  (void)ctx;
  return real_time_ns();
}

/* Counters have no event to wait for: look again a millisecond later. */
static bool pass(void *ctx, int64_t until_ns) {
  struct stage *s = ctx;
  (void)until_ns;
  if (real_time_ns() - s->memory.last_ns >= SAMPLE_EVERY_NS) sample_memory(&s->memory);
  poll(NULL, 0, 1);
  return true;
}

static bool set_up(struct stage *s, const struct request *rq) {
  if (qwp_ops_posix_init(&s->real) != 0) return false;
  if (qwp_ops_posix_init(&s->beside) != 0) return false;
  the_stage = s;
  s->send_buffer_bytes = rq->send_buffer_bytes;
  s->recv_buffer_bytes = rq->recv_buffer_bytes;
  s->net = *s->real.net;
  s->net.connect = tuned_connect;
  s->net.resolve = tuned_resolve;
  s->tuned = s->real;
  s->tuned.net = &s->net;
  struct faults_options fo = {.under = &s->tuned, .plan = &rq->plan, .seed = rq->seed, .trace = true,
                              .reset = reset_sock};
  s->layer = faults_new(&fo);
  return s->layer != NULL;
}

static void add_unfired(void *arg, const char *text) {
  struct reply *rp = arg;
  size_t n = strlen(rp->unfired);
  snprintf(rp->unfired + n, sizeof rp->unfired - n, "%s%s", n ? "\n" : "", text);
}

static bool run(const struct request *rq, struct reply *rp) {
  wake_the_runtime();
  leave_sigpipe_alone();
  struct census before = take_census();
  struct stage s = {0};
  if (!set_up(&s, rq)) return false;
  sample_memory(&s.memory);
  struct client_stage stage = {.ctx = &s, .ops = faults_ops(s.layer), .layer = s.layer, .hold = hold, .pass = pass,
                               .now_ns = now_ns, .beside = &s.beside};
  rp->ok = client_run(&rq->task, &stage, &rp->facts, &rp->line, rp->why, sizeof rp->why);
  sample_memory(&s.memory); /* the end: the sender is gone, what it should have given back is back */
  tell_memory(&rp->facts, &s.memory);
  facts_text(&rp->facts, "client.sigpipe", sigpipe_now());
  facts_of_rules(&rp->facts, s.layer, rq->plan.rule_count);
  faults_unfired(s.layer, add_unfired, rp);
  faults_del(s.layer);
  qwp_ops_posix_free(&s.beside);
  qwp_ops_posix_free(&s.real);
  struct census after = census_at_rest(&before);
  tell_balance(&rp->facts, "proc.threads", before.threads, after.threads);
  tell_balance(&rp->facts, "proc.fds", before.fds, after.fds);
  return true;
}

int child_run(FILE *in, FILE *out) {
  char *line = NULL;
  size_t cap = 0;
  struct request rq;
  struct reply rp = {0};
  char why[256];
  if (getline(&line, &cap, in) <= 0) {
    fputs("qwp-send: --child wants one request line on standard input\n", stderr);
    free(line);
    return 2;
  }
  facts_init(&rp.facts);
  int code = 0;
  if (!request_read(line, &rq, why, sizeof why)) {
    fprintf(stderr, "qwp-send: request: %s\n", why);
    code = 2;
  } else if (!run(&rq, &rp)) {
    fputs("qwp-send: the world cannot be set up: out of memory or descriptors\n", stderr);
    code = 3;
  } else {
    char *text = reply_write(&rp);
    if (text) fprintf(out, "%s\n", text);
    code = text && fflush(out) == 0 ? 0 : 3;
    free(text);
  }
  request_free(&rq);
  reply_free(&rp);
  free(line);
  return code;
}
