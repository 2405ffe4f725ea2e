/* wslay judges the framing: it reads what we send, and we agree with it about what a
 * server may send. An implementation by other hands, so a mistake would have to be made
 * twice to stay unseen.
 *
 * Where the two differ on purpose (and only there):
 *  - close codes 1012 to 1014, registered after RFC 6455, are taken here;
 *  - a Close of one byte is refused here [WS-007], wslay reads it as one without a code;
 *  - text messages are handed over unchecked: to a QWP client any text is a violation;
 *  - a size limit counts the frame header here. */
#include <wslay/wslay.h>

#include "ws_fixture.h"

struct judge {
  wslay_event_context_ptr ctx;
  const uint8_t *in;
  size_t n, at, chunk; /* chunk: bytes per read */
  struct fx_messages messages;
  struct fx_bytes controls; /* opcode, payload of each ping and close that came */
  uint8_t sent[512];
  size_t sent_bytes;
};

static ssize_t judge_recv(wslay_event_context_ptr ctx, uint8_t *buf, size_t len, int flags, void *arg) {
  struct judge *j = arg;
  (void)flags;
  size_t n = j->n - j->at;
  if (n > j->chunk) n = j->chunk;
  if (n > len) n = len;
  if (n == 0) {
    wslay_event_set_error(ctx, WSLAY_ERR_WOULDBLOCK);
    return -1;
  }
  memcpy(buf, j->in + j->at, n);
  j->at += n;
  return (ssize_t)n;
}

static ssize_t judge_send(wslay_event_context_ptr ctx, const uint8_t *p, size_t len, int flags, void *arg) {
  struct judge *j = arg;
  (void)ctx;
  (void)flags;
  assert_true(len <= sizeof j->sent - j->sent_bytes);
  memcpy(j->sent + j->sent_bytes, p, len);
  j->sent_bytes += len;
  return (ssize_t)len;
}

static int judge_mask(wslay_event_context_ptr ctx, uint8_t *buf, size_t len, void *arg) {
  (void)ctx;
  (void)arg;
  memset(buf, 0x5a, len);
  return 0;
}

static void judge_message(wslay_event_context_ptr ctx, const struct wslay_event_on_msg_recv_arg *a, void *arg) {
  struct judge *j = arg;
  (void)ctx;
  if (a->opcode < 8) {
    fx_on_message(&j->messages, a->opcode, a->msg, a->msg_length);
  } else {
    fx_put(&j->controls, &a->opcode, 1);
    fx_put(&j->controls, a->msg, a->msg_length);
  }
}

static void judge_new(struct judge *j, bool client, const uint8_t *in, size_t n, size_t chunk) {
  static const struct wslay_event_callbacks callbacks = {.recv_callback = judge_recv,
                                                         .send_callback = judge_send,
                                                         .genmask_callback = judge_mask,
                                                         .on_msg_recv_callback = judge_message};
  *j = (struct judge){.in = in, .n = n, .chunk = chunk};
  int r = client ? wslay_event_context_client_init(&j->ctx, &callbacks, j)
                 : wslay_event_context_server_init(&j->ctx, &callbacks, j);
  assert_int_equal(r, 0);
  wslay_event_config_set_max_recv_msg_length(j->ctx, (16u << 20) - 10);
}

static void judge_del(struct judge *j) {
  wslay_event_context_free(j->ctx);
  free(j->messages.all.p);
  free(j->controls.p);
}

/* ---- what we send ----------------------------------------------------------------- */

