/* file - this world has no disk: every call says so. */
#include <errno.h>

#include "sim/internal.h"

static int no_open(void *ctx, const char *path, unsigned flags, qwp_file *out) {
  (void)ctx, (void)path, (void)flags;
  *out = -1;
  return -ENOSYS;
}
static void no_close(void *ctx, qwp_file file) { (void)ctx, (void)file; }
static ssize_t no_read(void *ctx, qwp_file file, void *buf, size_t n, int64_t offset) {
  (void)ctx, (void)file, (void)buf, (void)n, (void)offset;
  return -ENOSYS;
}
static ssize_t no_write(void *ctx, qwp_file file, const void *buf, size_t n, int64_t offset) {
  (void)ctx, (void)file, (void)buf, (void)n, (void)offset;
  return -ENOSYS;
}
static int64_t no_size(void *ctx, qwp_file file) { (void)ctx, (void)file; return -ENOSYS; }
static int no_reserve(void *ctx, qwp_file file, int64_t size) { (void)ctx, (void)file, (void)size; return -ENOSYS; }
static int no_map(void *ctx, qwp_file file, size_t n, void **out) {
  (void)ctx, (void)file, (void)n;
  *out = NULL;
  return -ENOSYS;
}
static int no_range(void *ctx, void *at, size_t n) { (void)ctx, (void)at, (void)n; return -ENOSYS; }
static int no_handle(void *ctx, qwp_file file) { (void)ctx, (void)file; return -ENOSYS; }
static int no_path(void *ctx, const char *path) { (void)ctx, (void)path; return -ENOSYS; }
static int no_rename(void *ctx, const char *from, const char *to) { (void)ctx, (void)from, (void)to; return -ENOSYS; }
static int no_list(void *ctx, const char *path, int (*each)(void *arg, const char *name), void *arg) {
  (void)ctx, (void)path, (void)each, (void)arg;
  return -ENOSYS;
}

const struct qwp_file_ops sim_file_ops = {
    .open = no_open, .close = no_close, .read = no_read, .write = no_write, .size = no_size, .reserve = no_reserve,
    .map = no_map, .unmap = no_range, .sync_map = no_range, .sync = no_handle, .sync_dir = no_path, .lock = no_handle,
    .make_dir = no_path, .rename = no_rename, .unlink = no_path, .list = no_list,
};
