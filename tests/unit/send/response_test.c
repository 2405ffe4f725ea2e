#include "send/response.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "qwp/wire.h"

/* Parses a copy that ends where the heap block ends, so that a sanitizer sees an over-read. */
static enum qwp_status parse(const void *p, size_t n, struct qwp_response *out, uint8_t **block) {
  *block = malloc(n ? n : 1);
  if (n) memcpy(*block, p, n);
  return qwp_response_parse(*block, n, out, NULL);
}

static size_t unhex(const char *hex, uint8_t *out) {
  size_t n = 0;
  unsigned byte;
  for (; sscanf(hex, "%2x", &byte) == 1 && hex[0] && hex[1]; hex += 2) out[n++] = (uint8_t)byte;
  return n;
}

/* The verdicts of the strict reference client. Where this one decides otherwise: sequence -1
 * is parsed and ignored later; it must not acknowledge anything. */
static void recorded_answers(void **state) {
  (void)state;
  FILE *file = fopen(REFERENCE_DATA "/wire/vectors-responses.tsv", "r");
  if (!file) {
    print_message("not run: reference bytes not here\n");
    skip();
  }
  char line[2048];
  int seen = 0;
  while (fgets(line, sizeof line, file)) {
    if (line[0] == '#') continue;
    strtok(line, "\t");
    char *hex = strtok(NULL, "\t"), *verdict = strtok(NULL, "\t");
    assert_non_null(verdict);
    uint8_t bytes[1024], *block;
    struct qwp_response r;
    enum qwp_status st = parse(bytes, unhex(hex, bytes), &r, &block);
    assert_int_equal(st, strncmp(verdict, "refuse", 6) == 0 ? QWP_CONN_PROTOCOL : QWP_OK);
    free(block);
    seen++;
  }
  fclose(file);
  assert_true(seen >= 18);
}

static void an_ok_with_tables(void **state) {
  (void)state;
  const char bytes[] = "\x00\x07\0\0\0\0\0\0\0\x02\0\x01\0a\x2a\0\0\0\0\0\0\0\x02\0bc\xf9\xff\xff\xff\xff\xff\xff\xff";
  struct qwp_response r;
  uint8_t *block;
  assert_int_equal(parse(bytes, sizeof bytes - 1, &r, &block), QWP_OK);
  assert_int_equal(r.kind, QWP_RESPONSE_OK);
  assert_int_equal(r.sequence, 7);
  assert_int_equal(r.table_count, 2);
  free(block);
  for (size_t n = 0; n < sizeof bytes - 1; n++) { /* cut anywhere: refused */
    assert_int_equal(parse(bytes, n, &r, &block), QWP_CONN_PROTOCOL);
    free(block);
  }
}

static void an_error_with_text_of_any_length(void **state) {
  (void)state;
  for (size_t n = 0; n <= 65535; n += 13107) {
    uint8_t *bytes = calloc(1, 11 + n), *block;
    bytes[0] = QWP_ST_WRITE_ERROR;
    bytes[1] = 5;
    bytes[9] = (uint8_t)n;
    bytes[10] = (uint8_t)(n >> 8);
    memset(bytes + 11, 'x', n);
    struct qwp_response r;
    assert_int_equal(parse(bytes, 11 + n, &r, &block), QWP_OK);
    assert_int_equal(r.kind, QWP_RESPONSE_ERROR);
    assert_int_equal(r.status, QWP_ST_WRITE_ERROR);
    assert_int_equal(r.sequence, 5);
    assert_int_equal(r.text_bytes, n);
    free(block);
    assert_int_equal(parse(bytes, 10 + n, &r, &block), QWP_CONN_PROTOCOL);
    free(block);
    free(bytes);
  }
}

static void text_for_people_is_cut_at_a_character_and_clean(void **state) {
  (void)state;
  const char text[] = "a\n\xff" "b\xc3\xa4\xe2\x82\xac";
  struct qwp_response r = {.text = (const uint8_t *)text, .text_bytes = sizeof text - 1};
  char out[32];
  qwp_response_text(&r, out, sizeof out);
  assert_string_equal(out, "a??b\xc3\xa4\xe2\x82\xac");
  qwp_response_text(&r, out, 9);
  assert_string_equal(out, "a??b\xc3\xa4");
  qwp_response_text(&r, out, 1);
  assert_string_equal(out, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recorded_answers),
      cmocka_unit_test(an_ok_with_tables),
      cmocka_unit_test(an_error_with_text_of_any_length),
      cmocka_unit_test(text_for_people_is_cut_at_a_character_and_clean),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