static void what_we_send_is_read_by_wslay(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 2, 7, 8, 9, 124, 125, 126, 127, 65534, 65535, 65536, 65537, 200000};
  struct fx fx;
  struct fx_messages sent = {0};
  struct fx_bytes controls = {0};
  fx_new(&fx);
  fx_open(&fx);
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    uint8_t *p = sn_grow(NULL, sizes[k]);
    for (size_t i = 0; i < sizes[k]; i++) p[i] = (uint8_t)(i * 5 + k);
    assert_int_equal(qwp_ws_append(fx.ws, QWP_WS_BINARY, p, sizes[k], NULL), QWP_OK);
    fx_on_message(&sent, QWP_WS_BINARY, p, sizes[k]);
    size_t n = sizes[k] < 125 ? sizes[k] : 125;
    assert_int_equal(qwp_ws_pong(fx.ws, p, n), QWP_OK);
    fx_put(&controls, "\x0a", 1);
    fx_put(&controls, p, n);
    assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_OK);
    free(p);
  }
  assert_int_equal(qwp_ws_send_close(fx.ws, 1000), QWP_OK);
  fx_put(&controls, "\x08\x03\xe8", 3);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_OK);

  static const size_t chunks[] = {1, 3, 4096, SIZE_MAX};
  for (size_t c = 0; c < 4; c++) {
    struct judge j;
    judge_new(&j, false, fx.sn.out, fx.sn.out_len, chunks[c]);
    while (j.at < j.n) assert_int_equal(wslay_event_recv(j.ctx), 0); /* returns at a short read */
    assert_int_equal(j.messages.count, sent.count);
    assert_int_equal(j.messages.all.n, sent.all.n);
    assert_memory_equal(j.messages.all.p, sent.all.p, sent.all.n);
    assert_int_equal(j.controls.n, controls.n);
    assert_memory_equal(j.controls.p, controls.p, controls.n);
    assert_int_equal(wslay_event_get_status_code_received(j.ctx), 1000);
    judge_del(&j);
  }
  free(sent.all.p);
  free(controls.p);
  fx_del(&fx);
}

/* ---- what a server sends ------------------------------------------------------------- */

enum verdict { GOES_ON, CLOSED, REFUSED };

struct opinion {
  enum verdict verdict;
  unsigned code; /* of the peer's Close, or of the one a violation earns; 0 = does not say */
  bool one_byte_close;
  struct fx_messages messages;
};

static struct opinion ours(const uint8_t *p, size_t n) {
  struct fx fx;
  struct opinion o = {0};
  struct qwp_error err;
  fx_new(&fx);
  fx_open(&fx);
  sn_feed(&fx.sn, p, n);
  enum qwp_status st = fx_receive_all(&fx, &o.messages, &err);
  if (st == QWP_CONN_CLOSED) {
    o.verdict = CLOSED;
    o.code = (unsigned)err.close_code;
  } else if (st == QWP_CONN_PROTOCOL) {
    o.verdict = REFUSED;
    o.one_byte_close = strstr(err.text, "one byte") != NULL;
    struct fx_frame f = fx_read_frame(fx.sn.out, fx.sn.out_len);
    if (f.opcode == QWP_WS_PONG) { /* of pings before the violation: the Close stands behind it */
      free(f.payload);
      f = fx_read_frame(fx.sn.out + f.wire_bytes, fx.sn.out_len - f.wire_bytes);
    }
    assert_int_equal(f.opcode, QWP_WS_CLOSE);
    o.code = (unsigned)(f.payload[0] << 8 | f.payload[1]);
    free(f.payload);
  } else {
    assert_int_equal(st, QWP_AGAIN);
  }
  fx_del(&fx);
  return o;
}

static struct opinion theirs(const uint8_t *p, size_t n) {
  struct judge j;
  struct opinion o = {0};
  judge_new(&j, true, p, n, SIZE_MAX);
  int r = wslay_event_recv(j.ctx);
  assert_true(r == 0 || r == WSLAY_ERR_CALLBACK_FAILURE); /* a bad frame header, without a close code */
  if (wslay_event_get_close_received(j.ctx)) {
    o.verdict = CLOSED;
    o.code = wslay_event_get_status_code_received(j.ctx);
  } else if (!wslay_event_get_read_enabled(j.ctx)) {
    o.verdict = REFUSED;
    assert_int_equal(wslay_event_send(j.ctx), 0);
    o.code = r == 0 ? wslay_event_get_status_code_sent(j.ctx) : 0;
  }
  o.messages = j.messages;
  j.messages.all.p = NULL;
  judge_del(&j);
  return o;
}

static bool same(const struct opinion *a, const struct opinion *b) {
  bool same_code = a->code == b->code || (b->verdict == REFUSED && b->code == 0) ||
                   (a->code == 1009 && b->code == 1002); /* too big and out of place: which is said first */
  return a->verdict == b->verdict && same_code && a->messages.count == b->messages.count &&
         a->messages.all.n == b->messages.all.n &&
         (a->messages.all.n == 0 || memcmp(a->messages.all.p, b->messages.all.p, a->messages.all.n) == 0);
}

