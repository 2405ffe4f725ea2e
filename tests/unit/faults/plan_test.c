#include <errno.h>

#include "kit.h"

static void names_go_both_ways(void **state) {
  (void)state;
  for (unsigned p = 0; p < FAULT_POINTS; p++) {
    const char *name = fault_point_name((enum fault_point)p);
    assert_non_null(name);
    assert_int_equal(fault_point_named(name), p);
  }
  assert_string_equal(fault_point_name(FAULT_SEND), "client.send");
  assert_int_equal(fault_point_named("client.sent"), FAULT_POINTS);
  assert_null(fault_point_name(FAULT_POINTS));
  assert_int_equal(fault_errno_named("ENOBUFS"), ENOBUFS);
  assert_string_equal(fault_errno_name(EPIPE), "EPIPE");
  assert_int_equal(fault_errno_named("EWRONG"), 0);
}

static void rules_that_make_no_sense_say_why(void **state) {
  (void)state;
  const struct {
    struct fault_rule rule;
    const char *problem;
  } table[] = {
      {RULE(.point = FAULT_SEND, .act = FAULT_DO_ERRNO, .err = EPIPE), NULL},
      {RULE(.point = FAULT_SEND, .act = FAULT_DO_ERRNO), "an errno is missing"},
      {RULE(.point = FAULT_SEND, .act = FAULT_DO_SHORT), "how many bytes?"},
      {RULE_AT(9, .point = FAULT_SEND, .act = FAULT_DO_SHORT), NULL},
      {RULE(.point = FAULT_SEND, .act = FAULT_DO_CHUNK, .value = 3), "this cannot be done to this call"},
      {RULE(.point = FAULT_CLOCK, .act = FAULT_DO_ERRNO, .err = EIO), "this cannot be done to this call"},
      {RULE_AT(0, .point = FAULT_WAIT, .act = FAULT_DO_AGAIN), "a byte is a place in what is sent or received"},
      {RULE(.point = FAULT_RECV, .frame = 1, .act = FAULT_DO_AGAIN), "a frame is a place in what is sent"},
      {RULE(.point = FAULT_SEND, .frame = 1, .phase = FAULT_PHASE_UPGRADE, .act = FAULT_DO_AGAIN),
       "no frame is sent in the upgrade"},
      {RULE_AT(1, .point = FAULT_SEND, .frame = 1, .act = FAULT_DO_AGAIN), "a byte and a frame are two places"},
      {RULE(.point = FAULT_ALLOC, .connection = 1, .act = FAULT_DO_ERRNO, .err = ENOMEM),
       "this call belongs to no connection"},
      {RULE(.point = FAULT_RECV, .kind = FAULT_KIND_CONTROL, .act = FAULT_DO_AGAIN), "only a send has a kind"},
      {RULE(.point = FAULT_SEND, .act = FAULT_DO_AGAIN, .repeat = FAULT_TIMES), "how many times?"},
      {RULE(.point = FAULT_SEND, .act = FAULT_DO_AGAIN, .repeat = FAULT_UNTIL), "until what?"},
      {RULE(.point = FAULT_SEND, .act = FAULT_DO_DELAY_BEFORE), "how long?"},
      {RULE(.point = FAULT_SEND, .nth = -1, .act = FAULT_DO_AGAIN), "a count below zero"},
      {RULE(.point = FAULT_ALLOC, .least_bytes = 1, .act = FAULT_DO_ERRNO, .err = ENOMEM), NULL},
      {RULE(.point = FAULT_ALLOC, .least_bytes = -1, .act = FAULT_DO_ERRNO, .err = ENOMEM), "a count below zero"},
      {RULE(.point = FAULT_SEND, .least_bytes = 1, .act = FAULT_DO_AGAIN), "only an allocation is picked by its size"},
      {RULE(.point = FAULT_SEND, .act = FAULT_DO_DELAY_BEFORE, .value_to = 9), NULL},
      {RULE(.point = FAULT_SEND, .act = FAULT_DO_SHORT, .value_to = 9), "how many bytes?"},
      {RULE(.point = FAULT_SEND, .act = FAULT_DO_CORRUPT, .value_to = INT64_MAX), "which bit?"},
      {RULE(.point = FAULT_SEND, .act = FAULT_DO_AGAIN, .every = -1), "a count below zero"},
      {RULE(.point = FAULT_POINTS, .act = FAULT_DO_AGAIN), "no such point"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const char *problem = fault_rule_problem(&table[i].rule);
    if (!table[i].problem) assert_null(problem);
    else assert_non_null(problem);
    if (problem) assert_string_equal(problem, table[i].problem);
  }
}

static void a_rule_reads_as_text(void **state) {
  (void)state;
  char text[160];
  struct fault_rule r = RULE(.point = FAULT_SEND, .nth = 3, .connection = 1, .act = FAULT_DO_ERRNO, .err = EPIPE);
  fault_rule_text(&r, text, sizeof text);
  assert_string_equal(text, "client.send nth 3 connection 1 EPIPE");
  r = RULE(.point = FAULT_SEND, .kind = FAULT_KIND_CONTROL, .frame = 2, .act = FAULT_DO_SHORT, .value = 4,
           .repeat = FAULT_TIMES, .times = 5);
  fault_rule_text(&r, text, sizeof text);
  assert_string_equal(text, "client.send control frame 2 short 4 x5");
  r = RULE_AT(0, .point = FAULT_RECV, .phase = FAULT_PHASE_UPGRADE, .act = FAULT_DO_ERRNO, .err = 4000,
           .repeat = FAULT_UNTIL, .until = "released");
  fault_rule_text(&r, text, sizeof text);
  assert_string_equal(text, "client.recv upgrade byte 0 errno 4000 until released");
  r = RULE(.point = FAULT_ALLOC, .least_bytes = 8192, .nth = 2, .act = FAULT_DO_ERRNO, .err = ENOMEM);
  fault_rule_text(&r, text, sizeof text);
  assert_string_equal(text, "client.alloc of 8192 bytes or more nth 2 ENOMEM");
  r = RULE(.point = FAULT_SEND, .act = FAULT_DO_SHORT, .value = 1, .value_to = 7, .every = 2,
           .repeat = FAULT_TIMES, .times = 3);
  fault_rule_text(&r, text, sizeof text);
  assert_string_equal(text, "client.send short 1..7 every 2 x3");
  r = RULE(.point = FAULT_RECV, .act = FAULT_DO_DELAY_BEFORE, .value_to = 5000000);
  fault_rule_text(&r, text, sizeof text);
  assert_string_equal(text, "client.recv delay-before 0..5000000 ns");
  char small[8];
  fault_rule_text(&r, small, sizeof small);
  assert_string_equal(small, "client.");
}

struct lines {
  char text[4][256];
  size_t count;
};

static void keep(void *arg, const char *text) {
  struct lines *l = arg;
  assert_true(l->count < 4);
  snprintf(l->text[l->count++], sizeof l->text[0], "%s", text);
}

static void what_did_not_fire_is_named(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.line = 11, .point = FAULT_SEND, .nth = 1, .act = FAULT_DO_AGAIN),
      RULE(.line = 12, .point = FAULT_SEND, .nth = 3, .connection = 1, .act = FAULT_DO_ERRNO, .err = EPIPE),
      RULE(.line = 13, .point = FAULT_CONNECT, .connection = 2, .act = FAULT_DO_ERRNO, .err = ECONNREFUSED),
      RULE(.line = 14, .point = FAULT_CLOCK, .act = FAULT_DO_AGAIN),
  };
  struct kit k;
  kit_open(&k, rules, 4);
  uint8_t frame[64];
  size_t n = kit_frame(frame, 2, 10);
  assert_int_equal(kit_send(&k, frame, n), -EAGAIN);
  assert_int_equal(kit_send(&k, frame, n), n);
  struct lines l = {.count = 0};
  assert_int_equal(faults_unfired(k.f, keep, &l), 3);
  assert_int_equal(l.count, 3);
  assert_string_equal(l.text[0], "line 12: client.send nth 3 connection 1 EPIPE did not fire (2 such calls were made)");
  assert_string_equal(l.text[1],
                      "line 13: client.connect connection 2 ECONNREFUSED did not fire (0 such calls were made)");
  assert_string_equal(l.text[2], "line 14: client.clock again cannot fire: this cannot be done to this call");
  assert_int_equal(faults_fired(k.f, 0), 1);
  assert_int_equal(faults_unfired(k.f, NULL, NULL), 3);
  kit_end(&k);
}

