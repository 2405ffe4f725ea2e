#define _GNU_SOURCE
#include "runner/pool.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/real_time.h"

#define MAX_WORKERS 64

/* Shared by all processes: which job is next, and which one each worker has in hand since when. */
struct board {
  atomic_size_t next;
  atomic_size_t in_hand[MAX_WORKERS]; /* index + 1; 0 = none */
  atomic_int_least64_t since_ns[MAX_WORKERS]; /* of the job in hand; written before in_hand */
};

/* What a worker reports. */
struct record {
  size_t index;
  enum verdict verdict;
  int64_t took_ns, fired, samples;
  char why[JOB_WHY_BYTES];
};
static_assert(sizeof(struct record) <= PIPE_BUF, "the writes of two workers must not mix");

/* Why a worker was ended by us; NOT_OVER = it was not. */
enum over { NOT_OVER, JOB_OVER, RUN_OVER };

struct pool {
  struct jobs *jobs;
  const struct pool_options *o;
  struct board *board;
  int pipe[2];
  pid_t pids[MAX_WORKERS];
  enum over ended[MAX_WORKERS];
  int alive;
  int64_t until_ns; /* of the whole run; INT64_MAX = none */
  bool over;        /* that time is up: no worker takes the place of another */
};

typedef void (*run_fn)(struct job *j, const struct world_options *w, int journal_fd);

static run_fn run_of(const struct pool_options *o) { return o->run ? o->run : job_run; }

static void report(struct pool *p, size_t index) {
  const struct job *j = &p->jobs->at[index];
  struct record r = {.index = index, .verdict = j->verdict, .took_ns = j->took_ns, .fired = j->fired,
                     .samples = j->samples};
  memcpy(r.why, j->why, sizeof r.why);
  while (write(p->pipe[1], &r, sizeof r) < 0 && errno == EINTR) continue;
}

/* A worker: takes jobs until there are none. The parent watches the clock: a job may block every signal but one. */
static void work(struct pool *p, int slot) {
  for (;;) {
    size_t i = atomic_fetch_add(&p->board->next, 1);
    if (i >= p->jobs->count) break;
    if (p->jobs->at[i].done) continue; /* its verdict was clear before the run */
    atomic_store(&p->board->since_ns[slot], real_time_ns());
    atomic_store(&p->board->in_hand[slot], i + 1);
    run_of(p->o)(&p->jobs->at[i], &p->o->world, p->o->journal_fd);
    report(p, i);
    atomic_store(&p->board->in_hand[slot], 0);
  }
}

static bool start_worker(struct pool *p, int slot) {
  fflush(NULL);
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid < 0) return false;
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(3);
    close(p->pipe[0]);
    work(p, slot);
    exit(0); /* not _exit: leak checkers speak at exit */
  }
  p->pids[slot] = pid;
  p->ended[slot] = NOT_OVER;
  p->alive++;
  return true;
}

static void finish(struct pool *p, size_t index, const struct record *r) {
  struct job *j = &p->jobs->at[index];
  if (j->done) return;
  j->done = true;
  j->verdict = r->verdict;
  j->took_ns = r->took_ns;
  j->fired = r->fired;
  j->samples = r->samples;
  memcpy(j->why, r->why, sizeof j->why);
  if (p->o->on_done) p->o->on_done(p->o->ctx, j);
}

