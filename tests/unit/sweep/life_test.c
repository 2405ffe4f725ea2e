/* A life is run and counted; a fault meets it at its place, and the loop is seen there. */
#include "life_kit.h"

static void what_flushes_by_itself_is_no_life(void **state) {
  struct kit_life k;
  char why[256];
  (void)state;
  assert_false(kit_read(&k, LIFE_HEAD "client:\n  config: ws::addr=${server};\n  steps:\n"
                        "    - publish: {rows: 1, schema: tiny}\nexpect: {loop.sent: 1}\n", why, sizeof why));
  assert_non_null(strstr(why, "flushes by itself"));
  kit_life_end(&k);
  assert_false(kit_read(&k, LIFE_HEAD "client:\n  config: " LIFE_CONFIG "\n  steps:\n"
                        "    - publish: {rows: 1, schema: tiny}\nfaults:\n  - {at: client.send, nth: 1, do: EPIPE}\n"
                        "expect: {loop.sent: 1}\n", why, sizeof why));
  assert_non_null(strstr(why, "has faults of its own"));
  kit_life_end(&k);
}

static void a_life_has_the_name_of_its_file(void **state) {
  struct kit_life k;
  (void)state;
  kit_life(&k, TWO_FRAMES);
  assert_string_equal(k.life.name, "x");
  assert_false(k.life.tells_errors);
  kit_life_end(&k);
}

static void rows_of_the_frames_follow_from_the_steps(void **state) {
  struct kit_life k;
  (void)state;
  kit_life(&k, LIFE_TEXT("    - publish: {rows: 2, schema: tiny, flush: each}\n"        /* 0, 1 */
                         "    - publish: {rows: 5, schema: tiny, flush: every 2}\n"     /* 2, 3, and 4 with one row */
                         "    - publish: {rows: 3, schema: tiny, flush: none}\n"
                         "    - publish: {rows: 1, schema: tiny, flush: end}\n"         /* 5 with four */
                         "    - publish: {rows: 2, schema: tiny, flush: none}\n",       /* 6, by the close */
                         "  - {connection: 1}\n"));
  const int64_t rows[] = {1, 2, 4, 6, 7, 11, 13};
  assert_int_equal(life_rows_through(&k.life, -1), 0);
  for (int fsn = 0; fsn < 7; fsn++) assert_int_equal(life_rows_through(&k.life, fsn), rows[fsn]);
  assert_int_equal(life_rows_through(&k.life, 7), 13);
  kit_life_end(&k);
}

static void a_census_counts_each_side(void **state) {
  static struct census c;
  struct kit_life k;
  struct life_run run;
  (void)state;
  kit_life(&k, TWO_FRAMES);
  life_run(&k.life, NULL, &c, false, &run);
  assert_string_equal(run.o.harness, "");
  assert_false(run.fired);
  assert_int_equal(c.client_connections, 1);
  assert_int_equal(c.server_connections, 1);
  assert_int_equal(c.connections[0].out, 2 * 36 + 8); /* two frames and the Close */
  assert_int_equal(c.connections[0].frames, 2);
  assert_int_equal(c.connections[0].frame_at[0], 0);
  assert_int_equal(c.connections[0].frame_at[1], 36);
  assert_int_equal(c.connections[0].server_read, c.connections[0].up_out + c.connections[0].out);
  assert_int_equal(c.calls[FAULT_CONNECT], 1);
  assert_int_equal(c.calls[FAULT_CLOSE], 1);
  assert_int_equal(c.calls[FAULT_ALLOC], facts_get(&run.o.facts, "mem.alloc", -1));
  life_run_free(&run);
  kit_life_end(&k);
}

static void run_at(struct kit_life *k, const char *place, struct life_run *run) {
  struct sweep_point p;
  assert_true(sweep_point_parse(place, &p));
  life_run(&k->life, &p, NULL, false, run);
}

static void a_fault_meets_its_byte_and_the_loop_is_seen_there(void **state) {
  struct kit_life k;
  struct life_run run;
  (void)state;
  kit_life(&k, TWO_FRAMES);
  run_at(&k, "send/1/d40/EPIPE", &run);
  assert_true(run.fired);
  assert_true(run.viewed);
  assert_int_equal(run.view.connects, 1);
  assert_int_equal(facts_get(&run.o.facts, "srv.conns", 0), 2);
  assert_int_equal(facts_get(&run.o.facts, "srv.rows.unique", 0), 2);
  assert_string_equal(run.o.rows_why, "");
  life_run_free(&run);
  kit_life_end(&k);
}

static void a_place_behind_the_end_is_not_met(void **state) {
  struct kit_life k;
  struct life_run run;
  (void)state;
  kit_life(&k, TWO_FRAMES);
  run_at(&k, "send/1/d9999/EPIPE", &run);
  assert_false(run.fired);
  assert_false(run.spent);
  life_run_free(&run);
  kit_life_end(&k);
}

static void a_server_ends_behind_so_many_bytes(void **state) {
  static struct census c;
  struct kit_life k;
  struct life_run run;
  char place[SWEEP_POINT_TEXT];
  (void)state;
  kit_life(&k, TWO_FRAMES);
  life_run(&k.life, NULL, &c, false, &run);
  life_run_free(&run);
  int64_t first_frame = c.connections[0].up_out + 36;
  struct sweep_point p = {.site = SWEEP_SERVER, .act = FAULT_DO_RST, .connection = 1, .at = first_frame};
  sweep_point_text(&p, place);
  run_at(&k, place, &run);
  assert_true(run.fired);
  const struct fact *end = facts_find(&run.o.facts, "srv.conn[1].end");
  assert_non_null(end);
  assert_string_equal(end->text, "reset");
  assert_int_equal(facts_get(&run.o.facts, "srv.conn[1].frames", 0), 1); /* nothing of the second */
  assert_int_equal(facts_get(&run.o.facts, "srv.rows.unique", 0), 2);
  life_run_free(&run);
  kit_life_end(&k);
}

/* The client fails to connect at all: nothing was acknowledged, so nothing must be there, and it says so. */
static void what_must_be_there_is_what_was_acknowledged(void **state) {
  struct kit_life k;
  struct life_run run;
  (void)state;
  kit_life(&k, TWO_FRAMES);
  run_at(&k, "call/connect/1/ECONNREFUSED/ever", &run);
  assert_true(run.fired);
  assert_int_equal(facts_get(&run.o.facts, "client.rows_accepted", -1), 0);
  life_run_free(&run);
  run_at(&k, "call/send/1/EINTR", &run);
  assert_int_equal(facts_get(&run.o.facts, "client.rows_accepted", -1), 2);
  life_run_free(&run);
  kit_life_end(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_flushes_by_itself_is_no_life),
      cmocka_unit_test(a_life_has_the_name_of_its_file),
      cmocka_unit_test(rows_of_the_frames_follow_from_the_steps),
      cmocka_unit_test(a_census_counts_each_side),
      cmocka_unit_test(a_fault_meets_its_byte_and_the_loop_is_seen_there),
      cmocka_unit_test(a_place_behind_the_end_is_not_met),
      cmocka_unit_test(a_server_ends_behind_so_many_bytes),
      cmocka_unit_test(what_must_be_there_is_what_was_acknowledged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
