#include <errno.h>

#include "kit.h"

struct disk { /* remembers the calls that came through */
  char calls[64];
};

static int came(void *ctx, char what) {
  struct disk *d = ctx;
  size_t n = strlen(d->calls);
  assert_true(n + 1 < sizeof d->calls);
  d->calls[n] = what;
  return 0;
}

static int disk_sync(void *ctx, qwp_file file) { (void)file; return came(ctx, 's'); }
static int disk_sync_map(void *ctx, void *at, size_t n) { (void)at, (void)n; return came(ctx, 'm'); }
static int disk_sync_dir(void *ctx, const char *path) { (void)path; return came(ctx, 'd'); }
static int disk_lock(void *ctx, qwp_file file) { (void)file; return came(ctx, 'l'); }
static int disk_reserve(void *ctx, qwp_file file, int64_t size) { (void)file, (void)size; return came(ctx, 'r'); }
static int disk_map(void *ctx, qwp_file file, size_t n, void **out) {
  (void)file, (void)n;
  *out = NULL;
  return came(ctx, 'M');
}
static int disk_rename(void *ctx, const char *from, const char *to) { (void)from, (void)to; return came(ctx, 'n'); }
static int disk_unlink(void *ctx, const char *path) { (void)path; return came(ctx, 'u'); }
static int64_t disk_size(void *ctx, qwp_file file) { (void)file; came(ctx, 'z'); return INT64_C(1) << 40; }
static ssize_t disk_write(void *ctx, qwp_file file, const void *buf, size_t n, int64_t offset) {
  (void)file, (void)buf, (void)offset;
  came(ctx, 'w');
  return (ssize_t)n;
}

static void planned_points_fail_and_the_rest_passes(void **state) {
  (void)state;
  static const struct qwp_file_ops table = {.sync = disk_sync, .sync_map = disk_sync_map, .sync_dir = disk_sync_dir,
                                            .lock = disk_lock, .reserve = disk_reserve, .map = disk_map,
                                            .rename = disk_rename, .unlink = disk_unlink, .size = disk_size,
                                            .write = disk_write};
  const struct fault_rule rules[] = {
      RULE(.point = FAULT_SYNC, .nth = 2, .act = FAULT_DO_ERRNO, .err = EIO),
      RULE(.point = FAULT_RESERVE, .act = FAULT_DO_ERRNO, .err = ENOSPC),
      RULE(.point = FAULT_LOCK, .act = FAULT_DO_AGAIN),
      RULE(.point = FAULT_RENAME, .act = FAULT_DO_DELAY_AFTER, .value = 9),
      RULE(.point = FAULT_MAP, .act = FAULT_DO_ERRNO, .err = ENOMEM),
      RULE(.point = FAULT_UNLINK, .act = FAULT_DO_ERRNO, .err = EACCES),
  };
  struct sn sn;
  sn_init(&sn);
  struct disk disk = {{0}};
  sn.ops.file = &table;
  sn.ops.file_ctx = &disk;
  struct kit time = {.delayed_ns = 0};
  struct fault_plan plan = {rules, 6};
  struct faults_options o = {.under = &sn.ops, .plan = &plan, .delay = kit_delay, .delay_ctx = &time};
  struct faults *f = faults_new(&o);
  const struct qwp_file_ops *file = faults_ops(f)->file;
  void *ctx = faults_ops(f)->file_ctx, *at;
  assert_int_equal(file->sync(ctx, 1), 0);
  assert_int_equal(file->sync_map(ctx, NULL, 1), -EIO); /* all three kinds of sync are one point */
  assert_int_equal(file->sync_dir(ctx, "d"), 0);
  assert_int_equal(file->reserve(ctx, 1, 10), -ENOSPC);
  assert_int_equal(file->reserve(ctx, 1, 10), 0);
  assert_int_equal(file->lock(ctx, 1), -EWOULDBLOCK);
  assert_int_equal(file->lock(ctx, 1), 0);
  assert_int_equal(file->rename(ctx, "a", "b"), 0);
  assert_int_equal(time.delayed_ns, 9);
  assert_int_equal(file->map(ctx, 1, 1, &at), -ENOMEM);
  assert_int_equal(file->map(ctx, 1, 1, &at), 0);
  assert_int_equal(file->unlink(ctx, "a"), -EACCES);
  assert_int_equal(file->unlink(ctx, "a"), 0);
  assert_int_equal(file->size(ctx, 1), INT64_C(1) << 40);
  assert_int_equal(file->write(ctx, 1, "x", 1, 0), 1);
  assert_string_equal(disk.calls, "sdrlnMuzw");
  assert_int_equal(faults_unfired(f, NULL, NULL), 0);
  faults_del(f);
  sn_free_all(&sn);
}

static void no_file_table_stays_none(void **state) {
  (void)state;
  struct kit k;
  kit_new(&k, NULL, 0);
  assert_null(k.ops->file);
  kit_end(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(planned_points_fail_and_the_rest_passes),
      cmocka_unit_test(no_file_table_stays_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
