/* The leak detector on recorded and on made series: what a healthy process does is no leak, what never comes back is one. */
#include "runner/leak.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define LENGTH 600 /* samples, one a second */

static char why[400];

/* Seconds since the last outage began; an outage lasts ten of every forty. */
static int phase(int t) { return t % 40; }
static bool outage(int t) { return phase(t) < 10; }

/* Noise that is the same in every run: what an allocator rounds. */
static int64_t wobble(int t) { return (int64_t)((unsigned)t * 2654435761u >> 20 & 7) * 4 * KIB; }

typedef int64_t (*value_at)(int t);

static struct samples made(const char *name, enum sample_kind kind, value_at value) {
  struct samples s;
  samples_init(&s, name, kind);
  for (int t = 0; t < LENGTH; t++) assert_true(samples_add(&s, t * INT64_C(1000000000), value(t), outage(t)));
  return s;
}

static enum leak_verdict judged(struct samples *s) {
  const struct leak_limits limits = leak_limits_of(s->kind);
  const enum leak_verdict v = leak_judge(s, &limits, why, sizeof why);
  samples_free(s);
  return v;
}

static int64_t flat(int t) { return 8 * MIB + wobble(t); }
/* Buffers fill while the server is away, and stay full for a while behind the outage: the raw samples climb and climb. */
static int64_t saw_tooth(int t) { return flat(t) + (phase(t) < 20 ? phase(t) * MIB : 0); }
static int64_t growing_teeth(int t) { return flat(t) + (phase(t) < 20 ? phase(t) * MIB * t / 60 : 0); }
static int64_t slow_leak(int t) { return saw_tooth(t) + t * KIB; }
static int64_t step_that_returns(int t) { return flat(t) + (t >= 200 && t < 360 ? 3 * MIB : 0); }
static int64_t step_that_stays(int t) { return flat(t) + (t >= 240 ? 3 * MIB : 0); }
static int64_t warm_up(int t) { return flat(t) + (t < 30 ? 0 : 2 * MIB); }
static int64_t falling(int t) { return 64 * MIB - t * KIB; }
static int64_t one_fd_a_reconnect(int t) { return 7 + t / 40; }
static int64_t steady_fds(int t) { return outage(t) ? 6 : 7; }

static void what_comes_back_is_no_leak(void **state) {
  (void)state;
  static const struct {
    const char *name;
    value_at value;
  } healthy[] = {{"flat", flat}, {"saw-tooth", saw_tooth}, {"growing teeth", growing_teeth},
                 {"step that returns", step_that_returns}, {"warm-up", warm_up}, {"falling", falling}};
  for (size_t i = 0; i < sizeof healthy / sizeof *healthy; i++) {
    struct samples s = made(healthy[i].name, SAMPLE_BYTES, healthy[i].value);
    if (judged(&s) != LEAK_NONE) fail_msg("%s", why);
  }
  struct samples s = made("client.fds", SAMPLE_DESCRIPTORS, steady_fds);
  assert_int_equal(judged(&s), LEAK_NONE);
}

static void what_never_comes_back_is_a_leak(void **state) {
  (void)state;
  struct samples s = made("client.rss", SAMPLE_BYTES, slow_leak);
  assert_int_equal(judged(&s), LEAK_FOUND);
  assert_memory_equal(why, "client.rss: leaks: ", 19);
  s = made("client.rss", SAMPLE_BYTES, step_that_stays);
  assert_int_equal(judged(&s), LEAK_FOUND);
  s = made("client.fds", SAMPLE_DESCRIPTORS, one_fd_a_reconnect);
  assert_int_equal(judged(&s), LEAK_FOUND);
  assert_string_equal(why, 
                           "client.fds: leaks: it never came below 17 descriptors after 420.0 s, and had been at 11 or less "
                           "until 191.0 s (16 quiet stretches, 0 may be kept)");
}

