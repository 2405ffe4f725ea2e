/* Sending: batches, short writes, a full socket, control frames at frame boundaries. */
#include "ws_fixture.h"

/* Payloads with known content: byte i of payload k. */
static uint8_t *payload_of(size_t k, size_t n) {
  uint8_t *p = sn_grow(NULL, n);
  for (size_t i = 0; i < n; i++) p[i] = (uint8_t)(i * 7 + k * 13 + (i >> 8));
  return p;
}

static void append(struct fx *fx, size_t k, size_t n) {
  uint8_t *p = payload_of(k, n);
  assert_int_equal(qwp_ws_append(fx->ws, QWP_WS_BINARY, p, n, NULL), QWP_OK);
  free(p);
}

/* The bytes the peer got are exactly these frames, back to back. */
static void assert_frames(const struct sn *sn, const size_t *sizes, size_t count) {
  size_t at = 0;
  for (size_t k = 0; k < count; k++) {
    struct fx_frame f = fx_read_frame(sn->out + at, sn->out_len - at);
    uint8_t *p = payload_of(k, sizes[k]);
    assert_int_equal(f.opcode, QWP_WS_BINARY);
    assert_int_equal(f.n, sizes[k]);
    assert_memory_equal(f.payload, p, f.n);
    at += f.wire_bytes;
    free(p);
    free(f.payload);
  }
  assert_int_equal(at, sn->out_len);
}

/* P121-01 at this level: a writable socket costs no wait. */
static void a_frame_costs_one_send_and_no_wait(void **state) {
  (void)state;
  struct fx fx;
  fx_new(&fx);
  fx_open(&fx);
  for (size_t k = 0; k < 1000; k++) {
    append(&fx, k, 30);
    assert_int_equal(qwp_ws_pending(fx.ws), 36);
    assert_int_equal(qwp_ws_flush_wait(fx.ws, 1000, NULL), QWP_OK);
  }
  assert_int_equal(sn_count(&fx.sn, 's'), 1000);
  assert_int_equal(sn_count(&fx.sn, 'w'), 0);
  assert_int_equal(fx.sn.out_len, 36000);
  fx_del(&fx);
}

/* P121-02 */
static void backpressure_keeps_the_remainder(void **state) {
  (void)state;
  struct fx fx;
  char text[256];
  fx_new(&fx);
  fx_open(&fx);
  append(&fx, 0, 94);
  fx.sn.sends = SN_SCRIPT(40, -EAGAIN);
  assert_int_equal(qwp_ws_flush_wait(fx.ws, 1000, NULL), QWP_OK);
  assert_string_equal(sn_trace_text(&fx.sn, text, sizeof text), "send(100)->40 send(60)->again poll_w send(60)->60");
  assert_frames(&fx.sn, (const size_t[]){94}, 1);

  /* The flush that never waits: the same, cut where the wait was. */
  fx.sn.out_len = 0;
  sn_forget_trace(&fx.sn);
  append(&fx, 0, 94);
  fx.sn.sends = SN_SCRIPT(40, -EAGAIN);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_AGAIN);
  assert_int_equal(qwp_ws_pending(fx.ws), 60);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_OK);
  assert_string_equal(sn_trace_text(&fx.sn, text, sizeof text), "send(100)->40 send(60)->again send(60)->60");
  assert_frames(&fx.sn, (const size_t[]){94}, 1);
  fx_del(&fx);
}

/* P121-03 */
static void a_zero_timeout_makes_one_attempt(void **state) {
  (void)state;
  struct fx fx;
  struct qwp_error err;
  char text[256];
  fx_new(&fx);
  fx_open(&fx);
  append(&fx, 0, 94);
  assert_int_equal(qwp_ws_flush_wait(fx.ws, 0, &err), QWP_OK);
  assert_string_equal(sn_trace_text(&fx.sn, text, sizeof text), "send(100)->100");

  sn_forget_trace(&fx.sn);
  append(&fx, 1, 94);
  fx.sn.sends = SN_SCRIPT(-EAGAIN);
  assert_int_equal(qwp_ws_flush_wait(fx.ws, 0, &err), QWP_TIMEOUT);
  assert_int_equal(err.code, QWP_TIMEOUT);
  assert_string_equal(sn_trace_text(&fx.sn, text, sizeof text), "send(100)->again");

  sn_forget_trace(&fx.sn);
  fx.sn.sends = SN_SCRIPT(99);
  assert_int_equal(qwp_ws_flush_wait(fx.ws, 0, &err), QWP_TIMEOUT);
  assert_string_equal(sn_trace_text(&fx.sn, text, sizeof text), "send(100)->99");
  assert_int_equal(qwp_ws_flush_wait(fx.ws, 0, &err), QWP_OK);
  assert_frames(&fx.sn, (const size_t[]){94, 94}, 2);
  fx_del(&fx);
}

