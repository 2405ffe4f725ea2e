#include "sock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DRAIN_BYTES 65536u

/* ---- the end of a connection ---------------------------------------------------------- */

void sock_drain(struct fsock *s, const struct qwp_ops *under) {
  while (s->stash_len < STASH_MAX) {
    uint8_t *grown = realloc(s->stash, s->stash_len + DRAIN_BYTES);
    if (!grown) return;
    s->stash = grown;
    ssize_t got = under->net->recv(under->net_ctx, s->sock, s->stash + s->stash_len, DRAIN_BYTES);
    if (got == -EINTR) continue;
    if (got <= 0) return;
    s->stash_len += (size_t)got;
  }
}

static int take_pending(struct fsock *s) {
  int err = s->pending_err;
  s->pending_err = 0;
  return -err;
}

ssize_t sock_recv_ended(struct fsock *s, void *buf, size_t n) {
  size_t left = s->stash_len - s->stash_at;
  if (left == 0) return take_pending(s);
  if (n > left) n = left;
  memcpy(buf, s->stash + s->stash_at, n);
  s->stash_at += n;
  return (ssize_t)n;
}

ssize_t sock_send_dead(struct fsock *s) { return s->pending_err ? take_pending(s) : -EPIPE; }

/* ---- the table --------------------------------------------------------------------------- */

struct fsock *socks_find(const struct fsocks *t, qwp_sock sock) {
  for (unsigned i = 0; i < t->count; i++) {
    if (t->at[i]->sock == sock) return t->at[i];
  }
  return NULL;
}

struct fsock *socks_add(struct fsocks *t, qwp_sock sock) {
  if (t->count == t->cap) {
    unsigned cap = t->cap ? t->cap * 2 : 4;
    struct fsock **at = realloc(t->at, cap * sizeof *at);
    if (!at) return NULL;
    t->at = at;
    t->cap = cap;
  }
  struct fsock *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->sock = sock;
  t->at[t->count++] = s;
  return s;
}

static void sock_del(struct fsock *s) {
  free(s->stash);
  free(s);
}

void socks_drop(struct fsocks *t, struct fsock *s) {
  for (unsigned i = 0; i < t->count; i++) {
    if (t->at[i] == s) t->at[i] = t->at[--t->count];
  }
  sock_del(s);
}

void socks_free(struct fsocks *t) {
  for (unsigned i = 0; i < t->count; i++) sock_del(t->at[i]);
  free(t->at);
}