/* Without marks the series is cut into equal stretches; each is as long as a tooth, so its floor is the tooth's. */
static void faults_that_nobody_marked_do_not_hide_a_leak(void **state) {
  (void)state;
  struct samples s = made("client.rss", SAMPLE_BYTES, slow_leak);
  for (size_t i = 0; i < s.count; i++) s.at[i].in_fault = false;
  assert_int_equal(judged(&s), LEAK_FOUND);
  s = made("client.rss", SAMPLE_BYTES, saw_tooth);
  for (size_t i = 0; i < s.count; i++) s.at[i].in_fault = false;
  assert_int_equal(judged(&s), LEAK_NONE);
}

/* A machine that stops for a while takes fewer samples, at other times; order and minima stay. */
static void a_slow_machine_changes_nothing(void **state) {
  (void)state;
  for (int gap = 2; gap <= 9; gap++) {
    struct samples leaks, healthy;
    samples_init(&leaks, "a", SAMPLE_BYTES);
    samples_init(&healthy, "b", SAMPLE_BYTES);
    for (int t = 0; t < LENGTH; t += 1 + (t * 7 + gap) % gap) {
      assert_true(samples_add(&leaks, t * INT64_C(1000000000), slow_leak(t), outage(t)));
      assert_true(samples_add(&healthy, t * INT64_C(1000000000), saw_tooth(t), outage(t)));
    }
    if (judged(&leaks) != LEAK_FOUND) fail_msg("gap %d: %s", gap, why);
    if (judged(&healthy) != LEAK_NONE) fail_msg("gap %d: %s", gap, why);
  }
}

static void the_ceiling_holds_inside_fault_windows_too(void **state) {
  (void)state;
  struct leak_limits limits = {.ceiling = 27 * MIB, .allowance = 64 * KIB};
  struct samples s = made("client.rss", SAMPLE_BYTES, saw_tooth); /* 8 MiB, 19 MiB of teeth, and the wobble */
  assert_int_equal(leak_judge(&s, &limits, why, sizeof why), LEAK_FOUND);
  assert_string_equal(why, "client.rss: 28315648 bytes at 19.0 s, above the ceiling of 28311552");
  limits.ceiling = 28 * MIB;
  assert_int_equal(leak_judge(&s, &limits, why, sizeof why), LEAK_NONE);
  for (size_t i = 0; i < s.count; i++) /* the trend is blind in there, the ceiling is not */
    if (s.at[i].in_fault && i == 403) s.at[i].value = 28 * MIB + 1;
  assert_true(s.at[403].in_fault);
  assert_int_equal(leak_judge(&s, &limits, why, sizeof why), LEAK_FOUND);
  assert_string_equal(why, "client.rss: 29360129 bytes at 403.0 s, above the ceiling of 29360128, inside a fault window");
  samples_free(&s);
}

static void samples_inside_fault_windows_say_nothing_of_a_trend(void **state) {
  (void)state;
  struct samples s = made("client.rss", SAMPLE_BYTES, flat);
  for (size_t i = 0; i < s.count; i++)
    if (s.at[i].in_fault) s.at[i].value += (int64_t)i * MIB;
  assert_int_equal(judged(&s), LEAK_NONE);
}

static void the_allowance_is_exact(void **state) {
  (void)state;
  struct samples s;
  samples_init(&s, "n", SAMPLE_DESCRIPTORS);
  for (int i = 0; i < LEAK_STRETCHES; i++) assert_true(samples_add(&s, i, i > 2 * LEAK_FLOORS ? 14 : 10, false));
  struct leak_limits limits = {.allowance = 4};
  assert_int_equal(leak_judge(&s, &limits, why, sizeof why), LEAK_NONE);
  limits.allowance = 3;
  assert_int_equal(leak_judge(&s, &limits, why, sizeof why), LEAK_FOUND);
  s.at[LEAK_STRETCHES - 1].value = 13; /* one look at the old height is enough */
  assert_int_equal(leak_judge(&s, &limits, why, sizeof why), LEAK_NONE);
  samples_free(&s);
}

