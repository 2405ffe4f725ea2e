/* The mock's beginning and end on real sockets: it stops in every state and leaves nothing; its port is its own from start
 * to stop; accepted sockets may have any mode; when it breaks it says which call did it. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lws/transport.h"

static const char head[] =
    "GET /write/v4 HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nX-QWP-Max-Version: 1\r\n\r\n";
static const char empty_message[6] = {'\x82', '\x80'}, ping[7] = {'\x89', '\x81', 0, 0, 0, 0, 'p'};

static struct sockaddr_in address(int port) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return a;
}

static int dial(const struct mock_lws *l) {
  struct sockaddr_in a = address(mock_lws_port(l));
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_true(fd >= 0);
  if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0) return fd;
  close(fd);
  return -1;
}

static void say(int fd, const void *p, size_t n) { assert_int_equal(send(fd, p, n, MSG_NOSIGNAL), n); }

static void hear_head(int fd) {
  char answer[1024] = {0};
  for (size_t n = 0; !strstr(answer, "\r\n\r\n"); n++) {
    assert_true(n + 1 < sizeof answer);
    assert_int_equal(recv(fd, answer + n, 1, 0), 1);
  }
  assert_memory_equal(answer, "HTTP/1.1 101", 12);
}

static int client(const struct mock_lws *l) {
  int fd = dial(l);
  assert_true(fd >= 0);
  say(fd, head, sizeof head - 1);
  hear_head(fd);
  return fd;
}

static struct mock_lws *serve(const struct mock_script *script) {
  struct mock_options o = {.script = script, .rows = MOCK_ROWS_COUNT, .replayed = true};
  struct mock_lws *l = mock_lws_start(&o, 0);
  assert_non_null(l);
  return l;
}

static void read_facts(struct mock *m, void *arg) { mock_facts(m, arg); }

static struct mock_facts facts(struct mock_lws *l) {
  struct mock_facts f;
  mock_lws_call(l, read_facts, &f);
  return f;
}

/* ---- stopping, in each state (CASE-78) ---- */

