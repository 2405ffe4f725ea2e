#define _GNU_SOURCE /* accept4 */
#include "transport.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "listener.h"
#include "peer.h"
#include "tls/filter.h"

/* A read takes min(rx_buffer_size + LWS_PRE, pt_serv_buf_size): both must be raised. */
enum { READ_BYTES = 256 * 1024, REST_US = 100000 };

/* ---- time ------------------------------------------------------------------------- */

static int64_t read_clock(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t now_ns(void *ctx) {
  (void)ctx;
  return read_clock(CLOCK_MONOTONIC);
}

static int64_t wall_ns(void *ctx) {
  (void)ctx;
  return read_clock(CLOCK_REALTIME);
}

static void on_timer(lws_sorted_usec_list_t *sul) {
  struct mock_lws *l = lws_container_of(sul, struct mock_lws, timer);
  l->wake_ns = INT64_MAX;
  l->events.tick(l->events.ctx);
}

static void wake_at(void *ctx, int64_t at_ns) {
  struct mock_lws *l = ctx;
  if (at_ns >= l->wake_ns) return;
  l->wake_ns = at_ns;
  int64_t in_us = (at_ns - now_ns(NULL) + 999) / 1000;
  lws_sul_schedule(l->context, 0, &l->timer, on_timer, in_us > 0 ? in_us : 1);
}

/* ---- listener ---------------------------------------------------------------------- */

/* What libwebsockets watches, and closes when it is told to, is a second descriptor: the port is ours to the end. */
static bool watch_listener(struct mock_lws *l) {
  lws_sock_file_fd_type d;
  d.filefd = fcntl(l->listen_fd, F_DUPFD_CLOEXEC, 0);
  if (d.filefd < 0) return false;
  l->listener = lws_adopt_descriptor_vhost(l->vhost, LWS_ADOPT_RAW_FILE_DESC, d, "listener", NULL);
  return l->listener != NULL;
}

static void set_listening(void *ctx, bool open) {
  struct mock_lws *l = ctx;
  if (!open && l->listener) {
    mock_listener_refuse(l->listen_fd);
    lws_set_timeout(l->listener, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
    l->listener = NULL;
  } else if (open && !l->listener) {
    if (!mock_listener_resume(l->listen_fd) || !watch_listener(l)) mock_lws_broke(l, "listen", strerror(errno));
  }
}

static void on_rested(lws_sorted_usec_list_t *sul) {
  struct mock_lws *l = lws_container_of(sul, struct mock_lws, rest);
  if (l->listener) lws_rx_flow_control(l->listener, 1);
}

/* The queue stays readable while there is no descriptor for its first connection: without a rest the thread would spin. */
static void rest(struct mock_lws *l) {
  lws_rx_flow_control(l->listener, 0);
  lws_sul_schedule(l->context, 0, &l->rest, on_rested, REST_US);
}

static bool is_shortage(int err) { return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM; }

/* It would stay readable, and the thread would spin. */
static void lose_listener(struct mock_lws *l, int err) {
  lws_rx_flow_control(l->listener, 0);
  mock_lws_broke(l, "accept4", strerror(err));
}

static void accept_all(struct mock_lws *l, int listen_fd) {
  for (;;) {
    int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      mock_lws_peer_accept(l, fd);
    } else if (errno != EINTR && errno != ECONNABORTED) {
      if (is_shortage(errno)) rest(l);
      else if (errno != EAGAIN) lose_listener(l, errno);
      return;
    }
  }
}

/* ---- what broke ------------------------------------------------------------------------- */

void mock_lws_broke(struct mock_lws *l, const char *call, const char *what) {
  pthread_mutex_lock(&l->lock);
  if (!l->trouble[0]) snprintf(l->trouble, sizeof l->trouble, "%s: %s", call, what);
  pthread_mutex_unlock(&l->lock);
}

bool mock_lws_trouble(struct mock_lws *l, char *out, size_t n) {
  pthread_mutex_lock(&l->lock);
  snprintf(out, n, "%s", l->trouble);
  pthread_mutex_unlock(&l->lock);
  return out[0] != '\0';
}

/* ---- calls from other threads ---------------------------------------------------------- */

static void run_calls(struct mock_lws *l) {
  pthread_mutex_lock(&l->lock);
  while (l->calls) {
    struct mock_lws_call *call = l->calls;
    l->calls = call->next;
    if (!l->calls) l->calls_end = &l->calls;
    pthread_mutex_unlock(&l->lock);
    call->fn(l->m, call->arg);
    pthread_mutex_lock(&l->lock);
    call->done = true;
    pthread_cond_broadcast(&l->done);
  }
  pthread_mutex_unlock(&l->lock);
}

void mock_lws_call(struct mock_lws *l, void (*fn)(struct mock *m, void *arg), void *arg) {
  if (pthread_equal(pthread_self(), l->thread)) {
    fn(l->m, arg);
    return;
  }
  struct mock_lws_call call = {.fn = fn, .arg = arg};
  pthread_mutex_lock(&l->lock);
  *l->calls_end = &call;
  l->calls_end = &call.next;
  pthread_cond_signal(&l->asked);
  pthread_mutex_unlock(&l->lock);
  lws_cancel_service(l->context);
  pthread_mutex_lock(&l->lock);
  while (!call.done) pthread_cond_wait(&l->done, &l->lock);
  pthread_mutex_unlock(&l->lock);
}

struct open_count {
  struct mock_lws *l;
  size_t n;
};

static void count_open(struct mock *m, void *arg) {
  struct open_count *count = arg;
  (void)m;
  /* A client that came and went in a moment may still wait to be accepted: it is as open as any other. */
  struct pollfd queue = {.fd = count->l->listener ? count->l->listen_fd : -1, .events = POLLIN};
  bool waiting = poll(&queue, 1, 0) > 0 && (queue.revents & POLLIN);
  count->n = count->l->open + (waiting ? 1 : 0);
}

size_t mock_lws_open(struct mock_lws *l) {
  struct open_count count = {.l = l};
  mock_lws_call(l, count_open, &count);
  return count.n;
}

/* ---- callbacks ---------------------------------------------------------------------------- */

static int on_peer(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t n) {
  (void)user;
  struct mock_lws_peer *p = wsi ? lws_get_opaque_user_data(wsi) : NULL;
  switch (reason) {
    case LWS_CALLBACK_RAW_RX: return p ? mock_lws_peer_received(p, in, n) : 0;
    case LWS_CALLBACK_RAW_WRITEABLE: return p ? mock_lws_peer_writable(p) : 0;
    case LWS_CALLBACK_RAW_CLOSE:
      if (p) mock_lws_peer_closed(p);
      lws_set_opaque_user_data(wsi, NULL);
      return 0;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED: /* a hint only; it comes after every accept too */
      run_calls(lws_context_user(lws_get_context(wsi)));
      return 0;
    default: return 0;
  }
}

static int on_listener(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t n) {
  (void)user;
  (void)in;
  (void)n;
  struct mock_lws *l = lws_context_user(lws_get_context(wsi));
  if (wsi != l->listener) return 0; /* one that was told to close */
  if (reason == LWS_CALLBACK_RAW_RX_FILE) accept_all(l, l->listen_fd);
  if (reason != LWS_CALLBACK_RAW_CLOSE_FILE) return 0;
  l->listener = NULL;
  if (!atomic_load(&l->stop)) mock_lws_broke(l, "poll", "the listening socket was shut down");
  return 0;
}

static const struct lws_protocols protocols[] = {
  {.name = "peer", .callback = on_peer, .rx_buffer_size = READ_BYTES},
  {.name = "listener", .callback = on_listener},
  {.name = NULL},
};

/* The sockets are dead; who asks for the facts must not wait for ever. */
static void answer_calls(struct mock_lws *l) {
  pthread_mutex_lock(&l->lock);
  while (!atomic_load(&l->stop)) {
    if (!l->calls) pthread_cond_wait(&l->asked, &l->lock);
    pthread_mutex_unlock(&l->lock);
    run_calls(l);
    pthread_mutex_lock(&l->lock);
  }
  pthread_mutex_unlock(&l->lock);
}

static void *serve(void *arg) {
  struct mock_lws *l = arg;
  while (!atomic_load(&l->stop) && lws_service(l->context, 0) >= 0) continue;
  if (atomic_load(&l->stop)) return NULL;
  mock_lws_broke(l, "lws_service", strerror(errno));
  answer_calls(l);
  return NULL;
}

/* ---- start and stop ------------------------------------------------------------------------ */

static bool create_context(struct mock_lws *l) {
  struct lws_context_creation_info info;
  struct sigaction sigpipe;
  memset(&info, 0, sizeof info);
  info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
  info.protocols = protocols;
  info.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS;
  info.pt_serv_buf_size = READ_BYTES;
  info.user = l;
  lws_set_log_level(LLL_ERR, NULL);

  sigaction(SIGPIPE, NULL, &sigpipe);
  l->context = lws_create_context(&info);
  sigaction(SIGPIPE, &sigpipe, NULL);
  if (l->context) l->vhost = lws_create_vhost(l->context, &info);
  sigaction(SIGPIPE, &sigpipe, NULL);
  return l->vhost != NULL;
}

static bool create_mock(struct mock_lws *l, const struct mock_options *options, const struct mock_identity *id) {
  struct mock_options o = *options;
  o.clock = (struct mock_clock){.ctx = l, .now_ns = now_ns, .wall_ns = wall_ns};
  o.transport = (struct mock_transport){.ctx = l, .wake_at = wake_at, .listen = set_listening};
  mock_lws_peer_table(&o.transport);
  int64_t buffer = o.script ? o.script->send_buffer_bytes : 0;
  l->send_buffer_bytes = buffer > INT32_MAX ? INT32_MAX : buffer > 0 ? (int)buffer : 0;
  if (id) {
    l->tls = mock_tls_new(id, &o.transport, &o.clock);
    if (!l->tls) return false;
    o.transport = mock_tls_transport(l->tls);
  }
  l->m = mock_new(&o);
  if (!l->m) return false;
  l->events = mock_events(l->m);
  if (!l->tls) return true;
  mock_tls_serve(l->tls, l->m);
  l->events = mock_tls_events(l->tls);
  return true;
}

static bool start(struct mock_lws *l, const struct mock_options *options, const struct mock_identity *id) {
  if (!create_mock(l, options, id)) {
    errno = ENOMEM;
    return false;
  }
  l->listen_fd = mock_listener_open(&l->port);
  if (l->listen_fd < 0) return false;
  if (!create_context(l)) {
    errno = ENOMEM;
    return false;
  }
  if (!watch_listener(l)) {
    errno = EIO;
    return false;
  }
  int why = pthread_create(&l->thread, NULL, serve, l);
  l->started = why == 0;
  if (why) errno = why;
  return l->started;
}

struct mock_lws *mock_lws_start_tls(const struct mock_options *options, int port, const struct mock_identity *id) {
  struct mock_lws *l = calloc(1, sizeof *l);
  if (!l) return NULL;
  l->port = port;
  l->listen_fd = -1;
  l->wake_ns = INT64_MAX;
  l->calls_end = &l->calls;
  atomic_init(&l->stop, false);
  pthread_mutex_init(&l->lock, NULL);
  pthread_cond_init(&l->done, NULL);
  pthread_cond_init(&l->asked, NULL);
  if (start(l, options, id)) return l;
  int why = errno;
  mock_lws_stop(l);
  errno = why;
  return NULL;
}

struct mock_lws *mock_lws_start(const struct mock_options *options, int port) {
  return mock_lws_start_tls(options, port, NULL);
}

void mock_lws_stop(struct mock_lws *l) {
  if (!l) return;
  pthread_mutex_lock(&l->lock);
  atomic_store(&l->stop, true);
  pthread_cond_signal(&l->asked);
  pthread_mutex_unlock(&l->lock);
  if (l->started) {
    lws_cancel_service(l->context);
    pthread_join(l->thread, NULL);
  }
  l->stopping = true;
  if (l->context) lws_context_destroy(l->context);
  if (l->listen_fd >= 0) close(l->listen_fd);
  mock_del(l->m);
  mock_tls_del(l->tls);
  pthread_cond_destroy(&l->done);
  pthread_cond_destroy(&l->asked);
  pthread_mutex_destroy(&l->lock);
  free(l);
}

struct hook {
  struct mock_lws *l;
  void (*fn)(void *ctx, int fd);
  void *ctx;
};

static void set_hook(struct mock *m, void *arg) {
  const struct hook *h = arg;
  (void)m;
  h->l->on_accept = h->fn;
  h->l->on_accept_ctx = h->ctx;
}

void mock_lws_on_accept(struct mock_lws *l, void (*fn)(void *ctx, int fd), void *ctx) {
  struct hook h = {l, fn, ctx};
  mock_lws_call(l, set_hook, &h);
}

int mock_lws_port(const struct mock_lws *l) { return l->port; }
