#include "config/key_table.h"

#include <string.h>
#include <strings.h>

#define ON_OFF "off|on"
#define ON_OFF_TRUE "off,false|on,true"
#define POLICIES "auto|terminal|retriable|retriable_other"

/* Rows that differ in few columns only. */
#define IGNORED(key, whose, kind) \
  { .name = key, .side = QWP_SIDE_##whose, .type = QWP_VALUE_##kind, .action = QWP_KEY_IGNORED }
#define RESERVED(key, what_to_do) \
  { .name = key, .side = QWP_SIDE_RESERVED, .type = QWP_VALUE_NONE, .action = QWP_KEY_REFUSED, .hint = what_to_do }
#define INGRESS(key, kind, ...) { .name = key, .side = QWP_SIDE_INGRESS, .type = QWP_VALUE_##kind, __VA_ARGS__ }
#define POLICY(key) INGRESS(key, ENUM, .words = POLICIES, .only = "auto")
#define RANGE(lowest, highest) .min = (lowest), .max = (highest)

static const struct qwp_key table[] = {
    /* ---- both directions ---- */
    {.name = "addr", .side = QWP_SIDE_BOTH, .type = QWP_VALUE_HOSTS},
    {.name = "username", .alias = "user", .side = QWP_SIDE_BOTH, .type = QWP_VALUE_STRING},
    {.name = "password", .alias = "pass", .side = QWP_SIDE_BOTH, .type = QWP_VALUE_SECRET},
    {.name = "token", .side = QWP_SIDE_BOTH, .type = QWP_VALUE_SECRET},
    {.name = "auth_timeout_ms", .side = QWP_SIDE_BOTH, .type = QWP_VALUE_MILLIS, RANGE(1, INT64_MAX),
     .standard = 15000},
    /* Default 0: as long as the operating system takes. */
    {.name = "connect_timeout", .side = QWP_SIDE_BOTH, .type = QWP_VALUE_INT, RANGE(1, INT32_MAX)},
    {.name = "tls_verify", .side = QWP_SIDE_BOTH, .type = QWP_VALUE_ENUM, .words = "on|unsafe_off",
     .exact_case = true},
    {.name = "tls_roots", .side = QWP_SIDE_BOTH, .type = QWP_VALUE_PATH},
    {.name = "tls_roots_password", .side = QWP_SIDE_BOTH, .type = QWP_VALUE_SECRET, .only = "",
     .hint = "use a PEM file in tls_roots, which needs none"},
    {.name = "tls_ca", .side = QWP_SIDE_BOTH, .type = QWP_VALUE_ENUM, .words = "os_roots|pem_file",
     .exact_case = true, .hint = "no root store comes with this client, so there is no webpki_roots"},
    {.name = "client_id", .side = QWP_SIDE_BOTH, .type = QWP_VALUE_STRING},

    /* ---- ingress: when rows leave by themselves ---- */
    INGRESS("auto_flush", BOOL, .words = ON_OFF, .standard = 1),
    INGRESS("auto_flush_rows", INT, RANGE(1, INT32_MAX), .off = true, .standard = 1000),
    INGRESS("auto_flush_interval", MILLIS, RANGE(1, INT64_MAX), .off = true, .standard = 100),
    /* Default 0: 90 % of the cap that the server advertises (P108-30). */
    INGRESS("auto_flush_bytes", SIZE, RANGE(0, INT64_MAX), .off = true),
    INGRESS("transaction", BOOL, .words = ON_OFF, .only = "off"),
    INGRESS("max_name_len", INT, RANGE(16, INT32_MAX), .standard = 127),

    /* ---- ingress: the connection ---- */
    INGRESS("initial_connect_retry", ENUM, .words = "off,false|on,true,sync|async"),
    INGRESS("reconnect_max_duration_millis", MILLIS, RANGE(1, INT64_MAX), .standard = 300000),
    INGRESS("reconnect_initial_backoff_millis", MILLIS, RANGE(1, INT64_MAX), .standard = 100),
    INGRESS("reconnect_max_backoff_millis", MILLIS, RANGE(1, INT64_MAX), .standard = 5000),
    INGRESS("max_frame_rejections", INT, RANGE(1, INT32_MAX), .standard = 4),
    INGRESS("poison_min_escalation_window_millis", MILLIS, RANGE(0, INT64_MAX), .standard = 5000),
    INGRESS("catch_up_cap_gap_min_escalation_window_millis", MILLIS, RANGE(0, INT64_MAX), .standard = 300000,
            .only = ""),
    INGRESS("close_flush_timeout_millis", MILLIS, RANGE(INT64_MIN, INT64_MAX), .standard = 5000),
    INGRESS("request_durable_ack", BOOL, .words = ON_OFF, .only = "off"),
    /* Checked; by its definition without effect while request_durable_ack is off. */
    INGRESS("durable_ack_keepalive_interval_millis", MILLIS, RANGE(INT64_MIN, INT64_MAX), .standard = 200),

    /* ---- ingress: the store ---- */
    INGRESS("sf_dir", PATH, .only = "", .hint = "leave it out to keep unacknowledged frames in memory"),
    /* Checked; by its definition without effect while sf_dir is unset. */
    INGRESS("sender_id", STRING),
    INGRESS("sf_max_segment_bytes", SIZE, RANGE(1, INT64_MAX), .standard = INT64_C(4) << 20),
    INGRESS("sf_max_total_bytes", SIZE, RANGE(1, INT64_MAX), .standard = INT64_C(128) << 20),
    INGRESS("sf_durability", ENUM, .words = "memory|periodic|flush|append", .only = "memory"),
    INGRESS("sf_sync_interval_millis", MILLIS, RANGE(1, INT64_C(9223372036854)), .standard = 5000, .only = "",
            .hint = "it needs sf_durability=periodic, which this version does not have either"),
    INGRESS("sf_append_deadline_millis", MILLIS, RANGE(1, INT64_MAX), .standard = 30000),
    INGRESS("drain_orphans", BOOL_PLUS, .words = ON_OFF_TRUE, .only = "off"),
    /* Checked; by its definition without effect while drain_orphans is off. */
    INGRESS("max_background_drainers", INT, RANGE(0, INT32_MAX), .standard = 4),

    /* ---- ingress: errors ---- */
    INGRESS("error_inbox_capacity", INT, RANGE(16, INT32_MAX), .standard = 256, .only = ""),
    INGRESS("connection_listener_inbox_capacity", INT, RANGE(1, INT32_MAX), .standard = 64, .only = ""),
    POLICY("on_server_error"),
    POLICY("on_schema_error"),
    POLICY("on_parse_error"),
    POLICY("on_internal_error"),
    POLICY("on_security_error"),
    POLICY("on_write_error"),

    /* ---- egress: a reader's ---- */
    IGNORED("target", EGRESS, ENUM),
    IGNORED("zone", EGRESS, STRING),
    IGNORED("failover", EGRESS, BOOL),
    IGNORED("failover_max_attempts", EGRESS, INT),
    IGNORED("failover_backoff_initial_ms", EGRESS, MILLIS),
    IGNORED("failover_backoff_max_ms", EGRESS, MILLIS),
    IGNORED("failover_max_duration_ms", EGRESS, MILLIS),
    IGNORED("compression", EGRESS, ENUM),
    IGNORED("compression_level", EGRESS, INT),
    IGNORED("initial_credit", EGRESS, BYTES),
    IGNORED("max_batch_rows", EGRESS, INT),
    IGNORED("buffer_pool_size", EGRESS, INT),
    IGNORED("query_close_timeout_ms", EGRESS, MILLIS),
    IGNORED("query_timeout_ms", EGRESS, MILLIS),
    IGNORED("path", EGRESS, STRING),
    IGNORED("max_version", EGRESS, INT),
    IGNORED("auth", EGRESS, SECRET),

    /* ---- the pool's ---- */
    IGNORED("sender_pool_min", POOL, INT),
    IGNORED("sender_pool_max", POOL, INT),
    IGNORED("query_pool_min", POOL, INT),
    IGNORED("query_pool_max", POOL, INT),
    IGNORED("acquire_timeout_ms", POOL, MILLIS),
    IGNORED("idle_timeout_ms", POOL, MILLIS),
    IGNORED("max_lifetime_ms", POOL, MILLIS),
    IGNORED("housekeeper_interval_ms", POOL, MILLIS),
    IGNORED("lazy_connect", POOL, BOOL_PLUS),
    IGNORED("pool_reap", POOL, ENUM),
    IGNORED("flush_on_close", POOL, BOOL),
    IGNORED("commit_rows", POOL, INT),
    IGNORED("commit_interval_ms", POOL, MILLIS),

    /* ---- not of this transport, or no longer ---- */
    RESERVED("init_buf_size", "leave it out: buffers size themselves; the key belongs to http, tcp and udp"),
    RESERVED("max_buf_size", "bound memory with sf_max_total_bytes; the key belongs to http, tcp and udp"),
    RESERVED("max_datagram_size", "leave it out: it belongs to udp only"),
    RESERVED("multicast_ttl", "leave it out: it belongs to udp only"),
    RESERVED("request_timeout", "leave it out: the deadline is an argument of qwp_sender_drain"),
    RESERVED("request_min_throughput", "leave it out: it belongs to http only"),
    RESERVED("retry_timeout", "use reconnect_max_duration_millis"),
    RESERVED("retry_max_backoff_millis", "use reconnect_max_backoff_millis"),
    RESERVED("protocol_version", "leave it out: QWP agrees on its version in the upgrade"),
    RESERVED("auth_timeout", "use auth_timeout_ms"),
    RESERVED("token_x", "leave it out: it belongs to tcp only"),
    RESERVED("token_y", "leave it out: it belongs to tcp only"),
    RESERVED("bind_interface", "leave it out: it belongs to tcp and udp only"),
    RESERVED("sf_max_bytes", "it was renamed: use sf_max_segment_bytes"),
    RESERVED("in_flight_window", "it was removed: sf_max_total_bytes is the limit"),
    RESERVED("max_in_flight", "it was removed: sf_max_total_bytes is the limit"),
    RESERVED("close_timeout", "use close_flush_timeout_millis"),
    RESERVED("gorilla", "leave it out: the encoder chooses"),
    RESERVED("qwp_ws_progress", "leave it out: the driver is chosen in qwp_sender_options"),
    RESERVED("pool_size", "use sender_pool_min, sender_pool_max, query_pool_min and query_pool_max"),
    RESERVED("pool_max", "use sender_pool_max and query_pool_max"),
    RESERVED("pool_idle_timeout_ms", "use idle_timeout_ms"),
    RESERVED("server_info_timeout_ms", "leave it out: it is no key; a reader waits 5000 ms"),
    RESERVED("replay_exec", "leave it out: it is no key; a reader sets it by its API"),
    RESERVED("ping_timeout", "leave it out: calls that wait take a deadline"),
    RESERVED("on_schema_mismatch_error", "use on_schema_error"),
    RESERVED("convert_local_to_utc", "leave it out: timestamps are passed as they are"),
    RESERVED("proxy", "leave it out: proxies are not supported"),
    RESERVED("gzip", "leave it out: it belongs to http only"),
    RESERVED("own_socket", "leave it out: it belongs to http only"),
    RESERVED("pool_timeout", "leave it out: it belongs to http only"),
};

#define COUNT (sizeof table / sizeof table[0])

const struct qwp_key *qwp_key_table(size_t *count) {
  *count = COUNT;
  return table;
}

const struct qwp_key *qwp_key_find(const char *name) {
  for (size_t i = 0; i < COUNT; i++) {
    if (strcmp(table[i].name, name) == 0) return &table[i];
    if (table[i].alias && strcmp(table[i].alias, name) == 0) return &table[i];
  }
  return NULL;
}

/* Names are compared up to this length: longer than any key. */
#define LONGEST 64

static size_t smallest(size_t a, size_t b, size_t c) {
  size_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

/* Letters to insert, delete or replace to turn a into b (Levenshtein), whatever the case. */
static size_t edits(const char *a, const char *b) {
  size_t width = strnlen(b, LONGEST);
  size_t row[LONGEST + 1];
  for (size_t j = 0; j <= width; j++) row[j] = j;
  for (size_t i = 0; i < LONGEST && a[i] != '\0'; i++) {
    size_t diagonal = row[0]; /* of the row above, one to the left */
    row[0] = i + 1;
    for (size_t j = 0; j < width; j++) {
      size_t above = row[j + 1];
      size_t replace = diagonal + (strncasecmp(a + i, b + j, 1) != 0 ? 1 : 0);
      row[j + 1] = smallest(above + 1, row[j] + 1, replace);
      diagonal = above;
    }
  }
  return row[width];
}

const char *qwp_key_nearest(const char *name) {
  const char *best = table[0].name;
  size_t best_edits = SIZE_MAX;
  for (size_t i = 0; i < COUNT; i++) {
    if (table[i].action == QWP_KEY_REFUSED) continue;
    const char *spellings[] = {table[i].name, table[i].alias};
    for (size_t k = 0; k < 2 && spellings[k]; k++) {
      size_t n = edits(name, spellings[k]);
      if (n >= best_edits) continue;
      best_edits = n;
      best = spellings[k];
    }
  }
  return best;
}
