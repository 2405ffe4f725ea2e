#include "peer_kit.h"

#define R QWP_READABLE

/* A loop with a number: what it was told at each step, and what it wants next. */
struct script {
  struct kit *k;
  struct qwp_want want;
  int64_t period_ns;     /* want.deadline_ns = now + this; 0 = as it stands */
  int64_t stepped_at;
  int stop_after;        /* steps; 0 = never */
  int wake_in_step;      /* the step that calls wake itself */
  const struct qwp_driver *driver;
  int progress_at;       /* the step that reports progress */
};

static struct qwp_want play(struct qwp_loop *loop, int64_t now_ns) {
  struct script *s = loop->ctx;
  s->stepped_at = now_ns;
  if (s->period_ns) s->want.deadline_ns = now_ns + s->period_ns;
  if (loop->steps == s->wake_in_step) loop->ops->net->wake(loop->ops->net_ctx);
  if (loop->steps == s->progress_at) s->driver->progress(s->driver->ctx);
  s->want.stopped = loop->steps == s->stop_after;
  return s->want;
}

struct rig {
  struct kit k;
  struct script script;
  struct qwp_loop loop;
  const struct qwp_driver *driver;
};

static void rig_new(struct rig *r, const struct sim_options *o) {
  memset(r, 0, sizeof *r);
  kit_new(&r->k, o);
  r->driver = sim_driver(r->k.sim);
  r->script = (struct script){.k = &r->k, .want = {.sock = -1, .deadline_ns = QWP_NEVER}, .driver = r->driver};
  r->loop = (struct qwp_loop){.ops = &r->k.ops, .step = play, .ctx = &r->script};
}

static void rig_start(struct rig *r) { assert_int_equal(r->driver->start(r->driver->ctx, &r->loop), 0); }

static void with_the_loop_first_a_wake_returns_behind_its_step(void **state) {
  (void)state;
  struct rig r;
  rig_new(&r, &(struct sim_options){.loop_first = true});
  rig_start(&r);
  assert_int_equal(r.loop.steps, 0); /* start is no wake */
  r.driver->wake(r.driver->ctx);
  assert_int_equal(r.loop.steps, 1);
  assert_int_equal(sim_now_ns(r.k.sim), SIM_START_NS); /* time stands */
  sim_hold(r.k.sim, true);
  r.driver->wake(r.driver->ctx);
  assert_int_equal(r.loop.steps, 1);
  sim_hold(r.k.sim, false);
  r.script.wake_in_step = 2; /* from inside a step: noted, and due behind it */
  sim_settle(r.k.sim);
  assert_int_equal(r.loop.steps, 3);
  kit_end(&r.k);
}

static void a_loop_is_stepped_at_start_when_woken_and_at_its_deadline(void **state) {
  (void)state;
  struct rig r;
  rig_new(&r, NULL);
  rig_start(&r);
  sim_settle(r.k.sim);
  assert_int_equal(r.loop.steps, 1);
  sim_settle(r.k.sim);
  assert_int_equal(r.loop.steps, 1); /* nothing is due */
  r.script.period_ns = 70;
  r.driver->wake(r.driver->ctx);
  r.driver->wake(r.driver->ctx); /* two wakes, one step */
  sim_settle(r.k.sim);
  assert_int_equal(r.loop.steps, 2);
  assert_true(sim_step(r.k.sim, QWP_NEVER));
  assert_int_equal(r.loop.steps, 3);
  assert_int_equal(r.script.stepped_at, SIM_START_NS + 70);
  r.driver->stop(r.driver->ctx);
  assert_false(sim_step(r.k.sim, QWP_NEVER));
  assert_int_equal(r.loop.steps, 3);
  kit_end(&r.k);
}

