/* tls_kit.h - a TLS server in memory, below a client's net table, and certificates made at start.
 *
 *   struct tk k;
 *   tk_init(&k, &identity);           // identity: tk_issue()
 *   k.ops                             // the tables below: lay qwp_tls over them
 *   tk_serve(&k, 0)                   // the server of connection 0 does what it can
 *
 * The network is two byte queues a connection. What a client's call may do is told by the fields
 * of struct tk: how many bytes a send or recv moves, whether a would-block comes between two of
 * them, how much fits before the socket is full, and after how many bytes the stream is cut. A
 * wait lets the server run and answers what is ready; with nothing ready it moves the clock, and
 * a wait for ever in which nothing can happen any more fails the test. OpenSSL is the judge: the
 * server end is its own.
 */
#ifndef TESTLIB_TLS_KIT_H
#define TESTLIB_TLS_KIT_H

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fail_mem.h"
#include "qwp/ops.h"
#include "tls/tls.h"

#define TK_CONNS 8
#define TK_SOCK 100 /* handle of connection 0 */
#define TK_WAITS 32768
#define TK_NOW_S INT64_C(1800000000) /* the kit's wall clock; certificates are made around it */
#define TK_DAY_S INT64_C(86400)

/* ---- certificates ------------------------------------------------------------------------ */

struct tk_identity {
  EVP_PKEY *key;
  X509 *cert;
};

/* What a certificate says. */
struct tk_claim {
  const char *names;            /* subjectAltName, for example "DNS:db,IP:127.0.0.1"; NULL = none */
  bool is_ca;
  int64_t from_days, till_days; /* from TK_NOW_S; both 0 = -1, 30 */
  const char *common_name;      /* NULL = "kit" */
};

static inline void tk_extension(X509 *cert, X509 *issuer, int nid, const char *value) {
  X509V3_CTX ctx;
  X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
  X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
  assert_non_null(ext);
  assert_int_equal(X509_add_ext(cert, ext, -1), 1);
  X509_EXTENSION_free(ext);
}

/* issuer NULL = self-signed. */
static inline struct tk_identity tk_issue(const struct tk_identity *issuer, const struct tk_claim *claim) {
  static long serial = 1;
  struct tk_identity me = {.key = EVP_EC_gen("P-256"), .cert = X509_new()};
  assert_non_null(me.key);
  assert_non_null(me.cert);
  bool usual = claim->from_days == 0 && claim->till_days == 0;
  X509_set_version(me.cert, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(me.cert), serial++);
  ASN1_TIME_set(X509_getm_notBefore(me.cert), TK_NOW_S + TK_DAY_S * (usual ? -1 : claim->from_days));
  ASN1_TIME_set(X509_getm_notAfter(me.cert), TK_NOW_S + TK_DAY_S * (usual ? 30 : claim->till_days));
  X509_NAME *name = X509_get_subject_name(me.cert);
  char number[16];
  snprintf(number, sizeof number, "%ld", serial); /* no two subjects alike, or chains would mix them up */
  X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC, (const unsigned char *)number, -1, -1, 0);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             (const unsigned char *)(claim->common_name ? claim->common_name : "kit"), -1, -1, 0);
  X509 *from = issuer ? issuer->cert : me.cert;
  X509_set_issuer_name(me.cert, X509_get_subject_name(from));
  X509_set_pubkey(me.cert, me.key);
  tk_extension(me.cert, from, NID_basic_constraints, claim->is_ca ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (claim->names) tk_extension(me.cert, from, NID_subject_alt_name, claim->names);
  assert_true(X509_sign(me.cert, issuer ? issuer->key : me.key, EVP_sha256()) > 0);
  return me;
}

static inline void tk_forget(struct tk_identity *i) {
  EVP_PKEY_free(i->key);
  X509_free(i->cert);
  *i = (struct tk_identity){.key = NULL};
}

/* A file of its own that holds `text`; tk_drop_file removes it. */
struct tk_file {
  char path[64];
};

static inline struct tk_file tk_file(const void *text, size_t n) {
  struct tk_file f = {.path = "/tmp/qwp-tls-kit-XXXXXX"};
  int fd = mkstemp(f.path);
  assert_true(fd >= 0);
  FILE *out = fdopen(fd, "w");
  assert_non_null(out);
  assert_int_equal(fwrite(text, 1, n, out), n);
  assert_int_equal(fclose(out), 0);
  return f;
}