/* P121-04: one timeout for all of it, which progress does not restart. 64 KiB within 600 s:
 * drained at 110 bytes a second it is done after 595 s, at 108 it is not. */
static void one_timeout_covers_the_whole_batch(void **state) {
  (void)state;
  const int64_t second = 1000 * QWP_NS_PER_MS;
  for (long rate = 108; rate <= 110; rate += 2) {
    struct fx fx;
    fx_new(&fx);
    fx_open(&fx);
    append(&fx, 0, 65528);
    assert_int_equal(qwp_ws_pending(fx.ws), 65536);
    long results[2 * 700];
    for (size_t i = 0; i < 700; i++) {
      results[2 * i] = rate;
      results[2 * i + 1] = -EAGAIN;
    }
    fx.sn.sends = (struct sn_script){.results = results, .count = 2 * 700};
    fx.sn.ns_per_wait = second;
    assert_int_equal(qwp_ws_flush_wait(fx.ws, 600 * second, NULL), rate == 110 ? QWP_OK : QWP_TIMEOUT);
    assert_int_equal(sn_count(&fx.sn, 'w'), rate == 110 ? 595 : 600);
    fx_del(&fx);
  }
}

/* CASE-82: out of kernel buffers is not a dead connection, and not a busy loop. */
static void out_of_kernel_buffers_waits(void **state) {
  (void)state;
  struct fx fx;
  char text[256];
  fx_new(&fx);
  fx_open(&fx);
  append(&fx, 0, 94);
  fx.sn.sends = SN_SCRIPT(1, -ENOBUFS, -ENOMEM, 0, -EINTR);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_AGAIN);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_AGAIN);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_AGAIN);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_OK);
  assert_string_equal(sn_trace_text(&fx.sn, text, sizeof text),
                      "send(100)->1 send(99)->-105 send(99)->-12 send(99)->0 send(99)->-4 send(99)->99");
  assert_frames(&fx.sn, (const size_t[]){94}, 1);
  fx_del(&fx);
}

/* CASE-82: the blocking flush waits for time, not for a socket that counts as writable. */
static void lasting_shortage_costs_a_wait_a_millisecond(void **state) {
  (void)state;
  struct fx fx;
  char text[256];
  fx_new(&fx);
  fx_open(&fx);
  append(&fx, 0, 94);
  fx.sn.sends = SN_SCRIPT(-ENOBUFS, -ENOBUFS, -ENOBUFS);
  fx.sn.waits = SN_SCRIPT(QWP_WRITABLE, 0, 0);
  int64_t begin_ns = fx.sn.now_ns;
  assert_int_equal(qwp_ws_flush_wait(fx.ws, 10 * QWP_NS_PER_MS, NULL), QWP_OK);
  assert_string_equal(sn_trace_text(&fx.sn, text, sizeof text),
                      "send(100)->-105 poll_w send(100)->-105 poll_r send(100)->-105 poll_r send(100)->100");
  assert_int_equal(fx.sn.now_ns - begin_ns, 2 * QWP_NS_PER_MS);

  sn_forget_trace(&fx.sn); /* for ever: the timeout ends it, after as many attempts as it has milliseconds */
  append(&fx, 1, 94);
  long shortage[64];
  for (size_t i = 0; i < 64; i++) shortage[i] = -ENOBUFS;
  fx.sn.sends = (struct sn_script){.results = shortage, .count = 64};
  long slept[64] = {QWP_WRITABLE}; /* then 0: the time is over */
  fx.sn.waits = (struct sn_script){.results = slept, .count = 64};
  assert_int_equal(qwp_ws_flush_wait(fx.ws, 10 * QWP_NS_PER_MS, NULL), QWP_TIMEOUT);
  assert_int_equal(sn_count(&fx.sn, 's'), 12);
  assert_int_equal(sn_count(&fx.sn, 'w'), 11);
  fx_del(&fx);
}

