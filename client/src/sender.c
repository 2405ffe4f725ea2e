/* The public functions: life, flush, numbers. Every call that waits does so through the
 * driver's one hook. */
#include "qwp/sender.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/errno_text.h"
#include "encode/message.h"
#include "qwp/wire.h"
#include "sender_impl.h"

/* Without a function of the caller's: silence is not allowed [OBS-002], chatter not wanted. */
static void log_to_stderr(void *ctx, enum qwp_log_level level, const char *line) {
  (void)ctx;
  if (level >= QWP_LOG_WARN) fprintf(stderr, "qwp: %s\n", line);
}

bool qwp_sender_tell_latched(struct qwp_sender *s, struct qwp_error *err) {
  if (!qwp_loop_error(s->loop, err)) return false;
  s->error_reported = true;
  return true;
}

bool qwp_sender_usable(struct qwp_sender *s, struct qwp_error *err) {
  if (s->stopped) {
    qwp_fail(err, QWP_MISUSE, "the sender was stopped");
    return false;
  }
  return !qwp_sender_tell_latched(s, err);
}

void qwp_sender_show_pending(struct qwp_sender *s) {
  qwp_count_set(&s->pending_rows, (int64_t)qwp_batch_rows(s->batch));
  qwp_count_set(&s->pending_bytes, (int64_t)qwp_batch_bytes(s->batch));
  qwp_count_set(&s->symbol_count, (int64_t)qwp_symbols_count(s->symbols));
}

/* ---- life -------------------------------------------------------------------------- */

static enum qwp_status no_memory(struct qwp_error *err) { return qwp_fail(err, QWP_NOMEM, "out of memory"); }

/* The system refused one of its things, with a positive errno. */
static enum qwp_status no_resource(struct qwp_error *err, int sys_errno, const char *what) {
  char text[QWP_ERRNO_TEXT_BYTES];
  qwp_fail(err, QWP_NOMEM, "%s: %s", what, qwp_errno_text(sys_errno, text, sizeof text));
  if (err) err->sys_errno = sys_errno;
  return QWP_NOMEM;
}

/* An empty sender in the world it will live in. */
static struct qwp_sender *new_sender(const struct qwp_sender_options *opt, struct qwp_error *err) {
  struct qwp_ops own;
  const struct qwp_ops *ops = opt ? opt->ops : NULL;
  bool has_own = !ops;
  if (has_own) {
    int r = qwp_ops_posix_init(&own);
    if (r != 0) {
      no_resource(err, -r, "the operating system gives no event descriptor");
      return NULL;
    }
    ops = &own;
  }
  struct qwp_sender *s = ops->mem->alloc(ops->mem_ctx, sizeof *s);
  if (!s) {
    no_memory(err);
    if (has_own) qwp_ops_posix_free(&own);
    return NULL;
  }
  memset(s, 0, sizeof *s);
  if (has_own) s->own_ops = own;
  s->has_own_ops = has_own;
  s->ops = has_own ? &s->own_ops : ops;
  s->log = log_to_stderr;
  if (opt) {
    s->driver = opt->driver;
    if (opt->log) s->log = opt->log;
    s->log_ctx = opt->log_ctx;
    s->dense_dictionary = opt->dense_dictionary;
  }
  qwp_bytes_init(&s->message, s->ops, QWP_HEADER_BYTES + (size_t)QWP_MAX_PAYLOAD_BYTES);
  return s;
}

/* Frees what there is, in any state of construction; stops the loop first. */
static void del_sender(struct qwp_sender *s) {
  if (s->started) s->driver->stop(s->driver->ctx);
  qwp_loop_del(s->loop);
  qwp_tls_del(s->tls);
  qwp_ring_del(s->ring);
  qwp_bytes_free(&s->message);
  qwp_batch_del(s->batch);
  qwp_symbols_del(s->symbols);
  qwp_worker_del(s->worker);
  qwp_config_free(&s->config, s->ops);
  bool has_own = s->has_own_ops;
  struct qwp_ops ops = *s->ops;
  ops.mem->free(ops.mem_ctx, s);
  if (has_own) qwp_ops_posix_free(&ops);
}

