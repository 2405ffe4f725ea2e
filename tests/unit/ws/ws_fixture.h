/* What the tests of the WebSocket client share: a connection over a scripted net, a
 * server's bytes, and an independent reader of a client's bytes. Written from RFC 6455,
 * not from the codec under test. */
#ifndef WS_FIXTURE_H
#define WS_FIXTURE_H

#include <openssl/evp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "qwp/wire.h"
#include "scripted_net.h"
#include "ws/connection.h"

struct fx {
  struct sn sn;
  struct qwp_ws_config config;
  struct qwp_ws *ws;
};

static const struct qwp_addr fx_addr = {.len = 1};

static inline void fx_new(struct fx *fx) {
  sn_init(&fx->sn);
  fx->config = (struct qwp_ws_config){.path = QWP_PATH_WRITE,
                                      .client_id = "c/test",
                                      .auth_timeout_ns = 15000 * QWP_NS_PER_MS,
                                      .connect_timeout_ns = QWP_NEVER,
                                      .rx_initial_bytes = 65536,
                                      .rx_max_bytes = 16u << 20};
  fx->ws = qwp_ws_new(&fx->sn.ops, &fx->config);
  assert_non_null(fx->ws);
}

static inline void fx_del(struct fx *fx) {
  qwp_ws_del(fx->ws);
  assert_int_equal(fx->sn.sockets, 0);
  sn_free_all(&fx->sn);
}

/* The value of Sec-WebSocket-Key in the request that was sent last, 24 characters. */
static inline const char *fx_key(const struct fx *fx, char key[25]) {
  const char name[] = "Sec-WebSocket-Key: ";
  const size_t n = sizeof name - 1;
  for (size_t i = fx->sn.out_len; i-- > 0;) {
    if (i + n + 24 > fx->sn.out_len || memcmp(fx->sn.out + i, name, n) != 0) continue;
    memcpy(key, fx->sn.out + i + n, 24);
    key[24] = '\0';
    return key;
  }
  fail_msg("no key in the request");
  return NULL;
}

