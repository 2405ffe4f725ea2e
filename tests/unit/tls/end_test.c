/* How a connection ends, what layers tell each other, and what goes wrong around it. */
#include "tls_kit.h"

static struct tk_identity server;
static const struct qwp_tls_options any = {.verify = false};

struct rig {
  struct tk k;
  struct tk_client c;
};

/* Through the handshake, all tickets read. */
static void set_up(struct rig *r) {
  tk_init(&r->k, &server);
  r->c = tk_client(&r->k, &any);
  tk_dial(&r->c, "db");
  assert_int_equal(tk_send_all(&r->c, "hello", 5), 0);
  tk_serve(&r->k, 0);
  char byte;
  while (r->k.conns[0].to_client.at < r->k.conns[0].to_client.n)
    assert_int_equal(r->c.ops.net->recv(r->c.ops.net_ctx, r->c.sock, &byte, 1), -EAGAIN);
  r->k.wait_count = 0;
}

static void tear_down(struct rig *r) {
  tk_client_free(&r->c);
  tk_free(&r->k);
}

static ssize_t recv_once(struct rig *r, void *p, size_t n) {
  return r->c.ops.net->recv(r->c.ops.net_ctx, r->c.sock, p, n);
}

static int shut_down(struct rig *r) { return r->c.ops.net->shutdown(r->c.ops.net_ctx, r->c.sock); }

/* ---- the server ends it --------------------------------------------------------------------------- */

static void close_notify(void **state) {
  (void)state;
  struct rig r;
  char buf[16], text[512];
  set_up(&r);
  tk_say(&r.k, 0, "last", 4);
  tk_server_closes(&r.k, 0, true);
  assert_int_equal(recv_once(&r, buf, sizeof buf), 4);
  assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, QWP_NEVER), QWP_READABLE);
  assert_int_equal(r.k.wait_count, 0); /* the end is known here */
  assert_int_equal(recv_once(&r, buf, sizeof buf), 0);
  assert_int_equal(recv_once(&r, buf, sizeof buf), 0);
  assert_int_equal(tk_explained(&r.c, text, sizeof text), QWP_OK);
  assert_int_equal(tk_send_all(&r.c, "bye", 3), 0); /* the other half still stands (RFC 8446, 6.1) */
  tk_serve(&r.k, 0);
  tear_down(&r);
}

static void end_without_close_notify(void **state) {
  (void)state;
  struct rig r;
  char buf[16], text[512];
  set_up(&r);
  tk_say(&r.k, 0, "last", 4);
  tk_server_closes(&r.k, 0, false);
  assert_int_equal(recv_once(&r, buf, sizeof buf), 4);
  assert_int_equal(recv_once(&r, buf, sizeof buf), 0);
  assert_int_equal(tk_explained(&r.c, text, sizeof text), QWP_CONN_LOST);
  assert_non_null(strstr(text, "without close_notify"));
  assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, QWP_NEVER), QWP_READABLE);
  tear_down(&r);
}

/* Half a record at the end is no data. */
static void end_inside_a_record(void **state) {
  (void)state;
  struct rig r;
  char buf[600], text[512];
  set_up(&r);
  memset(buf, 'x', sizeof buf);
  tk_say(&r.k, 0, buf, sizeof buf);
  r.k.cut_in = r.k.conns[0].to_client.n - 1;
  assert_int_equal(recv_once(&r, buf, sizeof buf), -EAGAIN);
  assert_int_equal(recv_once(&r, buf, sizeof buf), 0);
  assert_int_equal(tk_explained(&r.c, text, sizeof text), QWP_CONN_LOST);
  tear_down(&r);
}

static void an_alert(void **state) {
  (void)state;
  struct rig r;
  char buf[16], text[512];
  set_up(&r);
  /* Nonsense makes the server break off with an alert. */
  tk_put(&r.k.conns[0].to_server, "\x17\x03\x03\x00\x20this was encrypted with no key..", 37);
  tk_serve(&r.k, 0);
  assert_true(r.k.conns[0].server_error != 0);
  assert_int_equal(recv_once(&r, buf, sizeof buf), -EPROTO);
  assert_int_equal(tk_explained(&r.c, text, sizeof text), QWP_CONN_TLS);
  assert_non_null(strstr(text, "alert \"bad record mac\""));
  tear_down(&r);
}

/* A record that was tampered with: typed, the data before it is handed over, and the server is told. */
static void a_tampered_record(void **state) {
  (void)state;
  struct rig r;
  char buf[16], text[512];
  set_up(&r);
  tk_say(&r.k, 0, "good", 4);
  tk_say(&r.k, 0, "evil", 4);
  r.k.conns[0].to_client.p[r.k.conns[0].to_client.n - 1] ^= 1;
  assert_int_equal(recv_once(&r, buf, sizeof buf), 4);
  assert_memory_equal(buf, "good", 4);
  assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, QWP_NEVER), QWP_READABLE);
  assert_int_equal(recv_once(&r, buf, sizeof buf), -EPROTO);
  assert_int_equal(tk_explained(&r.c, text, sizeof text), QWP_CONN_TLS);
  assert_non_null(strstr(text, "TLS: the protocol was broken: decryption failed or bad record mac"));
  tk_serve(&r.k, 0);
  assert_int_equal(ERR_GET_REASON((unsigned long)r.k.conns[0].server_error), SSL_R_SSLV3_ALERT_BAD_RECORD_MAC);
  tear_down(&r);
}

