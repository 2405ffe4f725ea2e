/* tls_forge.h - records that no TLS library would write, under the keys of a connection that stands.
 *
 *   tf_tap(ctx);                            // before the connection: its secrets are kept
 *   struct tf f;
 *   tf_begin(&f, ssl, true)                 // what the server would write from here on, ssl has shaken hands
 *   tf_seal(&f, 22, p, n, 0, record)        // one record: any type, any length, padding behind the type
 *   tf_new_keys(&f)                         // behind a KeyUpdate that was forged
 *
 * Ciphers: TLS_AES_128_GCM_SHA256, and ECDHE-*-AES128-GCM-SHA256 of TLS 1.2 (tf_tap restricts ctx to them). The end that
 * is forged has sent nothing under these keys yet, or the caller adds its records to seq; it sends nothing from here on.
 */
#ifndef TESTLIB_TLS_FORGE_H
#define TESTLIB_TLS_FORGE_H

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TF_OVERHEAD 64 /* of one record */

struct tf {
  bool old; /* TLS 1.2 */
  uint8_t secret[32], key[16], iv[12];
  uint64_t seq;
};

/* ---- secrets ------------------------------------------------------------------------------- */

/* Of the last connection whose handshake came so far: [0] the client's, [1] the server's, [2] TLS 1.2's master. */
struct tf_secrets {
  uint8_t of[3][48];
};

static struct tf_secrets tf_seen;

static inline void tf_keep(const SSL *ssl, const char *line) {
  (void)ssl;
  static const char *const labels[] = {"CLIENT_TRAFFIC_SECRET_0 ", "SERVER_TRAFFIC_SECRET_0 ", "CLIENT_RANDOM "};
  for (size_t i = 0; i < 3; i++) {
    if (strncmp(line, labels[i], strlen(labels[i])) != 0) continue;
    const char *hex = strrchr(line, ' ') + 1;
    for (size_t k = 0; k < 48 && hex[2 * k]; k++) {
      unsigned byte = 0;
      if (sscanf(hex + 2 * k, "%2x", &byte) != 1) abort();
      tf_seen.of[i][k] = (uint8_t)byte;
    }
  }
}

