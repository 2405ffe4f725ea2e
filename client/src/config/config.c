/* The connect string becomes values in three steps: read every pair against its
 * row of the key table, check the rules between keys, fill the config. Strings of
 * a draft point into the copy of the connect string, which outlives it. */
#include "config/config.h"

#include <assert.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <string.h>

#include "config/connect_string.h"
#include "config/hosts.h"
#include "config/key_table.h"
#include "config/refusal.h"
#include "config/value.h"
#include "qwp/sender.h"

#define DEFAULT_CLIENT_ID "qwpkit/" QWP_CLIENT_VERSION
#define SENDER_ID_MAX_BYTES 255u /* a file name */
#define KEYS_MAX 128u
#define TLS_VERIFY_UNSAFE_OFF 1 /* of the words of tls_verify */
#define TLS_CA_PEM_FILE 1       /* of the words of tls_ca */
#define STORE_BYTES_MAX ((uint64_t)SIZE_MAX < (uint64_t)INT64_MAX ? (int64_t)SIZE_MAX : INT64_MAX) /* of a size_t */

struct draft {
  const struct qwp_ops *ops;
  struct qwp_config *config; /* endpoints are added as they come */
  struct {
    const char *name;  /* the key as it was written; NULL = not given */
    const char *value; /* its text */
    int64_t number;
  } given[KEYS_MAX]; /* by row of the key table */
};

/* ---- what was given --------------------------------------------------------- */

static size_t row_of(const struct qwp_key *key) {
  size_t count;
  size_t row = (size_t)(key - qwp_key_table(&count));
  assert(count <= KEYS_MAX && row < count);
  return row;
}

static const struct qwp_key *known(const char *name) {
  const struct qwp_key *key = qwp_key_find(name);
  assert(key); /* names in this file are rows of the table */
  return key;
}

static bool given(const struct draft *d, const char *name) { return d->given[row_of(known(name))].name != NULL; }

/* NULL if not given. */
static const char *text_of(const struct draft *d, const char *name) { return d->given[row_of(known(name))].value; }

/* The default if not given. */
static int64_t number_of(const struct draft *d, const char *name) {
  const struct qwp_key *key = known(name);
  size_t row = row_of(key);
  return d->given[row].name ? d->given[row].number : key->standard;
}

/* ---- step 1: pairs ------------------------------------------------------------ */

static enum qwp_status refuse_unknown(const struct qwp_connect_string *s, const char *key, struct qwp_error *err) {
  if (s->after_secret) {
    return qwp_refuse(err, s->after_secret, "%s: what follows the value begins with no known key; "
                      "write \";\" inside a value as \";;\"", s->after_secret);
  }
  return qwp_refuse(err, key, "unknown key %.63s; the nearest key is %s", key, qwp_key_nearest(key));
}

static enum qwp_status refuse_repeated(const struct qwp_key *key, const char *before, const char *now,
                                       struct qwp_error *err) {
  if (strcmp(before, now) == 0) return qwp_refuse(err, now, "%s is given twice; give it once", now);
  return qwp_refuse(err, now, "%s and %s are the same key, %s; give it once", before, now, key->name);
}

static enum qwp_status take_pair(struct draft *d, struct qwp_connect_string *s, const struct qwp_pair *pair,
                                 struct qwp_error *err) {
  const struct qwp_key *key = qwp_key_find(pair->key);
  if (!key) return refuse_unknown(s, pair->key, err);
  s->after_secret = key->type == QWP_VALUE_SECRET ? pair->key : NULL;
  if (key->action == QWP_KEY_REFUSED) {
    return qwp_refuse(err, pair->key, "%s is not a key of ws and wss; %s", pair->key, key->hint);
  }
  enum qwp_status status = qwp_pair_check(pair, err);
  if (status != QWP_OK) return status;

  size_t row = row_of(key);
  if (d->given[row].name && key->type != QWP_VALUE_HOSTS) {
    return refuse_repeated(key, d->given[row].name, pair->key, err);
  }
  d->given[row].name = pair->key;
  d->given[row].value = pair->value;
  if (key->action == QWP_KEY_IGNORED) return QWP_OK;
  status = qwp_value_read(key, pair->key, pair->value, &d->given[row].number, err);
  if (status == QWP_OK && key->type == QWP_VALUE_HOSTS) status = qwp_hosts_add(d->config, d->ops, pair->value, err);
  return status;
}

