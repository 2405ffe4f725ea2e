/* What a server may say and how: every way the bytes can arrive, fragments, violations, ends. */
#include "ws_fixture.h"

/* ---- every way the bytes can arrive --------------------------------------------------- */

/* A plain message, a fragmented one (5, 0, rest) with ping, pong and ping between, an
 * empty one, a long one (WS-004, CASE-47). */
static struct fx_bytes conversation(void) {
  struct fx_bytes b = {0};
  uint8_t large[300];
  memset(large, 'L', sizeof large);
  fx_put_frame(&b, 0x82, "plain", 5);
  fx_put_frame(&b, 0x02, "12345", 5);
  fx_put_frame(&b, 0x89, "p1", 2);
  fx_put_frame(&b, 0x00, "", 0);
  fx_put_frame(&b, 0x8A, "unsolicited", 11);
  fx_put_frame(&b, 0x89, "p2", 2);
  fx_put_frame(&b, 0x80, "6789", 4);
  fx_put_frame(&b, 0x82, "", 0);
  fx_put_frame(&b, 0x82, large, sizeof large);
  return b;
}

static struct fx_bytes expected_messages(void) {
  struct fx_messages m = {0};
  uint8_t large[300];
  memset(large, 'L', sizeof large);
  fx_on_message(&m, QWP_WS_BINARY, (const uint8_t *)"plain", 5);
  fx_on_message(&m, QWP_WS_BINARY, (const uint8_t *)"123456789", 9);
  fx_on_message(&m, QWP_WS_BINARY, (const uint8_t *)"", 0);
  fx_on_message(&m, QWP_WS_BINARY, large, sizeof large);
  return m.all;
}

/* chunk 0: cut once at `cut`; else chunks of that size. */
static void converse(const struct fx_bytes *in, const struct fx_bytes *out, size_t chunk, size_t cut) {
  struct fx fx;
  struct fx_messages m = {0};
  fx_new(&fx);
  fx_open(&fx);
  size_t pongs = 0;
  for (size_t at = 0; at < in->n;) {
    size_t n = chunk ? chunk : at == 0 && cut ? cut : in->n - at;
    if (n > in->n - at) n = in->n - at;
    sn_feed(&fx.sn, in->p + at, n);
    at += n;
    assert_int_equal(fx_receive_all(&fx, &m, NULL), QWP_AGAIN);
    if (!qwp_ws_control_pending(fx.ws)) continue;
    pongs++;
    assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_OK);
  }
  assert_int_equal(m.count, 4);
  assert_int_equal(m.all.n, out->n);
  assert_memory_equal(m.all.p, out->p, out->n);
  assert_int_equal(qwp_ws_counters(fx.ws)->pings, 2);
  /* One pong for each ping, or one for the last when both came in one read [WS-005]. */
  assert_int_equal(fx.sn.out_len, pongs * 8);
  struct fx_frame last = fx_read_frame(fx.sn.out + fx.sn.out_len - 8, 8);
  assert_int_equal(last.opcode, QWP_WS_PONG);
  assert_memory_equal(last.payload, "p2", 2);
  if (chunk == 1) assert_int_equal(pongs, 2);
  free(last.payload);
  free(m.all.p);
  fx_del(&fx);
}

static void every_way_the_bytes_can_arrive(void **state) {
  (void)state;
  struct fx_bytes in = conversation(), out = expected_messages();
  for (size_t cut = 0; cut < in.n; cut++) converse(&in, &out, 0, cut);
  for (size_t chunk = 1; chunk <= 20; chunk++) converse(&in, &out, chunk, 0);
  free(in.p);
  free(out.p);
}

