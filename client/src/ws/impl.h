/* impl - the connection from inside, as its files share it: connection.c (frames), handshake.c
 * (before the first frame), unsent.c (a look at it). Nobody else includes this. */
#ifndef QWP_WS_IMPL_H
#define QWP_WS_IMPL_H

#include "base/deadline.h"
#include "ws/connection.h"
#include "ws/message.h"
#include "ws/rx.h"
#include "ws/tx.h"
#include "ws/upgrade.h"

struct qwp_ws {
  const struct qwp_ops *ops;
  const struct qwp_ws_config *config;
  enum qwp_ws_state state;
  qwp_sock sock;
  struct qwp_ws_peer peer;
  struct qwp_ws_counters counters;

  struct qwp_tx tx; /* during the handshake its batch is the request */
  struct qwp_rx rx;
  struct qwp_messages messages;

  /* while CONNECTING and UPGRADING */
  char accept[QWP_UPGRADE_ACCEPT_TEXT]; /* the right answer to our key */
  size_t scanned;                       /* bytes of the answer already searched for its end */
  int64_t deadline_ns;                  /* of the present stage */
};

/* Fills *err: `what`, and the text and number of a positive errno. Returns QWP_CONN_LOST. */
enum qwp_status qwp_ws_lost(struct qwp_error *err, int sys_errno, const char *what);

/* The same after a failed call on the open socket, which a layer below may explain better: then its
 * sentence and its status. */
enum qwp_status qwp_ws_broken(const struct qwp_ws *ws, struct qwp_error *err, int sys_errno, const char *what);

#endif
