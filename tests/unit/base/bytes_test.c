/* Growing buffers, little-endian numbers and varints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "fail_mem.h"

static void numbers_are_little_endian(void **state) {
  (void)state;
  static const uint8_t want[] = {0x01, 0x03, 0x02, 0x07, 0x06, 0x05, 0x04,
                                 0x0F, 0x0E, 0x0D, 0x0C, 0x0B, 0x0A, 0x09, 0x88};
  struct fail_mem mem;
  struct qwp_ops ops = fail_mem_ops(&mem);
  struct qwp_bytes b;
  qwp_bytes_init(&b, &ops, 64);
  assert_int_equal(qwp_bytes_reserve(&b, sizeof want), QWP_OK);
  qwp_put_u8(&b, 0x01);
  qwp_put_u16(&b, 0x0203);
  qwp_put_u32(&b, 0x04050607);
  qwp_put_u64(&b, UINT64_C(0x88090A0B0C0D0E0F));
  assert_int_equal(b.len, sizeof want);
  assert_memory_equal(b.data, want, sizeof want);
  assert_int_equal(qwp_get_u16(b.data + 1), 0x0203);
  assert_int_equal(qwp_get_u32(b.data + 3), 0x04050607);
  assert_int_equal(qwp_get_u64(b.data + 7), UINT64_C(0x88090A0B0C0D0E0F));
  qwp_set_u32(b.data + 3, 0xFFFEFDFC);
  assert_int_equal(qwp_get_u32(b.data + 3), 0xFFFEFDFC);
  qwp_bytes_free(&b);
  assert_int_equal(mem.live, 0);
}

static void the_limit_is_exact(void **state) {
  (void)state;
  static const uint8_t zeros[1000];
  struct fail_mem mem;
  struct qwp_ops ops = fail_mem_ops(&mem);
  struct qwp_bytes b;
  qwp_bytes_init(&b, &ops, 1000);
  assert_int_equal(qwp_bytes_append(&b, zeros, 999), QWP_OK);
  assert_int_equal(qwp_bytes_append(&b, zeros, 2), QWP_TOO_LARGE);
  assert_int_equal(b.len, 999);
  assert_int_equal(qwp_bytes_append(&b, zeros, 1), QWP_OK);
  assert_int_equal(qwp_bytes_reserve(&b, 1), QWP_TOO_LARGE);
  assert_int_equal(qwp_bytes_reserve(&b, SIZE_MAX), QWP_TOO_LARGE);
  assert_int_equal(qwp_bytes_reserve(&b, 0), QWP_OK);
  assert_true(b.cap <= 1000);
  qwp_bytes_free(&b);
}

/* Also below the capacity that a buffer begins with. */
static void a_small_limit_is_kept(void **state) {
  (void)state;
  struct fail_mem mem;
  struct qwp_ops ops = fail_mem_ops(&mem);
  struct qwp_bytes b;
  qwp_bytes_init(&b, &ops, 20);
  assert_int_equal(qwp_bytes_append(&b, "0123456789", 10), QWP_OK);
  assert_int_equal(qwp_bytes_append(&b, "0123456789A", 11), QWP_TOO_LARGE);
  assert_int_equal(qwp_bytes_append(&b, "0123456789", 10), QWP_OK);
  assert_int_equal(b.cap, 20);
  qwp_bytes_free(&b);
}

static void a_failed_reserve_changes_nothing(void **state) {
  (void)state;
  struct fail_mem mem;
  struct qwp_ops ops = fail_mem_ops(&mem);
  struct qwp_bytes b;
  qwp_bytes_init(&b, &ops, 1u << 20);
  mem.fail_at = 1;
  assert_int_equal(qwp_bytes_reserve(&b, 10), QWP_NOMEM);
  assert_null(b.data);
  assert_int_equal(qwp_bytes_append(&b, "0123456789", 10), QWP_OK);
  mem.fail_at = mem.calls + 1;
  assert_int_equal(qwp_bytes_reserve(&b, 4096), QWP_NOMEM);
  assert_int_equal(b.len, 10);
  assert_memory_equal(b.data, "0123456789", 10);
  qwp_bytes_free(&b);
  assert_int_equal(mem.live, 0);
}

/* The vectors of WIRE-ENC-002, and both sides of every boundary. */
static void varints(void **state) {
  (void)state;
  static const struct {
    uint64_t value;
    size_t len;
    uint8_t bytes[10];
  } vectors[] = {
      {0, 1, {0x00}},
      {1, 1, {0x01}},
      {127, 1, {0x7F}},
      {128, 2, {0x80, 0x01}},
      {255, 2, {0xFF, 0x01}},
      {300, 2, {0xAC, 0x02}},
      {16384, 3, {0x80, 0x80, 0x01}},
      {UINT64_MAX, 10, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}},
  };
  struct fail_mem mem;
  struct qwp_ops ops = fail_mem_ops(&mem);
  struct qwp_bytes b;
  qwp_bytes_init(&b, &ops, 4096);
  assert_int_equal(qwp_bytes_reserve(&b, 16), QWP_OK);
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    uint64_t read;
    b.len = 0;
    qwp_put_varint(&b, vectors[i].value);
    assert_int_equal(b.len, vectors[i].len);
    assert_memory_equal(b.data, vectors[i].bytes, b.len);
    assert_int_equal(qwp_varint_size(vectors[i].value), b.len);
    assert_int_equal(qwp_varint_read(b.data, b.len, &read), b.len);
    assert_true(read == vectors[i].value);
    for (size_t cut = 0; cut < b.len; cut++) assert_int_equal(qwp_varint_read(b.data, cut, &read), 0);
  }
  for (unsigned bits = 7; bits < 64; bits += 7) {
    for (uint64_t v = (UINT64_C(1) << bits) - 1; v <= UINT64_C(1) << bits; v++) {
      uint64_t read;
      b.len = 0;
      qwp_put_varint(&b, v);
      assert_int_equal(b.len, v >> bits ? bits / 7 + 1 : bits / 7);
      assert_int_equal(qwp_varint_size(v), b.len);
      assert_int_equal(qwp_varint_read(b.data, b.len, &read), b.len);
      assert_true(read == v);
    }
  }
  qwp_bytes_free(&b);
}

static void varints_that_do_not_fit_are_refused(void **state) {
  (void)state;
  uint64_t v = 42;
  static const uint8_t bit_64[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02};
  static const uint8_t eleven[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x81, 0x00};
  static const uint8_t padded[] = {0x81, 0x80, 0x00, 0x55};
  assert_int_equal(qwp_varint_read(bit_64, sizeof bit_64, &v), 0);
  assert_int_equal(qwp_varint_read(eleven, sizeof eleven, &v), 0);
  assert_int_equal(v, 42);
  assert_int_equal(qwp_varint_read(padded, sizeof padded, &v), 3); /* longer than need be, and legal to read */
  assert_int_equal(v, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_little_endian),
      cmocka_unit_test(the_limit_is_exact),
      cmocka_unit_test(a_small_limit_is_kept),
      cmocka_unit_test(a_failed_reserve_changes_nothing),
      cmocka_unit_test(varints),
      cmocka_unit_test(varints_that_do_not_fit_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
