/* TLS: what an entry of the server says about it, and what may be claimed in the world tls. */
#include <string.h>

#include "language/reader.h"
#include "language/words.h"

/* ---- an entry's `tls` ----------------------------------------------------------------- */

static bool read_handshake(struct scn_reader *r, scn_node *map, struct mock_tls_script *t) {
  static const enum mock_tls_handshake words[] = {MOCK_TLS_ACCEPT, MOCK_TLS_HANG, MOCK_TLS_DIE};
  scn_node *value = scn_get(r, map, "handshake");
  int word = 0;
  if (value && scn_is_map(value)) {
    t->handshake = MOCK_TLS_DIE;
    return scn_get_size(r, value, "die_after", 0, INT32_MAX, &t->die_after_bytes);
  }
  if (!scn_get_choice(r, map, "handshake", "accept|hang|die", &word, NULL)) return false;
  t->handshake = words[word];
  return true;
}

/* What TLS 1.2 does not have would happen without a trace. */
static bool check_version(struct scn_reader *r, scn_node *node, scn_node *map, const struct mock_tls_script *t) {
  static const char *const only_13[] = {"key_update", "ticket"};
  if (t->version != 12) return true;
  if (scn_get(r, map, "tickets")) return scn_wrong(r, scn_get(r, map, "tickets"), "tickets", "are of TLS 1.3");
  for (size_t i = 0; i < sizeof only_13 / sizeof *only_13; i++) {
    scn_node *action = scn_get(r, node, only_13[i]);
    if (action) return scn_wrong(r, action, only_13[i], "is of TLS 1.3, and this connection speaks 1.2 only");
  }
  return true;
}

bool scn_read_tls(struct scn_reader *r, scn_node *node, struct mock_entry *e) {
  scn_node *map = scn_get(r, node, "tls");
  struct mock_tls_script *t = &e->tls;
  int certificate = MOCK_CERT_GOOD, version = -1;
  bool notify = true;
  if (!map) return true;
  if (e->reader) return scn_wrong(r, map, "tls", "belongs to an entry with connection: a reader is known by its request");
  t->given = true;
  t->line = scn_line(map);
  if (!scn_get_choice(r, map, "certificate", SCN_WORDS_CERTIFICATE, &certificate, NULL)) return false;
  if (!scn_get_choice(r, map, "version", "1.2|1.3", &version, NULL)) return false;
  if (!scn_get_size(r, map, "record_bytes", 1, 16384, &t->record_bytes)) return false;
  if (!scn_get_bool(r, map, "close_notify", &notify) || !scn_get_bool(r, map, "ask_certificate", &t->ask_certificate))
    return false;
  if (!scn_get_int(r, map, "tickets", 0, 100, &t->tickets)) return false;
  t->certificate = (enum mock_certificate)certificate;
  t->no_close_notify = !notify;
  t->tickets_given = scn_get(r, map, "tickets") != NULL;
  t->version = version < 0 ? 0 : version == 0 ? 12 : 13;
  return read_handshake(r, map, t) && check_version(r, node, map, t);
}

/* ---- what fits which world --------------------------------------------------------------- */

static bool is_secure(const struct scn_scenario *s) { return strncmp(s->config, "wss::", 5) == 0; }

/* Where the mock is plain, a script about TLS would not come true, and a client that speaks TLS gets nowhere. A client
 * that must not be made at all meets no server. */
static bool check_plain(struct scn_reader *r, scn_node *root, const struct scn_scenario *s) {
  static const char *const keys[] = {"tls", "key_update", "ticket"};
  scn_node *list = scn_get(r, root, "server"), *client = scn_get(r, root, "client");
  if (!s->worlds[SCN_SIM] && !s->worlds[SCN_LIVE]) return true;
  for (size_t i = 0; list && i < scn_size(list); i++)
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
      scn_node *value = scn_get(r, scn_item(r, list, i), keys[k]);
      if (value) return scn_wrong(r, value, keys[k], "speaks of TLS: the scenario needs worlds: [tls]");
    }
  if (!is_secure(s) || s->create_error) return true;
  return scn_wrong(r, scn_get(r, client, "config"), "config", "wss speaks TLS: the scenario needs worlds: [tls]");
}

/* The fault layer lies below TLS: its calls carry records of 16 KiB at most. What is true of them in plain is not true
 * here, and the other way round. */
static bool is_call_count(const struct scn_fact *f) {
  static const char *const calls[] = {"io.send",    "io.recv",    "io.ctl_send", "io.hs_send",  "io.hs_recv",  "io.hs_wait",
                                      "io.poll_w",  "io.poll_r",  "io.idle",     "io.flush",    "io.flush_empty",
                                      "io.bytes_out", "io.bytes_in"};
  if (f->only_sim) return false;
  if (f->source == SCN_FROM_TRACE) return true;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp(f->name, calls[i]) == 0) return true;
  return false;
}

static bool check_facts(struct scn_reader *r, scn_node *map, const struct scn_fact *facts, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!is_call_count(&facts[i])) continue;
    return scn_wrong(r, scn_get(r, map, facts[i].name), facts[i].name,
                     "counts socket calls, which carry records under TLS: write expect_sim, or a file of its own with "
                     "worlds: [tls]");
  }
  return true;
}

static bool check_steps(struct scn_reader *r, scn_node *root, const struct scn_scenario *s) {
  scn_node *list = scn_get(r, scn_get(r, root, "client"), "steps");
  for (size_t i = 0; i < s->step_count; i++) {
    scn_node *step = scn_item(r, list, i);
    scn_node *map = scn_get(r, step, scn_step_name(s->steps[i].kind));
    if (!check_facts(r, map, s->steps[i].facts, s->steps[i].fact_count)) return false;
  }
  return true;
}

/* A place in the stream of frames is no place in the ciphertext. */
static bool check_faults(struct scn_reader *r, scn_node *root) {
  static const char *const places[] = {"frame", "kind"};
  scn_node *list = scn_get(r, root, "faults");
  for (size_t i = 0; list && i < scn_size(list); i++)
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
      scn_node *value = scn_get(r, scn_item(r, list, i), places[k]);
      if (!value) continue;
      return scn_wrong(r, value, places[k],
                       "cannot be seen under TLS: select by nth, use a trigger of the server, or leave tls out of worlds");
    }
  return true;
}

static bool check_secure(struct scn_reader *r, scn_node *root, const struct scn_scenario *s) {
  scn_node *client = scn_get(r, root, "client");
  if (!s->worlds[SCN_TLS]) return true;
  if (s->receiver) return scn_wrong(r, scn_get(r, client, "receiver"), "receiver", "speaks no TLS: leave tls out of worlds");
  if (!is_secure(s) && strncmp(s->config, "ws::addr=${server}", 18) != 0 && !s->create_error)
    return scn_wrong(r, scn_get(r, client, "config"), "config",
                     "in the world tls it begins with ws::addr=${server} (and becomes wss with the CA), or with wss::");
  if (!check_faults(r, root)) return false;
  if (!s->worlds[SCN_SIM] && !s->worlds[SCN_LIVE]) return true; /* it is written for TLS, and speaks of its records */
  return check_facts(r, scn_get(r, root, "expect"), s->expect, s->expect_count) && check_steps(r, root, s);
}

bool scn_check_tls(struct scn_reader *r, scn_node *root, const struct scn_scenario *s) {
  return check_plain(r, root, s) && check_secure(r, root, s);
}
