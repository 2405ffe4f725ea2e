#include "tls/peer.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <time.h>

#define NAME_BYTES 256 /* a name has at most 253 (RFC 1035, 2.3.4) */
#define NS_PER_S INT64_C(1000000000)

static bool is_address(const char *host) {
  unsigned char address[sizeof(struct in6_addr)];
  return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

/* The host without what only the resolver needs. */
static bool bare_name(const char *host, char out[NAME_BYTES]) {
  size_t n = strcspn(host, "%");
  if (n > 0 && host[n] == '\0' && host[n - 1] == '.') n--;
  if (n == 0 || n >= NAME_BYTES) return false;
  memcpy(out, host, n);
  out[n] = '\0';
  return true;
}

bool qwp_peer_expect(SSL *ssl, const char *host, int64_t now_ns) {
  char name[NAME_BYTES];
  if (!bare_name(host, name)) return false;
  X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
  X509_VERIFY_PARAM_set_time(param, (time_t)(now_ns / NS_PER_S));
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (is_address(name)) return X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1;
  return X509_VERIFY_PARAM_set1_host(param, name, 0) == 1 && SSL_set_tlsext_host_name(ssl, name) == 1;
}
