/* A connection at work: answers in, batches out; and when it ends, what that means. */
#include <inttypes.h>

#include "base/deadline.h"
#include "qwp/wire.h"
#include "send/loop_impl.h"

#define STEP_PASSES_MAX 64 /* batches in one step, 4 MiB */
#define SEND_TIMEOUT_S INT64_C(600) /* for a whole write, of one frame or of 64 KiB (P121-04) */
#define LAST_WORDS_READS_MAX 1024 /* receive attempts on a connection whose write failed */

/* ---- answers ----------------------------------------------------------------------------- */

static void note_ok(struct qwp_loop *loop, int64_t sequence) {
  qwp_count_add(&loop->metrics.loop_acks, 1);
  if (!qwp_inflight_ok(&loop->inflight, sequence)) return;
  qwp_count_add(&loop->metrics.loop_acks_clamped, 1);
  if (loop->clamp_warned) return; /* once a connection is enough to be seen */
  loop->clamp_warned = true;
  qwp_loop_log(loop, QWP_LOG_WARN, "the server acknowledged sequence %" PRId64 ", but %" PRId64
               " is the next one to be sent; taken as the last one sent", sequence, loop->inflight.next_seq);
}

static enum qwp_status note_nack(struct qwp_loop *loop, const struct qwp_response *r) {
  qwp_count_add(&loop->metrics.loop_nacks, 1);
  loop->nack.status = r->status;
  loop->nack.sequence = r->sequence;
  qwp_response_text(r, loop->nack.text, sizeof loop->nack.text);
  return QWP_REJECTED; /* nothing behind it on this connection counts [NACK-021] */
}

static enum qwp_status on_message(void *ctx, unsigned opcode, const uint8_t *payload, size_t n) {
  struct qwp_loop *loop = ctx;
  struct qwp_response r;
  const char *why = "a message that is not binary"; /* [WS-002] */
  if (opcode != QWP_WS_BINARY || qwp_response_parse(payload, n, &r, &why) != QWP_OK) {
    qwp_loop_log(loop, QWP_LOG_WARN, "the server sent no valid answer: %s", why);
    return QWP_CONN_PROTOCOL;
  }
  switch (r.kind) {
    case QWP_RESPONSE_OK: note_ok(loop, r.sequence); return QWP_OK;
    case QWP_RESPONSE_DURABLE: return QWP_OK; /* not asked for, so nothing hangs on it */
    case QWP_RESPONSE_ERROR: break;
  }
  return note_nack(loop, &r);
}

/* What OKs named and a flush completed is acknowledged. */
static void apply_acks(struct qwp_loop *loop) {
  int64_t fsn = qwp_inflight_ackable(&loop->inflight);
  if (!qwp_inflight_acked(&loop->inflight, fsn)) return;
  qwp_ring_trim(loop->ring, &loop->cursor, fsn);
  qwp_poison_acked(&loop->poison, fsn);
  loop->idle_recycles = 0;
  loop->held_until_ns = QWP_NEVER;
  qwp_loop_progress(loop);
}

enum qwp_status qwp_loop_receive(struct qwp_loop *loop, struct qwp_error *err) {
  qwp_error_clear(err);
  enum qwp_status st = qwp_ws_receive(loop->ws, on_message, loop, err);
  apply_acks(loop);
  return st;
}

/* ---- batches ----------------------------------------------------------------------------- */

void qwp_loop_rollback(struct qwp_loop *loop) {
  if (!loop->batch_open) return;
  qwp_inflight_rollback(&loop->inflight);
  loop->batch_open = false;
}

/* A frame counts when the flush that carried it completed (P121-27). */
static void batch_sent(struct qwp_loop *loop) {
  qwp_count_add(&loop->metrics.loop_sent, loop->inflight.batch_frames);
  qwp_count_add(&loop->metrics.loop_replayed, loop->inflight.batch_replayed);
  qwp_count_add(&loop->metrics.loop_catchup, loop->inflight.batch_catchup);
  qwp_inflight_flushed(&loop->inflight);
  loop->batch_open = false;
  apply_acks(loop); /* of those that were held for it (P121-25) */
}

