/* Bytes through the table: what is taken has left, what is left is offered again, what is decrypted
 * is seen. The server end is OpenSSL's own. */
#include "tls_kit.h"

static struct tk_identity ca;

struct rig {
  struct tk k;
  struct tk_client c;
};

static void set_up(struct rig *r) {
  static const struct qwp_tls_options any = {.verify = false};
  tk_init(&r->k, &ca);
  r->c = tk_client(&r->k, &any);
  tk_dial(&r->c, "db");
}

static void tear_down(struct rig *r) {
  tk_client_free(&r->c);
  tk_free(&r->k);
}

static uint8_t *pattern(size_t n) {
  uint8_t *p = malloc(n + 1);
  assert_non_null(p);
  for (size_t i = 0; i < n; i++) p[i] = (uint8_t)(i * 31 + (i >> 8));
  return p;
}

/* Through the handshake; the server has sent its tickets, if any, and they are read. */
static void shake_hands(struct rig *r) {
  assert_int_equal(tk_send_all(&r->c, "hello", 5), 0);
  tk_serve(&r->k, 0);
  char byte;
  while (r->k.conns[0].to_client.at < r->k.conns[0].to_client.n)
    assert_int_equal(r->c.ops.net->recv(r->c.ops.net_ctx, r->c.sock, &byte, 1), -EAGAIN);
  assert_int_equal(r->k.conns[0].plain.n, 5);
  r->k.conns[0].plain.n = 0;
  r->k.sends = r->k.recvs = r->k.pushes = r->k.wait_count = 0;
}

static ssize_t send_once(struct rig *r, const void *p, size_t n) {
  return r->c.ops.net->send(r->c.ops.net_ctx, r->c.sock, p, n);
}

static ssize_t recv_once(struct rig *r, void *p, size_t n) {
  return r->c.ops.net->recv(r->c.ops.net_ctx, r->c.sock, p, n);
}

static void assert_arrived(struct rig *r, const uint8_t *p, size_t n) {
  tk_serve(&r->k, 0);
  assert_int_equal(r->k.conns[0].server_error, 0);
  assert_int_equal(r->k.conns[0].plain.n, n);
  assert_memory_equal(r->k.conns[0].plain.p, p, n);
  r->k.conns[0].plain.n = 0;
}

/* OpenSSL answers a request for new keys with its next data; a second request it answers at once
 * with what it owes for the first. */
static void make_it_answer(struct rig *r) {
  tk_ask_key_update(&r->k, 0);
  tk_ask_key_update(&r->k, 0);
}

/* ---- sending ------------------------------------------------------------------------------------- */

/* Every size around the edges of a record and of a send, each in one write below when it fits. */
static void sizes(void **state) {
  (void)state;
  static const size_t edges[] = {0, 16384, 32768, 49152, QWP_TLS_SEND_MAX};
  struct rig r;
  set_up(&r);
  shake_hands(&r);
  uint8_t *p = pattern(QWP_TLS_SEND_MAX + 16);
  for (size_t e = 0; e < sizeof edges / sizeof edges[0]; e++) {
    for (size_t n = edges[e] < 8 ? 1 : edges[e] - 8; n <= edges[e] + 8; n++) {
      r.k.sends = 0;
      assert_int_equal(tk_send_all(&r.c, p, n), 0);
      assert_int_equal(r.k.sends, n <= QWP_TLS_SEND_MAX ? 1 : 2);
      assert_arrived(&r, p, n);
    }
  }
  assert_int_equal(r.k.wait_count, 0);
  assert_int_equal(send_once(&r, p, 0), 0);
  free(p);
  tear_down(&r);
}

static void one_send_takes_no_more_than_its_bound(void **state) {
  (void)state;
  struct rig r;
  set_up(&r);
  shake_hands(&r);
  uint8_t *p = pattern(3 * QWP_TLS_SEND_MAX);
  assert_int_equal(send_once(&r, p, 3 * QWP_TLS_SEND_MAX), QWP_TLS_SEND_MAX);
  assert_int_equal(r.k.sends, 1);
  assert_arrived(&r, p, QWP_TLS_SEND_MAX);
  free(p);
  tear_down(&r);
}

