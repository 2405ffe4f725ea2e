#define _GNU_SOURCE /* mkstemps */
#include "tls/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DAY_S = 24 * 3600, LIFE_DAYS = 30 };

/* A wildcard needs two labels behind its star, so the names of tests are listed. */
#define GOOD_NAMES "IP:127.0.0.1,IP:::1,DNS:localhost,DNS:a.test,DNS:b.test,DNS:c.test,DNS:d.test"

struct signer {
  X509 *certificate;
  EVP_PKEY *key;
};

struct mock_identity {
  struct signer ca, intermediate;
  EVP_PKEY *leaf_key;
  SSL_CTX *contexts[MOCK_CERTS];
};

/* What differs from one certificate to another. */
struct wish {
  const char *name;         /* common name */
  const char *alternatives; /* subject alternative names, NULL = an authority */
  long begins_s, ends_s;    /* from now */
};

/* ---- one certificate ---------------------------------------------------------------- */

static bool add_extension(X509 *x, const X509 *issuer, int nid, const char *value) {
  X509V3_CTX ctx;
  X509V3_set_ctx_nodb(&ctx);
  X509V3_set_ctx(&ctx, (X509 *)issuer, x, NULL, NULL, 0);
  X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
  const bool good = e && X509_add_ext(x, e, -1) == 1;
  X509_EXTENSION_free(e);
  return good;
}

static bool set_serial(X509 *x) {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
  bytes[0] &= 0x7f; /* positive */
  BIGNUM *n = BN_bin2bn(bytes, sizeof bytes, NULL);
  const bool good = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(x));
  BN_free(n);
  return good;
}

static bool add_extensions(X509 *x, const X509 *issuer, const struct wish *w) {
  if (!w->alternatives)
    return add_extension(x, issuer, NID_basic_constraints, "critical,CA:TRUE") &&
           add_extension(x, issuer, NID_key_usage, "critical,keyCertSign,cRLSign") &&
           add_extension(x, issuer, NID_subject_key_identifier, "hash");
  return add_extension(x, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
         add_extension(x, issuer, NID_key_usage, "critical,digitalSignature") &&
         add_extension(x, issuer, NID_ext_key_usage, "serverAuth") &&
         add_extension(x, issuer, NID_subject_alt_name, w->alternatives);
}

/* `by` signs; itself if NULL. */
static X509 *make(const struct wish *w, EVP_PKEY *key, const struct signer *by) {
  X509 *x = X509_new();
  if (!x) return NULL;
  const X509 *issuer = by ? by->certificate : x;
  X509_NAME *name = X509_get_subject_name(x);
  const bool good = X509_set_version(x, X509_VERSION_3) && set_serial(x) &&
                    X509_gmtime_adj(X509_getm_notBefore(x), w->begins_s) &&
                    X509_gmtime_adj(X509_getm_notAfter(x), w->ends_s) &&
                    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)w->name, -1, -1, 0) &&
                    X509_set_issuer_name(x, X509_get_subject_name(issuer)) && X509_set_pubkey(x, key) &&
                    add_extensions(x, issuer, w) && X509_sign(x, by ? by->key : key, EVP_sha256()) > 0;
  if (good) return x;
  X509_free(x);
  return NULL;
}

static bool make_signer(struct signer *s, const char *name, const struct signer *by) {
  const struct wish w = {.name = name, .begins_s = -DAY_S, .ends_s = (long)LIFE_DAYS * DAY_S};
  s->key = EVP_EC_gen("P-256");
  s->certificate = s->key ? make(&w, s->key, by) : NULL;
  return s->certificate != NULL;
}

static void free_signer(struct signer *s) {
  X509_free(s->certificate);
  EVP_PKEY_free(s->key);
}

/* ---- the five that are shown ----------------------------------------------------------- */

/* The client sees its own session, never another's: nothing is kept on this side, and a ticket resumes nothing but
 * what it says. */
static bool settle(SSL_CTX *ctx) {
  static const unsigned char purpose[] = "qwp-mock";
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) &&
         SSL_CTX_set_session_id_context(ctx, purpose, sizeof purpose);
}