/* The time of a write counts from its first attempt, and what the socket takes meanwhile does
 * not start it over: else a peer that takes a byte now and then would hold the batch for ever. */
static enum qwp_status blocked(struct qwp_loop *loop, struct qwp_error *err) {
  if (loop->write_deadline_ns == QWP_NEVER) {
    loop->now_ns = loop->ops->clock->now_ns(loop->ops->clock_ctx); /* a backlog may have made this a long step */
    loop->write_deadline_ns = qwp_deadline(loop->now_ns, SEND_TIMEOUT_S * 1000 * QWP_NS_PER_MS);
  }
  if (loop->now_ns < loop->write_deadline_ns) return QWP_AGAIN;
  return qwp_fail(err, QWP_CONN_TIMEOUT, "the server did not take a write within %" PRId64 " s", SEND_TIMEOUT_S);
}

enum qwp_status qwp_loop_flush(struct qwp_loop *loop, struct qwp_error *err) {
  if (!loop->batch_open && !qwp_ws_control_pending(loop->ws)) return QWP_OK;
  enum qwp_status st = qwp_ws_flush(loop->ws, err);
  if (st == QWP_AGAIN) return blocked(loop, err);
  loop->write_deadline_ns = QWP_NEVER;
  if (st == QWP_OK && loop->batch_open) batch_sent(loop);
  return st;
}

void qwp_loop_want_room(const struct qwp_loop *loop, struct qwp_want *want) {
  want->sock = qwp_ws_sock(loop->ws);
  want->interest = QWP_READABLE | QWP_WRITABLE;
  if (loop->write_deadline_ns < want->deadline_ns) want->deadline_ns = loop->write_deadline_ns;
  if (!qwp_ws_starved(loop->ws)) return;
  want->interest = QWP_READABLE; /* the socket is writable, and waiting for that would be a busy loop */
  int64_t retry_ns = loop->now_ns + QWP_WS_STARVED_PAUSE_NS;
  if (retry_ns < want->deadline_ns) want->deadline_ns = retry_ns;
}

static void count_batch(struct qwp_loop *loop, const struct qwp_batch_result *r) {
  qwp_count_add(&loop->metrics.tx_batches, 1);
  if (r->frames < 2) return;
  if ((int64_t)r->wire_bytes > qwp_count_get(&loop->metrics.tx_max_batch))
    qwp_count_set(&loop->metrics.tx_max_batch, (int64_t)r->wire_bytes);
}

static bool more_to_send(struct qwp_loop *loop) {
  if (loop->state == QWP_LOOP_CATCHUP) return true; /* data may come behind it */
  const uint8_t *payload;
  size_t n;
  enum qwp_ring_look look = qwp_ring_look(loop->ring, &loop->cursor, &payload, &n);
  return look != QWP_RING_END && look != QWP_RING_HALF;
}

/* Says that a publish must wake the loop, and looks once more. */
static bool fall_asleep(struct qwp_loop *loop) {
  atomic_exchange_explicit(&loop->asleep, true, memory_order_acq_rel);
  if (!more_to_send(loop)) return true;
  atomic_exchange_explicit(&loop->asleep, false, memory_order_acq_rel);
  return false;
}

/* ---- when it ends ------------------------------------------------------------------------ */

/* A batch whose write failed was not sent: sequence and replay target go back (P121-27,
 * P121-28), its bytes go with the connection (P121-23), its frames stay in the store. */
static void let_go(struct qwp_loop *loop, int64_t pause_ns) {
  qwp_loop_rollback(loop);
  qwp_inflight_disconnect(&loop->inflight);
  qwp_loop_redial(loop, pause_ns);
}

/* The first connection that ends without progress is replaced at once, later ones after a
 * growing pause [NACK-022]; one that lived longer than the longest pause counts as progress,
 * or an idle sender would be paced by a server that ends idle connections. */