/* P121-12: 10 000 frames of mixed sizes in batches, contiguous, every payload as given. */
static void frames_in_a_batch_are_contiguous(void **state) {
  (void)state;
  static const size_t edges[] = {0, 1, 30, 125, 126, 127, 1000, 65535, 65536};
  enum { COUNT = 10000, EDGES = sizeof edges / sizeof *edges };
  struct fx fx;
  fx_new(&fx);
  fx_open(&fx);
  size_t *sizes = sn_grow(NULL, COUNT * sizeof *sizes), wire = 0, in_batch = 0;
  for (size_t k = 0; k < COUNT; k++) {
    sizes[k] = k % 500 < EDGES ? edges[k % 500] : k % 200;
    append(&fx, k, sizes[k]);
    in_batch += qwp_ws_wire_bytes(sizes[k]);
    assert_int_equal(qwp_ws_pending(fx.ws), in_batch);
    if (k % 100 != 99) continue;
    wire += in_batch;
    in_batch = 0;
    assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_OK);
    assert_int_equal(fx.sn.out_len, wire);
  }
  assert_int_equal(sn_count(&fx.sn, 's'), COUNT / 100);
  assert_frames(&fx.sn, sizes, COUNT);
  size_t copied = 0;
  for (size_t k = 0; k < COUNT; k++) copied += sizes[k];
  assert_int_equal(qwp_ws_counters(fx.ws)->tx_copied_bytes, copied); /* each byte once */
  free(sizes);
  fx_del(&fx);
}

/* P121-12: with equal masks, one write of many frames and many writes of one are the same bytes. */
static void batching_does_not_change_the_bytes(void **state) {
  (void)state;
  struct fx a, b;
  fx_new(&a);
  fx_new(&b);
  fx_open(&a);
  fx_open(&b);
  static const size_t sizes[] = {0, 125, 126, 3, 65535, 65536, 40};
  for (size_t k = 0; k < 7; k++) {
    append(&a, k, sizes[k]);
    append(&b, k, sizes[k]);
    assert_int_equal(qwp_ws_flush(b.ws, NULL), QWP_OK);
  }
  assert_int_equal(qwp_ws_flush(a.ws, NULL), QWP_OK);
  assert_int_equal(sn_count(&a.sn, 's'), 1);
  assert_int_equal(sn_count(&b.sn, 's'), 7);
  assert_int_equal(a.sn.out_len, b.sn.out_len);
  assert_memory_equal(a.sn.out, b.sn.out, a.sn.out_len);
  fx_del(&a);
  fx_del(&b);
}

/* CASE-45: taken 1, 2, 3, 7 or any number of bytes at a time with a full socket between. */
static void any_way_the_socket_takes_it(void **state) {
  (void)state;
  static const size_t sizes[] = {1, 125, 126, 4096, 65535, 65536, 300000};
  static const long steps[] = {1, 2, 3, 7, 0};
  for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
    struct fx fx;
    fx_new(&fx);
    fx_open(&fx);
    uint64_t seed = 42;
    for (size_t k = 0; k < 7; k++) {
      append(&fx, k, sizes[k]);
      enum qwp_status st = QWP_AGAIN;
      for (size_t sends = 0; st == QWP_AGAIN; sends++) {
        /* small steps through the header and the first bytes, then the rest in large ones */
        long step = sends >= 40 ? 50000 : steps[s] ? steps[s] : (long)(1 + sn_random(&seed) % 50);
        fx.sn.sends = SN_SCRIPT(step, -EAGAIN);
        st = qwp_ws_flush(fx.ws, NULL);
      }
      fx.sn.sends.count = 0;
      assert_int_equal(st, QWP_OK);
    }
    assert_frames(&fx.sn, sizes, 7);
    fx_del(&fx);
  }
}