static enum qwp_status read_schema(const char *schema, bool *tls, struct qwp_error *err) {
  *tls = strcmp(schema, "wss") == 0;
  if (*tls || strcmp(schema, "ws") == 0) return QWP_OK;
  return qwp_refuse(err, "schema", "schema %.32s is not one of QWP; use ws or wss", schema);
}

static enum qwp_status take_pairs(struct draft *d, struct qwp_connect_string *s, struct qwp_error *err) {
  struct qwp_pair pair;
  for (;;) {
    switch (qwp_connect_string_next(s, &pair, err)) {
      case QWP_PAIR_END:
        return QWP_OK;
      case QWP_PAIR_BAD:
        return QWP_CONFIG;
      case QWP_PAIR: {
        enum qwp_status status = take_pair(d, s, &pair, err);
        if (status != QWP_OK) return status;
      }
    }
  }
}

/* ---- step 2: rules between keys ---------------------------------------------- */

static enum qwp_status check_credentials(const struct draft *d, struct qwp_error *err) {
  bool user = given(d, "username"), password = given(d, "password");
  if (given(d, "token") && (user || password)) { /* AUTH-004 */
    return qwp_refuse(err, "token", "token excludes username and password; give one of the two");
  }
  if (user && !password) return qwp_refuse(err, "username", "username needs password; give both or neither");
  if (password && !user) return qwp_refuse(err, "password", "password needs username; give both or neither");
  /* In Basic credentials the first colon ends the user name (RFC 7617, 2). */
  if (user && strchr(text_of(d, "username"), ':')) {
    return qwp_refuse(err, "username", "username must not hold a colon");
  }
  return QWP_OK;
}

static enum qwp_status check_tls(const struct draft *d, struct qwp_error *err) {
  static const char *const keys[] = {"tls_verify", "tls_roots", "tls_ca"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    if (d->config->tls || !given(d, keys[i])) continue;
    return qwp_refuse(err, keys[i], "%s needs schema wss, which is ws with TLS; leave it out on ws", keys[i]);
  }
  bool roots = given(d, "tls_roots");
  if (roots && number_of(d, "tls_verify") == TLS_VERIFY_UNSAFE_OFF) { /* TLS-004 */
    return qwp_refuse(err, "tls_verify", "tls_verify=unsafe_off excludes tls_roots: nothing would be checked against "
                      "them; remove one of the two");
  }
  if (!given(d, "tls_ca")) return QWP_OK;
  bool pem_file = number_of(d, "tls_ca") == TLS_CA_PEM_FILE;
  if (pem_file && !roots) return qwp_refuse(err, "tls_ca", "tls_ca=pem_file needs tls_roots, the file");
  if (!pem_file && roots) {
    return qwp_refuse(err, "tls_ca", "tls_ca=os_roots excludes tls_roots; remove one, or use tls_ca=pem_file");
  }
  return QWP_OK;
}

static enum qwp_status check_sender_id(const struct draft *d, struct qwp_error *err) {
  const char *id = text_of(d, "sender_id");
  if (!id) return QWP_OK;
  size_t n = strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
  if (id[n] == '\0' && n <= SENDER_ID_MAX_BYTES) return QWP_OK;
  return qwp_refuse(err, "sender_id", "sender_id must be 1 to %u ASCII letters, digits, \"_\" or \"-\"",
                    SENDER_ID_MAX_BYTES);
}

static enum qwp_status check_flush(const struct draft *d, struct qwp_error *err) {
  if (!number_of(d, "auto_flush")) { /* P121-39 */
    return qwp_refuse(err, "auto_flush", "auto_flush=off is refused on ws and wss; to flush by hand only, set "
                      "auto_flush_rows=off, auto_flush_interval=off and auto_flush_bytes=off");
  }
  if (given(d, "transaction") && !number_of(d, "transaction")) { /* P108-23 */
    const char *window = given(d, "commit_rows") ? "commit_rows" : "commit_interval_ms";
    if (given(d, window)) {
      return qwp_refuse(err, "transaction", "transaction=off excludes %s; remove one of them", window);
    }
  }
  return QWP_OK;
}

