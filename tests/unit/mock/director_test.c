/* director: every trigger, every action, every way to acknowledge - each once, exactly. */
#include "../../testlib/mock_rig.h"

#include "core/director.h"

static struct rig_bytes b;

struct play { /* one connection under one entry */
  struct rig r;
  struct mock_entry entry;
  struct mock_script script;
  struct rig_peer *p;
};

static void begin(struct play *x, struct mock_entry entry) {
  x->entry = entry;
  if (x->entry.connection == 0) x->entry.connection = 1;
  x->script = (struct mock_script){.entries = &x->entry, .entry_count = 1};
  rig_start(&x->r, &x->script);
  x->p = rig_connect(&x->r);
  rig_feed(x->p, RIG_WRITE_HEAD, sizeof RIG_WRITE_HEAD - 1);
}

/* Forgets the 101, keeps what came behind it. */
static void past_101(struct play *x) {
  uint8_t *end = NULL;
  for (size_t i = 0; i + 4 <= x->p->out_n && !end; i++)
    if (memcmp(x->p->out + i, "\r\n\r\n", 4) == 0) end = x->p->out + i + 4;
  assert_non_null(end);
  size_t n = x->p->out_n - (size_t)(end - x->p->out);
  memmove(x->p->out, end, n);
  x->p->out_n = n;
  x->p->writes = 0;
}

static void begin_rule(struct play *x, const struct mock_rule *rule) {
  begin(x, (struct mock_entry){.rules = rule, .rule_count = 1});
  past_101(x);
}

static void rows(struct play *x, int from, int to) {
  for (int i = from; i <= to; i++) rig_row(&b, 0, i);
  rig_feed(x->p, b.p, b.n);
  b.n = 0;
}

static void each_row(struct play *x, int from, int to) {
  for (int i = from; i <= to && x->p->conn; i++) rows(x, i, i);
}

static size_t unfired(struct play *x) { return mock_unfired(x->r.m, NULL, NULL); }

/* ---- acknowledging ------------------------------------------------------------------ */

static void ack_each_answers_every_message_but_deferred_ones(void **state) {
  (void)state;
  struct play x;
  begin(&x, (struct mock_entry){.ack = MOCK_ACK_EACH});
  past_101(&x);
  rig_row(&b, 0x01, 0);
  rows(&x, 1, 4);
  assert_string_equal(rig_said(x.p), "ok(1) ok(2) ok(3) ok(4)");
  assert_int_equal(x.p->writes, 1);
  rig_stop(&x.r);
}

static void ack_per_read_answers_once_a_pass(void **state) {
  (void)state;
  struct play x;
  begin(&x, (struct mock_entry){.ack = MOCK_ACK_PER_READ});
  past_101(&x);
  rows(&x, 0, 19);
  rig_frame(&b, 0x89, "x", 1);
  rows(&x, 20, 20);
  assert_string_equal(rig_said(x.p), "ok(19) pong(1) ok(20)");
  rig_stop(&x.r);
}

static void ack_hold_says_nothing_until_released(void **state) {
  (void)state;
  struct mock_rule release = {.trigger = MOCK_ON_PING, .action = MOCK_DO_RELEASE, .n = 2};
  struct play x;
  begin(&x, (struct mock_entry){.ack = MOCK_ACK_HOLD, .rules = &release, .rule_count = 1});
  past_101(&x);
  rows(&x, 0, 19);
  rig_frame(&b, 0x89, "x", 1);
  rows(&x, 20, 20);
  assert_string_equal(rig_said(x.p), "pong(1)");
  rig_frame(&b, 0x89, "x", 1);
  rows(&x, 21, 21); /* from here on as the server */
  assert_string_equal(rig_said(x.p), "pong(1) ok(20) pong(1) ok(21)");
  assert_int_equal(rig_facts(&x.r).oks, 2);
  rig_stop(&x.r);

  begin(&x, (struct mock_entry){.ack = MOCK_ACK_HOLD}); /* not even at Close or before an error */
  past_101(&x);
  rows(&x, 0, 1);
  rig_frame(&b, 0x82, "bad", 3);
  rig_frame(&b, 0x88, "\x03\xe8", 2);
  rows(&x, 2, 1);
  assert_string_equal(rig_said(x.p), "error 5(2) close 1000");
  rig_stop(&x.r);
}