static void a_message_in_one_byte_fragments(void **state) {
  (void)state;
  struct fx fx;
  struct fx_messages m = {0};
  fx_new(&fx);
  fx_open(&fx);
  struct fx_bytes b = {0};
  for (size_t i = 0; i < 11; i++) {
    fx_put_frame(&b, i == 0 ? 0x02 : i == 10 ? 0x80 : 0x00, &"abcdefghijk"[i], 1);
    if (i == 5) fx_put_frame(&b, 0x89, "", 0);
  }
  sn_feed(&fx.sn, b.p, b.n);
  assert_int_equal(fx_receive_all(&fx, &m, NULL), QWP_AGAIN);
  assert_int_equal(m.count, 1);
  assert_int_equal(m.all.n, 5 + 11);
  assert_memory_equal(m.all.p + 5, "abcdefghijk", 11);
  /* A second one is itself, without the first. */
  sn_feed(&fx.sn, b.p, b.n);
  assert_int_equal(fx_receive_all(&fx, &m, NULL), QWP_AGAIN);
  assert_int_equal(m.count, 2);
  assert_int_equal(m.all.n, 2 * (5 + 11));
  assert_memory_equal(m.all.p + 5 + 11 + 5, "abcdefghijk", 11);
  /* An unfinished message does not outlive its connection. */
  fx_put_frame(&b, 0x02, "old", 3);
  sn_feed(&fx.sn, b.p + b.n - 5, 5);
  assert_int_equal(fx_receive_all(&fx, &m, NULL), QWP_AGAIN);
  qwp_ws_close(fx.ws);
  fx_open(&fx);
  fx_feed_frame(&fx, 0x82, 1);
  assert_int_equal(fx_receive_all(&fx, &m, NULL), QWP_AGAIN);
  assert_int_equal(m.count, 3);
  free(b.p);
  free(m.all.p);
  fx_del(&fx);
}

/* ---- ends -------------------------------------------------------------------------- */

static void violations(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t n;
    unsigned answer;
  } cases[] = {
      {"\xC2\x00", 2, 1002}, {"\xA2\x00", 2, 1002}, {"\x92\x00", 2, 1002}, /* reserved bits */
      {"\x83\x00", 2, 1002}, {"\x8B\x00", 2, 1002},                        /* reserved opcodes */
      {"\x80\x00", 2, 1002},                                               /* continuation of nothing */
      {"\x02\x00\x82\x00", 4, 1002}, {"\x02\x00\x02\x00", 4, 1002},        /* a message inside a message */
      {"\x09\x00", 2, 1002}, {"\x89\x7E\x00\x7E", 4, 1002},                /* fragmented, long control frames */
      {"\x82\x7E\x00\x05", 4, 1002},                                       /* length not in its shortest form */
      {"\x82\x7F\x80\x00\x00\x00\x00\x00\x00\x00", 10, 1002},              /* 2^63 */
      {"\x82\x7F\x00\x00\x00\x00\x80\x00\x00\x00", 10, 1009},              /* 2^31 */
      {"\x82\x7F\x00\x00\x00\x01\x00\x00\x00\x0A", 10, 1009},              /* 2^32 + 10 */
      {"\x82\x81\x01\x02\x03\x04\x00", 7, 1002},                           /* masked [WS-001] */
      {"\x88\x01\x03", 3, 1002},                                           /* Close of one byte */
      {"\x88\x02\x00\x00", 4, 1002}, {"\x88\x02\x03\xE7", 4, 1002},        /* 0, 999 */
      {"\x88\x02\x03\xEC", 4, 1002}, {"\x88\x02\x03\xED", 4, 1002},        /* 1004, 1005 */
      {"\x88\x02\x03\xEE", 4, 1002}, {"\x88\x02\x03\xF7", 4, 1002},        /* 1006, 1015 */
      {"\x88\x02\x03\xF8", 4, 1002}, {"\x88\x02\x0B\xB7", 4, 1002},        /* 1016, 2999 */
      {"\x88\x02\x13\x88", 4, 1002},                                       /* 5000 */
      {"\x88\x04\x03\xE8\xC0\x80", 6, 1007}, {"\x88\x03\x03\xE8\xFF", 5, 1007}, /* reason is not UTF-8 */
      {"\x88\x05\x03\xE8\xED\xA0\x80", 7, 1007}, {"\x88\x06\x03\xE8\xF4\x90\x80\x80", 8, 1007},
      {"\x88\x04\x03\xE8\xE2\x82", 6, 1007},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct fx fx;
    struct fx_messages m = {0};
    struct qwp_error err;
    fx_new(&fx);
    fx_open(&fx);
    sn_feed(&fx.sn, cases[i].bytes, cases[i].n);
    enum qwp_status st = fx_receive_all(&fx, &m, &err);
    if (st != QWP_CONN_PROTOCOL) fail_msg("case %zu: %s", i, qwp_status_name(st));
    assert_int_equal(err.code, QWP_CONN_PROTOCOL);
    assert_int_equal(m.count, 0);
    assert_int_equal(qwp_ws_counters(fx.ws)->rx_capacity, 65536); /* CASE-48 */
    struct fx_frame close = fx_read_frame(fx.sn.out, fx.sn.out_len);
    assert_int_equal(close.opcode, QWP_WS_CLOSE);
    assert_int_equal(close.payload[0] << 8 | close.payload[1], cases[i].answer);
    assert_int_equal(close.wire_bytes, fx.sn.out_len);
    free(close.payload);
    fx_del(&fx);
  }
}

