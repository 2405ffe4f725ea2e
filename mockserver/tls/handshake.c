/* handshake - until the first byte of plaintext (declared in internal.h). */
#include <ctype.h>
#include <openssl/err.h>
#include <stdio.h>

#include "tls/internal.h"

/* ---- who is shown ------------------------------------------------------------------------- */

static void on_info(const SSL *ssl, int where, int value) {
  struct tls_conn *c = SSL_get_app_data(ssl);
  if (where & SSL_CB_READ && where & SSL_CB_ALERT) c->alert = value;
}

/* Whatever the client shows is taken: the mock asks in order to see whether it shows anything. */
static int take_any(int good, X509_STORE_CTX *ctx) {
  (void)good;
  (void)ctx;
  return 1;
}

static bool set_up(struct tls_conn *c) {
  c->ssl = SSL_new(mock_identity_context(c->t->id, c->told.certificate));
  c->in = BIO_new(BIO_s_mem());
  c->out = BIO_new(BIO_s_mem());
  if (!c->ssl || !c->in || !c->out) {
    BIO_free(c->in);
    BIO_free(c->out);
    return false;
  }
  BIO_set_mem_eof_return(c->in, -1); /* empty is "not yet", not the end */
  SSL_set_bio(c->ssl, c->in, c->out);
  SSL_set_accept_state(c->ssl);
  SSL_set_app_data(c->ssl, c);
  SSL_set_info_callback(c->ssl, on_info);
  if (c->told.tickets_given && SSL_set_num_tickets(c->ssl, (size_t)c->told.tickets) != 1) return false;
  if (c->told.ask_certificate) SSL_set_verify(c->ssl, SSL_VERIFY_PEER, take_any);
  const int only = c->told.version == 12 ? TLS1_2_VERSION : c->told.version == 13 ? TLS1_3_VERSION : 0;
  return !only || (SSL_set_min_proto_version(c->ssl, only) && SSL_set_max_proto_version(c->ssl, only));
}

/* With the first byte, not at accept: a client that was refused has often connected anew before its refusal is read.
 * An entry that speaks of TLS has its connection from here on. */
bool tls_settle(struct tls_conn *c) {
  const struct mock_entry *e = mock_next_entry(c->t->m);
  if (e) c->told = e->tls;
  const bool good = set_up(c) && (!c->told.given || mock_conn_claim(c->core));
  ERR_clear_error();
  return good;
}

/* ---- what may go wrong ----------------------------------------------------------------------- */

static const char *sni_of(const struct tls_conn *c) {
  const char *name = c->ssl ? SSL_get_servername(c->ssl, TLSEXT_NAMETYPE_host_name) : NULL;
  return name ? name : "";
}

/* "tls unknown ca" if the client gave a reason by its alert, else `otherwise`. */
static void failure_label(const struct tls_conn *c, const char *otherwise, char *out, size_t n) {
  if (c->alert > 0) snprintf(out, n, "tls %s", SSL_alert_desc_string_long(c->alert));
  else snprintf(out, n, "%s", otherwise);
  for (char *p = out; *p; p++) *p = (char)tolower((unsigned char)*p);
}

/* The mock's connection ends here, in its handshake or on a record that is none. */
void tls_fail(struct tls_conn *c, const char *otherwise) {
  char label[48];
  failure_label(c, otherwise, label, sizeof label);
  if (!c->up) mock_conn_secured(c->core, "", sni_of(c));
  c->number = tls_number(c);
  struct mock_conn *core = c->core;
  c->core = NULL;
  mock_conn_insecure(core, label);
}

static void die(struct tls_conn *c) {
  mock_conn_secured(c->core, "", sni_of(c));
  mock_conn_handshake_fired(c->core);
  struct mock_conn *core = c->core;
  c->core = NULL;
  tls_reset_below(c);
  mock_conn_insecure(core, "script handshake die");
}

/* Lets out as much of the server's flight as the script wants, then dies. true: it did. */
static bool dies_here(struct tls_conn *c) {
  if (c->told.handshake != MOCK_TLS_DIE) return false;
  tls_collect(c);
  if (c->made < (uint64_t)c->told.die_after_bytes) return false;
  const uint64_t surplus = c->made - (uint64_t)c->told.die_after_bytes;
  c->pending.n -= surplus < c->pending.n ? (size_t)surplus : c->pending.n;
  (void)tls_push(c);
  die(c);
  return true;
}

static void risen(struct tls_conn *c) {
  const bool old = SSL_version(c->ssl) == TLS1_2_VERSION;
  c->up = true;
  mock_conn_secured(c->core, old ? "1.2" : "1.3", sni_of(c));
  X509 *shown = SSL_get1_peer_certificate(c->ssl);
  if (shown) mock_conn_certified(c->core);
  X509_free(shown);
}

void tls_handshake(struct tls_conn *c) {
  if (c->told.handshake == MOCK_TLS_HANG) {
    mock_conn_handshake_fired(c->core);
    (void)BIO_reset(c->in);
    return;
  }
  ERR_clear_error();
  const int done = SSL_do_handshake(c->ssl), why = SSL_get_error(c->ssl, done);
  ERR_clear_error();
  if (dies_here(c)) return;
  if (!tls_push(c)) {
    tls_fail(c, "handshake failed");
    tls_reset_below(c);
  } else if (done == 1) {
    risen(c);
  } else if (why != SSL_ERROR_WANT_READ) {
    tls_fail(c, "handshake failed");
    tls_wind_up(c, false);
  }
}
