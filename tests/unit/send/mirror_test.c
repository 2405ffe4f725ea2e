/* The mirror and the catch-up frames made from it. */
#include "send/mirror.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fail_mem.h"
#include "qwp/wire.h"
#include "send/catchup.h"

static struct fail_mem mem;
static struct qwp_ops ops;
static uint8_t entries[65536];

/* A section with ids start..start+count-1, "<letter><id>". */
static struct qwp_delta_view section(uint64_t start, uint64_t count, char letter) {
  size_t at = 0;
  for (uint64_t i = start; i < start + count; i++) {
    int n = snprintf((char *)entries + at + 1, 16, "%c%u", letter, (unsigned)i);
    entries[at] = (uint8_t)n;
    at += 1 + (size_t)n;
  }
  return (struct qwp_delta_view){.start = start, .count = count, .entries = entries, .entries_bytes = at};
}

static enum qwp_status tell(struct qwp_mirror *m, uint64_t start, uint64_t count, char letter) {
  struct qwp_delta_view d = section(start, count, letter);
  enum qwp_status st = qwp_mirror_admit(m, &d);
  if (st == QWP_OK) qwp_mirror_extend(m, &d);
  return st;
}

static void it_grows_by_what_is_new(void **state) {
  (void)state;
  ops = fail_mem_ops(&mem);
  struct qwp_mirror m;
  qwp_mirror_init(&m, &ops);
  assert_int_equal(tell(&m, 0, 3, 's'), QWP_OK);
  assert_int_equal(tell(&m, 0, 0, 's'), QWP_OK);
  assert_int_equal(tell(&m, 1, 4, 's'), QWP_OK); /* overlaps by two */
  assert_int_equal(tell(&m, 0, 5, 's'), QWP_OK); /* all known: a replay, or a dense frame */
  assert_int_equal(m.count, 5);
  assert_int_equal(qwp_mirror_offset(&m, 5) - qwp_mirror_offset(&m, 4), 3);
  assert_memory_equal(m.entries.data + qwp_mirror_offset(&m, 4), "\2s4", 3);
  assert_int_equal(qwp_mirror_offset(&m, 5), m.entries.len);
  qwp_mirror_free(&m);
  assert_int_equal(mem.live, 0);
}

static void gaps_and_redefinitions_are_refused(void **state) {
  (void)state;
  ops = fail_mem_ops(&mem);
  struct qwp_mirror m;
  qwp_mirror_init(&m, &ops);
  assert_int_equal(tell(&m, 1, 1, 's'), QWP_RESEND);
  assert_int_equal(tell(&m, 0, 3, 's'), QWP_OK);
  assert_int_equal(tell(&m, 4, 1, 's'), QWP_RESEND);
  assert_int_equal(tell(&m, 4, 0, 's'), QWP_RESEND);
  assert_int_equal(tell(&m, 2, 2, 't'), QWP_RESEND); /* id 2 would get another text */
  assert_int_equal(m.count, 3);
  struct qwp_delta_view cut = section(3, 1, 's');
  cut.entries_bytes--;
  assert_int_equal(qwp_mirror_admit(&m, &cut), QWP_RESEND);
  cut.count = UINT64_MAX;
  assert_int_equal(qwp_mirror_admit(&m, &cut), QWP_RESEND);
  qwp_mirror_free(&m);
}

/* What is known is compared by its bytes: each way of not repeating it is seen, and a section that only repeats
 * may be of any part. */
static void what_is_known_is_compared(void **state) {
  (void)state;
  ops = fail_mem_ops(&mem);
  struct qwp_mirror m;
  qwp_mirror_init(&m, &ops);
  assert_int_equal(tell(&m, 0, 5, 's'), QWP_OK); /* 2 's' '0', 2 's' '1', ... */
  static const struct {
    uint64_t start, count;
    const char *entries;
    size_t n;
    enum qwp_status want;
  } cases[] = {
      {1, 2, "\2s1\2s2", 6, QWP_OK},
      {5, 0, "", 0, QWP_OK},
      {3, 2, "\2s3\2s5", 6, QWP_RESEND},   /* another text */
      {3, 2, "\2s3\3s4x", 7, QWP_RESEND},  /* one longer */
      {3, 2, "\2s3\1s", 5, QWP_RESEND},    /* one shorter, the section shorter than what is known */
      {3, 2, "\2s3\2s4", 5, QWP_RESEND},   /* right as far as it goes, and cut short */
      {3, 3, "\2s3\2s4\2s", 8, QWP_RESEND}, /* the new one cut short */
      {3, 3, "\2s3\2s4\0", 7, QWP_OK},     /* and empty */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct qwp_delta_view d = {.start = cases[i].start, .count = cases[i].count,
                               .entries = (const uint8_t *)cases[i].entries, .entries_bytes = cases[i].n};
    assert_int_equal(qwp_mirror_admit(&m, &d), cases[i].want);
    if (cases[i].want == QWP_RESEND) qwp_mirror_extend(&m, &d); /* nothing was admitted: no effect */
    assert_int_equal(m.count, 5);
    assert_int_equal(m.entries.len, 15);
  }
  /* Admitted and not extended, as when the append fails: the next one is admitted in its place. */
  assert_int_equal(tell(&m, 4, 3, 's'), QWP_OK);
  assert_int_equal(m.count, 7);
  assert_memory_equal(m.entries.data, "\2s0\2s1\2s2\2s3\2s4\2s5\2s6", 21);
  for (size_t i = 0; i <= 7; i++) assert_int_equal(qwp_mirror_offset(&m, i), 3 * i);
  qwp_mirror_free(&m);
  assert_int_equal(mem.live, 0);
}