static void ack_upto_speaks_once(void **state) {
  (void)state;
  struct play x;
  begin(&x, (struct mock_entry){.ack = MOCK_ACK_UPTO, .ack_value = 3});
  past_101(&x);
  each_row(&x, 0, 2);
  assert_int_equal(x.p->out_n, 0);
  each_row(&x, 3, 9);
  rig_frame(&b, 0x88, "\x03\xe8", 2);
  rows(&x, 1, 0);
  assert_string_equal(rig_said(x.p), "ok(3) close 1000");
  rig_stop(&x.r);
}

static void ack_burst_collects_k_for_one_write(void **state) {
  (void)state;
  struct play x;
  begin(&x, (struct mock_entry){.ack = MOCK_ACK_BURST, .ack_value = 3});
  past_101(&x);
  each_row(&x, 0, 1);
  assert_int_equal(x.p->writes, 0);
  rows(&x, 2, 7); /* two bursts in one pass: two writes */
  assert_string_equal(rig_said(x.p), "ok(0) ok(1) ok(2) ok(3) ok(4) ok(5)");
  assert_int_equal(x.p->writes, 2);
  rig_frame(&b, 0x89, "x", 1);
  rows(&x, 1, 0); /* what is left comes with the ping */
  assert_string_equal(rig_said(x.p), "ok(0) ok(1) ok(2) ok(3) ok(4) ok(5) ok(6) ok(7) pong(1)");
  rows(&x, 8, 8);
  rig_frame(&b, 0x88, "\x03\xe8", 2);
  rows(&x, 1, 0);
  assert_string_equal(rig_said(x.p), "ok(0) ok(1) ok(2) ok(3) ok(4) ok(5) ok(6) ok(7) pong(1) ok(8) close 1000");
  assert_int_equal(rig_facts(&x.r).oks, 9);
  rig_stop(&x.r);
}

static void ack_lag_stays_so_many_behind(void **state) {
  (void)state;
  struct mock_rule release = {.trigger = MOCK_AT_FRAME, .n = 9, .action = MOCK_DO_RELEASE};
  struct play x;
  begin(&x, (struct mock_entry){.ack = MOCK_ACK_LAG, .ack_value = 3, .rules = &release, .rule_count = 1});
  past_101(&x);
  rows(&x, 0, 2);
  assert_int_equal(x.p->out_n, 0);
  each_row(&x, 3, 4);
  assert_string_equal(rig_said(x.p), "ok(0) ok(1)");
  rig_frame(&b, 0x89, "x", 1); /* whoever asks is told all */
  rows(&x, 1, 0);
  assert_string_equal(rig_said(x.p), "ok(0) ok(1) ok(4) pong(1)");
  rows(&x, 5, 7); /* 3 behind is 4 at most: told already */
  assert_string_equal(rig_said(x.p), "ok(0) ok(1) ok(4) pong(1)");
  rows(&x, 8, 8); /* the ninth message: released before it is answered, then as the server */
  assert_string_equal(rig_said(x.p), "ok(0) ok(1) ok(4) pong(1) ok(7) ok(8)");
  rig_stop(&x.r);

  begin(&x, (struct mock_entry){.ack = MOCK_ACK_LAG, .ack_value = 20});
  past_101(&x);
  rows(&x, 0, 3);
  rig_frame(&b, 0x88, "\x03\xe8", 2);
  rows(&x, 1, 0);
  assert_string_equal(rig_said(x.p), "ok(3) close 1000");
  rig_stop(&x.r);
}

static void ack_lie_then_the_truth(void **state) {
  (void)state;
  struct play x;
  begin(&x, (struct mock_entry){.ack = MOCK_ACK_LIE, .ack_value = 1000});
  past_101(&x);
  rows(&x, 0, 0);
  rows(&x, 1, 1);
  assert_string_equal(rig_said(x.p), "ok(1000) ok(0) ok(1)");
  assert_int_equal(rig_conn(&x.r, 1).last_ok, 1000);
  rig_stop(&x.r);
}

