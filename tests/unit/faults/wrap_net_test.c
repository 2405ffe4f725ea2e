#include <errno.h>

#include "kit.h"

#define R QWP_READABLE
#define W QWP_WRITABLE

static uint8_t wire[200000];

/* n data frames of 64 wire bytes. */
static size_t frames64(size_t n) {
  size_t at = 0;
  for (size_t i = 0; i < n; i++) at += kit_frame(wire + at, 2, 58);
  assert_int_equal(at, n * 64);
  return at;
}

static void assert_trace(struct kit *k, size_t from, const char *const *texts, size_t count) {
  assert_int_equal(faults_trace_count(k->f), from + count);
  for (size_t i = 0; i < count; i++) {
    char text[64];
    fault_trace_text(faults_trace_at(k->f, from + i), text, sizeof text);
    assert_string_equal(text, texts[i]);
  }
}

/* ---- counting ---------------------------------------------------------------------- */

static void each_call_counts_where_it_belongs(void **state) {
  (void)state;
  struct kit k;
  uint8_t buf[256];
  kit_new(&k, NULL, 0);
  k.sn.connect_result = -EINPROGRESS;
  assert_int_equal(kit_connect(&k), -EINPROGRESS);
  assert_int_equal(kit_wait(&k, W), W); /* for the connect: part of the upgrade, not a poll */
  assert_int_equal(k.ops->net->connected(k.ops->net_ctx, k.sock), 0);
  kit_send(&k, REQUEST, 10);
  kit_send(&k, &REQUEST[10], sizeof REQUEST - 11);
  assert_int_equal(kit_recv(&k, buf, sizeof buf), -EAGAIN);
  kit_wait(&k, R);
  sn_feed(&k.sn, ANSWER "\x82\x01x", sizeof ANSWER - 1 + 3);
  assert_int_equal(kit_recv(&k, buf, sizeof buf), sizeof ANSWER + 2);
  size_t data = kit_frame(wire, 2, 30);
  size_t ping = kit_frame(wire + data, 9, 0);
  kit_send(&k, wire, data);            /* data */
  kit_send(&k, wire + data, ping);     /* control */
  kit_send(&k, wire, data + ping);     /* both: data */
  assert_int_equal(kit_recv(&k, buf, sizeof buf), -EAGAIN);
  kit_wait(&k, R | W);
  kit_wait(&k, R);
  kit_wait(&k, 0);
  k.ops->net->wait(k.ops->net_ctx, -1, 0, 1);
  k.ops->clock->now_ns(k.ops->clock_ctx);
  k.ops->clock->wall_ns(k.ops->clock_ctx);
  struct fault_counters c = kit_counters(&k);
  assert_int_equal(c.connects, 1);
  assert_int_equal(c.open, 1);
  assert_int_equal(c.hs_send, 2);
  assert_int_equal(c.hs_bytes_out, sizeof REQUEST - 1);
  assert_int_equal(c.hs_recv, 2);
  assert_int_equal(c.hs_wait, 2);
  assert_int_equal(c.bytes_in, 3);
  assert_int_equal(c.send, 2);
  assert_int_equal(c.ctl_send, 1);
  assert_int_equal(c.flush, 2);
  assert_int_equal(c.bytes_out, 2 * (data + ping));
  assert_int_equal(c.recv, 1);
  assert_int_equal(c.poll_w, 1);
  assert_int_equal(c.poll_r, 1);
  assert_int_equal(c.idle, 2);
  assert_int_equal(c.clock, 2);
  kit_close(&k);
  assert_int_equal(kit_counters(&k).open, 0);
  kit_end(&k);
}

