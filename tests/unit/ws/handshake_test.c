/* From connect to OPEN over a scripted net: order, deadlines, refusals, what is kept. */
#include "ws_fixture.h"

static void request_in_one_write_and_nothing_before_the_101(void **state) {
  (void)state;
  struct fx fx;
  fx_new(&fx);
  fx_request(&fx);
  assert_int_equal(sn_count(&fx.sn, 's'), 1);
  assert_int_equal(qwp_ws_state(fx.ws), QWP_WS_UPGRADING);
  assert_int_equal(qwp_ws_append(fx.ws, QWP_WS_BINARY, (const uint8_t *)"x", 1, NULL), QWP_MISUSE);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_MISUSE);
  assert_memory_equal(fx.sn.out + fx.sn.out_len - 4, "\r\n\r\n", 4);
  fx_del(&fx);
}

static void connect_in_progress_then_short_request(void **state) {
  (void)state;
  struct fx fx;
  fx_new(&fx);
  fx.sn.connect_result = -EINPROGRESS;
  fx.sn.connects = SN_SCRIPT(-EINPROGRESS, 0);
  fx.sn.sends = SN_SCRIPT(10, -EAGAIN, -EINTR, 20);
  fx.config.connect_timeout_ns = 500;
  unsigned interest;
  int64_t deadline;
  assert_int_equal(qwp_ws_open(fx.ws, &fx_addr, "h", 1000, NULL), QWP_OK);
  assert_int_equal(qwp_ws_state(fx.ws), QWP_WS_CONNECTING);
  assert_int_equal(qwp_ws_handshake(fx.ws, 1100, &interest, &deadline, NULL), QWP_AGAIN);
  assert_int_equal(interest, QWP_WRITABLE);
  assert_int_equal(deadline, 1500);
  assert_int_equal(qwp_ws_handshake(fx.ws, 1200, &interest, &deadline, NULL), QWP_AGAIN);
  assert_int_equal(interest, QWP_WRITABLE);
  assert_int_equal(qwp_ws_handshake(fx.ws, 1300, &interest, &deadline, NULL), QWP_AGAIN);
  assert_int_equal(interest, QWP_READABLE);
  assert_int_equal(deadline, 1300 + fx.config.auth_timeout_ns); /* from the request's last byte */
  assert_memory_equal(fx.sn.out, "GET /write/v4 HTTP/1.1\r\n", 24);
  assert_memory_equal(fx.sn.out + fx.sn.out_len - 4, "\r\n\r\n", 4);
  fx_del(&fx);
}

static void the_deadlines(void **state) {
  (void)state;
  struct fx fx;
  struct qwp_error err;
  unsigned interest;
  int64_t deadline;
  fx_new(&fx);
  fx.sn.connect_result = -EINPROGRESS;
  fx.sn.connects = SN_SCRIPT(-EINPROGRESS, -EINPROGRESS, 0);
  fx.config.connect_timeout_ns = 500;
  assert_int_equal(qwp_ws_open(fx.ws, &fx_addr, "h", 1000, NULL), QWP_OK);
  assert_int_equal(qwp_ws_handshake(fx.ws, 1499, &interest, &deadline, &err), QWP_AGAIN);
  assert_int_equal(qwp_ws_handshake(fx.ws, 1500, &interest, &deadline, &err), QWP_CONN_TIMEOUT);
  assert_int_equal(qwp_ws_state(fx.ws), QWP_WS_CLOSED);
  assert_int_equal(fx.sn.sockets, 0);

  /* A peer that trickles its answer does not move the deadline. */
  const int64_t auth = fx.config.auth_timeout_ns;
  assert_int_equal(qwp_ws_open(fx.ws, &fx_addr, "h", 2000, NULL), QWP_OK);
  assert_int_equal(qwp_ws_handshake(fx.ws, 2000, &interest, &deadline, &err), QWP_AGAIN);
  sn_feed(&fx.sn, "HTTP/1.1 101", 12);
  assert_int_equal(qwp_ws_handshake(fx.ws, 2000 + auth - 1, &interest, &deadline, &err), QWP_AGAIN);
  assert_int_equal(deadline, 2000 + auth);
  sn_feed(&fx.sn, " ", 1);
  assert_int_equal(qwp_ws_handshake(fx.ws, 2000 + auth, &interest, &deadline, &err), QWP_CONN_TIMEOUT);
  assert_int_equal(err.code, QWP_CONN_TIMEOUT);
  assert_int_equal(qwp_ws_state(fx.ws), QWP_WS_CLOSED);
  fx_del(&fx);
}