/* CASE-49: 20 000 frames, no key twice more often than chance allows, one draw per block. */
static void a_fresh_key_for_every_frame(void **state) {
  (void)state;
  struct fx fx;
  fx_new(&fx);
  fx_open(&fx);
  fx.sn.entropy_calls = 0;
  uint32_t *keys = sn_grow(NULL, 4096 * sizeof *keys);
  for (size_t k = 0; k < 4096; k++) append(&fx, 0, 8);
  assert_int_equal(fx.sn.entropy_calls, 4);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_OK);
  size_t equal = 0;
  for (size_t k = 0; k < 4096; k++) {
    memcpy(&keys[k], fx.sn.out + k * 14 + 2, 4);
    for (size_t i = 0; i < k; i++) equal += keys[i] == keys[k];
  }
  assert_int_equal(equal, 0); /* the generator is seeded: exact */
  free(keys);

  fx.sn.entropy_result = -EIO; /* the next block is due: a typed error, no constant key */
  assert_int_equal(qwp_ws_append(fx.ws, QWP_WS_BINARY, (const uint8_t *)"x", 1, NULL), QWP_CONN_LOST);
  assert_int_equal(qwp_ws_pending(fx.ws), 0);
  assert_int_equal(qwp_ws_pong(fx.ws, NULL, 0), QWP_OK);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_CONN_LOST);
  fx_del(&fx);
}

/* P121-21: the batch is the same bytes with and without control frames between its appends. */
static void control_frames_do_not_touch_the_batch(void **state) {
  (void)state;
  struct fx with, without;
  fx_new(&with);
  fx_new(&without);
  fx_open(&with);
  fx_open(&without);
  append(&with, 0, 200);
  append(&without, 0, 200);
  assert_int_equal(qwp_ws_pong(with.ws, (const uint8_t *)"ping", 4), QWP_OK);
  assert_int_equal(qwp_ws_send_close(with.ws, 1000), QWP_OK);
  append(&with, 1, 70000);
  append(&without, 1, 70000);
  assert_int_equal(qwp_ws_pending(with.ws), qwp_ws_pending(without.ws));
  assert_int_equal(qwp_ws_flush(without.ws, NULL), QWP_OK);
  assert_int_equal(qwp_ws_flush(with.ws, NULL), QWP_OK);
  assert_memory_equal(with.sn.out, without.sn.out, without.sn.out_len);

  /* Behind it: the pong, then the Close, in one send; and nothing more may follow. */
  assert_int_equal(sn_count(&with.sn, 's'), 2);
  const uint8_t *p = with.sn.out + without.sn.out_len;
  size_t n = with.sn.out_len - without.sn.out_len;
  struct fx_frame pong = fx_read_frame(p, n);
  struct fx_frame close = fx_read_frame(p + pong.wire_bytes, n - pong.wire_bytes);
  assert_int_equal(pong.opcode, QWP_WS_PONG);
  assert_memory_equal(pong.payload, "ping", 4);
  assert_int_equal(close.opcode, QWP_WS_CLOSE);
  assert_int_equal(close.n, 2);
  assert_memory_equal(close.payload, "\x03\xe8", 2);
  assert_int_equal(pong.wire_bytes + close.wire_bytes, n);
  free(pong.payload);
  free(close.payload);
  assert_int_equal(qwp_ws_append(with.ws, QWP_WS_BINARY, (const uint8_t *)"x", 1, NULL), QWP_MISUSE);
  assert_int_equal(qwp_ws_pong(with.ws, NULL, 0), QWP_MISUSE);
  assert_int_equal(qwp_ws_send_close(with.ws, 1000), QWP_MISUSE);
  fx_del(&with);
  fx_del(&without);
}

static void what_control_frames_refuse(void **state) {
  (void)state;
  struct fx fx;
  uint8_t payload[126] = {0};
  fx_new(&fx);
  assert_int_equal(qwp_ws_pong(fx.ws, payload, 1), QWP_MISUSE); /* not open */
  fx_open(&fx);
  assert_int_equal(qwp_ws_pong(fx.ws, payload, 126), QWP_MISUSE);
  assert_int_equal(qwp_ws_pong(fx.ws, payload, 126), QWP_MISUSE);
  assert_int_equal(qwp_ws_send_close(fx.ws, 1006), QWP_MISUSE);
  assert_int_equal(qwp_ws_send_close(fx.ws, 5000), QWP_MISUSE);
  assert_false(qwp_ws_control_pending(fx.ws));
  assert_int_equal(qwp_ws_pong(fx.ws, payload, 125), QWP_OK);
  assert_int_equal(qwp_ws_send_close(fx.ws, 0), QWP_OK);
  assert_true(qwp_ws_control_pending(fx.ws));
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_OK);
  assert_false(qwp_ws_control_pending(fx.ws));
  assert_int_equal(fx.sn.out_len, 131 + 6); /* the Close is empty */
  fx_del(&fx);
}

