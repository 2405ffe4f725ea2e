#include "worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)
#define WAIT_FAILED_PAUSE_NS (10 * QWP_NS_PER_MS) /* a broken wait must not become a busy loop */

struct qwp_worker {
  const struct qwp_ops *ops;
  struct qwp_driver driver;
  struct qwp_loop *loop;
  pthread_t thread;
  bool running;
  atomic_bool stop;
  pthread_mutex_t lock;
  pthread_cond_t moved;
  uint64_t progress; /* under lock */
};

/* ---- the thread ------------------------------------------------------------------------ */

static int64_t now_ns(const struct qwp_worker *w) { return w->ops->clock->now_ns(w->ops->clock_ctx); }

static struct timespec in_ns(int64_t from_now_ns) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  int64_t ns = t.tv_nsec + from_now_ns % NS_PER_S;
  t.tv_sec += (time_t)(from_now_ns / NS_PER_S + ns / NS_PER_S);
  t.tv_nsec = (long)(ns % NS_PER_S);
  return t;
}

static void *run(void *arg) {
  struct qwp_worker *w = arg;
  while (!atomic_load_explicit(&w->stop, memory_order_acquire)) {
    int64_t now = now_ns(w);
    struct qwp_want want = qwp_loop_step(w->loop, now);
    if (want.stopped) break;
    int r = qwp_loop_wait(w->loop, &want, now);
    if (r >= 0 || r == -EINTR || r == -EAGAIN) continue;
    struct timespec pause = {.tv_nsec = WAIT_FAILED_PAUSE_NS};
    nanosleep(&pause, NULL);
  }
  return NULL;
}

/* ---- the driver ------------------------------------------------------------------------ */

/* The application's signals are for its own threads. */
static int create_without_signals(struct qwp_worker *w) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int r = pthread_create(&w->thread, NULL, run, w);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return r;
}

static int start(void *ctx, struct qwp_loop *loop) {
  struct qwp_worker *w = ctx;
  w->loop = loop;
  int r = create_without_signals(w);
  w->running = r == 0;
  return -r;
}

static void wake(void *ctx) {
  struct qwp_worker *w = ctx;
  w->ops->net->wake(w->ops->net_ctx);
}

static void wait_for_progress(void *ctx, uint64_t seen, int64_t deadline_ns) {
  struct qwp_worker *w = ctx;
  struct timespec until = {0};
  bool forever = deadline_ns == QWP_NEVER;
  if (!forever) {
    int64_t left_ns = deadline_ns - now_ns(w);
    if (left_ns <= 0) return;
    until = in_ns(left_ns);
  }
  pthread_mutex_lock(&w->lock);
  int r = 0;
  while (w->progress == seen && r != ETIMEDOUT)
    r = forever ? pthread_cond_wait(&w->moved, &w->lock) : pthread_cond_timedwait(&w->moved, &w->lock, &until);
  pthread_mutex_unlock(&w->lock);
}

static uint64_t seen(void *ctx) {
  struct qwp_worker *w = ctx;
  pthread_mutex_lock(&w->lock);
  uint64_t n = w->progress;
  pthread_mutex_unlock(&w->lock);
  return n;
}

static void progress(void *ctx) {
  struct qwp_worker *w = ctx;
  pthread_mutex_lock(&w->lock);
  w->progress++;
  pthread_cond_broadcast(&w->moved);
  pthread_mutex_unlock(&w->lock);
}

static void stop(void *ctx) {
  struct qwp_worker *w = ctx;
  if (!w->running) return;
  atomic_store_explicit(&w->stop, true, memory_order_release);
  wake(w);
  pthread_join(w->thread, NULL);
  w->running = false;
}

/* ---- life ------------------------------------------------------------------------------ */

static bool init_meeting(struct qwp_worker *w) {
  pthread_condattr_t attr;
  if (pthread_condattr_init(&attr) != 0) return false;
  bool ok = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 && pthread_cond_init(&w->moved, &attr) == 0;
  pthread_condattr_destroy(&attr);
  if (!ok) return false;
  if (pthread_mutex_init(&w->lock, NULL) == 0) return true;
  pthread_cond_destroy(&w->moved);
  return false;
}

struct qwp_worker *qwp_worker_new(const struct qwp_ops *ops) {
  struct qwp_worker *w = ops->mem->alloc(ops->mem_ctx, sizeof *w);
  if (!w) return NULL;
  *w = (struct qwp_worker){.ops = ops};
  w->driver = (struct qwp_driver){.ctx = w,
                                  .start = start,
                                  .wake = wake,
                                  .wait = wait_for_progress,
                                  .seen = seen,
                                  .progress = progress,
                                  .stop = stop};
  atomic_init(&w->stop, false);
  if (init_meeting(w)) return w;
  ops->mem->free(ops->mem_ctx, w);
  return NULL;
}

void qwp_worker_del(struct qwp_worker *w) {
  if (!w) return;
  pthread_mutex_destroy(&w->lock);
  pthread_cond_destroy(&w->moved);
  w->ops->mem->free(w->ops->mem_ctx, w);
}

const struct qwp_driver *qwp_worker_driver(const struct qwp_worker *w) { return &w->driver; }