/* ---- we end it ----------------------------------------------------------------------------------------- */

static void shutdown_says_close_notify(void **state) {
  (void)state;
  struct rig r;
  char buf[16];
  set_up(&r);
  assert_int_equal(shut_down(&r), 0);
  assert_true(r.k.conns[0].client_fin);
  tk_serve(&r.k, 0);
  assert_true(r.k.conns[0].close_notify);
  assert_int_equal(shut_down(&r), 0); /* again: nothing more */
  assert_int_equal(tk_send_all(&r.c, "x", 1), -EPIPE);
  tk_say(&r.k, 0, "late", 4); /* the other half still stands */
  assert_int_equal(recv_once(&r, buf, sizeof buf), 4);
  tk_server_closes(&r.k, 0, true);
  assert_int_equal(recv_once(&r, buf, sizeof buf), 0);
  tear_down(&r);
}

/* close_notify stands behind what is pending, and the FIN behind both: later calls see to it. */
static void shutdown_behind_pending_ciphertext(void **state) {
  (void)state;
  struct rig r;
  char byte;
  set_up(&r);
  r.k.socket_bytes = 10;
  r.k.server_stopped = true;
  assert_int_equal(r.c.ops.net->send(r.c.ops.net_ctx, r.c.sock, "words", 5), -EAGAIN);
  assert_int_equal(shut_down(&r), 0);
  assert_false(r.k.conns[0].client_fin);
  assert_int_equal(recv_once(&r, &byte, 1), -EAGAIN);
  assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, 3), 0);
  assert_int_equal(r.k.waits[0], QWP_READABLE | QWP_WRITABLE);
  assert_false(r.k.conns[0].client_fin);
  r.k.server_stopped = false;
  for (int i = 0; i < 20 && !r.k.conns[0].client_fin; i++) {
    assert_int_equal(tk_client_wait(&r.c, QWP_READABLE, QWP_NEVER), QWP_READABLE);
    assert_int_equal(recv_once(&r, &byte, 1), -EAGAIN);
  }
  assert_true(r.k.conns[0].client_fin);
  tk_serve(&r.k, 0);
  assert_true(r.k.conns[0].close_notify);
  assert_int_equal(r.k.conns[0].plain.n, 10);
  assert_memory_equal(r.k.conns[0].plain.p, "hellowords", 10);
  tear_down(&r);
}

/* Our half is over, the server's is not: what asks for an answer does not end the reading. */
static void questions_behind_our_end(void **state) {
  (void)state;
  struct rig r;
  char buf[16];
  set_up(&r);
  assert_int_equal(shut_down(&r), 0);
  for (int i = 0; i < 2; i++) { /* OpenSSL answers a question at once only when one before it waits for an answer */
    tk_ask_key_update(&r.k, 0);
    assert_int_equal(recv_once(&r, buf, sizeof buf), -EAGAIN);
  }
  tk_say(&r.k, 0, "late", 4);
  assert_int_equal(recv_once(&r, buf, sizeof buf), 4);
  assert_int_equal(recv_once(&r, buf, sizeof buf), -EAGAIN);
  tear_down(&r);
}

static void shutdown_inside_the_handshake(void **state) {
  (void)state;
  struct tk k;
  tk_init(&k, &server);
  struct tk_client c = tk_client(&k, &any);
  tk_dial(&c, "db");
  assert_int_equal(c.ops.net->send(c.ops.net_ctx, c.sock, "x", 1), -EAGAIN);
  assert_int_equal(c.ops.net->shutdown(c.ops.net_ctx, c.sock), 0);
  assert_true(k.conns[0].client_fin);
  tk_client_free(&c);
  tk_free(&k);
}

/* ---- layers -------------------------------------------------------------------------------------------- */

static void what_layers_below_say(void **state) {
  (void)state;
  struct rig r;
  char buf[16], text[64];
  set_up(&r);
  r.c.ops.net->opened(r.c.ops.net_ctx, r.c.sock); /* nobody below to tell, nothing below to ask: fine */
  assert_int_equal(tk_explained(&r.c, text, sizeof text), QWP_OK);
  struct qwp_net_ops full = *r.k.ops.net;
  full.explain = tk_explain;
  full.opened = tk_opened;
  r.k.ops.net = &full;
  r.c.ops.net->opened(r.c.ops.net_ctx, r.c.sock);
  assert_true(r.k.conns[0].was_opened);
  assert_int_equal(tk_explained(&r.c, text, sizeof text), QWP_CONN_TIMEOUT);
  assert_string_equal(text, "as told below");
  tk_server_closes(&r.k, 0, false);
  assert_int_equal(recv_once(&r, buf, sizeof buf), 0);
  assert_int_equal(tk_explained(&r.c, text, sizeof text), QWP_CONN_LOST); /* what TLS knows goes first */
  assert_int_equal(strlen(text), sizeof text - 1);                        /* cut to the caller's room */
  tear_down(&r);
}

