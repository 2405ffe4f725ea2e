#include "tls/trust.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/errno_text.h"

#define KEY "tls_roots"
#define ROOTS_MAX_BYTES (16u * 1024u * 1024u) /* the store of a whole system has a quarter of a megabyte */
#define READ_BYTES 65536u

static enum qwp_status refuse(struct qwp_error *err, const char *path, const char *why) {
  qwp_fail(err, QWP_CONFIG, "%s=%.400s: %s", KEY, path, why);
  if (err) snprintf(err->key, sizeof err->key, "%s", KEY);
  return QWP_CONFIG;
}

static enum qwp_status no_memory(struct qwp_error *err) {
  return qwp_fail(err, QWP_NOMEM, "out of memory for the trusted certificates");
}

/* ---- the file ---------------------------------------------------------------------------- */

static enum qwp_status unreadable(struct qwp_error *err, const char *path, ssize_t r) {
  char text[QWP_ERRNO_TEXT_BYTES];
  refuse(err, path, qwp_errno_text((int)-r, text, sizeof text));
  if (err) err->sys_errno = (int)-r;
  return QWP_CONFIG;
}

/* Reads to the end, whatever kind of file it is. */
static enum qwp_status read_all(const struct qwp_ops *ops, qwp_file file, const char *path, struct qwp_bytes *out,
                                struct qwp_error *err) {
  for (;;) {
    if (out->len == ROOTS_MAX_BYTES) return refuse(err, path, "the file is too large, 16 MiB at most");
    size_t room = ROOTS_MAX_BYTES - out->len < READ_BYTES ? ROOTS_MAX_BYTES - out->len : READ_BYTES;
    if (qwp_bytes_reserve(out, room) != QWP_OK) return no_memory(err);
    ssize_t r = ops->file->read(ops->file_ctx, file, out->data + out->len, room, (int64_t)out->len);
    if (r == -EINTR) continue;
    if (r < 0) return unreadable(err, path, r);
    if (r == 0) return QWP_OK;
    out->len += (size_t)r;
  }
}

static enum qwp_status read_file(const struct qwp_ops *ops, const char *path, struct qwp_bytes *out,
                                 struct qwp_error *err) {
  if (!ops->file) return refuse(err, path, "this world has no files");
  qwp_file file;
  int r = ops->file->open(ops->file_ctx, path, QWP_FILE_READ, &file);
  if (r == -ENOSYS) return refuse(err, path, "this world has no files");
  if (r != 0) return unreadable(err, path, r);
  enum qwp_status st = read_all(ops, file, path, out, err);
  ops->file->close(ops->file_ctx, file);
  return st;
}

/* ---- the certificates in it ----------------------------------------------------------------- */

/* What ended the certificates: the end of the file, or a fault in it. */
static enum qwp_status judge_end(const char *path, int count, struct qwp_error *err) {
  unsigned long e = ERR_peek_last_error();
  bool at_end = ERR_GET_LIB(e) == ERR_LIB_PEM && ERR_GET_REASON(e) == PEM_R_NO_START_LINE;
  if (ERR_GET_REASON(e) == ERR_R_MALLOC_FAILURE) return no_memory(err);
  if (!at_end) return refuse(err, path, "a certificate in it is damaged");
  if (count > 0) return QWP_OK;
  return refuse(err, path, "it holds no certificate in PEM form; turn PKCS#12 into PEM with \"openssl pkcs12 "
                           "-nokeys\", JKS with \"keytool -exportcert -rfc\"");
}

static enum qwp_status add_certificates(X509_STORE *store, BIO *bio, const char *path, struct qwp_error *err) {
  for (int count = 0;; count++) {
    X509 *certificate = PEM_read_bio_X509_AUX(bio, NULL, NULL, NULL);
    if (!certificate) return judge_end(path, count, err);
    int added = X509_STORE_add_cert(store, certificate); /* one that is there already is fine */
    X509_free(certificate);
    if (!added) return no_memory(err);
  }
}

static enum qwp_status add_file(X509_STORE *store, const char *path, const struct qwp_ops *ops,
                                struct qwp_error *err) {
  struct qwp_bytes pem;
  qwp_bytes_init(&pem, ops, ROOTS_MAX_BYTES);
  enum qwp_status st = read_file(ops, path, &pem, err);
  if (st == QWP_OK && pem.len == 0) st = refuse(err, path, "the file is empty");
  if (st == QWP_OK) {
    static_assert(ROOTS_MAX_BYTES <= INT_MAX, "BIO_new_mem_buf takes an int");
    BIO *bio = BIO_new_mem_buf(pem.data, (int)pem.len);
    st = bio ? add_certificates(store, bio, path, err) : no_memory(err);
    BIO_free(bio);
  }
  qwp_bytes_free(&pem);
  return st;
}

/* ---- the context ------------------------------------------------------------------------------ */

static enum qwp_status set_up(SSL_CTX *ctx, const struct qwp_tls_options *o, const struct qwp_ops *ops,
                              struct qwp_error *err) {
  if (!SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION)) return no_memory(err);
  SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  /* A send that is made again has the same bytes, but the buffer they lie in may have moved. */
  SSL_CTX_set_mode(ctx, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(ctx, o->verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
  if (!o->verify) return QWP_OK;
  if (!o->roots) return SSL_CTX_set_default_verify_paths(ctx) ? QWP_OK : no_memory(err);
  X509_STORE *store = SSL_CTX_get_cert_store(ctx);
  /* Whatever stands in the file is trusted, also a certificate that another one has issued. */
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  return add_file(store, o->roots, ops, err);
}

SSL_CTX *qwp_trust_new(const struct qwp_tls_options *o, const struct qwp_ops *ops, struct qwp_error *err) {
  ERR_set_mark();
  SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
  enum qwp_status st = ctx ? set_up(ctx, o, ops, err) : no_memory(err);
  ERR_pop_to_mark();
  if (st == QWP_OK) return ctx;
  SSL_CTX_free(ctx);
  return NULL;
}
