/* filter: TLS between a transport and the mock, with OpenSSL's own client before it. */
#include "tls_rig.h"

#define MS INT64_C(1000000)

static struct mock_script script_of(const struct mock_entry *e, size_t n) {
  return (struct mock_script){.entries = e, .entry_count = n};
}

static void rows(struct rig_bytes *b, int n) {
  b->n = 0;
  for (int i = 0; i < n; i++) rig_row(b, 0, i);
}

static void count_text(void *arg, const char *text) {
  (void)text;
  ++*(int *)arg;
}

static int unfired(struct tls_rig *t) {
  int n = 0;
  mock_unfired(t->r.m, count_text, &n);
  return n;
}

/* ---- a connection that goes well -------------------------------------------------------- */

static void rows_arrive_and_answers_come_back(void **state) {
  (void)state;
  static const int versions[] = {12, 13};
  for (size_t i = 0; i < 2; i++) {
    const struct mock_entry e = {.connection = 1, .ack = MOCK_ACK_EACH, .tls = {.given = true, .version = versions[i]}};
    const struct mock_script s = script_of(&e, 1);
    static struct rig_bytes b;
    struct tls_rig t;
    tr_start(&t, &s);
    struct tr_client *c = tr_client(&t);
    rows(&b, 3);
    tr_say(c, b.p, b.n);
    tr_hear(c);
    assert_int_equal(rig_conn(&t.r, 1).frames, 3);
    assert_int_equal(rig_conn(&t.r, 1).oks, 3);
    assert_true(c->heard_n > 0 && c->heard[0] == 0x82);
    assert_string_equal(rig_conn(&t.r, 1).tls, versions[i] == 12 ? "1.2" : "1.3");
    assert_string_equal(rig_conn(&t.r, 1).sni, "localhost");
    assert_int_equal(unfired(&t), 0);
    tr_stop(&t);
  }
}

static void a_byte_at_a_time_is_the_same(void **state) {
  (void)state;
  struct tls_rig t;
  tr_start(&t, NULL);
  struct tr_client *c = tr_client(&t);
  static struct rig_bytes b;
  rows(&b, 2);
  assert_int_equal(SSL_write(c->ssl, b.p, (int)b.n), b.n);
  uint8_t *at;
  const size_t n = (size_t)BIO_get_mem_data(SSL_get_wbio(c->ssl), &at);
  for (size_t i = 0; i < n; i++) {
    assert_int_equal(rig_conn(&t.r, 1).frames, 0); /* a record is read when it is whole */
    tr_feed(c, at + i, 1);
  }
  assert_int_equal(rig_conn(&t.r, 1).frames, 2);
  tr_stop(&t);
}

/* ---- positions are those of the plaintext --------------------------------------------------- */

static void a_reset_at_a_byte_of_the_plaintext_is_exact(void **state) {
  (void)state;
  static struct rig_bytes b;
  rows(&b, 3);
  for (int64_t at = 1; at <= (int64_t)b.n; at += 7) {
    const struct mock_rule r = {.trigger = MOCK_AT_BYTE, .n = at, .action = MOCK_DO_RESET};
    const struct mock_entry e = {.connection = 1, .rules = &r, .rule_count = 1};
    const struct mock_script s = script_of(&e, 1);
    struct tls_rig t;
    tr_start(&t, &s);
    struct tr_client *c = tr_client(&t);
    tr_say(c, b.p, b.n); /* all in one record */
    assert_int_equal(rig_conn(&t.r, 1).bytes_in, at);
    assert_true(c->p->reset);
    assert_false(c->p->shut);
    assert_null(c->conn);
    assert_string_equal(rig_conn(&t.r, 1).end, "script reset");
    tr_stop(&t);
  }
}

