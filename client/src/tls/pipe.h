/* pipe - the ciphertext of one connection, on its way between OpenSSL and the table below.
 *
 *   SSL --writes--> out --push--> below            SSL <--reads-- in <--fill-- below
 *
 * Both buffers have a fixed size and lie in the pipe, so moving bytes cannot run out of
 * memory. Neither call waits.
 */
#ifndef QWP_TLS_PIPE_H
#define QWP_TLS_PIPE_H

#include <openssl/bio.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qwp/ops.h"

/* A record has at most 5 + 16384 + 2048 bytes (RFC 5246, 6.2.3). */
#define QWP_PIPE_IN_BYTES 32768u
/* A full send (64 KiB and the overhead of its records), answers that could not leave while it
 * waited, and the answers to one more `in`: no answer is longer than its question. */
#define QWP_PIPE_OUT_BYTES 131072u
#define QWP_PIPE_ANSWERS_BYTES (QWP_PIPE_IN_BYTES + 1024u)

struct qwp_pipe {
  const struct qwp_ops *below;
  qwp_sock sock;
  int send_error; /* the -errno that ended the sending half, or 0 */
  bool starved;   /* the last push met ENOBUFS or ENOMEM: the socket may count as writable all the same */
  size_t in_head, in_tail;
  size_t out_head, out_tail;
  uint8_t in[QWP_PIPE_IN_BYTES];
  uint8_t out[QWP_PIPE_OUT_BYTES];
};

void qwp_pipe_init(struct qwp_pipe *p, const struct qwp_ops *below, qwp_sock sock);

/* The kind of BIO that qwp_pipe_bio makes; free it with BIO_meth_free. NULL = out of memory. */
BIO_METHOD *qwp_pipe_method(void);
/* A BIO over the pipe, both directions; it borrows the pipe. NULL = out of memory. */
BIO *qwp_pipe_bio(const BIO_METHOD *method, struct qwp_pipe *p);

/* Ciphertext that the table below has not taken. */
static inline size_t qwp_pipe_pending(const struct qwp_pipe *p) { return p->out_tail - p->out_head; }
/* Whether what one more `in` may be answered with would find room. */
static inline bool qwp_pipe_has_room(const struct qwp_pipe *p) {
  return sizeof p->out - p->out_tail >= QWP_PIPE_ANSWERS_BYTES;
}

/* What is pending will never be handed over. */
static inline void qwp_pipe_drop(struct qwp_pipe *p) { p->out_head = p->out_tail = 0; }

/* Hands over what is pending. 0 = all of it; -EAGAIN, -EINTR, -ENOBUFS, -ENOMEM = later; else
 * the sending half is dead, and every push from now on says so. */
int qwp_pipe_push(struct qwp_pipe *p);

/* Reads once from below; only when `in` is empty. Bytes, 0 = end of stream, or -errno. */
ssize_t qwp_pipe_fill(struct qwp_pipe *p);

#endif
