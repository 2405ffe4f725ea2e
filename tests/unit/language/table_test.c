/* The table of keys itself, and what is made from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "language/keys.h"
#include "language/names.h"

static void rows_are_whole(void **state) {
  (void)state;
  for (size_t i = 0; i < scn_key_count; i++) {
    const struct scn_key *k = &scn_keys[i];
    if ((k->forms & SCN_IS_CHOICE) && !k->words) fail_msg("%s: no words", k->name);
    if ((k->forms & (SCN_IS_MAP | SCN_IS_MAPS)) && !k->section_of) fail_msg("%s: no section", k->name);
    if (k->help[strlen(k->help) - 1] != '.') fail_msg("%s: help is no sentence", k->name);
    if (strncmp(k->example, k->name, strlen(k->name)) != 0 && strcmp(k->name, "*") != 0) {
      fail_msg("%s: example shows another key", k->name);
    }
    for (size_t j = 0; j < i; j++) {
      if (strcmp(k->section, scn_keys[j].section) == 0 && strcmp(k->name, scn_keys[j].name) == 0) {
        fail_msg("%s.%s stands twice", k->section, k->name);
      }
    }
    /* One run a section: the schema is written so. */
    for (size_t j = 0; i && j + 1 < i; j++) {
      if (strcmp(k->section, scn_keys[j].section) == 0) assert_string_equal(k->section, scn_keys[i - 1].section);
    }
  }
}

/* Every section that a key opens has keys, and every section but the two roots is opened. */
static void sections_meet(void **state) {
  (void)state;
  for (size_t i = 0; i < scn_key_count; i++) {
    bool has_keys = !scn_keys[i].section_of;
    bool opened = !*scn_keys[i].section || strcmp(scn_keys[i].section, "script") == 0;
    for (size_t j = 0; j < scn_key_count; j++) {
      if (scn_keys[i].section_of && strcmp(scn_keys[j].section, scn_keys[i].section_of) == 0) has_keys = true;
      if (scn_keys[j].section_of && strcmp(scn_keys[j].section_of, scn_keys[i].section) == 0) opened = true;
    }
    /* `flush: {}` and `close: {}` may be empty but have an error; all have keys. */
    if (!has_keys || !opened) fail_msg("%s.%s: section is not joined", scn_keys[i].section, scn_keys[i].name);
  }
}

static char *printed(bool (*print)(FILE *, const char *), const char *key, bool want) {
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  assert_non_null(out);
  assert_int_equal(print(out, key), want);
  fclose(out);
  return text;
}

static void explains(void **state) {
  (void)state;
  char *text = printed(scn_explain, "publish.rows", true);
  assert_string_equal(text, "rows (in publish)\n  How many rows; their numbers go on from the publish before.\n"
                            "  value:   number\n  must be given\n  example: rows: 500\n");
  free(text);
  text = printed(scn_explain, "publish", true); /* a mapping: its keys, with type, default and meaning */
  assert_non_null(strstr(text, "\n    rows: number; must be given\n        How many rows;"));
  assert_non_null(strstr(text, "\n    flush: each|end|none|acked|every N; default end\n"));
  free(text);
  text = printed(scn_explain, "close", true); /* a step and an action of the server */
  assert_non_null(strstr(text, "close (in step)"));
  assert_non_null(strstr(text, "close (in server)"));
  free(text);
  text = printed(scn_explain, "at_frame", true); /* the same everywhere: told once */
  assert_non_null(strstr(text, "at_frame (in trigger, nack, server.close, stall, server.drain, raw, ping, ok, "
                               "refuse)\n"));
  assert_null(strstr(text + 1, "at_frame (in "));
  free(text);
  text = printed(scn_explain, "nack.at_frame", true);
  assert_non_null(strstr(text, "at_frame (in nack)\n"));
  free(text);
  text = printed(scn_explain, "loop.sent", true);
  assert_string_equal(text, "loop.sent (in expect and wait)\n  data frames whose flush completed\n");
  free(text);
  text = printed(scn_explain, "kils", false);
  assert_string_equal(text, "kils: no such key or counter, nearest valid key 'kills'\n");
  free(text);
  text = printed(scn_explain, "all", true);
  assert_non_null(strstr(text, "peer_inside_send"));
  free(text);
  text = printed(scn_explain, NULL, true);
  assert_non_null(strstr(text, "peer_inside_send"));
  assert_non_null(strstr(text, "srv.rows.doubled"));
  free(text);
}

static bool schema(FILE *out, const char *unused) {
  (void)unused;
  scn_schema(out);
  return true;
}

/* scenarios/schema.json is what the table says today; else write it again. */
static void schema_is_current(void **state) {
  (void)state;
  char *made = printed(schema, NULL, true);
  FILE *f = fopen(TEST_DATA "/../../scenarios/schema.json", "rb");
  assert_non_null(f);
  char *kept = calloc(1, 1048576);
  assert_non_null(kept);
  const size_t n = fread(kept, 1, 1048575, f);
  fclose(f);
  if (n != strlen(made) || memcmp(kept, made, n) != 0) {
    fail_msg("scenarios/schema.json is out of date: qwp-scenario --schema > scenarios/schema.json");
  }
  free(kept);
  free(made);
}

int main(int argc, char **argv) {
  /* Writes the schema, for the day when the table has changed and no runner is built. */
  if (argc == 2 && strcmp(argv[1], "--schema") == 0) return scn_schema(stdout), 0;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(rows_are_whole), cmocka_unit_test(sections_meet), cmocka_unit_test(explains),
    cmocka_unit_test(schema_is_current),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
