/* Whom the client believes (CASE-57): the name it dialled, each time anew, and nobody else. */
#include "tls_kit.h"

/* What one attempt came to. */
struct attempt {
  bool passed;
  enum qwp_status status;
  char why[512];
  char sni[256];
};

/* Dials host and says a secret. When it fails, the server has not had a byte of it and knows that it failed. */
static struct attempt attempt(struct tk *k, struct tk_client *c, const char *host) {
  struct attempt a = {.passed = false};
  int conn = k->count;
  tk_dial(c, host);
  a.passed = tk_send_all(c, "secret", 6) == 0;
  tk_serve(k, conn);
  a.status = tk_explained(c, a.why, sizeof a.why);
  assert_int_equal(k->conns[conn].plain.n, a.passed ? 6 : 0);
  assert_true(a.passed == (k->conns[conn].server_error == 0)); /* the alert arrived */
  snprintf(a.sni, sizeof a.sni, "%s",
           SSL_get_servername(k->conns[conn].ssl, TLSEXT_NAMETYPE_host_name)
               ? SSL_get_servername(k->conns[conn].ssl, TLSEXT_NAMETYPE_host_name) : "");
  tk_hang_up(c);
  return a;
}

/* A server with this identity, a client that trusts `trusted` (NULL: nobody in particular is given, and
 * nothing is verified). */
static struct attempt once(const struct tk_identity *server, const struct tk_identity *chain,
                           const struct tk_identity *trusted, const char *host) {
  struct tk k;
  tk_init_chain(&k, server, chain);
  struct tk_file roots = {.path = ""};
  if (trusted) roots = tk_pem(trusted);
  const struct qwp_tls_options o = {.verify = trusted != NULL, .roots = trusted ? roots.path : NULL};
  struct tk_client c = tk_client(&k, &o);
  struct attempt a = attempt(&k, &c, host);
  tk_client_free(&c);
  tk_free(&k);
  if (trusted) tk_drop_file(&roots);
  return a;
}

static void assert_passed(const struct attempt *a) {
  if (!a->passed) fail_msg("refused: %s", a->why);
  assert_int_equal(a->status, QWP_OK);
}

static void assert_refused(const struct attempt *a, const char *part) {
  assert_false(a->passed);
  assert_int_equal(a->status, QWP_CONN_TLS);
  if (!strstr(a->why, part)) fail_msg("\"%s\" is not in \"%s\"", part, a->why);
}

static void names(void **state) {
  (void)state;
  static const struct {
    const char *in_certificate, *host, *sni;
    bool passes;
  } cases[] = {
      {"DNS:db", "db", "db", true},
      {"DNS:db", "DB", "DB", true},
      {"DNS:db", "db.", "db", true}, /* the final dot is the resolver's */
      {"DNS:other", "db", "db", false},
      {"DNS:db.example", "db", "db", false},
      {"DNS:*.my.example", "db.my.example", "db.my.example", true},
      {"DNS:*.my.example", "a.db.my.example", "a.db.my.example", false},
      {"DNS:*.my.example", "my.example", "my.example", false},
      {"DNS:d*.my.example", "db.my.example", "db.my.example", false}, /* RFC 9525, 6.3: a whole label or none */
      {NULL, "kit", "kit", false},                            /* the common name does not count */
      {"IP:127.0.0.1", "127.0.0.1", "", true},
      {"IP:127.0.0.1", "127.0.0.2", "", false},
      {"DNS:127.0.0.1", "127.0.0.1", "", false}, /* an address is no name */
      {"IP:0:0:0:0:0:0:0:1", "::1", "", true},
      {"IP:0:0:0:0:0:0:0:1", "::2", "", false},
      {"IP:fe80:0:0:0:0:0:0:1", "fe80::1%eth0", "", true}, /* the zone is the resolver's */
  };
  struct tk_identity ca = tk_issue(NULL, &(struct tk_claim){.is_ca = true});
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct tk_identity server = tk_issue(&ca, &(struct tk_claim){.names = cases[i].in_certificate});
    struct attempt a = once(&server, NULL, &ca, cases[i].host);
    if (a.passed != cases[i].passes) fail_msg("case %zu, %s: %s", i, cases[i].host, a.why);
    assert_string_equal(a.sni, cases[i].sni);
    if (!cases[i].passes) assert_refused(&a, "but not for ");
    if (!cases[i].passes) assert_refused(&a, cases[i].host);
    tk_forget(&server);
  }
  tk_forget(&ca);
}

static void validity(void **state) {
  (void)state;
  struct tk_identity ca = tk_issue(NULL, &(struct tk_claim){.is_ca = true});
  struct tk_identity old = tk_issue(&ca, &(struct tk_claim){.names = "DNS:db", .from_days = -9, .till_days = -1});
  struct tk_identity early = tk_issue(&ca, &(struct tk_claim){.names = "DNS:db", .from_days = 1, .till_days = 9});
  struct attempt a = once(&old, NULL, &ca, "db");
  assert_refused(&a, "has expired");
  a = once(&early, NULL, &ca, "db");
  assert_refused(&a, "not yet valid");
  tk_forget(&old);
  tk_forget(&early);
  tk_forget(&ca);
}

