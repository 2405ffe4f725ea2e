/* wslay judges the mock's framing: a strict implementation by other hands. It reads what the mock
 * sends as a client does, and what it sends as a client the mock must read. */
#include <wslay/wslay.h>

#include "../../testlib/mock_rig.h"
#include "core/hash.h"
#include "core/journal.h"
#include "core/reply.h"

struct judge { /* a wslay client */
  wslay_event_context_ptr ctx;
  const uint8_t *in; /* what the server wrote */
  size_t in_n, in_at;
  struct rig_bytes out; /* what wslay writes */
  size_t messages, bytes, controls;
  uint8_t last_opcode;
  uint16_t last_status;
  uint8_t last[70000];
  size_t last_n;
  uint8_t mask;
};

static ssize_t on_recv(wslay_event_context_ptr ctx, uint8_t *buf, size_t n, int flags, void *arg) {
  struct judge *j = arg;
  (void)flags;
  size_t left = j->in_n - j->in_at;
  if (left == 0) {
    wslay_event_set_error(ctx, WSLAY_ERR_WOULDBLOCK);
    return -1;
  }
  if (n > left) n = left;
  memcpy(buf, j->in + j->in_at, n);
  j->in_at += n;
  return (ssize_t)n;
}

static ssize_t on_send(wslay_event_context_ptr ctx, const uint8_t *p, size_t n, int flags, void *arg) {
  struct judge *j = arg;
  (void)ctx;
  (void)flags;
  assert_true(j->out.n + n <= sizeof j->out.p);
  memcpy(j->out.p + j->out.n, p, n);
  j->out.n += n;
  return (ssize_t)n;
}

static int on_mask(wslay_event_context_ptr ctx, uint8_t *buf, size_t n, void *arg) {
  struct judge *j = arg;
  (void)ctx;
  for (size_t i = 0; i < n; i++) buf[i] = (uint8_t)(j->mask += 89);
  return 0;
}

static void on_message(wslay_event_context_ptr ctx, const struct wslay_event_on_msg_recv_arg *m, void *arg) {
  struct judge *j = arg;
  (void)ctx;
  assert_int_equal(m->rsv, 0);
  if (m->opcode == WSLAY_BINARY_FRAME) j->messages++;
  else j->controls++;
  j->bytes += m->msg_length;
  j->last_opcode = m->opcode;
  j->last_status = m->status_code;
  assert_true(m->msg_length <= sizeof j->last);
  if (m->msg_length) memcpy(j->last, m->msg, m->msg_length);
  j->last_n = m->msg_length;
}

static void judge_start(struct judge *j) {
  static const struct wslay_event_callbacks callbacks = {
    .recv_callback = on_recv, .send_callback = on_send, .genmask_callback = on_mask, .on_msg_recv_callback = on_message};
  memset(j, 0, sizeof *j);
  assert_int_equal(wslay_event_context_client_init(&j->ctx, &callbacks, j), 0);
}

static struct judge j; /* large */

static void judge_reads(const void *p, size_t n) {
  j.in = p;
  j.in_n = n;
  j.in_at = 0;
  assert_int_equal(wslay_event_recv(j.ctx), 0);
  assert_int_equal(j.in_at, n);
}

static void our_frames_of_every_length_form_are_lawful(void **state) {
  (void)state;
  const size_t sizes[] = {0, 1, 125, 126, 127, 65535, 65536, 66000};
  static uint8_t payload[66000];
  for (size_t i = 0; i < sizeof payload; i++) payload[i] = (uint8_t)(i * 7);
  judge_start(&j);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    struct mock_out o = {0};
    mock_reply_frame(&o, 2, sizes[i]);
    mock_out_put(&o, payload, sizes[i]);
    judge_reads(o.p, o.n);
    assert_int_equal(j.messages, i + 1);
    assert_int_equal(j.last_n, sizes[i]);
    assert_memory_equal(j.last, payload, sizes[i]);
    mock_out_free(&o);
  }
  wslay_event_context_free(j.ctx);
}

