/* connection: errors and what they roll back, what a connection remembers, and its limits. */
#include "connection_kit.h"

#include "core/connection.h"
#include "core/tables_internal.h"
#include "qwp/wire.h"

static void after_an_error_there_is_silence(struct rig *r, struct rig_peer *p) {
  for (int i = 0; i < 3; i++) rig_row(&b, 0, i);
  rig_frame(&b, 0x82, "bad", 3);
  for (int i = 3; i < 6; i++) rig_row(&b, 0, i);
  rig_frame(&b, 0x82, "bad", 3);
  rig_frame(&b, 0x89, "x", 1);
  rig_frame(&b, 0x88, "\x03\xe8", 2);
  send_all(p);
  assert_string_equal(rig_said(p), "ok(2) error 5(3) pong(1) close 1000");
  assert_int_equal(rig_facts(r).rows, 3);
  assert_int_equal(rig_facts(r).dropped, 4);
  assert_int_equal(rig_facts(r).errors, 1);
  assert_int_equal(rig_conn(r, 1).next_seq, 8);
  assert_int_equal(rig_conn(r, 1).last_ok, 2);
}

static void an_error_rolls_the_whole_group_back(struct rig *r, struct rig_peer *p) {
  rig_row(&b, 0, 1);
  rig_row(&b, 0x01, 2);
  rig_row(&b, 0x01, 3);
  rig_frame(&b, 0x82, "bad", 3);
  send_all(p);
  assert_string_equal(rig_said(p), "ok(0) error 5(3)");
  assert_int_equal(rig_facts(r).rows, 1);
  assert_int_equal(rig_facts(r).rolled_back_rows, 2);
}

/* Memory for a group's rows is asked for as a whole when it closes; if there is none, nothing of it becomes
 * visible, and what was committed before stays acknowledged. */
static void a_commit_without_memory_is_an_internal_error(struct rig *r, struct rig_peer *p) {
  rig_row(&b, 0, 1);
  send_all(p);
  assert_string_equal(rig_said(p), "ok(0)");
  rig_forget(p);

  struct mock_table *t = r->m->tables->tables[0];
  const size_t rows = t->rowset.rows;
  t->rowset.rows = SIZE_MAX / 64; /* so many that one more is beyond any memory */
  rig_row(&b, QWP_FLAG_DEFER, 2);
  rig_row(&b, 0, 3);
  rig_row(&b, 0, 4);
  send_all(p);
  t->rowset.rows = rows;

  assert_string_equal(rig_said(p), "error 6(2)");
  assert_non_null(strstr(r->journal, "\"seq\":2,\"flags\":8,\"tables\":1,\"rows\":1"));
  assert_non_null(strstr(strstr(r->journal, "\"seq\":2,\"flags\""), "\"fate\":\"refused\""));
  assert_int_equal(rig_facts(r).rows, 1);
  assert_int_equal(rig_facts(r).rows_unique, 1);
  assert_int_equal(rig_facts(r).commits, 1);
  assert_int_equal(rig_facts(r).rolled_back_rows, 2);
  assert_int_equal(rig_facts(r).dropped, 1);
  assert_int_equal(rig_conn(r, 1).rows, 1);
  assert_int_equal(mock_table_rows(r->m->tables, 0), 1);

  p = rig_client(r); /* another connection finds the table as it was */
  rig_row(&b, 0, 5);
  send_all(p);
  assert_string_equal(rig_said(p), "ok(0)");
  assert_int_equal(mock_table_rows(r->m->tables, 0), 2);
}

static int64_t nobody_may_ask(void *ctx) {
  (void)ctx;
  fail_msg("the time of day was asked for");
  return 0;
}

/* Rows without a time of their own get the server's, but only where they are kept by value. */
static void rows_that_are_not_kept_need_no_time(void **state) {
  (void)state;
  for (enum mock_rows level = MOCK_ROWS_DIGEST; level <= MOCK_ROWS_COUNT; level++) {
    struct rig r;
    rig_start_with(&r, NULL, level, MOCK_JOURNAL_FULL);
    struct rig_peer *p = rig_client(&r);
    r.m->options.clock.wall_ns = nobody_may_ask;
    rig_row(&b, 0, 1);
    send_all(p);
    assert_string_equal(rig_said(p), "ok(0)");
    rig_stop(&r);
  }
}

