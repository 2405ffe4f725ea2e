/* hash: digests, look-ups and the journal's hash of a payload. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>

#include "core/hash.h"

static void the_hash_sees_every_bit_and_the_length(void **state) {
  (void)state;
  uint8_t p[40] = {0};
  for (size_t n = 0; n < sizeof p; n++) {
    uint64_t h = mock_hash_bytes(p, n);
    assert_true(h != mock_hash_bytes(p, n + 1));
    for (size_t bit = 0; bit < 8 * n; bit++) {
      p[bit / 8] ^= (uint8_t)(1 << bit % 8);
      assert_true(h != mock_hash_bytes(p, n));
      p[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
  }
  /* The same in every run and on every machine: journals are compared. */
  assert_true(mock_hash_bytes("QWP1 and a little more", 22) == UINT64_C(0xDD70ECA4EB4C18C5));
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_hash_sees_every_bit_and_the_length),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
