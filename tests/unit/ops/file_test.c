/* The real file table, clock and memory, in a temporary folder. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "qwp/ops.h"

struct fixture {
  struct qwp_ops ops;
  char dir[64];
  char path[2][96];
};

#define FS(f, call, ...) (f)->ops.file->call((f)->ops.file_ctx, __VA_ARGS__)
#define READ_WRITE (QWP_FILE_READ | QWP_FILE_WRITE)

static int setup(void **state) {
  struct fixture *f = calloc(1, sizeof *f);
  assert_int_equal(qwp_ops_posix_init(&f->ops), 0);
  strcpy(f->dir, "/tmp/qwp-ops-XXXXXX");
  assert_non_null(mkdtemp(f->dir));
  for (int i = 0; i < 2; i++) snprintf(f->path[i], sizeof f->path[i], "%s/file-%d", f->dir, i);
  *state = f;
  return 0;
}

static int teardown(void **state) {
  struct fixture *f = *state;
  for (int i = 0; i < 2; i++) unlink(f->path[i]);
  assert_int_equal(rmdir(f->dir), 0);
  qwp_ops_posix_free(&f->ops);
  free(f);
  return 0;
}

static qwp_file create(struct fixture *f, int i) {
  qwp_file file;
  assert_int_equal(FS(f, open, f->path[i], READ_WRITE | QWP_FILE_CREATE, &file), 0);
  return file;
}

static void open_flags(void **state) {
  struct fixture *f = *state;
  qwp_file file;
  assert_int_equal(FS(f, open, f->path[0], QWP_FILE_READ, &file), -ENOENT);
  assert_int_equal(file, -1);
  assert_int_equal(FS(f, open, f->path[0], QWP_FILE_CREATE, &file), -EINVAL); /* neither read nor write */
  file = create(f, 0);
  assert_int_equal(FS(f, write, file, "abc", 3, 0), 3);
  FS(f, close, file);
  struct stat st;
  assert_int_equal(stat(f->path[0], &st), 0);
  assert_int_equal(st.st_mode & 0777 & ~0600u, 0); /* nobody else reads it */
  assert_int_equal(FS(f, open, f->path[0], READ_WRITE | QWP_FILE_CREATE | QWP_FILE_EXCL, &file), -EEXIST);
  assert_int_equal(FS(f, open, f->path[0], QWP_FILE_READ, &file), 0);
  assert_int_equal(FS(f, size, file), 3);
  assert_int_equal(FS(f, write, file, "x", 1, 0), -EBADF);
  FS(f, close, file);
  assert_int_equal(FS(f, open, f->path[0], READ_WRITE | QWP_FILE_TRUNC, &file), 0);
  assert_int_equal(FS(f, size, file), 0);
  FS(f, close, file);
}

static void positioned_reads_and_writes(void **state) {
  struct fixture *f = *state;
  qwp_file file = create(f, 0);
  char buf[8];
  assert_int_equal(FS(f, write, file, "world", 5, 6), 5);
  assert_int_equal(FS(f, write, file, "hello ", 6, 0), 6);
  assert_int_equal(FS(f, read, file, buf, 5, 6), 5);
  assert_memory_equal(buf, "world", 5);
  assert_int_equal(FS(f, read, file, buf, 8, 8), 3);
  assert_int_equal(FS(f, read, file, buf, 8, 11), 0);
  assert_int_equal(FS(f, size, file), 11);
  assert_int_equal(FS(f, sync, file), 0);
  FS(f, close, file);
}

static void reserved_blocks_are_real(void **state) {
  struct fixture *f = *state;
  qwp_file file = create(f, 0);
  assert_int_equal(FS(f, reserve, file, 1 << 20), 0);
  assert_int_equal(FS(f, size, file), 1 << 20);
  struct stat st;
  assert_int_equal(stat(f->path[0], &st), 0);
  assert_true(st.st_blocks * 512 >= 1 << 20);
  assert_int_equal(FS(f, reserve, file, -1), -EINVAL);
  FS(f, close, file);
}

static void what_is_mapped_is_in_the_file(void **state) {
  struct fixture *f = *state;
  qwp_file file = create(f, 0);
  assert_int_equal(FS(f, reserve, file, 8192), 0);
  void *at;
  assert_int_equal(FS(f, map, file, 8192, &at), 0);
  memcpy((char *)at + 5000, "mapped", 6);
  assert_int_equal(FS(f, sync_map, at, 8192), 0);
  char buf[6];
  assert_int_equal(FS(f, read, file, buf, 6, 5000), 6);
  assert_memory_equal(buf, "mapped", 6);
  assert_int_equal(FS(f, unmap, at, 8192), 0);
  assert_int_equal(FS(f, map, file, 0, &at), -EINVAL);
  FS(f, close, file);
}

