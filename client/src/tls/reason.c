#include "tls/reason.h"

#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <openssl/x509_vfy.h>
#include <stdbool.h>
#include <stdio.h>

#define HOST_SHOWN "%.253s"

static void certificate(long verdict, const char *host, char *out, size_t n) {
  switch (verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      snprintf(out, n, "TLS: the server's certificate is valid, but not for " HOST_SHOWN, host);
      return;
    case X509_V_ERR_CERT_HAS_EXPIRED:
      snprintf(out, n, "TLS: the certificate of " HOST_SHOWN ", or one that it rests on, has expired", host);
      return;
    case X509_V_ERR_CERT_NOT_YET_VALID:
      snprintf(out, n, "TLS: the certificate of " HOST_SHOWN ", or one that it rests on, is not yet valid", host);
      return;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      snprintf(out, n, "TLS: the certificate of " HOST_SHOWN " rests on a self-signed one that is not among the "
               "trusted (tls_roots)", host);
      return;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      snprintf(out, n, "TLS: the certificate of " HOST_SHOWN " has an unknown issuer: it is not among the trusted "
               "(tls_roots), or the server leaves out an intermediate certificate", host);
      return;
    default:
      snprintf(out, n, "TLS: the certificate of " HOST_SHOWN " is refused: %s", host,
               X509_verify_cert_error_string(verdict));
  }
}

void qwp_tls_reason(const SSL *ssl, const char *host, char *out, size_t n) {
  unsigned long e = ERR_peek_error(); /* the oldest entry is the cause, the others follow from it */
  int reason = ERR_GET_REASON(e);
  bool of_ssl = ERR_GET_LIB(e) == ERR_LIB_SSL;
  if (of_ssl && reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    certificate(SSL_get_verify_result(ssl), host, out, n);
  } else if (of_ssl && reason > SSL_AD_REASON_OFFSET) {
    snprintf(out, n, "TLS: the server ended it with the alert \"%s\"",
             SSL_alert_desc_string_long(reason - SSL_AD_REASON_OFFSET));
  } else if (of_ssl && reason == SSL_R_WRONG_VERSION_NUMBER) {
    snprintf(out, n, "TLS: the server does not speak it (is this the port of a plain server?)");
  } else {
    const char *text = e ? ERR_reason_error_string(e) : NULL;
    snprintf(out, n, "TLS: the protocol was broken: %s", text ? text : "OpenSSL gives no reason");
  }
}
