/* Every byte, call and allocation that was counted becomes a place, and no other. */
#include "sweep/census.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static size_t named(const struct sweep_points *p, const char *start) {
  size_t n = 0;
  for (size_t i = 0; i < p->count; i++) {
    char text[SWEEP_POINT_TEXT];
    sweep_point_text(&p->at[i], text);
    n += strncmp(text, start, strlen(start)) == 0;
  }
  return n;
}

static void bytes_of_each_direction_have_five_faults(void **state) {
  static struct census c; /* zero */
  struct sweep_points p = {0};
  (void)state;
  c.client_connections = 1;
  c.connections[0] = (struct census_connection){.up_out = 3, .out = 2, .up_in = 4, .in = 1};
  assert_true(census_points(&c, &p));
  assert_int_equal(named(&p, "send/1/u"), 15);
  assert_int_equal(named(&p, "send/1/d"), 10);
  assert_int_equal(named(&p, "recv/1/u"), 20);
  assert_int_equal(named(&p, "recv/1/d"), 5);
  assert_int_equal(p.count, 50);
  assert_int_equal(named(&p, "send/1/d1/EPIPE"), 1);
  assert_int_equal(named(&p, "recv/1/d0/ETIMEDOUT"), 1);
  sweep_points_free(&p);
}

static void bytes_that_came_with_the_101_know_its_length(void **state) {
  static struct census c;
  struct sweep_points p = {0};
  (void)state;
  c.client_connections = 1;
  c.connections[0] = (struct census_connection){.up_in = 90, .in = 3, .in_with_head = 2};
  assert_true(census_points(&c, &p));
  assert_int_equal(named(&p, "recv/1/d0@90/"), 5);
  assert_int_equal(named(&p, "recv/1/d1@90/"), 5);
  assert_int_equal(named(&p, "recv/1/d2/"), 5);
  sweep_points_free(&p);
}

static void a_server_ends_behind_each_byte_but_where_its_script_did(void **state) {
  static struct census c;
  struct sweep_points p = {0};
  (void)state;
  c.server_connections = 2;
  c.connections[0].server_read = 4;
  c.connections[1].server_read = 4;
  c.connections[1].server_ended = true;
  assert_true(census_points(&c, &p));
  assert_int_equal(named(&p, "server/1/"), 8);
  assert_int_equal(named(&p, "server/1/4/"), 2);
  assert_int_equal(named(&p, "server/2/"), 6);
  assert_int_equal(named(&p, "server/2/4/"), 0);
  assert_int_equal(p.count, 14);
  sweep_points_free(&p);
}

static void calls_fail_once_and_for_ever(void **state) {
  static struct census c;
  struct sweep_points p = {0};
  (void)state;
  c.calls[FAULT_SEND] = 2;
  c.calls[FAULT_CLOSE] = 1;
  c.calls[FAULT_ALLOC] = 3;
  assert_true(census_points(&c, &p));
  assert_int_equal(named(&p, "call/send/1/"), 15); /* seven errnos both ways, and would-block */
  assert_int_equal(named(&p, "call/send/2/"), 15);
  assert_int_equal(named(&p, "call/close/1/rst"), 1);
  assert_int_equal(named(&p, "alloc/"), 6);
  assert_int_equal(p.count, 37);
  sweep_points_free(&p);
}

/* Of a frame of 5000 bytes: 64 at its begin and 64 at its end have all faults; of the rest five bytes in seven have one
 * of the client's, two one of the server's. */
static void inside_a_long_payload_the_faults_take_turns(void **state) {
  static struct census c;
  struct sweep_points p = {0};
  (void)state;
  c.client_connections = c.server_connections = 1;
  c.connections[0].out = 5010;
  c.connections[0].server_read = 5010;
  c.connections[0].frames = 2;
  c.connections[0].frame_at[1] = 5000; /* a short one behind it */
  assert_true(census_points(&c, &p));
  assert_int_equal(p.by_turns, 5000 - 64 - 64);
  /* The server's ends: behind bytes 1 to 63 of the first edge, all of the last one and of the short frame, and behind all. */
  assert_int_equal(p.count, 5 * (64 + 64 + 10) + 2 * (63 + 64 + 10 + 1) + (5000 - 64 - 64));
  assert_int_equal(named(&p, "send/1/d63/"), 5);
  assert_int_equal(named(&p, "send/1/d70/"), 1); /* 70 is 0 of 7 */
  assert_int_equal(named(&p, "send/1/d70/rst"), 1);
  assert_int_equal(named(&p, "send/1/d74/again"), 1);
  assert_int_equal(named(&p, "send/1/d75/"), 0);
  assert_int_equal(named(&p, "server/1/75/"), 1);
  assert_int_equal(named(&p, "server/1/75/rst"), 1);
  assert_int_equal(named(&p, "server/1/76/fin"), 1);
  assert_int_equal(named(&p, "server/1/77/"), 0);
  assert_int_equal(named(&p, "send/1/d4936/"), 5);
  assert_int_equal(named(&p, "send/1/d5009/"), 5);
  sweep_points_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_of_each_direction_have_five_faults),
      cmocka_unit_test(bytes_that_came_with_the_101_know_its_length),
      cmocka_unit_test(a_server_ends_behind_each_byte_but_where_its_script_did),
      cmocka_unit_test(calls_fail_once_and_for_ever),
      cmocka_unit_test(inside_a_long_payload_the_faults_take_turns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