static void the_upgrade_ends_wherever_the_bytes_are_cut(void **state) {
  (void)state;
  for (size_t cut = 1; cut < sizeof ANSWER - 1; cut++) {
    struct kit k;
    uint8_t buf[256];
    kit_new(&k, NULL, 0);
    assert_int_equal(kit_connect(&k), 0);
    sn_feed(&k.sn, ANSWER "abcde", sizeof ANSWER - 1 + 5);
    assert_int_equal(kit_recv(&k, buf, cut), cut);
    assert_int_equal(kit_recv(&k, buf, sizeof buf), sizeof ANSWER - 1 + 5 - cut);
    assert_int_equal(kit_recv(&k, buf, sizeof buf), -EAGAIN);
    struct fault_counters c = kit_counters(&k);
    assert_int_equal(c.hs_recv, 2);
    assert_int_equal(c.recv, 1);
    assert_int_equal(c.bytes_in, 5);
    kit_end(&k);
  }
}

static void a_refused_upgrade_is_never_over(void **state) {
  (void)state;
  static const char refusal[] = "HTTP/1.1 401 Unauthorized\r\n\r\nno";
  struct kit k;
  uint8_t buf[256];
  kit_new(&k, NULL, 0);
  assert_int_equal(kit_connect(&k), 0);
  sn_feed(&k.sn, refusal, sizeof refusal - 1);
  assert_int_equal(kit_recv(&k, buf, sizeof buf), sizeof refusal - 1);
  kit_recv(&k, buf, sizeof buf);
  kit_send(&k, "x", 1);
  struct fault_counters c = kit_counters(&k);
  assert_int_equal(c.hs_recv, 2);
  assert_int_equal(c.hs_send, 1);
  assert_int_equal(c.recv + c.send + c.bytes_in + c.bytes_out, 0);
  kit_end(&k);
}

static void the_trace_reads_like_the_seed(void **state) { /* P121-02 */
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_SEND, .nth = 1, .act = FAULT_DO_SHORT, .value = 40),
      RULE(.point = FAULT_SEND, .nth = 2, .act = FAULT_DO_AGAIN),
  };
  struct kit k;
  kit_open(&k, rules, 2);
  size_t before = faults_trace_count(k.f);
  kit_frame(wire, 2, 94);
  assert_int_equal(kit_send(&k, wire, 100), 40);
  assert_int_equal(kit_send(&k, wire + 40, 60), -EAGAIN);
  assert_int_equal(kit_wait(&k, R | W), R | W);
  assert_int_equal(kit_send(&k, wire + 40, 60), 60);
  const char *const expected[] = {"send(100)->40", "send(60)->again", "poll_w", "send(60)->60"};
  assert_trace(&k, before, expected, 4);
  assert_int_equal(faults_trace_at(k.f, before)->first_frame, 1);
  assert_int_equal(faults_trace_at(k.f, before + 3)->first_frame, 0);
  assert_int_equal(faults_trace_lost(k.f), 0);
  assert_int_equal(k.sn.out_len, 100);
  assert_memory_equal(k.sn.out, wire, 100);
  assert_int_equal(kit_counters(&k).send, 3);
  assert_int_equal(kit_counters(&k).flush, 1);
  kit_end(&k);
}

static void a_partial_send_leaves_the_walker_in_the_frame(void **state) {
  (void)state;
  struct kit k;
  static const long results[] = {70};
  kit_open(&k, NULL, 0);
  k.sn.sends = (struct sn_script){results, 1, 0};
  size_t n = frames64(3);
  assert_int_equal(kit_send(&k, wire, n), 70); /* six bytes into frame 2 */
  assert_int_equal(kit_send(&k, wire + 70, n - 70), n - 70);
  size_t last = faults_trace_count(k.f) - 1;
  assert_int_equal(faults_trace_at(k.f, last)->first_frame, 3);
  kit_end(&k);
}

/* ---- numbers of connections ----------------------------------------------------------- */