static enum qwp_status check_store(const struct draft *d, struct qwp_error *err) {
  int64_t segment = number_of(d, "sf_max_segment_bytes"), total = number_of(d, "sf_max_total_bytes");
  if (segment < QWP_CONFIG_SEGMENT_BYTES_MIN) {
    return qwp_refuse(err, "sf_max_segment_bytes", "sf_max_segment_bytes must be at least %d, which is the smallest "
                      "frame and 32 bytes", QWP_CONFIG_SEGMENT_BYTES_MIN);
  }
  if (segment > STORE_BYTES_MAX || total > STORE_BYTES_MAX) {
    return qwp_refuse(err, segment > STORE_BYTES_MAX ? "sf_max_segment_bytes" : "sf_max_total_bytes",
                      "sf_max_segment_bytes and sf_max_total_bytes must be at most %" PRId64 " on this machine",
                      STORE_BYTES_MAX);
  }
  if (!given(d, "sf_max_total_bytes") || total / 2 >= segment) return QWP_OK;
  return qwp_refuse(err, "sf_max_total_bytes", "sf_max_total_bytes must be at least twice sf_max_segment_bytes");
}

static enum qwp_status check_rules(const struct draft *d, struct qwp_error *err) {
  if (!given(d, "addr")) { /* CONF-007 */
    return qwp_refuse(err, "addr", "addr is required, for example ws::addr=localhost:9000;");
  }
  enum qwp_status status = check_credentials(d, err);
  if (status == QWP_OK) status = check_tls(d, err);
  if (status == QWP_OK) status = check_sender_id(d, err);
  if (status == QWP_OK) status = check_flush(d, err);
  if (status == QWP_OK) status = check_store(d, err);
  return status;
}

/* ---- step 3: values ------------------------------------------------------------ */

static char *join(const struct qwp_ops *ops, const char *a, const char *b, const char *c) {
  size_t na = strlen(a), nb = strlen(b), nc = strlen(c);
  char *out = ops->mem->alloc(ops->mem_ctx, na + nb + nc + 1);
  if (!out) return NULL;
  memcpy(out, a, na);
  memcpy(out + na, b, nb);
  memcpy(out + na + nb, c, nc + 1);
  return out;
}

/* Basic base64(user:password) [AUTH-002]. Lengths are bounded by the connect string's. */
static char *basic(const struct qwp_ops *ops, const char *user, const char *password) {
  char *plain = join(ops, user, ":", password);
  if (!plain) return NULL;
  size_t n = strlen(plain);
  char *out = ops->mem->alloc(ops->mem_ctx, strlen("Basic ") + 4 * ((n + 2) / 3) + 1);
  if (out) {
    memcpy(out, "Basic ", strlen("Basic "));
    EVP_EncodeBlock((unsigned char *)out + strlen("Basic "), (const unsigned char *)plain, (int)n);
  }
  qwp_wipe(plain, n);
  ops->mem->free(ops->mem_ctx, plain);
  return out;
}

static enum qwp_status fill_strings(const struct draft *d, struct qwp_config *c, struct qwp_error *err) {
  const char *id = text_of(d, "client_id");
  c->client_id = join(d->ops, id ? id : DEFAULT_CLIENT_ID, "", "");
  if (!c->client_id) return qwp_fail(err, QWP_NOMEM, "out of memory for client_id");
  if (given(d, "tls_roots")) {
    c->tls_roots = join(d->ops, text_of(d, "tls_roots"), "", "");
    if (!c->tls_roots) return qwp_fail(err, QWP_NOMEM, "out of memory for tls_roots");
  }
  if (!given(d, "token") && !given(d, "username")) return QWP_OK;
  c->authorization = given(d, "token") ? join(d->ops, "Bearer ", text_of(d, "token"), "")
                                       : basic(d->ops, text_of(d, "username"), text_of(d, "password"));
  return c->authorization ? QWP_OK : qwp_fail(err, QWP_NOMEM, "out of memory for the credentials");
}

static void fill_flush(const struct draft *d, struct qwp_config *c) {
  c->auto_flush_rows = number_of(d, "auto_flush_rows");
  c->auto_flush_interval_ms = number_of(d, "auto_flush_interval");
  c->auto_flush_bytes = number_of(d, "auto_flush_bytes");
  /* 0 is a way to write off; the field's 0 means that nothing was written. */
  if (given(d, "auto_flush_bytes") && c->auto_flush_bytes == 0) c->auto_flush_bytes = QWP_CONFIG_OFF;
  c->max_name_bytes = number_of(d, "max_name_len");
}

