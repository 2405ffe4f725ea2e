#define _GNU_SOURCE
#include "sweep/workers.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS_MAX 64
#define CHUNK 64             /* jobs that a worker takes at once */
#define RUN_LIMIT_S 30       /* of real time, for a run of less than a millisecond */
#define HANGS_OF_A_WORKER 50 /* each leaves its world behind: a worker that has met so many is replaced */
#define EXIT_DONE 0
#define EXIT_REPLACE 10
#define PROGRESS_NS 50000000 /* how often progress is shown while nothing ends */

struct slot { /* what one worker has in hand */
  _Atomic size_t at, end;
};

struct shared {
  _Atomic size_t next, done, failures;
  struct slot slots[WORKERS_MAX];
};

struct pool {
  const struct sweep_job *jobs;
  size_t count, stop_after;
  struct shared *shared;
  struct sweep_result *results;
  struct sweep_failure *failure;
};

/* ---- one point ---- */

static uint64_t mix(uint64_t h, int64_t v) {
  h = (h ^ (uint64_t)v) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 29;
}

static uint64_t hash_view(const struct qwp_loop_view *v) {
  const int64_t parts[] = {v->state, v->ws_state, v->batch_open, v->unsent, v->control_half_out,
                           v->catchup_next, v->catchup_all, v->in_flight, v->held_acks, v->backlog,
                           v->replay_target, v->connects, v->backoff_ns, v->idle_recycles, v->strikes};
  uint64_t h = 1;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) h = mix(h, parts[i]);
  return h ? h : 1;
}

void sweep_run_one(const struct sweep_job *job, struct sweep_result *result, struct sweep_failure *failure) {
  struct life_run run;
  life_run(&job->set->life, job->point, NULL, false, &run);
  result->state = run.viewed ? hash_view(&run.view) : 0;
  bool ok = sweep_judge(&job->set->life, &job->set->measure, job->point, &run, failure->why, sizeof failure->why);
  result->fate = !ok ? SWEEP_FAILED : run.fired ? SWEEP_PASSED : run.spent ? SWEEP_SPENT : SWEEP_UNFIRED;
  failure->viewed = run.viewed;
  failure->view = run.view;
  life_run_free(&run);
}

static void keep_failure(const struct pool *p, size_t job, const struct sweep_failure *f) {
  size_t i = atomic_fetch_add(&p->shared->failures, 1);
  if (i >= SWEEP_FAILURES_KEPT) return;
  p->failure[i] = *f;
  p->failure[i].job = job;
}

/* ---- a worker ---- */

static bool enough(const struct pool *p) {
  return p->stop_after > 0 && atomic_load(&p->shared->failures) >= p->stop_after;
}

/* true: it hung, and its world is still there. */
static bool do_job(const struct pool *p, size_t i) {
  struct sweep_failure f;
  alarm(RUN_LIMIT_S);
  sweep_run_one(&p->jobs[i], &p->results[i], &f);
  bool failed = p->results[i].fate == SWEEP_FAILED;
  if (failed) keep_failure(p, i, &f);
  atomic_fetch_add(&p->shared->done, 1);
  return failed && strncmp(f.why, "the client hangs", 16) == 0;
}

static int work(const struct pool *p, struct slot *slot) {
  int hangs = 0;
  for (;;) {
    while (atomic_load(&slot->at) < atomic_load(&slot->end)) {
      if (enough(p)) return EXIT_DONE;
      size_t i = atomic_load(&slot->at);
      hangs += do_job(p, i);
      atomic_store(&slot->at, i + 1);
      if (hangs == HANGS_OF_A_WORKER) return EXIT_REPLACE;
    }
    size_t from = atomic_fetch_add(&p->shared->next, CHUNK);
    if (from >= p->count) return EXIT_DONE;
    atomic_store(&slot->end, from + CHUNK < p->count ? from + CHUNK : p->count);
    atomic_store(&slot->at, from);
  }
}

/* A worker dies of what its client does, whoever catches signals in the process that made it. */
static void die_of_signals(void) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
}

/* SIGCHLD is blocked while the pool lives, so that the end of a worker ends the wait, also one that came before it. */
static void block_child_signal(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(how, &set, NULL);
}

static pid_t start(const struct pool *p, struct slot *slot) {
  fflush(NULL);
  pid_t pid = fork();
  if (pid != 0) return pid;
  die_of_signals();
  block_child_signal(SIG_UNBLOCK);
  _exit(work(p, slot));
}

/* ---- the pool ---- */

static void how_it_died(int status, char *out, size_t n) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    snprintf(out, n, "the client hangs: no end and no call within %d s of real time", RUN_LIMIT_S);
  else if (WIFSIGNALED(status))
    snprintf(out, n, "the client died of signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else
    snprintf(out, n, "the client ended its process with exit code %d", WEXITSTATUS(status));
}

