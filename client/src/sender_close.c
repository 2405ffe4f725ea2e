/* The end of what was published: wait for its acknowledgement, say goodbye. */
#include <stdio.h>

#include "qwp/sender.h"
#include "sender_impl.h"

#define GOODBYE_MAX_MS 2000 /* the loop bounds its goodbye at 1 s; this guards against a driver that does not turn it */

static enum qwp_status drain_timed_out(const struct qwp_sender *s, int64_t ms, int64_t target, struct qwp_error *err) {
  int64_t acked = qwp_ring_acked(s->ring);
  qwp_fail(err, QWP_TIMEOUT, "not everything was acknowledged within %lld ms (frames %lld to %lld are left)",
           (long long)ms, (long long)acked + 1, (long long)target);
  if (err) {
    err->from_fsn = acked + 1;
    err->to_fsn = target;
    err->in_doubt = true;
  }
  return QWP_TIMEOUT;
}

/* A deadline without progress, not a total [API-002]. The target is what is published, also
 * if this call had nothing to flush [SEND-005]. */
bool qwp_sender_drain(qwp_sender *s, int64_t timeout_ms, struct qwp_error *err) {
  if (!qwp_sender_may_flush(s, err) || !qwp_sender_publish(s, QWP_APPEND_DEADLINE, NULL, err)) return false;
  int64_t target = qwp_ring_published(s->ring);
  int64_t acked_before = INT64_MIN;
  int64_t deadline_ns = QWP_NEVER;
  for (;;) {
    uint64_t seen = s->driver->seen(s->driver->ctx);
    int64_t acked = qwp_ring_acked(s->ring);
    if (acked >= target) return true;
    if (!qwp_sender_usable(s, err)) return false;
    int64_t now_ns = timeout_ms > 0 ? qwp_sender_now(s) : 0;
    if (timeout_ms > 0 && acked != acked_before) deadline_ns = qwp_deadline(now_ns, qwp_config_ns(timeout_ms));
    acked_before = acked;
    if (now_ns >= deadline_ns) return drain_timed_out(s, timeout_ms, target, err) == QWP_OK;
    s->driver->wait(s->driver->ctx, seen, deadline_ns);
  }
}

/* Until everything published is acknowledged, the loop has stopped, or the time is up. */
static void await_acks(struct qwp_sender *s, int64_t deadline_ns) {
  int64_t target = qwp_ring_published(s->ring);
  for (;;) {
    uint64_t seen = s->driver->seen(s->driver->ctx);
    if (qwp_ring_acked(s->ring) >= target || qwp_loop_latched(s->loop)) return;
    if (qwp_sender_now(s) >= deadline_ns) return;
    s->driver->wait(s->driver->ctx, seen, deadline_ns);
  }
}

static void await_stop(struct qwp_sender *s) {
  int64_t deadline_ns = qwp_sender_deadline(s, GOODBYE_MAX_MS);
  for (;;) {
    uint64_t seen = s->driver->seen(s->driver->ctx);
    if (qwp_loop_stopped(s->loop) || qwp_sender_now(s) >= deadline_ns) return;
    s->driver->wait(s->driver->ctx, seen, deadline_ns);
  }
}

static void warn_of_loss(const struct qwp_sender *s, int64_t acked, int64_t target) {
  char line[128];
  snprintf(line, sizeof line, "close: %lld frames (%lld to %lld) are not acknowledged and may be lost",
           (long long)(target - acked), (long long)acked + 1, (long long)target);
  s->log(s->log_ctx, QWP_LOG_WARN, line);
}

/* What is published and not acknowledged. true: nothing, or nobody waited for it. */
static bool tail_is_acked(struct qwp_sender *s, bool waited, struct qwp_error *err) {
  int64_t target = qwp_ring_published(s->ring);
  int64_t acked = qwp_ring_acked(s->ring);
  if (acked >= target) return true;
  warn_of_loss(s, acked, target);
  return !waited || drain_timed_out(s, s->config.close_flush_timeout_ms, target, err) == QWP_OK;
}

/* How a close went. */
struct closing {
  bool told_before; /* an earlier call has failed with the latched error */
  bool row_was_open, flushed, waited;
};

/* The most telling failure of a close: a terminal error no call before told of, then a flush
 * that failed, then what is not acknowledged, then an open row. */
static bool close_verdict(struct qwp_sender *s, const struct closing *c, struct qwp_error *err) {
  bool latched = qwp_loop_latched(s->loop);
  if (latched && !c->told_before) return !qwp_sender_tell_latched(s, err);
  if (!latched && !c->flushed) return false; /* err tells */
  if (!latched && !tail_is_acked(s, c->waited, err)) return false;
  if (!c->row_was_open) return true;
  qwp_fail(err, QWP_MISUSE, "a row was open at close and was taken back");
  return false;
}

bool qwp_sender_stop(qwp_sender *s, struct qwp_error *err) {
  if (s->stopped) return true;
  s->stopped = true;
  int64_t wait_ms = s->config.close_flush_timeout_ms;
  struct closing c = {
      .told_before = s->error_reported, .row_was_open = qwp_batch_row_open(s->batch), .waited = wait_ms > 0};
  int64_t deadline_ns = qwp_sender_deadline(s, c.waited ? wait_ms : 0);
  qwp_batch_cancel(s->batch);
  c.flushed = qwp_loop_latched(s->loop) || qwp_sender_publish(s, deadline_ns, NULL, err);
  if (c.waited) await_acks(s, deadline_ns);
  bool ok = close_verdict(s, &c, err);
  qwp_loop_request_close(s->loop);
  await_stop(s);
  s->driver->stop(s->driver->ctx);
  s->started = false;
  return ok;
}