static int entries(const char *path) {
  DIR *d = opendir(path);
  assert_non_null(d);
  int n = 0;
  for (const struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
  closedir(d);
  return n;
}

static void wait_until_open(struct mock_lws *l, size_t n) {
  while (mock_lws_open(l) != n) continue;
}

/* Each brings a connection into one state and returns the client's descriptor, or -1. */
static int idle(struct mock_lws *l) {
  (void)l;
  return -1;
}
static int connected_and_silent(struct mock_lws *l) {
  int fd = dial(l);
  wait_until_open(l, 1);
  return fd;
}
static int half_a_head(struct mock_lws *l) {
  int fd = dial(l);
  say(fd, head, 40);
  wait_until_open(l, 1);
  return fd;
}
static int upgraded(struct mock_lws *l) { return client(l); }
static int half_a_frame(struct mock_lws *l) {
  int fd = client(l);
  say(fd, empty_message, 3);
  return fd;
}
static int after_a_ping(struct mock_lws *l) { /* the script does what it does on: ping */
  int fd = client(l);
  say(fd, ping, sizeof ping);
  while (facts(l).pings == 0) continue;
  return fd;
}
static int half_closed_by_the_client(struct mock_lws *l) {
  int fd = client(l);
  shutdown(fd, SHUT_WR);
  char byte;
  assert_int_equal(recv(fd, &byte, 1, 0), 0); /* it has noticed */
  return fd;
}
/* The answers have no room: nobody reads them. */
static int answers_stuck(struct mock_lws *l) {
  int fd = client(l);
  static char many[60000];
  for (size_t i = 0; i < sizeof many; i += 6) memcpy(many + i, empty_message, 6);
  for (int64_t before = -1; facts(l).frames != before;) {
    before = facts(l).frames;
    while (send(fd, many, sizeof many, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) continue;
  }
  return fd;
}
static int waits_in_the_queue(struct mock_lws *l) {
  struct rlimit before, none;
  struct sockaddr_in a = address(mock_lws_port(l));
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = before;
  none.rlim_cur = (rlim_t)fd + 1;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
  assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
  assert_int_equal(mock_lws_open(l), 1); /* not accepted: there is no descriptor for it */
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  return fd;
}

#define ON_PING(what, ...) {.trigger = MOCK_ON_PING, .action = what, __VA_ARGS__}
#define HOUR_NS INT64_C(3600000000000)

static void it_stops_in_every_state_and_leaves_nothing(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int (*begin)(struct mock_lws *l);
    struct mock_rule rule;
    bool blocking_acks;
  } states[] = {
      {"idle", idle, {0}, false},
      {"connected", connected_and_silent, {0}, false},
      {"waits to be accepted", waits_in_the_queue, {0}, false},
      {"in the handshake", half_a_head, {0}, false},
      {"upgraded", upgraded, {0}, false},
      {"in a frame", half_a_frame, {0}, false},
      {"half closed by the client", half_closed_by_the_client, {0}, false},
      {"stalled", after_a_ping, ON_PING(MOCK_DO_STALL, .duration_ns = HOUR_NS), false},
      {"half closed by the script", after_a_ping, ON_PING(MOCK_DO_FIN, .value = 0), false},
      {"swallowing", after_a_ping, ON_PING(MOCK_DO_BLACKHOLE, .value = 0), false},
      {"ending politely", after_a_ping, ON_PING(MOCK_DO_CLOSE, .code = 1011), false},
      {"refusing", after_a_ping, ON_PING(MOCK_DO_REFUSE, .duration_ns = HOUR_NS), false},
      {"answers stuck", answers_stuck, {0}, true},
  };
  /* With a process's first thread some runtimes (the thread sanitizer's) start a helper of their own, which stays. */
  mock_lws_stop(serve(NULL));
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
    const int fds = entries("/proc/self/fd"), threads = entries("/proc/self/task");
    struct mock_entry e = {.connection = 1, .ack = states[i].blocking_acks ? MOCK_ACK_EACH : MOCK_ACK_SERVER,
                           .rules = &states[i].rule, .rule_count = states[i].begin == after_a_ping ? 1 : 0};
    struct mock_script s = {.entries = &e, .entry_count = 1, .blocking_acks = states[i].blocking_acks,
                            .send_buffer_bytes = states[i].blocking_acks ? 4096 : 0};
    struct mock_lws *l = serve(&s);
    int fd = states[i].begin(l);
    mock_lws_stop(l); /* if it does not return, the alarm ends the test */
    if (fd >= 0) close(fd);
    if (entries("/proc/self/fd") != fds) fail_msg("%s: a descriptor is left", states[i].name);
    for (int ms = 0; ms < 1000 && entries("/proc/self/task") != threads; ms++) poll(NULL, 0, 1); /* joined; still in /proc */
    if (entries("/proc/self/task") != threads) fail_msg("%s: a thread is left", states[i].name);
  }
}

/* ---- the port ---- */

static int take_port(int port, int share) {
  struct sockaddr_in a = address(port);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &share, sizeof share), 0);
  const int r = bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 1) == 0 ? 0 : errno;
  close(fd);
  return r;
}

static void a_refusing_server_keeps_its_port(void **state) {
  (void)state;
  struct mock_rule rule = ON_PING(MOCK_DO_REFUSE, .duration_ns = HOUR_NS);
  struct mock_entry e = {.connection = 1, .rules = &rule, .rule_count = 1};
  struct mock_script s = {.entries = &e, .entry_count = 1};
  struct mock_lws *l = serve(&s);
  for (int share = 0; share < 2; share++) assert_int_equal(take_port(mock_lws_port(l), share), EADDRINUSE);
  int fd = after_a_ping(l);
  assert_int_equal(dial(l), -1);
  assert_int_equal(errno, ECONNREFUSED);
  for (int share = 0; share < 2; share++) assert_int_equal(take_port(mock_lws_port(l), share), EADDRINUSE);
  close(fd);
  const int port = mock_lws_port(l);
  mock_lws_stop(l);
  assert_int_equal(take_port(port, 1), 0); /* and gives it back at its end */
}

/* ---- the mode of accepted sockets (CASE-94) ---- */

static void set_mode(void *ctx, int fd) {
  const int flags = fcntl(fd, F_GETFL);
  assert_true(flags >= 0);
  assert_int_equal(fcntl(fd, F_SETFL, *(const bool *)ctx ? flags | O_NONBLOCK : flags & ~O_NONBLOCK), 0);
}

struct text {
  char *at;
  size_t n, cap;
};