/* Schema wss: lays TLS between the loop and the world [TLS-001]. */
static enum qwp_status lay_tls(struct qwp_sender *s, struct qwp_error *err) {
  const struct qwp_config *c = &s->config;
  if (!c->tls) return QWP_OK;
  const struct qwp_tls_options o = {.verify = c->tls_verify, .roots = c->tls_roots};
  struct qwp_error why;
  s->tls = qwp_tls_new(&o, s->ops, &why);
  if (!s->tls) {
    if (err) *err = why;
    return why.code;
  }
  qwp_tls_ops(s->tls, &s->tls_ops);
  if (!c->tls_verify)
    s->log(s->log_ctx, QWP_LOG_WARN, "tls_verify=unsafe_off: the server's certificate is not checked, so whoever is "
           "between can read and change what is sent");
  return QWP_OK;
}

static enum qwp_status build_parts(struct qwp_sender *s, struct qwp_error *err) {
  const struct qwp_config *c = &s->config;
  s->symbols = qwp_symbols_new(s->ops, QWP_MAX_SYMBOLS_CLIENT);
  if (!s->symbols) return no_memory(err);
  s->batch = qwp_batch_new(s->ops, s->symbols, (size_t)c->max_name_bytes);
  if (!s->batch) return no_memory(err);
  s->ring = qwp_ring_new(s->ops, (size_t)c->sf_max_segment_bytes, (size_t)c->sf_max_total_bytes);
  if (!s->ring) return no_memory(err);
  if (!s->driver) {
    s->worker = qwp_worker_new(s->ops);
    if (!s->worker) return no_memory(err);
    s->driver = qwp_worker_driver(s->worker);
  }
  const struct qwp_loop_options o = {.ops = s->tls ? &s->tls_ops : s->ops,
                                     .driver = s->driver,
                                     .config = c,
                                     .ring = s->ring,
                                     .log = s->log,
                                     .log_ctx = s->log_ctx};
  s->loop = qwp_loop_new(&o);
  return s->loop ? QWP_OK : no_memory(err);
}

static enum qwp_status start(struct qwp_sender *s, struct qwp_error *err) {
  int r = s->driver->start(s->driver->ctx, s->loop);
  s->started = r == 0;
  return s->started ? QWP_OK : no_resource(err, -r, "the send loop cannot be started");
}

/* Waits until the loop has connected or has given up, unless the mode is async. */
static enum qwp_status await_connection(struct qwp_sender *s, struct qwp_error *err) {
  if (s->config.initial_connect == QWP_CONNECT_ASYNC) return QWP_OK;
  for (;;) {
    uint64_t seen = s->driver->seen(s->driver->ctx);
    if (qwp_loop_was_connected(s->loop)) return QWP_OK;
    struct qwp_error why;
    if (qwp_loop_error(s->loop, &why)) {
      if (err) *err = why;
      return why.code;
    }
    s->driver->wait(s->driver->ctx, seen, QWP_NEVER);
  }
}

static enum qwp_status open_sender(struct qwp_sender *s, const char *config, struct qwp_error *err) {
  enum qwp_status st = qwp_config_parse(config, s->ops, &s->config, err);
  if (st != QWP_OK) return st;
  st = lay_tls(s, err);
  if (st == QWP_OK) st = build_parts(s, err);
  if (st == QWP_OK) st = start(s, err);
  if (st == QWP_OK) st = await_connection(s, err);
  return st;
}

QWP_API qwp_sender *qwp_sender_create(const char *config, const struct qwp_sender_options *opt,
                                      struct qwp_error *err) {
  struct qwp_sender *s = new_sender(opt, err);
  if (!s) return NULL;
  if (open_sender(s, config, err) == QWP_OK) return s;
  del_sender(s);
  return NULL;
}

