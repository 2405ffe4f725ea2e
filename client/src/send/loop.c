#include "send/loop.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/deadline.h"
#include "qwp/wire.h"
#include "send/loop_impl.h"

#define CLOSE_NORMAL 1000
#define GOODBYE_NS (INT64_C(1000) * QWP_NS_PER_MS) /* for the Close frame and the peer's end */
#define RX_INITIAL_BYTES 65536u
#define RX_MAX_BYTES (16u * 1024u * 1024u) /* an OK that names 65 535 tables has 9 MB */

/* ---- life -------------------------------------------------------------------------- */

static struct qwp_ws_config ws_config(const struct qwp_config *c) {
  return (struct qwp_ws_config){
      .path = QWP_PATH_WRITE,
      .client_id = c->client_id,
      .authorization = c->authorization,
      .auth_timeout_ns = qwp_config_ns(c->auth_timeout_ms),
      .connect_timeout_ns = c->connect_timeout_ms > 0 ? qwp_config_ns(c->connect_timeout_ms) : QWP_NEVER,
      .rx_initial_bytes = RX_INITIAL_BYTES,
      .rx_max_bytes = RX_MAX_BYTES,
  };
}

static void init_shared(struct qwp_loop *loop) {
  atomic_init(&loop->latched, false);
  atomic_init(&loop->stopped, false);
  atomic_init(&loop->was_connected, false);
  atomic_init(&loop->close_requested, false);
  atomic_init(&loop->asleep, false);
  atomic_init(&loop->cap, 0);
  atomic_init(&loop->wakes, 0);
  qwp_loop_metrics_init(&loop->metrics);
}

struct qwp_loop *qwp_loop_new(const struct qwp_loop_options *o) {
  struct qwp_loop *loop = o->ops->mem->alloc(o->ops->mem_ctx, sizeof *loop);
  if (!loop) return NULL;
  memset(loop, 0, sizeof *loop);
  loop->ops = o->ops;
  loop->driver = o->driver;
  loop->config = o->config;
  loop->ring = o->ring;
  loop->log = o->log;
  loop->log_ctx = o->log_ctx;
  loop->state = QWP_LOOP_BACKOFF;
  loop->resume_ns = INT64_MIN;
  loop->first_deadline_ns = QWP_NEVER;
  loop->ws_config = ws_config(o->config);
  qwp_error_clear(&loop->last_error);
  qwp_backoff_init(&loop->backoff, qwp_config_ns(o->config->reconnect_initial_backoff_ms),
                   qwp_config_ns(o->config->reconnect_max_backoff_ms));
  qwp_poison_init(&loop->poison, o->config->max_frame_rejections, qwp_config_ns(o->config->poison_window_ms));
  qwp_inflight_init(&loop->inflight);
  qwp_mirror_init(&loop->mirror, o->ops);
  qwp_catchup_init(&loop->catchup, o->ops);
  init_shared(loop);
  loop->ws = qwp_ws_new(o->ops, &loop->ws_config);
  if (!loop->ws || !qwp_endpoints_init(&loop->endpoints, o->ops, o->config->endpoint_count)) {
    qwp_loop_del(loop);
    return NULL;
  }
  return loop;
}

void qwp_loop_del(struct qwp_loop *loop) {
  if (!loop) return;
  qwp_ws_del(loop->ws);
  qwp_catchup_free(&loop->catchup);
  qwp_mirror_free(&loop->mirror);
  qwp_endpoints_free(&loop->endpoints);
  loop->ops->mem->free(loop->ops->mem_ctx, loop);
}

/* ---- small services for the other files ------------------------------------------------ */

void qwp_loop_log(struct qwp_loop *loop, enum qwp_log_level level, const char *fmt, ...) {
  if (!loop->log) return;
  char line[QWP_ERROR_TEXT_BYTES + 128];
  va_list args;
  va_start(args, fmt);
  vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  loop->log(loop->log_ctx, level, line);
}

uint64_t qwp_loop_random(struct qwp_loop *loop) {
  uint64_t v = 0;
  if (loop->ops->clock->entropy(loop->ops->clock_ctx, &v, sizeof v) != 0) return 0;
  return v;
}