/* Without the time, which is the one thing that may differ. */
static void keep_line(void *ctx, const char *line, size_t n) {
  struct text *t = ctx;
  const char *side = memmem(line, n, "\"side\"", 6);
  if (!side) return; /* the header */
  n -= (size_t)(side - line);
  if (t->cap - t->n < n + 1) {
    t->cap = (t->cap + n) * 2;
    t->at = realloc(t->at, t->cap);
    assert_non_null(t->at);
  }
  memcpy(t->at + t->n, side, n);
  t->n += n;
  t->at[t->n++] = '\n';
}

#define BURST 80000 /* OKs of 13 bytes: more than 1 MiB in one write of the mock */

/* The head comes late, the answers are read slowly; gives the journal. */
static struct text life_with(bool nonblocking) {
  struct text journal = {0};
  struct mock_entry e = {.connection = 1, .ack = MOCK_ACK_BURST, .ack_value = BURST};
  struct mock_script s = {.entries = &e, .entry_count = 1, .send_buffer_bytes = 4096}; /* most of it has no room at once */
  struct mock_options o = {.script = &s, .rows = MOCK_ROWS_COUNT, .replayed = true, .journal = MOCK_JOURNAL_FULL,
                           .journal_line = keep_line, .journal_ctx = &journal};
  struct mock_lws *l = mock_lws_start(&o, 0);
  assert_non_null(l);
  mock_lws_on_accept(l, set_mode, &nonblocking);
  int fd = connected_and_silent(l); /* accepted, and the first read finds nothing */
  say(fd, head, sizeof head - 1);
  hear_head(fd);
  static char many[BURST * 6];
  for (size_t i = 0; i < sizeof many; i += 6) memcpy(many + i, empty_message, 6);
  for (size_t sent = 0; sent < sizeof many;) {
    const ssize_t n = send(fd, many + sent, sizeof many - sent, MSG_NOSIGNAL);
    assert_true(n > 0);
    sent += (size_t)n;
  }
  while (facts(l).oks < BURST) continue; /* written, or as much of it as there is room for */
  size_t heard = 0;
  static char sink[997];
  while (heard < (size_t)BURST * 13) {
    const ssize_t n = recv(fd, sink, sizeof sink, 0);
    assert_true(n > 0);
    heard += (size_t)n;
  }
  assert_int_equal(heard, (size_t)BURST * 13);
  close(fd);
  wait_until_open(l, 0);
  char trouble[128];
  assert_false(mock_lws_trouble(l, trouble, sizeof trouble));
  mock_lws_stop(l);
  return journal;
}

static void blocking_or_not_an_accepted_socket_serves_the_same(void **state) {
  (void)state;
  struct text blocking = life_with(false), nonblocking = life_with(true);
  assert_int_equal(blocking.n, nonblocking.n);
  assert_memory_equal(blocking.at, nonblocking.at, blocking.n);
  free(blocking.at);
  free(nonblocking.at);
}

/* ---- what broke ---- */

/* As if somebody else had closed it: a listening socket of this process on that port, shut down. */
static void shut_listener(int port) {
  int found = 0;
  for (int fd = 3; fd < 256; fd++) {
    int listens = 0;
    socklen_t n = sizeof listens;
    struct sockaddr_in a;
    socklen_t a_n = sizeof a;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) != 0 || !listens) continue;
    if (getsockname(fd, (struct sockaddr *)&a, &a_n) != 0 || ntohs(a.sin_port) != port) continue;
    found += shutdown(fd, SHUT_RDWR) == 0;
  }
  assert_int_equal(found, 1); /* the second descriptor is the same socket */
}

static void a_server_that_broke_says_which_call_failed(void **state) {
  (void)state;
  char trouble[128];
  struct mock_lws *l = serve(NULL);
  int fd = client(l);
  assert_false(mock_lws_trouble(l, trouble, sizeof trouble));
  shut_listener(mock_lws_port(l));
  for (int ms = 0; ms < 5000 && !mock_lws_trouble(l, trouble, sizeof trouble); ms++) poll(NULL, 0, 1);
  assert_string_equal(trouble, "poll: the listening socket was shut down");
  assert_int_equal(facts(l).conns, 1); /* it can still be asked */
  close(fd);
  mock_lws_stop(l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_stops_in_every_state_and_leaves_nothing),
      cmocka_unit_test(a_refusing_server_keeps_its_port),
      cmocka_unit_test(blocking_or_not_an_accepted_socket_serves_the_same),
      cmocka_unit_test(a_server_that_broke_says_which_call_failed),
  };
  alarm(30); /* a server that does not stop fails its own test */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
