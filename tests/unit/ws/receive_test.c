/* The receive buffer under a connection: bursts in place, waiting, growth, payloads that stay valid. */
#include "ws_fixture.h"

/* 5 100 acks of 13 wire bytes: 66 300 bytes, more than one buffer of 65 536. */
enum { ACKS = 5100, ACK_BYTES = 13 };

static void feed_acks(struct fx *fx) {
  struct fx_bytes b = {0};
  for (size_t k = 0; k < ACKS; k++) {
    uint8_t ok[11] = {QWP_ST_OK, (uint8_t)k, (uint8_t)(k >> 8)};
    fx_put_frame(&b, 0x82, ok, sizeof ok);
  }
  assert_int_equal(b.n, ACKS * ACK_BYTES);
  sn_feed(&fx->sn, b.p, b.n);
  free(b.p);
}

static enum qwp_status count_acks(void *ctx, unsigned opcode, const uint8_t *payload, size_t n) {
  size_t *next = ctx;
  assert_int_equal(opcode, QWP_WS_BINARY);
  assert_int_equal(n, 11);
  assert_int_equal(payload[1] | payload[2] << 8, *next);
  ++*next;
  return QWP_OK;
}

/* The state of the buffer as the connection opened it, so that the figures are the burst's own. */
static void assert_burst(struct fx *fx) {
  char text[256];
  const struct qwp_ws_counters *c = qwp_ws_counters(fx->ws);
  assert_string_equal(sn_trace_text(&fx->sn, text, sizeof text), "recv(65536)->65536 recv(65533)->764");
  assert_int_equal(c->rx_capacity, 65536);
  assert_int_equal(c->rx_grows, 0);
  assert_int_equal(c->rx_moves, 1);
  assert_int_equal(c->rx_moved_bytes, 3);
}

/* P121-41 */
static void a_burst_is_parsed_in_place(void **state) {
  (void)state;
  struct fx fx;
  size_t acks = 0;
  fx_new(&fx);
  fx_open(&fx);
  feed_acks(&fx);
  assert_int_equal(qwp_ws_receive(fx.ws, count_acks, &acks, NULL), QWP_OK);
  assert_int_equal(acks, 5041); /* all of the first fill, with one recv */
  assert_int_equal(qwp_ws_receive(fx.ws, count_acks, &acks, NULL), QWP_OK);
  assert_int_equal(acks, ACKS);
  assert_burst(&fx);
  fx_del(&fx);
}

/* P121-42: the same through the call that waits, which compacts by a line of its own. */
static void a_burst_is_parsed_in_place_when_waiting(void **state) {
  (void)state;
  struct fx fx;
  size_t acks = 0;
  fx_new(&fx);
  fx_open(&fx);
  feed_acks(&fx);
  while (acks < ACKS) {
    assert_int_equal(qwp_ws_receive_wait(fx.ws, 1000 * QWP_NS_PER_MS, count_acks, &acks, NULL), QWP_OK);
  }
  assert_burst(&fx);
  fx_del(&fx);
}

static void waiting_for_the_first_byte(void **state) {
  (void)state;
  struct fx fx;
  struct fx_messages m = {0};
  struct qwp_error err;
  char text[256];
  fx_new(&fx);
  fx_open(&fx);
  int64_t start = fx.sn.now_ns;
  fx.sn.waits = SN_SCRIPT(QWP_WOKEN, 0);
  assert_int_equal(qwp_ws_receive_wait(fx.ws, 700, fx_on_message, &m, &err), QWP_TIMEOUT);
  assert_int_equal(fx.sn.now_ns, start + 700);
  assert_string_equal(sn_trace_text(&fx.sn, text, sizeof text), "recv(65536)->again poll_r poll_r wake");

  sn_forget_trace(&fx.sn);
  assert_int_equal(qwp_ws_receive_wait(fx.ws, 0, fx_on_message, &m, &err), QWP_TIMEOUT); /* look only */
  assert_string_equal(sn_trace_text(&fx.sn, text, sizeof text), "recv(65536)->again");

  sn_forget_trace(&fx.sn);
  struct fx_bytes b = {0};
  fx_put_frame(&b, 0x82, "hello", 5);
  sn_feed(&fx.sn, b.p, b.n);
  fx.sn.recvs = SN_SCRIPT(-EAGAIN, 3, -EAGAIN);
  assert_int_equal(qwp_ws_receive_wait(fx.ws, 700, fx_on_message, &m, &err), QWP_OK);
  assert_int_equal(m.count, 0); /* a first byte, not a whole message */
  assert_int_equal(qwp_ws_receive_wait(fx.ws, 700, fx_on_message, &m, &err), QWP_OK);
  assert_int_equal(m.count, 1);
  assert_string_equal(sn_trace_text(&fx.sn, text, sizeof text),
                      "recv(65536)->again poll_r recv(65536)->3 recv(65533)->again poll_r recv(65533)->4");
  fx.sn.waits = SN_SCRIPT(-EAGAIN);
  assert_int_equal(qwp_ws_receive_wait(fx.ws, 700, fx_on_message, &m, &err), QWP_AGAIN);
  free(b.p);
  free(m.all.p);
  fx_del(&fx);
}