static void a_refused_dial_gives_its_number_back(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_SEND, .connection = 1, .phase = FAULT_PHASE_UPGRADE, .nth = 1, .act = FAULT_DO_AGAIN),
      RULE(.point = FAULT_CONNECT, .connection = 1, .nth = 3, .act = FAULT_DO_ERRNO, .err = ENETUNREACH),
  };
  static const long refused[] = {-ECONNREFUSED};
  struct kit k;
  kit_new(&k, rules, 2);
  k.sn.connect_result = -EINPROGRESS;
  k.sn.connects = (struct sn_script){refused, 1, 0};
  assert_int_equal(kit_connect(&k), -EINPROGRESS);
  assert_int_equal(k.ops->net->connected(k.ops->net_ctx, k.sock), -ECONNREFUSED);
  kit_close(&k);
  assert_int_equal(kit_connect(&k), -EINPROGRESS); /* abandoned before it stood */
  kit_close(&k);
  assert_int_equal(kit_connect(&k), -ENETUNREACH);
  assert_int_equal(k.sock, -1);
  assert_int_equal(kit_connect(&k), -EINPROGRESS);
  assert_int_equal(k.ops->net->connected(k.ops->net_ctx, k.sock), 0);
  assert_int_equal(kit_send(&k, REQUEST, 5), -EAGAIN); /* this is connection 1 */
  assert_int_equal(faults_unfired(k.f, NULL, NULL), 0);
  assert_int_equal(kit_counters(&k).connects, 4);
  kit_end(&k);
}

static void a_connect_under_reset_keeps_its_number(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_CONNECT, .connection = 1, .act = FAULT_DO_RST),
      RULE(.point = FAULT_SEND, .connection = 2, .phase = FAULT_PHASE_UPGRADE, .act = FAULT_DO_AGAIN),
  };
  struct kit k;
  kit_new(&k, rules, 2);
  k.sn.connect_result = -EINPROGRESS;
  assert_int_equal(kit_connect(&k), -EINPROGRESS);
  assert_int_equal(kit_wait(&k, W), W);
  assert_int_equal(k.ops->net->connected(k.ops->net_ctx, k.sock), -ECONNRESET);
  assert_int_equal(k.resets, 1);
  kit_close(&k);
  kit_connect(&k);
  assert_int_equal(kit_send(&k, REQUEST, 5), -EAGAIN);
  kit_end(&k);
}

/* ---- picking ------------------------------------------------------------------------------ */

static void epipe_at_every_byte_lets_exactly_the_bytes_before_it_through(void **state) { /* P121-23 */
  (void)state;
  size_t n = frames64(3);
  for (size_t b = 0; b < n; b++) {
    const struct fault_rule rules[] = {RULE_AT((int64_t)b, .point = FAULT_SEND, .act = FAULT_DO_ERRNO, .err = EPIPE)};
    struct kit k;
    kit_open(&k, rules, 1);
    if (b > 0) assert_int_equal(kit_send(&k, wire, n), b);
    assert_int_equal(kit_send(&k, wire + b, n - b), -EPIPE);
    assert_int_equal(kit_send(&k, wire + b, n - b), -EPIPE);
    assert_int_equal(k.sn.out_len, b);
    if (b > 0) assert_memory_equal(k.sn.out, wire, b);
    assert_int_equal(k.shutdowns, 1);
    assert_int_equal(k.resets, 0);
    assert_int_equal(faults_fired(k.f, 0), 1);
    kit_end(&k);
  }
}

