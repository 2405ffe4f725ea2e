/* The judge of a sweep, shown runs that are well and runs that are wrong in each way it knows. */
#define _GNU_SOURCE
#include "life_kit.h"

struct setting {
  struct kit_life kit;
  struct sweep_measure reference;
  struct sweep_point point;
  struct life_run run;
  char why[320];
};

/* A run that recovered from one broken connection. */
static void begin(struct setting *s, const char *place) {
  memset(s, 0, sizeof *s);
  kit_life(&s->kit, TWO_FRAMES);
  s->reference = (struct sweep_measure){.connections = 1, .virtual_ns = 1000};
  assert_true(sweep_point_parse(place, &s->point));
  observation_init(&s->run.o);
  s->run.fired = true;
  s->run.o.client_ok = true;
  struct facts *f = &s->run.o.facts;
  facts_text(f, "client.create", "ok");
  facts_text(f, "client.close", "ok");
  facts_text(f, "client.error", "none");
  facts_number(f, "mem.live", 0);
  facts_number(f, "net.open", 0);
  facts_number(f, "ring.published", 1);
  facts_number(f, "ring.acked", 1);
  facts_number(f, "loop.sent", 2);
  facts_number(f, "srv.conns", 2);
  facts_number(f, "srv.unmatched", 0);
  facts_text(f, "srv.conn[1].end", "reset");
  facts_text(f, "srv.conn[2].end", "close 1000");
  facts_number(f, "time.virtual_ns", 2000);
}

static bool judged(struct setting *s) {
  bool ok = sweep_judge(&s->kit.life, &s->reference, &s->point, &s->run, s->why, sizeof s->why);
  assert_true(ok == (s->why[0] == '\0'));
  return ok;
}

static void end(struct setting *s) {
  observation_free(&s->run.o);
  kit_life_end(&s->kit);
}

static void red(struct setting *s, const char *because) {
  assert_false(judged(s));
  if (!strstr(s->why, because)) fail_msg("\"%s\" does not say \"%s\"", s->why, because);
  end(s);
}

#define ONE_FAULT "send/1/d40/EPIPE"
#define NUMBER(name, value) facts_number(&s.run.o.facts, name, value)
#define TEXT(name, value) facts_text(&s.run.o.facts, name, value)

static void a_recovery_is_well(void **state) {
  struct setting s;
  (void)state;
  begin(&s, ONE_FAULT);
  assert_true(judged(&s));
  end(&s);
}

static void always_red(void **state) {
  struct setting s;
  (void)state;
  begin(&s, "alloc/3/ever");
  NUMBER("loop.sent", 1);
  red(&s, "frames up to 1 are acknowledged, and 1 were sent");
  begin(&s, "alloc/3/ever");
  NUMBER("loop.strikes", 1);
  red(&s, "1 strikes against frames, without the fault 0");
  begin(&s, "alloc/3/ever");
  snprintf(s.run.o.harness, sizeof s.run.o.harness, "the client hangs: for ever");
  red(&s, "hangs");
  begin(&s, "alloc/3/ever");
  snprintf(s.run.o.violation, sizeof s.run.o.violation, "WS-001 violated");
  red(&s, "WS-001");
  begin(&s, "alloc/3/ever");
  snprintf(s.run.o.rows_why, sizeof s.run.o.rows_why, "row 1 is lost");
  red(&s, "row 1 is lost");
  begin(&s, "alloc/3/ever");
  NUMBER("mem.live", 1);
  red(&s, "mem.live is 1");
  begin(&s, "alloc/3/ever");
  NUMBER("net.open", 1);
  red(&s, "net.open is 1");
}

static void an_error_must_fit_a_fault(void **state) {
  struct setting s;
  (void)state;
  begin(&s, "alloc/3/ever");
  s.run.o.client_ok = false;
  TEXT("client.close", "QWP_NOMEM");
  assert_true(judged(&s));
  TEXT("client.close", "QWP_MISUSE");
  red(&s, "client.close is QWP_MISUSE");
  begin(&s, "alloc/3/ever");
  TEXT("client.create", "QWP_CONFIG");
  red(&s, "could not be made");
}

static void a_close_that_succeeds_has_delivered(void **state) {
  struct setting s;
  (void)state;
  begin(&s, "call/send/3/EPIPE/ever");
  NUMBER("ring.acked", 0);
  red(&s, "the close succeeded");
}

static void behind_one_fault_every_step_succeeds(void **state) {
  struct setting s;
  (void)state;
  begin(&s, ONE_FAULT);
  s.run.o.client_ok = false;
  TEXT("client.close", "QWP_TIMEOUT");
  snprintf(s.run.o.client_why, sizeof s.run.o.client_why, "drain: not acknowledged");
  red(&s, "drain: not acknowledged");
  begin(&s, "alloc/3"); /* no memory may say so */
  s.run.o.client_ok = false;
  TEXT("client.error", "QWP_NOMEM");
  assert_true(judged(&s));
  end(&s);
  begin(&s, "alloc/3"); /* but not fail in silence */
  s.run.o.client_ok = false;
  NUMBER("ring.published", 2);
  red(&s, "the close succeeded");
}

static void one_fault_costs_one_connection(void **state) {
  struct setting s;
  (void)state;
  begin(&s, ONE_FAULT);
  TEXT("srv.conn[2].end", "fin");
  red(&s, "2 connections ended badly");
  begin(&s, ONE_FAULT);
  NUMBER("srv.unmatched", 1);
  red(&s, "2 connections ended badly");
  begin(&s, ONE_FAULT);
  TEXT("srv.conn[1].end", "script reset"); /* not the client's doing */
  TEXT("srv.conn[2].end", "fin");
  assert_true(judged(&s));
  end(&s);
}

static void a_harmless_fault_costs_none(void **state) {
  struct setting s;
  (void)state;
  begin(&s, "send/1/d40/short");
  red(&s, "a fault that a connection outlives");
  begin(&s, "send/1/d40/short");
  NUMBER("srv.conns", 1);
  TEXT("srv.conn[1].end", "close 1000");
  assert_true(judged(&s));
  end(&s);
}

static void a_recovery_takes_seconds(void **state) {
  struct setting s;
  (void)state;
  begin(&s, ONE_FAULT);
  NUMBER("time.virtual_ns", 1000 + INT64_C(3000000000));
  assert_true(judged(&s));
  NUMBER("time.virtual_ns", 1001 + INT64_C(3000000000));
  red(&s, "it took 3000 ms");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_recovery_is_well),
      cmocka_unit_test(always_red),
      cmocka_unit_test(an_error_must_fit_a_fault),
      cmocka_unit_test(a_close_that_succeeds_has_delivered),
      cmocka_unit_test(behind_one_fault_every_step_succeeds),
      cmocka_unit_test(one_fault_costs_one_connection),
      cmocka_unit_test(a_harmless_fault_costs_none),
      cmocka_unit_test(a_recovery_takes_seconds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
