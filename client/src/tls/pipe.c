#include "tls/pipe.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

void qwp_pipe_init(struct qwp_pipe *p, const struct qwp_ops *below, qwp_sock sock) {
  p->below = below;
  p->sock = sock;
  p->send_error = 0;
  p->starved = false;
  p->in_head = p->in_tail = 0;
  p->out_head = p->out_tail = 0;
}

/* ---- as OpenSSL sees it -------------------------------------------------------------- */

/* All or nothing; it never asks to be called again, so OpenSSL never holds a half-written record. */
static int bio_write(BIO *bio, const char *data, int n) {
  struct qwp_pipe *p = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (n <= 0 || (size_t)n > sizeof p->out - p->out_tail) return -1;
  memcpy(p->out + p->out_tail, data, (size_t)n);
  p->out_tail += (size_t)n;
  return n;
}

static int bio_read(BIO *bio, char *data, int n) {
  struct qwp_pipe *p = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  size_t left = p->in_tail - p->in_head;
  if (n <= 0) return 0;
  if (left == 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  size_t take = left < (size_t)n ? left : (size_t)n;
  memcpy(data, p->in + p->in_head, take);
  p->in_head += take;
  return (int)take;
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer) {
  (void)bio;
  (void)number;
  (void)pointer;
  return command == BIO_CTRL_FLUSH; /* of the others none has a meaning here */
}

BIO_METHOD *qwp_pipe_method(void) {
  /* A type of our own would be taken from a small number that the whole process shares. */
  BIO_METHOD *method = BIO_meth_new(BIO_TYPE_MEM, "qwp pipe");
  if (!method) return NULL;
  BIO_meth_set_write(method, bio_write);
  BIO_meth_set_read(method, bio_read);
  BIO_meth_set_ctrl(method, bio_ctrl);
  return method;
}

BIO *qwp_pipe_bio(const BIO_METHOD *method, struct qwp_pipe *p) {
  BIO *bio = BIO_new(method);
  if (!bio) return NULL;
  BIO_set_data(bio, p);
  BIO_set_init(bio, 1);
  return bio;
}

/* ---- as the table below sees it ------------------------------------------------------- */

static bool lives_on(ssize_t r) { return r == -EAGAIN || r == -EINTR || r == -ENOBUFS || r == -ENOMEM; }

int qwp_pipe_push(struct qwp_pipe *p) {
  if (p->send_error) qwp_pipe_drop(p); /* answers that OpenSSL still gives */
  if (p->send_error) return p->send_error;
  p->starved = false;
  while (qwp_pipe_pending(p) > 0) {
    const struct qwp_ops *below = p->below;
    ssize_t r = below->net->send(below->net_ctx, p->sock, p->out + p->out_head, qwp_pipe_pending(p));
    if (r == 0 || r == -EWOULDBLOCK) r = -EAGAIN;
    if (r < 0) {
      p->starved = r == -ENOBUFS || r == -ENOMEM;
      if (!lives_on(r)) p->send_error = (int)r;
      return (int)r;
    }
    assert((size_t)r <= qwp_pipe_pending(p));
    p->out_head += (size_t)r;
  }
  qwp_pipe_drop(p);
  return 0;
}

ssize_t qwp_pipe_fill(struct qwp_pipe *p) {
  assert(p->in_head == p->in_tail);
  const struct qwp_ops *below = p->below;
  ssize_t r = below->net->recv(below->net_ctx, p->sock, p->in, sizeof p->in);
  assert(r <= (ssize_t)sizeof p->in);
  p->in_head = 0;
  p->in_tail = r > 0 ? (size_t)r : 0;
  return r == -EWOULDBLOCK ? -EAGAIN : r;
}
