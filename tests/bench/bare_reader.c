#define _GNU_SOURCE /* accept4 */
#include "bare_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "qwp/wire.h"

enum { CHUNK_BYTES = 256 * 1024, HEAD_MAX_BYTES = 4096 };

struct reader {
  int fd, epoll;
  size_t frames;         /* binary frames so far */
  bool closed;           /* Close or EOF of the client */
  size_t kept;           /* bytes of an incomplete frame at the start of buf */
  uint64_t sum;          /* of the unmasked words, so that unmasking cannot be optimized away */
  uint8_t buf[CHUNK_BYTES + HEAD_MAX_BYTES];
};

static int complain(const char *what) {
  fprintf(stderr, "bare reader: %s: %s\n", what, strerror(errno));
  return 1;
}

static bool wait_readable(int epoll) {
  struct epoll_event e;
  int n;
  do n = epoll_wait(epoll, &e, 1, -1);
  while (n < 0 && errno == EINTR);
  return n == 1;
}

static uint64_t unmask(uint8_t *p, size_t n, uint32_t key) {
  const uint64_t wide = (uint64_t)key << 32 | key;
  uint64_t sum = 0, word;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    memcpy(&word, p + i, 8);
    word ^= wide;
    memcpy(p + i, &word, 8);
    sum += word;
  }
  for (unsigned shift = 0; i < n; i++, shift += 8) {
    p[i] ^= (uint8_t)(wide >> shift); /* little-endian, as the machine's words above */
    sum += p[i];
  }
  return sum;
}

/* Length of the header of the frame at p, and of its payload; 0 = not all of the header is here. */
static size_t frame_head(const uint8_t *p, size_t n, size_t *payload) {
  if (n < 2) return 0;
  const unsigned form = p[1] & 0x7F;
  const size_t extra = form < 126 ? 0 : form == 126 ? 2 : 8;
  if (n < 6 + extra) return 0;
  *payload = form;
  if (extra > 0) *payload = 0;
  for (size_t k = 0; k < extra; k++) *payload = *payload << 8 | p[2 + k];
  return 6 + extra;
}

static void walk(struct reader *r, uint8_t *p, size_t n) {
  while (n > 0) {
    size_t payload = 0;
    const size_t head = frame_head(p, n, &payload);
    if (head == 0 || payload > n - head) break;
    uint32_t key;
    memcpy(&key, p + head - 4, 4);
    r->sum += unmask(p + head, payload, key);
    if ((p[0] & 0x0F) == QWP_WS_BINARY) r->frames++;
    else if ((p[0] & 0x0F) == QWP_WS_CLOSE) r->closed = true;
    p += head + payload;
    n -= head + payload;
  }
  memmove(r->buf, p, n);
  r->kept = n;
}

static int accept_one(struct reader *r, int listen_fd) {
  struct epoll_event e = {.events = EPOLLIN};
  r->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (r->epoll < 0 || epoll_ctl(r->epoll, EPOLL_CTL_ADD, listen_fd, &e) != 0) return complain("epoll");
  if (!wait_readable(r->epoll)) return complain("epoll_wait");
  r->fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (r->fd < 0) return complain("accept");
  epoll_ctl(r->epoll, EPOLL_CTL_DEL, listen_fd, NULL);
  return epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->fd, &e) == 0 ? 0 : complain("epoll_ctl");
}

static int answer_upgrade(struct reader *r) {
  static const char answer[] = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                               "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" QWP_HDR_VERSION ": 1\r\n\r\n";
  size_t n = 0;
  while (n < 4 || memcmp(r->buf + n - 4, "\r\n\r\n", 4) != 0) { /* the client waits for the answer behind its head */
    if (n == HEAD_MAX_BYTES || !wait_readable(r->epoll)) return complain("request head");
    const ssize_t got = read(r->fd, r->buf + n, HEAD_MAX_BYTES - n);
    if (got <= 0) return complain("read of the request head");
    n += (size_t)got;
  }
  return write(r->fd, answer, sizeof answer - 1) == (ssize_t)sizeof answer - 1 ? 0 : complain("write of the 101");
}

static int answer_ok(struct reader *r) {
  uint8_t ok[13] = {0x80 | QWP_WS_BINARY, 11, QWP_ST_OK};
  const uint64_t seq = r->frames - 1;
  for (unsigned k = 0; k < 8; k++) ok[3 + k] = (uint8_t)(seq >> (8 * k));
  return write(r->fd, ok, sizeof ok) == (ssize_t)sizeof ok ? 0 : complain("write of the OK");
}

static int read_stream(struct reader *r, size_t frames) {
  bool answered = false;
  while (!r->closed) {
    if (!wait_readable(r->epoll)) return complain("epoll_wait");
    const ssize_t got = read(r->fd, r->buf + r->kept, CHUNK_BYTES);
    if (got < 0 && errno == EAGAIN) continue;
    if (got < 0) return complain("read");
    if (got == 0) break;
    walk(r, r->buf, r->kept + (size_t)got);
    if (r->kept > HEAD_MAX_BYTES) return complain("a frame larger than this reader takes");
    if (!answered && r->frames >= frames) {
      if (answer_ok(r) != 0) return 1;
      answered = true;
    }
  }
  return answered ? 0 : complain("the stream ended early");
}

int bare_reader(int listen_fd, size_t frames) {
  static struct reader r;
  r = (struct reader){.fd = -1, .epoll = -1};
  const int code = accept_one(&r, listen_fd) || answer_upgrade(&r) || read_stream(&r, frames);
  if (r.fd >= 0) close(r.fd);
  if (r.epoll >= 0) close(r.epoll);
  volatile uint64_t sink = r.sum;
  (void)sink;
  return code;
}
