#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "qwp/wire.h"

#define SILENCE_MS 30000

/* ---- the stream ------------------------------------------------------------------ */

static void put_u64(uint8_t *p, uint64_t v) {
  for (unsigned k = 0; k < 8; k++) p[k] = (uint8_t)(v >> (8 * k));
}

static uint64_t get_u64(const uint8_t *p) {
  uint64_t v = 0;
  for (unsigned k = 0; k < 8; k++) v |= (uint64_t)p[k] << (8 * k);
  return v;
}

/* splitmix64: a different masking key for each frame, the same in every run. */
static uint64_t key_of(uint64_t i) {
  uint64_t z = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  return z ^ (z >> 27);
}

static void put_frame(uint8_t *frame, uint64_t id) {
  static const uint8_t head[22] = {'Q', 'W', 'P', '1', QWP_VERSION, QWP_FLAG_DELTA, 1, 0, 18, 0, 0, 0, /* header */
                                   0, 0,                                            /* dictionary: from 0, none new */
                                   1, 't', 1, 1, 1, 'i', QWP_TYPE_LONG, QWP_NULLS_NONE};
  uint8_t *key = frame + 2, *payload = frame + 6;
  frame[0] = 0x80 | QWP_WS_BINARY;
  frame[1] = 0x80 | LOAD_MESSAGE_BYTES;
  const uint64_t random = key_of(id);
  for (unsigned k = 0; k < 4; k++) key[k] = (uint8_t)(random >> (8 * k));
  memcpy(payload, head, sizeof head);
  put_u64(payload + sizeof head, id);
  for (unsigned k = 0; k < LOAD_MESSAGE_BYTES; k++) payload[k] ^= key[k % 4];
}

bool load_make(struct load *l, size_t frames) {
  if (frames == 0 || frames > SIZE_MAX / LOAD_FRAME_BYTES) return false;
  l->frames = frames;
  l->bytes = malloc(frames * LOAD_FRAME_BYTES);
  if (!l->bytes) return false;
  for (size_t i = 0; i < frames; i++) put_frame(l->bytes + i * LOAD_FRAME_BYTES, i);
  return true;
}

void load_free(struct load *l) {
  free(l->bytes);
  l->bytes = NULL;
}

/* ---- a connection ----------------------------------------------------------------- */

struct life {
  int fd;
  int64_t last_ok; /* highest sequence told OK, -1 = none */
  bool ended;      /* the server's Close or EOF */
  uint8_t in[64 << 10];
  size_t in_n;
  char *why;
  size_t why_n;
};

static bool failed(struct life *c, const char *what, int error) {
  if (error) snprintf(c->why, c->why_n, "%s: %s", what, strerror(error));
  else snprintf(c->why, c->why_n, "%s", what);
  return false;
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool wait_for(struct life *c, short events) {
  struct pollfd p = {c->fd, events, 0};
  int n;
  do n = poll(&p, 1, SILENCE_MS);
  while (n < 0 && errno == EINTR);
  if (n == 0) return failed(c, "the server is silent", 0);
  return n > 0 || failed(c, "poll", errno);
}

static bool read_some(struct life *c) {
  if (c->in_n == sizeof c->in) return failed(c, "an answer larger than any of a server", 0);
  const ssize_t n = recv(c->fd, c->in + c->in_n, sizeof c->in - c->in_n, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n < 0) return failed(c, "recv", errno);
  if (n == 0) c->ended = true;
  c->in_n += (size_t)n;
  return true;
}

static bool take_answer(struct life *c, unsigned opcode, const uint8_t *p, size_t n) {
  if (opcode == QWP_WS_CLOSE) c->ended = true;
  if (opcode != QWP_WS_BINARY) return true;
  if (n < 9 || p[0] != QWP_ST_OK) {
    snprintf(c->why, c->why_n, "error answer, status 0x%02X", n > 0 ? p[0] : 0u);
    return false;
  }
  const uint64_t seq = get_u64(p + 1);
  if (seq > INT64_MAX) return failed(c, "an OK with a negative sequence", 0);
  if ((int64_t)seq > c->last_ok) c->last_ok = (int64_t)seq;
  return true;
}

/* Whole server frames out of the buffer; answers are short, so the two short forms of length are all there are. */
static bool take_answers(struct life *c) {
  size_t at = 0;
  while (c->in_n - at >= 2) {
    const uint8_t *p = c->in + at;
    size_t n = p[1] & 0x7F, head = 2;
    if ((p[1] & 0x80) || n == 127) return failed(c, "a server frame that is masked or huge", 0);
    if (n == 126) {
      if (c->in_n - at < 4) break;
      n = (size_t)p[2] << 8 | p[3];
      head = 4;
    }
    if (c->in_n - at < head + n) break;
    if (!take_answer(c, p[0] & 0x0F, p + head, n)) return false;
    at += head + n;
  }
  memmove(c->in, c->in + at, c->in_n - at);
  c->in_n -= at;
  return true;
}

static bool dial(struct life *c, int port) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  c->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&a, sizeof a) != 0) return failed(c, "connect", errno);
  const int flags = fcntl(c->fd, F_GETFL);
  return fcntl(c->fd, F_SETFL, flags | O_NONBLOCK) == 0 || failed(c, "fcntl", errno);
}

