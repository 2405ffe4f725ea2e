/* Twin runs of one seed: each thing in which they may part is told. */
#include "runner/observation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct observation a, b;
static char why[256];

static void fill(struct observation *o) {
  observation_init(o);
  buffer_line(&o->journal, "{\"event\":\"one\"}", 15);
  buffer_line(&o->journal, "{\"event\":\"two\"}", 15);
  facts_number(&o->facts, "mem.alloc", 100);
  facts_text(&o->facts, "client.close", "ok");
}

static int begin(void **state) {
  (void)state;
  fill(&a);
  fill(&b);
  return 0;
}

static int end(void **state) {
  (void)state;
  observation_free(&a);
  observation_free(&b);
  return 0;
}

static void part(const char *sentence) {
  assert_false(observations_equal(&a, &b, why, sizeof why));
  assert_string_equal(why, sentence);
}

static void equal_twins_are_equal(void **state) {
  (void)state;
  assert_true(observations_equal(&a, &b, why, sizeof why));
}

static void a_journal_line_that_differs_is_shown(void **state) {
  (void)state;
  b.journal.at[b.journal.n - 4] = 'x';
  part("two runs of one seed differ at journal line 2: {\"event\":\"two\"} | {\"event\":\"twx\"}");
}

static void a_line_more_is_shown(void **state) {
  (void)state;
  buffer_line(&b.journal, "{}", 2);
  part("two runs of one seed differ at journal line 3:  | {}");
}

static void a_number_that_differs_is_shown(void **state) {
  (void)state;
  facts_number(&b.facts, "mem.alloc", 101);
  part("two runs of one seed differ in mem.alloc: 100 | 101");
}

static void a_text_that_differs_is_shown(void **state) {
  (void)state;
  facts_text(&b.facts, "client.close", "QWP_AUTH");
  part("two runs of one seed differ in client.close: ok | QWP_AUTH");
}

static void a_fact_more_is_shown(void **state) {
  (void)state;
  facts_number(&b.facts, "srv.dict[1]", 3);
  part("two runs of one seed differ in srv.dict[1]: nothing | 3");
}

#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      T(equal_twins_are_equal),         T(a_journal_line_that_differs_is_shown), T(a_line_more_is_shown),
      T(a_number_that_differs_is_shown), T(a_text_that_differs_is_shown),         T(a_fact_more_is_shown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