static void an_answer_in_time_wins_over_the_deadline(void **state) {
  (void)state;
  struct fx fx;
  char head[1024];
  fx_new(&fx);
  fx_request(&fx);
  sn_feed(&fx.sn, head, fx_101(&fx, "X-QWP-Max-Batch-Size: 4096\r\nX-QuestDB-Role: STANDALONE\r\n", head, sizeof head));
  fx.sn.now_ns += fx.config.auth_timeout_ns;
  assert_int_equal(fx_handshake(&fx, NULL), QWP_OK);
  assert_int_equal(qwp_ws_peer(fx.ws)->version, 1);
  assert_int_equal(qwp_ws_peer(fx.ws)->max_batch, 4096);
  assert_string_equal(qwp_ws_peer(fx.ws)->role, "STANDALONE");
  fx_del(&fx);
}

static void refusals(void **state) {
  (void)state;
  static const struct {
    const char *answer;
    enum qwp_status code;
    int http_status;
    const char *role;
  } cases[] = {
      {"HTTP/1.1 401 Unauthorized\r\n\r\n", QWP_AUTH, 401, ""},
      {"HTTP/1.1 403 Forbidden\r\n\r\n", QWP_AUTH, 403, ""},
      {"HTTP/1.1 421 Misdirected Request\r\nX-QuestDB-Role: REPLICA\r\n\r\n", QWP_CONN_ROLE, 421, "REPLICA"},
      {"HTTP/1.1 421 Misdirected Request\r\n\r\n", QWP_CONN_UPGRADE, 421, ""},
      {"HTTP/1.1 404 Not Found\r\n\r\n", QWP_CONN_UPGRADE, 404, ""},
      {"HTTP/1.1 426 Upgrade Required\r\n\r\n", QWP_CONN_UPGRADE, 426, ""},
      {"HTTP/1.1 503 Service Unavailable\r\nX-QuestDB-Role: PRIMARY\r\n\r\n", QWP_CONN_UPGRADE, 503, "PRIMARY"},
      {"HTTP/1.1 200 OK\r\n\r\n", QWP_CONN_UPGRADE, 200, ""},
      {"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", QWP_CONN_UPGRADE, 101, ""},
      {"SSH-2.0-OpenSSH\r\n", QWP_CONN_UPGRADE, 0, ""},
  };
  struct fx fx;
  fx_new(&fx);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct qwp_error err;
    fx_request(&fx);
    sn_feed(&fx.sn, cases[i].answer, strlen(cases[i].answer));
    assert_int_equal(fx_handshake(&fx, &err), cases[i].code);
    assert_int_equal(err.code, cases[i].code);
    assert_int_equal(err.http_status, cases[i].http_status);
    assert_string_equal(qwp_ws_peer(fx.ws)->role, cases[i].role);
    assert_int_equal(qwp_ws_state(fx.ws), QWP_WS_CLOSED);
    assert_int_equal(fx.sn.sockets, 0);
  }
  fx_del(&fx);
}

static void a_wrong_version_is_an_upgrade_error(void **state) {
  (void)state;
  static const char *const versions[] = {"0", "2", "abc"};
  struct fx fx;
  fx_new(&fx);
  for (size_t i = 0; i < 3; i++) {
    char more[64], head[1024];
    struct qwp_error err;
    fx_request(&fx);
    snprintf(more, sizeof more, "X-QWP-Version: %s\r\n", versions[i]);
    sn_feed(&fx.sn, head, fx_101(&fx, more, head, sizeof head));
    assert_int_equal(fx_handshake(&fx, &err), QWP_CONN_UPGRADE);
    assert_int_equal(err.http_status, 101);
  }
  fx_del(&fx);
}

static void dead_before_the_answer(void **state) {
  (void)state;
  struct fx fx;
  struct qwp_error err;
  fx_new(&fx);
  fx.sn.connect_result = -ECONNREFUSED;
  assert_int_equal(qwp_ws_open(fx.ws, &fx_addr, "h", 0, &err), QWP_CONN_LOST);
  assert_int_equal(err.sys_errno, ECONNREFUSED);
  assert_int_equal(qwp_ws_state(fx.ws), QWP_WS_CLOSED);
  assert_int_equal(qwp_ws_sock(fx.ws), -1);

  fx.sn.connect_result = -EINPROGRESS;
  fx.sn.connects = SN_SCRIPT(-ETIMEDOUT);
  assert_int_equal(qwp_ws_open(fx.ws, &fx_addr, "h", 0, &err), QWP_OK);
  assert_int_equal(fx_handshake(&fx, &err), QWP_CONN_LOST);
  assert_int_equal(err.sys_errno, ETIMEDOUT);

  fx.sn.connect_result = 0;
  fx.sn.sends = SN_SCRIPT(-EPIPE);
  assert_int_equal(qwp_ws_open(fx.ws, &fx_addr, "h", 0, &err), QWP_OK);
  assert_int_equal(fx_handshake(&fx, &err), QWP_CONN_LOST);
  assert_int_equal(err.sys_errno, EPIPE);

  fx_request(&fx); /* nothing is left over of the request that failed */
  fx.sn.in_ended = true;
  assert_int_equal(fx_handshake(&fx, &err), QWP_CONN_LOST);
  assert_int_equal(err.sys_errno, 0);
  assert_int_equal(fx.sn.sockets, 0);
  fx_del(&fx);
}