/* Nothing counts as taken before the last byte of its ciphertext has left. */
static void short_writes(void **state) {
  (void)state;
  static const size_t steps[] = {1, 2, 3, 7};
  static const size_t sizes_sent[] = {1, 100, 16385};
  uint8_t *p = pattern(16385);
  for (size_t s = 0; s < 4; s++) {
    for (size_t z = 0; z < 3; z++) {
      struct rig r;
      set_up(&r);
      shake_hands(&r);
      size_t n = sizes_sent[z], before = r.k.conns[0].to_server.n, calls = 0;
      r.k.send_max = steps[s];
      r.k.block_sends = true;
      ssize_t taken;
      while ((taken = send_once(&r, p, n)) == -EAGAIN) {
        r.k.wait_count = 0;
        assert_int_equal(tk_client_wait(&r.c, QWP_WRITABLE, QWP_NEVER), QWP_WRITABLE);
        assert_int_equal(r.k.waits[0], QWP_WRITABLE);
        tk_serve(&r.k, 0);
        assert_true(r.k.conns[0].plain.n == 0 || z == 2); /* in one record: all of it or nothing */
        assert_true(++calls < 100000);
      }
      assert_int_equal(taken, n);
      size_t ciphertext = r.k.conns[0].to_server.n - before;
      assert_int_equal(calls, (ciphertext + steps[s] - 1) / steps[s]);
      assert_int_equal(r.k.pushes, calls);
      assert_arrived(&r, p, n);
      tear_down(&r);
    }
  }
  free(p);
}

/* P121-05: what a send left behind is pushed after each wait, and counted once. */
static void pending_output_is_pumped(void **state) {
  (void)state;
  struct rig r;
  set_up(&r);
  shake_hands(&r);
  uint8_t *p = pattern(1000);
  r.k.socket_bytes = 400;
  assert_int_equal(send_once(&r, p, 1000), -EAGAIN);
  assert_int_equal(r.k.conns[0].to_server.n - r.k.conns[0].to_server.at, 400);
  assert_int_equal(tk_client_wait(&r.c, QWP_WRITABLE, QWP_NEVER), QWP_WRITABLE); /* the server made room */
  assert_int_equal(send_once(&r, p, 1000), -EAGAIN);
  assert_int_equal(tk_client_wait(&r.c, QWP_WRITABLE, QWP_NEVER), QWP_WRITABLE);
  assert_int_equal(send_once(&r, p, 1000), 1000);
  assert_int_equal(r.k.wait_count, 2);
  assert_int_equal(r.k.pushes, 3);
  assert_arrived(&r, p, 1000); /* once: a repeated encryption would double them */
  free(p);
  tear_down(&r);
}

/* The same bytes at another address, and more of them behind: the retry rule of SSL_write. */
static void the_buffer_may_move_and_grow(void **state) {
  (void)state;
  struct rig r;
  set_up(&r);
  shake_hands(&r);
  uint8_t *p = pattern(900), *moved = pattern(900);
  r.k.socket_bytes = 100;
  assert_int_equal(send_once(&r, p, 300), -EAGAIN);
  memset(p, 0, 300); /* and the old place is gone */
  r.k.socket_bytes = 0;
  assert_int_equal(send_once(&r, moved, 900), 300);
  assert_int_equal(send_once(&r, moved + 300, 600), 600);
  assert_arrived(&r, moved, 900);
  free(p);
  free(moved);
  tear_down(&r);
}

