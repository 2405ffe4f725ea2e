/* Names: refused exactly where a server refuses. The verdicts are those of golden/server-probes.tsv,
 * group "name" (tests/data/server-probes.tsv). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rows/name.h"

static bool table_ok(const char *name) { return !qwp_name_table_fault(name, strlen(name), 127); }
static bool column_ok(const char *name) { return !qwp_name_column_fault(name, strlen(name), 127); }

/* Each byte value in the middle of a name. */
static void every_byte(void **state) {
  (void)state;
  for (unsigned c = 0; c < 0x80; c++) {
    char name[3] = {'a', (char)c, 'z'};
    bool refused = c < 0x10 || c == 0x7F || (c && strchr("?,'\"\\/:)(+*%~", (int)c));
    assert_int_equal(!qwp_name_table_fault(name, 3, 127), !refused);
    assert_int_equal(!qwp_name_column_fault(name, 3, 127), !refused && c != '.' && c != '-');
  }
}

static void positions(void **state) {
  (void)state;
  static const char *const refused[] = {"", ".a", "a.", ".", "..", "a..b", " a", "a ",
                                        " ", "   ", "\xEF\xBB\xBF", "a\xEF\xBB\xBFz", "a\xFFz", "a\xC3"};
  static const char *const taken[] = {"a", "a.b", "p_.ok.ok", "a b", "a-b", "-",
                                      "a\x10z", "a\x1Fz", "\xC3\xA9", "a\xE2\x80\xA8z", "&#;|<$", "\xEF\xBB\xBE"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (table_ok(refused[i])) fail_msg("taken as a table: case %zu", i);
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (!table_ok(taken[i])) fail_msg("refused as a table: case %zu", i);

  static const char *const column_refused[] = {"", "a.z", "a-z", ".", "-", "a\xEF\xBB\xBFz", "a\xFFz"};
  static const char *const column_taken[] = {"a", " a", "a ", " ", "a b", "a\x10z", "\xC3\xA9", "a\xE2\x80\xA8z"};
  for (size_t i = 0; i < sizeof column_refused / sizeof *column_refused; i++)
    if (column_ok(column_refused[i])) fail_msg("taken as a column: case %zu", i);
  for (size_t i = 0; i < sizeof column_taken / sizeof *column_taken; i++)
    if (!column_ok(column_taken[i])) fail_msg("refused as a column: case %zu", i);
}

/* The limit counts bytes, not characters [WIRE-TBL-002, WIRE-SCH-002]. */
static void length(void **state) {
  (void)state;
  char name[128];
  memset(name, 'n', sizeof name);
  assert_null(qwp_name_table_fault(name, 127, 127));
  assert_null(qwp_name_column_fault(name, 127, 127));
  assert_string_equal(qwp_name_table_fault(name, 128, 127), "is too long");
  assert_string_equal(qwp_name_column_fault(name, 128, 127), "is too long");
  assert_string_equal(qwp_name_table_fault(name, 17, 16), "is too long");
  for (size_t i = 0; i < sizeof name; i += 2) memcpy(name + i, "\xC3\xA9", 2);
  assert_null(qwp_name_table_fault(name, 126, 127));
  assert_string_equal(qwp_name_table_fault(name, 128, 127), "is too long");
}

/* Cuts the line at its tabs; returns how many cells there are. */
static int split(char *line, char *cells[], int max) {
  int count = 0;
  for (char *at = line; at && count < max; count++) {
    cells[count] = at;
    at = strchr(at, '\t');
    if (at) *at++ = '\0';
  }
  return count;
}

/* The character that a probe put between two letters, from its description: "table name with ?",
 * "column name with 0a, existing table". 0 if it is given in words. */
static char probed_character(const char *what, bool *table) {
  *table = strncmp(what, "table name with ", 16) == 0;
  if (!*table && strncmp(what, "column name with ", 17) != 0) return 0;
  const char *given = what + (*table ? 16 : 17);
  const char *end = *table ? given + strlen(given) : strstr(given, ", new table");
  if (!end) end = strstr(given, ", existing table");
  if (!end) return 0;
  unsigned hex;
  if (end - given == 1) return given[0];
  return (char)(end - given == 2 && sscanf(given, "%2x", &hex) == 1 ? hex : 0);
}

static void as_the_server_answered(void **state) {
  (void)state;
  FILE *f = fopen(TEST_DATA "/server-probes.tsv", "r");
  assert_non_null(f);
  char *line = NULL;
  size_t cap = 0, judged = 0;
  while (getline(&line, &cap, f) > 0) {
    char *cells[10];
    if (split(line, cells, 10) < 10 || strcmp(cells[0], "name") != 0) continue;
    bool table;
    char name[3] = {'a', probed_character(cells[1], &table), 'z'};
    if (!name[1]) continue;
    bool taken = strncmp(cells[9], "ok(", 3) == 0;
    const char *fault = table ? qwp_name_table_fault(name, 3, 127) : qwp_name_column_fault(name, 3, 127);
    if (!fault != taken) fail_msg("%s: the server says %s, we say %s", cells[1], cells[9], fault ? fault : "taken");
    judged++;
  }
  free(line);
  fclose(f);
  assert_int_equal(judged, 64);
}

static void the_error_names_the_name(void **state) {
  (void)state;
  struct qwp_error err;
  char name[100];
  memset(name, 'n', sizeof name);
  assert_int_equal(qwp_name_fail(&err, QWP_NAME, "column name", "a\n\xC3\xA9", 4, "is %s", "odd"), QWP_NAME);
  assert_string_equal(err.text, "column name 'a?" "?" "?' is odd");
  assert_string_equal(err.key, "a?" "?" "?");
  assert_int_equal(qwp_name_fail(&err, QWP_NAME, "table name", name, sizeof name, "is long"), QWP_NAME);
  assert_int_equal(strlen(err.key), sizeof err.key - 1);
  assert_int_equal(qwp_name_fail(NULL, QWP_TYPE, "column", "a", 1, "is odd"), QWP_TYPE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_byte), cmocka_unit_test(positions),
      cmocka_unit_test(length),     cmocka_unit_test(as_the_server_answered),
      cmocka_unit_test(the_error_names_the_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
