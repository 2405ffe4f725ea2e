#include "language/names.h"

#include <string.h>

#include "core/mock.h"
#include "faults.h"
#include "language/keys.h"
#include "language/values.h"
#include "qwp/sender.h"

static const struct scn_name names[] = {
#define METRIC(field, name, help) {name, SCN_FROM_METRICS, SCN_NAME_NUMBER, help},
  QWP_METRICS(METRIC)
#undef METRIC
#define COUNTER(field, name, help) {name, SCN_FROM_MOCK, SCN_NAME_NUMBER, help},
  MOCK_COUNTERS(COUNTER)
#undef COUNTER
#define COUNTER(field, name, help) {name, SCN_FROM_FAULTS, SCN_NAME_NUMBER, help},
  FAULT_COUNTERS(COUNTER)
#undef COUNTER
  {"srv.conn[].frames", SCN_FROM_CONN, SCN_NAME_NUMBER, "data messages of connection N"},
  {"srv.conn[].catchup", SCN_FROM_CONN, SCN_NAME_NUMBER, "dictionary-only messages of connection N"},
  {"srv.conn[].dict", SCN_FROM_CONN, SCN_NAME_NUMBER, "symbols held for connection N"},
  {"srv.conn[].oks", SCN_FROM_CONN, SCN_NAME_NUMBER, "OK answers to connection N"},
  {"srv.conn[].errors", SCN_FROM_CONN, SCN_NAME_NUMBER, "error answers to connection N"},
  {"srv.conn[].bytes_in", SCN_FROM_CONN, SCN_NAME_NUMBER, "bytes read from connection N"},
  {"srv.conn[].rows", SCN_FROM_CONN, SCN_NAME_NUMBER, "rows that connection N made visible"},
  {"srv.conn[].next_seq", SCN_FROM_CONN, SCN_NAME_NUMBER, "messages of connection N that got a sequence"},
  {"srv.conn[].last_ok", SCN_FROM_CONN, SCN_NAME_NUMBER, "highest sequence told OK to connection N, -1 = none"},
  {"srv.conn[].end", SCN_FROM_CONN, SCN_NAME_TEXT, "how connection N ended: open, fin, reset, close 1000 ..."},
  {"srv.conn[].pong", SCN_FROM_CONN, SCN_NAME_TEXT, "payload of the last Pong on connection N"},
  {"srv.conn[].tls", SCN_FROM_CONN, SCN_NAME_TEXT, "version of TLS of connection N, 1.2 or 1.3; \"\" = its handshake failed"},
  {"srv.conn[].sni", SCN_FROM_CONN, SCN_NAME_TEXT, "server name that the client of connection N sent, \"\" = none"},
  {"srv.conn[].tls_end", SCN_FROM_CONN, SCN_NAME_TEXT,
   "how the client of connection N ended its direction: close_notify, truncated, \"\" = neither"},
  {"srv.rows[]", SCN_FROM_TABLE, SCN_NAME_NUMBER, "rows visible in a table"},
  {"srv.violation[]", SCN_FROM_VIOLATION, SCN_NAME_NUMBER, "how often a requirement was violated"},
  {"srv.dict[]", SCN_FROM_DICT, SCN_NAME_NUMBER, "symbols held for connection N"},
  {"client.error", SCN_FROM_CLIENT, SCN_NAME_STATUS, "status of the terminal error or the failed step, or none"},
  {"client.error.text", SCN_FROM_CLIENT, SCN_NAME_CONTAINS, "text that the error's sentence must contain"},
  {"client.error.key", SCN_FROM_CLIENT, SCN_NAME_TEXT, "connect-string key, table or column the error names"},
  {"client.http_status", SCN_FROM_CLIENT, SCN_NAME_NUMBER, "HTTP status of the refused upgrade, 0 = none"},
  {"client.messages", SCN_FROM_CLIENT, SCN_NAME_NUMBER, "messages that a receiver has taken"},
  {"client.close", SCN_FROM_CLIENT, SCN_NAME_STATUS, "how close ended: ok, or a status"},
  {"client.warnings", SCN_FROM_CLIENT, SCN_NAME_NUMBER, "warnings that the client logged"},
  {"client.rss", SCN_FROM_SAMPLES, SCN_NAME_NUMBER, "bytes of memory of the client's process at its end; live only"},
  {"client.rss_max", SCN_FROM_SAMPLES, SCN_NAME_NUMBER, "the highest sample of client.rss; live only"},
  {"client.sigpipe", SCN_FROM_SAMPLES, SCN_NAME_TEXT,
   "what the client's process does on SIGPIPE at its end: default, or changed; live only"},
  {"faults.fired", SCN_FROM_CLIENT, SCN_NAME_NUMBER, "how often the rules under `faults` fired, taken together"},
  {"io.trace", SCN_FROM_TRACE, SCN_NAME_LIST, "sends and waits after the 101, in order: send(100)->40, poll_w"},
  {"io.max_send_run", SCN_FROM_TRACE, SCN_NAME_NUMBER,
   "most bytes that data sends gave to one connection with no receive attempt between them"},
  {"time.virtual_ns", SCN_FROM_WORLD, SCN_NAME_NUMBER, "virtual time from the begin to the client's end; sim only"},
};
#define NAME_COUNT (sizeof names / sizeof *names)

size_t scn_name_count(void) { return NAME_COUNT; }
const struct scn_name *scn_name_at(size_t i) { return i < NAME_COUNT ? &names[i] : NULL; }

/* Compares a written name with one of the list, whose "[]" stands for any bracket. */
static bool matches(const char *pattern, const char *written, const char **selector, size_t *selector_n) {
  *selector = NULL;
  *selector_n = 0;
  const char *bracket = strchr(pattern, '[');
  if (!bracket) return strcmp(pattern, written) == 0;
  const size_t head = (size_t)(bracket - pattern) + 1;
  if (strncmp(pattern, written, head) != 0) return false;
  const char *end = strchr(written + head, ']');
  if (!end || end == written + head || strcmp(end, bracket + 1) != 0) return false;
  *selector = written + head;
  *selector_n = (size_t)(end - *selector);
  return true;
}

const struct scn_name *scn_name_find(const char *written, const char **selector, size_t *selector_n) {
  for (size_t i = 0; i < NAME_COUNT; i++) {
    if (matches(names[i].name, written, selector, selector_n)) return &names[i];
  }
  *selector = NULL;
  *selector_n = 0;
  return NULL;
}

/* The written name with its bracket emptied, so that it compares with the list. */
static void empty_bracket(const char *written, char *out, size_t n) {
  const char *open = strchr(written, '[');
  const char *close = open ? strchr(open, ']') : NULL;
  const size_t head = close ? (size_t)(open - written) + 1 : strlen(written);
  const size_t copied = head < n ? head : n - 1;
  memcpy(out, written, copied);
  out[copied] = '\0';
  if (close) strncat(out, close, n - copied - 1);
}

const char *scn_name_nearest(const char *written) {
  char plain[64];
  empty_bracket(written, plain, sizeof plain);
  const char *best = NULL;
  size_t best_distance = SIZE_MAX;
  for (size_t i = 0; i < NAME_COUNT; i++) {
    const size_t distance = scn_distance(plain, names[i].name);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = names[i].name;
  }
  return best && scn_is_near(plain, best_distance) ? best : NULL;
}