/* The errnos of a living connection pass, and nothing is lost or doubled by them. */
static void shortages_pass_through(void **state) {
  (void)state;
  static const int results[] = {-EINTR, -ENOBUFS, -ENOMEM, -EAGAIN};
  for (size_t i = 0; i < 4; i++) {
    struct rig r;
    set_up(&r);
    shake_hands(&r);
    uint8_t *p = pattern(50);
    r.k.send_result = results[i];
    for (int again = 0; again < 3; again++) assert_int_equal(send_once(&r, p, 50), results[i]);
    r.k.send_result = 0;
    assert_int_equal(send_once(&r, p, 50), 50);
    assert_arrived(&r, p, 50);
    free(p);
    tear_down(&r);
  }
}

/* A kernel without buffers may count as writable: the layer adds no wait for it of its own, and
 * tries again a moment later. */
static void a_starved_answer_is_tried_again_paced(void **state) {
  (void)state;
  struct rig r;
  set_up(&r);
  shake_hands(&r);
  make_it_answer(&r);
  r.k.send_result = -ENOBUFS;
  char byte;
  assert_int_equal(recv_once(&r, &byte, 1), -EAGAIN);
  int64_t before_ns = r.k.now_ns;
  assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, QWP_NEVER), QWP_READABLE);
  assert_int_equal(r.k.waits[0], QWP_READABLE);
  assert_int_equal(r.k.now_ns - before_ns, QWP_NS_PER_MS);
  assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, 5), 0); /* the caller's own time is up first */
  r.k.send_result = 0;
  assert_int_equal(recv_once(&r, &byte, 1), -EAGAIN);
  assert_int_equal(r.k.pushes, 1);
  tear_down(&r);
}

/* A send that fails for good does not stop reading (CASE-08). */
static void last_words_after_a_failed_send(void **state) {
  (void)state;
  struct rig r;
  set_up(&r);
  shake_hands(&r);
  tk_say(&r.k, 0, "goodbye", 7);
  r.k.send_result = -EPIPE;
  assert_int_equal(send_once(&r, "data", 4), -EPIPE);
  char text[64];
  assert_int_equal(tk_explained(&r.c, text, sizeof text), QWP_OK); /* the errno says it all */
  assert_int_equal(recv_once(&r, text, sizeof text), 7);
  assert_memory_equal(text, "goodbye", 7);
  assert_int_equal(recv_once(&r, text, sizeof text), -EPIPE);
  assert_int_equal(r.k.sends, 1); /* a dead half is not tried again */
  tear_down(&r);
}

/* ---- receiving --------------------------------------------------------------------------------------- */

/* CASE-55: what the layer holds is readable without a call below, to the last byte. */
static void three_messages_in_one_record(void **state) {
  (void)state;
  struct rig r;
  set_up(&r);
  shake_hands(&r);
  uint8_t *p = pattern(1200), buf[512];
  tk_say(&r.k, 0, p, 1200);
  assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, QWP_NEVER), QWP_READABLE);
  static const ssize_t pieces[] = {512, 512, 176};
  for (size_t i = 0, at = 0; i < 3; at += (size_t)pieces[i++]) {
    if (i > 0) assert_int_equal(tk_client_wait(&r.c, QWP_READABLE | QWP_WRITABLE, QWP_NEVER), QWP_READABLE);
    assert_int_equal(recv_once(&r, buf, sizeof buf), pieces[i]);
    assert_memory_equal(buf, p + at, (size_t)pieces[i]);
  }
  assert_int_equal(r.k.wait_count, 1); /* the first one; the others stayed here */
  assert_int_equal(r.k.recvs, 1);
  assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, 1), 0); /* and then it waits below again */
  assert_int_equal(r.k.wait_count, 2);
  free(p);
  tear_down(&r);
}

