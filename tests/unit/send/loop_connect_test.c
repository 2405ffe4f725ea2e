/* Rounds of connection attempts: how the pause between them grows. */
#include "loop_world.h"

#define STANDBY "HTTP/1.1 421 Misdirected Request\r\nX-QuestDB-Role: REPLICA\r\nContent-Length: 0\r\n\r\n"
#define PACED "initial_connect_retry=async;reconnect_initial_backoff_millis=100;reconnect_max_backoff_millis=1600;"

/* Dials of the standby until `dials` of them were made; the gaps between them in ms. */
static void rounds(const char *config, int dials, int64_t *gaps_ms) {
  struct lw w;
  lw_init(&w, config);
  w.answer = STANDBY;
  while (w.conn_count < dials) lw_advance(&w, 100 * LW_MS);
  for (int i = 1; i < dials; i++) gaps_ms[i - 1] = (w.conns[i].opened_ns - w.conns[i - 1].opened_ns) / LW_MS;
  qwp_loop_request_close(w.loop);
  lw_run(&w);
  lw_free(&w);
}

static void recon_008_a_round_of_role_rejects_keeps_the_first_pause(void **state) {
  (void)state;
  int64_t gaps_ms[9];
  rounds("ws::addr=a:1;" PACED, 10, gaps_ms);
  for (int i = 0; i < 9; i++) assert_in_range(gaps_ms[i], 100, 199);
}

/* One standby that answers says nothing for the host that does not. */
static void one_role_reject_among_dead_hosts_does_not_reset_the_pause(void **state) {
  (void)state;
  int64_t gaps_ms[9];
  rounds("ws::addr=nowhere:1,b:2;" PACED, 10, gaps_ms);
  for (int i = 0; i < 9; i++) {
    int64_t base = i < 4 ? 100 << i : 1600;
    assert_in_range(gaps_ms[i], base, 2 * base - 1);
  }
}

static void fail_013_one_role_reject_names_the_failure(void **state) {
  (void)state;
  struct lw w;
  struct qwp_error err;
  lw_init(&w, "ws::addr=b:2,nowhere:1;initial_connect_retry=off;");
  w.answer = STANDBY;
  lw_run(&w);
  assert_true(qwp_loop_error(w.loop, &err));
  assert_int_equal(err.code, QWP_ROLE);
  lw_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recon_008_a_round_of_role_rejects_keeps_the_first_pause),
      cmocka_unit_test(one_role_reject_among_dead_hosts_does_not_reset_the_pause),
      cmocka_unit_test(fail_013_one_role_reject_names_the_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