static qwp_sock told;
static int times_told;

static void note_opened(void *ctx, qwp_sock sock) {
  (void)ctx;
  told = sock;
  times_told++;
}

/* The layers below hear once a connection that the 101 has been taken, and only then. */
static void layers_hear_of_the_101(void **state) {
  (void)state;
  struct fx fx;
  fx_new(&fx);
  struct qwp_net_ops net = *fx.sn.ops.net;
  net.opened = note_opened;
  fx.sn.ops.net = &net;
  char answer[512];
  times_told = 0;
  fx_request(&fx);
  size_t n = fx_101(&fx, "", answer, sizeof answer);
  sn_feed(&fx.sn, answer, n - 1);
  unsigned interest;
  int64_t deadline;
  assert_int_equal(qwp_ws_handshake(fx.ws, 1000, &interest, &deadline, NULL), QWP_AGAIN);
  assert_int_equal(times_told, 0);
  sn_feed(&fx.sn, answer + n - 1, 1);
  assert_int_equal(qwp_ws_handshake(fx.ws, 1000, &interest, &deadline, NULL), QWP_OK);
  assert_int_equal(times_told, 1);
  assert_int_equal(told, qwp_ws_sock(fx.ws));
  assert_int_equal(qwp_ws_handshake(fx.ws, 1000, &interest, &deadline, NULL), QWP_OK);
  assert_int_equal(times_told, 1);

  qwp_ws_close(fx.ws);
  fx_request(&fx);
  sn_feed(&fx.sn, "HTTP/1.1 404 No\r\n\r\n", 19);
  assert_int_equal(qwp_ws_handshake(fx.ws, 1000, &interest, &deadline, NULL), QWP_CONN_UPGRADE);
  assert_int_equal(times_told, 1);
  fx_del(&fx);
}

static enum qwp_status explain_tls(void *ctx, qwp_sock sock, char *text, size_t n) {
  (void)ctx;
  assert_int_equal(sock, 7); /* still open */
  snprintf(text, n, "TLS: as it is");
  return QWP_CONN_TLS;
}

static enum qwp_status explain_nothing(void *ctx, qwp_sock sock, char *text, size_t n) {
  (void)ctx;
  (void)sock;
  (void)text;
  (void)n;
  return QWP_OK;
}

/* What a layer below can explain has its sentence and its status, else the errno speaks. */
static void layers_explain(void **state) {
  (void)state;
  for (int explained = 0; explained < 2; explained++) {
    for (int end = 0; end < 3; end++) { /* a failed send, a failed recv, the end of the stream */
      struct fx fx;
      struct qwp_error err;
      unsigned interest;
      int64_t deadline;
      fx_new(&fx);
      struct qwp_net_ops net = *fx.sn.ops.net;
      net.explain = explained ? explain_tls : explain_nothing;
      fx.sn.ops.net = &net;
      static const long fails[] = {-EPROTO};
      const struct sn_script once = {.results = fails, .count = 1};
      if (end == 0) fx.sn.sends = once;
      if (end == 1) fx.sn.recvs = once;
      fx.sn.in_ended = end == 2;
      assert_int_equal(qwp_ws_open(fx.ws, &fx_addr, "h", 1000, NULL), QWP_OK);
      enum qwp_status st = qwp_ws_handshake(fx.ws, 1000, &interest, &deadline, &err);
      assert_int_equal(st, explained ? QWP_CONN_TLS : QWP_CONN_LOST);
      assert_int_equal(err.code, st);
      assert_int_equal(err.sys_errno, end == 2 ? 0 : EPROTO);
      if (explained) assert_string_equal(err.text, "TLS: as it is");
      else assert_null(strstr(err.text, "TLS"));
      fx_del(&fx);
    }
  }
}

static enum qwp_status no_message(void *ctx, unsigned opcode, const uint8_t *payload, size_t n) {
  (void)ctx;
  (void)opcode;
  (void)payload;
  (void)n;
  return QWP_MISUSE;
}

