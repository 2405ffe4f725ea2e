#include "client/receiver.h"

#include <inttypes.h>
#include <stdio.h>

#include "config/config.h"
#include "qwp/wire.h"
#include "ws/connection.h"

#define RX_INITIAL_BYTES 65536
#define RX_MAX_BYTES (16u * 1024 * 1024)

struct receiver {
  const struct client_stage *stage;
  struct qwp_config config;
  struct qwp_ws *ws;
  int64_t messages;
  struct qwp_error err;
};

static enum qwp_status count_message(void *ctx, unsigned opcode, const uint8_t *payload, size_t n) {
  (void)opcode;
  (void)payload;
  (void)n;
  ((struct receiver *)ctx)->messages++;
  return QWP_OK;
}

/* The dial and the upgrade; each wait is the net table's, outside any loop. */
static enum qwp_status open_ws(struct receiver *r) {
  const struct qwp_ops *ops = r->stage->ops;
  const struct qwp_endpoint *to = &r->config.endpoints[0];
  struct qwp_addr addr;
  int n = ops->net->resolve(ops->net_ctx, to->host, to->port, &addr, 1);
  if (n < 1) return qwp_fail(&r->err, QWP_CONN_LOST, "%s cannot be resolved", to->host);
  char host[300];
  snprintf(host, sizeof host, "%s:%d", to->host, to->port);
  enum qwp_status st = qwp_ws_open(r->ws, &addr, host, r->stage->now_ns(r->stage->ctx), &r->err);
  if (st != QWP_OK) return st;
  for (;;) {
    unsigned interest;
    int64_t deadline_ns, now_ns = r->stage->now_ns(r->stage->ctx);
    st = qwp_ws_handshake(r->ws, now_ns, &interest, &deadline_ns, &r->err);
    if (st != QWP_AGAIN) return st;
    int64_t timeout_ns = deadline_ns == QWP_NEVER ? QWP_NEVER : deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    int ready = ops->net->wait(ops->net_ctx, qwp_ws_sock(r->ws), interest, timeout_ns);
    if (ready < 0) return qwp_fail(&r->err, QWP_CONN_LOST, "the wait for the upgrade failed: errno %d", -ready);
  }
}

/* A ping of the server is answered by a queued pong: it leaves before the next wait. */
static enum qwp_status receive(struct receiver *r, const struct scn_step *s) {
  int64_t want = r->messages + s->messages;
  enum qwp_status st = QWP_OK;
  while (st == QWP_OK && r->messages < want) {
    st = qwp_ws_receive_wait(r->ws, s->within_ns, count_message, r, &r->err);
    if (st == QWP_OK && qwp_ws_control_pending(r->ws)) st = qwp_ws_flush(r->ws, &r->err);
  }
  return st;
}

static enum qwp_status run_steps(struct receiver *r, const struct client_task *task, int *why_line) {
  enum qwp_status st = open_ws(r);
  for (size_t i = 0; st == QWP_OK && i < task->step_count; i++) {
    *why_line = task->steps[i].line;
    st = receive(r, &task->steps[i]);
  }
  if (st != QWP_OK) return st;
  st = qwp_ws_send_close(r->ws, 1000);
  return st == QWP_OK ? qwp_ws_flush(r->ws, &r->err) : st;
}

static void tell(const struct receiver *r, enum qwp_status st, struct facts *facts) {
  const struct qwp_ws_counters *c = qwp_ws_counters(r->ws);
  struct qwp_metrics m = {.ring_published = -1,
                          .ring_acked = -1,
                          .loop_replay_target = -1,
                          .rx_capacity = c->rx_capacity,
                          .rx_grows = c->rx_grows,
                          .rx_moves = c->rx_moves,
                          .rx_moved_bytes = c->rx_moved_bytes,
                          .rx_pings = c->pings};
  facts_of_sender(facts, &m);
  facts_number(facts, "client.messages", r->messages);
  facts_text(facts, "client.error", st == QWP_OK ? "none" : qwp_status_name(st));
}

bool receiver_run(const struct client_task *task, const struct client_stage *stage, struct facts *facts, int *why_line,
                  char *why, size_t why_n) {
  struct receiver r = {.stage = stage};
  *why_line = 0;
  qwp_error_clear(&r.err);
  enum qwp_status st = qwp_config_parse(task->config, stage->ops, &r.config, &r.err);
  if (st != QWP_OK) {
    snprintf(why, why_n, "config: %s", r.err.text);
    return false;
  }
  struct qwp_ws_config wc = {.path = QWP_PATH_READ,
                             .client_id = r.config.client_id,
                             .authorization = r.config.authorization,
                             .auth_timeout_ns = qwp_config_ns(r.config.auth_timeout_ms),
                             .connect_timeout_ns = QWP_NEVER,
                             .rx_initial_bytes = RX_INITIAL_BYTES,
                             .rx_max_bytes = RX_MAX_BYTES};
  r.ws = qwp_ws_new(stage->ops, &wc);
  st = r.ws ? run_steps(&r, task, why_line) : QWP_NOMEM;
  if (st != QWP_OK)
    snprintf(why, why_n, "receive: after %" PRId64 " messages: %s: %s", r.messages, qwp_status_name(st), r.err.text);
  if (r.ws) tell(&r, st, facts);
  qwp_ws_del(r.ws);
  qwp_config_free(&r.config, stage->ops);
  struct fault_counters c;
  faults_counters(stage->layer, &c);
  facts_of_layer(facts, &c);
  return st == QWP_OK;
}