static void a_stall_holds_what_was_read_and_goes_on_without_new_bytes(void **state) {
  (void)state;
  static struct rig_bytes b;
  const struct mock_rule r = {.trigger = MOCK_AT_FRAME, .n = 2, .action = MOCK_DO_STALL, .duration_ns = 50 * MS};
  const struct mock_entry e = {.connection = 1, .rules = &r, .rule_count = 1};
  const struct mock_script s = script_of(&e, 1);
  struct tls_rig t;
  tr_start(&t, &s);
  struct tr_client *c = tr_client(&t);
  rows(&b, 4);
  tr_say(c, b.p, b.n);
  assert_true(c->p->paused);
  rows(&b, 3);
  tr_say(c, b.p, b.n); /* what a transport had read before the pause */
  assert_int_equal(rig_conn(&t.r, 1).frames, 2);
  tr_advance(&t, 49 * MS);
  assert_int_equal(rig_conn(&t.r, 1).frames, 2);
  tr_advance(&t, 2 * MS);
  assert_int_equal(rig_conn(&t.r, 1).frames, 7);
  assert_false(c->p->paused);
  tr_stop(&t);
}

static void what_was_held_comes_before_the_end(void **state) {
  (void)state;
  static struct rig_bytes b;
  const struct mock_rule r = {.trigger = MOCK_AT_FRAME, .n = 1, .action = MOCK_DO_STALL, .duration_ns = 50 * MS};
  const struct mock_entry e = {.connection = 1, .rules = &r, .rule_count = 1};
  const struct mock_script s = script_of(&e, 1);
  struct tls_rig t;
  tr_start(&t, &s);
  struct tr_client *c = tr_client(&t);
  rows(&b, 1);
  tr_say(c, b.p, b.n);
  tr_say(c, b.p, b.n);
  t.r.now_ns += 60 * MS; /* the stall is over, and nobody has been told */
  tr_eof(c, false);
  assert_int_equal(rig_conn(&t.r, 1).frames, 2);
  assert_string_equal(rig_conn(&t.r, 1).end, "fin");
  tr_stop(&t);
}

/* ---- answers ---------------------------------------------------------------------------------- */

static void records_are_as_large_as_told_and_leave_in_one_write(void **state) {
  (void)state;
  static const size_t sizes[] = {1, 5, 11};
  static struct rig_bytes b;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const struct mock_entry e = {.connection = 1, .ack = MOCK_ACK_BURST, .ack_value = 3,
                                 .tls = {.given = true, .record_bytes = (int64_t)sizes[i]}};
    const struct mock_script s = script_of(&e, 1);
    struct tls_rig t;
    tr_start(&t, &s);
    struct tr_client *c = tr_client(&t);
    rows(&b, 3);
    tr_say(c, b.p, b.n);
    assert_int_equal(c->p->writes, 1);
    size_t at = 0, records = 0;
    while (at < c->p->out_n) {
      assert_int_equal(c->p->out[at], 23); /* application data */
      at += 5 + ((size_t)c->p->out[at + 3] << 8 | c->p->out[at + 4]);
      records++;
    }
    assert_int_equal(at, c->p->out_n);
    tr_hear(c);
    assert_int_equal(records, (c->heard_n + sizes[i] - 1) / sizes[i]);
    tr_stop(&t);
  }
}

/* The socket takes k bytes at a time: every byte comes, in order, and a mock that writes before it reads on is blocked
 * until the last of the ciphertext has left. */
static void an_answer_is_taken_when_its_ciphertext_has_left(void **state) {
  (void)state;
  static const size_t steps[] = {1, 2, 3, 7, 100};
  static struct rig_bytes b;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    const struct mock_entry e = {.connection = 1, .ack = MOCK_ACK_EACH};
    const struct mock_script s = {.entries = &e, .entry_count = 1, .blocking_acks = true};
    struct tls_rig t;
    tr_start(&t, &s);
    struct tr_client *c = tr_client(&t);
    c->p->room = 0;
    rows(&b, 1);
    tr_say(c, b.p, b.n);
    tr_say(c, b.p, b.n); /* it waits */
    assert_true(c->p->paused);
    size_t left = 0;
    for (int round = 0; rig_conn(&t.r, 1).frames == 1; round++) {
      assert_true(round < 200);
      left = c->p->out_n;
      tr_writable(c, steps[i]);
      tr_advance(&t, MS);
    }
    assert_true(left + steps[i] >= 20); /* the record of an OK */
    for (int round = 0; round < 200; round++) tr_writable(c, steps[i]);
    tr_hear(c);
    assert_int_equal(rig_conn(&t.r, 1).frames, 2);
    assert_int_equal(rig_conn(&t.r, 1).oks, 2);
    assert_false(c->broken);
    assert_int_equal(c->heard_n % 2, 0);
    assert_memory_equal(c->heard, "\x82", 1);
    assert_memory_equal(c->heard + c->heard_n / 2, "\x82", 1);
    tr_stop(&t);
  }
}

