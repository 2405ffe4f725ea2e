/* The layer below TLS: it sees records, and is told where the upgrade ends. */
#include <errno.h>
#include <stdio.h>

#include "kit.h"

static const uint8_t hello[] = {0x16, 3, 1, 0, 4, 1, 0, 0, 0};   /* begins a handshake record */
static const uint8_t record[] = {0x17, 3, 3, 0, 3, 0x82, 0x01, 7}; /* application data; looks like a ping inside */

static void opened(struct kit *k) { k->ops->net->opened(k->ops->net_ctx, k->sock); }

static void shake_hands(struct kit *k) {
  char answer[256];
  assert_int_equal(kit_connect(k), 0);
  assert_int_equal(kit_send(k, hello, sizeof hello), sizeof hello);
  sn_feed(&k->sn, ANSWER, sizeof ANSWER - 1); /* a server's bytes that only look like the end of an upgrade */
  assert_int_equal(kit_recv(k, answer, sizeof answer), sizeof ANSWER - 1);
}

static void the_upgrade_ends_when_it_is_said(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, NULL, 0);
  shake_hands(&k);
  kit_send(&k, record, sizeof record);
  kit_wait(&k, QWP_WRITABLE);
  struct fault_counters c = kit_counters(&k);
  assert_int_equal(c.hs_send, 2);
  assert_int_equal(c.hs_recv, 1);
  assert_int_equal(c.hs_wait, 1);
  assert_int_equal(c.bytes_in, 0);
  opened(&k);
  kit_send(&k, record, sizeof record);
  kit_wait(&k, QWP_WRITABLE);
  c = kit_counters(&k);
  assert_int_equal(c.hs_send, 2);
  assert_int_equal(c.send, 1);
  assert_int_equal(c.ctl_send, 0);
  assert_int_equal(c.poll_w, 1);
  assert_int_equal(c.flush, 1);
  assert_int_equal(c.bytes_out, sizeof record);
  kit_end(&k);
}

static void bytes_and_calls_are_places_of_the_ciphertext(void **state) {
  (void)state;
  struct fault_rule rules[] = {RULE_AT(5, .point = FAULT_SEND, .act = FAULT_DO_ERRNO, .err = EPIPE, .connection = 1)};
  struct kit k;
  kit_new(&k, rules, 1);
  shake_hands(&k);
  opened(&k);
  assert_int_equal(kit_send(&k, record, sizeof record), 5);
  assert_int_equal(kit_send(&k, record + 5, sizeof record - 5), -EPIPE);
  assert_int_equal(faults_unfired(k.f, NULL, NULL), 0);
  kit_end(&k);
}

static void keep_text(void *arg, const char *text) { snprintf(arg, 352, "%s", text); }

static void a_frame_has_no_place_in_ciphertext(void **state) {
  (void)state;
  struct fault_rule rules[] = {RULE(.line = 7, .point = FAULT_SEND, .frame = 1, .act = FAULT_DO_ERRNO, .err = EPIPE)};
  struct kit k;
  char text[352] = "";
  kit_new(&k, rules, 1);
  shake_hands(&k);
  opened(&k);
  assert_int_equal(kit_send(&k, record, sizeof record), sizeof record);
  assert_int_equal(faults_unfired(k.f, keep_text, text), 1);
  assert_string_equal(text, "line 7: client.send frame 1 EPIPE did not fire: TLS hides where frames begin "
                            "(1 such call was made)");
  kit_end(&k);
}

static void until_connected_ends_when_it_is_said(void **state) {
  (void)state;
  struct fault_rule rules[] = {RULE(.point = FAULT_RECV, .act = FAULT_DO_AGAIN, .phase = FAULT_PHASE_ANY,
                                    .repeat = FAULT_UNTIL, .until = "connected")};
  struct kit k;
  char buf[8];
  kit_new(&k, rules, 1);
  assert_int_equal(kit_connect(&k), 0);
  kit_send(&k, hello, sizeof hello);
  sn_feed(&k.sn, "x", 1);
  assert_int_equal(kit_recv(&k, buf, sizeof buf), -EAGAIN);
  opened(&k);
  assert_int_equal(kit_recv(&k, buf, sizeof buf), 1);
  kit_end(&k);
}

static void a_plain_connection_needs_not_be_told(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, NULL, 0);
  assert_int_equal(kit_connect(&k), 0);
  kit_send(&k, REQUEST, sizeof REQUEST - 1);
  opened(&k); /* before the answer has come: nobody says so, and the layer believes the bytes */
  kit_send(&k, REQUEST, 3);
  assert_int_equal(kit_counters(&k).hs_send, 2);
  kit_end(&k);
}

/* ---- passed on ------------------------------------------------------------------------- */

static int openings;
static enum qwp_status explain_below(void *ctx, qwp_sock sock, char *text, size_t n) {
  (void)ctx, (void)sock;
  snprintf(text, n, "certificate verify failed");
  return QWP_CONN_TLS;
}
static void opened_below(void *ctx, qwp_sock sock) {
  (void)ctx, (void)sock;
  openings++;
}

static void the_table_below_is_asked_and_told(void **state) {
  (void)state;
  struct fault_rule rules[] = {RULE(.point = FAULT_SEND, .phase = FAULT_PHASE_ANY, .nth = 2, .act = FAULT_DO_RST)};
  struct kit k;
  char why[64] = "";
  openings = 0;
  kit_new(&k, rules, 1);
  assert_int_equal(kit_connect(&k), 0);
  assert_int_equal(k.ops->net->explain(k.ops->net_ctx, k.sock, why, sizeof why), QWP_OK); /* nobody there to ask */
  opened(&k);
  k.table.explain = explain_below;
  k.table.opened = opened_below;
  assert_int_equal(k.ops->net->explain(k.ops->net_ctx, k.sock, why, sizeof why), QWP_CONN_TLS);
  assert_string_equal(why, "certificate verify failed");
  opened(&k);
  assert_int_equal(openings, 1);
  kit_send(&k, hello, sizeof hello);
  assert_int_equal(kit_send(&k, hello, sizeof hello), -ECONNRESET);
  assert_int_equal(k.ops->net->explain(k.ops->net_ctx, k.sock, why, sizeof why), QWP_OK); /* the fault's own errno */
  kit_end(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_upgrade_ends_when_it_is_said),
      cmocka_unit_test(bytes_and_calls_are_places_of_the_ciphertext),
      cmocka_unit_test(a_frame_has_no_place_in_ciphertext),
      cmocka_unit_test(until_connected_ends_when_it_is_said),
      cmocka_unit_test(a_plain_connection_needs_not_be_told),
      cmocka_unit_test(the_table_below_is_asked_and_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
