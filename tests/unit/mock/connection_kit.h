/* connection_kit.h - what the tests of a connection share: bytes that a client is about to write, and a test that is
 * given a mock without a script and one client of it.
 *
 *   static void my_test(struct rig *r, struct rig_peer *p) {
 *     rig_row(&b, 0, 1);
 *     send_all(p);
 *     assert_string_equal(rig_said(p), "ok(0)");
 *   }
 *   ... conn_test(my_test) among the tests
 *
 * The mock ends behind it: what leaks is a failure of the test.
 */
#ifndef MOCK_CONNECTION_KIT_H
#define MOCK_CONNECTION_KIT_H

#include "../../testlib/mock_rig.h"

static struct rig_bytes b; /* what a client is about to write */

static inline void send_all(struct rig_peer *p) {
  rig_feed(p, b.p, b.n);
  b.n = 0;
}

struct conn_test {
  void (*run)(struct rig *r, struct rig_peer *p);
};

static inline void conn_run(void **state) {
  const struct conn_test *test = *state;
  struct rig r;
  rig_start(&r, NULL);
  test->run(&r, rig_client(&r));
  rig_stop(&r);
}

#define conn_test(f) {#f, conn_run, NULL, NULL, &(struct conn_test){f}}

#endif