/* CASE-46: a ping while a large frame is half out; three in the meantime, one pong for the last. */
static void a_pong_waits_for_the_frame_boundary(void **state) {
  (void)state;
  struct fx fx;
  fx_new(&fx);
  fx_open(&fx);
  append(&fx, 0, 1 << 20);
  fx.sn.sends = SN_SCRIPT(100000, -EAGAIN, -EAGAIN, 5, -EAGAIN);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_AGAIN);
  struct fx_bytes pings = {0};
  fx_put_frame(&pings, 0x89, "a", 1);
  fx_put_frame(&pings, 0x89, "b", 1);
  fx_put_frame(&pings, 0x89, "abc", 3);
  sn_feed(&fx.sn, pings.p, pings.n);
  free(pings.p);
  struct fx_messages m = {0};
  assert_int_equal(qwp_ws_receive(fx.ws, fx_on_message, &m, NULL), QWP_OK);
  assert_int_equal(qwp_ws_counters(fx.ws)->pings, 3);
  assert_int_equal(fx.sn.out_len, 100000);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_AGAIN);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_AGAIN);
  assert_true(qwp_ws_control_pending(fx.ws));
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_OK);
  assert_int_equal(fx.sn.out_len, (1 << 20) + 14 + 9);
  struct fx_frame pong = fx_read_frame(fx.sn.out + (1 << 20) + 14, 9);
  assert_int_equal(pong.opcode, QWP_WS_PONG);
  assert_int_equal(pong.n, 3);
  assert_memory_equal(pong.payload, "abc", 3);
  free(pong.payload);
  fx.sn.out_len = (1 << 20) + 14;
  assert_frames(&fx.sn, (const size_t[]){1 << 20}, 1);
  fx_del(&fx);
}

/* A control frame that is half out goes before the next batch. */
static void a_half_sent_pong_is_finished_first(void **state) {
  (void)state;
  struct fx fx;
  fx_new(&fx);
  fx_open(&fx);
  assert_int_equal(qwp_ws_pong(fx.ws, (const uint8_t *)"first", 5), QWP_OK);
  fx.sn.sends = SN_SCRIPT(3, -EAGAIN);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_AGAIN);
  append(&fx, 0, 30);
  assert_int_equal(qwp_ws_pong(fx.ws, (const uint8_t *)"second", 6), QWP_OK); /* does not replace it any more */
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_OK);
  assert_int_equal(fx.sn.out_len, 11 + 36 + 12);
  struct fx_frame first = fx_read_frame(fx.sn.out, 11);
  struct fx_frame data = fx_read_frame(fx.sn.out + 11, 36);
  struct fx_frame second = fx_read_frame(fx.sn.out + 47, 12);
  assert_memory_equal(first.payload, "first", 5);
  assert_int_equal(data.opcode, QWP_WS_BINARY);
  assert_memory_equal(second.payload, "second", 6);
  free(first.payload);
  free(data.payload);
  free(second.payload);
  fx_del(&fx);
}

/* P121-23: dead after B bytes of a 3-frame batch, for every B: nothing of it on the next
 * connection. */
static void leftover_bytes_die_with_the_connection(void **state) {
  (void)state;
  static const size_t sizes[] = {30, 126, 5};
  const size_t wire = 36 + 134 + 11;
  struct fx fx;
  fx_new(&fx);
  for (size_t b = 0; b < wire; b++) {
    struct qwp_error err;
    fx_open(&fx);
    for (size_t k = 0; k < 3; k++) append(&fx, k, sizes[k]);
    assert_int_equal(qwp_ws_pong(fx.ws, (const uint8_t *)"old", 3), QWP_OK);
    const long results[] = {(long)b, -EPIPE};
    fx.sn.sends = (struct sn_script){.results = results, .count = 2, .at = b == 0};
    assert_int_equal(qwp_ws_flush(fx.ws, &err), QWP_CONN_LOST);
    assert_int_equal(err.sys_errno, EPIPE);
    qwp_ws_close(fx.ws);
    assert_int_equal(qwp_ws_pending(fx.ws), 0);
    assert_false(qwp_ws_control_pending(fx.ws));

    fx.sn.out_len = 0;
    fx_request(&fx); /* its stream starts with the request and has nothing but it */
    assert_memory_equal(fx.sn.out, "GET ", 4);
    assert_memory_equal(fx.sn.out + fx.sn.out_len - 4, "\r\n\r\n", 4);
    char head[1024];
    sn_feed(&fx.sn, head, fx_101(&fx, "", head, sizeof head));
    assert_int_equal(fx_handshake(&fx, NULL), QWP_OK);
    fx.sn.out_len = 0;
    append(&fx, 0, 30);
    assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_OK);
    assert_frames(&fx.sn, (const size_t[]){30}, 1);
    fx.sn.out_len = 0;
    qwp_ws_close(fx.ws);
  }
  fx_del(&fx);
}