static void a_loop_is_stepped_when_its_socket_is_ready(void **state) {
  (void)state;
  struct rig r;
  rig_new(&r, NULL);
  r.script.want.sock = kit_connect(&r.k);
  r.script.want.interest = R;
  rig_start(&r);
  sim_settle(r.k.sim);
  assert_int_equal(r.loop.steps, 1);
  sim_peer_write(r.k.sim, r.k.peer, (const uint8_t *)"x", 1);
  assert_true(sim_step(r.k.sim, QWP_NEVER)); /* it arrives */
  assert_int_equal(r.loop.steps, 1);
  assert_true(sim_step(r.k.sim, QWP_NEVER));
  assert_int_equal(r.loop.steps, 2);
  kit_end(&r.k);
}

static void a_wake_inside_a_step_is_not_lost(void **state) {
  (void)state;
  struct rig r;
  rig_new(&r, NULL);
  r.script.wake_in_step = 1;
  rig_start(&r);
  sim_settle(r.k.sim);
  assert_int_equal(r.loop.steps, 2);
  kit_end(&r.k);
}

static void a_failed_wait_is_followed_by_a_step(void **state) {
  (void)state;
  struct rig r;
  rig_new(&r, NULL);
  r.loop.wait_fails = -EINTR;
  rig_start(&r);
  for (int i = 0; i < 3; i++) assert_true(sim_step(r.k.sim, QWP_NEVER));
  assert_int_equal(r.loop.steps, 3);
  r.loop.wait_fails = -EAGAIN; /* without having reached the world: what was wanted counts */
  r.script.period_ns = 40;
  sim_settle(r.k.sim);
  assert_int_equal(r.loop.steps, 4);
  assert_true(sim_step(r.k.sim, QWP_NEVER));
  assert_int_equal(r.script.stepped_at, SIM_START_NS + 40);
  kit_end(&r.k);
}

static void a_stopped_or_held_loop_is_left_alone(void **state) {
  (void)state;
  struct rig r;
  rig_new(&r, NULL);
  r.script.stop_after = 2;
  sim_hold(r.k.sim, true);
  rig_start(&r);
  assert_false(sim_step(r.k.sim, QWP_NEVER));
  sim_hold(r.k.sim, false);
  sim_settle(r.k.sim);
  assert_int_equal(r.loop.steps, 1);
  r.driver->wake(r.driver->ctx);
  sim_settle(r.k.sim);
  r.driver->wake(r.driver->ctx);
  sim_settle(r.k.sim);
  assert_int_equal(r.loop.steps, 2);
  kit_end(&r.k);
}

static void a_producer_waits_until_progress_or_its_deadline(void **state) {
  (void)state;
  struct rig r;
  rig_new(&r, NULL);
  r.script.period_ns = 100;
  r.script.progress_at = 3;
  rig_start(&r);
  uint64_t seen = r.driver->seen(r.driver->ctx);
  r.driver->wait(r.driver->ctx, seen, SIM_START_NS + 150);
  assert_int_equal(sim_now_ns(r.k.sim), SIM_START_NS + 150);
  assert_true(r.driver->seen(r.driver->ctx) == seen);
  r.driver->wait(r.driver->ctx, seen, QWP_NEVER);
  assert_int_equal(sim_now_ns(r.k.sim), SIM_START_NS + 200);
  assert_true(r.driver->seen(r.driver->ctx) == seen + 1);
  r.driver->wait(r.driver->ctx, seen, QWP_NEVER); /* progress was made since: at once */
  assert_int_equal(sim_now_ns(r.k.sim), SIM_START_NS + 200);
  kit_end(&r.k);
}

struct stuck {
  int calls;
  char why[80];
};

static void note_stuck(void *ctx, const char *why) {
  struct stuck *s = ctx;
  s->calls++;
  snprintf(s->why, sizeof s->why, "%s", why);
}