static void assert_agreed(const uint8_t *p, size_t n, enum verdict expected, const char *what) {
  struct opinion a = ours(p, n), b = theirs(p, n);
  if (!same(&a, &b) || a.verdict != expected) {
    fail_msg("%s: expected %d, ours %d code %u messages %zu, wslay %d code %u messages %zu", what, expected, a.verdict,
             a.code, a.messages.count, b.verdict, b.code, b.messages.count);
  }
  free(a.messages.all.p);
  free(b.messages.all.p);
}

static void both_agree_about_a_server(void **state) {
  (void)state;
  static const struct {
    const char *what, *bytes;
    size_t n;
    enum verdict verdict;
  } cases[] = {
      {"binary", "\x82\x02" "ab", 4, GOES_ON},
      {"empty binary", "\x82\x00", 2, GOES_ON},
      {"fragments with a ping between", "\x02\x01" "a\x89\x01p\x00\x00\x80\x01" "b", 11, GOES_ON},
      {"unsolicited pong", "\x8A\x01x\x82\x01y", 6, GOES_ON},
      {"half a frame", "\x82\x05" "ab", 4, GOES_ON},
      {"close without a code", "\x88\x00", 2, CLOSED},
      {"close 1000", "\x88\x02\x03\xE8", 4, CLOSED},
      {"close 1011 with a reason", "\x88\x06\x03\xF3oops", 8, CLOSED},
      {"close 3000", "\x88\x02\x0B\xB8", 4, CLOSED},
      {"close 4999", "\x88\x02\x13\x87", 4, CLOSED},
      {"message, then close, then garbage", "\x82\x01x\x88\x02\x03\xE8\xFF\xFF", 9, CLOSED},
      {"RSV1", "\xC2\x00", 2, REFUSED},
      {"RSV2", "\xA2\x00", 2, REFUSED},
      {"RSV3", "\x92\x00", 2, REFUSED},
      {"opcode 3", "\x83\x00", 2, REFUSED},
      {"opcode 7", "\x87\x00", 2, REFUSED},
      {"opcode B", "\x8B\x00", 2, REFUSED},
      {"opcode F", "\x8F\x00", 2, REFUSED},
      {"orphan continuation", "\x80\x01x", 3, REFUSED},
      {"message inside a message", "\x02\x01x\x82\x01y", 6, REFUSED},
      {"fragmented ping", "\x09\x00", 2, REFUSED},
      {"fragmented close", "\x08\x00", 2, REFUSED},
      {"ping of 126", "\x89\x7E\x00\x7E", 4, REFUSED},
      {"125 in the 16-bit form", "\x82\x7E\x00\x7D", 4, REFUSED},
      {"65535 in the 64-bit form", "\x82\x7F\x00\x00\x00\x00\x00\x00\xFF\xFF", 10, REFUSED},
      {"2^63", "\x82\x7F\x80\x00\x00\x00\x00\x00\x00\x00", 10, REFUSED},
      {"2^32 + 10", "\x82\x7F\x00\x00\x00\x01\x00\x00\x00\x0Ax", 11, REFUSED},
      {"masked", "\x82\x81\x01\x02\x03\x04\x05", 7, REFUSED},
      {"close 0", "\x88\x02\x00\x00", 4, REFUSED},
      {"close 999", "\x88\x02\x03\xE7", 4, REFUSED},
      {"close 1004", "\x88\x02\x03\xEC", 4, REFUSED},
      {"close 1005", "\x88\x02\x03\xED", 4, REFUSED},
      {"close 1006", "\x88\x02\x03\xEE", 4, REFUSED},
      {"close 1015", "\x88\x02\x03\xF7", 4, REFUSED},
      {"close 2999", "\x88\x02\x0B\xB7", 4, REFUSED},
      {"close 5000", "\x88\x02\x13\x88", 4, REFUSED},
      {"close reason not UTF-8", "\x88\x04\x03\xE8\xC0\x80", 6, REFUSED},
      {"close reason a surrogate", "\x88\x05\x03\xE8\xED\xA0\x80", 7, REFUSED},
      {"close reason cut", "\x88\x04\x03\xE8\xE2\x82", 6, REFUSED},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_agreed((const uint8_t *)cases[i].bytes, cases[i].n, cases[i].verdict, cases[i].what);
  }
  static const size_t sizes[] = {125, 126, 127, 65535, 65536, 100000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    struct fx_bytes b = {0};
    uint8_t *p = calloc(1, sizes[i]);
    fx_put_frame(&b, 0x82, p, sizes[i]);
    assert_agreed(b.p, b.n, GOES_ON, "length forms");
    free(p);
    free(b.p);
  }
}

