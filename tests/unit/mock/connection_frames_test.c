/* connection: what a frame is answered with that is not as it should be, and which ones are too large. */
#include "connection_kit.h"

static void what_a_frame_is_answered_with(void **state) {
  (void)state;
  static const uint8_t big[126] = {0};
  const struct { unsigned first; const void *p; size_t n; const char *said; bool closed; const char *requirement,
      *end; } rows[] = {
    {0x92, "x", 1, "ok(0)", true, "MAL-ING-014", "dropped"},
    {0x83, "x", 1, "ok(0)", true, "MAL-ING-014", "dropped"},
    {0x8B, "x", 1, "ok(0)", true, "MAL-ING-014", "dropped"},
    {0x09, "x", 1, "ok(0)", true, "MAL-ING-014", "dropped"},
    {0x89, big, 126, "ok(0)", true, "MAL-ING-014", "dropped"},
    {0x88, "x", 1, "ok(0)", true, "MAL-ING-014", "dropped"},
    {0x81, "x", 1, "ok(0) close 1003", true, "WS-002", "sent close 1003"},
    {0x01, "x", 1, "ok(0) close 1003", true, "WS-002", "sent close 1003"},
    {0x02, "x", 1, "ok(0) close 1002", true, "WS-009", "sent close 1002"},
    {0x80, "x", 1, "ok(0) close 1002", true, "WS-009", "sent close 1002"},
    {0x89, big, 125, "ok(0) pong(125)", false, NULL, "open"},
    {0x8A, "x", 1, "ok(0)", false, NULL, "open"},
    {0x88, "\x03\xe8", 2, "ok(0) close 1000", true, NULL, "close 1000"},
    {0x88, "", 0, "ok(0) close 1000", true, NULL, "close without code"},
    {0x82, "", 0, "ok(1)", false, NULL, "open"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct rig r;
    rig_start(&r, NULL);
    struct rig_peer *p = rig_client(&r);
    rig_row(&b, 0, 1);
    rig_frame(&b, rows[i].first, rows[i].p, rows[i].n);
    send_all(p);
    if (strcmp(rig_said(p), rows[i].said) != 0) fail_msg("row %zu said: %s", i, rig_said(p));
    assert_int_equal(p->closed, rows[i].closed);
    assert_int_equal(p->writes, 1); /* the answers of a pass leave in one write */
    assert_int_equal(mock_violation_count(r.m), rows[i].requirement ? 1 : 0);
    if (rows[i].requirement) assert_string_equal(mock_violation_at(r.m, 0)->requirement, rows[i].requirement);
    assert_string_equal(rig_conn(&r, 1).end, rows[i].end);
    rig_stop(&r);
  }
}

static void an_unmasked_frame_ends_it_without_close(struct rig *r, struct rig_peer *p) {
  rig_row(&b, 0, 1);
  memcpy(b.p + b.n, "\x82\x01x", 3);
  b.n += 3;
  send_all(p);
  assert_string_equal(rig_said(p), "ok(0)");
  assert_true(p->closed);
  assert_string_equal(mock_violation_at(r->m, 0)->requirement, "WS-001");
}

/* Header and payload count: header 14 for the sizes at the default bound, 6 to 14 below. */
static void the_receive_buffer_bounds_header_and_payload(void **state) {
  (void)state;
  struct mock_script s = {.recv_buffer_bytes = 200};
  for (size_t payload = 192; payload <= 193; payload++) { /* with the header of 8: 200, 201 */
    struct rig r;
    rig_start(&r, &s);
    struct rig_peer *p = rig_client(&r);
    uint8_t junk[256] = {0};
    b.n = 0;
    rig_frame(&b, 0x82, junk, payload);
    b.n = payload == 193 ? 8 : b.n; /* the payload is not awaited */
    send_all(p);
    assert_string_equal(rig_said(p), payload == 192 ? "error 5(0)" : "close 1009");
    assert_int_equal(p->closed, payload == 193);
    rig_stop(&r);
  }
}

static void an_absurd_length_is_refused_without_memory_for_it(struct rig *r, struct rig_peer *p) {
  (void)r;
  rig_feed(p, "\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 14);
  assert_string_equal(rig_said(p), "close 1009");
  assert_true(p->closed);
}

static void a_message_above_the_advertised_cap_is_noted(void **state) {
  (void)state;
  struct mock_entry e = {.connection = MOCK_ANY, .has_cap = true, .cap = 30};
  struct mock_script s = {.entries = &e, .entry_count = 1};
  struct rig r;
  rig_start(&r, &s);
  struct rig_peer *p = rig_client(&r);
  rig_row(&b, 0, 1); /* 31 bytes */
  send_all(p);
  assert_string_equal(rig_said(p), "ok(0)"); /* the receive buffer is what refuses */
  assert_int_equal(mock_violation_count(r.m), 1);
  assert_string_equal(mock_violation_at(r.m, 0)->requirement, "CAP-001");
  rig_stop(&r);
}

static void a_long_length_form_is_noted_and_refused_only_when_strict(void **state) {
  (void)state;
  for (int strict = 0; strict < 2; strict++) {
    struct mock_script s = {.strict_refuse = strict};
    struct rig r;
    rig_start(&r, &s);
    struct rig_peer *p = rig_client(&r);
    rig_feed(p, "\x89\xfe\x00\x01\0\0\0\0x", 9);
    assert_string_equal(rig_said(p), strict ? "close 1002" : "pong(1)");
    assert_int_equal(mock_violation_count(r.m), 1);
    assert_string_equal(mock_violation_at(r.m, 0)->requirement, "WS-003");
    rig_stop(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_a_frame_is_answered_with),
      conn_test(an_unmasked_frame_ends_it_without_close),
      cmocka_unit_test(the_receive_buffer_bounds_header_and_payload),
      conn_test(an_absurd_length_is_refused_without_memory_for_it),
      cmocka_unit_test(a_message_above_the_advertised_cap_is_noted),
      cmocka_unit_test(a_long_length_form_is_noted_and_refused_only_when_strict),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