/* Ten times is ten: a rule that stopped before is named with how far it came. */
static void a_rule_that_fired_too_rarely_is_named(void **state) {
  (void)state;
  const struct fault_rule rules[] = {
      RULE(.line = 21, .point = FAULT_SEND, .nth = 2, .act = FAULT_DO_AGAIN, .repeat = FAULT_TIMES, .times = 3),
      RULE(.line = 22, .point = FAULT_SEND, .act = FAULT_DO_DELAY_BEFORE, .value = 1, .repeat = FAULT_FOREVER),
  };
  struct kit k;
  kit_open(&k, rules, 2);
  uint8_t frame[64];
  size_t n = kit_frame(frame, 2, 10);
  struct lines l = {.count = 0};
  for (int i = 0; i < 3; i++) (void)kit_send(&k, frame, n);
  assert_int_equal(faults_unfired(k.f, keep, &l), 1);
  assert_string_equal(l.text[0], "line 21: client.send nth 2 again x3 fired 2 of 3 times (3 such calls were made)");
  (void)kit_send(&k, frame, n);
  assert_int_equal(faults_unfired(k.f, NULL, NULL), 0);
  kit_end(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_go_both_ways),
      cmocka_unit_test(rules_that_make_no_sense_say_why),
      cmocka_unit_test(a_rule_reads_as_text),
      cmocka_unit_test(what_did_not_fire_is_named),
      cmocka_unit_test(a_rule_that_fired_too_rarely_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
