/* sender_impl - the inside of a sender, shared by its files:
 *
 *   sender.c        life, flush, numbers
 *   sender_rows.c   rows, and when they are flushed by themselves
 *   sender_close.c  drain and the end
 */
#ifndef QWP_SENDER_IMPL_H
#define QWP_SENDER_IMPL_H

#include "base/bytes.h"
#include "base/deadline.h"
#include "config/config.h"
#include "qwp/sender.h"
#include "rows/batch.h"
#include "rows/symbols.h"
#include "send/loop.h"
#include "send/metrics.h"
#include "store/ring.h"
#include "tls/tls.h"
#include "worker.h"

struct qwp_sender {
  struct qwp_ops own_ops; /* in use if has_own_ops */
  bool has_own_ops;
  const struct qwp_ops *ops;
  struct qwp_tls *tls;     /* NULL with schema ws */
  struct qwp_ops tls_ops;  /* the loop's, with TLS laid over the net table of ops */
  const struct qwp_driver *driver;
  struct qwp_worker *worker; /* NULL with a driver of the caller's */
  void (*log)(void *ctx, enum qwp_log_level level, const char *line);
  void *log_ctx;
  bool dense_dictionary;
  bool started;        /* the driver runs */
  bool stopped;        /* qwp_sender_stop was called: only numbers are left to ask for */
  bool error_reported; /* some call has failed with the latched error */

  struct qwp_config config;
  struct qwp_symbols *symbols;
  struct qwp_batch *batch;
  struct qwp_bytes message; /* the one being published; kept for its memory */
  struct qwp_ring *ring;
  struct qwp_loop *loop;

  int64_t first_row_ns; /* stamp of the oldest pending row; meaningful if there are two */

  /* the producer's numbers, read by any thread */
  qwp_counter rows, pending_rows, pending_bytes, flushes, frames, symbol_count, stalls, row_clock_reads;
};

/* true, with the terminal error in err, once one is latched; it counts as reported then. */
bool qwp_sender_tell_latched(struct qwp_sender *s, struct qwp_error *err);

/* false, with the reason in err, once the sender is stopped or an error is latched. */
bool qwp_sender_usable(struct qwp_sender *s, struct qwp_error *err);

/* A deadline: sf_append_deadline_millis from the moment the store is found full. */
#define QWP_APPEND_DEADLINE INT64_C(-1)

/* Bytes that a message may have now: the server's cap, a segment, the protocol. */
size_t qwp_sender_message_max(const struct qwp_sender *s);

/* Fills err for a size over it: "`what` SIZE bytes, ...; `then`". Returns QWP_TOO_LARGE. */
enum qwp_status qwp_sender_too_large(const struct qwp_sender *s, size_t size, const char *what, const char *then,
                                     struct qwp_error *err);

/* false, with the reason in err: not usable, or a row is open. */
bool qwp_sender_may_flush(struct qwp_sender *s, struct qwp_error *err);

/* Encodes and publishes the finished rows, without a look at the sender's state; blocks for
 * room until deadline_ns at most. A row may be open, and stays so. */
bool qwp_sender_publish(struct qwp_sender *s, int64_t deadline_ns, int64_t *fsn, struct qwp_error *err);

/* Shows what is pending, and the size of the dictionary. */
void qwp_sender_show_pending(struct qwp_sender *s);

static inline int64_t qwp_sender_now(const struct qwp_sender *s) { return s->ops->clock->now_ns(s->ops->clock_ctx); }

static inline int64_t qwp_sender_deadline(const struct qwp_sender *s, int64_t after_ms) {
  return qwp_deadline(qwp_sender_now(s), qwp_config_ns(after_ms));
}

#endif