static void a_place_is_cut_out_of_the_middle_of_the_stream(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE_AT(100, .point = FAULT_SEND, .act = FAULT_DO_ERRNO, .err = ENOBUFS, .repeat = FAULT_TIMES, .times = 2),
      RULE(.point = FAULT_SEND, .frame = 3, .act = FAULT_DO_SHORT, .value = 1),
      RULE_AT(190, .point = FAULT_SEND, .act = FAULT_DO_SHORT, .value = 0),
  };
  struct kit k;
  kit_open(&k, rules, 3);
  size_t n = frames64(4);
  assert_int_equal(kit_send(&k, wire, 64), 64); /* does not carry byte 100 */
  assert_int_equal(kit_send(&k, wire + 64, n - 64), 36);
  assert_int_equal(kit_send(&k, wire + 100, n - 100), -ENOBUFS);
  assert_int_equal(kit_send(&k, wire + 100, n - 100), -ENOBUFS);
  assert_int_equal(kit_send(&k, wire + 100, n - 100), 28); /* up to frame 3 */
  assert_int_equal(kit_send(&k, wire + 128, n - 128), 1);
  assert_int_equal(kit_send(&k, wire + 129, n - 129), 61); /* ends right before byte 190 */
  assert_int_equal(kit_send(&k, wire + 190, n - 190), n - 190);
  assert_int_equal(k.sn.out_len, n);
  assert_memory_equal(k.sn.out, wire, n);
  assert_int_equal(faults_unfired(k.f, NULL, NULL), 0);
  assert_int_equal(k.shutdowns + k.resets, 0);
  kit_end(&k);
}

static void control_frames_do_not_count_unless_asked_for(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_SEND, .nth = 1, .act = FAULT_DO_SHORT, .value = 7),
      RULE(.point = FAULT_SEND, .nth = 2, .kind = FAULT_KIND_CONTROL, .act = FAULT_DO_AGAIN),
      RULE(.point = FAULT_SEND, .nth = 4, .kind = FAULT_KIND_ANY, .act = FAULT_DO_ERRNO, .err = EINTR),
  };
  struct kit k;
  kit_open(&k, rules, 3);
  uint8_t ping[16];
  size_t p = kit_frame(ping, 9, 0), n = frames64(1);
  assert_int_equal(kit_send(&k, ping, p), p);
  assert_int_equal(kit_send(&k, wire, n), 7);
  assert_int_equal(kit_send(&k, wire + 7, n - 7), n - 7);
  assert_int_equal(kit_send(&k, ping, p), -EAGAIN); /* the fourth of all, too: the first rule in order */
  assert_int_equal(kit_send(&k, ping, p), p);
  assert_int_equal(faults_fired(k.f, 2), 0);
  kit_end(&k);
}

static void repeats(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_SEND, .nth = 2, .act = FAULT_DO_AGAIN, .repeat = FAULT_TIMES, .times = 3),
      RULE(.point = FAULT_RECV, .nth = 2, .act = FAULT_DO_ERRNO, .err = EINTR, .repeat = FAULT_FOREVER),
      RULE(.point = FAULT_WAIT, .act = FAULT_DO_AGAIN, .repeat = FAULT_UNTIL, .until = "released"),
  };
  struct kit k;
  uint8_t buf[16];
  kit_open(&k, rules, 3);
  size_t n = frames64(1);
  const long sends[] = {(long)n, -EAGAIN, -EAGAIN, -EAGAIN, (long)n};
  for (size_t i = 0; i < 5; i++) assert_int_equal(kit_send(&k, wire, n), sends[i]);
  const long recvs[] = {-EAGAIN, -EINTR, -EINTR, -EINTR};
  for (size_t i = 0; i < 4; i++) assert_int_equal(kit_recv(&k, buf, sizeof buf), recvs[i]);
  assert_int_equal(kit_wait(&k, R), 0);
  assert_int_equal(kit_wait(&k, R), 0);
  faults_event(k.f, "connected"); /* another event */
  assert_int_equal(kit_wait(&k, R), 0);
  faults_release(k.f);
  assert_int_equal(kit_wait(&k, R), R);
  assert_int_equal(faults_fired(k.f, 0), 3);
  assert_int_equal(faults_fired(k.f, 2), 3);
  kit_end(&k);
}