static void no_memory_changes_nothing(void **state) {
  (void)state;
  for (uint64_t nth = 1; nth <= 2; nth++) {
    ops = fail_mem_ops(&mem);
    struct qwp_mirror m;
    qwp_mirror_init(&m, &ops);
    mem.fail_at = nth;
    assert_int_equal(tell(&m, 0, 3, 's'), QWP_NOMEM);
    assert_int_equal(m.count, 0);
    assert_int_equal(tell(&m, 0, 3, 's'), QWP_OK);
    qwp_mirror_free(&m);
    assert_int_equal(mem.live, 0);
  }
}

/* Every chunk within the cap, ids contiguous, flags 0x09, no tables (P121-22). */
static void chunks_cover(struct qwp_mirror *m, int64_t cap, size_t largest) {
  struct qwp_bytes out;
  qwp_bytes_init(&out, &ops, QWP_MAX_PAYLOAD_BYTES);
  size_t next = 0, expected_start = 0;
  while (next < m->count) {
    out.len = 0;
    assert_int_equal(qwp_catchup_frame(m, &next, cap, &out), QWP_OK);
    assert_true(out.len <= largest);
    assert_int_equal(out.data[QWP_HEADER_OFF_FLAGS], 0x09);
    assert_int_equal(qwp_get_u16(out.data + QWP_HEADER_OFF_TABLES), 0);
    struct qwp_delta_view d;
    assert_int_equal(qwp_message_delta(out.data, out.len, &d), QWP_OK);
    assert_int_equal(d.start, expected_start);
    assert_int_equal(QWP_HEADER_BYTES + qwp_varint_size(d.start) + qwp_varint_size(d.count) + d.entries_bytes, out.len);
    expected_start += d.count;
    assert_int_equal(expected_start, next);
    size_t n = next < m->count ? qwp_mirror_offset(m, next + 1) - qwp_mirror_offset(m, next) : 0;
    if (n) assert_true(out.len + n + 1 > largest); /* as full as it can be */
  }
  assert_int_equal(expected_start, m->count);
  qwp_bytes_free(&out);
}

static void catch_up_covers_the_dictionary_in_chunks(void **state) {
  (void)state;
  ops = fail_mem_ops(&mem);
  struct qwp_mirror m;
  qwp_mirror_init(&m, &ops);
  for (uint64_t i = 0; i < 40000; i += 1000) assert_int_equal(tell(&m, i, 1000, 's'), QWP_OK);
  chunks_cover(&m, 16384, 16384);
  chunks_cover(&m, 0, 65528);       /* no cap: one write of 64 KiB */
  chunks_cover(&m, 2097138, 65528); /* a larger cap makes no larger chunk */
  qwp_mirror_free(&m);
}

static void an_entry_beyond_the_cap_is_said_to_be(void **state) {
  (void)state;
  ops = fail_mem_ops(&mem);
  struct qwp_mirror m;
  qwp_mirror_init(&m, &ops);
  static uint8_t big[70003] = {0xf0, 0xa2, 0x04}; /* 70 000 bytes of text */
  struct qwp_delta_view d = {.count = 1, .entries = big, .entries_bytes = sizeof big};
  assert_int_equal(tell(&m, 0, 0, 's'), QWP_OK);
  assert_int_equal(qwp_mirror_admit(&m, &d), QWP_OK);
  qwp_mirror_extend(&m, &d);
  struct qwp_bytes out;
  qwp_bytes_init(&out, &ops, QWP_MAX_PAYLOAD_BYTES);
  size_t next = 0;
  assert_int_equal(qwp_catchup_frame(&m, &next, 70016, &out), QWP_TOO_LARGE);
  assert_int_equal(next, 0);
  assert_int_equal(qwp_catchup_frame(&m, &next, 70017, &out), QWP_OK); /* alone, up to the cap */
  assert_int_equal(out.len, 70017);
  qwp_bytes_free(&out);
  qwp_mirror_free(&m);
  assert_int_equal(mem.live, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_grows_by_what_is_new),
      cmocka_unit_test(gaps_and_redefinitions_are_refused),
      cmocka_unit_test(what_is_known_is_compared),
      cmocka_unit_test(no_memory_changes_nothing),
      cmocka_unit_test(catch_up_covers_the_dictionary_in_chunks),
      cmocka_unit_test(an_entry_beyond_the_cap_is_said_to_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
