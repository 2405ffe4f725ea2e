/* A server's bytes behind the 101, any bytes at all, through the client's connection.
 *
 * The first byte of the input chooses a chunk size, the rest is the stream. It is
 * received whole and in chunks: both must hand over the same messages, answer the same
 * pings and end the same way, and the buffer must stay within its limit. */
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qwp/wire.h"
#include "scripted_net.h"
#include "ws/connection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RX_INITIAL 64
#define RX_MAX 4096

static void require(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "does not hold: %s\n", what);
  abort();
}

struct outcome {
  enum qwp_status status;
  int close_code;
  int64_t pings;
  size_t count;
  uint64_t hash; /* of opcodes, lengths and payloads */
};

static void mix(struct outcome *o, uint64_t v) { o->hash = (o->hash ^ v) * UINT64_C(1099511628211); }

static enum qwp_status on_message(void *ctx, unsigned opcode, const uint8_t *payload, size_t n) {
  struct outcome *o = ctx;
  o->count++;
  mix(o, opcode);
  mix(o, n);
  for (size_t i = 0; i < n; i++) mix(o, payload[i]);
  return QWP_OK;
}

/* The answer to the request in sn->out. */
static void feed_101(struct sn *sn) {
  static const char name[] = "Sec-WebSocket-Key: ";
  char text[128], accept[64], head[256];
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned n;
  size_t at = 0;
  while (memcmp(sn->out + at, name, sizeof name - 1) != 0) at++;
  snprintf(text, sizeof text, "%.24s" QWP_WS_GUID, (const char *)sn->out + at + sizeof name - 1);
  require(EVP_Digest(text, strlen(text), digest, &n, EVP_sha1(), NULL) == 1, "a digest");
  EVP_EncodeBlock((unsigned char *)accept, digest, (int)n);
  int bytes = snprintf(head, sizeof head,
                       "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Accept: %s\r\n\r\n",
                       accept);
  sn_feed(sn, head, (size_t)bytes);
}

static void open_connection(struct qwp_ws *ws, struct sn *sn) {
  const struct qwp_addr addr = {.len = 1};
  unsigned interest;
  int64_t deadline;
  require(qwp_ws_open(ws, &addr, "h", 0, NULL) == QWP_OK, "open");
  require(qwp_ws_handshake(ws, 0, &interest, &deadline, NULL) == QWP_AGAIN, "request");
  feed_101(sn);
  require(qwp_ws_handshake(ws, 0, &interest, &deadline, NULL) == QWP_OK, "101");
}

static struct outcome receive(const uint8_t *p, size_t n, size_t chunk) {
  static const struct qwp_ws_config config = {.path = QWP_PATH_WRITE,
                                              .client_id = "c/fuzz",
                                              .auth_timeout_ns = QWP_NEVER,
                                              .connect_timeout_ns = QWP_NEVER,
                                              .rx_initial_bytes = RX_INITIAL,
                                              .rx_max_bytes = RX_MAX};
  struct outcome o = {.status = QWP_AGAIN};
  struct qwp_error err = {.close_code = -1};
  struct sn sn;
  sn_init(&sn);
  struct qwp_ws *ws = qwp_ws_new(&sn.ops, &config);
  open_connection(ws, &sn);
  for (size_t at = 0; at < n && o.status == QWP_AGAIN; at += chunk) {
    sn_feed(&sn, p + at, chunk < n - at ? chunk : n - at);
    do {
      o.status = qwp_ws_receive(ws, on_message, &o, &err);
    } while (o.status == QWP_OK);
  }
  require(o.status == QWP_AGAIN || o.status == QWP_CONN_CLOSED || o.status == QWP_CONN_PROTOCOL, "a known end");
  require(qwp_ws_counters(ws)->rx_capacity <= RX_MAX, "the buffer stays within its limit");
  o.close_code = o.status == QWP_CONN_CLOSED ? err.close_code : -1;
  o.pings = qwp_ws_counters(ws)->pings;
  qwp_ws_del(ws);
  require(sn.sockets == 0, "the socket is closed");
  sn_free_all(&sn);
  return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  struct outcome whole = receive(data + 1, size - 1, size);
  struct outcome parts = receive(data + 1, size - 1, 1 + data[0] % 64u);
  require(whole.status == parts.status && whole.close_code == parts.close_code, "the same end");
  require(whole.count == parts.count && whole.hash == parts.hash, "the same messages");
  require(whole.pings == parts.pings, "the same pings");
  return 0;
}