static void connected_is_an_event_of_its_own(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_SEND, .phase = FAULT_PHASE_ANY, .act = FAULT_DO_SHORT, .value = 1, .repeat = FAULT_UNTIL,
           .until = "connected"),
  };
  struct kit k;
  uint8_t buf[256];
  kit_new(&k, rules, 1);
  kit_connect(&k);
  assert_int_equal(kit_send(&k, REQUEST, 10), 1);
  assert_int_equal(kit_send(&k, REQUEST, 10), 1);
  sn_feed(&k.sn, ANSWER, sizeof ANSWER - 1);
  kit_recv(&k, buf, sizeof buf);
  size_t n = frames64(1);
  assert_int_equal(kit_send(&k, wire, n), n);
  kit_end(&k);
}

/* ---- whole faults ---------------------------------------------------------------------------- */

static void arrived_answers_outlive_a_failed_send(void **state) { /* CASE-08 */
  (void)state;
  const struct {
    enum fault_do act;
    int err, result, resets, shutdowns;
  } table[] = {
      {FAULT_DO_ERRNO, EPIPE, -EPIPE, 0, 1},
      {FAULT_DO_ERRNO, ETIMEDOUT, -ETIMEDOUT, 0, 1},
      {FAULT_DO_ERRNO, ECONNRESET, -ECONNRESET, 1, 0},
      {FAULT_DO_RST, 0, -ECONNRESET, 1, 0},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const struct fault_rule rules[] = {RULE(.point = FAULT_SEND, .nth = 1, .act = table[i].act, .err = table[i].err)};
    struct kit k;
    uint8_t buf[16];
    kit_open(&k, rules, 1);
    sn_feed(&k.sn, "answers", 7);
    size_t n = frames64(1);
    assert_int_equal(kit_send(&k, wire, n), table[i].result);
    sn_feed(&k.sn, "too late", 8);
    assert_int_equal(kit_wait(&k, R | W), R | W);
    assert_int_equal(kit_recv(&k, buf, 4), 4);
    assert_int_equal(kit_recv(&k, buf + 4, 12), 3);
    assert_memory_equal(buf, "answers", 7);
    assert_int_equal(kit_recv(&k, buf, 16), 0);
    assert_int_equal(kit_recv(&k, buf, 16), 0);
    assert_int_equal(kit_send(&k, wire, n), -EPIPE);
    assert_int_equal(k.resets, table[i].resets);
    assert_int_equal(k.shutdowns, table[i].shutdowns);
    assert_int_equal(k.sn.out_len, 0);
    assert_int_equal(kit_counters(&k).bytes_in, 7);
    kit_end(&k);
  }
}

static void some_errors_leave_the_connection_alive(void **state) { /* CASE-82 */
  (void)state;
  static const int errs[] = {ENOBUFS, ENOMEM, EINTR, EAGAIN};
  for (size_t i = 0; i < 4; i++) {
    const struct fault_rule rules[] = {
        RULE(.point = FAULT_SEND, .nth = 1, .act = FAULT_DO_ERRNO, .err = errs[i]),
        RULE(.point = FAULT_RECV, .nth = 1, .act = FAULT_DO_ERRNO, .err = errs[i]),
    };
    struct kit k;
    uint8_t buf[8];
    kit_open(&k, rules, 2);
    sn_feed(&k.sn, "abc", 3);
    size_t n = frames64(2);
    assert_int_equal(kit_send(&k, wire, n), -errs[i]);
    assert_int_equal(kit_send(&k, wire, n), n);
    assert_int_equal(kit_recv(&k, buf, 8), -errs[i]);
    assert_int_equal(kit_recv(&k, buf, 8), 3);
    assert_int_equal(k.resets + k.shutdowns, 0);
    assert_memory_equal(k.sn.out, wire, n);
    kit_end(&k);
  }
}