static void a_delayed_ok_leaves_exactly_then(void **state) {
  (void)state;
  struct play x;
  begin(&x, (struct mock_entry){.ack_delay_ns = 1000});
  past_101(&x);
  int64_t t = x.r.now_ns;
  rows(&x, 0, 0);
  rig_advance_to(&x.r, t + 400);
  rows(&x, 1, 1);
  rig_advance_to(&x.r, t + 999);
  assert_int_equal(x.p->out_n, 0);
  assert_int_equal(rig_facts(&x.r).oks, 0); /* not said yet */
  rig_advance_to(&x.r, t + 1000);
  assert_string_equal(rig_said(x.p), "ok(0)");
  rig_advance_to(&x.r, t + 1399);
  assert_string_equal(rig_said(x.p), "ok(0)");
  rig_advance_to(&x.r, t + 1400);
  assert_string_equal(rig_said(x.p), "ok(0) ok(1)");
  rows(&x, 2, 2);
  rig_frame(&b, 0x82, "bad", 3); /* an error does not overtake the OK before it */
  rows(&x, 1, 0);
  assert_string_equal(rig_said(x.p), "ok(0) ok(1)");
  rig_advance_to(&x.r, t + 5000);
  assert_string_equal(rig_said(x.p), "ok(0) ok(1) ok(2) error 5(3)");
  rig_stop(&x.r);
}

static void ack_deferred_is_a_deviation(void **state) {
  (void)state;
  struct play x;
  begin(&x, (struct mock_entry){.ack = MOCK_ACK_EACH, .ack_deferred = true});
  past_101(&x);
  rig_row(&b, 0x01, 0);
  rows(&x, 1, 1);
  assert_string_equal(rig_said(x.p), "ok(0) ok(1)");
  rig_stop(&x.r);
}

static void process_after_error_is_a_deviation(void **state) {
  (void)state;
  struct play x;
  begin(&x, (struct mock_entry){.process_after_error = true});
  past_101(&x);
  rig_frame(&b, 0x82, "bad", 3);
  rows(&x, 1, 1);
  assert_string_equal(rig_said(x.p), "error 5(0) ok(1)");
  assert_int_equal(rig_facts(&x.r).rows, 1);
  rig_stop(&x.r);
}

/* ---- actions ------------------------------------------------------------------------------ */

static void a_nack_refuses_the_frame_unprocessed(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_AT_FRAME, .n = 3, .action = MOCK_DO_NACK, .code = 9, .text = "disk full"};
  struct play x;
  begin_rule(&x, &rule);
  rows(&x, 0, 4);
  assert_string_equal(rig_said(x.p), "ok(1) error 9(2)");
  assert_memory_equal(x.p->out + x.p->out_n - 9, "disk full", 9);
  assert_int_equal(rig_facts(&x.r).rows, 2);
  assert_int_equal(rig_facts(&x.r).frames, 5);
  assert_int_equal(rig_facts(&x.r).dropped, 2);
  assert_int_equal(unfired(&x), 0);
  rig_stop(&x.r);
}

static void a_close_comes_with_code_and_reason(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_AT_FRAME, .n = 2, .action = MOCK_DO_CLOSE, .code = 1011, .text = "why"};
  struct play x;
  begin_rule(&x, &rule);
  rows(&x, 0, 3);
  assert_string_equal(rig_said(x.p), "ok(0) close 1011");
  assert_memory_equal(x.p->out + x.p->out_n - 3, "why", 3);
  assert_true(x.p->closed);
  assert_int_equal(rig_facts(&x.r).frames, 2);
  assert_int_equal(rig_facts(&x.r).rows, 1);
  assert_string_equal(rig_conn(&x.r, 1).end, "script close 1011");
  rig_stop(&x.r);
}

