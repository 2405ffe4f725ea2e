/* connection: when an OK is due, and what it names. */
#include "connection_kit.h"

static const char *after_rows(struct rig *r, const struct mock_script *s, int rows) {
  rig_start(r, s);
  struct rig_peer *p = rig_client(r);
  for (int i = 0; i < rows; i++) rig_row(&b, 0, i);
  send_all(p);
  return rig_said(p);
}

static void an_ok_is_due_after_8_and_at_the_end_of_a_pass(void **state) {
  (void)state;
  const char *want[] = {"", "ok(0)", "ok(1)", "ok(2)", "ok(3)", "ok(4)", "ok(5)", "ok(6)", "ok(7)", "ok(7) ok(8)",
                        "ok(7) ok(9)", "ok(7) ok(10)", "ok(7) ok(11)", "ok(7) ok(12)", "ok(7) ok(13)", "ok(7) ok(14)",
                        "ok(7) ok(15)", "ok(7) ok(15) ok(16)"};
  for (int n = 0; n <= 17; n++) {
    struct rig r;
    assert_string_equal(after_rows(&r, NULL, n), want[n]);
    assert_int_equal(rig_facts(&r).frames, n);
    assert_int_equal(rig_facts(&r).rows, n);
    assert_int_equal(rig_facts(&r).commits, n);
    assert_int_equal(rig_facts(&r).reads, n > 0);
    rig_stop(&r);
  }
}

static void a_ping_flushes_before_its_pong(struct rig *r, struct rig_peer *p) {
  (void)r;
  rig_frame(&b, 0x89, "1", 1);
  rig_row(&b, 0, 1);
  rig_frame(&b, 0x89, "22", 2);
  rig_row(&b, 0, 2);
  send_all(p);
  assert_string_equal(rig_said(p), "pong(1) ok(0) pong(2) ok(1)");
  assert_int_equal(p->writes, 1);
}

static void a_deferred_group_is_answered_when_it_closes(struct rig *r, struct rig_peer *p) {
  for (int i = 0; i < 20; i++) rig_row(&b, 0x01, i);
  send_all(p);
  assert_int_equal(p->out_n, 0);
  assert_int_equal(rig_facts(r).rows, 0);
  assert_int_equal(rig_facts(r).commits, 0);
  rig_row(&b, 0, 20);
  rig_row(&b, 0, 21); /* in the same pass: the group's OK did not wait for it */
  send_all(p);
  assert_string_equal(rig_said(p), "ok(20) ok(21)");
  assert_int_equal(rig_facts(r).rows, 22);
  assert_int_equal(rig_facts(r).commits, 2);
}

static void a_deferred_catch_up_gets_no_ok_of_its_own(struct rig *r, struct rig_peer *p) {
  rig_catchup(&b, 0x01, 0);
  send_all(p);
  rig_frame(&b, 0x89, "x", 1);
  send_all(p);
  assert_string_equal(rig_said(p), "pong(1)");
  rig_row(&b, 0, 1);
  send_all(p);
  assert_string_equal(rig_said(p), "pong(1) ok(1)");
  assert_int_equal(rig_facts(r).catchup, 1);
  assert_int_equal(rig_facts(r).frames, 1);
  assert_int_equal(rig_conn(r, 1).dict, 1);
  assert_int_equal(rig_conn(r, 1).next_seq, 2);

  rig_catchup(&b, 0, 1); /* without the flag it is a message like any other */
  rig_forget(p);
  send_all(p);
  assert_string_equal(rig_said(p), "ok(2)");
  assert_int_equal(rig_conn(r, 1).dict, 2);
}

static void an_empty_message_closes_a_group(struct rig *r, struct rig_peer *p) {
  rig_row(&b, 0x01, 1);
  rig_frame(&b, 0x82, "", 0);
  rig_frame(&b, 0x82, "", 0); /* nothing to close: no commit */
  send_all(p);
  assert_string_equal(rig_said(p), "ok(1) ok(2)");
  assert_int_equal(rig_facts(r).commits, 1);
  assert_int_equal(rig_facts(r).rows, 1);
}

static void an_ok_names_each_table_once_with_its_latest_transaction(struct rig *r, struct rig_peer *p) {
  (void)r;
  for (int i = 0; i < 3; i++) rig_row(&b, 0, i);
  send_all(p);
  assert_int_equal(p->out_n, 2 + 11 + 2 + 1 + 8);
  assert_memory_equal(p->out + 2 + 9, "\x01\x00\x01\x00t", 5);
  uint8_t first = p->out[2 + 14];
  rig_forget(p);
  rig_frame(&b, 0x82, "", 0);
  send_all(p);
  assert_int_equal(p->out_n, 2 + 11); /* nothing committed since: no entry */
  rig_forget(p);
  rig_row(&b, 0, 9);
  send_all(p);
  assert_int_equal(p->out[2 + 14], first + 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_ok_is_due_after_8_and_at_the_end_of_a_pass),
      conn_test(a_ping_flushes_before_its_pong),
      conn_test(a_deferred_group_is_answered_when_it_closes),
      conn_test(a_deferred_catch_up_gets_no_ok_of_its_own),
      conn_test(an_empty_message_closes_a_group),
      conn_test(an_ok_names_each_table_once_with_its_latest_transaction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