static inline struct tk_file tk_pem(const struct tk_identity *i) {
  BIO *bio = BIO_new(BIO_s_mem());
  assert_int_equal(PEM_write_bio_X509(bio, i->cert), 1);
  char *text;
  long n = BIO_get_mem_data(bio, &text);
  struct tk_file f = tk_file(text, (size_t)n);
  BIO_free(bio);
  return f;
}

static inline void tk_drop_file(const struct tk_file *f) { assert_int_equal(remove(f->path), 0); }

/* ---- the network ---------------------------------------------------------------------------- */

struct tk_bytes {
  uint8_t *p;
  size_t n, at, cap; /* at: consumed */
};

static inline void tk_put(struct tk_bytes *b, const void *p, size_t n) {
  if (b->n + n > b->cap || !b->p) {
    b->cap = 2 * (b->n + n) + 64;
    b->p = realloc(b->p, b->cap);
  }
  if (!b->p) abort();
  if (n) memcpy(b->p + b->n, p, n);
  b->n += n;
}

struct tk_conn {
  bool open, finished; /* the handle; the server's handshake */
  SSL *ssl;            /* the server's end */
  struct tk_bytes to_server, to_client, plain; /* plain: what the server decrypted */
  bool client_fin, server_fin, reset;
  bool close_notify;   /* of the client's, seen by the server */
  char sni[256];       /* "" = none came */
  long server_error;   /* first entry of OpenSSL's queue when the server failed, 0 = it did not */
  bool was_opened;     /* opened() came through */
};

struct tk {
  struct qwp_ops ops;
  struct fail_mem mem;
  SSL_CTX *server;
  int64_t now_ns;
  struct tk_conn conns[TK_CONNS];
  int count;

  /* how the network behaves */
  size_t send_max, recv_max;  /* bytes of one call; 0 = all */
  bool block_sends, block_recvs; /* a would-block before each call that moves bytes */
  size_t socket_bytes;        /* what fits on the way to the server; 0 = all */
  int send_result;            /* < 0: every send fails with it */
  bool server_stopped;        /* it neither reads nor answers */
  bool in_progress;           /* connect gives -EINPROGRESS */
  size_t cut_out, cut_in;     /* SIZE_MAX = never; else the stream ends behind that many bytes */
  bool cut_is_reset;

  /* what the client did */
  bool blocked_send, blocked_recv; /* the would-block was given */
  size_t sends, recvs, pushes;     /* calls below; pushes: sends that took bytes */
  unsigned waits[TK_WAITS];        /* interest of each wait */
  size_t wait_count;
  bool woken;
};

static inline struct tk_conn *tk_of(struct tk *k, qwp_sock sock) {
  assert_in_range(sock, TK_SOCK, TK_SOCK + k->count - 1);
  struct tk_conn *c = &k->conns[sock - TK_SOCK];
  assert_true(c->open);
  return c;
}

/* ---- the server --------------------------------------------------------------------------------- */

static inline void tk_flush_server(struct tk_conn *c) {
  char *p;
  long n = BIO_get_mem_data(SSL_get_wbio(c->ssl), &p);
  if (n > 0) tk_put(&c->to_client, p, (size_t)n);
  (void)BIO_reset(SSL_get_wbio(c->ssl));
}

static inline void tk_serve(struct tk *k, int conn) {
  struct tk_conn *c = &k->conns[conn];
  if (k->server_stopped || c->server_error || c->reset) return;
  if (c->to_server.at < c->to_server.n) {
    BIO_write(SSL_get_rbio(c->ssl), c->to_server.p + c->to_server.at, (int)(c->to_server.n - c->to_server.at));
    c->to_server.at = c->to_server.n;
  }
  ERR_clear_error();
  for (;;) {
    uint8_t buf[16384];
    int r = c->finished ? SSL_read(c->ssl, buf, sizeof buf) : SSL_accept(c->ssl);
    if (r > 0 && !c->finished) {
      c->finished = true;
      const char *sni = SSL_get_servername(c->ssl, TLSEXT_NAMETYPE_host_name);
      snprintf(c->sni, sizeof c->sni, "%s", sni ? sni : "");
      continue;
    }
    if (r > 0) {
      tk_put(&c->plain, buf, (size_t)r);
      continue;
    }
    int why = SSL_get_error(c->ssl, r);
    if (why == SSL_ERROR_ZERO_RETURN) c->close_notify = true;
    else if (why != SSL_ERROR_WANT_READ) c->server_error = (long)ERR_peek_error();
    break;
  }
  ERR_clear_error();
  tk_flush_server(c);
}