static void too_few_samples_are_no_evidence(void **state) {
  (void)state;
  struct samples s;
  samples_init(&s, "client.rss", SAMPLE_BYTES);
  assert_true(samples_add(&s, 1, -1, false)); /* a look that saw nothing */
  const struct leak_limits limits = leak_limits_of(SAMPLE_BYTES);
  assert_int_equal(leak_judge(&s, &limits, why, sizeof why), LEAK_UNKNOWN);
  assert_string_equal(why, "0 samples for client.rss");
  for (int i = 1; i < LEAK_STRETCHES; i++) assert_true(samples_add(&s, i, 5, false));
  assert_int_equal(leak_judge(&s, &limits, why, sizeof why), LEAK_UNKNOWN);
  assert_true(samples_add(&s, LEAK_STRETCHES, 5, false));
  assert_int_equal(leak_judge(&s, &limits, why, sizeof why), LEAK_NONE);
  for (size_t i = 0; i < s.count; i++) s.at[i].in_fault = true;
  assert_int_equal(leak_judge(&s, &limits, why, sizeof why), LEAK_UNKNOWN);
  samples_free(&s);
}

/* ---- series that qwp-soak recorded ---- */

static enum leak_verdict judged_file(const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/../unit/runner/series/%s", TEST_DATA, name);
  struct samples s;
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  if (!samples_read(&s, f, why, sizeof why)) fail_msg("%s: %s", name, why);
  fclose(f);
  return judged(&s);
}

static void recorded_series(void **state) {
  (void)state;
  static const struct {
    const char *name;
    enum leak_verdict verdict;
  } recorded[] = {{"healthy.rss", LEAK_NONE}, {"healthy.fds", LEAK_NONE}, {"first-lap-of-a-segment.rss", LEAK_FOUND},
                  {"leaks-memory.rss", LEAK_FOUND}, {"leaks-descriptors.fds", LEAK_FOUND}};
  for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
    if (judged_file(recorded[i].name) != recorded[i].verdict) fail_msg("%s: %s", recorded[i].name, why);
}

static void a_series_is_read_as_it_was_written(void **state) {
  (void)state;
  struct samples s, back;
  samples_init(&s, "client.fds", SAMPLE_DESCRIPTORS);
  assert_true(samples_add(&s, 5, 7, false) && samples_add(&s, 6, INT64_C(1) << 40, true));
  FILE *f = tmpfile();
  assert_non_null(f);
  assert_true(samples_write(&s, f));
  rewind(f);
  assert_true(samples_read(&back, f, why, sizeof why));
  fclose(f);
  assert_string_equal(back.name, "client.fds");
  assert_int_equal(back.kind, SAMPLE_DESCRIPTORS);
  assert_int_equal(back.count, 2);
  assert_true(back.at[1].t_ns == 6 && back.at[1].value == INT64_C(1) << 40 && back.at[1].in_fault && !back.at[0].in_fault);
  samples_free(&s);
  samples_free(&back);
}

static void what_is_no_series_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *why;
  } bad[] = {{"1 2 0\n", "no line \"# NAME bytes\" or \"# NAME descriptors\""},
             {"# a bytes\n1 2 3\n", "line 2 is no sample"},
             {"# a bytes\n1 -2 0\n", "line 2 is no sample"},
             {"# a bytes\n2 2 0\n1 2 0\n", "line 3 is no sample"},
             {"# a bytes\n1 2 0 x\n", "line 2 is no sample"},
             {"# a bytes\nhello\n", "line 2 is no sample"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct samples s;
    FILE *f = fmemopen((void *)(uintptr_t)bad[i].text, strlen(bad[i].text), "r");
    assert_non_null(f);
    assert_false(samples_read(&s, f, why, sizeof why));
    fclose(f);
    assert_memory_equal(why, bad[i].why, strlen(bad[i].why));
    assert_null(s.at);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_comes_back_is_no_leak),
      cmocka_unit_test(what_never_comes_back_is_a_leak),
      cmocka_unit_test(faults_that_nobody_marked_do_not_hide_a_leak),
      cmocka_unit_test(a_slow_machine_changes_nothing),
      cmocka_unit_test(the_ceiling_holds_inside_fault_windows_too),
      cmocka_unit_test(samples_inside_fault_windows_say_nothing_of_a_trend),
      cmocka_unit_test(the_allowance_is_exact),
      cmocka_unit_test(too_few_samples_are_no_evidence),
      cmocka_unit_test(recorded_series),
      cmocka_unit_test(a_series_is_read_as_it_was_written),
      cmocka_unit_test(what_is_no_series_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
