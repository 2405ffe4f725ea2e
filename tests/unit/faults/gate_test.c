/* The gate with a real thread that plays a send loop: it may only ever be held between
 * two net calls, and what it did before must be seen. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "kit.h"

struct loop {
  struct kit *k;
  atomic_bool began, stop;
  int turns; /* not atomic on purpose: the gate orders it */
};

/* The scripted wait returns at once and never sleeps, so this spins through the gate. */
static void *turn(void *arg) {
  struct loop *l = arg;
  while (!atomic_load(&l->stop)) {
    l->turns++;
    l->k->ops->net->wait(l->k->ops->net_ctx, -1, 0, 0);
    atomic_store(&l->began, true);
  }
  return NULL;
}

static int quiet_wait(void *ctx, qwp_sock sock, unsigned interest, int64_t timeout_ns) {
  (void)ctx, (void)sock, (void)interest, (void)timeout_ns;
  return 0;
}
static void quiet_wake(void *ctx) { (void)ctx; }

static void a_held_loop_makes_no_turn(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, NULL, 0);
  k.table.wait = quiet_wait;
  k.table.wake = quiet_wake;
  struct loop l = {.k = &k};
  faults_hold(k.f); /* before the first call of all: returns, for there is nothing to wait for */
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, turn, &l), 0);
  faults_release(k.f);
  while (!atomic_load(&l.began)) sched_yield();
  for (int round = 0; round < 200; round++) {
    faults_hold(k.f);
    int turns = l.turns;
    assert_int_equal(kit_counters(&k).idle, turns - 1); /* parked at the entry of its last wait */
    faults_hold(k.f);                                 /* again: it is held already */
    assert_int_equal(l.turns, turns);
    faults_release(k.f);
  }
  atomic_store(&l.stop, true);
  pthread_join(thread, NULL);
  assert_int_equal(kit_counters(&k).idle, l.turns);
  kit_end(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_held_loop_makes_no_turn)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
