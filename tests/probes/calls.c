/* probe-calls CALL - an adapter (scenarios/client/README.md) that sends one frame by the named system call (CASE-98).
 *
 * Everything else of its connection goes through the fault layer over the real ops, as the built-in client's does: the
 * upgrade, what it reads, its Close. So its counters and its rules show whether the layer saw the frame. The calls
 * are those by which bytes reach a socket on Linux; `ops` is the table's own send, for comparison.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "client/facts.h"
#include "client/request.h"
#include "faults.h"
#include "qwp/ops.h"

/* One row of table "t", column "i" LONG 0, masked with a key of the run's own; the Close, code 1000. */
static uint8_t frame[36] = {0x82, 0x80 | 30, 0, 0, 0, 0, 'Q', 'W', 'P', '1', 1, 8, 1, 0, 18, 0, 0, 0, 0, 0, 1, 't', 1, 1, 1, 'i', 5};
static uint8_t goodbye[8] = {0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8};

static void mask(const struct qwp_ops *ops, uint8_t *p, size_t n) {
  ops->clock->entropy(ops->clock_ctx, p + 2, 4);
  for (size_t i = 6; i < n; i++) p[i] ^= p[2 + (i - 6) % 4];
}

/* ---- the calls: each gives all n bytes to the socket, or says -errno ---- */

static ssize_t result(ssize_t n) { return n < 0 ? -errno : n; }
static ssize_t by_write(int fd, const uint8_t *p, size_t n) { return result(write(fd, p, n)); }
static ssize_t by_send(int fd, const uint8_t *p, size_t n) { return result(send(fd, p, n, 0)); }
static ssize_t by_sendto(int fd, const uint8_t *p, size_t n) { return result(sendto(fd, p, n, 0, NULL, 0)); }
static ssize_t by_syscall(int fd, const uint8_t *p, size_t n) { return result(syscall(SYS_sendto, fd, p, n, 0, NULL, 0)); }

static ssize_t by_sendmsg(int fd, const uint8_t *p, size_t n) {
  struct iovec v = {(void *)(uintptr_t)p, n};
  struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
  return result(sendmsg(fd, &m, 0));
}

static ssize_t by_sendmmsg(int fd, const uint8_t *p, size_t n) {
  struct iovec v = {(void *)(uintptr_t)p, n};
  struct mmsghdr m = {.msg_hdr = {.msg_iov = &v, .msg_iovlen = 1}};
  return sendmmsg(fd, &m, 1, 0) == 1 ? (ssize_t)m.msg_len : -errno;
}

static ssize_t by_writev(int fd, const uint8_t *p, size_t n) {
  struct iovec v[2] = {{(void *)(uintptr_t)p, 2}, {(void *)(uintptr_t)(p + 2), n - 2}};
  return result(writev(fd, v, 2));
}

static ssize_t by_sendfile(int fd, const uint8_t *p, size_t n) {
  off_t from = 0;
  const int file = memfd_create("frame", MFD_CLOEXEC);
  if (file < 0 || write(file, p, n) != (ssize_t)n) return -errno;
  const ssize_t sent = result(sendfile(fd, file, &from, n));
  close(file);
  return sent;
}

static ssize_t by_splice(int fd, const uint8_t *p, size_t n) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0 || write(ends[1], p, n) != (ssize_t)n) return -errno;
  const ssize_t sent = result(splice(ends[0], NULL, fd, NULL, n, 0));
  close(ends[0]);
  close(ends[1]);
  return sent;
}

static ssize_t by_fwrite(int fd, const uint8_t *p, size_t n) {
  FILE *f = fdopen(dup(fd), "w");
  if (!f) return -errno;
  const bool ok = fwrite(p, 1, n, f) == n;
  return fclose(f) == 0 && ok ? (ssize_t)n : -errno;
}

static ssize_t by_dprintf(int fd, const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (dprintf(fd, "%c", p[i]) != 1) return -errno;
  return (ssize_t)n;
}