/* It goes by the clock table, also when that moves while the sender lives. */
static void expires_by_the_clock_table(void **state) {
  (void)state;
  struct tk_identity ca = tk_issue(NULL, &(struct tk_claim){.names = "DNS:db", .is_ca = true});
  struct tk_file roots = tk_pem(&ca);
  struct tk k;
  tk_init(&k, &ca);
  struct tk_client c = tk_client(&k, &(struct qwp_tls_options){.verify = true, .roots = roots.path});
  struct attempt a = attempt(&k, &c, "db");
  assert_passed(&a);
  k.now_ns = 31 * TK_DAY_S * INT64_C(1000000000);
  a = attempt(&k, &c, "db");
  assert_refused(&a, "has expired");
  tk_client_free(&c);
  tk_free(&k);
  tk_drop_file(&roots);
  tk_forget(&ca);
}

static void issuers(void **state) {
  (void)state;
  struct tk_identity ca = tk_issue(NULL, &(struct tk_claim){.is_ca = true});
  struct tk_identity stranger = tk_issue(NULL, &(struct tk_claim){.is_ca = true});
  struct tk_identity middle = tk_issue(&ca, &(struct tk_claim){.is_ca = true});
  struct tk_identity leaf = tk_issue(&middle, &(struct tk_claim){.names = "DNS:db"});
  struct tk_identity self = tk_issue(NULL, &(struct tk_claim){.names = "DNS:db"});
  struct attempt a = once(&leaf, &middle, &ca, "db");
  assert_passed(&a);
  a = once(&leaf, NULL, &ca, "db");
  assert_refused(&a, "leaves out an intermediate");
  a = once(&leaf, NULL, &middle, "db"); /* what stands in tls_roots is trusted, also if another one issued it */
  assert_passed(&a);
  a = once(&leaf, &middle, &stranger, "db");
  assert_refused(&a, "unknown issuer");
  a = once(&self, NULL, &ca, "db");
  assert_refused(&a, "self-signed");
  a = once(&self, NULL, &self, "db");
  assert_passed(&a);
  tk_forget(&ca);
  tk_forget(&stranger);
  tk_forget(&middle);
  tk_forget(&leaf);
  tk_forget(&self);
}

/* TLS-003: the only way to pass all of this. */
static void unsafe_off(void **state) {
  (void)state;
  struct tk_identity ca = tk_issue(NULL, &(struct tk_claim){.is_ca = true});
  struct tk_identity old = tk_issue(&ca, &(struct tk_claim){.names = "DNS:x", .from_days = -9, .till_days = -1});
  struct attempt a = once(&old, NULL, NULL, "db");
  assert_passed(&a);
  assert_string_equal(a.sni, "db");
  tk_forget(&old);
  tk_forget(&ca);
}

/* One client, several hosts: each connection asks for and checks the host it was dialled at. */
static void each_connection_anew(void **state) {
  (void)state;
  struct tk_identity ca = tk_issue(NULL, &(struct tk_claim){.names = "DNS:b", .is_ca = true});
  struct tk_file roots = tk_pem(&ca);
  struct tk k;
  tk_init(&k, &ca);
  struct tk_client c = tk_client(&k, &(struct qwp_tls_options){.verify = true, .roots = roots.path});
  static const char *const hosts[] = {"a", "b", "a", "b", "127.0.0.1", "b"};
  for (size_t i = 0; i < 6; i++) {
    struct attempt a = attempt(&k, &c, hosts[i]);
    assert_string_equal(a.sni, i == 4 ? "" : hosts[i]);
    if (strcmp(hosts[i], "b") == 0) assert_passed(&a);
    else assert_refused(&a, "but not for ");
  }
  tk_client_free(&c);
  tk_free(&k);
  tk_drop_file(&roots);
  tk_forget(&ca);
}

/* Two clients in one process, each with its own trust. */
static void two_clients(void **state) {
  (void)state;
  struct tk_identity one = tk_issue(NULL, &(struct tk_claim){.names = "DNS:db", .is_ca = true});
  struct tk_identity two = tk_issue(NULL, &(struct tk_claim){.names = "DNS:db", .is_ca = true});
  struct tk_file roots_one = tk_pem(&one), roots_two = tk_pem(&two);
  struct tk k;
  tk_init(&k, &one);
  struct tk_client c1 = tk_client(&k, &(struct qwp_tls_options){.verify = true, .roots = roots_one.path});
  struct tk_client c2 = tk_client(&k, &(struct qwp_tls_options){.verify = true, .roots = roots_two.path});
  struct tk_client c3 = tk_client(&k, &(struct qwp_tls_options){.verify = false});
  struct attempt a = attempt(&k, &c2, "db");
  assert_refused(&a, "self-signed");
  a = attempt(&k, &c1, "db");
  assert_passed(&a);
  a = attempt(&k, &c3, "db");
  assert_passed(&a);
  a = attempt(&k, &c2, "db");
  assert_refused(&a, "self-signed");
  tk_client_free(&c1);
  tk_client_free(&c2);
  tk_client_free(&c3);
  tk_free(&k);
  tk_drop_file(&roots_one);
  tk_drop_file(&roots_two);
  tk_forget(&one);
  tk_forget(&two);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_connection_anew), cmocka_unit_test(expires_by_the_clock_table),
      cmocka_unit_test(issuers),              cmocka_unit_test(names),
      cmocka_unit_test(two_clients),          cmocka_unit_test(unsafe_off),
      cmocka_unit_test(validity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