/* Fragments are bounded as one frame is. */
static void fragments_over_the_limit(void **state) {
  (void)state;
  struct fx fx;
  struct fx_messages m = {0};
  struct qwp_error err;
  fx_new(&fx);
  fx.config.rx_max_bytes = 70000;
  qwp_ws_del(fx.ws);
  fx.ws = qwp_ws_new(&fx.sn.ops, &fx.config);
  fx_open(&fx);
  fx_feed_frame(&fx, 0x02, 35000);
  fx_feed_frame(&fx, 0x80, 35000);
  assert_int_equal(fx_receive_all(&fx, &m, &err), QWP_AGAIN);
  assert_int_equal(m.count, 1);
  fx_feed_frame(&fx, 0x02, 35000);
  fx_feed_frame(&fx, 0x00, 35001);
  assert_int_equal(fx_receive_all(&fx, &m, &err), QWP_CONN_PROTOCOL);
  free(m.all.p);
  fx_del(&fx);
}

static void a_close_is_echoed(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t n;
    int code;
    const char *text;
  } cases[] = {
      {"\x88\x00", 2, 1005, "the server closed the connection with code 1005"},
      {"\x88\x02\x03\xE8", 4, 1000, "the server closed the connection with code 1000"},
      {"\x88\x07\x03\xF1too\nb", 9, 1009, "the server closed the connection with code 1009: too b"},
      {"\x88\x05\x13\x87\xE2\x82\xAC", 7, 4999, "the server closed the connection with code 4999: \xE2\x82\xAC"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct fx fx;
    struct fx_messages m = {0};
    struct qwp_error err;
    fx_new(&fx);
    fx_open(&fx);
    fx_feed_frame(&fx, 0x82, 7); /* what came before it is handed over first */
    sn_feed(&fx.sn, cases[i].bytes, cases[i].n);
    assert_int_equal(fx_receive_all(&fx, &m, &err), QWP_CONN_CLOSED);
    assert_int_equal(m.count, 1);
    assert_int_equal(err.close_code, cases[i].code);
    assert_string_equal(err.text, cases[i].text);
    struct fx_frame echo = fx_read_frame(fx.sn.out, fx.sn.out_len);
    assert_int_equal(echo.opcode, QWP_WS_CLOSE);
    assert_int_equal(echo.n, cases[i].code == 1005 ? 0 : 2);
    assert_memory_equal(echo.payload, cases[i].bytes + 2, echo.n);
    assert_int_equal(echo.wire_bytes, fx.sn.out_len);
    free(echo.payload);
    free(m.all.p);
    fx_del(&fx);
  }
}

