/* ack_bench - what an acknowledgement costs the receiver when many of them come in one read.
 *
 *   ack_bench [--json FILE] BURST...      default: 1 50 500 5000
 *
 * A client connection (client/src/ws) over a net table in memory: each receive call finds BURST OKs of 13 bytes, and
 * each is parsed as the send loop does it. Printed for each burst: processor time an acknowledgement, and how many
 * bytes the receive buffer moved to make room, which is exact. BURST 1 is a server that answers once a read (P121-45).
 *
 * ack_pair.py runs two builds of this program side by side: one of these sources, one with the buffer compacted behind
 * every frame (P121-44). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ops/posix.h"
#include "qwp/wire.h"
#include "send/response.h"
#include "ws/connection.h"
#include "ws/upgrade.h"

#define OK_WIRE_BYTES 13u
#define RX_BYTES 65536u
#define BURST_MAX (RX_BYTES / OK_WIRE_BYTES)
#define BURSTS_MAX 16
#define ACKS_A_ROUND 20000
#define CPU_NS_A_BURST INT64_C(200000000) /* measured for so long */

/* ---- a server in memory ------------------------------------------------------------------ */

struct server {
  uint8_t answer[RX_BYTES]; /* what the next receive finds */
  size_t len;
  char head[4096]; /* the upgrade request */
  size_t head_len;
};

static int bench_connect(void *ctx, const struct qwp_addr *addr, qwp_sock *out) {
  (void)ctx;
  (void)addr;
  *out = 1;
  return 0;
}

static void answer_upgrade(struct server *s) {
  const char *key = strstr(s->head, "Sec-WebSocket-Key: ");
  char text[QWP_UPGRADE_KEY_TEXT] = {0}, accept[QWP_UPGRADE_ACCEPT_TEXT];
  if (!key) abort();
  memcpy(text, key + strlen("Sec-WebSocket-Key: "), sizeof text - 1);
  if (qwp_upgrade_accept(text, accept) != QWP_OK) abort();
  s->len = (size_t)snprintf((char *)s->answer, sizeof s->answer,
                            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            "Sec-WebSocket-Accept: %s\r\nX-QWP-Version: 1\r\n\r\n",
                            accept);
}

static ssize_t bench_send(void *ctx, qwp_sock sock, const void *buf, size_t n) {
  struct server *s = ctx;
  (void)sock;
  if (n >= sizeof s->head - s->head_len) abort();
  memcpy(s->head + s->head_len, buf, n);
  s->head_len += n;
  if (strstr(s->head, "\r\n\r\n")) answer_upgrade(s);
  return (ssize_t)n;
}

static ssize_t bench_recv(void *ctx, qwp_sock sock, void *buf, size_t n) {
  struct server *s = ctx;
  (void)sock;
  if (s->len == 0) return -EAGAIN;
  if (n < s->len) abort(); /* a burst is one read */
  size_t len = s->len;
  memcpy(buf, s->answer, len);
  s->len = 0;
  return (ssize_t)len;
}

static void bench_close(void *ctx, qwp_sock sock) {
  (void)ctx;
  (void)sock;
}

static void put_burst(struct server *s, size_t burst, int64_t *sequence) {
  for (size_t i = 0; i < burst; i++, ++*sequence) {
    uint8_t *p = s->answer + i * OK_WIRE_BYTES;
    memset(p, 0, OK_WIRE_BYTES);
    p[0] = 0x80 | QWP_WS_BINARY;
    p[1] = OK_WIRE_BYTES - 2;
    memcpy(p + 3, sequence, 8); /* status 0, then the sequence */
  }
  s->len = burst * OK_WIRE_BYTES;
}

/* ---- measuring ------------------------------------------------------------------------------ */

struct figures {
  size_t burst;
  int64_t acks, cpu_ns, moves, moved_bytes;
};

static int64_t cpu_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static enum qwp_status take_ok(void *ctx, unsigned opcode, const uint8_t *payload, size_t n) {
  int64_t *last = ctx;
  struct qwp_response r;
  const char *why;
  if (opcode != QWP_WS_BINARY || qwp_response_parse(payload, n, &r, &why) != QWP_OK) return QWP_CONN_PROTOCOL;
  if (r.sequence != *last + 1) return QWP_CONN_PROTOCOL;
  *last = r.sequence;
  return QWP_OK;
}

