/* The answer to an upgrade, leaving in pieces. */
#include "../../testlib/mock_rig.h"

struct play {
  struct rig r;
  struct mock_entry entry;
  struct mock_script script;
  struct rig_peer *p;
  size_t whole_n; /* of the answer, as a server gives it in one write */
};

static void answer_whole(struct play *x, const char *head, size_t head_n) {
  rig_start(&x->r, NULL);
  x->p = rig_connect(&x->r);
  rig_feed(x->p, head, head_n);
  x->whole_n = x->p->out_n;
  rig_stop(&x->r);
}

static void begin(struct play *x, struct mock_entry entry, const char *head, size_t head_n) {
  answer_whole(x, head, head_n);
  x->entry = entry;
  x->entry.connection = 1;
  x->script = (struct mock_script){.entries = &x->entry, .entry_count = 1};
  rig_start(&x->r, &x->script);
  x->p = rig_connect(&x->r);
  rig_feed(x->p, head, head_n);
}

#define WRITE_HEAD RIG_WRITE_HEAD, sizeof RIG_WRITE_HEAD - 1
#define READ_HEAD RIG_READ_HEAD, sizeof RIG_READ_HEAD - 1

static void one_cut_then_the_rest(void **state) {
  (void)state;
  struct play x;
  begin(&x, (struct mock_entry){.upgrade_cut_bytes = 90, .upgrade_pause_ns = 5000}, WRITE_HEAD);
  const int64_t t = x.r.now_ns;
  assert_int_equal(x.p->out_n, 90);
  assert_int_equal(x.r.wake_ns, t + 5000);
  rig_advance_to(&x.r, t + 4999);
  assert_int_equal(x.p->out_n, 90);
  rig_advance_to(&x.r, t + 5000);
  assert_int_equal(x.p->out_n, x.whole_n);
  assert_int_equal(x.p->writes, 2);
  rig_stop(&x.r);
}

/* What stands behind the blank line in the same write is part of it; a cut behind everything cuts nothing. */
static void the_cut_counts_what_leaves_with_the_answer(void **state) {
  (void)state;
  struct play x;
  struct mock_entry entry = {.reader = true, .upgrade_pause_ns = 5000};
  answer_whole(&x, READ_HEAD);
  const size_t whole = x.whole_n;
  for (size_t cut = whole - 3; cut <= whole + 1; cut++) {
    entry.upgrade_cut_bytes = (int64_t)cut;
    begin(&x, entry, READ_HEAD);
    assert_int_equal(x.p->out_n, cut < whole ? cut : whole);
    rig_advance_to(&x.r, x.r.now_ns + 5000);
    assert_int_equal(x.p->out_n, whole);
    assert_int_equal(x.p->writes, cut < whole ? 2 : 1);
    rig_stop(&x.r);
  }
}

static void a_byte_a_write(void **state) {
  (void)state;
  struct play x;
  begin(&x, (struct mock_entry){.upgrade_piece_bytes = 1, .upgrade_pause_ns = 10}, WRITE_HEAD);
  for (size_t n = 1; n < x.whole_n; n++) {
    assert_int_equal(x.p->out_n, n);
    rig_advance_to(&x.r, x.r.now_ns + 10);
  }
  assert_int_equal(x.p->out_n, x.whole_n);
  assert_int_equal(x.p->writes, x.whole_n);
  rig_stop(&x.r);

  begin(&x, (struct mock_entry){.upgrade_piece_bytes = 50}, WRITE_HEAD); /* no pause: writes one behind the other */
  assert_int_equal(x.p->out_n, x.whole_n);
  assert_int_equal(x.p->writes, (x.whole_n + 49) / 50);
  rig_stop(&x.r);
}

static void only_the_answer_leaves_in_pieces(void **state) {
  (void)state;
  struct play x;
  struct rig_bytes b = {0};
  begin(&x, (struct mock_entry){.upgrade_piece_bytes = 1000, .upgrade_pause_ns = 10}, WRITE_HEAD);
  assert_int_equal(x.p->out_n, x.whole_n);
  for (int i = 0; i < 8; i++) rig_row(&b, 0, i);
  rig_feed(x.p, b.p, b.n);
  assert_int_equal(x.p->writes, 2); /* no pause behind the last piece */
  assert_true(x.p->out_n > x.whole_n);
  rig_stop(&x.r);
}

/* A refusal in pieces ends its connection behind the last of them. */
static void a_refusal_in_pieces_is_told_whole(void **state) {
  (void)state;
  struct play x;
  begin(&x, (struct mock_entry){.upgrade = MOCK_UPGRADE_STATUS, .status = 503, .upgrade_cut_bytes = 7,
                                .upgrade_pause_ns = 10}, WRITE_HEAD);
  assert_int_equal(x.p->out_n, 7);
  assert_false(x.p->closed);
  rig_advance_to(&x.r, x.r.now_ns + 10);
  assert_true(x.p->closed);
  assert_memory_equal(x.p->out, "HTTP/1.1 503 ", 13);
  rig_stop(&x.r);
}

/* A socket that takes less than a piece loses nothing. */
static void a_full_socket_loses_nothing(void **state) {
  (void)state;
  struct play x;
  answer_whole(&x, WRITE_HEAD);
  x.entry = (struct mock_entry){.connection = 1, .upgrade_piece_bytes = 20, .upgrade_pause_ns = 10};
  x.script = (struct mock_script){.entries = &x.entry, .entry_count = 1};
  rig_start(&x.r, &x.script);
  x.p = rig_connect(&x.r);
  x.p->room = 5;
  rig_feed(x.p, WRITE_HEAD);
  assert_int_equal(x.p->out_n, 5);
  rig_writable(x.p, SIZE_MAX);
  for (int i = 0; i < 100; i++) rig_advance_to(&x.r, x.r.now_ns + 10);
  assert_int_equal(x.p->out_n, x.whole_n);
  rig_stop(&x.r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_cut_then_the_rest),
      cmocka_unit_test(the_cut_counts_what_leaves_with_the_answer),
      cmocka_unit_test(a_byte_a_write),
      cmocka_unit_test(only_the_answer_leaves_in_pieces),
      cmocka_unit_test(a_refusal_in_pieces_is_told_whole),
      cmocka_unit_test(a_full_socket_loses_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