static int64_t pause_without_strike(struct qwp_loop *loop) {
  if (loop->now_ns - loop->connected_ns >= loop->backoff.max_ns) loop->idle_recycles = 0;
  loop->idle_recycles++;
  if (loop->idle_recycles == 1) return 0;
  return qwp_backoff_dose(&loop->backoff, loop->idle_recycles - 1, qwp_loop_random(loop));
}

static void broke(struct qwp_loop *loop, const struct qwp_error *err) {
  qwp_loop_log(loop, QWP_LOG_WARN, "connection lost: %s", err->text);
  qwp_endpoints_lost(&loop->endpoints, loop->attempt.endpoint);
  let_go(loop, pause_without_strike(loop));
}

/* A refusal that counts against the frame fsn. last: the newest such refusal; to_fsn: the
 * end of the span that the final error names [NACK-012]. */
static void strike(struct qwp_loop *loop, int64_t fsn, const struct qwp_error *last, int64_t to_fsn) {
  qwp_count_add(&loop->metrics.loop_strikes, 1);
  if (qwp_poison_strike(&loop->poison, fsn, loop->now_ns)) {
    struct qwp_error err = *last;
    err.code = QWP_POISONED;
    err.from_fsn = fsn;
    err.to_fsn = to_fsn;
    err.in_doubt = true;
    qwp_error_say(&err, "frame %" PRId64 " was refused %" PRId64 " times without progress; last: %s", fsn,
                  loop->poison.strikes, last->text);
    qwp_loop_terminate(loop, &err);
    return;
  }
  qwp_loop_log(loop, QWP_LOG_WARN, "strike %" PRId64 " against frame %" PRId64 ": %s", loop->poison.strikes, fsn,
               last->text);
  qwp_endpoints_lost(&loop->endpoints, loop->attempt.endpoint);
  let_go(loop, qwp_backoff_dose(&loop->backoff, loop->poison.strikes, qwp_loop_random(loop)));
}

/* The head frame: the first one that no OK named [NACK-015]. */
static int64_t head_fsn(const struct qwp_loop *loop) {
  const struct qwp_inflight *f = &loop->inflight;
  return (f->held_fsn > f->acked ? f->held_fsn : f->acked) + 1;
}

static void closed(struct qwp_loop *loop, const struct qwp_error *err) {
  bool head_was_sent = loop->data_begun && head_fsn(loop) < qwp_inflight_next_fsn(&loop->inflight);
  if (qwp_policy_orderly_close(err->close_code) || !head_was_sent)
    broke(loop, err);
  else
    strike(loop, head_fsn(loop), err, qwp_ring_published(loop->ring));
}

static void node_takes_no_writes(struct qwp_loop *loop, const struct qwp_error *err) {
  qwp_loop_log(loop, QWP_LOG_WARN, "%s", err->text);
  qwp_endpoints_lost(&loop->endpoints, loop->attempt.endpoint);
  qwp_endpoints_mark(&loop->endpoints, loop->attempt.endpoint, QWP_TOPOLOGY_REJECT);
  let_go(loop, pause_without_strike(loop));
}

/* The error of a NACK that concerns the frames from..to. */
static struct qwp_error nack_error(const struct qwp_loop *loop, int64_t from, int64_t to) {
  const struct qwp_nack *nack = &loop->nack;
  struct qwp_error err;
  qwp_fail(&err, QWP_REJECTED, "the server refused frame %" PRId64 " with %s (0x%02x)%s%s", from,
           qwp_policy_category(nack->status), nack->status, nack->text[0] ? ": " : "", nack->text);
  err.server_status = nack->status;
  err.message_seq = nack->sequence;
  err.from_fsn = from;
  err.to_fsn = to;
  err.in_doubt = true;
  return err;
}