static void a_reset_comes_after_n_whole_frames_and_before_the_answer(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_AT_FRAME, .n = 3, .action = MOCK_DO_RESET};
  struct play x;
  begin_rule(&x, &rule);
  each_row(&x, 0, 9);
  assert_string_equal(rig_said(x.p), "ok(0) ok(1)");
  assert_true(x.p->reset);
  assert_int_equal(rig_facts(&x.r).frames, 3);
  assert_int_equal(rig_facts(&x.r).rows, 2); /* frame 3 is lost */
  assert_string_equal(rig_conn(&x.r, 1).end, "script reset");
  rig_stop(&x.r);
}

/* What a script ends was read all the same, the frame that it fell on included. */
static void the_bytes_of_the_frame_that_ends_a_connection_are_counted(void **state) {
  (void)state;
  rig_row(&b, 0, 0);
  const int64_t frame = (int64_t)b.n;
  b.n = 0;
  static const struct mock_rule ends[] = {{.trigger = MOCK_AT_FRAME, .n = 3, .action = MOCK_DO_RESET},
                                          {.trigger = MOCK_AT_FRAME, .n = 3, .action = MOCK_DO_CLOSE, .code = 1001}};
  for (size_t i = 0; i < 2; i++) {
    struct play x;
    begin_rule(&x, &ends[i]);
    rows(&x, 0, 3); /* the fourth is in the same read: nobody looked at it */
    assert_int_equal(rig_conn(&x.r, 1).bytes_in, 3 * frame);
    rig_stop(&x.r);
  }
}

static void a_reset_at_a_byte_is_exact(void **state) {
  (void)state;
  rig_row(&b, 0, 0);
  int64_t frame = (int64_t)b.n;
  b.n = 0;
  for (int64_t n = 0; n <= 2 * frame + 1; n++) {
    struct mock_rule rule = {.trigger = MOCK_AT_BYTE, .n = n, .action = MOCK_DO_RESET};
    struct play x;
    begin_rule(&x, &rule);
    for (int i = 0; i < 3; i++) rig_row(&b, 0, i);
    size_t taken = x.p->conn ? rig_feed(x.p, b.p, b.n) : 0;
    b.n = 0;
    assert_true(x.p->reset);
    assert_int_equal(taken, n);
    assert_int_equal(rig_conn(&x.r, 1).bytes_in, n);
    assert_int_equal(rig_facts(&x.r).frames, n / frame);
    rig_stop(&x.r);
  }
}

/* Even a transport that hands over more than its limit does not get past the byte. */
static void a_byte_trigger_does_not_lean_on_the_transport(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_AT_BYTE, .n = 50, .action = MOCK_DO_NACK, .code = 3};
  struct play x;
  begin_rule(&x, &rule);
  for (int i = 0; i < 3; i++) rig_row(&b, 0, i); /* 37 bytes each */
  assert_true(mock_received(x.p->conn, b.p, b.n));
  b.n = 0;
  assert_string_equal(rig_said(x.p), "ok(0) error 3(0)"); /* the second message was not whole yet */
  assert_int_equal(rig_facts(&x.r).dropped, 2);
  rig_stop(&x.r);
}

static void a_fin_ends_the_answers_but_not_the_reading(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_AT_FRAME, .n = 2, .action = MOCK_DO_FIN};
  struct play x;
  begin_rule(&x, &rule);
  each_row(&x, 0, 3);
  assert_true(x.p->shut);
  assert_false(x.p->closed);
  assert_string_equal(rig_said(x.p), "ok(0)");
  assert_int_equal(rig_facts(&x.r).rows, 4);
  rig_eof(x.p, false);
  assert_string_equal(rig_conn(&x.r, 1).end, "script fin");
  rig_stop(&x.r);
}

static void a_stall_stops_the_reading_for_its_time(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_AT_FRAME, .n = 2, .action = MOCK_DO_STALL, .duration_ns = 500};
  struct play x;
  begin_rule(&x, &rule);
  int64_t t = x.r.now_ns;
  rows(&x, 0, 3);
  assert_true(x.p->paused);
  assert_int_equal(rig_facts(&x.r).frames, 2); /* the rest of the pass is not looked at */
  assert_string_equal(rig_said(x.p), "ok(1)");
  rig_advance_to(&x.r, t + 499);
  assert_true(x.p->paused);
  rig_advance_to(&x.r, t + 500);
  assert_false(x.p->paused);
  assert_int_equal(rig_facts(&x.r).frames, 4);
  assert_string_equal(rig_said(x.p), "ok(1) ok(3)");
  rig_stop(&x.r);

  rule.duration_ns = MOCK_ANY; /* for ever */
  begin_rule(&x, &rule);
  rows(&x, 0, 3);
  rig_advance_to(&x.r, INT64_MAX - 1);
  assert_true(x.p->paused);
  rig_stop(&x.r);
}

