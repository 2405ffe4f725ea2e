/* ops.h - the outside world, as four small tables of functions.
 *
 * The library calls the operating system through these tables only. The real
 * ones are qwp_ops_posix(); the fault layer wraps any table, the simulation
 * implements them in memory, TLS is a net table laid on a net table.
 *
 * Rules common to all tables
 *  - The first argument is the table's own context.
 *  - Results follow the kernel's shape: >= 0 is success, < 0 is -errno.
 *    Nothing here sets or reads errno for its caller.
 *  - Unless said otherwise a table is used by the send loop only, so by one
 *    thread at a time. `wake`, the clock and the memory table are called by
 *    any thread.
 */
#ifndef QWP_OPS_H
#define QWP_OPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "qwp/status.h"

#define QWP_NS_PER_MS INT64_C(1000000)
#define QWP_NEVER INT64_MAX /* a deadline that does not come */

/* ---- net ------------------------------------------------------------------- */

typedef int qwp_sock; /* a handle of the table; -1 is none. Never used as an fd by the library. */

struct qwp_addr { /* one resolved address, opaque to the library */
  unsigned char bytes[128];
  unsigned len;
  const char *host; /* the name it was asked by, for a layer that must know whom it speaks to (TLS): borrowed from
                     * resolve's caller, who keeps it for the connection's life. A plain table leaves it alone. */
};

#define QWP_READABLE 1u
#define QWP_WRITABLE 2u
#define QWP_WOKEN 4u /* only as a result: wake() was called */

struct qwp_net_ops {
  /* Turns host (name or literal, without brackets) and port into up to max
   * addresses, in the order to try. Returns how many (>= 1) or -errno. May block. */
  int (*resolve)(void *ctx, const char *host, int port, struct qwp_addr *out, int max);

  /* Opens a non-blocking stream socket (TCP_NODELAY, close-on-exec) and begins
   * to connect. *out is valid when the result is 0 (connected) or -EINPROGRESS. */
  int (*connect)(void *ctx, const struct qwp_addr *addr, qwp_sock *out);

  /* After a writable wait: 0 = connected, -EINPROGRESS, or why it failed. */
  int (*connected)(void *ctx, qwp_sock sock);

  /* One attempt. Bytes taken (> 0; fewer than n is a short write), or -EAGAIN,
   * -EINTR, -ENOBUFS, -ENOMEM (the connection lives), or another -errno (it is
   * dead). Never raises SIGPIPE. */
  ssize_t (*send)(void *ctx, qwp_sock sock, const void *buf, size_t n);

  /* One attempt. Bytes read, 0 = end of stream, -EAGAIN, -EINTR, or -errno. */
  ssize_t (*recv)(void *ctx, qwp_sock sock, void *buf, size_t n);

  /* Ends our sending half (FIN). 0 or -errno. */
  int (*shutdown)(void *ctx, qwp_sock sock);

  /* Releases the handle, whatever its state. */
  void (*close)(void *ctx, qwp_sock sock);

  /* Waits until the socket is ready for one of `interest`, wake() is called, or
   * timeout_ns passes (QWP_NEVER = no limit; 0 = look only). sock may be -1: then
   * only wake and timeout count. Returns a set of QWP_READABLE | QWP_WRITABLE |
   * QWP_WOKEN (an error or hang-up counts as both ready), 0 at the timeout, or
   * -errno. A wake() that came since the last wait ends this one at once.
   * In a world without threads it does not block: it notes the interest,
   * returns -EAGAIN, and the world turns the loop again when it is due. */
  int (*wait)(void *ctx, qwp_sock sock, unsigned interest, int64_t timeout_ns);

  /* Ends the current or the next wait(). Any thread. */
  void (*wake)(void *ctx);

  /* Optional (NULL = nothing to tell). Why the last failed call on this socket failed, where an errno does not tell
   * it: writes one sentence without a newline to text (at most n bytes with its NUL) and returns the status that
   * belongs to it, for example QWP_CONN_TLS "certificate verify failed: ...". QWP_OK = the errno says it all. */
  enum qwp_status (*explain)(void *ctx, qwp_sock sock, char *text, size_t n);

  /* Optional. Said once a connection, when the upgrade's answer has been taken: what follows in both directions is
   * WebSocket frames. A layer below TLS cannot see that in its bytes. Each layer passes it on. */
  void (*opened)(void *ctx, qwp_sock sock);
};

/* ---- file ------------------------------------------------------------------- */

typedef int qwp_file; /* -1 is none */

#define QWP_FILE_READ 1u
#define QWP_FILE_WRITE 2u
#define QWP_FILE_CREATE 4u
#define QWP_FILE_EXCL 8u
#define QWP_FILE_TRUNC 16u

struct qwp_file_ops {
  int (*open)(void *ctx, const char *path, unsigned flags, qwp_file *out);
  void (*close)(void *ctx, qwp_file file);
  ssize_t (*read)(void *ctx, qwp_file file, void *buf, size_t n, int64_t offset);
  ssize_t (*write)(void *ctx, qwp_file file, const void *buf, size_t n, int64_t offset);
  int64_t (*size)(void *ctx, qwp_file file);
  int (*reserve)(void *ctx, qwp_file file, int64_t size); /* real blocks, not a hole */
  int (*map)(void *ctx, qwp_file file, size_t n, void **out);
  int (*unmap)(void *ctx, void *at, size_t n);
  int (*sync_map)(void *ctx, void *at, size_t n);
  int (*sync)(void *ctx, qwp_file file);
  int (*sync_dir)(void *ctx, const char *path);
  int (*lock)(void *ctx, qwp_file file); /* exclusive, does not wait: -EWOULDBLOCK */
  int (*make_dir)(void *ctx, const char *path);
  int (*rename)(void *ctx, const char *from, const char *to);
  int (*unlink)(void *ctx, const char *path);
  /* Calls each(arg, name) for every entry but . and .. until it returns non-zero. */
  int (*list)(void *ctx, const char *path, int (*each)(void *arg, const char *name), void *arg);
};

/* ---- clock and entropy -------------------------------------------------------- */

struct qwp_clock_ops {
  int64_t (*now_ns)(void *ctx);  /* monotonic; only differences mean anything */
  int64_t (*wall_ns)(void *ctx); /* since the epoch; may jump */
  int (*entropy)(void *ctx, void *buf, size_t n); /* unpredictable bytes; 0 or -errno */
};

/* ---- memory ------------------------------------------------------------------- */

struct qwp_mem_ops {
  void *(*alloc)(void *ctx, size_t n);             /* n > 0; NULL = out of memory */
  void *(*realloc)(void *ctx, void *p, size_t n);  /* p stays valid when it fails */
  void (*free)(void *ctx, void *p);                /* NULL is fine */
};

/* ---- all of it ---------------------------------------------------------------- */

struct qwp_ops {
  const struct qwp_net_ops *net;
  void *net_ctx; /* one context per sender: wait and wake meet in it */
  const struct qwp_file_ops *file;
  void *file_ctx;
  const struct qwp_clock_ops *clock;
  void *clock_ctx;
  const struct qwp_mem_ops *mem;
  void *mem_ctx;
};

/* The real world. Fills *ops; the net context is allocated (an event descriptor
 * for wake), so each call to _init needs one _free after the last use.
 * Returns 0 or -errno. */
QWP_API int qwp_ops_posix_init(struct qwp_ops *ops);
QWP_API void qwp_ops_posix_free(struct qwp_ops *ops);

#endif
