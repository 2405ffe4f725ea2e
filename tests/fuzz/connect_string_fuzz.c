/* The connect string from any bytes (up to a first NUL). A failure has a code and a
 * text, a success has what its header promises, and the text of an error does not
 * depend on the letters of a secret: the input is parsed a second time with other
 * letters in its secrets, and must end in the same way, word for word. (Two parses
 * rather than a search for the secret: a secret may well be a word of the text.) */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "fail_mem.h"
#include "config/key_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "does not hold: %s\n", what);
  abort();
}

static char other(char c) {
  if (c >= 'a' && c <= 'z') return (char)('a' + (c - 'a' + 1) % 26);
  if (c >= 'A' && c <= 'Z') return (char)('A' + (c - 'A' + 1) % 26);
  if (c >= '0' && c <= '9') return (char)('0' + (c - '0' + 1) % 10);
  return c;
}

static bool is_secret(const char *key, size_t n) {
  static const char *const keys[] = {"password", "pass", "token", "auth", "tls_roots_password"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    if (strlen(keys[i]) == n && memcmp(keys[i], key, n) == 0) return true;
  }
  return false;
}

/* Changes the letters of the n bytes at p, but never so that they become a key. */
static void change(char *p, size_t n) {
  char key[64];
  size_t length = 0;
  for (; length < n && length < sizeof key - 1 && p[length] != '='; length++) key[length] = other(p[length]);
  key[length] = '\0';
  if (qwp_key_find(key)) return;
  for (size_t i = 0; i < n; i++) p[i] = other(p[i]);
}

/* Bytes up to the ";" that ends an entry or value: one without another behind it. */
static size_t entry_length(const char *p) {
  size_t n = 0;
  for (; p[n] && (p[n] != ';' || p[n + 1] == ';'); n++) n += p[n] == ';' ? 1 : 0;
  return n;
}

/* Changes the letters of every secret value, and of an entry behind one that begins
 * with no known key: it is the rest of a secret with an unescaped ";". */
static void change_secrets(char *text) {
  char *p = strstr(text, "::");
  if (!p) return;
  bool after_secret = false;
  for (p += 2; *p;) {
    size_t n = entry_length(p), key = strcspn(p, "=;");
    bool pair = key < n && p[key] == '=';
    bool secret = pair && is_secret(p, key);
    char name[64] = "";
    if (pair && key < sizeof name) memcpy(name, p, key);
    if (secret) change(p + key + 1, n - key - 1);
    else if (after_secret && !qwp_key_find(name)) change(p, n);
    after_secret = secret;
    p += p[n] ? n + 1 : n;
  }
}

static void check_success(const struct qwp_config *c) {
  require(c->endpoint_count > 0, "an endpoint");
  for (size_t i = 0; i < c->endpoint_count; i++) {
    require(c->endpoints[i].host[0] != '\0', "a host");
    require(c->endpoints[i].port >= 1 && c->endpoints[i].port <= 65535, "a port from 1 to 65535");
  }
  require(c->client_id != NULL, "a client id");
  require(!c->authorization || !strpbrk(c->authorization, "\r\n"), "a header of one line");
  require(c->auto_flush_rows == QWP_CONFIG_OFF || c->auto_flush_rows > 0, "a row trigger");
  require(c->sf_max_total_bytes / 2 >= c->sf_max_segment_bytes || c->sf_max_total_bytes == INT64_MAX, "two segments");
}

static enum qwp_status parse(const char *text, struct qwp_error *err) {
  struct fail_mem mem;
  const struct qwp_ops ops = fail_mem_ops(&mem);
  struct qwp_config c;
  qwp_error_clear(err);
  enum qwp_status status = qwp_config_parse(text, &ops, &c, err);
  if (status == QWP_OK) {
    check_success(&c);
    qwp_config_free(&c, &ops);
    require(mem.live == 0, "every block came back");
    return status;
  }
  require(status == QWP_CONFIG, "the code is QWP_CONFIG");
  require(err->code == status, "the error carries the code");
  require(err->text[0] != '\0', "the error has a text");
  require(mem.live == 0, "a failed parse leaves no memory behind");
  require(!c.endpoints && !c.client_id && !c.authorization, "a failed parse leaves nothing to free");
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) return 0;
  if (size) memcpy(text, data, size);
  text[size] = '\0';
  struct qwp_error first, second;
  enum qwp_status status = parse(text, &first);
  change_secrets(text);
  require(parse(text, &second) == status, "a secret's letters do not decide");
  require(strcmp(first.text, second.text) == 0, "a secret's letters do not show in the text");
  require(strcmp(first.key, second.key) == 0, "a secret's letters do not show in the key");
  free(text);
  return 0;
}
