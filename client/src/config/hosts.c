#include "config/hosts.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "config/number.h"
#include "config/refusal.h"
#include "qwp/wire.h"

#define KEY "addr"
#define PORT_RULE "the port must be a number from 1 to 65535"
#define HOST_MAX_BYTES 253u /* of a DNS name in text form (RFC 1035, 2.3.4) */

/* One entry while it is read: slices of the list. */
struct entry {
  const char *text; /* whole entry, trimmed, for errors */
  size_t length;
  const char *host;
  size_t host_length;
  const char *port; /* behind the colon, or NULL */
  size_t port_length;
};

/* The entry is shown up to 80 bytes, cut at a character boundary. */
static enum qwp_status refuse_entry(const struct entry *e, const char *rule, struct qwp_error *err) {
  size_t n = e->length;
  if (n > 80) {
    n = 80;
    while (n > 0 && ((unsigned char)e->text[n] & 0xC0) == 0x80) n--;
  }
  return qwp_refuse(err, KEY, "addr entry %.*s: %s", (int)n, e->text, rule);
}

static bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

static enum qwp_status check_name(const struct entry *e, struct qwp_error *err) {
  if (e->host_length == 0) return refuse_entry(e, "the host is missing", err);
  if (e->host_length > HOST_MAX_BYTES) return refuse_entry(e, "a host name has at most 253 bytes", err);
  for (size_t i = 0; i < e->host_length; i++) {
    if (is_name_char(e->host[i])) continue;
    return refuse_entry(e, "a host name is made of ASCII letters, digits, \"-\", \".\" and \"_\"", err);
  }
  return QWP_OK;
}

/* An address, and behind a "%" the name of an interface (RFC 4007, 11). */
static enum qwp_status check_v6(const struct entry *e, struct qwp_error *err) {
  char text[INET6_ADDRSTRLEN];
  struct in6_addr address;
  const char *zone = memchr(e->host, '%', e->host_length);
  size_t n = zone ? (size_t)(zone - e->host) : e->host_length;
  bool ok = n < sizeof text && e->host_length <= HOST_MAX_BYTES;
  if (ok) {
    memcpy(text, e->host, n);
    text[n] = '\0';
    ok = inet_pton(AF_INET6, text, &address) == 1;
  }
  if (zone) ok = ok && n + 1 < e->host_length;
  for (size_t i = n + 1; zone && i < e->host_length; i++) ok = ok && is_name_char(e->host[i]);
  return ok ? QWP_OK : refuse_entry(e, "the brackets must hold an IPv6 address", err);
}

/* Splits host and port at the brackets or the only colon, and checks the host. */
static enum qwp_status split_entry(struct entry *e, struct qwp_error *err) {
  const char *end = e->text + e->length;
  if (e->length > 0 && e->text[0] == '[') {
    const char *close = memchr(e->text, ']', e->length);
    if (!close) return refuse_entry(e, "\"[\" without \"]\"", err);
    if (close + 1 != end && close[1] != ':') return refuse_entry(e, "only :port may follow \"]\"", err);
    e->host = e->text + 1;
    e->host_length = (size_t)(close - e->host);
    e->port = close + 1 == end ? NULL : close + 2;
  } else {
    const char *colon = memchr(e->text, ':', e->length);
    if (colon && memchr(colon + 1, ':', (size_t)(end - colon - 1))) {
      return refuse_entry(e, "an IPv6 address needs brackets, for example [::1]:9000", err);
    }
    e->host = e->text;
    e->host_length = colon ? (size_t)(colon - e->text) : e->length;
    e->port = colon ? colon + 1 : NULL;
  }
  e->port_length = e->port ? (size_t)(end - e->port) : 0;
  return e->text[0] == '[' ? check_v6(e, err) : check_name(e, err);
}