static struct qwp_ws *open_connection(const struct qwp_ops *ops, const struct qwp_ws_config *config) {
  const struct qwp_addr addr = {.len = 1};
  struct qwp_ws *ws = qwp_ws_new(ops, config);
  unsigned interest;
  int64_t deadline_ns;
  if (!ws || qwp_ws_open(ws, &addr, "bench", 0, NULL) != QWP_OK) abort();
  if (qwp_ws_handshake(ws, 0, &interest, &deadline_ns, NULL) != QWP_OK) abort();
  return ws;
}

static struct figures measure(size_t burst) {
  static const struct qwp_net_ops net = {
      .connect = bench_connect, .send = bench_send, .recv = bench_recv, .close = bench_close};
  static const struct qwp_ws_config config = {.path = QWP_PATH_WRITE, .client_id = "bench",
                                              .auth_timeout_ns = 1000000000, .connect_timeout_ns = QWP_NEVER,
                                              .rx_initial_bytes = RX_BYTES, .rx_max_bytes = RX_BYTES};
  struct server *server = calloc(1, sizeof *server);
  if (!server) abort();
  const struct qwp_ops ops = {.net = &net, .net_ctx = server, .clock = &qwp_posix_clock, .mem = &qwp_posix_mem};
  struct qwp_ws *ws = open_connection(&ops, &config);
  struct figures f = {.burst = burst};
  int64_t sequence = 0, last = -1;
  const int64_t begin_ns = cpu_now_ns();
  do { /* the clock is read once a round, not once a burst */
    for (size_t i = 0; i < ACKS_A_ROUND; i += burst) {
      put_burst(server, burst, &sequence);
      if (qwp_ws_receive(ws, take_ok, &last, NULL) != QWP_OK) abort();
    }
    f.cpu_ns = cpu_now_ns() - begin_ns;
  } while (f.cpu_ns < CPU_NS_A_BURST);
  if (last != sequence - 1) abort(); /* each one was read */
  f.acks = sequence;
  f.moves = qwp_ws_counters(ws)->rx_moves;
  f.moved_bytes = qwp_ws_counters(ws)->rx_moved_bytes;
  qwp_ws_del(ws);
  free(server);
  return f;
}

/* ---- the program ------------------------------------------------------------------------------ */

static double per(int64_t a, int64_t b) { return (double)a / (double)b; }

static int write_json(const char *path, const struct figures *f, size_t n) {
  FILE *out = fopen(path, "w");
  if (!out) return fprintf(stderr, "ack_bench: %s: %s\n", path, strerror(errno)), 3;
  fputs("[", out);
  for (size_t i = 0; i < n; i++)
    fprintf(out, "%s{\"burst\": %zu, \"acks\": %lld, \"cpu_ns_per_ack\": %.2f, \"moves_per_burst\": %.2f, "
            "\"moved_bytes_per_burst\": %.1f}", i ? ", " : "", f[i].burst, (long long)f[i].acks,
            per(f[i].cpu_ns, f[i].acks), per(f[i].moves * (int64_t)f[i].burst, f[i].acks),
            per(f[i].moved_bytes * (int64_t)f[i].burst, f[i].acks));
  fputs("]\n", out);
  return fclose(out) == 0 ? 0 : 3;
}

static int usage(FILE *out, int code) {
  fprintf(out, "usage: ack_bench [--json FILE] [BURST...]   acknowledgements in one read, 1 to %u\n", BURST_MAX);
  return code;
}

int main(int argc, char **argv) {
  size_t bursts[BURSTS_MAX] = {1, 50, 500, 5000}, n = 0;
  struct figures f[BURSTS_MAX];
  const char *json = NULL;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) return usage(stdout, 0);
    if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = argv[++i];
      continue;
    }
    char *end;
    unsigned long burst = strtoul(argv[i], &end, 10);
    if (*end || burst < 1 || burst > BURST_MAX || n == BURSTS_MAX) return usage(stderr, 2);
    bursts[n++] = burst;
  }
  if (n == 0) n = 4;
  puts(" acks a read   ns an ack   moves a read   bytes moved a read");
  for (size_t i = 0; i < n; i++) {
    f[i] = measure(bursts[i]);
    printf("%12zu %11.1f %14.2f %20.1f\n", f[i].burst, per(f[i].cpu_ns, f[i].acks),
           per(f[i].moves * (int64_t)f[i].burst, f[i].acks), per(f[i].moved_bytes * (int64_t)f[i].burst, f[i].acks));
  }
  return json ? write_json(json, f, n) : 0;
}
