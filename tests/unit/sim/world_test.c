#include "peer_kit.h"

#define R QWP_READABLE
#define W QWP_WRITABLE
#define BIG 400000

static uint8_t big[BIG];

static void time_moves_only_when_told(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, NULL);
  int64_t wall = sim_wall_ns(k.sim);
  assert_int_equal(k.ops.clock->now_ns(k.ops.clock_ctx), SIM_START_NS);
  assert_int_equal(wall, SIM_START_WALL_NS);
  assert_false(sim_step(k.sim, QWP_NEVER));
  assert_int_equal(sim_now_ns(k.sim), SIM_START_NS);
  assert_false(sim_step(k.sim, SIM_START_NS + 50));
  assert_int_equal(sim_now_ns(k.sim), SIM_START_NS + 50);
  assert_int_equal(k.ops.clock->wall_ns(k.ops.clock_ctx), wall + 50);
  sim_set_wall(k.sim, 7); /* the wall jumps, the other does not */
  assert_int_equal(sim_wall_ns(k.sim), 7);
  assert_int_equal(sim_now_ns(k.sim), SIM_START_NS + 50);
  kit_end(&k);
}

static void a_delay_is_one_way(void **state) {
  (void)state;
  struct kit k;
  char buf[8];
  kit_new(&k, &(struct sim_options){.delay_ns = 100});
  k.echo = true;
  qwp_sock sock = kit_connect(&k);
  assert_int_equal(sim_now_ns(k.sim), SIM_START_NS + 200);
  kit_send(&k, sock, "abc", 3);
  assert_int_equal(k.ops.net->wait(k.ops.net_ctx, sock, R, 199), 0);
  assert_int_equal(kit_recv(&k, sock, buf, 8), -EAGAIN);
  assert_int_equal(k.ops.net->wait(k.ops.net_ctx, sock, R, QWP_NEVER), R);
  assert_int_equal(sim_now_ns(k.sim), SIM_START_NS + 400);
  assert_int_equal(kit_recv(&k, sock, buf, 8), 3);
  kit_end(&k);
}

static void ends_reach_the_server_behind_the_bytes(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, NULL);
  qwp_sock sock = kit_connect(&k);
  kit_send(&k, sock, "abc", 3);
  k.ops.net->close(k.ops.net_ctx, sock);
  assert_int_equal(sim_open_sockets(k.sim), 0);
  sim_settle(k.sim);
  assert_string_equal(k.log, "recv 3 fin ");
  assert_int_equal(kit_send(&k, sock, "x", 1), -EBADF); /* a handle is dead after close */
  kit_end(&k);

  kit_new(&k, NULL);
  sock = kit_connect(&k);
  kit_send(&k, sock, "abc", 3);
  sim_reset_sock(k.sim, sock);
  sim_settle(k.sim);
  assert_string_equal(k.log, "recv 3 reset ");
  assert_int_equal(kit_send(&k, sock, "x", 1), -ECONNRESET);
  assert_int_equal(kit_send(&k, sock, "x", 1), -EPIPE);
  kit_end(&k);
}

static void what_the_server_does_reaches_the_client(void **state) {
  (void)state;
  struct kit k;
  char buf[16];
  kit_new(&k, NULL);
  qwp_sock sock = kit_connect(&k);
  assert_int_equal(sim_peer_write(k.sim, k.peer, (const uint8_t *)"hello", 5), 5);
  sim_peer_shutdown(k.sim, k.peer);
  sim_settle(k.sim);
  assert_int_equal(kit_recv(&k, sock, buf, 16), 5);
  assert_int_equal(kit_recv(&k, sock, buf, 16), 0);
  assert_int_equal(kit_send(&k, sock, "abc", 3), 3); /* reading goes on */
  sim_settle(k.sim);
  assert_string_equal(k.log, "recv 3 ");
  kit_end(&k);

  kit_new(&k, NULL);
  sock = kit_connect(&k);
  sim_peer_write(k.sim, k.peer, (const uint8_t *)"bye", 3);
  sim_peer_close(k.sim, k.peer);
  kit_send(&k, sock, "late", 4); /* read and dropped: no RST spoils the answer */
  sim_settle(k.sim);
  assert_int_equal(kit_recv(&k, sock, buf, 16), 3);
  assert_int_equal(kit_recv(&k, sock, buf, 16), 0);
  assert_string_equal(k.log, "");
  assert_int_equal(sim_peer_write(k.sim, k.peer, (const uint8_t *)"x", 1), -1);
  k.ops.net->close(k.ops.net_ctx, sock);
  sim_settle(k.sim);
  kit_end(&k);

  kit_new(&k, NULL);
  sock = kit_connect(&k);
  sim_peer_write(k.sim, k.peer, (const uint8_t *)"abc", 3);
  sim_peer_reset(k.sim, k.peer);
  sim_settle(k.sim);
  assert_int_equal(kit_recv(&k, sock, buf, 16), 3);
  assert_int_equal(kit_recv(&k, sock, buf, 16), -ECONNRESET);
  kit_end(&k);
}