static void tickets_and_new_keys_break_nothing(void **state) {
  (void)state;
  static struct rig_bytes b;
  const struct mock_rule r[] = {{.trigger = MOCK_AT_FRAME, .n = 1, .action = MOCK_DO_TICKET},
                                {.trigger = MOCK_AT_FRAME, .n = 2, .action = MOCK_DO_KEY_UPDATE}};
  const struct mock_entry e = {.connection = 1, .ack = MOCK_ACK_EACH, .rules = r, .rule_count = 2,
                               .tls = {.given = true, .tickets_given = true}};
  const struct mock_script s = script_of(&e, 1);
  struct tls_rig t;
  tr_start(&t, &s);
  struct tr_client *c = tr_client(&t);
  rows(&b, 1);
  tr_say(c, b.p, b.n);
  assert_int_equal(c->p->writes, 2); /* the ticket, and behind it the OK */
  tr_hear(c);
  const size_t ok_n = c->heard_n;
  tr_say(c, b.p, b.n);
  assert_int_equal(c->p->writes, 2);
  tr_hear(c);
  assert_int_equal(c->heard_n, 2 * ok_n);
  rows(&b, 3);
  assert_int_equal(SSL_write(c->ssl, b.p, (int)b.n), b.n);
  uint8_t *at;
  const size_t n = (size_t)BIO_get_mem_data(SSL_get_wbio(c->ssl), &at);
  assert_true(n > b.n + 22 + 22); /* the client's new keys go before its data: it was asked for them */
  tr_flush(c);
  tr_hear(c);
  assert_int_equal(rig_conn(&t.r, 1).frames, 5);
  assert_false(c->broken);
  assert_int_equal(unfired(&t), 0);
  tr_stop(&t);
}

/* ---- the end ------------------------------------------------------------------------------------ */

static void the_end_is_close_notify_or_a_truncation(void **state) {
  (void)state;
  for (int notify = 0; notify < 2; notify++) {
    static struct rig_bytes b;
    const struct mock_rule r = {.trigger = MOCK_AT_FRAME, .n = 1, .action = MOCK_DO_FIN};
    const struct mock_entry e = {.connection = 1, .rules = &r, .rule_count = 1,
                                 .tls = {.given = true, .no_close_notify = !notify}};
    const struct mock_script s = script_of(&e, 1);
    struct tls_rig t;
    tr_start(&t, &s);
    struct tr_client *c = tr_client(&t);
    rows(&b, 1);
    tr_say(c, b.p, b.n);
    assert_true(c->p->shut);
    tr_hear(c);
    assert_int_equal(c->ended, notify);
    tr_say(c, b.p, b.n); /* it goes on reading */
    assert_int_equal(rig_conn(&t.r, 1).frames, 2);
    tr_stop(&t);
  }
}

static void the_clients_end_is_a_fact(void **state) {
  (void)state;
  for (int notify = 0; notify < 2; notify++) {
    struct tls_rig t;
    tr_start(&t, NULL);
    struct tr_client *c = tr_client(&t);
    if (notify) SSL_shutdown(c->ssl);
    tr_flush(c);
    tr_eof(c, false);
    assert_string_equal(rig_conn(&t.r, 1).tls_end, notify ? "close_notify" : "truncated");
    assert_string_equal(rig_conn(&t.r, 1).end, "fin");
    tr_stop(&t);
  }
}