/* ---- P121-43 ---------------------------------------------------------------------- */

/* The buffer as it was before: whatever is consumed, the rest moves to the front at once.
 * Nothing but lengths: frames end at the given offsets of the stream. */
struct eager {
  size_t stored, cap; /* bytes not yet parsed, always at the front */
  size_t base;        /* stream offset of the first of them */
  const size_t *ends; /* stream offsets at which frames end */
  size_t count, at;
};

static void eager_before_recv(struct eager *e, size_t *offset, size_t *room) {
  if (e->stored == e->cap) e->cap *= 2;
  *offset = e->stored;
  *room = e->cap - e->stored;
}

static void eager_received(struct eager *e, size_t n) {
  e->stored += n;
  while (e->at < e->count && e->ends[e->at] <= e->base + e->stored) {
    e->stored -= e->ends[e->at] - e->base;
    e->base = e->ends[e->at++];
  }
}

struct watch {
  struct fx *fx;
  struct eager eager;
  size_t recvs;
};

static void compare_at_recv(void *arg, const void *buf, size_t n) {
  (void)buf;
  struct watch *w = arg;
  size_t offset, room;
  eager_before_recv(&w->eager, &offset, &room);
  size_t capacity = (size_t)qwp_ws_counters(w->fx->ws)->rx_capacity;
  assert_int_equal(n, room);
  assert_int_equal(capacity - n, offset);
  w->recvs++;
}

static size_t random_frame_bytes(uint64_t *seed) {
  switch (sn_random(seed) >> 61) {
    case 0: return sn_random(seed) % 126;
    case 1: return 126 + sn_random(seed) % 2000;
    default: return 11;
  }
}

static void one_random_chunking(uint64_t seed, size_t *recvs, size_t *moves, size_t *grows) {
  struct fx fx;
  struct fx_messages m = {0};
  struct fx_bytes b = {0};
  static const uint8_t zeros[4096];
  size_t ends[300], count = 1 + sn_random(&seed) % 300;
  fx_new(&fx);
  fx.config.rx_initial_bytes = 512;
  qwp_ws_del(fx.ws);
  fx.ws = qwp_ws_new(&fx.sn.ops, &fx.config);
  fx_open(&fx);
  for (size_t i = 0; i < count; i++) {
    fx_put_frame(&b, 0x82, zeros, random_frame_bytes(&seed));
    ends[i] = b.n;
  }
  sn_feed(&fx.sn, b.p, b.n);
  struct watch w = {.fx = &fx,
                    .eager = {.cap = (size_t)qwp_ws_counters(fx.ws)->rx_capacity, .ends = ends, .count = count}};
  fx.sn.at_recv = compare_at_recv;
  fx.sn.at_recv_arg = &w;
  const size_t chunk_max = 1 + sn_random(&seed) % 1500;
  while (fx.sn.in_at < fx.sn.in_len) {
    const long chunk = (long)(1 + sn_random(&seed) % chunk_max);
    fx.sn.recvs = (struct sn_script){.results = &chunk, .count = 1};
    size_t before = fx.sn.in_at;
    if (sn_random(&seed) & 1) {
      assert_int_equal(qwp_ws_receive(fx.ws, fx_on_message, &m, NULL), QWP_OK);
    } else {
      assert_int_equal(qwp_ws_receive_wait(fx.ws, 1, fx_on_message, &m, NULL), QWP_OK);
    }
    eager_received(&w.eager, fx.sn.in_at - before);
  }
  assert_int_equal(m.count, count);
  assert_int_equal(w.eager.at, count);
  *recvs += w.recvs;
  *moves += (size_t)qwp_ws_counters(fx.ws)->rx_moves;
  *grows += (size_t)qwp_ws_counters(fx.ws)->rx_grows;
  free(b.p);
  free(m.all.p);
  fx_del(&fx);
}