/* So do they of a connection that is open. */
static void layers_explain_a_lost_connection(void **state) {
  (void)state;
  for (int end = 0; end < 4; end++) {
    struct fx fx;
    struct qwp_error err;
    fx_new(&fx);
    struct qwp_net_ops net = *fx.sn.ops.net;
    net.explain = explain_tls;
    fx.sn.ops.net = &net;
    fx_open(&fx);
    enum qwp_status st = QWP_OK;
    fx.sn.sends = SN_SCRIPT(-EPROTO);
    fx.sn.recvs = SN_SCRIPT(-EPROTO);
    assert_int_equal(qwp_ws_append(fx.ws, QWP_WS_BINARY, (const uint8_t *)"x", 1, NULL), QWP_OK);
    if (end == 0) st = qwp_ws_flush(fx.ws, &err);
    if (end == 1) st = qwp_ws_flush_wait(fx.ws, 1, &err);
    if (end == 2) st = qwp_ws_receive(fx.ws, no_message, NULL, &err);
    if (end == 3) st = qwp_ws_receive_wait(fx.ws, 1, no_message, NULL, &err);
    assert_int_equal(st, QWP_CONN_TLS);
    assert_string_equal(err.text, "TLS: as it is");
    assert_int_equal(err.sys_errno, EPROTO);
    fx_del(&fx);
  }
}

static void no_entropy_no_connection(void **state) {
  (void)state;
  struct fx fx;
  struct qwp_error err;
  fx_new(&fx);
  fx.sn.entropy_result = -EIO;
  assert_int_equal(qwp_ws_open(fx.ws, &fx_addr, "h", 0, &err), QWP_CONN_LOST);
  assert_int_equal(err.sys_errno, EIO);
  assert_int_equal(sn_count(&fx.sn, 'c'), 0);
  fx_del(&fx);
}

static void out_of_memory_at_each_allocation(void **state) {
  (void)state;
  struct fx fx;
  struct qwp_error err;
  fx_new(&fx);
  fx.sn.fail_alloc = 1; /* the request */
  assert_int_equal(qwp_ws_open(fx.ws, &fx_addr, "h", 0, &err), QWP_NOMEM);
  assert_int_equal(qwp_ws_state(fx.ws), QWP_WS_CLOSED);
  assert_int_equal(qwp_ws_open(fx.ws, &fx_addr, "h", 0, &err), QWP_OK);
  fx.sn.fail_alloc = 1; /* the receive buffer */
  assert_int_equal(fx_handshake(&fx, &err), QWP_NOMEM);
  assert_int_equal(qwp_ws_state(fx.ws), QWP_WS_CLOSED);
  fx.sn.fail_alloc = 0;
  fx_open(&fx);
  fx_del(&fx);
}

/* UPG-RSP-008, CASE-50, CASE-51, P121-47: head and first frame in one chunk, cut at every
 * byte, and byte by byte: the frame is handed over each time. */
static void bytes_behind_the_101_are_frames(void **state) {
  (void)state;
  for (size_t cut = 0;; cut++) { /* 0: byte by byte */
    struct fx fx;
    fx_new(&fx);
    fx_request(&fx);
    char head[1024];
    struct fx_bytes all = {0};
    fx_put(&all, head, fx_101(&fx, "", head, sizeof head));
    size_t head_bytes = all.n;
    fx_put_frame(&all, 0x82, "first", 5);
    if (cut > all.n) {
      free(all.p);
      fx_del(&fx);
      break;
    }
    struct fx_messages m = {0};
    for (size_t at = 0; at < all.n;) {
      size_t n = cut == 0 ? 1 : at == 0 ? cut : all.n - at;
      sn_feed(&fx.sn, all.p + at, n);
      at += n;
      if (qwp_ws_state(fx.ws) == QWP_WS_OPEN) continue;
      assert_int_equal(fx_handshake(&fx, NULL), at < head_bytes ? QWP_AGAIN : QWP_OK);
    }
    size_t reads = sn_count(&fx.sn, 'r');
    assert_int_equal(qwp_ws_receive(fx.ws, fx_on_message, &m, NULL), QWP_OK);
    /* In the buffer already: no recv. */
    if (cut == all.n) assert_int_equal(sn_count(&fx.sn, 'r'), reads);
    assert_int_equal(m.count, 1);
    assert_memory_equal(m.all.p + 5, "first", 5);
    assert_int_equal(fx_receive_all(&fx, &m, NULL), QWP_AGAIN);
    assert_int_equal(m.count, 1);
    free(all.p);
    free(m.all.p);
    fx_del(&fx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(request_in_one_write_and_nothing_before_the_101),
      cmocka_unit_test(connect_in_progress_then_short_request),
      cmocka_unit_test(the_deadlines),
      cmocka_unit_test(an_answer_in_time_wins_over_the_deadline),
      cmocka_unit_test(refusals),
      cmocka_unit_test(a_wrong_version_is_an_upgrade_error),
      cmocka_unit_test(dead_before_the_answer),
      cmocka_unit_test(layers_explain),
      cmocka_unit_test(layers_explain_a_lost_connection),
      cmocka_unit_test(layers_hear_of_the_101),
      cmocka_unit_test(no_entropy_no_connection),
      cmocka_unit_test(out_of_memory_at_each_allocation),
      cmocka_unit_test(bytes_behind_the_101_are_frames),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