static void after_the_mocks_close_it_reads_to_the_clients_end(void **state) {
  (void)state;
  static struct rig_bytes b;
  const uint8_t code[] = {0x03, 0xE8};
  struct tls_rig t;
  tr_start(&t, NULL);
  struct tr_client *c = tr_client(&t);
  b.n = 0;
  rig_frame(&b, 0x88, code, 2);
  tr_say(c, b.p, b.n);
  assert_true(c->p->shut);
  assert_false(c->p->closed);
  tr_hear(c);
  assert_true(c->ended);
  assert_string_equal(rig_conn(&t.r, 1).end, "close 1000");
  assert_string_equal(rig_conn(&t.r, 1).tls_end, "");
  SSL_shutdown(c->ssl);
  tr_flush(c);
  assert_string_equal(rig_conn(&t.r, 1).tls_end, "close_notify");
  tr_eof(c, false);

  struct tr_client *silent = tr_client(&t); /* it says Close, and then nothing more */
  tr_say(silent, b.p, b.n);
  tr_advance(&t, 4999 * MS);
  assert_false(silent->p->closed);
  tr_advance(&t, 2 * MS);
  assert_true(silent->p->closed);
  tr_stop(&t);
}

/* A Close whose ciphertext waits is not cut off by the FIN. */
static void the_fin_goes_behind_what_waits(void **state) {
  (void)state;
  static struct rig_bytes b;
  const struct mock_rule r = {.trigger = MOCK_AT_FRAME, .n = 1, .action = MOCK_DO_CLOSE, .code = 1001};
  const struct mock_entry e = {.connection = 1, .rules = &r, .rule_count = 1};
  const struct mock_script s = script_of(&e, 1);
  struct tls_rig t;
  tr_start(&t, &s);
  struct tr_client *c = tr_client(&t);
  c->p->room = 3;
  rows(&b, 1);
  tr_say(c, b.p, b.n);
  while (!c->p->shut) {
    assert_int_not_equal(c->p->room, 1000); /* it needs less */
    tr_writable(c, 5);
  }
  tr_hear(c);
  assert_int_equal(c->heard_n, 4);
  assert_memory_equal(c->heard, "\x88\x02\x03\xE9", 4);
  assert_true(c->ended);
  tr_stop(&t);
}

/* ---- handshakes that go wrong --------------------------------------------------------------------- */