static void rejected(struct qwp_loop *loop) {
  const struct qwp_inflight *f = &loop->inflight;
  int64_t named = qwp_inflight_clamp(f, loop->nack.sequence); /* as for an OK [SEQ-007] */
  /* A dictionary frame, or nothing of ours: it concerns whatever is not acknowledged. */
  bool names_data = qwp_inflight_names_data(f, named);
  int64_t from = names_data ? qwp_inflight_fsn(f, named) : f->acked + 1;
  int64_t to = names_data ? from : qwp_ring_published(loop->ring);
  struct qwp_error err = nack_error(loop, from, to);
  switch (qwp_policy_of(loop->nack.status)) {
    case QWP_POLICY_TERMINAL: qwp_loop_terminate(loop, &err); return;
    case QWP_POLICY_RETRIABLE_OTHER: node_takes_no_writes(loop, &err); return;
    case QWP_POLICY_RETRIABLE: break;
  }
  if (names_data)
    strike(loop, from, &err, to);
  else
    broke(loop, &err); /* no strike [NACK-016] */
}

static void connection_over(struct qwp_loop *loop, enum qwp_status st, const struct qwp_error *err) {
  loop->now_ns = loop->ops->clock->now_ns(loop->ops->clock_ctx); /* a backlog may have made this a long step */
  if (st == QWP_REJECTED)
    rejected(loop);
  else if (st == QWP_CONN_CLOSED)
    closed(loop, err);
  else
    broke(loop, err); /* break, framing error, invalid answer, out of memory: no verdict on a frame */
}

/* The write failed. What the server said before is still to be read: it may have
 * acknowledged, refused, or said why it closes (CASE-08). */
static void write_failed(struct qwp_loop *loop, const struct qwp_error *write_err) {
  struct qwp_error err;
  enum qwp_status st = QWP_OK;
  for (int i = 0; i < LAST_WORDS_READS_MAX && st == QWP_OK; i++) st = qwp_loop_receive(loop, &err);
  bool told = st == QWP_REJECTED || st == QWP_CONN_CLOSED;
  connection_over(loop, told ? st : QWP_CONN_LOST, told ? &err : write_err);
}

/* A stored frame, or a dictionary entry, exceeds what this server takes. Another endpoint,
 * or this one with another setting, may take it: keep it and go on trying, paced. */
static void exceeds_cap(struct qwp_loop *loop, const char *what) {
  struct qwp_error err;
  qwp_fail(&err, QWP_CONN_LOST, "%s is larger than the %" PRId64 " bytes this server takes", what, loop->peer_cap);
  broke(loop, &err);
}

/* The same frame, behind others that are on the wire. To leave now would send those again on the
 * next connection, and on each one behind it, as this server would still not take the frame: so
 * their answers come first, and no wake-up of a producer meanwhile. A server that gives none for
 * as long as a write may take is left as one that takes no write. false: nothing is waited for. */
static bool waits_for_answers(struct qwp_loop *loop) {
  if (loop->inflight.sent_fsn == loop->inflight.acked) return false;
  if (loop->held_until_ns == QWP_NEVER)
    loop->held_until_ns = qwp_deadline(loop->now_ns, SEND_TIMEOUT_S * 1000 * QWP_NS_PER_MS);
  return loop->now_ns < loop->held_until_ns;
}

static void append_failed(struct qwp_loop *loop, const struct qwp_error *err) {
  loop->batch_open = true; /* so that what was appended is rolled back (P121-29) */
  broke(loop, err);
}

/* The frames from the cursor on can never be sent as they are. */
static void cannot_replay(struct qwp_loop *loop, enum qwp_status code, const char *why) {
  struct qwp_error err;
  int64_t fsn = qwp_inflight_next_fsn(&loop->inflight);
  qwp_fail(&err, code, "frame %" PRId64 " cannot be sent: %s (the server was told %zu symbols); send its rows again",
           fsn, why, loop->mirror.count);
  err.from_fsn = fsn;
  err.to_fsn = qwp_ring_published(loop->ring);
  qwp_loop_terminate(loop, &err);
}

/* ---- one pass ------------------------------------------------------------------------------ */

/* A batch has a time of its own, not the rest of a pong's; a pong without one keeps what it has. */
static void open_batch(struct qwp_loop *loop) {
  loop->batch_open = true;
  loop->write_deadline_ns = QWP_NEVER;
}

