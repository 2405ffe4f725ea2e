#define _GNU_SOURCE /* flock */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ops/posix.h"

/* What was published is the application's data: readable by its own user only. */
#define FILE_MODE 0600
#define DIR_MODE 0700

static int result(int r) { return r < 0 ? -errno : r; }

static int file_open(void *ctx, const char *path, unsigned flags, qwp_file *out) {
  (void)ctx;
  bool read = flags & QWP_FILE_READ;
  bool write = flags & QWP_FILE_WRITE;
  *out = -1;
  if (!read && !write) return -EINVAL;
  int how = read && write ? O_RDWR : write ? O_WRONLY : O_RDONLY;
  if (flags & QWP_FILE_CREATE) how |= O_CREAT;
  if (flags & QWP_FILE_EXCL) how |= O_EXCL;
  if (flags & QWP_FILE_TRUNC) how |= O_TRUNC;
  int fd;
  do {
    fd = open(path, how | O_CLOEXEC | O_NONBLOCK, FILE_MODE); /* a named pipe holds nobody */
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return -errno;
  *out = fd;
  return 0;
}

static void file_close(void *ctx, qwp_file file) {
  (void)ctx;
  close(file); /* never again after EINTR: the descriptor is gone */
}

static ssize_t file_read(void *ctx, qwp_file file, void *buf, size_t n, int64_t offset) {
  (void)ctx;
  ssize_t r;
  do {
    r = pread(file, buf, n, offset);
  } while (r < 0 && errno == EINTR);
  return r < 0 ? -errno : r;
}

static ssize_t file_write(void *ctx, qwp_file file, const void *buf, size_t n, int64_t offset) {
  (void)ctx;
  ssize_t r;
  do {
    r = pwrite(file, buf, n, offset);
  } while (r < 0 && errno == EINTR);
  return r < 0 ? -errno : r;
}

static int64_t file_size(void *ctx, qwp_file file) {
  (void)ctx;
  struct stat st;
  return fstat(file, &st) < 0 ? -errno : st.st_size;
}

static int file_reserve(void *ctx, qwp_file file, int64_t size) {
  (void)ctx;
  int r;
  do {
    r = posix_fallocate(file, 0, size); /* returns the errno */
  } while (r == EINTR);
  return -r;
}

static int file_map(void *ctx, qwp_file file, size_t n, void **out) {
  (void)ctx;
  void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return -errno;
  *out = at;
  return 0;
}

static int file_unmap(void *ctx, void *at, size_t n) {
  (void)ctx;
  return result(munmap(at, n));
}

static int file_sync_map(void *ctx, void *at, size_t n) {
  (void)ctx;
  return result(msync(at, n, MS_SYNC));
}

static int file_sync(void *ctx, qwp_file file) {
  (void)ctx;
  return result(fsync(file));
}

static int file_sync_dir(void *ctx, const char *path) {
  (void)ctx;
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -errno;
  int r = result(fsync(fd));
  close(fd);
  return r;
}

static int file_lock(void *ctx, qwp_file file) {
  (void)ctx;
  int r;
  do {
    r = flock(file, LOCK_EX | LOCK_NB);
  } while (r < 0 && errno == EINTR);
  return result(r);
}

static int file_make_dir(void *ctx, const char *path) {
  (void)ctx;
  return result(mkdir(path, DIR_MODE));
}

static int file_rename(void *ctx, const char *from, const char *to) {
  (void)ctx;
  return result(rename(from, to));
}

static int file_unlink(void *ctx, const char *path) {
  (void)ctx;
  return result(unlink(path));
}

static int file_list(void *ctx, const char *path, int (*each)(void *arg, const char *name), void *arg) {
  (void)ctx;
  DIR *dir = opendir(path);
  if (!dir) return -errno;
  int r = 0;
  while (r == 0) {
    errno = 0;
    const struct dirent *entry = readdir(dir);
    if (!entry) {
      r = -errno; /* 0 at the end */
      break;
    }
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    r = each(arg, entry->d_name);
  }
  closedir(dir);
  return r;
}

const struct qwp_file_ops qwp_posix_file = {
    .open = file_open,
    .close = file_close,
    .read = file_read,
    .write = file_write,
    .size = file_size,
    .reserve = file_reserve,
    .map = file_map,
    .unmap = file_unmap,
    .sync_map = file_sync_map,
    .sync = file_sync,
    .sync_dir = file_sync_dir,
    .lock = file_lock,
    .make_dir = file_make_dir,
    .rename = file_rename,
    .unlink = file_unlink,
    .list = file_list,
};