/* One write through a ring of one entry. */
static ssize_t by_io_uring(int fd, const uint8_t *p, size_t n) {
  struct io_uring_params q = {0};
  const int ring = (int)syscall(SYS_io_uring_setup, 1, &q);
  if (ring < 0) return -errno;
  const size_t sq_n = q.sq_off.array + q.sq_entries * sizeof(unsigned), cq_n = q.cq_off.cqes + q.cq_entries * sizeof(struct io_uring_cqe);
  char *sq = mmap(NULL, sq_n, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
  char *cq = mmap(NULL, cq_n, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
  struct io_uring_sqe *entry = mmap(NULL, q.sq_entries * sizeof *entry, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
  if (sq == MAP_FAILED || cq == MAP_FAILED || entry == MAP_FAILED) return -errno;
  *entry = (struct io_uring_sqe){.opcode = IORING_OP_WRITE, .fd = fd, .addr = (uint64_t)(uintptr_t)p, .len = (unsigned)n};
  *(unsigned *)(void *)(sq + q.sq_off.array) = 0;
  __atomic_store_n((unsigned *)(void *)(sq + q.sq_off.tail), 1, __ATOMIC_RELEASE);
  const long taken = syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
  const struct io_uring_cqe *done = (const struct io_uring_cqe *)(const void *)(cq + q.cq_off.cqes);
  const ssize_t sent = taken == 1 ? done->res : -errno;
  munmap(sq, sq_n);
  munmap(cq, cq_n);
  munmap(entry, q.sq_entries * sizeof *entry);
  close(ring);
  return sent;
}

static const struct call {
  const char *name;
  ssize_t (*send)(int fd, const uint8_t *p, size_t n); /* NULL: the table's own */
} calls[] = {{"ops", NULL},          {"write", by_write},       {"send", by_send},       {"sendto", by_sendto},
             {"sendmsg", by_sendmsg}, {"writev", by_writev},     {"sendmmsg", by_sendmmsg}, {"sendfile", by_sendfile},
             {"splice", by_splice},   {"fwrite", by_fwrite},     {"dprintf", by_dprintf}, {"syscall", by_syscall},
             {"io_uring", by_io_uring}};

static const struct call *call_named(const char *name) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp(calls[i].name, name) == 0) return &calls[i];
  return NULL;
}

/* ---- the connection ---- */

struct link {
  const struct qwp_ops *ops;
  qwp_sock sock;
};

static bool ready(const struct link *l, unsigned interest) {
  return l->ops->net->wait(l->ops->net_ctx, l->sock, interest, 10000 * QWP_NS_PER_MS) > 0;
}

static bool give(const struct link *l, const void *p, size_t n) {
  return ready(l, QWP_WRITABLE) && l->ops->net->send(l->ops->net_ctx, l->sock, p, n) == (ssize_t)n;
}

/* Reads exactly n bytes; false at the end of the stream. */
static bool take(const struct link *l, uint8_t *p, size_t n) {
  for (size_t have = 0; have < n;) {
    if (!ready(l, QWP_READABLE)) return false;
    const ssize_t more = l->ops->net->recv(l->ops->net_ctx, l->sock, p + have, n - have);
    if (more <= 0 && more != -EAGAIN) return false;
    if (more > 0) have += (size_t)more;
  }
  return true;
}

static bool take_head(const struct link *l) {
  uint8_t head[1024];
  for (size_t n = 0; n < sizeof head; n++) {
    if (!take(l, head + n, 1)) return false;
    if (n >= 3 && memcmp(head + n - 3, "\r\n\r\n", 4) == 0) return memcmp(head, "HTTP/1.1 101", 12) == 0;
  }
  return false;
}

/* A frame of the server, which are all short here; its first byte, or -1. */
static int take_frame(const struct link *l) {
  uint8_t head[2], payload[125];
  if (!take(l, head, 2) || head[1] > sizeof payload || !take(l, payload, head[1])) return -1;
  return head[0];
}

static bool dial(struct link *l, const char *config) {
  static const char head[] = "GET /write/v4 HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                             "X-QWP-Max-Version: 1\r\n\r\n";
  struct qwp_addr addr;
  int port = 0;
  const char *at = strstr(config, "addr=127.0.0.1:");
  if (!at || sscanf(at, "addr=127.0.0.1:%d", &port) != 1) return false;
  if (l->ops->net->resolve(l->ops->net_ctx, "127.0.0.1", port, &addr, 1) != 1) return false;
  const int r = l->ops->net->connect(l->ops->net_ctx, &addr, &l->sock);
  if (r != 0 && r != -EINPROGRESS) return false;
  if (!ready(l, QWP_WRITABLE) || l->ops->net->connected(l->ops->net_ctx, l->sock) != 0) return false;
  return give(l, head, sizeof head - 1) && take_head(l);
}

static bool fails(struct reply *rp, const char *what, const char *how) {
  snprintf(rp->why, sizeof rp->why, "%s: %s", what, how);
  return false;
}

/* The frame by the call, its OK, and a polite end. */
static bool live(const struct link *l, const struct call *c, struct reply *rp) {
  const ssize_t sent = c->send ? c->send(l->sock, frame, sizeof frame)
                               : l->ops->net->send(l->ops->net_ctx, l->sock, frame, sizeof frame);
  if (sent != (ssize_t)sizeof frame) return fails(rp, c->name, sent < 0 ? strerror((int)-sent) : "a short write");
  if (take_frame(l) != 0x82) return fails(rp, c->name, "no OK came");
  if (!give(l, goodbye, sizeof goodbye) || take_frame(l) != 0x88) return fails(rp, "close", "no Close came back");
  return true;
}

static void add_unfired(void *arg, const char *text) {
  struct reply *rp = arg;
  const size_t n = strlen(rp->unfired);
  snprintf(rp->unfired + n, sizeof rp->unfired - n, "%s%s", n ? "\n" : "", text);
}

static void tell(struct reply *rp, const struct faults *layer, size_t rule_count) {
  struct fault_counters counters;
  faults_counters(layer, &counters);
  facts_of_layer(&rp->facts, &counters);
  facts_of_rules(&rp->facts, layer, rule_count);
  faults_unfired(layer, add_unfired, rp);
  facts_number(&rp->facts, "client.rows", 1);
  facts_number(&rp->facts, "client.rows_accepted", rp->ok);
  facts_number(&rp->facts, "client.first_row[1]", 0);
  facts_text(&rp->facts, "client.error", "none");
}

static bool run(const struct call *c, const struct request *rq, struct reply *rp) {
  struct qwp_ops real;
  if (qwp_ops_posix_init(&real) != 0) return false;
  struct faults_options fo = {.under = &real, .plan = &rq->plan, .seed = rq->seed};
  struct faults *layer = faults_new(&fo);
  if (!layer) return false;
  struct link l = {faults_ops(layer), -1};
  mask(&real, frame, sizeof frame);
  mask(&real, goodbye, sizeof goodbye);
  rp->ok = dial(&l, rq->task.config) ? live(&l, c, rp) : fails(rp, "connect", "no 101 came");
  if (l.sock >= 0) l.ops->net->close(l.ops->net_ctx, l.sock);
  tell(rp, layer, rq->plan.rule_count);
  faults_del(layer);
  qwp_ops_posix_free(&real);
  return true;
}

int main(int argc, char **argv) {
  const struct call *c = argc == 2 ? call_named(argv[1]) : NULL;
  char *line = NULL, why[256];
  size_t cap = 0;
  struct request rq;
  struct reply rp = {0};
  if (!c || getline(&line, &cap, stdin) <= 0 || !request_read(line, &rq, why, sizeof why)) {
    fprintf(stderr, "usage: probe-calls ops|write|send|..., with a request on standard input\n");
    free(line);
    return 2;
  }
  facts_init(&rp.facts);
  const bool ran = run(c, &rq, &rp);
  char *text = ran ? reply_write(&rp) : NULL;
  if (text) puts(text);
  free(text);
  reply_free(&rp);
  request_free(&rq);
  free(line);
  return text ? 0 : 3;
}