/* false: the state has changed. */
static bool build_catchup(struct qwp_loop *loop) {
  struct qwp_error err;
  enum qwp_status st =
      qwp_catchup_build(&loop->catchup, &loop->mirror, loop->ws, &loop->inflight, loop->peer_cap, &err);
  if (loop->inflight.batch_catchup > 0) open_batch(loop);
  if (st == QWP_OK) return true;
  if (st == QWP_TOO_LARGE)
    exceeds_cap(loop, "a symbol of the dictionary");
  else
    append_failed(loop, &err);
  return false;
}

/* What ended a batch that has no frame takes effect. false: the state has changed. */
static bool nothing_built(struct qwp_loop *loop, enum qwp_batch_end end, const struct qwp_error *err) {
  switch (end) {
    case QWP_BATCH_TOO_LARGE:
      if (waits_for_answers(loop)) return true;
      exceeds_cap(loop, "a stored frame");
      return false;
    case QWP_BATCH_GAP: cannot_replay(loop, QWP_RESEND, "its symbols do not join the ones before"); return false;
    case QWP_BATCH_CORRUPT: cannot_replay(loop, QWP_RESEND, "it is damaged in the store"); return false;
    case QWP_BATCH_DICT_FULL: cannot_replay(loop, QWP_DICT_FULL, "the dictionary has no room"); return false;
    case QWP_BATCH_FAILED: append_failed(loop, err); return false;
    default: return true;
  }
}

static bool build_data(struct qwp_loop *loop) {
  struct qwp_error err;
  const struct qwp_batch_builder builder = {.ring = loop->ring,
                                            .cursor = &loop->cursor,
                                            .ws = loop->ws,
                                            .inflight = &loop->inflight,
                                            .mirror = &loop->mirror,
                                            .peer_cap = loop->peer_cap,
                                            .err = &err};
  struct qwp_batch_result r = qwp_batch_build(&builder);
  while (r.frames == 0 && r.end == QWP_BATCH_SEGMENT_END) {
    qwp_cursor_next_segment(&loop->cursor); /* false: one more frame is there, look again */
    r = qwp_batch_build(&builder);
  }
  if (r.frames == 0 || r.end == QWP_BATCH_FAILED) return nothing_built(loop, r.end, &err);
  open_batch(loop);
  loop->data_begun = true;
  count_batch(loop, &r);
  return true;
}

static bool build(struct qwp_loop *loop) {
  if (loop->state == QWP_LOOP_CATCHUP) {
    /* The send buffer holds dictionary frames only until the last one has left (P121-22). */
    if (!qwp_catchup_done(&loop->catchup, &loop->mirror)) return build_catchup(loop);
    loop->state = QWP_LOOP_RUNNING;
  }
  return build_data(loop);
}

/* A step ends in the middle of a backlog now and then: each has a time of its own, and what
 * hangs on the time, or on who else runs, must not wait for a producer to pause. */
enum qwp_turn qwp_loop_traffic(struct qwp_loop *loop, struct qwp_want *want) {
  struct qwp_error err;
  for (int pass = 0; pass < STEP_PASSES_MAX; pass++) {
    enum qwp_status st = qwp_loop_receive(loop, &err);
    if (qwp_loop_is_over(st)) {
      connection_over(loop, st, &err);
      return QWP_TURN_AGAIN;
    }
    if (!loop->batch_open && !build(loop)) return QWP_TURN_AGAIN;
    st = qwp_loop_flush(loop, &err);
    if (st == QWP_AGAIN) {
      qwp_loop_want_room(loop, want);
      return QWP_TURN_WAIT;
    }
    if (st != QWP_OK) {
      write_failed(loop, &err);
      return QWP_TURN_AGAIN;
    }
    if (atomic_load_explicit(&loop->close_requested, memory_order_acquire)) return QWP_TURN_AGAIN;
    if (loop->held_until_ns == QWP_NEVER && (more_to_send(loop) || !fall_asleep(loop))) continue;
    want->sock = qwp_ws_sock(loop->ws);
    want->interest = QWP_READABLE;
    want->deadline_ns = loop->held_until_ns;
    return QWP_TURN_WAIT;
  }
  want->again = true;
  want->deadline_ns = loop->now_ns;
  return QWP_TURN_WAIT;
}