static SSL_CTX *make_context(const struct mock_identity *id, enum mock_certificate kind) {
  static const struct wish wishes[MOCK_CERTS] = {
      [MOCK_CERT_GOOD] = {"qwp-mock", GOOD_NAMES, -DAY_S, (long)LIFE_DAYS * DAY_S},
      [MOCK_CERT_OTHER_NAME] = {"other.invalid", "DNS:other.invalid", -DAY_S, (long)LIFE_DAYS * DAY_S},
      [MOCK_CERT_EXPIRED] = {"qwp-mock", GOOD_NAMES, -3 * DAY_S, -DAY_S},
      [MOCK_CERT_SELF_SIGNED] = {"qwp-mock", GOOD_NAMES, -DAY_S, (long)LIFE_DAYS * DAY_S},
      [MOCK_CERT_NO_INTERMEDIATE] = {"qwp-mock", GOOD_NAMES, -DAY_S, (long)LIFE_DAYS * DAY_S},
  };
  const bool by_itself = kind == MOCK_CERT_SELF_SIGNED, alone = by_itself || kind == MOCK_CERT_NO_INTERMEDIATE;
  X509 *leaf = make(&wishes[kind], id->leaf_key, by_itself ? NULL : &id->intermediate);
  SSL_CTX *ctx = leaf ? SSL_CTX_new(TLS_server_method()) : NULL;
  const bool good = ctx && settle(ctx) && SSL_CTX_use_certificate(ctx, leaf) == 1 &&
                    SSL_CTX_use_PrivateKey(ctx, id->leaf_key) == 1 &&
                    (alone || SSL_CTX_add1_chain_cert(ctx, id->intermediate.certificate) == 1);
  /* Else OpenSSL would look for the missing link itself. */
  if (good) SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
  X509_free(leaf);
  if (good) return ctx;
  SSL_CTX_free(ctx);
  return NULL;
}

struct mock_identity *mock_identity_new(void) {
  struct mock_identity *id = calloc(1, sizeof *id);
  if (!id) return NULL;
  bool good = make_signer(&id->ca, "qwp-mock test CA", NULL) &&
              make_signer(&id->intermediate, "qwp-mock intermediate", &id->ca) && (id->leaf_key = EVP_EC_gen("P-256"));
  for (int kind = 0; good && kind < MOCK_CERTS; kind++)
    good = (id->contexts[kind] = make_context(id, (enum mock_certificate)kind)) != NULL;
  ERR_clear_error();
  if (good) return id;
  mock_identity_del(id);
  return NULL;
}

void mock_identity_del(struct mock_identity *id) {
  if (!id) return;
  for (int kind = 0; kind < MOCK_CERTS; kind++) SSL_CTX_free(id->contexts[kind]);
  EVP_PKEY_free(id->leaf_key);
  free_signer(&id->intermediate);
  free_signer(&id->ca);
  free(id);
}

SSL_CTX *mock_identity_context(const struct mock_identity *id, enum mock_certificate kind) {
  return id->contexts[kind];
}

/* ---- the CA as a file -------------------------------------------------------------------- */

static bool write_pem(const struct mock_identity *id, int fd) {
  FILE *f = fdopen(fd, "w");
  if (!f) {
    close(fd);
    return false;
  }
  errno = EIO;
  const bool written = PEM_write_X509(f, id->ca.certificate) == 1;
  return fclose(f) == 0 && written;
}

bool mock_identity_write_ca(const struct mock_identity *id, const char *path) {
  /* A pipe that nobody reads is refused: to wait for its reader nobody asked. */
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0600);
  return fd >= 0 && write_pem(id, fd);
}

bool mock_identity_temporary_ca(const struct mock_identity *id, char *path, size_t n) {
  static const char suffix[] = ".pem";
  const char *folder = getenv("TMPDIR");
  const int len = snprintf(path, n, "%s/qwp-ca-XXXXXX%s", folder && *folder ? folder : "/tmp", suffix);
  if (len < 0 || (size_t)len >= n) {
    errno = ENAMETOOLONG;
    return false;
  }
  int fd = mkstemps(path, sizeof suffix - 1); /* 0600 */
  if (fd < 0) return false;
  if (write_pem(id, fd)) return true;
  const int why = errno;
  unlink(path);
  errno = why;
  return false;
}
