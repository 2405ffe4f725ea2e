/* loop_impl - the inside of the send loop, shared by its files:
 *
 *   loop.c          life, step and its states, the terminal latch, closing
 *   loop_connect.c  endpoints, attempts, rounds, pauses
 *   loop_traffic.c  answers in, batches out, and what a broken connection means
 *   loop_view.c     where it stands, for an observer
 */
#ifndef QWP_SEND_LOOP_IMPL_H
#define QWP_SEND_LOOP_IMPL_H

#include <stdatomic.h>

#include "send/backoff.h"
#include "send/batch.h"
#include "send/catchup.h"
#include "send/endpoints.h"
#include "send/inflight.h"
#include "send/loop.h"
#include "send/metrics.h"
#include "send/mirror.h"
#include "send/policy.h"
#include "send/response.h"
#include "ws/connection.h"

#define QWP_LOOP_ADDRESSES_MAX 8
#define QWP_LOOP_NACK_TEXT_BYTES 1025 /* with the NUL; a server may say 65 535 bytes */

enum qwp_loop_state {
  QWP_LOOP_BACKOFF, /* also the very beginning: a pause that is over */
  QWP_LOOP_CONNECTING,
  QWP_LOOP_UPGRADING,
  QWP_LOOP_CATCHUP,
  QWP_LOOP_RUNNING,
  QWP_LOOP_CLOSING,
  QWP_LOOP_STOPPED
};

/* What a state's turn came to. */
enum qwp_turn {
  QWP_TURN_WAIT, /* nothing more to do now; *want says for what to wait */
  QWP_TURN_AGAIN /* the state may have changed: take another turn */
};

/* One attempt to reach an endpoint, address by address. */
struct qwp_attempt {
  int endpoint;
  struct qwp_addr addrs[QWP_LOOP_ADDRESSES_MAX];
  int addr_count, addr_next;
  char host_header[300];
};

/* An error answer that ended a receive pass. */
struct qwp_nack {
  uint8_t status;
  int64_t sequence;
  char text[QWP_LOOP_NACK_TEXT_BYTES];
};

struct qwp_loop {
  const struct qwp_ops *ops;
  const struct qwp_driver *driver;
  const struct qwp_config *config;
  struct qwp_ring *ring;
  void (*log)(void *ctx, enum qwp_log_level level, const char *line);
  void *log_ctx;

  enum qwp_loop_state state;
  int64_t now_ns; /* of this step */

  /* reaching a server */
  struct qwp_ws_config ws_config;
  struct qwp_ws *ws;
  struct qwp_endpoints endpoints;
  struct qwp_backoff backoff;
  struct qwp_attempt attempt;
  int64_t resume_ns;         /* end of the pause */
  int64_t first_deadline_ns; /* of the synchronous first connect; QWP_NEVER = none */
  bool first_step_done;
  bool round_exhausted;      /* the pause belongs to the end of a round */
  int tried, role_rejects;   /* endpoints of this round; of these, those that rejected by role */
  struct qwp_error last_error;

  /* what is to be sent, and what was */
  struct qwp_cursor cursor;
  struct qwp_inflight inflight;
  struct qwp_mirror mirror;
  struct qwp_catchup catchup;

  /* this connection */
  int64_t peer_cap;
  int64_t connected_ns;
  bool batch_open;    /* a batch is in the send buffer, its flush not complete */
  int64_t write_deadline_ns; /* of the write that the socket did not take at once; QWP_NEVER = none */
  bool data_begun;    /* a data frame was handed to the socket */
  int64_t held_until_ns; /* the next frame is too large for this server, and answers to those before it are due:
                          * so long they are waited for. QWP_NEVER = there is no such frame */
  bool clamp_warned;
  struct qwp_nack nack;

  /* why the next dial is paced */
  struct qwp_poison poison;
  int64_t idle_recycles; /* connections in a row that ended without progress */

  /* closing */
  int64_t close_deadline_ns;
  bool close_queued, fin_sent;

  struct qwp_error error; /* written once, before `latched` */
  struct qwp_loop_metrics metrics;

  /* shared with the producer */
  atomic_bool latched, stopped, was_connected, close_requested;
  atomic_bool asleep;     /* set by the loop when it waits for frames, cleared by who wakes it */
  _Atomic(int64_t) cap;
  qwp_counter wakes;      /* producer's */
};

/* Neither done nor to be tried again: the connection has ended. */
static inline bool qwp_loop_is_over(enum qwp_status st) { return st != QWP_OK && st != QWP_AGAIN; }

void qwp_loop_log(struct qwp_loop *loop, enum qwp_log_level level, const char *fmt, ...) QWP_PRINTF(3, 4);
uint64_t qwp_loop_random(struct qwp_loop *loop);
/* Shows the numbers and tells the driver that something moved. */
void qwp_loop_progress(struct qwp_loop *loop);
/* Latches *err, if nothing is latched yet, and ends the loop: with a goodbye if the stream
 * stands at a frame boundary. */
void qwp_loop_terminate(struct qwp_loop *loop, const struct qwp_error *err);

/* loop_connect.c */
enum qwp_turn qwp_loop_pause(struct qwp_loop *loop, struct qwp_want *want);      /* BACKOFF */
enum qwp_turn qwp_loop_handshake(struct qwp_loop *loop, struct qwp_want *want);  /* CONNECTING, UPGRADING */
/* Lets the connection go and dials again after pause_ns. */
void qwp_loop_redial(struct qwp_loop *loop, int64_t pause_ns);

/* loop_traffic.c */
enum qwp_turn qwp_loop_traffic(struct qwp_loop *loop, struct qwp_want *want);    /* CATCHUP, RUNNING */
/* One receive attempt; answers are applied. As qwp_ws_receive; QWP_REJECTED: loop->nack. */
enum qwp_status qwp_loop_receive(struct qwp_loop *loop, struct qwp_error *err);
/* Writes what is pending. As qwp_ws_flush; QWP_OK with a batch open: it is counted as sent.
 * QWP_CONN_TIMEOUT: the write did not complete within 600 s of its first attempt (P121-04). */
enum qwp_status qwp_loop_flush(struct qwp_loop *loop, struct qwp_error *err);
/* After a flush that came to QWP_AGAIN: waits for room in the socket, for answers meanwhile, and
 * no longer than the write may take. */
void qwp_loop_want_room(const struct qwp_loop *loop, struct qwp_want *want);
/* Takes back the batch under way, if there is one. */
void qwp_loop_rollback(struct qwp_loop *loop);

#endif
