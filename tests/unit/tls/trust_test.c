/* The file of trusted certificates: read at construction, and refused there if it is not one. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tls_kit.h"

static struct tk_identity ca;

static struct qwp_error refused_with(const struct qwp_ops *ops, const char *path) {
  const struct qwp_tls_options o = {.verify = true, .roots = path};
  struct qwp_error err;
  qwp_error_clear(&err);
  assert_null(qwp_tls_new(&o, ops, &err));
  assert_null(qwp_tls_new(&o, ops, NULL)); /* the record is optional */
  return err;
}

static void assert_refused(const char *path, const char *part, int sys_errno) {
  struct tk k;
  tk_init(&k, &ca);
  struct qwp_error err = refused_with(&k.ops, path);
  assert_int_equal(err.code, QWP_CONFIG);
  assert_string_equal(err.key, "tls_roots");
  assert_int_equal(err.sys_errno, sys_errno);
  assert_non_null(strstr(err.text, path));
  if (!strstr(err.text, part)) fail_msg("\"%s\" is not in \"%s\"", part, err.text);
  tk_free(&k);
}

static void assert_text_refused(const char *text, size_t n, const char *part) {
  struct tk_file f = tk_file(text, n);
  assert_refused(f.path, part, 0);
  tk_drop_file(&f);
}

static void not_a_file(void **state) {
  (void)state;
  assert_refused("/nowhere/roots.pem", "No such file", ENOENT);
  assert_refused("/tmp", "Is a directory", EISDIR);
}

/* Nobody writes to it, and nobody waits for that. */
static void a_named_pipe(void **state) {
  (void)state;
  struct tk_file f = tk_file("", 0);
  tk_drop_file(&f);
  assert_int_equal(mkfifo(f.path, 0600), 0);
  assert_refused(f.path, "Illegal seek", ESPIPE);
  tk_drop_file(&f);
}

static void not_certificates(void **state) {
  (void)state;
  assert_text_refused("", 0, "the file is empty");
  assert_text_refused("hello\n", 6, "no certificate in PEM form");
  assert_text_refused("\x30\x82\x0a\x00\x02\x01\x03", 7, "openssl pkcs12");
  static const char broken[] = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  assert_text_refused(broken, sizeof broken - 1, "damaged");
  static const char cut[] = "-----BEGIN CERTIFICATE-----\nMIIB\n";
  assert_text_refused(cut, sizeof cut - 1, "damaged");
  static const char key[] = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n";
  assert_text_refused(key, sizeof key - 1, "no certificate in PEM form");
}

/* A good certificate does not hide a broken one behind it. */
static void one_good_one_broken(void **state) {
  (void)state;
  struct tk_file good = tk_pem(&ca);
  FILE *f = fopen(good.path, "a");
  fputs("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", f);
  fclose(f);
  assert_refused(good.path, "damaged", 0);
  tk_drop_file(&good);
}

static void too_large(void **state) {
  (void)state;
  struct tk_file f = tk_file("", 0);
  assert_int_equal(truncate(f.path, (16 << 20) + 1), 0);
  assert_refused(f.path, "too large", 0);
  assert_int_equal(truncate(f.path, (16 << 20) - 1), 0);
  assert_refused(f.path, "no certificate", 0);
  tk_drop_file(&f);
}

/* A world without a disk says so. */
static int no_files_open(void *ctx, const char *path, unsigned flags, qwp_file *out) {
  (void)ctx;
  (void)path;
  (void)flags;
  *out = -1;
  return -ENOSYS;
}

static void no_files(void **state) {
  (void)state;
  static const struct qwp_file_ops none = {.open = no_files_open};
  struct tk k;
  tk_init(&k, &ca);
  k.ops.file = NULL;
  assert_non_null(strstr(refused_with(&k.ops, "/r").text, "this world has no files"));
  k.ops.file = &none;
  assert_non_null(strstr(refused_with(&k.ops, "/r").text, "this world has no files"));
  tk_free(&k);
}

static size_t open_descriptors(void) {
  size_t n = 0;
  DIR *d = opendir("/proc/self/fd");
  if (!d) return 0;
  while (readdir(d)) n++;
  closedir(d);
  return n;
}

/* The application's entries in OpenSSL's queue are its own, before and after; files are closed. */
static void nothing_is_left_behind(void **state) {
  (void)state;
  struct tk_file good = tk_pem(&ca), bad = tk_file("x", 1);
  struct tk k;
  tk_init(&k, &ca);
  ERR_clear_error();
  ERR_raise(ERR_LIB_X509, X509_R_INVALID_TRUST);
  unsigned long theirs = ERR_peek_error();
  size_t descriptors = open_descriptors();
  const struct qwp_tls_options o = {.verify = true, .roots = good.path};
  struct qwp_tls *tls = qwp_tls_new(&o, &k.ops, NULL);
  assert_non_null(tls);
  qwp_tls_del(tls);
  refused_with(&k.ops, bad.path);
  assert_int_equal(open_descriptors(), descriptors);
  assert_true(ERR_get_error() == theirs);
  assert_true(ERR_get_error() == 0);
  tk_free(&k);
  tk_drop_file(&good);
  tk_drop_file(&bad);
}

static void each_allocation_fails_once(void **state) {
  (void)state;
  struct tk_file good = tk_pem(&ca);
  struct tk k;
  tk_init(&k, &ca);
  const struct qwp_tls_options o = {.verify = true, .roots = good.path};
  uint64_t before = k.mem.calls;
  struct qwp_tls *tls = qwp_tls_new(&o, &k.ops, NULL);
  assert_non_null(tls);
  uint64_t calls = k.mem.calls - before;
  qwp_tls_del(tls);
  assert_int_equal(calls, 3); /* the table; the file's bytes, which grow once to meet its end */
  for (uint64_t n = 1; n <= calls; n++) {
    struct qwp_error err;
    k.mem.fail_at = k.mem.calls + n;
    assert_null(qwp_tls_new(&o, &k.ops, &err));
    assert_int_equal(err.code, QWP_NOMEM);
    assert_int_equal(k.mem.live, 0);
  }
  qwp_tls_del(NULL);
  tk_free(&k);
  tk_drop_file(&good);
}

static int make_ca(void **state) {
  (void)state;
  ca = tk_issue(NULL, &(struct tk_claim){.is_ca = true});
  return 0;
}

static int drop_ca(void **state) {
  (void)state;
  tk_forget(&ca);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_named_pipe),
      cmocka_unit_test(each_allocation_fails_once), cmocka_unit_test(no_files),
      cmocka_unit_test(not_a_file),                 cmocka_unit_test(not_certificates),
      cmocka_unit_test(nothing_is_left_behind),     cmocka_unit_test(one_good_one_broken),
      cmocka_unit_test(too_large),
  };
  return cmocka_run_group_tests(tests, make_ca, drop_ca);
}