static void a_reset_seen_by_recv_comes_at_its_byte(void **state) {
  (void)state;
  const struct fault_rule rules[] = {RULE_AT(4, .point = FAULT_RECV, .act = FAULT_DO_RST)};
  struct kit k;
  uint8_t buf[16];
  kit_open(&k, rules, 1);
  sn_feed(&k.sn, "abcdefgh", 8);
  assert_int_equal(kit_recv(&k, buf, 16), 4);
  assert_int_equal(kit_recv(&k, buf, 16), -ECONNRESET);
  assert_int_equal(kit_recv(&k, buf, 16), 0);
  assert_int_equal(kit_send(&k, wire, 1), -EPIPE);
  assert_int_equal(k.resets, 1);
  kit_end(&k);
}

static void fin_ends_reading_and_nothing_else(void **state) {
  (void)state;
  const struct fault_rule rules[] = {RULE(.point = FAULT_SEND, .nth = 1, .act = FAULT_DO_FIN)};
  struct kit k;
  uint8_t buf[16];
  kit_open(&k, rules, 1);
  sn_feed(&k.sn, "abc", 3);
  size_t n = frames64(1);
  assert_int_equal(kit_send(&k, wire, n), n); /* the send goes on */
  sn_feed(&k.sn, "late", 4);
  assert_int_equal(kit_wait(&k, R), R);
  assert_int_equal(kit_recv(&k, buf, 16), 3);
  assert_int_equal(kit_recv(&k, buf, 16), 0);
  assert_int_equal(kit_send(&k, wire, n), n);
  assert_int_equal(k.resets + k.shutdowns, 0);
  kit_end(&k);
}

static void a_reset_while_waiting_is_met_by_the_next_call(void **state) {
  (void)state;
  const struct fault_rule rules[] = {RULE(.point = FAULT_WAIT, .nth = 1, .act = FAULT_DO_RST)};
  struct kit k;
  uint8_t buf[16];
  kit_open(&k, rules, 1);
  sn_feed(&k.sn, "abc", 3);
  assert_int_equal(kit_wait(&k, R), R);
  assert_int_equal(kit_recv(&k, buf, 16), 3);
  assert_int_equal(kit_recv(&k, buf, 16), -ECONNRESET);
  assert_int_equal(kit_recv(&k, buf, 16), 0);
  assert_int_equal(kit_send(&k, wire, 1), -EPIPE);
  assert_int_equal(k.resets, 1);
  kit_end(&k);
}

/* ---- bytes and time --------------------------------------------------------------------------- */

static void corruption_flips_one_bit(void **state) {
  (void)state;
  static const long results[] = {10};
  const struct fault_rule rules[] = {
      RULE_AT(70, .point = FAULT_SEND, .act = FAULT_DO_CORRUPT, .value = 9), /* bit 1 of byte 71 */
      RULE_AT(5, .point = FAULT_RECV, .act = FAULT_DO_CORRUPT, .value = 0),
  };
  struct kit k;
  uint8_t buf[16];
  kit_open(&k, rules, 2);
  k.sn.sends = (struct sn_script){results, 1, 0};
  size_t n = frames64(2);
  assert_int_equal(kit_send(&k, wire, n), 10); /* the byte did not get through: not fired yet */
  assert_int_equal(faults_fired(k.f, 0), 0);
  assert_int_equal(kit_send(&k, wire + 10, n - 10), n - 10);
  assert_int_equal(faults_fired(k.f, 0), 1);
  for (size_t i = 0; i < n; i++) assert_int_equal(k.sn.out[i] ^ wire[i], i == 71 ? 2 : 0);
  sn_feed(&k.sn, "abc", 3);
  assert_int_equal(kit_recv(&k, buf, 16), 3);
  assert_memory_equal(buf, "abc", 3);
  sn_feed(&k.sn, "defg", 4);
  assert_int_equal(kit_recv(&k, buf, 16), 4);
  assert_memory_equal(buf, "degg", 4);
  assert_int_equal(faults_unfired(k.f, NULL, NULL), 0);
  kit_end(&k);
}