static void one_message_across_two_records(void **state) {
  (void)state;
  struct rig r;
  set_up(&r);
  shake_hands(&r);
  uint8_t *p = pattern(16394), *buf = malloc(16394);
  tk_say(&r.k, 0, p, 16394);
  assert_int_equal(recv_once(&r, buf, 0), 0);
  assert_int_equal(recv_once(&r, buf, 16394), 16394); /* one call, one read below */
  assert_int_equal(r.k.recvs, 1);
  assert_memory_equal(buf, p, 16394);
  tk_say(&r.k, 0, p, 16394);
  assert_int_equal(tk_recv_all(&r.c, buf, 16394, 512), 16394);
  assert_memory_equal(buf, p, 16394);
  assert_int_equal(r.k.recvs, 2);
  assert_int_equal(r.k.wait_count, 0);
  free(p);
  free(buf);
  tear_down(&r);
}

/* A record without data is would-block, not the end, and one wait each. */
static void a_ticket_is_no_data(void **state) {
  (void)state;
  struct rig r;
  set_up(&r);
  assert_int_equal(tk_send_all(&r.c, "x", 1), 0);
  tk_serve(&r.k, 0); /* two tickets are on their way */
  assert_true(r.k.conns[0].to_client.at < r.k.conns[0].to_client.n);
  char byte;
  assert_int_equal(recv_once(&r, &byte, 1), -EAGAIN);
  assert_int_equal(r.k.conns[0].to_client.at, r.k.conns[0].to_client.n);
  r.k.wait_count = 0;
  assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, 7), 0);
  assert_int_equal(r.k.wait_count, 1);
  tk_say(&r.k, 0, "a", 1);
  assert_int_equal(recv_once(&r, &byte, 1), 1);
  assert_int_equal(byte, 'a');
  tear_down(&r);
}

/* However the stream is cut up below, one read a call, and every byte in order. */
static void trickled_records(void **state) {
  (void)state;
  static const size_t steps[] = {1, 2, 3, 7, 4096};
  uint8_t *p = pattern(700), *buf = malloc(700);
  for (size_t s = 0; s < 5; s++) {
    struct rig r;
    set_up(&r);
    shake_hands(&r);
    for (int i = 0; i < 7; i++) tk_say(&r.k, 0, p + 100 * i, 100);
    r.k.recv_max = steps[s];
    r.k.block_recvs = true;
    size_t at = 0, calls = 0;
    while (at < 700) {
      size_t before = r.k.recvs;
      ssize_t n = recv_once(&r, buf + at, 700 - at);
      assert_int_equal(r.k.recvs, before + 1);
      assert_true(n > 0 || n == -EAGAIN);
      if (n > 0) at += (size_t)n;
      assert_true(++calls < 100000);
    }
    assert_memory_equal(buf, p, 700);
    tear_down(&r);
  }
  free(p);
  free(buf);
}

/* ---- both at once ---------------------------------------------------------------------------------------- */

/* CASE-56: key updates are asked for while writes are blocked. Each wait is for what is wanted, each
 * answer leaves behind the ciphertext before it, and every byte arrives. */
static void key_updates_while_blocked(void **state) {
  (void)state;
  struct rig r;
  set_up(&r);
  shake_hands(&r);
  size_t n = 100 * 1024;
  uint8_t *p = pattern(n);
  r.k.socket_bytes = 5000;
  for (int frame = 0; frame < 20; frame++) {
    if (frame % 3 == 0) tk_ask_key_update(&r.k, 0);
    size_t at = 0;
    while (at < n) {
      char byte;
      assert_int_equal(recv_once(&r, &byte, 1), -EAGAIN);
      ssize_t taken = send_once(&r, p + at, n - at);
      if (taken > 0) at += (size_t)taken;
      if (taken > 0) continue;
      assert_int_equal(taken, -EAGAIN);
      r.k.wait_count = 0;
      int ready = tk_client_wait(&r.c, QWP_READABLE | QWP_WRITABLE, QWP_NEVER);
      assert_int_equal((unsigned)ready & QWP_WRITABLE, QWP_WRITABLE);
      assert_int_equal(r.k.waits[0], QWP_READABLE | QWP_WRITABLE);
    }
    assert_arrived(&r, p, n);
  }
  free(p);
  tear_down(&r);
}

