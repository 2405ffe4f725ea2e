/* Normal forms: what must part two journals, and what must not. */
#include "runner/normal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char why[256];

/* A line of the mock's journal: connection `conn` of link `link`, and the rest as JSON. */
static void line(struct observation *o, int conn, int link, const char *rest) {
  buffer_printf(&o->journal, "{\"t_ns\":%zu,\"side\":\"srv\",\"conn\":%d,\"link\":%d,%s}\n", o->journal.n, conn, link,
                rest);
}

#define FRAME(seq, hash) "\"event\":\"frame\",\"seq\":" #seq ",\"hash\":\"" hash "\",\"fate\":\"ok\""
#define CATCH_UP(seq, hash) \
  "\"event\":\"frame\",\"seq\":" #seq ",\"hash\":\"" hash "\",\"fate\":\"deferred\",\"catchup\":true"
#define OK(seq) "\"event\":\"reply\",\"kind\":\"ok\",\"seq\":" #seq
#define END(how) "\"event\":\"end\",\"how\":\"" how "\",\"unmatched\":0"

static void begin(struct observation *o) {
  observation_init(o);
  buffer_printf(&o->journal, "{\"journal\":\"qwp-scenario\",\"version\":1,\"seed\":18446744073709551615}\n");
  buffer_printf(&o->journal, "{\"journal\":\"qwp-mock\",\"version\":1}\n");
}

static const char *normal(struct observation *o, struct buffer *out) {
  buffer_clear(out);
  assert_true(normal_write(o, out));
  return out->n ? out->at : "";
}

static void all_kinds_of_lines(void **state) {
  (void)state;
  struct observation o;
  struct buffer out = {0};
  begin(&o);
  line(&o, 0, 1, "\"event\":\"accept\"");
  line(&o, 0, 2, "\"event\":\"accept\"");
  line(&o, 2, 3, "\"event\":\"upgrade\",\"status\":101,\"path\":\"/write/v4\",\"client\":\"c/1\",\"line\":7");
  line(&o, 1, 1, "\"event\":\"upgrade\",\"status\":101,\"path\":\"/write/v4\",\"client\":\"c/1\",\"line\":6");
  line(&o, 0, 2, "\"event\":\"refuse\",\"what\":\"connect\"");
  buffer_printf(&o.journal, "{\"t_ns\":4,\"side\":\"srv\",\"reader\":1,\"link\":9,");
  buffer_printf(&o.journal, "\"event\":\"refuse\",\"status\":404,\"path\":\"/read\"}\n");
  buffer_printf(&o.journal, "{\"t_ns\":4,\"side\":\"client\",\"conn\":1,\"event\":\"client.send\",\"result\":9}\n");
  line(&o, 1, 1, FRAME(0, "aa"));
  line(&o, 2, 3, CATCH_UP(0, "bb"));
  line(&o, 1, 1, OK(0));
  line(&o, 1, 1, "\"event\":\"rule\",\"line\":6,\"text\":\"nack at frame 2\"");
  line(&o, 1, 1, "\"event\":\"reply\",\"kind\":\"error\",\"seq\":1,\"status\":9");
  line(&o, 1, 1, "\"event\":\"violation\",\"requirement\":\"WS-001\",\"seq\":1,\"offset\":5,\"text\":\"x\"");
  line(&o, 1, 1, "\"event\":\"ping\",\"bytes\":0");
  line(&o, 1, 1, "\"event\":\"pong\",\"bytes\":0");
  line(&o, 1, 1, "\"event\":\"close\",\"from\":\"mock\",\"code\":1001,\"reason\":\"bye\"");
  line(&o, 1, 1, END("script close 1001"));
  assert_string_equal(normal(&o, &out),
                      "connection 1: upgrade 101 /write/v4\n"
                      "connection 1: frame 0 aa ok\n"
                      "connection 1: rule of line 6: nack at frame 2\n"
                      "connection 1: error 1 status 9\n"
                      "connection 1: violation of WS-001 at frame 1\n"
                      "connection 1: close from mock 1001 bye\n"
                      "connection 1: end: script close 1001\n"
                      "connection 1: acknowledged up to 0\n"
                      "connection 2: upgrade 101 /write/v4\n"
                      "connection 2: frame 0 bb deferred catch-up\n"
                      "connection 2: acknowledged up to -1\n"
                      "reader 1: refuse status 404 path /read\n"
                      "unnumbered 1: refuse what connect\n");
  buffer_free(&out);
  observation_free(&o);
}