/* ---- flush ------------------------------------------------------------------------- */

size_t qwp_sender_message_max(const struct qwp_sender *s) {
  int64_t cap = qwp_loop_cap(s->loop);
  size_t most = QWP_MAX_PAYLOAD_BYTES, segment = qwp_ring_max_frame(s->ring);
  if (segment < most) most = segment;
  return cap > 0 && (uint64_t)cap < most ? (size_t)cap : most;
}

enum qwp_status qwp_sender_too_large(const struct qwp_sender *s, size_t size, const char *what, const char *then,
                                     struct qwp_error *err) {
  int64_t cap = qwp_loop_cap(s->loop);
  if (cap > 0 && size > (uint64_t)cap)
    return qwp_fail(err, QWP_TOO_LARGE, "%s %zu bytes, the server takes %lld; %s", what, size, (long long)cap, then);
  if (size > qwp_ring_max_frame(s->ring))
    return qwp_fail(err, QWP_TOO_LARGE, "%s %zu bytes, a segment takes %zu (sf_max_segment_bytes); %s", what, size,
                    qwp_ring_max_frame(s->ring), then);
  return qwp_fail(err, QWP_TOO_LARGE, "%s %zu bytes, the protocol allows %u; %s", what, size, QWP_MAX_PAYLOAD_BYTES,
                  then);
}

static enum qwp_status store_is_full(const struct qwp_sender *s, struct qwp_error *err) {
  struct qwp_metrics m;
  qwp_loop_metrics(s->loop, &m);
  return qwp_fail(err, QWP_BACKPRESSURE,
                  "the store is full and did not drain within %lld ms (published %lld, acknowledged %lld, %lld "
                  "connection attempts): server slow or away, or sf_max_total_bytes too small; the rows are kept",
                  (long long)s->config.sf_append_deadline_ms, (long long)m.ring_published, (long long)m.ring_acked,
                  (long long)m.loop_attempts);
}

static enum qwp_status store_once(struct qwp_sender *s, int64_t *fsn, struct qwp_error *err) {
  enum qwp_status st = qwp_ring_publish(s->ring, s->message.data, s->message.len, fsn);
  return st == QWP_NOMEM ? no_memory(err) : st;
}

/* Puts the encoded message into the store; waits for room. Where there is room at once, no
 * clock is read and no lock taken. */
static enum qwp_status store_message(struct qwp_sender *s, int64_t deadline_ns, int64_t *fsn, struct qwp_error *err) {
  enum qwp_status st = store_once(s, fsn, err);
  if (st != QWP_BACKPRESSURE) return st;
  qwp_count_add(&s->stalls, 1); /* once a call */
  if (deadline_ns == QWP_APPEND_DEADLINE)
    deadline_ns = qwp_sender_deadline(s, s->config.sf_append_deadline_ms);
  for (;;) {
    uint64_t seen = s->driver->seen(s->driver->ctx);
    st = store_once(s, fsn, err);
    if (st != QWP_BACKPRESSURE) return st;
    if (qwp_sender_tell_latched(s, err)) return QWP_REJECTED;
    if (qwp_sender_now(s) >= deadline_ns) return store_is_full(s, err);
    s->driver->wait(s->driver->ctx, seen, deadline_ns);
  }
}

static enum qwp_status publish_rows(struct qwp_sender *s, int64_t deadline_ns, int64_t *fsn, struct qwp_error *err) {
  struct qwp_encoding encoding;
  if (s->dense_dictionary)
    qwp_encoding_dense(&encoding, s->batch);
  else
    qwp_encoding_default(&encoding, s->batch, s->symbols);

