/* The net table over the kernel's sockets, which are its handles, and ppoll().
 *
 * wake() adds to an event descriptor that every wait() listens to and empties, so that
 * a wake which comes before the wait ends it all the same. */
#define _GNU_SOURCE /* ppoll */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ops/posix.h"

struct posix_net {
  int event;
};

int qwp_posix_net_new(void **ctx) {
  struct posix_net *net = malloc(sizeof *net);
  if (!net) return -ENOMEM;
  net->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (net->event < 0) {
    int r = -errno;
    free(net);
    return r;
  }
  *ctx = net;
  return 0;
}

void qwp_posix_net_del(void *ctx) {
  struct posix_net *net = ctx;
  close(net->event);
  free(net);
}

/* ---- addresses ------------------------------------------------------------------ */

static int resolve_error(int code) {
  switch (code) {
    case EAI_SYSTEM: return errno ? -errno : -EHOSTUNREACH;
    case EAI_MEMORY: return -ENOMEM;
    case EAI_AGAIN: return -EAGAIN;
    default: return -EHOSTUNREACH; /* no such name */
  }
}

static int net_resolve(void *ctx, const char *host, int port, struct qwp_addr *out, int max) {
  (void)ctx;
  if (port < 1 || port > 65535 || max < 1) return -EINVAL;
  char service[8];
  snprintf(service, sizeof service, "%d", port);
  const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
  struct addrinfo *list = NULL;
  int r = getaddrinfo(host, service, &hints, &list);
  if (r != 0) return resolve_error(r);
  int count = 0;
  for (const struct addrinfo *a = list; a && count < max; a = a->ai_next) {
    if (a->ai_addrlen > sizeof out->bytes) continue;
    memcpy(out[count].bytes, a->ai_addr, a->ai_addrlen);
    out[count++].len = (unsigned)a->ai_addrlen;
  }
  freeaddrinfo(list);
  return count ? count : -EHOSTUNREACH;
}

/* ---- connections ------------------------------------------------------------------ */

static int set_options(int fd) {
  const int on = 1;
  if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) return -errno;
  if (setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) < 0) return -errno;
  return 0;
}

static int net_connect(void *ctx, const struct qwp_addr *addr, qwp_sock *out) {
  (void)ctx;
  *out = -1;
  struct sockaddr_storage to;
  if (addr->len > sizeof to || addr->len < sizeof(sa_family_t)) return -EINVAL;
  memcpy(&to, addr->bytes, addr->len);
  int fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  int r = set_options(fd);
  if (r == 0 && connect(fd, (const struct sockaddr *)&to, addr->len) < 0) r = -errno;
  if (r == -EINTR) r = -EINPROGRESS; /* an interrupted connect goes on by itself */
  if (r != 0 && r != -EINPROGRESS) {
    close(fd);
    return r;
  }
  *out = fd;
  return r;
}

static int net_connected(void *ctx, qwp_sock sock) {
  (void)ctx;
  struct pollfd p = {.fd = sock, .events = POLLOUT};
  int ready = poll(&p, 1, 0);
  if (ready < 0) return errno == EINTR ? -EINPROGRESS : -errno;
  if (ready == 0) return -EINPROGRESS;
  int error = 0;
  socklen_t n = sizeof error;
  if (getsockopt(sock, SOL_SOCKET, SO_ERROR, &error, &n) < 0) return -errno;
  return -error;
}

static ssize_t net_send(void *ctx, qwp_sock sock, const void *buf, size_t n) {
  (void)ctx;
  ssize_t r = send(sock, buf, n, MSG_NOSIGNAL); /* CASE-54: a broken pipe is an errno, not a signal */
  return r < 0 ? -errno : r;
}

static ssize_t net_recv(void *ctx, qwp_sock sock, void *buf, size_t n) {
  (void)ctx;
  ssize_t r = recv(sock, buf, n, 0);
  return r < 0 ? -errno : r;
}

static int net_shutdown(void *ctx, qwp_sock sock) {
  (void)ctx;
  return shutdown(sock, SHUT_WR) < 0 ? -errno : 0;
}

static void net_close(void *ctx, qwp_sock sock) {
  (void)ctx;
  close(sock);
}

/* ---- waiting ------------------------------------------------------------------------ */

static int64_t monotonic_ns(void) { return qwp_posix_clock.now_ns(NULL); }

static int poll_until(struct pollfd *fds, nfds_t count, int64_t timeout_ns) {
  int64_t start_ns = timeout_ns == QWP_NEVER ? 0 : monotonic_ns();
  int64_t left_ns = timeout_ns > 0 ? timeout_ns : 0;
  for (;;) {
    const struct timespec left = {.tv_sec = (time_t)(left_ns / 1000000000), .tv_nsec = (long)(left_ns % 1000000000)};
    int r = ppoll(fds, count, timeout_ns == QWP_NEVER ? NULL : &left, NULL);
    if (r >= 0) return r;
    if (errno != EINTR) return -errno;
    if (timeout_ns == QWP_NEVER) continue;
    left_ns = timeout_ns - (monotonic_ns() - start_ns); /* a signal does not lengthen the wait */
    if (left_ns < 0) left_ns = 0;
  }
}

/* Empties the event descriptor; whether there was a wake in it. */
static bool take_wake(int event) {
  uint64_t count;
  return read(event, &count, sizeof count) == sizeof count;
}

static int net_wait(void *ctx, qwp_sock sock, unsigned interest, int64_t timeout_ns) {
  struct posix_net *net = ctx;
  struct pollfd fds[2] = {{.fd = net->event, .events = POLLIN}, {.fd = sock}};
  if (interest & QWP_READABLE) fds[1].events |= POLLIN;
  if (interest & QWP_WRITABLE) fds[1].events |= POLLOUT;
  /* A socket nobody asks about stays out: poll would report its hang-up for ever. */
  int r = poll_until(fds, sock >= 0 && interest ? 2 : 1, timeout_ns);
  if (r <= 0) return r;

  unsigned ready = 0;
  if (fds[0].revents && take_wake(net->event)) ready |= QWP_WOKEN;
  if (fds[1].revents & POLLNVAL) return -EBADF;
  if (fds[1].revents & POLLIN) ready |= QWP_READABLE;
  if (fds[1].revents & POLLOUT) ready |= QWP_WRITABLE;
  if (fds[1].revents & (POLLERR | POLLHUP)) ready |= QWP_READABLE | QWP_WRITABLE;
  return (int)ready;
}

static void net_wake(void *ctx) {
  const struct posix_net *net = ctx;
  const uint64_t one = 1;
  /* It can only fail when the count is full, and then the wait ends as well. */
  ssize_t r = write(net->event, &one, sizeof one);
  (void)r;
}

const struct qwp_net_ops qwp_posix_net = {
    .resolve = net_resolve,
    .connect = net_connect,
    .connected = net_connected,
    .send = net_send,
    .recv = net_recv,
    .shutdown = net_shutdown,
    .close = net_close,
    .wait = net_wait,
    .wake = net_wake,
};