static void nobody_home_and_a_server_that_refuses(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, NULL);
  sim_listen(k.sim, false);
  qwp_sock sock = kit_dial(&k);
  assert_int_equal(k.ops.net->wait(k.ops.net_ctx, sock, W, QWP_NEVER), W);
  assert_int_equal(k.ops.net->connected(k.ops.net_ctx, sock), -ECONNREFUSED);
  k.ops.net->close(k.ops.net_ctx, sock);
  assert_string_equal(k.log, "");
  sim_listen(k.sim, true);
  k.refuse = true;
  sock = kit_dial(&k);
  assert_int_equal(k.ops.net->wait(k.ops.net_ctx, sock, W, QWP_NEVER), W);
  sim_settle(k.sim);
  assert_int_equal(kit_send(&k, sock, "x", 1), -ECONNRESET);
  kit_end(&k);
}

static void a_dial_that_is_given_up_leaves_no_connection(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, &(struct sim_options){.delay_ns = 100});
  qwp_sock sock = kit_dial(&k);
  k.ops.net->close(k.ops.net_ctx, sock); /* before the server has heard of it: it takes it, and then hears of the end */
  while (sim_step(k.sim, sim_now_ns(k.sim) + 1000)) continue;
  assert_string_equal(k.log, "accept reset ");
  k.log[0] = '\0';
  sock = kit_dial(&k);
  while (k.log[0] == '\0') assert_true(sim_step(k.sim, QWP_NEVER));
  k.ops.net->close(k.ops.net_ctx, sock); /* the server's answer is on its way */
  while (sim_step(k.sim, sim_now_ns(k.sim) + 1000)) continue;
  assert_string_equal(k.log, "accept reset ");
  kit_end(&k);
}

static void a_dead_handle_is_closed_for_the_server(void **state) {
  (void)state;
  struct kit k;
  char buf[4];
  kit_new(&k, NULL);
  qwp_sock sock = kit_connect(&k);
  k.die = true; /* received returns false, and the peer was left open */
  kit_send(&k, sock, "abc", 3);
  sim_settle(k.sim);
  assert_string_equal(k.log, "recv 3 ");
  assert_int_equal(kit_recv(&k, sock, buf, 4), 0);
  kit_end(&k);
}

static void a_paused_peer_fills_the_pipe(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, &(struct sim_options){.send_buffer_bytes = 1000, .recv_buffer_bytes = 500});
  qwp_sock sock = kit_connect(&k);
  sim_peer_pause(k.sim, k.peer, true);
  assert_int_equal(kit_send(&k, sock, big, BIG), 1000);
  sim_settle(k.sim);
  assert_int_equal(kit_send(&k, sock, big, BIG), 500);
  sim_settle(k.sim);
  assert_int_equal(kit_send(&k, sock, big, BIG), -EAGAIN);
  assert_int_equal(k.ops.net->wait(k.ops.net_ctx, sock, W, 1000), 0);
  assert_string_equal(k.log, "");
  sim_peer_pause(k.sim, k.peer, false);
  assert_int_equal(k.ops.net->wait(k.ops.net_ctx, sock, W, QWP_NEVER), W);
  sim_settle(k.sim);
  assert_int_equal(k.bytes_in, 1500);
  kit_end(&k);
}

static void a_pass_takes_no_more_than_its_limit(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, NULL);
  qwp_sock sock = kit_connect(&k);
  sim_peer_limit_read(k.sim, k.peer, 4);
  kit_send(&k, sock, "abcdefghij", 10);
  sim_settle(k.sim);
  assert_string_equal(k.log, "recv 4 recv 4 recv 2 ");
  k.log[0] = '\0';
  sim_peer_limit_read(k.sim, k.peer, 0);
  assert_int_equal(kit_send(&k, sock, big, 200000), 200000);
  sim_settle(k.sim);
  assert_string_equal(k.log, "recv 65536 recv 65536 recv 65536 recv 3392 ");
  kit_end(&k);
}