  size_t size = qwp_message_size(s->batch, s->symbols, &encoding);
  if (size > qwp_sender_message_max(s))
    return qwp_sender_too_large(s, size, "the message has", "the rows are kept: flush fewer at a time", err);
  s->message.len = 0;
  enum qwp_status st = qwp_message_encode(s->batch, s->symbols, &encoding, &s->message, err);
  if (st != QWP_OK) return st;
  st = store_message(s, deadline_ns, fsn, err);
  if (st != QWP_OK) return st;

  /* Accepted: from here on the frame is the loop's, and nothing can fail. */
  qwp_symbols_mark_sent(s->symbols, encoding.dict_end);
  qwp_batch_clear_finished(s->batch); /* a row may be open: the one that found no room in this message */
  qwp_count_add(&s->frames, 1);
  qwp_loop_published(s->loop);
  return QWP_OK;
}

bool qwp_sender_publish(struct qwp_sender *s, int64_t deadline_ns, int64_t *fsn, struct qwp_error *err) {
  if (fsn) *fsn = -1;
  if (qwp_batch_rows(s->batch) == 0) return true;
  int64_t number;
  enum qwp_status st = publish_rows(s, deadline_ns, &number, err);
  qwp_sender_show_pending(s); /* also if the rows stay */
  if (st == QWP_OK && fsn) *fsn = number;
  return st == QWP_OK;
}

bool qwp_sender_may_flush(struct qwp_sender *s, struct qwp_error *err) {
  if (!qwp_sender_usable(s, err)) return false;
  if (!qwp_batch_row_open(s->batch)) return true;
  qwp_fail(err, QWP_MISUSE, "a row is open: end it with qwp_at_* or take it back with qwp_cancel_row");
  return false;
}

bool qwp_sender_flush(qwp_sender *s, int64_t *fsn, struct qwp_error *err) {
  if (fsn) *fsn = -1;
  if (!qwp_sender_may_flush(s, err)) return false;
  qwp_count_add(&s->flushes, 1);
  return qwp_sender_publish(s, QWP_APPEND_DEADLINE, fsn, err);
}

int64_t qwp_sender_discard_pending(qwp_sender *s) {
  int64_t rows = (int64_t)qwp_batch_rows(s->batch);
  qwp_batch_clear(s->batch);
  qwp_symbols_forget(s->symbols, qwp_symbols_sent(s->symbols)); /* no frame told them, no row has them any more */
  qwp_sender_show_pending(s);
  return rows;
}

/* ---- end of life -------------------------------------------------------------------------- */

void qwp_sender_free(qwp_sender *s) {
  if (s) del_sender(s);
}

bool qwp_sender_close(qwp_sender *s, struct qwp_error *err) {
  if (!s) return true;
  bool ok = qwp_sender_stop(s, err);
  qwp_sender_free(s);
  return ok;
}

/* ---- what it has done -------------------------------------------------------------------- */

int64_t qwp_sender_published_fsn(const qwp_sender *s) { return qwp_ring_published(s->ring); }
int64_t qwp_sender_acked_fsn(const qwp_sender *s) { return qwp_ring_acked(s->ring); }
bool qwp_sender_was_connected(const qwp_sender *s) { return qwp_loop_was_connected(s->loop); }
bool qwp_sender_last_error(const qwp_sender *s, struct qwp_error *out) { return qwp_loop_error(s->loop, out); }

void qwp_sender_metrics(const qwp_sender *s, struct qwp_metrics *out) {
  memset(out, 0, sizeof *out);
  qwp_loop_metrics(s->loop, out);
  out->snd_rows = qwp_count_get(&s->rows);
  out->snd_pending_rows = qwp_count_get(&s->pending_rows);
  out->snd_pending_bytes = qwp_count_get(&s->pending_bytes);
  out->snd_flushes = qwp_count_get(&s->flushes);
  out->snd_frames = qwp_count_get(&s->frames);
  out->snd_symbols = qwp_count_get(&s->symbol_count);
  out->snd_stalls = qwp_count_get(&s->stalls);
  out->clk_row = qwp_count_get(&s->row_clock_reads);
}