static void tell_end(int status, char *out, size_t n) {
  if (WIFSIGNALED(status))
    snprintf(out, n, "died of signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else
    snprintf(out, n, "ended with exit code %d", WEXITSTATUS(status));
}

static int64_t seconds(int64_t ns) { return ns / 1000000000; }

/* The worker's death is the verdict of the job that it had in hand. */
static void fail_job(struct pool *p, size_t index, enum over ended, int status) {
  struct record r = {.verdict = VERDICT_ERROR};
  const char *path = p->jobs->at[index].scenario->path;
  char end[96];
  tell_end(status, end, sizeof end);
  if (ended == JOB_OVER)
    snprintf(r.why, sizeof r.why, "%s: hangs: ended after %" PRId64 " s of real time", path,
             seconds(p->o->job_limit_ns));
  else if (ended == RUN_OVER)
    snprintf(r.why, sizeof r.why, "%s: was not run to its end: the time of the whole run, %" PRId64 " s, was over",
             path, seconds(p->o->run_limit_ns));
  else
    snprintf(r.why, sizeof r.why, "%s: the process that ran it %s", path, end);
  finish(p, index, &r);
}

/* Another worker takes the place of one that died over a job. One that died with none in hand has seen the end of the
 * list, or is not to be trusted with more of it: that belongs to no single job. */
static void bury(struct pool *p, int slot, int status) {
  p->alive--;
  p->pids[slot] = 0;
  size_t held = atomic_exchange(&p->board->in_hand[slot], 0);
  if (held) fail_job(p, held - 1, p->ended[slot], status);
  if (held || p->ended[slot] != NOT_OVER) { /* ended by us in the moment in which it put its job down */
    if (!p->over) start_worker(p, slot);
    return;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  char end[96];
  tell_end(status, end, sizeof end);
  if (!p->jobs->trouble[0])
    snprintf(p->jobs->trouble, sizeof p->jobs->trouble, "a worker process %s with no scenario in hand", end);
}

/* Lost with their worker, or never begun because none was left: silence is no green. */
static void fail_what_is_left(struct pool *p) {
  for (size_t i = 0; i < p->jobs->count; i++) {
    struct record r = {.verdict = VERDICT_ERROR};
    const char *path = p->jobs->at[i].scenario->path;
    if (p->over)
      snprintf(r.why, sizeof r.why, "%s: was not begun: the time of the whole run, %" PRId64 " s, was over", path,
               seconds(p->o->run_limit_ns));
    else
      snprintf(r.why, sizeof r.why, "%s: was not run to its end: its worker process was lost", path);
    finish(p, i, &r); /* of one that is done nothing changes */
  }
}

static void drain_records(struct pool *p) {
  struct record r;
  struct pollfd fd = {p->pipe[0], POLLIN, 0};
  while (poll(&fd, 1, 0) > 0 && read(p->pipe[0], &r, sizeof r) == (ssize_t)sizeof r) finish(p, r.index, &r);
}

static void end_worker(struct pool *p, int slot, enum over why) {
  if (p->pids[slot] == 0 || p->ended[slot] != NOT_OVER) return;
  p->ended[slot] = why;
  kill(p->pids[slot], SIGKILL); /* the one signal that a stopped process obeys too */
}

/* Ends what takes longer than it may: one job, or the run. */
static void watch_the_clock(struct pool *p) {
  const int64_t now_ns = real_time_ns();
  if (now_ns >= p->until_ns) p->over = true;
  for (int slot = 0; slot < MAX_WORKERS; slot++) {
    if (p->over) end_worker(p, slot, RUN_OVER);
    if (p->o->job_limit_ns == INT64_MAX || atomic_load(&p->board->in_hand[slot]) == 0) continue;
    if (now_ns - atomic_load(&p->board->since_ns[slot]) > p->o->job_limit_ns) end_worker(p, slot, JOB_OVER);
  }
}

static void run_workers(struct pool *p) {
  while (p->alive > 0) {
    struct pollfd fd = {p->pipe[0], POLLIN, 0};
    if (poll(&fd, 1, 20) > 0) drain_records(p);
    watch_the_clock(p);
    int status;
    for (int slot = 0; slot < MAX_WORKERS; slot++) {
      if (p->pids[slot] == 0 || waitpid(p->pids[slot], &status, WNOHANG) != p->pids[slot]) continue;
      drain_records(p);
      bury(p, slot, status);
    }
  }
  drain_records(p);
}

static bool run_here(struct jobs *jobs, const struct pool_options *o) {
  for (size_t i = 0; i < jobs->count; i++) {
    if (jobs->at[i].done) continue;
    run_of(o)(&jobs->at[i], &o->world, o->journal_fd);
    if (o->on_done) o->on_done(o->ctx, &jobs->at[i]);
  }
  return true;
}

bool pool_run(struct jobs *jobs, const struct pool_options *o) {
  if (o->in_process) return run_here(jobs, o);
  struct pool p = {.jobs = jobs, .o = o, .until_ns = INT64_MAX};
  if (o->run_limit_ns > 0) p.until_ns = real_time_ns() + o->run_limit_ns;
  p.board = mmap(NULL, sizeof *p.board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p.board == MAP_FAILED) return false;
  if (pipe(p.pipe) != 0) {
    munmap(p.board, sizeof *p.board);
    return false;
  }
  int workers = o->workers < 1 ? 1 : o->workers > MAX_WORKERS ? MAX_WORKERS : o->workers;
  if ((size_t)workers > jobs->count) workers = (int)jobs->count;
  for (int slot = 0; slot < workers; slot++) start_worker(&p, slot);
  bool ok = p.alive > 0 || jobs->count == 0;
  run_workers(&p);
  fail_what_is_left(&p);
  close(p.pipe[0]);
  close(p.pipe[1]);
  munmap(p.board, sizeof *p.board);
  return ok;
}