static void show_numbers(struct qwp_loop *loop) {
  qwp_loop_metrics_ws(&loop->metrics, qwp_ws_counters(loop->ws));
  qwp_count_set(&loop->metrics.loop_next_seq, loop->inflight.next_seq);
  qwp_count_set(&loop->metrics.loop_replay_target, loop->inflight.replay_target);
}

void qwp_loop_progress(struct qwp_loop *loop) {
  show_numbers(loop);
  loop->driver->progress(loop->driver->ctx);
}

/* ---- ending --------------------------------------------------------------------------- */

static void stop(struct qwp_loop *loop) {
  qwp_loop_rollback(loop);
  qwp_ws_close(loop->ws);
  loop->state = QWP_LOOP_STOPPED;
  show_numbers(loop);
  atomic_store_explicit(&loop->stopped, true, memory_order_release);
  loop->driver->progress(loop->driver->ctx);
}

/* Without a connection there is nobody to say goodbye to. */
static void begin_close(struct qwp_loop *loop) {
  if (qwp_ws_state(loop->ws) != QWP_WS_OPEN) {
    stop(loop);
    return;
  }
  loop->state = QWP_LOOP_CLOSING;
  loop->now_ns = loop->ops->clock->now_ns(loop->ops->clock_ctx); /* a backlog may have made this a long step */
  loop->close_deadline_ns = loop->now_ns + GOODBYE_NS;
}

void qwp_loop_terminate(struct qwp_loop *loop, const struct qwp_error *err) {
  if (!atomic_load_explicit(&loop->latched, memory_order_relaxed)) {
    loop->error = *err;
    atomic_store_explicit(&loop->latched, true, memory_order_release);
    qwp_loop_log(loop, QWP_LOG_ERROR, "the sender is finished: %s", err->text);
  }
  if (loop->batch_open)
    stop(loop); /* no data may follow, so the stream stays inside a frame: no Close can be sent */
  else
    begin_close(loop);
  qwp_loop_progress(loop);
}

/* Queues the Close once the stream stands at a frame boundary, and the FIN behind it. */
static enum qwp_status say_goodbye(struct qwp_loop *loop, struct qwp_error *err) {
  enum qwp_status st = qwp_loop_flush(loop, err);
  if (st != QWP_OK) return st;
  if (!loop->close_queued) {
    if (qwp_ws_send_close(loop->ws, CLOSE_NORMAL) != QWP_OK) return QWP_CONN_LOST;
    loop->close_queued = true;
    st = qwp_loop_flush(loop, err);
    if (st != QWP_OK) return st;
  }
  if (!loop->fin_sent) {
    /* Half-close only: closing with answers unread would turn into a reset that can
     * overtake the Close frame. */
    loop->ops->net->shutdown(loop->ops->net_ctx, qwp_ws_sock(loop->ws));
    loop->fin_sent = true;
  }
  return QWP_OK;
}

/* One receive attempt a step, also if more is there: each step has a time of its own, so a
 * server that never stops talking cannot outlast the deadline. */
static enum qwp_turn closing(struct qwp_loop *loop, struct qwp_want *want) {
  struct qwp_error err;
  bool over = loop->now_ns >= loop->close_deadline_ns;
  want->sock = qwp_ws_sock(loop->ws);
  want->interest = QWP_READABLE;
  want->deadline_ns = loop->close_deadline_ns;
  if (!over) {
    enum qwp_status out = say_goodbye(loop, &err);
    enum qwp_status in = qwp_loop_receive(loop, &err);
    over = qwp_loop_is_over(out) || qwp_loop_is_over(in);
    if (out == QWP_AGAIN) qwp_loop_want_room(loop, want);
  }
  if (!over) return QWP_TURN_WAIT;
  stop(loop);
  return QWP_TURN_AGAIN;
}

/* ---- step ----------------------------------------------------------------------------- */

static enum qwp_turn take_turn(struct qwp_loop *loop, struct qwp_want *want) {
  switch (loop->state) {
    case QWP_LOOP_BACKOFF: return qwp_loop_pause(loop, want);
    case QWP_LOOP_CONNECTING: return qwp_loop_handshake(loop, want);
    case QWP_LOOP_UPGRADING: return qwp_loop_handshake(loop, want);
    case QWP_LOOP_CATCHUP: return qwp_loop_traffic(loop, want);
    case QWP_LOOP_RUNNING: return qwp_loop_traffic(loop, want);
    case QWP_LOOP_CLOSING: return closing(loop, want);
    case QWP_LOOP_STOPPED: break;
  }
  return QWP_TURN_WAIT;
}