static void how_connections_interleave_and_answers_group_is_not_in_it(void **state) {
  (void)state;
  struct observation one, other;
  struct buffer a = {0}, b = {0};
  begin(&one);
  line(&one, 1, 1, FRAME(0, "aa"));
  line(&one, 1, 1, OK(0));
  line(&one, 1, 1, FRAME(1, "bb"));
  line(&one, 1, 1, OK(1));
  line(&one, 2, 2, FRAME(0, "cc"));
  begin(&other);
  line(&other, 0, 1, "\"event\":\"accept\"");
  line(&other, 2, 5, FRAME(0, "cc"));
  line(&other, 1, 4, FRAME(0, "aa"));
  line(&other, 1, 4, FRAME(1, "bb"));
  line(&other, 1, 4, OK(1));
  normal(&one, &a), normal(&other, &b);
  assert_true(normal_equal("sim", &a, "live", &b, why, sizeof why));
  buffer_free(&a), buffer_free(&b);
  observation_free(&one), observation_free(&other);
}

/* The other journal is a frame 0 with hash aa, acknowledged, and a Close. */
static void parts(const char *first, const char *second, const char *third, const char *sentence) {
  struct observation one, other;
  struct buffer a = {0}, b = {0};
  begin(&one), begin(&other);
  line(&one, 1, 1, FRAME(0, "aa"));
  line(&one, 1, 1, OK(0));
  line(&one, 1, 1, END("close 1000"));
  if (first) line(&other, 1, 1, first);
  if (second) line(&other, 1, 1, second);
  if (third) line(&other, 1, 1, third);
  normal(&one, &a), normal(&other, &b);
  assert_false(normal_equal("sim", &a, "live", &b, why, sizeof why));
  assert_string_equal(why, sentence);
  buffer_free(&a), buffer_free(&b);
  observation_free(&one), observation_free(&other);
}

static void each_thing_that_parts_two_journals(void **state) {
  (void)state;
  parts(FRAME(0, "ab"), OK(0), END("close 1000"),
        "sim: connection 1: frame 0 aa ok | live: connection 1: frame 0 ab ok");
  parts(FRAME(1, "aa"), OK(0), END("close 1000"),
        "sim: connection 1: frame 0 aa ok | live: connection 1: frame 1 aa ok");
  parts(CATCH_UP(0, "aa"), OK(0), END("close 1000"),
        "sim: connection 1: frame 0 aa ok | live: connection 1: frame 0 aa deferred catch-up");
  parts(FRAME(0, "aa"), NULL, END("close 1000"),
        "sim: connection 1: acknowledged up to 0 | live: connection 1: acknowledged up to -1");
  parts(FRAME(0, "aa"), OK(0), END("reset"), "sim: connection 1: end: close 1000 | live: connection 1: end: reset");
  parts(FRAME(0, "aa"), OK(0), NULL, "sim: connection 1: end: close 1000 | live: connection 1: acknowledged up to 0");
  parts(NULL, NULL, NULL, "sim: connection 1: frame 0 aa ok | live: nothing more");
}