static inline void tk_say(struct tk *k, int conn, const void *p, size_t n) { /* one record up to 16 KiB */
  struct tk_conn *c = &k->conns[conn];
  assert_int_equal(SSL_write(c->ssl, p, (int)n), (int)n);
  tk_flush_server(c);
}

static inline void tk_ask_key_update(struct tk *k, int conn) {
  struct tk_conn *c = &k->conns[conn];
  assert_int_equal(SSL_key_update(c->ssl, SSL_KEY_UPDATE_REQUESTED), 1);
  assert_int_equal(SSL_do_handshake(c->ssl), 1);
  tk_flush_server(c);
}

static inline void tk_server_closes(struct tk *k, int conn, bool close_notify) {
  struct tk_conn *c = &k->conns[conn];
  if (close_notify) SSL_shutdown(c->ssl);
  tk_flush_server(c);
  c->server_fin = true;
}

/* ---- the table below ------------------------------------------------------------------------------ */

static inline int tk_resolve(void *ctx, const char *host, int port, struct qwp_addr *out, int max) {
  (void)ctx;
  (void)host;
  (void)max;
  memcpy(out->bytes, &port, sizeof port);
  out->len = sizeof port;
  out->host = NULL;
  return 1;
}

static inline int tk_connect(void *ctx, const struct qwp_addr *addr, qwp_sock *out) {
  struct tk *k = ctx;
  (void)addr;
  assert_true(k->count < TK_CONNS);
  struct tk_conn *c = &k->conns[k->count];
  *c = (struct tk_conn){.open = true, .ssl = SSL_new(k->server)};
  SSL_set_bio(c->ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  BIO_set_mem_eof_return(SSL_get_rbio(c->ssl), -1);
  SSL_set_accept_state(c->ssl);
  *out = TK_SOCK + k->count++;
  return k->in_progress ? -EINPROGRESS : 0;
}

static inline int tk_connected(void *ctx, qwp_sock sock) {
  tk_of(ctx, sock);
  return 0;
}

/* true: this call gets a would-block first. */
static inline bool tk_blocks(bool wanted, bool *given) {
  *given = wanted && !*given;
  return *given;
}

static inline size_t tk_least(size_t a, size_t b) { return a < b ? a : b; }

static inline ssize_t tk_send(void *ctx, qwp_sock sock, const void *buf, size_t n) {
  struct tk *k = ctx;
  struct tk_conn *c = tk_of(k, sock);
  k->sends++;
  assert_false(c->client_fin); /* nothing behind a FIN */
  if (k->send_result < 0) return k->send_result;
  if (c->to_server.n >= k->cut_out) {
    if (k->cut_is_reset) c->reset = true;
    else c->server_fin = true; /* a peer that went away reads no more: its FIN is here, the bytes go nowhere */
    if (c->reset) return -ECONNRESET;
    return (ssize_t)n;
  }
  if (c->reset) return -EPIPE;
  if (tk_blocks(k->block_sends, &k->blocked_send)) return -EAGAIN;
  size_t take = k->send_max ? tk_least(n, k->send_max) : n;
  take = tk_least(take, k->cut_out - c->to_server.n);
  size_t under_way = c->to_server.n - c->to_server.at;
  if (k->socket_bytes) take = tk_least(take, k->socket_bytes > under_way ? k->socket_bytes - under_way : 0);
  if (take == 0) return -EAGAIN;
  tk_put(&c->to_server, buf, take);
  k->pushes++;
  return (ssize_t)take;
}

static inline ssize_t tk_recv(void *ctx, qwp_sock sock, void *buf, size_t n) {
  struct tk *k = ctx;
  struct tk_conn *c = tk_of(k, sock);
  k->recvs++;
  size_t left = tk_least(c->to_client.n, k->cut_in) - c->to_client.at;
  if (left == 0 && (c->reset || (c->to_client.at >= k->cut_in && k->cut_is_reset))) return -ECONNRESET;
  if (left == 0) return c->server_fin || c->to_client.at >= k->cut_in ? 0 : -EAGAIN;
  if (tk_blocks(k->block_recvs, &k->blocked_recv)) return -EAGAIN;
  size_t take = tk_least(left, n);
  if (k->recv_max) take = tk_least(take, k->recv_max);
  memcpy(buf, c->to_client.p + c->to_client.at, take);
  c->to_client.at += take;
  return (ssize_t)take;
}

static inline int tk_shutdown(void *ctx, qwp_sock sock) {
  tk_of(ctx, sock)->client_fin = true;
  return 0;
}

static inline void tk_close(void *ctx, qwp_sock sock) { tk_of(ctx, sock)->open = false; }

static inline unsigned tk_ready(const struct tk *k, const struct tk_conn *c, unsigned interest) {
  unsigned ready = 0;
  bool end_in = c->server_fin || c->reset || c->to_client.at >= k->cut_in;
  bool full = k->socket_bytes && c->to_server.n - c->to_server.at >= k->socket_bytes;
  if (c->to_client.at < tk_least(c->to_client.n, k->cut_in) || end_in) ready |= QWP_READABLE;
  if (!full || c->reset || c->to_server.n >= k->cut_out) ready |= QWP_WRITABLE;
  return ready & interest;
}

static inline int tk_wait(void *ctx, qwp_sock sock, unsigned interest, int64_t timeout_ns) {
  struct tk *k = ctx;
  struct tk_conn *c = tk_of(k, sock);
  assert_true(k->wait_count < TK_WAITS); /* a busy loop */
  k->waits[k->wait_count++] = interest;
  unsigned ready = tk_ready(k, c, interest);
  if (!ready) {
    tk_serve(k, sock - TK_SOCK);
    ready = tk_ready(k, c, interest);
  }
  if (k->woken) ready |= QWP_WOKEN;
  k->woken = false;
  if (ready) return (int)ready;
  assert_true(timeout_ns != QWP_NEVER); /* nothing can happen any more: a hang */
  k->now_ns += timeout_ns;
  return 0;
}

static inline void tk_wake(void *ctx) { ((struct tk *)ctx)->woken = true; }

static inline enum qwp_status tk_explain(void *ctx, qwp_sock sock, char *text, size_t n) {
  tk_of(ctx, sock);
  snprintf(text, n, "as told below");
  return QWP_CONN_TIMEOUT; /* a status that the layer above has none of */
}

static inline void tk_opened(void *ctx, qwp_sock sock) { tk_of(ctx, sock)->was_opened = true; }

static inline int64_t tk_now(void *ctx) { return ((struct tk *)ctx)->now_ns; }
static inline int64_t tk_wall(void *ctx) { return TK_NOW_S * INT64_C(1000000000) + ((struct tk *)ctx)->now_ns; }

/* ---- life ---------------------------------------------------------------------------------------------- */

/* chain: a certificate that the server sends behind its own, or NULL. */
static inline void tk_init_chain(struct tk *k, const struct tk_identity *i, const struct tk_identity *chain) {
  static const struct qwp_net_ops net = {.resolve = tk_resolve, .connect = tk_connect, .connected = tk_connected,
                                         .send = tk_send, .recv = tk_recv, .shutdown = tk_shutdown,
                                         .close = tk_close, .wait = tk_wait, .wake = tk_wake};
  static const struct qwp_clock_ops clock = {.now_ns = tk_now, .wall_ns = tk_wall};
  struct qwp_ops posix;
  assert_int_equal(qwp_ops_posix_init(&posix), 0);
  memset(k, 0, sizeof *k);
  k->ops = fail_mem_ops(&k->mem);
  k->ops.file = posix.file;
  qwp_ops_posix_free(&posix);
  k->ops.net = &net;
  k->ops.net_ctx = k;
  k->ops.clock = &clock;
  k->ops.clock_ctx = k;
  k->cut_out = k->cut_in = SIZE_MAX;
  k->server = SSL_CTX_new(TLS_server_method());
  assert_int_equal(SSL_CTX_use_certificate(k->server, i->cert), 1);
  assert_int_equal(SSL_CTX_use_PrivateKey(k->server, i->key), 1);
  if (chain) assert_int_equal(SSL_CTX_add1_chain_cert(k->server, chain->cert), 1);
  else SSL_CTX_set_mode(k->server, SSL_MODE_NO_AUTO_CHAIN);
}

static inline void tk_init(struct tk *k, const struct tk_identity *i) { tk_init_chain(k, i, NULL); }

/* All connections were closed: the next one is number 0 again. */
static inline void tk_forget_conns(struct tk *k) {
  for (int i = 0; i < k->count; i++) {
    struct tk_conn *c = &k->conns[i];
    assert_false(c->open);
    SSL_free(c->ssl);
    free(c->to_server.p);
    free(c->to_client.p);
    free(c->plain.p);
  }
  k->count = 0;
  k->wait_count = 0;
}

static inline void tk_free(struct tk *k) {
  tk_forget_conns(k);
  SSL_CTX_free(k->server);
  assert_int_equal(k->mem.live, 0);
}

/* ---- a client's calls -------------------------------------------------------------------------------------- */

/* A client of the table under test. */
struct tk_client {
  struct tk *k;
  struct qwp_tls *tls;
  struct qwp_ops ops; /* the tables on top */
  qwp_sock sock;
};

static inline struct tk_client tk_client(struct tk *k, const struct qwp_tls_options *o) {
  struct tk_client c = {.k = k, .sock = -1};
  struct qwp_error err;
  c.tls = qwp_tls_new(o, &k->ops, &err);
  if (!c.tls) fail_msg("%s", err.text);
  qwp_tls_ops(c.tls, &c.ops);
  return c;
}

static inline void tk_dial(struct tk_client *c, const char *host) {
  struct qwp_addr addr;
  assert_int_equal(c->ops.net->resolve(c->ops.net_ctx, host, 9000, &addr, 1), 1);
  assert_int_equal(c->ops.net->connect(c->ops.net_ctx, &addr, &c->sock), 0);
}

static inline void tk_hang_up(struct tk_client *c) {
  if (c->sock >= 0) c->ops.net->close(c->ops.net_ctx, c->sock);
  c->sock = -1;
}

static inline void tk_client_free(struct tk_client *c) {
  tk_hang_up(c);
  qwp_tls_del(c->tls);
}

static inline bool tk_lives_on(ssize_t r) { return r == -EAGAIN || r == -EINTR || r == -ENOBUFS || r == -ENOMEM; }

static inline int tk_client_wait(struct tk_client *c, unsigned interest, int64_t timeout_ns) {
  return c->ops.net->wait(c->ops.net_ctx, c->sock, interest, timeout_ns);
}

/* Sends all of it as a caller should: the same bytes again until they are taken. 0 or -errno. */
static inline int tk_send_all(struct tk_client *c, const void *buf, size_t n) {
  for (size_t at = 0; at < n;) {
    ssize_t r = c->ops.net->send(c->ops.net_ctx, c->sock, (const uint8_t *)buf + at, n - at);
    if (r > 0) at += (size_t)r;
    else if (!tk_lives_on(r)) return (int)r;
    else assert_true(tk_client_wait(c, QWP_WRITABLE, QWP_NEVER) > 0);
  }
  return 0;
}

/* Receives until n bytes are there. Bytes, fewer at the end of the stream, or -errno. */
static inline ssize_t tk_recv_all(struct tk_client *c, void *buf, size_t n, size_t piece) {
  size_t at = 0;
  while (at < n) {
    ssize_t r = c->ops.net->recv(c->ops.net_ctx, c->sock, (uint8_t *)buf + at, tk_least(piece, n - at));
    if (r == 0) return (ssize_t)at;
    if (r > 0) at += (size_t)r;
    else if (!tk_lives_on(r)) return r;
    else assert_true(tk_client_wait(c, QWP_READABLE, QWP_NEVER) > 0);
  }
  return (ssize_t)at;
}

static inline enum qwp_status tk_explained(struct tk_client *c, char *text, size_t n) {
  text[0] = '\0';
  return c->ops.net->explain(c->ops.net_ctx, c->sock, text, n);
}

#endif