static enum qwp_status read_port(const struct entry *e, int *port, struct qwp_error *err) {
  *port = QWP_DEFAULT_PORT;
  if (!e->port) return QWP_OK;
  char digits[6];
  if (e->port_length == 0 || e->port_length >= sizeof digits) return refuse_entry(e, PORT_RULE, err);
  memcpy(digits, e->port, e->port_length);
  digits[e->port_length] = '\0';
  int64_t v = 0;
  if (qwp_number_read(digits, &v) != QWP_NUMBER_OK || v < 1 || v > 65535) return refuse_entry(e, PORT_RULE, err);
  *port = (int)v;
  return QWP_OK;
}

/* Host names are the same whatever their case (RFC 4343). */
static enum qwp_status check_new(const struct qwp_config *c, const struct entry *e, int port, struct qwp_error *err) {
  for (size_t i = 0; i < c->endpoint_count; i++) {
    const struct qwp_endpoint *other = &c->endpoints[i];
    if (other->port != port || strlen(other->host) != e->host_length) continue;
    if (strncasecmp(other->host, e->host, e->host_length) != 0) continue;
    bool v6 = strchr(other->host, ':') != NULL;
    return qwp_refuse(err, KEY, "duplicate addr entry: %s%s%s:%d; list each endpoint once", v6 ? "[" : "", other->host,
                      v6 ? "]" : "", port);
  }
  return QWP_OK;
}

static enum qwp_status append(struct qwp_config *c, const struct qwp_ops *ops, const struct entry *e, int port,
                              struct qwp_error *err) {
  /* Room for a power of two at a time. */
  if ((c->endpoint_count & (c->endpoint_count - 1)) == 0) {
    size_t room = c->endpoint_count ? 2 * c->endpoint_count : 1;
    size_t bytes = room * sizeof *c->endpoints;
    void *grown = c->endpoints ? ops->mem->realloc(ops->mem_ctx, c->endpoints, bytes)
                               : ops->mem->alloc(ops->mem_ctx, bytes);
    if (!grown) return qwp_fail(err, QWP_NOMEM, "out of memory for the endpoints of addr");
    c->endpoints = grown;
  }
  char *host = ops->mem->alloc(ops->mem_ctx, e->host_length + 1);
  if (!host) return qwp_fail(err, QWP_NOMEM, "out of memory for the endpoints of addr");
  memcpy(host, e->host, e->host_length);
  host[e->host_length] = '\0';
  c->endpoints[c->endpoint_count++] = (struct qwp_endpoint){.host = host, .port = port};
  return QWP_OK;
}

static enum qwp_status add_entry(struct qwp_config *c, const struct qwp_ops *ops, const char *text, size_t length,
                                 struct qwp_error *err) {
  while (length > 0 && text[0] == ' ') text++, length--;
  while (length > 0 && text[length - 1] == ' ') length--;
  if (length == 0) return qwp_refuse(err, KEY, "addr: an entry is empty; remove the extra comma");
  if (c->endpoint_count == QWP_HOSTS_MAX) return qwp_refuse(err, KEY, "addr: at most %d entries", QWP_HOSTS_MAX);
  struct entry e = {.text = text, .length = length};
  int port;
  enum qwp_status status = split_entry(&e, err);
  if (status == QWP_OK) status = read_port(&e, &port, err);
  if (status == QWP_OK) status = check_new(c, &e, port, err);
  return status == QWP_OK ? append(c, ops, &e, port, err) : status;
}

enum qwp_status qwp_hosts_add(struct qwp_config *c, const struct qwp_ops *ops, const char *list,
                              struct qwp_error *err) {
  /* user:password@host is a habit from URLs: such a list is never shown. */
  if (strchr(list, '@')) {
    return qwp_refuse(err, KEY, "addr: an entry must be host or host:port, without \"@\"; "
                                "give credentials with username and password, or with token");
  }
  for (;;) {
    size_t n = strcspn(list, ",");
    enum qwp_status status = add_entry(c, ops, list, n, err);
    if (status != QWP_OK) return status;
    if (list[n] == '\0') return QWP_OK;
    list += n + 1;
  }
}
