/* sock - what the layer knows of one socket: how far the upgrade is, where the frames
 * are, and whether a fault has ended it.
 *
 * A connection that a fault ended is played from here, whatever the table under us makes
 * of it: what had arrived is kept (the stash), then the end.
 */
#ifndef FAULT_SOCK_H
#define FAULT_SOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "frames.h"
#include "head.h"
#include "qwp/ops.h"

struct fsock {
  qwp_sock sock;
  int number;            /* connection N of this client */
  bool established;      /* else closing it gives the number back */
  bool upgraded;         /* a 101 was read to its end, or `opened` was said of an opaque one */
  bool opaque;           /* TLS records pass: no head and no frames can be seen in them */
  struct head head;
  struct frames frames;
  int64_t out, in;       /* bytes after the 101 */
  int64_t hs_out, hs_in; /* bytes of the upgrade */
  bool dead;             /* nothing can be sent any more */
  bool ended;            /* nothing arrives behind the stash */
  int pending_err;       /* reported once, by a send or behind the stash */
  uint8_t *stash;
  size_t stash_len, stash_at;
};

#define STASH_MAX (16u << 20)

/* Is this the first byte of a TLS handshake record [RFC 8446, 5.1]? No request of HTTP begins with it. */
static inline bool begins_tls(uint8_t first) { return first == 0x16; }

/* Moves what has arrived to the stash. Out of memory ends the stash early. */
void sock_drain(struct fsock *s, const struct qwp_ops *under);
/* recv and send on an ended and a dead one. */
ssize_t sock_recv_ended(struct fsock *s, void *buf, size_t n);
ssize_t sock_send_dead(struct fsock *s);

/* A table of the open ones: few, found by looking. */
struct fsocks {
  struct fsock **at;
  unsigned count, cap;
};

struct fsock *socks_find(const struct fsocks *t, qwp_sock sock);
struct fsock *socks_add(struct fsocks *t, qwp_sock sock); /* NULL = out of memory */
void socks_drop(struct fsocks *t, struct fsock *s);
void socks_free(struct fsocks *t);

#endif