static bool close_is_due(const struct qwp_loop *loop) {
  return loop->state < QWP_LOOP_CLOSING && atomic_load_explicit(&loop->close_requested, memory_order_acquire);
}

static void first_step(struct qwp_loop *loop) {
  loop->first_step_done = true;
  if (loop->config->initial_connect != QWP_CONNECT_SYNC) return;
  loop->first_deadline_ns = qwp_deadline(loop->now_ns, qwp_config_ns(loop->config->reconnect_max_duration_ms));
}

/* Awake: a publish from here on needs no wake-up. An exchange, not a store, so that it
 * takes part in the hand-over with qwp_loop_published. */
static void wake_up(struct qwp_loop *loop) {
  if (atomic_load_explicit(&loop->asleep, memory_order_relaxed))
    atomic_exchange_explicit(&loop->asleep, false, memory_order_acq_rel);
}

struct qwp_want qwp_loop_step(struct qwp_loop *loop, int64_t now_ns) {
  struct qwp_want want;
  loop->now_ns = now_ns;
  qwp_count_add(&loop->metrics.loop_steps, 1);
  wake_up(loop);
  if (!loop->first_step_done) first_step(loop);
  enum qwp_turn turn;
  do {
    if (close_is_due(loop)) begin_close(loop);
    want = (struct qwp_want){.sock = -1, .deadline_ns = QWP_NEVER};
    turn = take_turn(loop, &want);
  } while (turn == QWP_TURN_AGAIN);
  show_numbers(loop);
  want.stopped = loop->state == QWP_LOOP_STOPPED;
  return want;
}

int qwp_loop_wait(struct qwp_loop *loop, const struct qwp_want *want, int64_t now_ns) {
  if (want->again) return 0;
  /* The deadline counts from the step's newest look at the clock, and the step may have been long. */
  if (loop->now_ns > now_ns) now_ns = loop->now_ns;
  int64_t timeout_ns = QWP_NEVER;
  if (want->deadline_ns != QWP_NEVER) timeout_ns = want->deadline_ns > now_ns ? want->deadline_ns - now_ns : 0;
  return loop->ops->net->wait(loop->ops->net_ctx, want->sock, want->interest, timeout_ns);
}

/* ---- for the producer ------------------------------------------------------------------ */

void qwp_loop_published(struct qwp_loop *loop) {
  /* Both sides exchange the flag, so one of them sees the other: either the loop, about to
   * sleep, finds the frame, or this finds the flag. */
  if (!atomic_exchange_explicit(&loop->asleep, false, memory_order_acq_rel)) return;
  qwp_count_add(&loop->wakes, 1);
  loop->driver->wake(loop->driver->ctx);
}

void qwp_loop_request_close(struct qwp_loop *loop) {
  atomic_store_explicit(&loop->close_requested, true, memory_order_release);
  loop->driver->wake(loop->driver->ctx);
}

bool qwp_loop_stopped(const struct qwp_loop *loop) {
  return atomic_load_explicit(&loop->stopped, memory_order_acquire);
}

bool qwp_loop_was_connected(const struct qwp_loop *loop) {
  return atomic_load_explicit(&loop->was_connected, memory_order_acquire);
}

int64_t qwp_loop_cap(const struct qwp_loop *loop) { return atomic_load_explicit(&loop->cap, memory_order_acquire); }

bool qwp_loop_latched(const struct qwp_loop *loop) {
  return atomic_load_explicit(&loop->latched, memory_order_acquire);
}

bool qwp_loop_error(const struct qwp_loop *loop, struct qwp_error *out) {
  if (!qwp_loop_latched(loop)) return false;
  if (out) *out = loop->error;
  return true;
}

void qwp_loop_metrics(const struct qwp_loop *loop, struct qwp_metrics *out) {
  qwp_loop_metrics_read(&loop->metrics, out);
  out->loop_wakes = qwp_count_get(&loop->wakes);
  out->snd_latched = qwp_loop_latched(loop);
  out->tx_cap = QWP_BATCH_CAP;
  out->ring_published = qwp_ring_published(loop->ring);
  out->ring_acked = qwp_ring_acked(loop->ring);
  out->ring_bytes = qwp_ring_bytes(loop->ring);
}
