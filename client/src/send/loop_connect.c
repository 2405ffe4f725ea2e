/* Reaching a server. A round walks the endpoints without a pause between them [RECON-004];
 * a round without success pauses, and the first connect may give up there. Once connected,
 * nothing here gives up but a refusal of the credentials [FAIL-009]. */
#include <stdio.h>
#include <string.h>

#include "send/loop_impl.h"

#define ROLE_CATCHUP "PRIMARY_CATCHUP"

static const struct qwp_endpoint *endpoint(const struct qwp_loop *loop) {
  return &loop->config->endpoints[loop->attempt.endpoint];
}

/* ---- when a round is over ---------------------------------------------------------------- */

static bool first_connect(const struct qwp_loop *loop) {
  return !atomic_load_explicit(&loop->was_connected, memory_order_relaxed);
}

static bool first_connect_is_over(const struct qwp_loop *loop) {
  if (!first_connect(loop)) return false;
  if (loop->config->initial_connect == QWP_CONNECT_OFF) return true;
  return loop->now_ns >= loop->first_deadline_ns;
}

/* The first connect failed for good: a role mismatch if any endpoint rejected by role, as
 * that outranks the other reasons [FAIL-013]. */
static void give_up(struct qwp_loop *loop) {
  struct qwp_error err = loop->last_error;
  bool by_role = loop->role_rejects > 0;
  err.code = by_role ? QWP_ROLE : QWP_CONNECT;
  qwp_error_say(&err, "%s (%d of %zu endpoints tried); last: %s",
                by_role ? "no endpoint takes writes" : "no endpoint could be reached", loop->tried,
                loop->endpoints.count, loop->last_error.text);
  qwp_loop_terminate(loop, &err);
}

static void round_failed(struct qwp_loop *loop) {
  if (first_connect_is_over(loop)) {
    give_up(loop);
    return;
  }
  /* Only where every endpoint answered is nothing wrong with the network [RECON-008]; one
   * standby among dead hosts must not keep the pauses short for good. */
  bool all_by_role = loop->role_rejects == loop->tried;
  uint64_t random = qwp_loop_random(loop);
  int64_t pause_ns = all_by_role ? qwp_backoff_role(&loop->backoff, random) : qwp_backoff_next(&loop->backoff, random);
  qwp_loop_log(loop, QWP_LOG_WARN, "no endpoint could be reached, next round in %lld ms; last: %s",
               (long long)(pause_ns / QWP_NS_PER_MS), loop->last_error.text);
  loop->resume_ns = loop->now_ns + pause_ns;
  /* The synchronous first connect answers when its time is up, not a pause later. */
  if (loop->resume_ns > loop->first_deadline_ns) loop->resume_ns = loop->first_deadline_ns;
  loop->round_exhausted = true;
  loop->state = QWP_LOOP_BACKOFF;
}

static void new_round(struct qwp_loop *loop) {
  qwp_endpoints_new_round(&loop->endpoints);
  loop->round_exhausted = false;
  loop->tried = loop->role_rejects = 0;
}

/* ---- one attempt ------------------------------------------------------------------------- */

static void remember(struct qwp_loop *loop, const struct qwp_error *err) {
  loop->last_error = *err;
  qwp_error_say(&loop->last_error, "%.255s:%d: %s", endpoint(loop)->host, endpoint(loop)->port, err->text);
  qwp_loop_log(loop, QWP_LOG_INFO, "cannot connect to %s", loop->last_error.text);
}

static bool resolve(struct qwp_loop *loop, struct qwp_error *err) {
  struct qwp_attempt *a = &loop->attempt;
  const struct qwp_endpoint *e = endpoint(loop);
  const char *form = strchr(e->host, ':') ? "[%s]:%d" : "%s:%d"; /* an IPv6 literal wants brackets */
  snprintf(a->host_header, sizeof a->host_header, form, e->host, e->port);
  a->addr_next = 0;
  a->addr_count = loop->ops->net->resolve(loop->ops->net_ctx, e->host, e->port, a->addrs, QWP_LOOP_ADDRESSES_MAX);
  if (a->addr_count > 0) return true;
  int sys_errno = -a->addr_count;
  qwp_fail(err, QWP_CONN_LOST, "the host name cannot be resolved");
  err->sys_errno = sys_errno;
  return false;
}

/* Opens the endpoint's next address that can be opened. */
static bool open_next_address(struct qwp_loop *loop, struct qwp_error *err) {
  struct qwp_attempt *a = &loop->attempt;
  while (a->addr_next < a->addr_count) {
    qwp_count_add(&loop->metrics.loop_attempts, 1);
    enum qwp_status st = qwp_ws_open(loop->ws, &a->addrs[a->addr_next++], a->host_header, loop->now_ns, err);
    if (st == QWP_OK) {
      loop->state = QWP_LOOP_CONNECTING;
      return true;
    }
  }
  return false;
}

/* Walks on until an attempt is under way or the round is exhausted. */
static void dial(struct qwp_loop *loop) {
  for (;;) {
    int index = qwp_endpoints_pick(&loop->endpoints);
    if (index < 0) {
      round_failed(loop);
      return;
    }
    loop->attempt.endpoint = index;
    loop->tried++;
    struct qwp_error err;
    if (resolve(loop, &err) && open_next_address(loop, &err)) return;
    remember(loop, &err);
    qwp_endpoints_mark(&loop->endpoints, index, QWP_TRANSPORT_ERROR);
  }
}

static bool same_word(const char *a, const char *b) { /* ASCII, any case */
  for (; *a && *b; a++, b++)
    if ((*a | 0x20) != (*b | 0x20)) return false;
  return *a == *b;
}