/* CASE-83: a frame is in the batch whole or not at all. */
static void a_failed_append_leaves_the_batch_as_it_was(void **state) {
  (void)state;
  struct fx fx;
  fx_new(&fx);
  fx_open(&fx);
  append(&fx, 0, 200);
  uint8_t *large = payload_of(9, 70000);
  fx.sn.fail_alloc = 1;
  assert_int_equal(qwp_ws_append(fx.ws, QWP_WS_BINARY, large, 70000, NULL), QWP_NOMEM);
  assert_int_equal(qwp_ws_append(fx.ws, QWP_WS_BINARY, large, SIZE_MAX - 2, NULL), QWP_NOMEM);
  free(large);
  assert_int_equal(qwp_ws_pending(fx.ws), 208);
  append(&fx, 1, 70000);
  assert_int_equal(qwp_ws_flush(fx.ws, NULL), QWP_OK);
  assert_frames(&fx.sn, (const size_t[]){200, 70000}, 2);
  fx_del(&fx);
}

/* A wake that a blocking call heard is raised again for the one it was meant for. */
static void a_wake_is_not_lost_in_a_blocking_call(void **state) {
  (void)state;
  struct fx fx;
  char text[256];
  fx_new(&fx);
  fx_open(&fx);
  append(&fx, 0, 94);
  fx.sn.sends = SN_SCRIPT(-EAGAIN);
  fx.sn.waits = SN_SCRIPT(QWP_WOKEN, -EINTR, QWP_WRITABLE);
  assert_int_equal(qwp_ws_flush_wait(fx.ws, 1000, NULL), QWP_OK);
  assert_string_equal(sn_trace_text(&fx.sn, text, sizeof text),
                      "send(100)->again poll_w poll_w poll_w send(100)->100 wake");
  append(&fx, 1, 94);
  fx.sn.sends = SN_SCRIPT(-EAGAIN, -EAGAIN, -EAGAIN);
  fx.sn.waits = SN_SCRIPT(-EAGAIN, -EBADF, 0);
  assert_int_equal(qwp_ws_flush_wait(fx.ws, 1000, NULL), QWP_AGAIN); /* a world without threads */
  assert_int_equal(qwp_ws_flush_wait(fx.ws, 1000, NULL), QWP_CONN_LOST);
  assert_int_equal(qwp_ws_flush_wait(fx.ws, 1000, NULL), QWP_TIMEOUT);
  fx_del(&fx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_frame_costs_one_send_and_no_wait),
      cmocka_unit_test(backpressure_keeps_the_remainder),
      cmocka_unit_test(a_zero_timeout_makes_one_attempt),
      cmocka_unit_test(one_timeout_covers_the_whole_batch),
      cmocka_unit_test(out_of_kernel_buffers_waits),
      cmocka_unit_test(lasting_shortage_costs_a_wait_a_millisecond),
      cmocka_unit_test(frames_in_a_batch_are_contiguous),
      cmocka_unit_test(batching_does_not_change_the_bytes),
      cmocka_unit_test(any_way_the_socket_takes_it),
      cmocka_unit_test(a_fresh_key_for_every_frame),
      cmocka_unit_test(control_frames_do_not_touch_the_batch),
      cmocka_unit_test(what_control_frames_refuse),
      cmocka_unit_test(a_pong_waits_for_the_frame_boundary),
      cmocka_unit_test(a_half_sent_pong_is_finished_first),
      cmocka_unit_test(leftover_bytes_die_with_the_connection),
      cmocka_unit_test(a_failed_append_leaves_the_batch_as_it_was),
      cmocka_unit_test(a_wake_is_not_lost_in_a_blocking_call),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