static inline void fx_accept(const struct fx *fx, char accept[64]) {
  char key[25], text[128];
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned n;
  snprintf(text, sizeof text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", fx_key(fx, key));
  assert_int_equal(EVP_Digest(text, strlen(text), digest, &n, EVP_sha1(), NULL), 1);
  EVP_EncodeBlock((unsigned char *)accept, digest, (int)n);
}

/* The 101 that the request deserves, with more header lines. */
static inline size_t fx_101(const struct fx *fx, const char *more, char *out, size_t cap) {
  char accept[64];
  fx_accept(fx, accept);
  return (size_t)snprintf(out, cap,
                          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          "Sec-WebSocket-Accept: %s\r\n%s\r\n",
                          accept, more);
}

/* Opens and sends the request; the answer is the test's to feed. */
static inline void fx_request(struct fx *fx) {
  unsigned interest = 0;
  int64_t deadline = 0;
  assert_int_equal(qwp_ws_open(fx->ws, &fx_addr, "host:9000", fx->sn.now_ns, NULL), QWP_OK);
  assert_int_equal(qwp_ws_handshake(fx->ws, fx->sn.now_ns, &interest, &deadline, NULL), QWP_AGAIN);
  assert_int_equal(interest, QWP_READABLE);
}

static inline enum qwp_status fx_handshake(struct fx *fx, struct qwp_error *err) {
  unsigned interest = 0;
  int64_t deadline = 0;
  return qwp_ws_handshake(fx->ws, fx->sn.now_ns, &interest, &deadline, err);
}

/* Through the handshake; what was sent and traced for it is forgotten. */
static inline void fx_open(struct fx *fx) {
  char head[1024];
  fx_request(fx);
  sn_feed(&fx->sn, head, fx_101(fx, "X-QWP-Version: 1\r\n", head, sizeof head));
  assert_int_equal(fx_handshake(fx, NULL), QWP_OK);
  assert_int_equal(qwp_ws_state(fx->ws), QWP_WS_OPEN);
  fx->sn.out_len = 0;
  sn_forget_trace(&fx->sn);
}

/* ---- a server's frames ------------------------------------------------------------ */

struct fx_bytes {
  uint8_t *p;
  size_t n;
};

static inline void fx_put(struct fx_bytes *b, const void *p, size_t n) {
  b->p = sn_grow(b->p, b->n + n);
  if (n) memcpy(b->p + b->n, p, n);
  b->n += n;
}

/* One unmasked frame; first byte given in full, so that it can be wrong. */
static inline void fx_put_frame(struct fx_bytes *b, unsigned first_byte, const void *payload, size_t n) {
  uint8_t h[10] = {(uint8_t)first_byte};
  size_t used = 2;
  if (n < 126) {
    h[1] = (uint8_t)n;
  } else if (n < 65536) {
    h[1] = 126;
    h[2] = (uint8_t)(n >> 8);
    h[3] = (uint8_t)n;
    used = 4;
  } else {
    h[1] = 127;
    for (int i = 0; i < 8; i++) h[2 + i] = (uint8_t)((uint64_t)n >> (56 - 8 * i));
    used = 10;
  }
  fx_put(b, h, used);
  fx_put(b, payload, n);
}

/* A frame of n bytes, byte i being i * 31 / 8, goes to the connection's peer's stream. (Not inline: with -O3 gcc 12
 * takes the end of its unrolled loop for a write beyond the block.) */
__attribute__((noinline, unused)) static void fx_feed_frame(struct fx *fx, unsigned first_byte, size_t n) {
  struct fx_bytes b = {0};
  uint8_t *p = sn_grow(NULL, n);
  for (size_t i = 0; i < n; i++) p[i] = (uint8_t)(i * 31 >> 3);
  fx_put_frame(&b, first_byte, p, n);
  sn_feed(&fx->sn, b.p, b.n);
  free(b.p);
  free(p);
}

/* ---- a client's frames: a strict reader ---------------------------------------------- */

struct fx_frame {
  unsigned opcode;
  uint8_t key[4];
  uint8_t *payload; /* unmasked; the reader's */
  size_t n;
  size_t wire_bytes;
};

/* Reads the frame at p[0..n): final, masked, shortest form, whole; else the test fails.
 * The caller frees payload. */
static inline struct fx_frame fx_read_frame(const uint8_t *p, size_t n) {
  struct fx_frame f = {0};
  assert_true(n >= 6);
  assert_int_equal(p[0] & 0xF0, 0x80);
  assert_int_equal(p[1] & 0x80, 0x80);
  f.opcode = p[0] & 0x0F;
  size_t at = 2;
  f.n = p[1] & 0x7F;
  if (f.n == 126) {
    assert_true(n >= 8);
    f.n = (size_t)p[2] << 8 | p[3];
    at = 4;
    assert_true(f.n > 125);
  } else if (f.n == 127) {
    assert_true(n >= 14);
    f.n = 0;
    for (int i = 0; i < 8; i++) f.n = f.n << 8 | p[2 + i];
    at = 10;
    assert_true(f.n > 65535);
  }
  memcpy(f.key, p + at, 4);
  at += 4;
  assert_true(n - at >= f.n);
  f.payload = sn_grow(NULL, f.n);
  for (size_t i = 0; i < f.n; i++) f.payload[i] = p[at + i] ^ f.key[i & 3];
  f.wire_bytes = at + f.n;
  return f;
}

/* ---- messages that were handed over ---------------------------------------------------- */

struct fx_messages {
  size_t count;
  struct fx_bytes all; /* for each: opcode, 4 bytes of length, payload */
  enum qwp_status answer;
};

static inline enum qwp_status fx_on_message(void *ctx, unsigned opcode, const uint8_t *payload, size_t n) {
  struct fx_messages *m = ctx;
  const uint8_t head[5] = {(uint8_t)opcode, (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
  m->count++;
  fx_put(&m->all, head, sizeof head);
  fx_put(&m->all, payload, n);
  return m->answer;
}

/* Receives until nothing is left; the last status. */
static inline enum qwp_status fx_receive_all(struct fx *fx, struct fx_messages *m, struct qwp_error *err) {
  enum qwp_status st;
  do {
    st = qwp_ws_receive(fx->ws, fx_on_message, m, err);
  } while (st == QWP_OK);
  return st;
}

#endif