/* No echo into a half-sent frame, none behind our own Close, none into a full socket. */
static void when_a_close_is_not_echoed(void **state) {
  (void)state;
  struct fx_messages m = {0};
  struct fx fx;
  fx_new(&fx);
  fx_open(&fx);
  uint8_t payload[100] = {0};
  assert_int_equal(qwp_ws_append(fx.ws, QWP_WS_BINARY, payload, sizeof payload, NULL), QWP_OK);
  fx.sn.sends = SN_SCRIPT(50, -EAGAIN);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_AGAIN);
  sn_feed(&fx.sn, "\x88\x00", 2);
  assert_int_equal(fx_receive_all(&fx, &m, NULL), QWP_CONN_CLOSED);
  assert_int_equal(fx.sn.out_len, 50);
  qwp_ws_close(fx.ws);

  fx.sn.out_len = 0;
  fx_open(&fx);
  assert_int_equal(qwp_ws_send_close(fx.ws, 1000), QWP_OK);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_OK);
  sn_feed(&fx.sn, "\x88\x02\x03\xE8", 4);
  assert_int_equal(fx_receive_all(&fx, &m, NULL), QWP_CONN_CLOSED);
  assert_int_equal(fx.sn.out_len, 8);
  qwp_ws_close(fx.ws);

  fx.sn.out_len = 0;
  fx_open(&fx);
  fx.sn.sends = SN_SCRIPT(-EAGAIN);
  sn_feed(&fx.sn, "\x88\x02\x03\xE8", 4);
  assert_int_equal(fx_receive_all(&fx, &m, NULL), QWP_CONN_CLOSED);
  assert_int_equal(fx.sn.out_len, 0);
  assert_int_equal(sn_count(&fx.sn, 's'), 1);
  fx_del(&fx);
}

static void how_a_connection_ends(void **state) {
  (void)state;
  struct fx fx;
  struct fx_messages m = {0};
  struct qwp_error err;
  fx_new(&fx);
  fx_open(&fx);
  fx.sn.recvs = SN_SCRIPT(-ECONNRESET);
  assert_int_equal(fx_receive_all(&fx, &m, &err), QWP_CONN_LOST);
  assert_int_equal(err.sys_errno, ECONNRESET);
  qwp_ws_close(fx.ws);

  fx_open(&fx);
  fx_feed_frame(&fx, 0x82, 3); /* what arrived before the end is handed over (CASE-08) */
  sn_feed(&fx.sn, "\x82", 1);
  fx.sn.in_ended = true;
  assert_int_equal(fx_receive_all(&fx, &m, &err), QWP_CONN_LOST);
  assert_int_equal(err.sys_errno, 0);
  assert_int_equal(m.count, 1);
  free(m.all.p);
  fx_del(&fx);
}

static void out_of_memory_while_receiving(void **state) {
  (void)state;
  struct fx fx;
  struct fx_messages m = {0};
  struct qwp_error err;
  fx_new(&fx);
  fx_open(&fx);
  fx_feed_frame(&fx, 0x02, 100);
  fx.sn.fail_alloc = 1; /* joining */
  assert_int_equal(fx_receive_all(&fx, &m, &err), QWP_NOMEM);
  qwp_ws_close(fx.ws);
  fx.sn.in_len = fx.sn.in_at;
  fx_open(&fx);
  fx_feed_frame(&fx, 0x82, 100000);
  fx.sn.fail_alloc = 1; /* growing */
  assert_int_equal(fx_receive_all(&fx, &m, &err), QWP_NOMEM);
  fx_del(&fx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_way_the_bytes_can_arrive),
      cmocka_unit_test(a_message_in_one_byte_fragments),
      cmocka_unit_test(violations),
      cmocka_unit_test(fragments_over_the_limit),
      cmocka_unit_test(a_close_is_echoed),
      cmocka_unit_test(when_a_close_is_not_echoed),
      cmocka_unit_test(how_a_connection_ends),
      cmocka_unit_test(out_of_memory_while_receiving),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