static void the_state_at_every_recv_is_that_of_an_eager_buffer(void **state) {
  (void)state;
  size_t recvs = 0, moves = 0, grows = 0;
  for (uint64_t seed = 1; seed <= 1000; seed++) one_random_chunking(seed * 0x9E3779B97F4A7C15u, &recvs, &moves, &grows);
  /* The property says something only if the interesting states were reached. */
  assert_true(recvs > 100000);
  assert_true(moves > 10000);
  assert_true(grows > 500);
}

/* ---- P121-46, 47 ------------------------------------------------------------------- */

static void growth_rules(void **state) {
  (void)state;
  struct fx fx;
  struct fx_messages m = {0};
  struct qwp_error err;
  fx_new(&fx);
  fx_open(&fx);
  const struct qwp_ws_counters *c = qwp_ws_counters(fx.ws);
  /* A frame that just fits, in two parts: no growth. */
  fx_feed_frame(&fx, 0x82, 65532);
  fx.sn.recvs = SN_SCRIPT(65000);
  assert_int_equal(fx_receive_all(&fx, &m, &err), QWP_AGAIN);
  assert_int_equal(m.count, 1);
  assert_int_equal(c->rx_grows, 0);
  fx_feed_frame(&fx, 0x82, 100000);
  assert_int_equal(fx_receive_all(&fx, &m, &err), QWP_AGAIN);
  assert_int_equal(m.count, 2);
  assert_int_equal(c->rx_grows, 1);
  assert_int_equal(c->rx_capacity, 131072);
  fx_feed_frame(&fx, 0x82, 11);
  assert_int_equal(fx_receive_all(&fx, &m, &err), QWP_AGAIN);
  assert_int_equal(c->rx_capacity, 131072);
  qwp_ws_close(fx.ws);
  fx_open(&fx);
  assert_int_equal(c->rx_capacity, 131072); /* nor with the next connection */
  free(m.all.p);
  fx_del(&fx);
}

/* The limit counts header and payload; an announced length allocates nothing (CASE-48). */
static void the_largest_frame(void **state) {
  (void)state;
  for (size_t more = 0; more <= 1; more++) {
    struct fx fx;
    struct fx_messages m = {0};
    struct qwp_error err;
    fx_new(&fx);
    fx.config.rx_max_bytes = 200000;
    qwp_ws_del(fx.ws);
    fx.ws = qwp_ws_new(&fx.sn.ops, &fx.config);
    fx_open(&fx);
    fx_feed_frame(&fx, 0x82, 200000 - 10 + more);
    assert_int_equal(fx_receive_all(&fx, &m, &err), more ? QWP_CONN_PROTOCOL : QWP_AGAIN);
    assert_int_equal(m.count, more ? 0 : 1);
    assert_int_equal(qwp_ws_counters(fx.ws)->rx_capacity, more ? 65536 : 200000);
    if (more) {
      struct fx_frame close = fx_read_frame(fx.sn.out, fx.sn.out_len);
      assert_memory_equal(close.payload, "\x03\xf1", 2); /* 1009 */
      free(close.payload);
    }
    free(m.all.p);
    fx_del(&fx);
  }
}

struct in_place {
  struct fx *fx;
  size_t calls;
  const uint8_t *buffer;
};

static uint32_t checksum(const uint8_t *p, size_t n) {
  uint32_t sum = 1;
  for (size_t i = 0; i < n; i++) sum = sum * 31 + p[i];
  return sum;
}

