/* The frame codec as bytes: every length form, every cut, every refusal. */
#include "ws/frame.h"

#include "ws_fixture.h"

static const uint8_t key[4] = {0x37, 0xfa, 0x21, 0x3d};

static void shortest_length_form(void **state) {
  (void)state;
  static const struct {
    size_t n;
    uint8_t header[14];
    size_t bytes;
  } cases[] = {
      {0, {0x82, 0x80, 0x37, 0xfa, 0x21, 0x3d}, 6},
      {125, {0x82, 0xfd, 0x37, 0xfa, 0x21, 0x3d}, 6},
      {126, {0x82, 0xfe, 0x00, 0x7e, 0x37, 0xfa, 0x21, 0x3d}, 8},
      {65535, {0x82, 0xfe, 0xff, 0xff, 0x37, 0xfa, 0x21, 0x3d}, 8},
      {65536, {0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0x37, 0xfa, 0x21, 0x3d}, 14},
      {0x123456789a, {0x82, 0xff, 0, 0, 0, 0x12, 0x34, 0x56, 0x78, 0x9a, 0x37, 0xfa, 0x21, 0x3d}, 14},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t out[QWP_FRAME_HEADER_MAX];
    assert_int_equal(qwp_frame_header_bytes(cases[i].n), cases[i].bytes);
    assert_int_equal(qwp_frame_encode(out, QWP_WS_BINARY, cases[i].n, key), cases[i].bytes);
    assert_memory_equal(out, cases[i].header, cases[i].bytes);
    assert_int_equal(qwp_ws_wire_bytes(cases[i].n), cases[i].n + cases[i].bytes);
  }
}

/* RFC 6455, 5.7: a single-frame masked text message "Hello". */
static void worked_example(void **state) {
  (void)state;
  static const uint8_t expected[] = {0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58};
  uint8_t out[sizeof expected];
  size_t header = qwp_frame_encode(out, QWP_WS_TEXT, 5, key);
  qwp_frame_mask(out + header, (const uint8_t *)"Hello", 5, key);
  assert_memory_equal(out, expected, sizeof expected);
}

static void mask_equals_the_definition(void **state) {
  (void)state;
  for (size_t n = 0; n <= 70; n++) {
    uint8_t *src = sn_grow(NULL, n), *dst = sn_grow(NULL, n); /* exact size: over-reading shows */
    for (size_t i = 0; i < n; i++) src[i] = (uint8_t)(i * 31 + n);
    qwp_frame_mask(dst, src, n, key);
    for (size_t i = 0; i < n; i++) assert_int_equal(dst[i], src[i] ^ key[i % 4]);
    qwp_frame_mask(dst, dst, n, key);
    assert_memory_equal(dst, src, n);
    free(src);
    free(dst);
  }
}

static void decode_reads_what_encode_wrote_at_every_cut(void **state) {
  (void)state;
  static const size_t lengths[] = {0, 1, 125, 126, 65535, 65536, SIZE_MAX / 4};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    uint8_t header[QWP_FRAME_HEADER_MAX];
    size_t bytes = qwp_frame_encode(header, QWP_WS_BINARY, lengths[i], key);
    for (size_t cut = 0; cut <= bytes; cut++) {
      uint8_t *part = sn_grow(NULL, cut);
      memcpy(part, header, cut);
      struct qwp_frame f;
      const char *why = NULL;
      assert_int_equal(qwp_frame_decode(part, cut, &f, &why), cut == bytes ? (int)bytes : 0);
      free(part);
      if (cut < bytes) continue;
      assert_true(f.fin);
      assert_true(f.masked);
      assert_int_equal(f.opcode, QWP_WS_BINARY);
      assert_true(f.length == lengths[i]);
      assert_memory_equal(f.key, key, 4);
    }
  }
}

static void every_opcode_and_reserved_bit(void **state) {
  (void)state;
  for (unsigned first = 0; first < 256; first++) {
    const uint8_t p[2] = {(uint8_t)first, 0};
    struct qwp_frame f;
    const char *why = NULL;
    unsigned opcode = first & 15;
    bool known = opcode <= 2 || (opcode >= 8 && opcode <= 10);
    bool right = known && !(first & 0x70) && (opcode < 8 || first & 0x80);
    assert_int_equal(qwp_frame_decode(p, 2, &f, &why), right ? 2 : -1);
    assert_int_equal(qwp_frame_decode(p, 1, &f, &why), right ? 0 : -1); /* seen on the first byte */
  }
}

static void refused_lengths(void **state) {
  (void)state;
  static const struct {
    uint8_t p[10];
    size_t n, refused_at; /* bytes that show it */
  } cases[] = {
      {{0x82, 126, 0, 125}, 4, 4},
      {{0x82, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 10, 10},
      {{0x82, 127, 0x80, 0, 0, 0, 0, 1, 0, 0}, 10, 3},
      {{0x89, 126, 0, 126}, 4, 2},
      {{0x88, 127}, 2, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (size_t n = 0; n <= cases[i].n; n++) {
      struct qwp_frame f;
      const char *why = NULL;
      int r = qwp_frame_decode(cases[i].p, n, &f, &why);
      assert_int_equal(r, n >= cases[i].refused_at ? -1 : 0);
      if (r < 0) assert_non_null(why);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shortest_length_form),
      cmocka_unit_test(worked_example),
      cmocka_unit_test(mask_equals_the_definition),
      cmocka_unit_test(decode_reads_what_encode_wrote_at_every_cut),
      cmocka_unit_test(every_opcode_and_reserved_bit),
      cmocka_unit_test(refused_lengths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