static void a_drain_reads_at_its_rate(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_ON_UPGRADE, .action = MOCK_DO_DRAIN, .rate = 1000};
  struct play x;
  begin_rule(&x, &rule);
  int64_t t = x.r.now_ns;
  rig_advance_to(&x.r, t + 1);
  for (int i = 0; i < 10; i++) rig_row(&b, 0, i);
  size_t sent = 0;
  while (sent < b.n) { /* the client's kernel offers what it has whenever the server reads */
    sent += rig_feed(x.p, b.p + sent, b.n - sent);
    if (sent < b.n) {
      assert_true(x.p->paused);
      assert_true(x.r.wake_ns < INT64_MAX);
      rig_advance_to(&x.r, x.r.wake_ns);
    }
  }
  assert_int_equal(rig_facts(&x.r).frames, 10);
  int64_t last = (int64_t)(b.n - 1) / 10 * 10; /* bytes read before the last piece of 10 */
  assert_int_equal(x.r.now_ns - t - 1, last * 1000000);
  b.n = 0;
  rig_stop(&x.r);
}

static void a_black_hole_swallows_and_says_nothing(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_AT_FRAME, .n = 2, .action = MOCK_DO_BLACKHOLE};
  struct play x;
  begin_rule(&x, &rule);
  each_row(&x, 0, 4);
  rig_frame(&b, 0x89, "x", 1);
  rig_frame(&b, 0x88, "\x03\xe8", 2);
  rows(&x, 1, 0);
  assert_string_equal(rig_said(x.p), "ok(0)");
  assert_false(x.p->closed || x.p->shut || x.p->reset || x.p->paused);
  assert_int_equal(rig_facts(&x.r).rows, 1);
  rig_stop(&x.r);
}

static void raw_bytes_go_out_as_they_are(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_AT_FRAME, .n = 1, .action = MOCK_DO_RAW,
      .raw = (const uint8_t *)"\x8f\xff\x00", .raw_n = 3};
  struct play x;
  begin_rule(&x, &rule);
  rows(&x, 0, 0);
  assert_int_equal(x.p->out_n, 3 + 2 + 11 + 11);
  assert_memory_equal(x.p->out, "\x8f\xff\x00\x82", 4);
  rig_stop(&x.r);
}

static void a_ping_and_an_ok_out_of_the_blue(void **state) {
  (void)state;
  struct mock_rule rules[] = {{.trigger = MOCK_ON_UPGRADE, .action = MOCK_DO_PING, .raw = (const uint8_t *)"hi",
      .raw_n = 2},
                              {.trigger = MOCK_ON_UPGRADE, .action = MOCK_DO_OK, .value = 77}};
  struct play x;
  begin(&x, (struct mock_entry){.rules = rules, .rule_count = 2});
  assert_int_equal(x.p->writes, 1); /* behind the 101, in the same write */
  past_101(&x);
  assert_string_equal(rig_said(x.p), "ping(2) ok(77)");
  rig_frame(&b, 0x8A, "hi", 2);
  rows(&x, 0, 0);
  assert_string_equal(rig_said(x.p), "ping(2) ok(77) ok(0)");
  assert_int_equal(rig_facts(&x.r).pongs, 1);
  rig_stop(&x.r);
}

