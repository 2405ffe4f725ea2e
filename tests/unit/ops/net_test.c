/* The real net table over loopback sockets, ports from the system. Waits are for events
 * that are sure to come; nothing sleeps. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "qwp/ops.h"

struct fixture {
  struct qwp_ops ops;
  int listener, port;
  qwp_sock sock; /* ours, connected */
  int peer;      /* the other end */
};

static int listen_on_loopback(int *port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof at;
  assert_true(fd >= 0);
  assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
  assert_int_equal(listen(fd, 4), 0);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
  *port = ntohs(at.sin_port);
  return fd;
}

static int setup(void **state) {
  struct fixture *f = calloc(1, sizeof *f);
  struct qwp_addr addr;
  assert_int_equal(qwp_ops_posix_init(&f->ops), 0);
  f->listener = listen_on_loopback(&f->port);
  assert_int_equal(f->ops.net->resolve(f->ops.net_ctx, "127.0.0.1", f->port, &addr, 1), 1);
  int r = f->ops.net->connect(f->ops.net_ctx, &addr, &f->sock);
  assert_true(r == 0 || r == -EINPROGRESS);
  f->peer = accept(f->listener, NULL, NULL);
  assert_true(f->peer >= 0);
  assert_int_equal(f->ops.net->wait(f->ops.net_ctx, f->sock, QWP_WRITABLE, QWP_NEVER), QWP_WRITABLE);
  assert_int_equal(f->ops.net->connected(f->ops.net_ctx, f->sock), 0);
  *state = f;
  return 0;
}

static int teardown(void **state) {
  struct fixture *f = *state;
  f->ops.net->close(f->ops.net_ctx, f->sock);
  if (f->peer >= 0) close(f->peer);
  close(f->listener);
  qwp_ops_posix_free(&f->ops);
  free(f);
  return 0;
}

#define NET(f, call, ...) (f)->ops.net->call((f)->ops.net_ctx, ##__VA_ARGS__)

/* Until it is ready for `interest`, among others. */
static void await(struct fixture *f, qwp_sock sock, unsigned interest) {
  int ready = NET(f, wait, sock, interest, QWP_NEVER);
  assert_true(ready > 0 && ((unsigned)ready & interest));
}

static int option(int fd, int level, int name) {
  int value = -1;
  socklen_t n = sizeof value;
  assert_int_equal(getsockopt(fd, level, name, &value, &n), 0);
  return value;
}

static void options_of_a_socket(void **state) {
  struct fixture *f = *state;
  assert_int_equal(option(f->sock, IPPROTO_TCP, TCP_NODELAY), 1);
  assert_int_equal(option(f->sock, SOL_SOCKET, SO_KEEPALIVE), 1);
  assert_true(fcntl(f->sock, F_GETFL) & O_NONBLOCK);
  assert_true(fcntl(f->sock, F_GETFD) & FD_CLOEXEC);
}

static void bytes_both_ways(void **state) {
  struct fixture *f = *state;
  char buf[16];
  assert_int_equal(NET(f, recv, f->sock, buf, sizeof buf), -EAGAIN);
  assert_int_equal(NET(f, send, f->sock, "question", 8), 8);
  assert_int_equal(recv(f->peer, buf, sizeof buf, 0), 8);
  assert_memory_equal(buf, "question", 8);
  assert_int_equal(send(f->peer, "answer", 6, MSG_NOSIGNAL), 6);
  assert_int_equal(NET(f, wait, f->sock, QWP_READABLE, QWP_NEVER), QWP_READABLE);
  assert_int_equal(NET(f, recv, f->sock, buf, sizeof buf), 6);
  assert_memory_equal(buf, "answer", 6);
}

static void a_full_socket_would_block(void **state) {
  struct fixture *f = *state;
  static char block[65536];
  ssize_t r;
  size_t total = 0;
  while ((r = NET(f, send, f->sock, block, sizeof block)) > 0) total += (size_t)r;
  assert_int_equal(r, -EAGAIN);
  assert_true(total > 0);
  assert_int_equal(NET(f, wait, f->sock, QWP_WRITABLE, 0), 0); /* look only */
  while (total > 0) {
    r = recv(f->peer, block, total < sizeof block ? total : sizeof block, 0);
    assert_true(r > 0);
    total -= (size_t)r;
  }
  assert_int_equal(NET(f, wait, f->sock, QWP_READABLE | QWP_WRITABLE, QWP_NEVER), QWP_WRITABLE);
}

static void the_peer_hangs_up(void **state) {
  struct fixture *f = *state;
  char buf[4];
  assert_int_equal(send(f->peer, "bye", 3, MSG_NOSIGNAL), 3);
  close(f->peer);
  f->peer = -1;
  await(f, f->sock, QWP_READABLE);
  assert_int_equal(NET(f, recv, f->sock, buf, sizeof buf), 3); /* what was sent comes first */
  await(f, f->sock, QWP_READABLE);
  assert_int_equal(NET(f, recv, f->sock, buf, sizeof buf), 0);
}

