/* peer - one accepted socket of the transport (private to mockserver/lws). */
#ifndef MOCK_LWS_PEER_H
#define MOCK_LWS_PEER_H

#include <libwebsockets.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/mock.h"

struct mock_lws_call { /* on the caller's stack */
  void (*fn)(struct mock *m, void *arg);
  void *arg;
  bool done;
  struct mock_lws_call *next;
};

struct mock_lws {
  struct mock *m;
  struct mock_tls *tls;           /* NULL = plain */
  struct mock_events events;      /* where what happens on a socket goes: the mock, or TLS between */
  struct lws_context *context;
  struct lws_vhost *vhost;
  struct lws *listener;           /* NULL = connects are refused */
  int listen_fd;                  /* ours from start to stop, listening or not: the port is never free */
  lws_sorted_usec_list_t rest;    /* until connects are looked at again, after a shortage of descriptors */
  int port;
  int send_buffer_bytes;          /* 0 = the system's */
  struct mock_lws_peer *peers;
  size_t open;
  lws_sorted_usec_list_t timer;
  int64_t wake_ns;                /* INT64_MAX = no wake-up is planned */
  bool started;
  pthread_t thread;
  atomic_bool stop;
  bool stopping;                  /* the thread is gone; ends are no events any more */
  pthread_mutex_t lock;           /* guards calls */
  pthread_cond_t done, asked;
  char trouble[128];              /* what broke first, "" = nothing; under lock */
  void (*on_accept)(void *ctx, int fd);
  void *on_accept_ctx;
  struct mock_lws_call *calls, **calls_end;
};

struct mock_lws_peer {
  struct mock_lws *l;
  struct mock_lws_peer *next, *prev;
  struct lws *wsi;
  int fd;
  void *conn;                     /* of events; NULL = it has been let go of */
  bool in_callback;               /* of this socket: it must not be closed from within */
  bool kill;                      /* close at the end of the callback */
  bool paused;
  size_t limit;                   /* of one pass, 0 = none */
  uint8_t *surplus;               /* read, not handed over yet */
  size_t surplus_n, surplus_cap;
  lws_sorted_usec_list_t pump;    /* hands over the surplus once reading goes on */
};

/* Remembers that a call failed that the server cannot do without, and how; the first one is kept. */
void mock_lws_broke(struct mock_lws *l, const char *call, const char *what);

/* What the mock may do to a peer; fills everything but ctx. */
void mock_lws_peer_table(struct mock_transport *t);

bool mock_lws_peer_accept(struct mock_lws *l, int fd); /* owns fd in every case */

/* Events of the peer's socket. Returns -1 when libwebsockets is to close it. */
int mock_lws_peer_received(struct mock_lws_peer *p, const uint8_t *data, size_t n);
int mock_lws_peer_writable(struct mock_lws_peer *p);
void mock_lws_peer_closed(struct mock_lws_peer *p); /* frees it */

#endif