static void a_server_that_writes_too_much_hears_of_room(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, &(struct sim_options){.send_buffer_bytes = 900, .recv_buffer_bytes = 300});
  qwp_sock sock = kit_connect(&k);
  assert_int_equal(sim_peer_write(k.sim, k.peer, big, 2000), 900);
  sim_settle(k.sim);
  assert_string_equal(k.log, "room "); /* 300 have arrived: a third is free */
  assert_int_equal(sim_peer_write(k.sim, k.peer, big, 2000), 300);
  assert_int_equal(sim_peer_write(k.sim, k.peer, big, 2000), 0);
  sim_settle(k.sim);
  assert_string_equal(k.log, "room ");
  assert_int_equal(kit_recv(&k, sock, big, 299), 299);
  sim_settle(k.sim);
  assert_string_equal(k.log, "room "); /* one byte short of a third */
  assert_int_equal(kit_recv(&k, sock, big, 1), 1);
  sim_settle(k.sim);
  assert_string_equal(k.log, "room room ");
  kit_end(&k);
}

static void the_servers_timer_keeps_the_earliest(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, NULL);
  sim_wake_server_at(k.sim, SIM_START_NS + 30);
  sim_wake_server_at(k.sim, SIM_START_NS + 20);
  sim_wake_server_at(k.sim, SIM_START_NS + 40);
  while (sim_step(k.sim, SIM_START_NS + 100)) continue;
  assert_string_equal(k.log, "tick@20 ");
  assert_int_equal(sim_now_ns(k.sim), SIM_START_NS + 100);
  k.rearm_ns = 10;
  sim_wake_server_at(k.sim, 0); /* in the past: now */
  while (sim_step(k.sim, SIM_START_NS + 120)) continue;
  assert_string_equal(k.log, "tick@20 tick@100 tick@110 tick@120 ");
  kit_end(&k);
}

static void answers_are_there_before_the_send_returns(void **state) { /* CASE-81 */
  (void)state;
  struct kit k;
  char buf[8];
  kit_new(&k, &(struct sim_options){.peer_inside_send = true});
  k.echo = true;
  qwp_sock sock = kit_connect(&k);
  assert_int_equal(kit_send(&k, sock, "abc", 3), 3);
  assert_int_equal(kit_recv(&k, sock, buf, 8), 3);
  kit_end(&k);

  kit_new(&k, NULL);
  k.echo = true;
  sock = kit_connect(&k);
  assert_int_equal(kit_send(&k, sock, "abc", 3), 3);
  assert_int_equal(kit_recv(&k, sock, buf, 8), -EAGAIN);
  kit_end(&k);
}

static void run_chunks(uint64_t seed, char *log, size_t n, uint8_t entropy[16]) {
  struct kit k;
  kit_new(&k, &(struct sim_options){.seed = seed, .chunk_max = 9});
  qwp_sock sock = kit_connect(&k);
  kit_send(&k, sock, big, 40);
  sim_settle(k.sim);
  assert_int_equal(k.bytes_in, 40);
  snprintf(log, n, "%s", k.log);
  k.ops.clock->entropy(k.ops.clock_ctx, entropy, 16);
  kit_end(&k);
}

static void a_seed_repeats_a_world(void **state) {
  (void)state;
  char log[3][512];
  uint8_t entropy[3][16];
  run_chunks(5, log[0], sizeof log[0], entropy[0]);
  run_chunks(5, log[1], sizeof log[1], entropy[1]);
  run_chunks(6, log[2], sizeof log[2], entropy[2]);
  assert_string_equal(log[0], log[1]);
  assert_memory_equal(entropy[0], entropy[1], 16);
  assert_string_not_equal(log[0], log[2]);
  assert_memory_not_equal(entropy[0], entropy[2], 16);
}

