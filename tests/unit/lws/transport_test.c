/* transport: the mock server on real sockets, from a client's side. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lws/transport.h"

static const char head[] =
  "GET /write/v4 HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nX-QWP-Max-Version: 1\r\n\r\n";
/* An empty message and a Ping, both with a zero key. */
static const char empty_message[6] = {'\x82', '\x80'}, ping[7] = {'\x89', '\x81', 0, 0, 0, 0, 'p'};

static int try_connect(int port) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_true(fd >= 0);
  if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0) return fd;
  close(fd);
  return -1;
}

static void say(int fd, const void *p, size_t n) { assert_int_equal(send(fd, p, n, MSG_NOSIGNAL), n); }

/* Reads until n bytes are there, or the end: 0 = FIN, -1 = error. */
static ssize_t hear(int fd, void *p, size_t n) {
  size_t have = 0;
  while (have < n) {
    ssize_t got = recv(fd, (char *)p + have, n - have, 0);
    if (got <= 0) return have ? (ssize_t)have : got;
    have += (size_t)got;
  }
  return (ssize_t)have;
}

static int client(int port) {
  char answer[1024] = {0};
  size_t n = 0;
  int fd = try_connect(port);
  assert_true(fd >= 0);
  say(fd, head, sizeof head - 1);
  while (!strstr(answer, "\r\n\r\n")) {
    ssize_t got = recv(fd, answer + n, sizeof answer - 1 - n, 0);
    assert_true(got > 0);
    n += (size_t)got;
  }
  assert_memory_equal(answer, "HTTP/1.1 101", 12);
  return fd;
}

static struct mock_lws *serve(const struct mock_script *script) {
  struct mock_options o = {.script = script, .rows = MOCK_ROWS_COUNT, .replayed = true};
  struct mock_lws *l = mock_lws_start(&o, 0);
  assert_non_null(l);
  assert_true(mock_lws_port(l) > 0);
  return l;
}

static void read_facts(struct mock *m, void *arg) { mock_facts(m, arg); }

static struct mock_facts facts(struct mock_lws *l) {
  struct mock_facts f;
  mock_lws_call(l, read_facts, &f);
  return f;
}

static void read_end(struct mock *m, void *arg) {
  struct mock_conn_facts f;
  assert_true(mock_conn_facts(m, 1, &f));
  snprintf(arg, 48, "%s", f.end);
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Waits for an event of the server's, not for a time. */
static void wait_for_end(struct mock_lws *l, const char *want) {
  char end[48] = "open";
  while (strcmp(end, "open") == 0) mock_lws_call(l, read_end, end);
  assert_string_equal(end, want);
}

/* ---- tests --------------------------------------------------------------------------- */

static void it_answers_and_can_be_asked(void **state) {
  (void)state;
  struct mock_lws *l = serve(NULL);
  int fd = client(mock_lws_port(l));
  char answer[13];
  say(fd, empty_message, sizeof empty_message);
  assert_int_equal(hear(fd, answer, 13), 13);
  assert_memory_equal(answer, "\x82\x0b\x00\0\0\0\0\0\0\0\0\0\0", 13);
  assert_int_equal(facts(l).frames, 1);
  assert_int_equal(mock_lws_open(l), 1);
  close(fd);
  wait_for_end(l, "fin");
  while (mock_lws_open(l) > 0) continue;
  mock_lws_stop(l);
}

static void on_sigpipe(int signal) { (void)signal; }

static void sigpipe_is_left_as_it_was(void **state) {
  (void)state;
  struct sigaction mine = {.sa_handler = on_sigpipe}, now;
  sigaction(SIGPIPE, &mine, NULL);
  struct mock_lws *l = serve(NULL);
  sigaction(SIGPIPE, NULL, &now);
  assert_true(now.sa_handler == on_sigpipe);
  mock_lws_stop(l);
  sigaction(SIGPIPE, NULL, &now);
  assert_true(now.sa_handler == on_sigpipe);
}

static void two_cannot_have_one_port(void **state) {
  (void)state;
  struct mock_lws *l = serve(NULL);
  struct mock_options o = {.rows = MOCK_ROWS_COUNT};
  errno = 0;
  assert_null(mock_lws_start(&o, mock_lws_port(l)));
  assert_int_equal(errno, EADDRINUSE);
  mock_lws_stop(l);
}

static void a_reset_is_a_reset(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_AT_FRAME, .n = 2, .action = MOCK_DO_RESET};
  struct mock_entry e = {.connection = 1, .rules = &rule, .rule_count = 1};
  struct mock_script s = {.entries = &e, .entry_count = 1};
  struct mock_lws *l = serve(&s);
  int fd = client(mock_lws_port(l));
  char byte;
  say(fd, empty_message, 6);
  char ok[13];
  assert_int_equal(hear(fd, ok, 13), 13);
  say(fd, empty_message, 6);
  assert_int_equal(recv(fd, &byte, 1, 0), -1);
  assert_int_equal(errno, ECONNRESET);
  close(fd);
  wait_for_end(l, "script reset");
  mock_lws_stop(l);
}