static void connects_are_refused_by_count_and_by_time(void **state) {
  (void)state;
  struct mock_rule rules[] = {{.trigger = MOCK_AT_FRAME, .n = 1, .action = MOCK_DO_REFUSE, .value = 2},
                              {.trigger = MOCK_AT_FRAME, .n = 2, .action = MOCK_DO_REFUSE, .duration_ns = 300}};
  struct play x;
  begin(&x, (struct mock_entry){.rules = rules, .rule_count = 2});
  past_101(&x);
  rows(&x, 0, 0);
  assert_null(rig_connect(&x.r));
  assert_null(rig_connect(&x.r));
  assert_non_null(rig_connect(&x.r));
  assert_int_equal(rig_facts(&x.r).attempts, 2);
  int64_t t = x.r.now_ns;
  rows(&x, 1, 1);
  assert_false(x.r.listening);
  rig_advance_to(&x.r, t + 299);
  assert_false(x.r.listening);
  rig_advance_to(&x.r, t + 300);
  assert_true(x.r.listening);
  rig_stop(&x.r);

  struct mock_script s = {.refuse_connects = 1};
  struct rig r;
  rig_start(&r, &s);
  assert_null(rig_connect(&r));
  rig_client(&r);
  assert_int_equal(rig_facts(&r).conns, 1);
  rig_stop(&r);
}

/* ---- triggers -------------------------------------------------------------------------------- */

static void frames_may_be_counted_by_kind(void **state) {
  (void)state;
  struct mock_rule rules[] = {{.trigger = MOCK_AT_FRAME, .n = 2, .only_data = true, .action = MOCK_DO_PING},
                              {.trigger = MOCK_AT_FRAME, .n = 2, .only_catchup = true, .action = MOCK_DO_OK,
                                  .value = 50},
                              {.trigger = MOCK_AT_FRAME, .n = 3, .action = MOCK_DO_OK, .value = 60}};
  struct play x;
  begin(&x, (struct mock_entry){.ack = MOCK_ACK_HOLD, .rules = rules, .rule_count = 3});
  past_101(&x);
  rig_catchup(&b, 0x01, 0); /* 1: catch-up 1 */
  rig_row(&b, 0, 1);        /* 2: data 1 */
  rig_catchup(&b, 0x01, 1); /* 3: catch-up 2 */
  rows(&x, 2, 2);           /* 4: data 2 */
  assert_string_equal(rig_said(x.p), "ok(50) ok(60) ping(0)");
  rig_stop(&x.r);
}

static void a_rule_on_close_may_answer_in_its_place(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_ON_CLOSE, .action = MOCK_DO_CLOSE, .code = 4001};
  struct play x;
  begin_rule(&x, &rule);
  rig_frame(&b, 0x88, "\x03\xe8", 2);
  rows(&x, 1, 0);
  assert_string_equal(rig_said(x.p), "close 4001");
  rig_stop(&x.r);
}

static void a_rule_on_ping_counts_pings(void **state) {
  (void)state;
  struct mock_rule once = {.trigger = MOCK_ON_PING, .n = 2, .action = MOCK_DO_RESET};
  struct play x;
  begin_rule(&x, &once);
  rig_frame(&b, 0x89, "x", 1);
  rows(&x, 1, 0);
  assert_string_equal(rig_said(x.p), "pong(1)");
  rig_frame(&b, 0x89, "x", 1);
  rows(&x, 1, 0);
  assert_true(x.p->reset);
  rig_stop(&x.r);

  struct mock_rule always = {.trigger = MOCK_ON_PING, .n = MOCK_ANY, .action = MOCK_DO_OK, .value = 5};
  begin_rule(&x, &always);
  for (int i = 0; i < 3; i++) rig_frame(&b, 0x89, "x", 1);
  rows(&x, 1, 0);
  assert_string_equal(rig_said(x.p), "ok(5) pong(1) ok(5) pong(1) ok(5) pong(1)");
  rig_stop(&x.r);
}