/* The point in hand is the failure; the next worker goes on behind it. */
static void died(const struct pool *p, struct slot *slot, int status) {
  size_t i = atomic_load(&slot->at);
  if (i >= atomic_load(&slot->end)) return;
  struct sweep_failure f = {.job = i};
  how_it_died(status, f.why, sizeof f.why);
  p->results[i].fate = SWEEP_FAILED;
  keep_failure(p, i, &f);
  atomic_fetch_add(&p->shared->done, 1);
  atomic_store(&slot->at, i + 1);
}

static void wait_for_a_child(void) {
  const struct timespec t = {.tv_nsec = PROGRESS_NS};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigtimedwait(&set, NULL, &t);
}

static int slot_of(const pid_t *pids, int n, pid_t pid) {
  for (int i = 0; i < n; i++)
    if (pids[i] == pid) return i;
  return -1;
}

/* Until every worker has said that nothing is left. */
static bool watch(const struct pool *p, pid_t *pids, int workers, void (*progress)(size_t done, size_t count)) {
  int running = workers;
  while (running > 0) {
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid == 0) {
      if (progress) progress(atomic_load(&p->shared->done), p->count);
      wait_for_a_child();
      continue;
    }
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) return false;
    int i = slot_of(pids, workers, pid);
    if (i < 0) continue;
    bool done = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE;
    bool replace = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_REPLACE;
    if (!done && !replace) died(p, &p->shared->slots[i], status);
    pids[i] = done ? 0 : start(p, &p->shared->slots[i]);
    if (pids[i] < 0) return false;
    running -= done;
  }
  if (progress) progress(atomic_load(&p->shared->done), p->count);
  return true;
}

static void end_all(pid_t *pids, int n) {
  for (int i = 0; i < n; i++) {
    if (pids[i] <= 0) continue;
    kill(pids[i], SIGKILL);
    waitpid(pids[i], NULL, 0);
  }
}

static bool map_all(size_t count, struct pool *p, struct sweep_outcome *out) {
  size_t results = sizeof(struct shared), failures = results + (count + 1) * sizeof(struct sweep_result);
  failures = (failures + 63) / 64 * 64;
  out->mapped_bytes = failures + SWEEP_FAILURES_KEPT * sizeof(struct sweep_failure);
  out->mapping = mmap(NULL, out->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (out->mapping == MAP_FAILED) return false;
  p->shared = out->mapping;
  out->results = p->results = (void *)((char *)out->mapping + results);
  out->failure = p->failure = (void *)((char *)out->mapping + failures);
  return true;
}

bool sweep_run(const struct sweep_job *jobs, size_t count, int workers, size_t stop_after,
               void (*progress)(size_t done, size_t count), struct sweep_outcome *out) {
  struct pool p = {.jobs = jobs, .count = count, .stop_after = stop_after};
  pid_t pids[WORKERS_MAX] = {0};
  *out = (struct sweep_outcome){0};
  if (!map_all(count, &p, out)) return false;
  if (workers > WORKERS_MAX) workers = WORKERS_MAX;
  bool ok = true;
  block_child_signal(SIG_BLOCK);
  for (int i = 0; ok && i < workers; i++) ok = (pids[i] = start(&p, &p.shared->slots[i])) > 0;
  ok = ok && watch(&p, pids, workers, progress);
  if (!ok) end_all(pids, workers);
  block_child_signal(SIG_UNBLOCK);
  out->failures = atomic_load(&p.shared->failures);
  return ok;
}

void sweep_outcome_free(struct sweep_outcome *o) {
  if (o->mapping && o->mapping != MAP_FAILED) munmap(o->mapping, o->mapped_bytes);
  *o = (struct sweep_outcome){0};
}

/* ---- the reference ---- */

static struct census census, again;

static void reference(struct sweep_set *set) {
  struct life_run run;
  memset(&census, 0, sizeof census);
  life_run(&set->life, NULL, &census, false, &run);
  sweep_measure(&run.o.facts, &set->measure);
  if (!sweep_judge(&set->life, &set->measure, NULL, &run, set->broken, sizeof set->broken)) {
    life_run_free(&run);
    return;
  }
  life_run_free(&run);
  memset(&again, 0, sizeof again);
  life_run(&set->life, NULL, &again, false, &run);
  life_run_free(&run);
  if (census.overflow)
    snprintf(set->broken, sizeof set->broken, "a life has at most %d connections, and %d frames on each",
             CENSUS_CONNECTIONS, CENSUS_FRAMES);
  else if (memcmp(&census, &again, sizeof census) != 0)
    snprintf(set->broken, sizeof set->broken, "two runs of it make different calls");
}

/* A client that does not survive its life must not take the sweep with it. */
static bool survives(struct sweep_set *set) {
  int status;
  fflush(NULL);
  pid_t pid = fork();
  if (pid < 0) return false;
  if (pid == 0) {
    die_of_signals();
    alarm(RUN_LIMIT_S);
    reference(set);
    _exit(EXIT_DONE);
  }
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return false;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_DONE) how_it_died(status, set->broken, sizeof set->broken);
  return true;
}

bool sweep_prepare(struct sweep_set *set) {
  if (!survives(set)) return false;
  if (set->broken[0]) return true;
  reference(set);
  return set->broken[0] || census_points(&census, &set->points);
}
