/* The key table against the vocabulary that it implements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/key_table.h"
#include "config/number.h"

enum column { NAME, ALIASES, SIDE, TYPE, STANDARD, RANGE, ACTION, COLUMNS };

static const char *side_name(enum qwp_key_side side) {
  static const char *const names[] = {"both", "ingress", "egress", "pool", "reserved"};
  return names[side];
}

static const char *action_name(enum qwp_key_action action) {
  static const char *const names[] = {"applied", "accepted-and-ignored", "refused-with-hint"};
  return names[action];
}

static const char *type_name(const struct qwp_key *key) {
  switch (key->type) {
    case QWP_VALUE_NONE: return "-";
    case QWP_VALUE_BOOL: return "bool";
    case QWP_VALUE_BOOL_PLUS: return "bool+";
    case QWP_VALUE_INT: return key->off ? "int|off" : "int";
    case QWP_VALUE_MILLIS: return key->off ? "millis|off" : "millis";
    case QWP_VALUE_BYTES: return "bytes";
    case QWP_VALUE_SIZE: return key->off ? "size|off" : "size";
    case QWP_VALUE_ENUM: return "enum";
    case QWP_VALUE_STRING: return "string";
    case QWP_VALUE_SECRET: return "secret";
    case QWP_VALUE_PATH: return "path";
    case QWP_VALUE_HOSTS: return "hosts";
  }
  return "?";
}

/* Cuts the line into its first columns, in place; false if there are fewer. */
static bool cut(char *line, const char *column[COLUMNS]) {
  char *p = line;
  for (int i = 0; i < COLUMNS; i++) {
    column[i] = p;
    p = strchr(p, '\t');
    if (!p) return false;
    *p++ = '\0';
  }
  return true;
}

static bool is_number_type(const struct qwp_key *key) {
  return key->type == QWP_VALUE_INT || key->type == QWP_VALUE_MILLIS || key->type == QWP_VALUE_BYTES ||
         key->type == QWP_VALUE_SIZE;
}

/* The default of an applied number key, where the vocabulary begins with a number. */
static void check_default(const struct qwp_key *key, const char *text) {
  char first[32];
  size_t n = strcspn(text, " ;");
  assert_true(n < sizeof first);
  memcpy(first, text, n);
  first[n] = '\0';
  int64_t v;
  if (qwp_number_read_size(first, &v) != QWP_NUMBER_OK) {
    assert_int_equal(key->standard, 0); /* "unset" */
    return;
  }
  assert_int_equal(key->standard, v);
}

/* ">= 16, ..." in the column of the range is the table's minimum. */
static void check_minimum(const struct qwp_key *key, const char *text) {
  long long least;
  if (sscanf(text, ">= %lld", &least) == 1 || (sscanf(text, "> %lld", &least) == 1 && ++least)) {
    /* auto_flush_bytes=0 is a second spelling of off. */
    assert_int_equal(key->min, strstr(text, "0 = off") ? 0 : least);
  }
}

static void table_equals_vocabulary(void **state) {
  (void)state;
  FILE *f = fopen(TEST_DATA "/connect-string-keys.tsv", "r");
  assert_non_null(f);
  size_t count, rows = 0;
  const struct qwp_key *table = qwp_key_table(&count);
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, f) > 0) {
    if (line[0] == '#') continue;
    const char *column[COLUMNS] = {0};
    assert_true(cut(line, column));
    assert_true(rows < count);
    const struct qwp_key *key = &table[rows++]; /* in the same order */
    assert_string_equal(key->name, column[NAME]);
    assert_string_equal(key->alias ? key->alias : "-", column[ALIASES]);
    assert_string_equal(side_name(key->side), column[SIDE]);
    assert_string_equal(type_name(key), column[TYPE]);
    assert_string_equal(action_name(key->action), column[ACTION]);
    if (key->action == QWP_KEY_APPLIED && is_number_type(key)) {
      check_default(key, column[STANDARD]);
      check_minimum(key, column[RANGE]);
    }
  }
  free(line);
  fclose(f);
  assert_int_equal(rows, count);
  assert_int_equal(rows, 105);
}

/* A row must be able to do what its columns say. */
static void rows_are_consistent(void **state) {
  (void)state;
  size_t count;
  const struct qwp_key *table = qwp_key_table(&count);
  for (size_t i = 0; i < count; i++) {
    const struct qwp_key *key = &table[i];
    bool words = key->type == QWP_VALUE_BOOL || key->type == QWP_VALUE_BOOL_PLUS || key->type == QWP_VALUE_ENUM;
    if (key->action == QWP_KEY_REFUSED) assert_non_null(key->hint);
    if (key->action != QWP_KEY_APPLIED) continue;
    assert_true(words == (key->words != NULL));
    if (is_number_type(key)) assert_true(key->min < key->max);
    if (key->only && key->only[0]) assert_non_null(strstr(key->words, key->only));
    assert_ptr_equal(qwp_key_find(key->name), key);
    if (key->alias) assert_ptr_equal(qwp_key_find(key->alias), key);
  }
}

static void find_is_case_sensitive(void **state) {
  (void)state;
  assert_null(qwp_key_find("ADDR"));
  assert_null(qwp_key_find(""));
  assert_null(qwp_key_find("addr "));
  assert_string_equal(qwp_key_find("user")->name, "username");
  assert_string_equal(qwp_key_find("pass")->name, "password");
}

static void nearest_names_an_accepted_key(void **state) {
  (void)state;
  assert_string_equal(qwp_key_nearest("ADDR"), "addr");
  assert_string_equal(qwp_key_nearest("adr"), "addr");
  assert_string_equal(qwp_key_nearest("pasword"), "password");
  assert_string_equal(qwp_key_nearest("usr"), "user");
  assert_string_equal(qwp_key_nearest("auto_flush_row"), "auto_flush_rows");
  assert_string_equal(qwp_key_nearest("reconnect_max_backoff"), "reconnect_max_backoff_millis");
  /* One letter from sf_max_bytes, which is refused itself. */
  assert_string_equal(qwp_key_nearest("sf_max_byte"), "sf_max_total_bytes");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(find_is_case_sensitive),
      cmocka_unit_test(nearest_names_an_accepted_key),
      cmocka_unit_test(rows_are_consistent),
      cmocka_unit_test(table_equals_vocabulary),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