static void chunks_bound_every_recv(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_RECV, .act = FAULT_DO_CHUNK, .value = 3, .repeat = FAULT_FOREVER)};
  struct kit k;
  uint8_t buf[16];
  kit_open(&k, rules, 1);
  sn_feed(&k.sn, "abcdefgh", 8);
  const long got[] = {3, 3, 2, -EAGAIN};
  for (size_t i = 0; i < 4; i++) assert_int_equal(kit_recv(&k, buf, 16), got[i]);
  kit_end(&k);
}

static void a_cut_counts_receives_that_brought_something(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_RECV, .nth = 2, .act = FAULT_DO_SHORT, .value = 3),
      RULE(.point = FAULT_RECV, .act = FAULT_DO_CHUNK, .value = 6, .repeat = FAULT_FOREVER),
  };
  struct kit k;
  uint8_t buf[16];
  kit_open(&k, rules, 2);
  for (int i = 0; i < 3; i++) assert_int_equal(kit_recv(&k, buf, 16), -EAGAIN);
  assert_int_equal(faults_unfired(k.f, NULL, NULL), 2);
  sn_feed(&k.sn, "ab", 2);
  assert_int_equal(kit_recv(&k, buf, 16), 2); /* the first; fewer than a chunk, so nothing was cut */
  assert_int_equal(faults_unfired(k.f, NULL, NULL), 2);
  assert_int_equal(kit_recv(&k, buf, 16), -EAGAIN);
  sn_feed(&k.sn, "abcdefghij", 10);
  assert_int_equal(kit_recv(&k, buf, 16), 3);
  assert_int_equal(faults_fired(k.f, 0), 1);
  assert_int_equal(faults_fired(k.f, 1), 0); /* the other rule's cut came first */
  assert_int_equal(kit_recv(&k, buf, 16), 6);
  assert_int_equal(faults_fired(k.f, 1), 1);
  kit_end(&k);
}

static void a_cut_of_a_full_socket_waits_for_one_that_takes_bytes(void **state) {
  (void)state;
  static const long results[] = {-EAGAIN, 40, 7, 64};
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_SEND, .nth = 1, .act = FAULT_DO_SHORT, .value = 40),
      RULE(.point = FAULT_SEND, .nth = 2, .act = FAULT_DO_SHORT, .value = 8),
  };
  struct kit k;
  kit_open(&k, rules, 2);
  k.sn.sends = (struct sn_script){results, 4, 0};
  size_t n = frames64(2);
  assert_int_equal(kit_send(&k, wire, n), -EAGAIN);
  assert_int_equal(faults_unfired(k.f, NULL, NULL), 2);
  assert_int_equal(kit_send(&k, wire, n), 40);
  assert_int_equal(faults_fired(k.f, 0), 1);
  assert_int_equal(kit_send(&k, wire + 40, n - 40), 7); /* the socket's own cut, not the rule's */
  assert_int_equal(faults_fired(k.f, 1), 0);
  assert_int_equal(kit_send(&k, wire + 47, n - 47), 64);
  assert_int_equal(faults_unfired(k.f, NULL, NULL), 1);
  kit_end(&k);
}

static void a_cut_or_flip_beside_a_failure_did_not_fire(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_SEND, .nth = 1, .act = FAULT_DO_SHORT, .value = 1),
      RULE(.point = FAULT_SEND, .nth = 1, .act = FAULT_DO_CORRUPT, .value = 1),
      RULE(.point = FAULT_SEND, .nth = 1, .act = FAULT_DO_AGAIN),
      RULE(.point = FAULT_SEND, .nth = 2, .act = FAULT_DO_SHORT, .value = 2), /* the failed call counts */
      RULE(.point = FAULT_ENTROPY, .nth = 1, .act = FAULT_DO_CORRUPT, .value = 1),
      RULE(.point = FAULT_ENTROPY, .nth = 1, .act = FAULT_DO_ERRNO, .err = EIO),
  };
  const int64_t fired[] = {0, 0, 1, 1, 0, 1};
  struct kit k;
  uint8_t buf[16];
  kit_open(&k, rules, 6);
  size_t n = frames64(1);
  assert_int_equal(kit_send(&k, wire, n), -EAGAIN);
  assert_int_equal(kit_send(&k, wire, n), 2);
  assert_int_equal(kit_send(&k, wire + 2, n - 2), n - 2);
  const struct qwp_clock_ops *clock = k.ops->clock;
  assert_int_equal(clock->entropy(k.ops->clock_ctx, buf, sizeof buf), -EIO);
  assert_int_equal(clock->entropy(k.ops->clock_ctx, buf, sizeof buf), 0);
  for (size_t i = 0; i < 6; i++) assert_int_equal(faults_fired(k.f, i), fired[i]);
  kit_end(&k);
}