/* SEND-003: what comes again must be the same bytes; one other byte makes it another message. */
static void a_message_that_comes_again_is_counted(void **state) {
  (void)state;
  for (enum mock_rows level = MOCK_ROWS_FULL; level <= MOCK_ROWS_COUNT; level++) {
    struct rig r;
    rig_start_with(&r, NULL, level, MOCK_JOURNAL_OFF);
    struct rig_peer *p = rig_client(&r), *q = rig_client(&r);
    for (int i = 0; i < 3; i++) rig_row(&b, 0, i);
    send_all(p);
    assert_int_equal(rig_facts(&r).repeated, 0);
    for (int i = 1; i < 4; i++) rig_row(&b, 0, i);
    send_all(q);
    assert_int_equal(rig_facts(&r).repeated, level == MOCK_ROWS_FULL ? 2 : 0);
    rig_stop(&r);
  }
}

static void the_last_pong_of_a_connection_is_remembered(void **state) {
  (void)state;
  char most[125];
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r);
  assert_string_equal(rig_conn(&r, 1).pong, "");
  memset(most, 'm', sizeof most);
  rig_frame(&b, 0x8A, most, sizeof most);
  send_all(p);
  assert_int_equal(strlen(rig_conn(&r, 1).pong), 125);
  rig_frame(&b, 0x8A, "a\0b\xff", 4);
  send_all(p);
  assert_string_equal(rig_conn(&r, 1).pong, "a?b?");
  rig_stop(&r);
}

static void a_disconnect_rolls_an_open_group_back(void **state) {
  (void)state;
  struct rig r;
  rig_start(&r, NULL);
  struct rig_peer *p = rig_client(&r), *q = rig_client(&r);
  rig_row(&b, 0x01, 1);
  send_all(p);
  rig_eof(p, true);
  assert_int_equal(rig_facts(&r).rows, 0);
  assert_int_equal(rig_facts(&r).rolled_back_rows, 1);
  assert_string_equal(rig_conn(&r, 1).end, "reset");
  rig_eof(q, false);
  assert_string_equal(rig_conn(&r, 2).end, "fin");
  rig_stop(&r);
}

static void a_violation_is_refused_only_when_strict(void **state) {
  (void)state;
  for (int strict = 0; strict < 2; strict++) {
    struct mock_script s = {.strict_refuse = strict};
    struct rig r;
    rig_start(&r, &s);
    struct rig_peer *p = rig_client(&r);
    rig_row(&b, 0x20, 1); /* a reserved flag bit */
    send_all(p);
    assert_string_equal(rig_said(p), strict ? "error 5(0)" : "ok(0)");
    assert_int_equal(rig_facts(&r).violations, 1);
    assert_int_equal(rig_facts(&r).rows, !strict);
    rig_stop(&r);
  }
}

/* ---- limits ------------------------------------------------------------------------------ */

/* A message of one row: table `tNNNNN`, LONG column `id`. */
static void put_row_of_table(int table) {
  uint8_t message[64];
  char name[16];
  const size_t n = rig_message(message, 0, table);
  snprintf(name, sizeof name, "t%05d", table);
  uint8_t longer[80];
  memcpy(longer, message, 14);
  longer[8] = (uint8_t)(message[8] + 5);
  longer[14] = 6;
  memcpy(longer + 15, name, 6);
  memcpy(longer + 21, message + 16, n - 16);
  rig_frame(&b, 0x82, longer, n + 5);
}

/* LIMIT-002, with the server's default. */
static void a_connection_may_write_to_10000_tables(void **state) {
  (void)state;
  struct rig r;
  rig_start_with(&r, NULL, MOCK_ROWS_COUNT, MOCK_JOURNAL_OFF);
  struct rig_peer *p = rig_client(&r);
  b.n = 0;
  for (int i = 0; i < 10000; i++) {
    put_row_of_table(i);
    if (i % 1000 == 999) send_all(p);
  }
  put_row_of_table(7);
  send_all(p);
  assert_int_equal(rig_facts(&r).rows, 10001);
  assert_int_equal(rig_facts(&r).errors, 0);

  rig_forget(p);
  put_row_of_table(10000);
  send_all(p);
  assert_string_equal(rig_said(p), "error 9(10001)");
  const char text[] = "too many distinct tables, limit: 10000";
  assert_memory_equal(p->out + p->out_n - (sizeof text - 1), text, sizeof text - 1);
  rig_stop(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      conn_test(after_an_error_there_is_silence),
      conn_test(an_error_rolls_the_whole_group_back),
      conn_test(a_commit_without_memory_is_an_internal_error),
      cmocka_unit_test(rows_that_are_not_kept_need_no_time),
      cmocka_unit_test(a_message_that_comes_again_is_counted),
      cmocka_unit_test(the_last_pong_of_a_connection_is_remembered),
      cmocka_unit_test(a_disconnect_rolls_an_open_group_back),
      cmocka_unit_test(a_violation_is_refused_only_when_strict),
      cmocka_unit_test(a_connection_may_write_to_10000_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