/* Sends 10 segments and a FIN, and reads the echo; the log is when and in what pieces the server heard them. */
static void run_jitter(uint64_t seed, char *log, size_t n) {
  struct kit k;
  static uint8_t sent[10 * SIM_SEGMENT_BYTES], back[sizeof sent];
  size_t got = 0;
  for (size_t i = 0; i < sizeof sent; i++) sent[i] = (uint8_t)(i * 31 + (i >> 8));
  kit_new(&k, &(struct sim_options){.seed = seed, .delay_ns = 100, .jitter_ns = 1000});
  k.echo = true;
  qwp_sock sock = kit_connect(&k);
  int64_t start = sim_now_ns(k.sim);
  assert_int_equal(start, SIM_START_NS + 200); /* a handshake is on time */
  assert_int_equal(kit_send(&k, sock, sent, sizeof sent), sizeof sent);
  k.ops.net->shutdown(k.ops.net_ctx, sock);
  while (k.bytes_in < sizeof sent) assert_true(sim_step(k.sim, start + 1100)); /* the latest that can be */
  assert_null(strstr(k.log, "fin"));
  assert_true(sim_now_ns(k.sim) >= start + 100);
  while (sim_step(k.sim, start + 2200)) continue;
  for (long r; (r = kit_recv(&k, sock, back + got, sizeof back - got)) > 0;) got += (size_t)r;
  assert_int_equal(got, sizeof sent);
  assert_memory_equal(back, sent, sizeof sent);
  assert_non_null(strstr(k.log, "fin"));
  snprintf(log, n, "%s", k.log);
  kit_end(&k);
}

static void jitter_is_late_and_keeps_order(void **state) {
  (void)state;
  char log[3][512];
  run_jitter(5, log[0], sizeof log[0]);
  run_jitter(5, log[1], sizeof log[1]);
  run_jitter(6, log[2], sizeof log[2]);
  assert_string_equal(log[0], log[1]);
  assert_string_not_equal(log[0], log[2]);
  assert_non_null(strstr(log[0], "recv 1448 recv ")); /* more than one piece */
}

static void what_was_written_to_a_reset_side_never_arrives(void **state) {
  (void)state;
  struct kit k;
  char buf[8];
  kit_new(&k, &(struct sim_options){.delay_ns = 100});
  qwp_sock sock = kit_connect(&k);
  sim_peer_write(k.sim, k.peer, (const uint8_t *)"on its way", 10);
  sim_reset_sock(k.sim, sock);
  assert_int_equal(sim_peer_write(k.sim, k.peer, (const uint8_t *)"late", 4), 4); /* the server does not know yet */
  while (sim_step(k.sim, sim_now_ns(k.sim) + 1000)) continue;
  assert_string_equal(k.log, "reset ");
  assert_int_equal(kit_recv(&k, sock, buf, 8), -ECONNRESET);
  assert_int_equal(kit_recv(&k, sock, buf, 8), 0);
  kit_end(&k);
}

static void a_delay_hook_lets_the_rest_of_the_world_go_on(void **state) {
  (void)state;
  struct kit k;
  char buf[8];
  kit_new(&k, &(struct sim_options){.delay_ns = 10});
  k.echo = true;
  qwp_sock sock = kit_connect(&k);
  int64_t before = sim_now_ns(k.sim);
  kit_send(&k, sock, "abc", 3);
  sim_delay_hook(k.sim, 500);
  assert_int_equal(sim_now_ns(k.sim), before + 500);
  assert_int_equal(kit_recv(&k, sock, buf, 8), 3);
  kit_end(&k);
}

static void many_connections_come_and_go(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, NULL);
  qwp_sock last = -1;
  for (int i = 0; i < 3000; i++) {
    qwp_sock sock = kit_connect(&k);
    assert_int_not_equal(sock, last);
    last = sock;
    k.ops.net->close(k.ops.net_ctx, sock);
    sim_settle(k.sim);
    k.log[0] = '\0';
  }
  assert_int_equal(sim_open_sockets(k.sim), 0);
  kit_end(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(time_moves_only_when_told),
      cmocka_unit_test(a_delay_is_one_way),
      cmocka_unit_test(ends_reach_the_server_behind_the_bytes),
      cmocka_unit_test(what_the_server_does_reaches_the_client),
      cmocka_unit_test(nobody_home_and_a_server_that_refuses),
      cmocka_unit_test(a_dial_that_is_given_up_leaves_no_connection),
      cmocka_unit_test(a_dead_handle_is_closed_for_the_server),
      cmocka_unit_test(a_paused_peer_fills_the_pipe),
      cmocka_unit_test(a_pass_takes_no_more_than_its_limit),
      cmocka_unit_test(a_server_that_writes_too_much_hears_of_room),
      cmocka_unit_test(the_servers_timer_keeps_the_earliest),
      cmocka_unit_test(answers_are_there_before_the_send_returns),
      cmocka_unit_test(a_seed_repeats_a_world),
      cmocka_unit_test(jitter_is_late_and_keeps_order),
      cmocka_unit_test(what_was_written_to_a_reset_side_never_arrives),
      cmocka_unit_test(a_delay_hook_lets_the_rest_of_the_world_go_on),
      cmocka_unit_test(many_connections_come_and_go),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