static void a_rule_at_a_time_needs_no_traffic(void **state) {
  (void)state;
  struct mock_rule rules[] = {{.trigger = MOCK_AT_TIME, .n = 1000, .action = MOCK_DO_STALL, .duration_ns = 500},
                              {.trigger = MOCK_AT_TIME, .n = 2000, .action = MOCK_DO_CLOSE, .code = 0}};
  struct play x;
  begin(&x, (struct mock_entry){.rules = rules, .rule_count = 2});
  past_101(&x);
  int64_t t = x.r.now_ns;
  rig_advance_to(&x.r, t + 999);
  assert_false(x.p->paused);
  rig_advance_to(&x.r, t + 1000);
  assert_true(x.p->paused);
  rig_advance_to(&x.r, t + 1500);
  assert_false(x.p->paused);
  assert_int_equal(x.p->out_n, 0);
  rig_advance_to(&x.r, t + 2000);
  assert_string_equal(rig_said(x.p), "close");
  assert_true(x.p->closed);
  rig_stop(&x.r);
}

/* ---- entries ------------------------------------------------------------------------------------ */

struct lines {
  char text[512];
};

static void take_line(void *arg, const char *text) {
  struct lines *l = arg;
  strncat(l->text, text, sizeof l->text - strlen(l->text) - 2);
  strcat(l->text, "\n");
}

static void entries_find_their_connections_and_what_never_came_is_told(void **state) {
  (void)state;
  struct mock_rule second = {.line = 12, .trigger = MOCK_AT_FRAME, .n = 5, .action = MOCK_DO_RESET};
  struct mock_entry e[] = {
    {.line = 3, .connection = 2, .ack = MOCK_ACK_HOLD, .rules = &second, .rule_count = 1},
    {.line = 20, .connection = MOCK_ANY, .ack = MOCK_ACK_EACH},
    {.line = 30, .connection = 1, .reader = true},
    {.line = 40, .connection = 7, .upgrade = MOCK_UPGRADE_HANG},
  };
  struct mock_script s = {.entries = e, .entry_count = 4};
  struct rig r;
  rig_start(&r, &s);
  struct rig_peer *reader = rig_connect(&r);
  rig_feed(reader, RIG_READ_HEAD, sizeof RIG_READ_HEAD - 1); /* counted apart */
  rig_eof(rig_connect(&r), false);                           /* unmatched: takes no number */
  const char *want[] = {"ok(0) ok(1)", "", "ok(0) ok(1)"};
  for (int i = 0; i < 3; i++) {
    struct rig_peer *p = rig_client(&r);
    rig_row(&b, 0, 0);
    rig_row(&b, 0, 1);
    rig_feed(p, b.p, b.n);
    b.n = 0;
    assert_string_equal(rig_said(p), want[i]);
  }
  struct mock_facts f = rig_facts(&r);
  assert_int_equal(f.conns, 3);
  assert_int_equal(f.readers, 1);
  assert_int_equal(f.unmatched, 1);
  struct lines l = {""};
  assert_int_equal(mock_unfired(r.m, take_line, &l), 2);
  assert_string_equal(l.text, "line 12: reset at frame 5 never came\nline 40: connection 7 never came\n");
  rig_stop(&r);
}

static void a_rule_fires_once_a_connection_and_in_its_order(void **state) {
  (void)state;
  struct mock_rule rules[] = {{.trigger = MOCK_AT_FRAME, .n = 1, .action = MOCK_DO_OK, .value = 1},
                              {.trigger = MOCK_AT_FRAME, .n = 1, .action = MOCK_DO_OK, .value = 2}};
  struct play x;
  begin(&x, (struct mock_entry){.connection = MOCK_ANY, .ack = MOCK_ACK_HOLD, .rules = rules, .rule_count = 2});
  past_101(&x);
  rows(&x, 0, 3);
  assert_string_equal(rig_said(x.p), "ok(1) ok(2)");
  struct rig_peer *q = rig_client(&x.r);
  rig_row(&b, 0, 0);
  rig_feed(q, b.p, b.n);
  b.n = 0;
  assert_string_equal(rig_said(q), "ok(1) ok(2)");
  rig_stop(&x.r);
}

/* The number that a rule with a range takes on connections 1 to 50. */
static void numbers_of(const struct mock_rule *rule, uint64_t seed, int64_t out[50]) {
  const struct mock_entry entry = {.rules = rule, .rule_count = 1};
  for (uint64_t conn = 1; conn <= 50; conn++) {
    struct mock_director d;
    assert_true(mock_director_init(&d, &entry, NULL, seed << 32 | conn));
    out[conn - 1] = mock_director_number(&d, rule);
    mock_director_free(&d);
  }
}