static inline void tf_tap(SSL_CTX *ctx) {
  if (!SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256") ||
      !SSL_CTX_set_cipher_list(ctx, "ECDHE-ECDSA-AES128-GCM-SHA256"))
    abort();
  SSL_CTX_set_keylog_callback(ctx, tf_keep);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static inline void tf_hmac(const uint8_t *key, size_t key_n, const uint8_t *p, size_t n, uint8_t out[32]) {
  if (!HMAC(EVP_sha256(), key, (int)key_n, p, n, out, NULL)) abort();
}

/* HKDF-Expand-Label with an empty context (RFC 8446, 7.1), at most one block. */
static inline void tf_expand(const uint8_t secret[32], const char *label, uint8_t *out, size_t n) {
  uint8_t info[64], block[32];
  const size_t label_n = strlen(label);
  info[0] = 0;
  info[1] = (uint8_t)n;
  info[2] = (uint8_t)(6 + label_n);
  memcpy(info + 3, "tls13 ", 6);
  memcpy(info + 9, label, label_n);
  info[9 + label_n] = 0;
  info[10 + label_n] = 1;
  tf_hmac(secret, 32, info, 11 + label_n, block);
  memcpy(out, block, n);
}

static inline void tf_keys(struct tf *f) {
  tf_expand(f->secret, "key", f->key, 16);
  tf_expand(f->secret, "iv", f->iv, 12);
  f->seq = 0;
}

static inline void tf_new_keys(struct tf *f) {
  uint8_t next[32];
  tf_expand(f->secret, "traffic upd", next, 32);
  memcpy(f->secret, next, 32);
  tf_keys(f);
}

/* The key block of TLS 1.2 (RFC 5246, 6.3 and 5): client's key, server's key, client's iv, server's iv. */
static inline void tf_old_keys(struct tf *f, const SSL *ssl, bool server) {
  static const char label[] = "key expansion";
  uint8_t seed[32 + 13 + 64], block[64];
  memcpy(seed + 32, label, 13);
  SSL_get_server_random(ssl, seed + 45, 32);
  SSL_get_client_random(ssl, seed + 77, 32);
  tf_hmac(tf_seen.of[2], 48, seed + 32, 77, seed); /* A(1) */
  tf_hmac(tf_seen.of[2], 48, seed, sizeof seed, block);
  uint8_t second[32];
  tf_hmac(tf_seen.of[2], 48, seed, 32, second); /* A(2) */
  memcpy(seed, second, 32);
  tf_hmac(tf_seen.of[2], 48, seed, sizeof seed, block + 32);
  memcpy(f->key, block + (server ? 16 : 0), 16);
  memcpy(f->iv, block + (server ? 36 : 32), 4);
  f->seq = 1; /* its Finished was the first */
}

static inline void tf_begin(struct tf *f, const SSL *ssl, bool server) {
  *f = (struct tf){.old = SSL_version(ssl) == TLS1_2_VERSION};
  if (f->old) {
    tf_old_keys(f, ssl, server);
    return;
  }
  memcpy(f->secret, tf_seen.of[server], 32);
  tf_keys(f);
}

/* ---- records ------------------------------------------------------------------------------------ */

static inline void tf_gcm(const struct tf *f, const uint8_t iv[12], const uint8_t *aad, size_t aad_n, const uint8_t *p,
                          size_t n, uint8_t *out) {
  EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
  int len = 0;
  if (!c || !EVP_EncryptInit_ex(c, EVP_aes_128_gcm(), NULL, f->key, iv) ||
      !EVP_EncryptUpdate(c, NULL, &len, aad, (int)aad_n) || (n && !EVP_EncryptUpdate(c, out, &len, p, (int)n)) ||
      !EVP_EncryptFinal_ex(c, out + n, &len) || !EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, out + n))
    abort();
  EVP_CIPHER_CTX_free(c);
}

static inline void tf_big_endian(uint8_t *out, uint64_t v, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
}

static inline size_t tf_seal_old(struct tf *f, uint8_t type, const uint8_t *p, size_t n, uint8_t *out) {
  uint8_t aad[13], iv[12];
  tf_big_endian(aad, f->seq, 8);
  aad[8] = type;
  aad[9] = aad[10] = 3;
  tf_big_endian(aad + 11, n, 2);
  memcpy(iv, f->iv, 4);
  tf_big_endian(iv + 4, f->seq++, 8);
  out[0] = type;
  out[1] = out[2] = 3;
  tf_big_endian(out + 3, n + 24, 2);
  memcpy(out + 5, iv + 4, 8);
  tf_gcm(f, iv, aad, sizeof aad, p, n, out + 13);
  return n + 29;
}

/* Writes one record to out, which has room for n + padding + TF_OVERHEAD; its length. padding: TLS 1.3 only. */
static inline size_t tf_seal(struct tf *f, uint8_t type, const void *p, size_t n, size_t padding, uint8_t *out) {
  if (f->old) return tf_seal_old(f, type, p, n, out);
  uint8_t iv[12], *inner = calloc(1, n + 1 + padding);
  if (!inner) abort();
  if (n) memcpy(inner, p, n);
  inner[n] = type;
  memcpy(iv, f->iv, 12);
  for (size_t i = 0; i < 8; i++) iv[4 + i] ^= (uint8_t)(f->seq >> (56 - 8 * i));
  f->seq++;
  out[0] = 23;
  out[1] = out[2] = 3;
  tf_big_endian(out + 3, n + 17 + padding, 2);
  tf_gcm(f, iv, out, 5, inner, n + 1 + padding, out + 5);
  free(inner);
  return n + padding + 22;
}

#endif