/* The differences named above exist: if one goes, its line there goes too. */
static void where_the_two_differ(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t n;
    enum verdict ours, theirs;
  } cases[] = {
      {"\x88\x02\x03\xF4", 4, CLOSED, REFUSED}, /* 1012 */
      {"\x88\x02\x03\xF6", 4, CLOSED, REFUSED}, /* 1014 */
      {"\x88\x01\x03", 3, REFUSED, CLOSED},
      {"\x81\x01\xFF", 3, GOES_ON, REFUSED},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct opinion a = ours((const uint8_t *)cases[i].bytes, cases[i].n);
    struct opinion b = theirs((const uint8_t *)cases[i].bytes, cases[i].n);
    assert_int_equal(a.verdict, cases[i].ours);
    assert_int_equal(b.verdict, cases[i].theirs);
    free(a.messages.all.p);
    free(b.messages.all.p);
  }
}

/* A conversation of whole frames, then one byte of a header changed at random: whatever
 * it means now, both see the same in it. */
static void both_agree_about_damage(void **state) {
  (void)state;
  uint64_t seed = 20;
  size_t verdicts[3] = {0}, excused = 0;
  for (size_t round = 0; round < 20000; round++) {
    struct fx_bytes b = {0};
    size_t heads[12], count = 1 + sn_random(&seed) % 12;
    static const uint8_t firsts[] = {0x82, 0x02, 0x00, 0x80, 0x89, 0x8A, 0x82, 0x82};
    static const uint8_t zeros[400];
    for (size_t i = 0; i < count; i++) {
      heads[i] = b.n;
      bool large = sn_random(&seed) % 4 == 0;
      uint8_t first = firsts[sn_random(&seed) % sizeof firsts];
      if (sn_random(&seed) % 32 == 0) {
        fx_put_frame(&b, 0x88, "\x03\xE8", 2);
      } else {
        fx_put_frame(&b, first, zeros, (first & 8) || !large ? sn_random(&seed) % 20 : sn_random(&seed) % 400);
      }
    }
    size_t at = heads[sn_random(&seed) % count] + sn_random(&seed) % 4;
    if (at < b.n) b.p[at] ^= (uint8_t)(1u << sn_random(&seed) % 8);
    /* Room for whatever length it announces now, so that nothing is left undecided. */
    static const uint8_t tail[70000];
    fx_put(&b, tail, sizeof tail);
    struct opinion ours_ = ours(b.p, b.n), theirs_ = theirs(b.p, b.n);
    bool differs_on_purpose = ours_.one_byte_close || (theirs_.code == 1007 && ours_.code != 1007);
    excused += differs_on_purpose;
    if (!differs_on_purpose && !same(&ours_, &theirs_)) {
      fail_msg("round %zu: ours %d code %u messages %zu, wslay %d code %u messages %zu", round, ours_.verdict,
               ours_.code, ours_.messages.count, theirs_.verdict, theirs_.code, theirs_.messages.count);
    }
    verdicts[ours_.verdict]++;
    free(ours_.messages.all.p);
    free(theirs_.messages.all.p);
    free(b.p);
  }
  assert_int_equal(verdicts[GOES_ON] + verdicts[CLOSED] + verdicts[REFUSED], 20000);
  assert_true(verdicts[CLOSED] > 500);
  assert_true(verdicts[REFUSED] > 5000);
  assert_true(excused < 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_we_send_is_read_by_wslay),
      cmocka_unit_test(both_agree_about_a_server),
      cmocka_unit_test(where_the_two_differ),
      cmocka_unit_test(both_agree_about_damage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