static void our_control_frames_are_lawful(void **state) {
  (void)state;
  struct mock_out o = {0};
  uint8_t payload[125] = {1};
  judge_start(&j);
  mock_reply_ping(&o, payload, sizeof payload);
  mock_reply_pong(&o, payload, 3);
  mock_reply_pong(&o, NULL, 0);
  mock_reply_close(&o, 1009, "frame payload exceeds maximum size");
  judge_reads(o.p, o.n);
  assert_int_equal(j.controls, 4);
  assert_int_equal(j.last_opcode, WSLAY_CONNECTION_CLOSE);
  assert_int_equal(j.last_status, 1009);
  mock_out_free(&o);
  wslay_event_context_free(j.ctx);
}

static void wslay_asks(uint8_t opcode, const void *p, size_t n) {
  struct wslay_event_msg m = {.opcode = opcode, .msg = p, .msg_length = n};
  assert_int_equal(wslay_event_queue_msg(j.ctx, &m), 0);
}

static void a_conversation_between_wslay_and_the_mock(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  judge_start(&j);
  uint8_t message[64];
  for (int i = 0; i < 20; i++) wslay_asks(WSLAY_BINARY_FRAME, message, rig_message(message, 0, i));
  wslay_asks(WSLAY_PING, "still there", 11);
  static uint8_t large[66000]; /* refused: too short a header says so, in all three length forms */
  wslay_asks(WSLAY_BINARY_FRAME, large, 200);
  wslay_asks(WSLAY_BINARY_FRAME, large, sizeof large);
  assert_int_equal(wslay_event_send(j.ctx), 0);
  assert_int_equal(wslay_event_queue_close(j.ctx, 1000, (const uint8_t *)"done", 4), 0);
  assert_int_equal(wslay_event_send(j.ctx), 0);
  rig_feed(p, j.out.p, j.out.n);

  struct mock_facts f = rig_facts(&r);
  assert_int_equal(f.frames, 22);
  assert_int_equal(f.rows_unique, 20);
  assert_int_equal(f.pings, 1);
  assert_int_equal(f.closes, 1);
  assert_int_equal(f.violations, 0);
  assert_int_equal(f.bytes, 20 * 31 + 200 + 66000);
  assert_true(p->closed);

  judge_reads(p->out, p->out_n);
  assert_int_equal(j.messages, (size_t)(f.oks + f.errors));
  assert_int_equal(j.last_status, 1000);
  assert_true(wslay_event_get_close_received(j.ctx));
  wslay_event_context_free(j.ctx);
  rig_stop(&r);
}

/* What wslay's frame writer sends masked, we read, at every length near a boundary. */
static ssize_t frame_send(const uint8_t *p, size_t n, int flags, void *arg) {
  (void)flags;
  return on_send(NULL, p, n, 0, arg);
}

static int frame_mask(uint8_t *buf, size_t n, void *arg) { return on_mask(NULL, buf, n, arg); }

static void masked_frames_of_wslay_are_read(void **state) {
  (void)state;
  const size_t sizes[] = {0, 1, 7, 8, 9, 124, 125, 126, 127, 65535, 65536};
  static uint8_t payload[65536];
  struct wslay_frame_callbacks callbacks = {.send_callback = frame_send, .genmask_callback = frame_mask};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    for (size_t k = 0; k < sizes[i]; k++) payload[k] = (uint8_t)(k * 13 + i);
    struct rig r;
    rig_start(&r, NULL);
    struct rig_peer *p = rig_client(&r);
    memset(&j, 0, sizeof j);
    wslay_frame_context_ptr ctx;
    assert_int_equal(wslay_frame_context_init(&ctx, &callbacks, &j), 0);
    struct wslay_frame_iocb io = {.fin = 1, .opcode = WSLAY_BINARY_FRAME, .mask = 1, .payload_length = sizes[i],
                                  .data = payload, .data_length = sizes[i]};
    assert_int_equal(wslay_frame_send(ctx, &io), sizes[i]);
    wslay_frame_context_free(ctx);
    rig_feed(p, j.out.p, j.out.n);
    assert_int_equal(rig_facts(&r).frames, 1);
    assert_int_equal(rig_facts(&r).bytes, sizes[i]);
    char hash[40];
    snprintf(hash, sizeof hash, "\"hash\":\"%016llx\"", (unsigned long long)mock_hash_bytes(payload, sizes[i]));
    assert_non_null(strstr(r.journal, hash));
    rig_stop(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(our_frames_of_every_length_form_are_lawful),
    cmocka_unit_test(our_control_frames_are_lawful),
    cmocka_unit_test(a_conversation_between_wslay_and_the_mock),
    cmocka_unit_test(masked_frames_of_wslay_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