static enum qwp_health health_after(struct qwp_loop *loop, enum qwp_status st) {
  if (st != QWP_CONN_ROLE) return QWP_TRANSPORT_ERROR;
  return same_word(qwp_ws_peer(loop->ws)->role, ROLE_CATCHUP) ? QWP_TRANSIENT_REJECT : QWP_TOPOLOGY_REJECT;
}

/* was_connecting: TCP was not there yet, so another address of the host may answer. */
static void attempt_failed(struct qwp_loop *loop, enum qwp_status st, struct qwp_error *err, bool was_connecting) {
  remember(loop, err);
  if (st == QWP_AUTH) {
    qwp_loop_terminate(loop, &loop->last_error);
    return;
  }
  if (was_connecting && open_next_address(loop, err)) return;
  if (st == QWP_CONN_ROLE) loop->role_rejects++;
  qwp_endpoints_mark(&loop->endpoints, loop->attempt.endpoint, health_after(loop, st));
  dial(loop);
}

/* ---- connected --------------------------------------------------------------------------- */

static void connected(struct qwp_loop *loop) {
  bool first = first_connect(loop);
  qwp_count_add(&loop->metrics.loop_connects, 1);
  if (!first) qwp_count_add(&loop->metrics.loop_reconnects, 1);
  qwp_endpoints_mark(&loop->endpoints, loop->attempt.endpoint, QWP_HEALTHY);
  qwp_backoff_reset(&loop->backoff);
  loop->first_deadline_ns = QWP_NEVER;
  loop->tried = loop->role_rejects = 0;
  loop->connected_ns = loop->now_ns;

  loop->peer_cap = qwp_ws_peer(loop->ws)->max_batch;
  atomic_store_explicit(&loop->cap, loop->peer_cap, memory_order_release);

  loop->batch_open = false;
  loop->held_until_ns = QWP_NEVER;
  loop->write_deadline_ns = QWP_NEVER;
  loop->data_begun = false;
  loop->clamp_warned = false;
  qwp_inflight_connect(&loop->inflight);
  qwp_ring_seek(loop->ring, &loop->cursor, loop->inflight.acked + 1);
  qwp_catchup_restart(&loop->catchup);
  loop->state = qwp_catchup_done(&loop->catchup, &loop->mirror) ? QWP_LOOP_RUNNING : QWP_LOOP_CATCHUP;

  atomic_store_explicit(&loop->was_connected, true, memory_order_release);
  qwp_loop_log(loop, QWP_LOG_INFO, "connected to %s:%d", endpoint(loop)->host, endpoint(loop)->port);
  qwp_loop_progress(loop);
}

/* ---- states ------------------------------------------------------------------------------ */

enum qwp_turn qwp_loop_pause(struct qwp_loop *loop, struct qwp_want *want) {
  if (loop->now_ns < loop->resume_ns) {
    want->deadline_ns = loop->resume_ns;
    return QWP_TURN_WAIT;
  }
  if (first_connect(loop) && loop->now_ns >= loop->first_deadline_ns) {
    give_up(loop);
    return QWP_TURN_AGAIN;
  }
  if (loop->round_exhausted) new_round(loop);
  dial(loop);
  return QWP_TURN_AGAIN;
}

/* The kernel has no buffers for the request: the socket is writable all the while, and only time helps (CASE-82). */
static void wait_for_buffers(const struct qwp_loop *loop, struct qwp_want *want) {
  int64_t retry_ns = loop->now_ns + QWP_WS_STARVED_PAUSE_NS;
  want->sock = -1;
  want->interest = 0;
  if (retry_ns < want->deadline_ns) want->deadline_ns = retry_ns;
}

enum qwp_turn qwp_loop_handshake(struct qwp_loop *loop, struct qwp_want *want) {
  struct qwp_error err;
  qwp_error_clear(&err);
  if (loop->now_ns >= loop->first_deadline_ns) {
    qwp_ws_close(loop->ws);
    qwp_fail(&err, QWP_CONN_TIMEOUT, "no answer before reconnect_max_duration_millis was over");
    remember(loop, &err);
    give_up(loop);
    return QWP_TURN_AGAIN;
  }
  bool tcp_pending = qwp_ws_state(loop->ws) == QWP_WS_CONNECTING;
  want->deadline_ns = QWP_NEVER;
  enum qwp_status st = qwp_ws_handshake(loop->ws, loop->now_ns, &want->interest, &want->deadline_ns, &err);
  if (st == QWP_OK) {
    connected(loop);
    return QWP_TURN_AGAIN;
  }
  if (st != QWP_AGAIN) {
    qwp_ws_close(loop->ws);
    attempt_failed(loop, st, &err, tcp_pending && (st == QWP_CONN_LOST || st == QWP_CONN_TIMEOUT));
    return QWP_TURN_AGAIN;
  }
  loop->state = qwp_ws_state(loop->ws) == QWP_WS_CONNECTING ? QWP_LOOP_CONNECTING : QWP_LOOP_UPGRADING;
  want->sock = qwp_ws_sock(loop->ws);
  if (qwp_ws_starved(loop->ws)) wait_for_buffers(loop, want);
  if (want->deadline_ns > loop->first_deadline_ns) want->deadline_ns = loop->first_deadline_ns;
  return QWP_TURN_WAIT;
}

void qwp_loop_redial(struct qwp_loop *loop, int64_t pause_ns) {
  qwp_ws_close(loop->ws);
  loop->resume_ns = loop->now_ns + pause_ns;
  loop->state = QWP_LOOP_BACKOFF;
}
