/* wrap_file - files pass through; the calls that a plan may name can fail or be late. */
#include "layer.h"

#define UNDER(f) (f)->under->file
#define CTX(f) (f)->under->file_ctx

/* Makes the call unless the plan fails it, and lets the delays pass. */
#define PLANNED(point, call) \
  do { \
    struct verdict v; \
    int err = faults_plain_call(f, point, 0, &v); \
    if (err != 0) return err; \
    int result = (call); \
    faults_pass_time(f, v.delay_after_ns); \
    return result; \
  } while (0)

static int file_open(void *ctx, const char *path, unsigned flags, qwp_file *out) {
  struct faults *f = ctx;
  return UNDER(f)->open(CTX(f), path, flags, out);
}

static void file_close(void *ctx, qwp_file file) {
  struct faults *f = ctx;
  UNDER(f)->close(CTX(f), file);
}

static ssize_t file_read(void *ctx, qwp_file file, void *buf, size_t n, int64_t offset) {
  struct faults *f = ctx;
  return UNDER(f)->read(CTX(f), file, buf, n, offset);
}

static ssize_t file_write(void *ctx, qwp_file file, const void *buf, size_t n, int64_t offset) {
  struct faults *f = ctx;
  return UNDER(f)->write(CTX(f), file, buf, n, offset);
}

static int64_t file_size(void *ctx, qwp_file file) {
  struct faults *f = ctx;
  return UNDER(f)->size(CTX(f), file);
}

static int file_unmap(void *ctx, void *at, size_t n) {
  struct faults *f = ctx;
  return UNDER(f)->unmap(CTX(f), at, n);
}

static int file_make_dir(void *ctx, const char *path) {
  struct faults *f = ctx;
  return UNDER(f)->make_dir(CTX(f), path);
}

static int file_list(void *ctx, const char *path, int (*each)(void *arg, const char *name), void *arg) {
  struct faults *f = ctx;
  return UNDER(f)->list(CTX(f), path, each, arg);
}

static int file_reserve(void *ctx, qwp_file file, int64_t size) {
  struct faults *f = ctx;
  PLANNED(FAULT_RESERVE, UNDER(f)->reserve(CTX(f), file, size));
}

static int file_map(void *ctx, qwp_file file, size_t n, void **out) {
  struct faults *f = ctx;
  PLANNED(FAULT_MAP, UNDER(f)->map(CTX(f), file, n, out));
}

static int file_sync_map(void *ctx, void *at, size_t n) {
  struct faults *f = ctx;
  PLANNED(FAULT_SYNC, UNDER(f)->sync_map(CTX(f), at, n));
}

static int file_sync(void *ctx, qwp_file file) {
  struct faults *f = ctx;
  PLANNED(FAULT_SYNC, UNDER(f)->sync(CTX(f), file));
}

static int file_sync_dir(void *ctx, const char *path) {
  struct faults *f = ctx;
  PLANNED(FAULT_SYNC, UNDER(f)->sync_dir(CTX(f), path));
}

static int file_lock(void *ctx, qwp_file file) {
  struct faults *f = ctx;
  PLANNED(FAULT_LOCK, UNDER(f)->lock(CTX(f), file));
}

static int file_rename(void *ctx, const char *from, const char *to) {
  struct faults *f = ctx;
  PLANNED(FAULT_RENAME, UNDER(f)->rename(CTX(f), from, to));
}

static int file_unlink(void *ctx, const char *path) {
  struct faults *f = ctx;
  PLANNED(FAULT_UNLINK, UNDER(f)->unlink(CTX(f), path));
}

const struct qwp_file_ops faults_file_ops = {
    .open = file_open, .close = file_close, .read = file_read, .write = file_write, .size = file_size,
    .reserve = file_reserve, .map = file_map, .unmap = file_unmap, .sync_map = file_sync_map, .sync = file_sync,
    .sync_dir = file_sync_dir, .lock = file_lock, .make_dir = file_make_dir, .rename = file_rename,
    .unlink = file_unlink, .list = file_list,
};
