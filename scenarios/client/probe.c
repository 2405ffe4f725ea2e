#include "client/probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"

#define PATIENCE_NS (5000 * QWP_NS_PER_MS) /* for each wait */

struct probe {
  const struct qwp_ops *ops;
  qwp_sock sock;
  char *why;
  size_t why_n;
};

static bool failed(struct probe *p, const char *what, long result) {
  snprintf(p->why, p->why_n, "probe: %s: %s", what, result < 0 ? strerror((int)-result) : "nothing came of it in time");
  return false;
}

static bool until(struct probe *p, unsigned interest, const char *what) {
  const int ready = p->ops->net->wait(p->ops->net_ctx, p->sock, interest, PATIENCE_NS);
  return ready > 0 || failed(p, what, ready);
}

static bool try_later(long result) { return result == -EAGAIN || result == -EINTR; }

static bool dial(struct probe *p, const char *host, int port) {
  const struct qwp_net_ops *net = p->ops->net;
  struct qwp_addr addr = {.len = 0};
  int result = net->resolve(p->ops->net_ctx, host, port, &addr, 1);
  if (result < 1) return failed(p, host, result);
  result = net->connect(p->ops->net_ctx, &addr, &p->sock);
  while (result == -EINPROGRESS) {
    if (!until(p, QWP_WRITABLE, "connect")) return false;
    result = net->connected(p->ops->net_ctx, p->sock);
  }
  return result == 0 || failed(p, "connect", result);
}

static bool say(struct probe *p, const char *text) {
  for (size_t n = strlen(text), sent = 0; sent < n;) {
    const ssize_t took = p->ops->net->send(p->ops->net_ctx, p->sock, text + sent, n - sent);
    if (took > 0) sent += (size_t)took;
    else if (!try_later(took)) return failed(p, "send", took);
    else if (!until(p, QWP_WRITABLE, "send")) return false;
  }
  return true;
}

/* Whatever the server answers is read; a reset is an end as well. */
static bool hang_up(struct probe *p) {
  char answer[512];
  (void)p->ops->net->shutdown(p->ops->net_ctx, p->sock);
  for (;;) {
    const ssize_t got = p->ops->net->recv(p->ops->net_ctx, p->sock, answer, sizeof answer);
    if (got > 0) continue;
    if (!try_later(got)) return true;
    if (!until(p, QWP_READABLE, "the server does not end its half")) return false;
  }
}

bool probe_run(const struct qwp_ops *ops, const char *config, const char *text, char *why, size_t why_n) {
  struct probe p = {.ops = ops, .sock = -1, .why = why, .why_n = why_n};
  struct qwp_config parsed;
  struct qwp_error err;
  qwp_error_clear(&err);
  if (qwp_config_parse(config, ops, &parsed, &err) != QWP_OK) {
    snprintf(why, why_n, "probe: config: %s", err.text);
    return false;
  }
  const bool ok = dial(&p, parsed.endpoints[0].host, parsed.endpoints[0].port) && say(&p, text) && hang_up(&p);
  if (p.sock != -1) ops->net->close(ops->net_ctx, p.sock);
  qwp_config_free(&parsed, ops);
  return ok;
}