static void delays_pass_before_and_after(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_SEND, .nth = 1, .act = FAULT_DO_DELAY_BEFORE, .value = 5),
      RULE(.point = FAULT_SEND, .nth = 2, .act = FAULT_DO_DELAY_AFTER, .value = 70),
      RULE(.point = FAULT_SEND, .nth = 2, .act = FAULT_DO_SHORT, .value = 1), /* with the delay, not instead */
  };
  struct kit k;
  kit_open(&k, rules, 3);
  size_t n = frames64(1);
  assert_int_equal(kit_send(&k, wire, n), n);
  assert_int_equal(k.delayed_ns, 5);
  assert_int_equal(kit_send(&k, wire, n), 1);
  assert_int_equal(k.delayed_ns, 75);
  kit_end(&k);
}

static void a_short_that_shortens_nothing_did_not_fire(void **state) {
  (void)state;
  const struct fault_rule rules[] = {RULE(.point = FAULT_SEND, .nth = 1, .act = FAULT_DO_SHORT, .value = 64)};
  struct kit k;
  kit_open(&k, rules, 1);
  size_t n = frames64(1);
  assert_int_equal(kit_send(&k, wire, n), n);
  assert_int_equal(faults_unfired(k.f, NULL, NULL), 1);
  kit_end(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_call_counts_where_it_belongs),
      cmocka_unit_test(the_upgrade_ends_wherever_the_bytes_are_cut),
      cmocka_unit_test(a_refused_upgrade_is_never_over),
      cmocka_unit_test(the_trace_reads_like_the_seed),
      cmocka_unit_test(a_partial_send_leaves_the_walker_in_the_frame),
      cmocka_unit_test(a_refused_dial_gives_its_number_back),
      cmocka_unit_test(a_connect_under_reset_keeps_its_number),
      cmocka_unit_test(epipe_at_every_byte_lets_exactly_the_bytes_before_it_through),
      cmocka_unit_test(a_place_is_cut_out_of_the_middle_of_the_stream),
      cmocka_unit_test(control_frames_do_not_count_unless_asked_for),
      cmocka_unit_test(repeats),
      cmocka_unit_test(connected_is_an_event_of_its_own),
      cmocka_unit_test(arrived_answers_outlive_a_failed_send),
      cmocka_unit_test(some_errors_leave_the_connection_alive),
      cmocka_unit_test(a_reset_seen_by_recv_comes_at_its_byte),
      cmocka_unit_test(fin_ends_reading_and_nothing_else),
      cmocka_unit_test(a_reset_while_waiting_is_met_by_the_next_call),
      cmocka_unit_test(corruption_flips_one_bit),
      cmocka_unit_test(chunks_bound_every_recv),
      cmocka_unit_test(a_cut_counts_receives_that_brought_something),
      cmocka_unit_test(a_cut_of_a_full_socket_waits_for_one_that_takes_bytes),
      cmocka_unit_test(a_cut_or_flip_beside_a_failure_did_not_fire),
      cmocka_unit_test(delays_pass_before_and_after),
      cmocka_unit_test(a_short_that_shortens_nothing_did_not_fire),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