static void a_hang_ends_and_is_named(void **state) {
  (void)state;
  struct stuck stuck = {.calls = 0};
  struct sim_options o = {.stuck = note_stuck, .stuck_ctx = &stuck, .end_ns = SIM_START_NS + 1000, .step_limit = 500};
  struct rig r;
  rig_new(&r, &o);
  rig_start(&r);
  uint64_t seen = r.driver->seen(r.driver->ctx);
  r.driver->wait(r.driver->ctx, seen, QWP_NEVER); /* a loop that wants nothing */
  assert_int_equal(stuck.calls, 1);
  assert_int_equal(sim_now_ns(r.k.sim), o.end_ns);
  assert_string_equal(stuck.why, "its last moment has come, and the client still waits");
  kit_end(&r.k);

  o.end_ns = 0;
  rig_new(&r, &o);
  rig_start(&r);
  r.driver->wait(r.driver->ctx, 0, QWP_NEVER);
  assert_int_equal(stuck.calls, 2);
  assert_string_equal(stuck.why, "the client waits, and nothing will ever happen");
  kit_end(&r.k);

  rig_new(&r, &o);
  r.script.want.deadline_ns = 1; /* a loop that spins */
  rig_start(&r);
  r.driver->wait(r.driver->ctx, 0, QWP_NEVER);
  assert_int_equal(stuck.calls, 3);
  assert_string_equal(stuck.why, "too many steps at one moment");
  assert_int_equal(r.loop.steps, 500);
  kit_end(&r.k);
}

static void two_senders_share_a_world_and_no_wakes(void **state) {
  (void)state;
  struct rig r;
  rig_new(&r, NULL);
  struct qwp_ops ops;
  sim_client_ops(r.k.sim, 1, &ops);
  const struct qwp_driver *driver = sim_client_driver(r.k.sim, 1);
  struct script script = r.script;
  script.driver = driver;
  struct qwp_loop second = {.ops = &ops, .step = play, .ctx = &script};
  rig_start(&r);
  assert_int_equal(driver->start(driver->ctx, &second), 0);
  assert_int_equal(driver->start(driver->ctx, &second), -EBUSY);
  sim_settle(r.k.sim);
  driver->wake(driver->ctx);
  sim_settle(r.k.sim);
  assert_int_equal(r.loop.steps, 1);
  assert_int_equal(second.steps, 2);
  assert_null(sim_client_driver(r.k.sim, SIM_CLIENTS));
  kit_end(&r.k);
}

static void a_wait_outside_a_step_runs_the_world(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, NULL);
  k.echo = true;
  qwp_sock sock = kit_connect(&k);
  kit_send(&k, sock, "abc", 3);
  assert_int_equal(k.ops.net->wait(k.ops.net_ctx, sock, R, 0), 0); /* looks only */
  assert_int_equal(k.ops.net->wait(k.ops.net_ctx, sock, R, 1), R);
  k.ops.net->wake(k.ops.net_ctx);
  assert_int_equal(k.ops.net->wait(k.ops.net_ctx, -1, 0, QWP_NEVER), QWP_WOKEN);
  assert_int_equal(k.ops.net->wait(k.ops.net_ctx, -1, 0, 30), 0);
  assert_int_equal(sim_now_ns(k.sim), SIM_START_NS + 30);
  assert_int_equal(k.ops.net->wait(k.ops.net_ctx, sock + 1, R, 0), -EBADF);
  kit_end(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(with_the_loop_first_a_wake_returns_behind_its_step),
      cmocka_unit_test(a_loop_is_stepped_at_start_when_woken_and_at_its_deadline),
      cmocka_unit_test(a_loop_is_stepped_when_its_socket_is_ready),
      cmocka_unit_test(a_wake_inside_a_step_is_not_lost),
      cmocka_unit_test(a_failed_wait_is_followed_by_a_step),
      cmocka_unit_test(a_stopped_or_held_loop_is_left_alone),
      cmocka_unit_test(a_producer_waits_until_progress_or_its_deadline),
      cmocka_unit_test(a_hang_ends_and_is_named),
      cmocka_unit_test(two_senders_share_a_world_and_no_wakes),
      cmocka_unit_test(a_wait_outside_a_step_runs_the_world),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