static void unknown_handles(void **state) {
  (void)state;
  struct rig r;
  set_up(&r);
  const struct qwp_net_ops *net = r.c.ops.net;
  char byte;
  assert_int_equal(net->send(r.c.ops.net_ctx, 7, "x", 1), -EBADF);
  assert_int_equal(net->recv(r.c.ops.net_ctx, 7, &byte, 1), -EBADF);
  assert_int_equal(net->shutdown(r.c.ops.net_ctx, 7), -EBADF);
  tear_down(&r);
}

static void connect_wants_a_host(void **state) {
  (void)state;
  struct tk k;
  tk_init(&k, &server);
  struct tk_client c = tk_client(&k, &any);
  struct qwp_addr addr = {.host = NULL};
  qwp_sock sock;
  assert_int_equal(c.ops.net->connect(c.ops.net_ctx, &addr, &sock), -EINVAL);
  assert_int_equal(sock, -1);
  assert_int_equal(k.count, 0);
  tk_client_free(&c);
  tk_free(&k);
}

static void a_connect_in_progress(void **state) {
  (void)state;
  struct tk k;
  tk_init(&k, &server);
  k.in_progress = true;
  struct tk_client c = tk_client(&k, &any);
  struct qwp_addr addr = {.host = "db"};
  assert_int_equal(c.ops.net->connect(c.ops.net_ctx, &addr, &c.sock), -EINPROGRESS);
  assert_int_equal(c.sock, TK_SOCK); /* the handle of the table below */
  assert_int_equal(c.ops.net->connected(c.ops.net_ctx, c.sock), 0);
  assert_int_equal(tk_send_all(&c, "x", 1), 0);
  tk_client_free(&c);
  tk_free(&k);
}

/* ---- memory, and other users of OpenSSL -------------------------------------------------------------------- */

static void a_connection_without_memory(void **state) {
  (void)state;
  struct tk k;
  tk_init(&k, &server);
  struct tk_client c = tk_client(&k, &any);
  struct qwp_addr addr = {.host = "db"};
  k.mem.fail_at = k.mem.calls + 1;
  assert_int_equal(c.ops.net->connect(c.ops.net_ctx, &addr, &c.sock), -ENOMEM);
  assert_int_equal(c.sock, -1);
  assert_false(k.conns[0].open); /* the one below was let go */
  k.mem.fail_at = 0;
  uint64_t before = k.mem.calls;
  tk_dial(&c, "db");
  assert_int_equal(k.mem.calls - before, 1);
  assert_int_equal(tk_send_all(&c, "x", 1), 0);
  assert_int_equal(k.mem.calls - before, 1); /* moving bytes takes none */
  tk_client_free(&c);
  tk_free(&k);
}

/* A table that goes closes what is left. */
static void left_open(void **state) {
  (void)state;
  struct rig r;
  set_up(&r);
  r.c.sock = -1;
  tk_dial(&r.c, "db");
  r.c.sock = -1;
  tear_down(&r);
}

/* Entries that another user of OpenSSL has left in the thread's queue change nothing. */
static void foreign_errors(void **state) {
  (void)state;
  struct rig r;
  char buf[16];
  set_up(&r);
  for (int i = 0; i < 4; i++) {
    ERR_raise(ERR_LIB_SSL, SSL_R_BAD_PACKET);
    if (i == 0) assert_int_equal(recv_once(&r, buf, sizeof buf), -EAGAIN);
    if (i == 1) assert_int_equal(tk_send_all(&r.c, "x", 1), 0);
    if (i == 2) assert_int_equal(shut_down(&r), 0);
    if (i == 3) tk_hang_up(&r.c);
  }
  tk_dial(&r.c, "db");
  ERR_raise(ERR_LIB_SSL, SSL_R_BAD_PACKET);
  assert_int_equal(tk_send_all(&r.c, "x", 1), 0);
  ERR_clear_error();
  tear_down(&r);
}

static int make_server(void **state) {
  (void)state;
  server = tk_issue(NULL, &(struct tk_claim){.names = "DNS:db"});
  return 0;
}

static int drop_server(void **state) {
  (void)state;
  tk_forget(&server);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_connect_in_progress),
      cmocka_unit_test(a_connection_without_memory),
      cmocka_unit_test(a_tampered_record),
      cmocka_unit_test(an_alert),
      cmocka_unit_test(close_notify),
      cmocka_unit_test(connect_wants_a_host),
      cmocka_unit_test(end_inside_a_record),
      cmocka_unit_test(end_without_close_notify),
      cmocka_unit_test(foreign_errors),
      cmocka_unit_test(left_open),
      cmocka_unit_test(questions_behind_our_end),
      cmocka_unit_test(shutdown_behind_pending_ciphertext),
      cmocka_unit_test(shutdown_inside_the_handshake),
      cmocka_unit_test(shutdown_says_close_notify),
      cmocka_unit_test(unknown_handles),
      cmocka_unit_test(what_layers_below_say),
  };
  return cmocka_run_group_tests(tests, make_server, drop_server);
}
