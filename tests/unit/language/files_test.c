/* Every scenario of the project reads, and says what a scenario must say. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "language/scenario.h"

#define SCENARIOS TEST_DATA "/../../scenarios"

static void every_file_reads(void **state) {
  (void)state;
  glob_t found;
  assert_int_equal(glob(SCENARIOS "/*/*.yaml", 0, NULL, &found), 0);
  size_t wrong = 0, scenarios = 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    struct scn_file file;
    struct scn_problem problem;
    if (!scn_read_file(found.gl_pathv[i], &file, &problem)) {
      print_error("%s\n", problem.text);
      wrong++;
      continue;
    }
    for (size_t j = 0; j < file.count; j++) {
      const struct scn_scenario *s = &file.scenarios[j];
      /* A scenario that expects nothing cannot fail on its claim. */
      if (s->expect_count == 0) print_error("%s: expects nothing\n", s->name), wrong++;
      if (s->worlds[SCN_TLS] && s->worlds[SCN_LIVE] + s->worlds[SCN_SIM] == 0) print_error("%s: TLS only\n", s->name);
    }
    scenarios += file.count;
    scn_file_free(&file);
  }
  print_message("%zu files, %zu scenarios\n", found.gl_pathc, scenarios);
  globfree(&found);
  assert_int_equal(wrong, 0);
  assert_true(scenarios > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_file_reads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