static void a_range_gives_each_connection_its_own_number(void **state) {
  (void)state;
  const struct mock_rule rule = {.trigger = MOCK_AT_FRAME, .n = 40, .n_to = 44, .action = MOCK_DO_RESET};
  int64_t one[50], again[50], other[50];
  bool seen[5] = {false};
  numbers_of(&rule, 1, one);
  numbers_of(&rule, 1, again);
  numbers_of(&rule, 2, other);
  for (int i = 0; i < 50; i++) {
    assert_in_range(one[i], 40, 44);
    seen[one[i] - 40] = true;
  }
  for (int i = 0; i < 5; i++) assert_true(seen[i]);
  assert_memory_equal(one, again, sizeof one);
  assert_memory_not_equal(one, other, sizeof one);
  char text[64];
  mock_rule_text(&rule, text, sizeof text);
  assert_string_equal(text, "reset at frame 40..44");
}

/* It fires at that number, at no other of the range. */
static void a_range_fires_at_the_number_chosen(void **state) {
  (void)state;
  struct mock_rule rule = {.trigger = MOCK_AT_FRAME, .n = 3, .n_to = 9, .action = MOCK_DO_RESET};
  struct play x;
  begin_rule(&x, &rule);
  int read = 0;
  while (x.p->conn && read < 20) {
    rows(&x, read, read);
    read++;
  }
  assert_in_range(read, 3, 9);
  assert_string_equal(rig_conn(&x.r, 1).end, "script reset");
  assert_int_equal(rig_conn(&x.r, 1).frames, read);
  rig_stop(&x.r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(ack_each_answers_every_message_but_deferred_ones),
    cmocka_unit_test(ack_per_read_answers_once_a_pass),
    cmocka_unit_test(ack_hold_says_nothing_until_released),
    cmocka_unit_test(ack_upto_speaks_once),
    cmocka_unit_test(ack_burst_collects_k_for_one_write),
    cmocka_unit_test(ack_lag_stays_so_many_behind),
    cmocka_unit_test(ack_lie_then_the_truth),
    cmocka_unit_test(a_delayed_ok_leaves_exactly_then),
    cmocka_unit_test(ack_deferred_is_a_deviation),
    cmocka_unit_test(process_after_error_is_a_deviation),
    cmocka_unit_test(a_nack_refuses_the_frame_unprocessed),
    cmocka_unit_test(a_close_comes_with_code_and_reason),
    cmocka_unit_test(a_reset_comes_after_n_whole_frames_and_before_the_answer),
    cmocka_unit_test(the_bytes_of_the_frame_that_ends_a_connection_are_counted),
    cmocka_unit_test(a_reset_at_a_byte_is_exact),
    cmocka_unit_test(a_byte_trigger_does_not_lean_on_the_transport),
    cmocka_unit_test(a_fin_ends_the_answers_but_not_the_reading),
    cmocka_unit_test(a_stall_stops_the_reading_for_its_time),
    cmocka_unit_test(a_drain_reads_at_its_rate),
    cmocka_unit_test(a_black_hole_swallows_and_says_nothing),
    cmocka_unit_test(raw_bytes_go_out_as_they_are),
    cmocka_unit_test(a_ping_and_an_ok_out_of_the_blue),
    cmocka_unit_test(connects_are_refused_by_count_and_by_time),
    cmocka_unit_test(frames_may_be_counted_by_kind),
    cmocka_unit_test(a_rule_on_close_may_answer_in_its_place),
    cmocka_unit_test(a_rule_on_ping_counts_pings),
    cmocka_unit_test(a_rule_at_a_time_needs_no_traffic),
    cmocka_unit_test(entries_find_their_connections_and_what_never_came_is_told),
    cmocka_unit_test(a_rule_fires_once_a_connection_and_in_its_order),
    cmocka_unit_test(a_range_gives_each_connection_its_own_number),
    cmocka_unit_test(a_range_fires_at_the_number_chosen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