/* The key is the one of RFC 6455, 1.3, so that a server without SHA-1 can answer it too. */
static bool upgrade(struct life *c) {
  static const char request[] = "GET " QWP_PATH_WRITE " HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
                                "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                                "Sec-WebSocket-Version: 13\r\n" QWP_HDR_MAX_VERSION ": 1\r\n"
                                QWP_HDR_CLIENT_ID ": qwpkit-bench/1\r\n\r\n";
  if (send(c->fd, request, sizeof request - 1, MSG_NOSIGNAL) != (ssize_t)sizeof request - 1)
    return failed(c, "the request could not be written", errno);
  for (;;) {
    const char *head = (const char *)c->in;
    for (size_t i = 3; i < c->in_n; i++) {
      if (memcmp(head + i - 3, "\r\n\r\n", 4) != 0) continue;
      if (c->in_n < 12 || memcmp(head, "HTTP/1.1 101", 12) != 0) return failed(c, "the upgrade was refused", 0);
      c->in_n -= i + 1;
      memmove(c->in, c->in + i + 1, c->in_n);
      return true;
    }
    if (c->ended) return failed(c, "the server ended the upgrade", 0);
    if (!wait_for(c, POLLIN) || !read_some(c)) return false;
  }
}

/* Everything out, and every answer in, until the last frame is acknowledged. */
static bool pump(struct life *c, const struct load *l) {
  const size_t all = l->frames * LOAD_FRAME_BYTES;
  const int64_t last = (int64_t)l->frames - 1;
  size_t sent = 0;
  while (c->last_ok < last) {
    if (c->ended) return failed(c, "the server ended before the last OK", 0);
    if (sent < all) {
      const size_t piece = all - sent < LOAD_WRITE_BYTES ? all - sent : LOAD_WRITE_BYTES;
      const ssize_t n = send(c->fd, l->bytes + sent, piece, MSG_NOSIGNAL);
      if (n < 0 && errno != EAGAIN && errno != EINTR) return failed(c, "send", errno);
      if (n > 0) sent += (size_t)n;
      if (n == (ssize_t)piece) continue; /* answers are few; they wait until the socket is full */
    }
    if (!wait_for(c, sent < all ? POLLIN | POLLOUT : POLLIN)) return false;
    if (!read_some(c) || !take_answers(c)) return false;
  }
  return c->last_ok == last || failed(c, "an OK for a frame that was never sent", 0);
}

static bool say_goodbye(struct life *c) {
  static const uint8_t close_frame[] = {0x80 | QWP_WS_CLOSE, 0x80 | 2, 0, 0, 0, 0, 0x03, 0xE8};
  if (send(c->fd, close_frame, sizeof close_frame, MSG_NOSIGNAL) < 0) return failed(c, "send of Close", errno);
  while (!c->ended)
    if (!wait_for(c, POLLIN) || !read_some(c) || !take_answers(c)) return false;
  return true;
}

bool load_run(const struct load *l, int port, int64_t *took_ns, char *why, size_t why_n) {
  struct life *c = calloc(1, sizeof *c);
  if (!c) {
    snprintf(why, why_n, "out of memory");
    return false;
  }
  c->fd = -1;
  c->last_ok = -1;
  c->why = why;
  c->why_n = why_n;
  bool good = dial(c, port) && upgrade(c);
  const int64_t from_ns = now_ns();
  good = good && pump(c, l);
  *took_ns = now_ns() - from_ns;
  good = good && say_goodbye(c);
  if (c->fd >= 0) close(c->fd);
  free(c);
  return good;
}