/* By time, not in a callback of the socket: another way through libwebsockets. */
static void a_reset_by_time_is_one_too(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_AT_TIME, .n = 1000000, .action = MOCK_DO_RESET};
  struct mock_entry e = {.connection = 1, .rules = &rule, .rule_count = 1};
  struct mock_script s = {.entries = &e, .entry_count = 1};
  struct mock_lws *l = serve(&s);
  int fd = client(mock_lws_port(l));
  char byte;
  assert_int_equal(recv(fd, &byte, 1, 0), -1);
  assert_int_equal(errno, ECONNRESET);
  close(fd);
  mock_lws_stop(l);
}

static void the_clients_reset_is_told_from_its_fin(void **state) {
  (void)state;
  struct mock_lws *l = serve(NULL);
  struct linger now = {.l_onoff = 1, .l_linger = 0};
  int fd = client(mock_lws_port(l));
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close(fd);
  wait_for_end(l, "reset");
  mock_lws_stop(l);
}

/* Input that the server will not read must not destroy the Close frame on its way. */
static void a_close_frame_arrives_though_input_is_unread(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_AT_FRAME, .n = 1, .action = MOCK_DO_CLOSE, .code = 1011};
  struct mock_entry e = {.connection = 1, .rules = &rule, .rule_count = 1};
  struct mock_script s = {.entries = &e, .entry_count = 1};
  struct mock_lws *l = serve(&s);
  int fd = client(mock_lws_port(l));
  static char junk[1 << 20];
  char answer[4], byte;
  say(fd, empty_message, 6);
  say(fd, junk, sizeof junk);
  assert_int_equal(hear(fd, answer, 4), 4);
  assert_memory_equal(answer, "\x88\x02\x03\xf3", 4);
  assert_int_equal(recv(fd, &byte, 1, 0), 0);
  close(fd);
  while (mock_lws_open(l) > 0) continue;
  mock_lws_stop(l);
}

static void connects_are_refused_and_taken_again_on_the_same_port(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_ON_PING, .action = MOCK_DO_REFUSE, .duration_ns = 50000000};
  struct mock_entry e = {.connection = 1, .rules = &rule, .rule_count = 1};
  struct mock_script s = {.entries = &e, .entry_count = 1};
  struct mock_lws *l = serve(&s);
  int port = mock_lws_port(l), fd = client(port), again;
  char pong[3];
  say(fd, ping, sizeof ping);
  assert_int_equal(hear(fd, pong, 3), 3); /* the rule has fired */
  assert_int_equal(try_connect(port), -1);
  assert_int_equal(errno, ECONNREFUSED);
  while ((again = try_connect(port)) < 0) assert_int_equal(errno, ECONNREFUSED);
  close(again);
  close(fd);
  mock_lws_stop(l);
}

/* Descriptors run out, with a connection in the queue: it is served once there are some again. */
static void a_shortage_of_descriptors_only_delays(void **state) {
  (void)state;
  struct rlimit before, now;
  struct sockaddr_in a = {.sin_family = AF_INET};
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  struct mock_lws *l = serve(NULL);
  a.sin_port = htons((uint16_t)mock_lws_port(l));
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_true(fd >= 0);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  now = before;
  now.rlim_cur = (rlim_t)fd + 1; /* a socket gets the lowest number, so all below it are taken */
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
  assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0); /* the kernel says yes */
  say(fd, head, sizeof head - 1);
  struct pollfd answer = {.fd = fd, .events = POLLIN};
  assert_int_equal(mock_lws_open(l), 1); /* it waits to be accepted, and counts */
  assert_int_equal(poll(&answer, 1, 0), 0);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  assert_int_equal(poll(&answer, 1, 10000), 1);
  assert_int_equal(mock_lws_open(l), 1);
  close(fd);
  mock_lws_stop(l);
}