static enum qwp_status check_in_place(void *ctx, unsigned opcode, const uint8_t *payload, size_t n) {
  struct in_place *w = ctx;
  (void)opcode;
  uint32_t before = checksum(payload, n);
  assert_int_equal(n, 1000);
  for (size_t i = 0; i < n; i++) assert_int_equal(payload[i], (uint8_t)(i * 31 >> 3));
  fx_feed_frame(w->fx, 0x82, 1000); /* the next receive is queued, a control frame and a flush go out */
  assert_int_equal(qwp_ws_pong(w->fx->ws, payload, 100), QWP_OK);
  assert_int_equal(qwp_ws_flush(w->fx->ws, NULL), QWP_OK);
  assert_int_equal(checksum(payload, n), before);
  /* In place: payloads of one fill lie one behind the other, nothing was moved or copied. */
  if (w->calls++ % 3) assert_ptr_equal(payload, w->buffer + 1004);
  w->buffer = payload;
  return QWP_OK;
}

/* P121-47: a payload is valid, and where it was received, during its callback. */
static void payloads_stay_valid_in_place(void **state) {
  (void)state;
  struct fx fx;
  fx_new(&fx);
  fx_open(&fx);
  for (size_t i = 0; i < 4; i++) fx_feed_frame(&fx, 0x82, 1000);
  struct in_place w = {.fx = &fx};
  fx.sn.recvs = SN_SCRIPT(3 * 1004 + 500);
  assert_int_equal(qwp_ws_receive(fx.ws, check_in_place, &w, NULL), QWP_OK);
  assert_int_equal(w.calls, 3);
  fx.sn.recvs = SN_SCRIPT(504 + 2 * 1004);
  assert_int_equal(qwp_ws_receive(fx.ws, check_in_place, &w, NULL), QWP_OK);
  assert_int_equal(w.calls, 6);
  fx_del(&fx);
}

static enum qwp_status close_it(void *ctx, unsigned opcode, const uint8_t *payload, size_t n) {
  struct fx *fx = ctx;
  (void)opcode;
  (void)payload;
  (void)n;
  qwp_ws_close(fx->ws);
  return QWP_OK;
}

static void what_the_callback_may_do(void **state) {
  (void)state;
  struct fx fx;
  struct fx_messages m = {.answer = QWP_REJECTED};
  fx_new(&fx);
  fx_open(&fx);
  for (size_t i = 0; i < 3; i++) fx_feed_frame(&fx, 0x82, i);
  /* Its code ends the call; the messages behind it are handed over next, without a recv. */
  for (size_t i = 1; i <= 3; i++) {
    assert_int_equal(qwp_ws_receive(fx.ws, fx_on_message, &m, NULL), QWP_REJECTED);
    assert_int_equal(m.count, i);
    assert_int_equal(sn_count(&fx.sn, 'r'), 1);
  }
  /* It may close the connection: the rest of the buffer is gone with it. */
  fx_feed_frame(&fx, 0x82, 1);
  fx_feed_frame(&fx, 0x82, 1);
  assert_int_equal(qwp_ws_receive(fx.ws, close_it, &fx, NULL), QWP_OK);
  assert_int_equal(qwp_ws_state(fx.ws), QWP_WS_CLOSED);
  assert_int_equal(qwp_ws_receive(fx.ws, fx_on_message, &m, NULL), QWP_MISUSE);
  assert_int_equal(qwp_ws_receive_wait(fx.ws, 1, fx_on_message, &m, NULL), QWP_MISUSE);
  free(m.all.p);
  fx_del(&fx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_burst_is_parsed_in_place),
      cmocka_unit_test(a_burst_is_parsed_in_place_when_waiting),
      cmocka_unit_test(waiting_for_the_first_byte),
      cmocka_unit_test(the_state_at_every_recv_is_that_of_an_eager_buffer),
      cmocka_unit_test(growth_rules),
      cmocka_unit_test(the_largest_frame),
      cmocka_unit_test(payloads_stay_valid_in_place),
      cmocka_unit_test(what_the_callback_may_do),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