static void every_certificate_is_what_it_says(void **state) {
  (void)state;
  static const struct {
    enum mock_certificate kind;
    long verdict;
    const char *end;
  } cases[] = {{MOCK_CERT_GOOD, X509_V_OK, "open"},
               {MOCK_CERT_OTHER_NAME, X509_V_ERR_HOSTNAME_MISMATCH, "tls bad certificate"},
               {MOCK_CERT_EXPIRED, X509_V_ERR_CERT_HAS_EXPIRED, "tls certificate expired"},
               {MOCK_CERT_SELF_SIGNED, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, "tls unknown ca"},
               {MOCK_CERT_NO_INTERMEDIATE, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, "tls unknown ca"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct mock_entry e = {.connection = 1, .tls = {.given = true, .certificate = cases[i].kind}};
    const struct mock_script s = script_of(&e, 1);
    struct tls_rig t;
    tr_start(&t, &s);
    struct tr_client *c = tr_connect(&t, "a.test");
    assert_int_equal(tr_shake(c), cases[i].verdict == X509_V_OK);
    assert_int_equal(SSL_get_verify_result(c->ssl), cases[i].verdict);
    assert_int_equal(rig_facts(&t.r).conns, 1); /* its own entry: it is the connection */
    assert_int_equal(rig_facts(&t.r).unmatched, 0);
    assert_string_equal(rig_conn(&t.r, 1).end, cases[i].end);
    assert_string_equal(rig_conn(&t.r, 1).sni, "a.test");
    assert_int_equal(unfired(&t), 0);
    tr_stop(&t);
  }
}

static void a_failure_that_nobody_asked_for_is_unmatched(void **state) {
  (void)state;
  struct tls_rig t;
  tr_start(&t, NULL);
  struct tr_client *refuses = tr_connect(&t, "elsewhere.test"), *plain = tr_connect(&t, NULL),
                   *silent = tr_connect(&t, NULL), *goes = tr_connect(&t, NULL);
  assert_false(tr_shake(refuses));
  assert_true(refuses->p->shut); /* and not reset: its alert must not be lost */
  tr_feed(plain, RIG_WRITE_HEAD, sizeof RIG_WRITE_HEAD - 1);
  assert_true(plain->p->shut);
  tr_eof(silent, false);
  SSL_do_handshake(goes->ssl);
  tr_flush(goes);
  tr_eof(goes, false); /* in the middle */
  assert_int_equal(rig_facts(&t.r).conns, 0);
  assert_int_equal(rig_facts(&t.r).unmatched, 4);
  tr_client(&t);
  assert_int_equal(rig_facts(&t.r).conns, 1);
  tr_stop(&t);
}

static void it_dies_at_every_byte_of_its_handshake(void **state) {
  (void)state;
  struct tls_rig whole;
  tr_start(&whole, NULL);
  struct tr_client *c = tr_connect(&whole, NULL);
  SSL_do_handshake(c->ssl);
  tr_flush(c);
  const size_t flight = c->p->out_n; /* signatures differ in a byte or two */
  tr_stop(&whole);
  assert_true(flight > 500);
  for (size_t n = 0; n < flight - 10; n += n < 10 ? 1 : 97) {
    const struct mock_entry e = {.connection = 1, .tls = {.given = true, .handshake = MOCK_TLS_DIE,
                                                          .die_after_bytes = (int64_t)n}};
    const struct mock_script s = script_of(&e, 1);
    struct tls_rig t;
    tr_start(&t, &s);
    struct tr_client *d = tr_connect(&t, NULL);
    SSL_do_handshake(d->ssl);
    tr_flush(d);
    assert_int_equal(d->p->out_n, n);
    assert_true(d->p->reset);
    assert_string_equal(rig_conn(&t.r, 1).end, "script handshake die");
    assert_int_equal(unfired(&t), 0);
    tr_stop(&t);
  }
}

static void a_death_that_never_came_is_told(void **state) {
  (void)state;
  const struct mock_entry e = {.connection = 1, .tls = {.given = true, .handshake = MOCK_TLS_DIE,
                                                        .die_after_bytes = 100000}};
  const struct mock_script s = script_of(&e, 1);
  struct tls_rig t;
  tr_start(&t, &s);
  tr_client(&t);
  assert_int_equal(unfired(&t), 1);
  tr_stop(&t);
}

static void a_handshake_that_hangs_says_nothing(void **state) {
  (void)state;
  const struct mock_entry e = {.connection = 1, .tls = {.given = true, .handshake = MOCK_TLS_HANG}};
  const struct mock_script s = script_of(&e, 1);
  struct tls_rig t;
  tr_start(&t, &s);
  struct tr_client *c = tr_connect(&t, NULL);
  assert_false(tr_shake(c));
  assert_int_equal(c->p->writes, 0);
  assert_int_equal(rig_facts(&t.r).conns, 1);
  tr_eof(c, false);
  assert_string_equal(rig_conn(&t.r, 1).end, "fin");
  assert_int_equal(unfired(&t), 0);
  tr_stop(&t);
}

/* A second connection may begin before the end of the first is read: numbers follow the first bytes. */
static void entries_follow_the_order_of_first_bytes(void **state) {
  (void)state;
  const struct mock_entry e[] = {{.connection = 1, .tls = {.given = true, .certificate = MOCK_CERT_EXPIRED}},
                                 {.connection = 2, .tls = {.given = true}}};
  const struct mock_script s = script_of(e, 2);
  struct tls_rig t;
  tr_start(&t, &s);
  struct tr_client *a = tr_connect(&t, "a.test"), *b = tr_connect(&t, "b.test");
  SSL_do_handshake(a->ssl);
  tr_flush(a);
  assert_true(tr_shake(b));
  assert_false(tr_shake(a));
  assert_string_equal(rig_conn(&t.r, 1).sni, "a.test");
  assert_string_equal(rig_conn(&t.r, 1).end, "tls certificate expired");
  assert_string_equal(rig_conn(&t.r, 2).sni, "b.test");
  assert_string_equal(rig_conn(&t.r, 2).end, "open");
  tr_stop(&t);
}

static void a_certificate_of_the_client_is_a_violation(void **state) {
  (void)state;
  const struct mock_entry e = {.connection = 1, .tls = {.given = true, .ask_certificate = true}};
  const struct mock_script s = script_of(&e, 1);
  for (int offers = 0; offers < 2; offers++) {
    struct tls_rig t;
    tr_start(&t, &s);
    struct tr_client *c = tr_connect(&t, NULL);
    SSL_CTX *own = mock_identity_context(t.id, MOCK_CERT_GOOD);
    if (offers) {
      assert_int_equal(SSL_use_certificate(c->ssl, SSL_CTX_get0_certificate(own)), 1);
      assert_int_equal(SSL_use_PrivateKey(c->ssl, SSL_CTX_get0_privatekey(own)), 1);
    }
    assert_true(tr_shake(c));
    assert_int_equal(mock_violation_count(t.r.m), offers);
    if (offers) assert_string_equal(mock_violation_at(t.r.m, 0)->requirement, "TLS-006");
    tr_stop(&t);
  }
}

static void bytes_that_are_no_records_end_the_connection(void **state) {
  (void)state;
  struct tls_rig t;
  tr_start(&t, NULL);
  struct tr_client *c = tr_client(&t);
  uint8_t noise[64] = {23, 3, 3, 0, 59};
  tr_feed(c, noise, sizeof noise);
  assert_true(c->p->shut);
  assert_string_equal(rig_conn(&t.r, 1).end, "bad record");
  tr_feed(c, noise, sizeof noise); /* nobody looks at it any more */
  tr_eof(c, true);
  tr_stop(&t);
}

static void a_connection_that_is_gone_while_it_is_written_to(void **state) {
  (void)state;
  static struct rig_bytes b;
  struct tls_rig t;
  tr_start(&t, NULL);
  struct tr_client *c = tr_client(&t);
  c->p->gone = true;
  rows(&b, 8);
  tr_say(c, b.p, b.n); /* an OK is due */
  assert_null(c->conn);
  assert_true(c->p->reset);
  assert_string_equal(rig_conn(&t.r, 1).end, "gone");
  tr_stop(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_arrive_and_answers_come_back),
      cmocka_unit_test(a_byte_at_a_time_is_the_same),
      cmocka_unit_test(a_reset_at_a_byte_of_the_plaintext_is_exact),
      cmocka_unit_test(a_stall_holds_what_was_read_and_goes_on_without_new_bytes),
      cmocka_unit_test(what_was_held_comes_before_the_end),
      cmocka_unit_test(records_are_as_large_as_told_and_leave_in_one_write),
      cmocka_unit_test(an_answer_is_taken_when_its_ciphertext_has_left),
      cmocka_unit_test(tickets_and_new_keys_break_nothing),
      cmocka_unit_test(the_end_is_close_notify_or_a_truncation),
      cmocka_unit_test(the_clients_end_is_a_fact),
      cmocka_unit_test(after_the_mocks_close_it_reads_to_the_clients_end),
      cmocka_unit_test(the_fin_goes_behind_what_waits),
      cmocka_unit_test(every_certificate_is_what_it_says),
      cmocka_unit_test(a_failure_that_nobody_asked_for_is_unmatched),
      cmocka_unit_test(it_dies_at_every_byte_of_its_handshake),
      cmocka_unit_test(a_death_that_never_came_is_told),
      cmocka_unit_test(a_handshake_that_hangs_says_nothing),
      cmocka_unit_test(entries_follow_the_order_of_first_bytes),
      cmocka_unit_test(a_certificate_of_the_client_is_a_violation),
      cmocka_unit_test(bytes_that_are_no_records_end_the_connection),
      cmocka_unit_test(a_connection_that_is_gone_while_it_is_written_to),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