/* An answer that could not leave adds a wait for writable to that for readable, and ends it. */
static void a_pending_answer_waits_for_room(void **state) {
  (void)state;
  struct rig r;
  set_up(&r);
  shake_hands(&r);
  make_it_answer(&r);
  r.k.server_stopped = true;
  r.k.socket_bytes = 10;
  char byte;
  assert_int_equal(recv_once(&r, &byte, 1), -EAGAIN); /* ten bytes of the answer are taken */
  assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, 3), 0);
  assert_int_equal(r.k.waits[0], QWP_READABLE | QWP_WRITABLE);
  r.k.server_stopped = false;
  r.k.socket_bytes = 0;
  assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, QWP_NEVER), QWP_READABLE); /* to move it on */
  assert_int_equal(recv_once(&r, &byte, 1), -EAGAIN);
  assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, 3), 0);
  assert_int_equal(r.k.waits[2], QWP_READABLE);
  assert_int_equal(tk_send_all(&r.c, "after", 5), 0);
  assert_arrived(&r, (const uint8_t *)"after", 5);
  tear_down(&r);
}

/* A server that asks without end and reads nothing: its questions are not read any further, memory
 * stays as it is, and the connection goes on when it reads again. */
static void questions_without_end(void **state) {
  (void)state;
  struct rig r;
  set_up(&r);
  shake_hands(&r);
  r.k.server_stopped = true;
  r.k.socket_bytes = 1;
  uint64_t allocations = r.k.mem.calls;
  for (int i = 0; i < 8000; i++) tk_ask_key_update(&r.k, 0);
  char byte;
  size_t reads = 0;
  for (; r.k.recvs == reads; reads++) assert_int_equal(recv_once(&r, &byte, 1), -EAGAIN);
  assert_in_range(reads, 2, 20);
  assert_true(r.k.conns[0].to_client.at < r.k.conns[0].to_client.n);
  r.k.wait_count = 0;
  assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, 3), 0); /* though there is something to read below */
  assert_int_equal(r.k.waits[0], QWP_WRITABLE);
  assert_int_equal(r.k.mem.calls, allocations);
  r.k.server_stopped = false;
  r.k.socket_bytes = 0;
  tk_say(&r.k, 0, "!", 1);
  assert_int_equal(tk_recv_all(&r.c, &byte, 1, 1), 1);
  assert_int_equal(byte, '!');
  tear_down(&r);
}

static void wakes_pass_through(void **state) {
  (void)state;
  struct rig r;
  set_up(&r);
  shake_hands(&r);
  r.c.ops.net->wake(r.c.ops.net_ctx);
  assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, QWP_NEVER), QWP_WOKEN);
  assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, 3), 0);
  tear_down(&r);
}

static int make_ca(void **state) {
  (void)state;
  ca = tk_issue(NULL, &(struct tk_claim){.names = "DNS:db", .is_ca = true});
  return 0;
}

static int drop_ca(void **state) {
  (void)state;
  tk_forget(&ca);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pending_answer_waits_for_room),
      cmocka_unit_test(a_starved_answer_is_tried_again_paced),
      cmocka_unit_test(a_ticket_is_no_data),
      cmocka_unit_test(key_updates_while_blocked),
      cmocka_unit_test(last_words_after_a_failed_send),
      cmocka_unit_test(one_message_across_two_records),
      cmocka_unit_test(one_send_takes_no_more_than_its_bound),
      cmocka_unit_test(pending_output_is_pumped),
      cmocka_unit_test(questions_without_end),
      cmocka_unit_test(short_writes),
      cmocka_unit_test(shortages_pass_through),
      cmocka_unit_test(sizes),
      cmocka_unit_test(the_buffer_may_move_and_grow),
      cmocka_unit_test(three_messages_in_one_record),
      cmocka_unit_test(trickled_records),
      cmocka_unit_test(wakes_pass_through),
  };
  return cmocka_run_group_tests(tests, make_ca, drop_ca);
}