static void one_more_line_is_a_difference(void **state) {
  (void)state;
  struct observation one, other;
  struct buffer a = {0}, b = {0};
  begin(&one), begin(&other);
  line(&one, 1, 1, FRAME(0, "aa"));
  line(&other, 1, 1, FRAME(0, "aa"));
  line(&other, 2, 2, END("fin"));
  normal(&one, &a), normal(&other, &b);
  assert_false(normal_equal("sim", &a, "live", &b, why, sizeof why));
  assert_string_equal(why, "sim: nothing more | live: connection 2: end: fin");
  assert_false(normal_equal("live", &b, "sim", &a, why, sizeof why));
  assert_string_equal(why, "live: connection 2: end: fin | sim: nothing more");
  buffer_free(&a), buffer_free(&b);
  observation_free(&one), observation_free(&other);
}

static void a_line_that_is_no_json_is_told(void **state) {
  (void)state;
  struct observation o;
  struct buffer out = {0};
  begin(&o);
  buffer_printf(&o.journal, "{\"side\":\"srv\",\"event\":\"end\"\n");
  assert_false(normal_write(&o, &out));
  assert_false(normal_write_union(&o, &out));
  buffer_free(&out);
  observation_free(&o);
}

static void nothing_happened(void **state) {
  (void)state;
  struct observation o;
  struct buffer out = {0}, same = {0};
  observation_init(&o);
  assert_true(normal_write(&o, &out));
  assert_true(normal_equal("sim", &out, "live", &same, why, sizeof why));
  buffer_free(&out);
  observation_free(&o);
}

/* ---- the union ---- */

static const char *united(struct observation *o, struct buffer *out) {
  buffer_clear(out);
  assert_true(normal_write_union(o, out));
  return out->at;
}

static void the_union_is_what_a_drop_cannot_change(void **state) {
  (void)state;
  struct observation one, other;
  struct buffer a = {0}, b = {0};
  begin(&one), begin(&other);
  line(&one, 1, 1, FRAME(0, "bb")); /* dropped behind the second frame ... */
  line(&one, 1, 1, FRAME(1, "aa"));
  line(&one, 1, 1, END("script reset"));
  line(&one, 2, 2, CATCH_UP(0, "11"));
  line(&one, 2, 2, FRAME(1, "aa"));
  line(&one, 2, 2, END("close 1000"));
  line(&other, 1, 1, FRAME(0, "bb")); /* ... or behind the first, with a shorter dictionary */
  line(&other, 1, 1, END("script reset"));
  line(&other, 2, 2, CATCH_UP(0, "22"));
  line(&other, 2, 2, FRAME(1, "aa"));
  line(&other, 2, 2, END("close 1000"));
  line(&other, 0, 3, END("fin")); /* a dial that came to nothing */
  facts_number(&one.facts, "ring.acked", 1), facts_number(&other.facts, "ring.acked", 1);
  facts_text(&one.facts, "client.error", "none"), facts_text(&other.facts, "client.error", "none");
  assert_string_equal(united(&one, &a),
                      "an end: close 1000\nan end: script reset\npayload aa\npayload bb\n"
                      "the client holds acknowledged: 1\nthe client's error: none\n");
  united(&other, &b);
  assert_true(normal_equal("sim", &a, "live", &b, why, sizeof why));
  facts_number(&other.facts, "ring.acked", 0);
  united(&other, &b);
  assert_false(normal_equal("sim", &a, "live", &b, why, sizeof why));
  assert_string_equal(why, "sim: the client holds acknowledged: 1 | live: the client holds acknowledged: 0");
  line(&other, 2, 2, FRAME(2, "cc"));
  united(&other, &b);
  assert_false(normal_equal("sim", &a, "live", &b, why, sizeof why));
  assert_string_equal(why, "sim: the client holds acknowledged: 1 | live: payload cc");
  buffer_free(&a), buffer_free(&b);
  observation_free(&one), observation_free(&other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_kinds_of_lines),
      cmocka_unit_test(how_connections_interleave_and_answers_group_is_not_in_it),
      cmocka_unit_test(each_thing_that_parts_two_journals),
      cmocka_unit_test(one_more_line_is_a_difference),
      cmocka_unit_test(a_line_that_is_no_json_is_told),
      cmocka_unit_test(nothing_happened),
      cmocka_unit_test(the_union_is_what_a_drop_cannot_change),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