/* CASE-54: the default action of SIGPIPE would end this program. */
static void a_broken_pipe_is_an_errno(void **state) {
  struct fixture *f = *state;
  signal(SIGPIPE, SIG_DFL);
  const struct linger hard = {.l_onoff = 1, .l_linger = 0};
  assert_int_equal(setsockopt(f->peer, SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
  close(f->peer); /* RST */
  f->peer = -1;
  assert_int_equal(NET(f, wait, f->sock, QWP_READABLE, QWP_NEVER), QWP_READABLE | QWP_WRITABLE);
  assert_int_equal(NET(f, recv, f->sock, (char[1]){0}, 1), -ECONNRESET);
  assert_int_equal(NET(f, send, f->sock, "x", 1), -EPIPE);
}

static void shutdown_ends_our_half_only(void **state) {
  struct fixture *f = *state;
  char buf[4];
  assert_int_equal(NET(f, shutdown, f->sock), 0);
  assert_int_equal(recv(f->peer, buf, sizeof buf, 0), 0);
  assert_int_equal(send(f->peer, "ok", 2, MSG_NOSIGNAL), 2);
  await(f, f->sock, QWP_READABLE);
  assert_int_equal(NET(f, recv, f->sock, buf, sizeof buf), 2);
  assert_int_equal(NET(f, send, f->sock, "x", 1), -EPIPE);
}

static void a_refused_connect_says_so(void **state) {
  struct fixture *f = *state;
  int port;
  int fd = listen_on_loopback(&port);
  close(fd); /* nobody listens there now */
  struct qwp_addr addr;
  qwp_sock sock;
  assert_int_equal(NET(f, resolve, "127.0.0.1", port, &addr, 1), 1);
  int r = NET(f, connect, &addr, &sock);
  if (r == -EINPROGRESS) {
    await(f, sock, QWP_WRITABLE);
    r = NET(f, connected, sock);
    NET(f, close, sock);
  } else {
    assert_int_equal(sock, -1);
  }
  assert_int_equal(r, -ECONNREFUSED);
}

static void resolving(void **state) {
  struct fixture *f = *state;
  struct qwp_addr addr[4];
  assert_int_equal(NET(f, resolve, "::1", 9000, addr, 4), 1);
  assert_int_equal(((const struct sockaddr_in6 *)(const void *)addr[0].bytes)->sin6_port, htons(9000));
  assert_int_equal(NET(f, resolve, "127.0.0.1", 0, addr, 4), -EINVAL);
  assert_int_equal(NET(f, resolve, "127.0.0.1", 65536, addr, 4), -EINVAL);
  assert_int_equal(NET(f, resolve, "127.0.0.1", 9000, addr, 0), -EINVAL);
  char label[80]; /* a label of more than 63 is refused without asking anybody */
  memset(label, 'x', sizeof label);
  label[79] = '\0';
  assert_true(NET(f, resolve, label, 9000, addr, 4) < 0);
  const struct qwp_addr wrong = {.len = 200};
  qwp_sock sock;
  assert_int_equal(NET(f, connect, &wrong, &sock), -EINVAL);
  assert_int_equal(sock, -1);
}

static void a_wake_before_the_wait_ends_it(void **state) {
  struct fixture *f = *state;
  NET(f, wake);
  NET(f, wake);
  assert_int_equal(NET(f, wait, -1, 0, QWP_NEVER), QWP_WOKEN);
  assert_int_equal(NET(f, wait, -1, 0, 0), 0); /* both wakes are used up */
  NET(f, wake);
  assert_int_equal(NET(f, wait, f->sock, QWP_READABLE | QWP_WRITABLE, QWP_NEVER), QWP_WRITABLE | QWP_WOKEN);
}

static void *wake_thread(void *arg) {
  struct fixture *f = arg;
  NET(f, wake);
  return NULL;
}

static void a_wake_from_another_thread(void **state) {
  struct fixture *f = *state;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, wake_thread, f), 0);
  assert_int_equal(NET(f, wait, f->sock, QWP_READABLE, QWP_NEVER), QWP_WOKEN);
  pthread_join(thread, NULL);
}

/* A wait takes at least its time, and a signal does not cut it short. */
static void on_alarm(int sig) { (void)sig; }

static void a_timeout_passes_in_full(void **state) {
  struct fixture *f = *state;
  const struct sigaction action = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
  timer_t timer;
  assert_int_equal(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
  int64_t start = f->ops.clock->now_ns(f->ops.clock_ctx);
  assert_int_equal(timer_settime(timer, 0, &soon, NULL), 0);
  assert_int_equal(NET(f, wait, f->sock, QWP_READABLE, 20 * QWP_NS_PER_MS), 0);
  assert_true(f->ops.clock->now_ns(f->ops.clock_ctx) - start >= 20 * QWP_NS_PER_MS);
  timer_delete(timer);
}

/* A socket that has hung up and that nobody asks about must not make the wait spin. */
static void no_interest_no_hang_up(void **state) {
  struct fixture *f = *state;
  const struct linger hard = {.l_onoff = 1, .l_linger = 0};
  assert_int_equal(setsockopt(f->peer, SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
  close(f->peer);
  f->peer = -1;
  await(f, f->sock, QWP_READABLE);
  assert_int_equal(NET(f, wait, f->sock, 0, 0), 0);
  assert_int_equal(NET(f, wait, 1000000, QWP_READABLE, QWP_NEVER), -EBADF);
}

/* CASE-69: a descriptor above 1023 is one like any other. */
static void a_descriptor_above_1023(void **state) {
  struct fixture *f = *state;
  int high = fcntl(f->sock, F_DUPFD_CLOEXEC, 1500);
  if (high < 0) skip(); /* the limit of this process is lower */
  assert_int_equal(send(f->peer, "x", 1, MSG_NOSIGNAL), 1);
  assert_int_equal(NET(f, wait, high, QWP_READABLE, QWP_NEVER), QWP_READABLE);
  close(high);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(options_of_a_socket),     TEST(bytes_both_ways),        TEST(a_full_socket_would_block),
      TEST(the_peer_hangs_up),       TEST(a_broken_pipe_is_an_errno), TEST(shutdown_ends_our_half_only),
      TEST(a_refused_connect_says_so), TEST(resolving),            TEST(a_wake_before_the_wait_ends_it),
      TEST(a_wake_from_another_thread), TEST(a_timeout_passes_in_full), TEST(no_interest_no_hang_up),
      TEST(a_descriptor_above_1023),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
