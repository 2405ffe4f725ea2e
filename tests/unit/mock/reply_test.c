/* reply, and the few bytes under it. */
#include "../../testlib/mock_rig.h"

#include "core/answers.h"
#include "core/reply.h"

static void check(struct mock_out *o, const char *hex) {
  size_t n = strlen(hex) / 2;
  assert_int_equal(o->n, n);
  for (size_t i = 0; i < n; i++) {
    unsigned byte = 0;
    assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
    assert_int_equal(o->p[i], byte);
  }
  mock_out_clear(o);
}

static void answers_have_their_layout(void **state) {
  (void)state;
  struct mock_out o = {0};
  struct mock_committed t[2] = {{.name = "ab", .name_n = 2, .seq_txn = 3}, {.name = "c", .name_n = 1, .seq_txn = 258}};

  mock_reply_ok(&o, 7, NULL, 0);
  check(&o, "820b" "00" "0700000000000000" "0000");
  mock_reply_ok(&o, 1, t, 2);
  check(&o, "8222" "00" "0100000000000000" "0200" "0200" "6162" "0300000000000000" "0100" "63" "0201000000000000");
  mock_reply_error(&o, 5, 2, "no", 2);
  check(&o, "820d" "05" "0200000000000000" "0200" "6e6f");
  mock_reply_error(&o, 9, 0, "", 0);
  check(&o, "820b" "09" "0000000000000000" "0000");
  mock_reply_close(&o, 1002, "x");
  check(&o, "8803" "03ea" "78");
  mock_reply_close(&o, 0, "not said");
  check(&o, "8800");
  mock_reply_pong(&o, (const uint8_t *)"hi", 2);
  check(&o, "8a02" "6869");
  mock_reply_ping(&o, NULL, 0);
  check(&o, "8900");
  mock_out_free(&o);
}

static void the_first_frame_of_a_reader_is_the_recorded_one(void **state) {
  (void)state;
  struct mock_out o = {0};
  mock_reply_server_info(&o, 0x0102030405060708);
  check(&o, "822d" "51575031010000002100000018" "00" "0000000000000000" "02000000" "0807060504030201" "0700"
        "71756573746462" "0000");
  mock_out_free(&o);
}

static void frames_take_the_shortest_length_form(void **state) {
  (void)state;
  struct mock_out o = {0};
  mock_reply_frame(&o, 2, 125);
  check(&o, "827d");
  mock_reply_frame(&o, 2, 126);
  check(&o, "827e007e");
  mock_reply_frame(&o, 2, 65535);
  check(&o, "827effff");
  mock_reply_frame(&o, 2, 65536);
  check(&o, "827f0000000000010000");
  mock_out_free(&o);
}

static void an_error_text_is_cut_at_a_character(void **state) {
  (void)state;
  char text[1101] = {0};
  memset(text, 'a', sizeof text - 1);
  struct mock_out o = {0};
  mock_reply_error(&o, 6, 0, text, 1024);
  assert_int_equal(o.n, 4 + 11 + 1024);
  mock_out_clear(&o);
  mock_reply_error(&o, 6, 0, text, strlen(text));
  assert_int_equal(o.n, 4 + 11 + 1024);
  mock_out_clear(&o);
  memcpy(text + 1022, "\xE2\x82\xAC", 3); /* three bytes that straddle the limit */
  mock_reply_error(&o, 6, 0, text, strlen(text));
  assert_int_equal(o.n, 4 + 11 + 1022);
  mock_out_clear(&o);
  mock_reply_close(&o, 1011, text); /* 125 bytes are all that a control frame holds */
  assert_int_equal(o.n, 2 + 125);
  mock_out_free(&o);
}

static void a_buffer_that_failed_stays_as_it_is(void **state) {
  (void)state;
  struct mock_out o = {0};
  mock_out_text(&o, "ab");
  assert_null(mock_out_reserve(&o, MOCK_OUT_LIMIT_BYTES));
  assert_true(o.failed);
  mock_out_text(&o, "c");
  assert_int_equal(o.n, 2);
  mock_out_free(&o);
}

static void decimals(void **state) {
  (void)state;
  struct mock_out o = {0};
  mock_out_decimal(&o, INT64_MIN);
  mock_out_text(&o, " ");
  mock_out_decimal(&o, 0);
  mock_out_text(&o, " ");
  mock_out_decimal(&o, INT64_MAX);
  mock_out_u8(&o, 0);
  assert_string_equal((const char *)o.p, "-9223372036854775808 0 9223372036854775807");
  mock_out_free(&o);
}

static void answers_wait_in_order(void **state) {
  (void)state;
  struct mock_answers q = {0};
  const uint8_t *p;
  for (int64_t i = 0; i < 1000; i++) { /* grows, tidies itself, keeps the order */
    mock_out_u8(&q.bytes, (unsigned)i & 0xFF);
    assert_true(mock_answers_add(&q, (struct mock_answer){.due_ns = i, .n = 1, .seq = i}));
    if (i % 3 == 0) continue;
    const struct mock_answer *a = mock_answers_due(&q, INT64_MAX - 1, &p);
    assert_non_null(a);
    assert_int_equal(*p, (unsigned)a->seq & 0xFF);
    mock_answers_pop(&q);
  }
  assert_int_equal(q.count, 334);
  assert_int_equal(mock_answers_next_ns(&q), 666);
  assert_null(mock_answers_due(&q, 665, &p));
  int64_t seq = 666;
  while (q.count) {
    const struct mock_answer *a = mock_answers_due(&q, 1000, &p);
    assert_int_equal(a->seq, seq);
    assert_int_equal(*p, (unsigned)seq & 0xFF);
    seq++;
    mock_answers_pop(&q);
  }
  assert_int_equal(seq, 1000);

  mock_out_u8(&q.bytes, 1);
  assert_true(mock_answers_add(&q, (struct mock_answer){.due_ns = INT64_MAX, .n = 1}));
  assert_null(mock_answers_due(&q, INT64_MAX - 1, &p)); /* held */
  mock_answers_release(&q, 5);
  assert_non_null(mock_answers_due(&q, 5, &p));
  mock_answers_drop(&q);
  assert_int_equal(mock_answers_next_ns(&q), INT64_MAX);
  mock_answers_free(&q);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(answers_have_their_layout),
    cmocka_unit_test(the_first_frame_of_a_reader_is_the_recorded_one),
    cmocka_unit_test(frames_take_the_shortest_length_form),
    cmocka_unit_test(an_error_text_is_cut_at_a_character),
    cmocka_unit_test(a_buffer_that_failed_stays_as_it_is),
    cmocka_unit_test(decimals),
    cmocka_unit_test(answers_wait_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