static void a_lock_is_exclusive_and_does_not_wait(void **state) {
  struct fixture *f = *state;
  qwp_file a = create(f, 0), b = create(f, 0);
  assert_int_equal(FS(f, lock, a), 0);
  assert_int_equal(FS(f, lock, b), -EWOULDBLOCK);
  FS(f, close, a); /* and ends with its file */
  assert_int_equal(FS(f, lock, b), 0);
  FS(f, close, b);
}

struct names {
  int count, stop_at;
  char all[64];
};

static int note_name(void *arg, const char *name) {
  struct names *n = arg;
  strcat(n->all, name);
  strcat(n->all, " ");
  return ++n->count == n->stop_at ? 42 : 0;
}

static void folders(void **state) {
  struct fixture *f = *state;
  char sub[96], from[128], to[128];
  snprintf(sub, sizeof sub, "%s/sub", f->dir);
  snprintf(from, sizeof from, "%s/a", sub);
  snprintf(to, sizeof to, "%s/b", sub);
  assert_int_equal(FS(f, make_dir, sub), 0);
  assert_int_equal(FS(f, make_dir, sub), -EEXIST);
  struct names none = {0};
  assert_int_equal(FS(f, list, sub, note_name, &none), 0);
  assert_int_equal(none.count, 0); /* neither . nor .. */

  qwp_file file;
  assert_int_equal(FS(f, open, from, READ_WRITE | QWP_FILE_CREATE, &file), 0);
  FS(f, close, file);
  assert_int_equal(FS(f, rename, from, to), 0);
  assert_int_equal(FS(f, rename, from, to), -ENOENT);
  assert_int_equal(FS(f, sync_dir, sub), 0);
  struct names one = {0};
  assert_int_equal(FS(f, list, sub, note_name, &one), 0);
  assert_string_equal(one.all, "b ");

  assert_int_equal(FS(f, open, from, READ_WRITE | QWP_FILE_CREATE, &file), 0);
  FS(f, close, file);
  struct names stopped = {.stop_at = 1};
  assert_int_equal(FS(f, list, sub, note_name, &stopped), 42);
  assert_int_equal(stopped.count, 1);

  assert_int_equal(FS(f, unlink, from), 0);
  assert_int_equal(FS(f, unlink, to), 0);
  assert_int_equal(FS(f, unlink, to), -ENOENT);
  assert_int_equal(rmdir(sub), 0);
  assert_int_equal(FS(f, list, sub, note_name, &none), -ENOENT);
  assert_int_equal(FS(f, sync_dir, sub), -ENOENT);
}

static void clock_and_entropy(void **state) {
  struct fixture *f = *state;
  const struct qwp_clock_ops *clock = f->ops.clock;
  int64_t a = clock->now_ns(f->ops.clock_ctx), b = clock->now_ns(f->ops.clock_ctx);
  assert_true(b >= a);
  assert_true(clock->wall_ns(f->ops.clock_ctx) > INT64_C(1700000000000000000)); /* later than 2023 */
  uint8_t one[4096], two[4096];
  size_t zeros = 0;
  memset(one, 0, sizeof one);
  memset(two, 0, sizeof two);
  assert_int_equal(clock->entropy(f->ops.clock_ctx, one, sizeof one), 0);
  assert_int_equal(clock->entropy(f->ops.clock_ctx, two, sizeof two), 0);
  assert_memory_not_equal(one, two, sizeof one);
  for (size_t i = sizeof one - 256; i < sizeof one; i++) zeros += one[i] == 0;
  assert_true(zeros < 64); /* filled to its end: 64 zeros in 256 bytes have odds below 1 in 10^80 */
}

static void memory(void **state) {
  struct fixture *f = *state;
  const struct qwp_mem_ops *mem = f->ops.mem;
  char *p = mem->alloc(f->ops.mem_ctx, 4);
  assert_non_null(p);
  memcpy(p, "abc", 4);
  p = mem->realloc(f->ops.mem_ctx, p, 100000);
  assert_non_null(p);
  assert_string_equal(p, "abc");
  mem->free(f->ops.mem_ctx, p);
  mem->free(f->ops.mem_ctx, NULL);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(open_flags),        TEST(positioned_reads_and_writes), TEST(reserved_blocks_are_real),
      TEST(what_is_mapped_is_in_the_file), TEST(a_lock_is_exclusive_and_does_not_wait), TEST(folders),
      TEST(clock_and_entropy), TEST(memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