static void a_stalled_server_blocks_the_client_and_goes_on(void **state) {
  (void)state;
  struct mock_rule rules[] = {{.trigger = MOCK_AT_FRAME, .n = 1, .action = MOCK_DO_STALL, .duration_ns = 100000000}};
  struct mock_entry e = {.connection = 1, .rules = rules, .rule_count = 1};
  struct mock_script s = {.entries = &e, .entry_count = 1};
  struct mock_lws *l = serve(&s);
  int fd = client(mock_lws_port(l));
  static char many[6000]; /* a thousand empty messages in one write */
  for (size_t i = 0; i < sizeof many; i += 6) memcpy(many + i, empty_message, 6);
  int64_t start = now_ns();
  say(fd, many, sizeof many);
  char ok[26];
  assert_int_equal(hear(fd, ok, 26), 26); /* frame 1 is answered; the next answer comes after the stall */
  assert_true(now_ns() - start >= 100000000);
  struct mock_facts f;
  while ((f = facts(l)).frames < 1000) continue;
  assert_int_equal(f.frames, 1000);
  close(fd);
  mock_lws_stop(l);
}

/* bytes_in counts what was looked at: not one beyond the trigger, whatever libwebsockets had read. */
static void read_bytes(struct mock *m, void *arg) {
  struct mock_conn_facts f;
  assert_true(mock_conn_facts(m, 1, &f));
  *(int64_t *)arg = f.bytes_in;
}

static void a_reset_at_a_byte_is_exact_over_sockets(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_AT_BYTE, .n = 3001, .action = MOCK_DO_RESET};
  struct mock_entry e = {.connection = 1, .rules = &rule, .rule_count = 1};
  struct mock_script s = {.entries = &e, .entry_count = 1};
  struct mock_lws *l = serve(&s);
  int fd = client(mock_lws_port(l));
  static char many[6000];
  int64_t bytes;
  for (size_t i = 0; i < sizeof many; i += 6) memcpy(many + i, empty_message, 6);
  say(fd, many, sizeof many);
  wait_for_end(l, "script reset");
  mock_lws_call(l, read_bytes, &bytes);
  assert_int_equal(bytes, 3001);
  assert_int_equal(facts(l).frames, 500);
  close(fd);
  mock_lws_stop(l);
}

static void answers_block_when_nobody_reads_them(void **state) {
  (void)state;
  struct mock_entry e = {.connection = 1, .ack = MOCK_ACK_EACH};
  struct mock_script s = {.entries = &e, .entry_count = 1, .send_buffer_bytes = 4096, .blocking_acks = true};
  struct mock_lws *l = serve(&s);
  int fd = client(mock_lws_port(l));
  static char many[60000];
  for (size_t i = 0; i < sizeof many; i += 6) memcpy(many + i, empty_message, 6);
  int small = 32768; /* what the kernels keep must be heard again below */
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  /* The server stops reading once its answers are stuck, so the client's buffers fill and it blocks too. */
  size_t sent = 0;
  for (int full = 0; full < 2;) {
    ssize_t n = send(fd, many + sent % 6, sizeof many - 6, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      sent += (size_t)n;
      full = 0;
      continue;
    }
    assert_int_equal(errno, EAGAIN);
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    full += poll(&p, 1, 50) == 0;
  }
  int64_t stuck = facts(l).frames;
  assert_true((size_t)stuck * 6 < sent);
  static char sink[1 << 16];
  size_t heard = 0, want = sent / 6 * 13;
  while (heard < want) {
    ssize_t n = recv(fd, sink, sizeof sink, 0);
    assert_true(n > 0);
    heard += (size_t)n;
  }
  assert_int_equal(heard, want); /* not one answer lost, not one too many */
  assert_int_equal(facts(l).oks, sent / 6);
  close(fd);
  mock_lws_stop(l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(it_answers_and_can_be_asked),
    cmocka_unit_test(sigpipe_is_left_as_it_was),
    cmocka_unit_test(two_cannot_have_one_port),
    cmocka_unit_test(a_reset_is_a_reset),
    cmocka_unit_test(a_reset_by_time_is_one_too),
    cmocka_unit_test(the_clients_reset_is_told_from_its_fin),
    cmocka_unit_test(a_close_frame_arrives_though_input_is_unread),
    cmocka_unit_test(connects_are_refused_and_taken_again_on_the_same_port),
    cmocka_unit_test(a_shortage_of_descriptors_only_delays),
    cmocka_unit_test(a_stalled_server_blocks_the_client_and_goes_on),
    cmocka_unit_test(a_reset_at_a_byte_is_exact_over_sockets),
    cmocka_unit_test(answers_block_when_nobody_reads_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