static void fill_connection(const struct draft *d, struct qwp_config *c) {
  /* The words of the key stand in the order of the enum. */
  c->initial_connect = (enum qwp_initial_connect)number_of(d, "initial_connect_retry");
  bool budget = given(d, "reconnect_max_duration_millis") || given(d, "reconnect_initial_backoff_millis") ||
                given(d, "reconnect_max_backoff_millis");
  /* Whoever paces reconnects wants to be retried; an explicit mode wins [INIT-004]. */
  if (budget && !given(d, "initial_connect_retry")) c->initial_connect = QWP_CONNECT_SYNC;
  c->auth_timeout_ms = number_of(d, "auth_timeout_ms");
  c->connect_timeout_ms = number_of(d, "connect_timeout");
  c->reconnect_max_duration_ms = number_of(d, "reconnect_max_duration_millis");
  c->reconnect_initial_backoff_ms = number_of(d, "reconnect_initial_backoff_millis");
  c->reconnect_max_backoff_ms = number_of(d, "reconnect_max_backoff_millis");
  c->max_frame_rejections = number_of(d, "max_frame_rejections");
  c->poison_window_ms = number_of(d, "poison_min_escalation_window_millis");
  c->close_flush_timeout_ms = number_of(d, "close_flush_timeout_millis");
}

static void fill_tls(const struct draft *d, struct qwp_config *c) {
  c->tls_verify = number_of(d, "tls_verify") != TLS_VERIFY_UNSAFE_OFF;
}

static void fill_store(const struct draft *d, struct qwp_config *c) {
  c->sf_max_segment_bytes = number_of(d, "sf_max_segment_bytes");
  c->sf_max_total_bytes = number_of(d, "sf_max_total_bytes");
  c->sf_append_deadline_ms = number_of(d, "sf_append_deadline_millis");
  if (given(d, "sf_max_total_bytes")) return;
  /* The default never holds fewer than two segments. */
  int64_t two = c->sf_max_segment_bytes > STORE_BYTES_MAX / 2 ? STORE_BYTES_MAX : 2 * c->sf_max_segment_bytes;
  if (c->sf_max_total_bytes < two) c->sf_max_total_bytes = two;
}

/* ---- the three together -------------------------------------------------------- */

static enum qwp_status parse(struct draft *d, struct qwp_connect_string *s, struct qwp_error *err) {
  enum qwp_status status = read_schema(s->schema, &d->config->tls, err);
  if (status == QWP_OK) status = take_pairs(d, s, err);
  if (status == QWP_OK) status = check_rules(d, err);
  if (status != QWP_OK) return status;
  fill_flush(d, d->config);
  fill_connection(d, d->config);
  fill_tls(d, d->config);
  fill_store(d, d->config);
  return fill_strings(d, d->config, err);
}

enum qwp_status qwp_config_parse(const char *text, const struct qwp_ops *ops, struct qwp_config *out,
                                 struct qwp_error *err) {
  memset(out, 0, sizeof *out);
  struct qwp_connect_string s;
  enum qwp_status status = qwp_connect_string_init(&s, ops, text, err);
  if (status != QWP_OK) return status;
  struct draft d = {.ops = ops, .config = out};
  status = parse(&d, &s, err);
  qwp_connect_string_free(&s);
  if (status != QWP_OK) qwp_config_free(out, ops);
  return status;
}

void qwp_config_free(struct qwp_config *c, const struct qwp_ops *ops) {
  for (size_t i = 0; i < c->endpoint_count; i++) ops->mem->free(ops->mem_ctx, c->endpoints[i].host);
  ops->mem->free(ops->mem_ctx, c->endpoints);
  if (c->authorization) qwp_wipe(c->authorization, strlen(c->authorization));
  ops->mem->free(ops->mem_ctx, c->authorization);
  ops->mem->free(ops->mem_ctx, c->client_id);
  ops->mem->free(ops->mem_ctx, c->tls_roots);
  memset(c, 0, sizeof *c);
}

int64_t qwp_config_ns(int64_t ms) {
  if (ms > INT64_MAX / QWP_NS_PER_MS) return QWP_NEVER;
  if (ms < INT64_MIN / QWP_NS_PER_MS) return INT64_MIN;
  return ms * QWP_NS_PER_MS;
}
