/* config - the connect string, checked and turned into values.
 *
 * Grammar and rules: tests/data/connect-string-keys.tsv and requirements CONF-*.
 *   ws::addr=host:port;key=value;...      ";;" in a value is one ";"
 * Every refusal comes before any traffic, has code QWP_CONFIG, names the key in
 * err->key, states the rule and the remedy, and shows no secret.
 */
#ifndef QWP_CONFIG_H
#define QWP_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qwp/ops.h"
#include "qwp/status.h"

struct qwp_endpoint {
  char *host; /* without brackets */
  int port;
};

enum qwp_initial_connect { QWP_CONNECT_OFF, QWP_CONNECT_SYNC, QWP_CONNECT_ASYNC };

#define QWP_CONFIG_OFF INT64_C(-1) /* a trigger that is off */

/* The least that sf_max_segment_bytes may be: what the smallest frame needs in a segment of its own.
 *   message  header 12, empty dictionary section 2, table: name 2, row count 1, column count 1, and one
 *            BOOLEAN column: name 2, type 1, null flag 1, values 1
 *   segment  its header 24, the frame's header 8
 * Smaller, and no row could ever be flushed. */
#define QWP_CONFIG_FRAME_BYTES_MIN 23
#define QWP_CONFIG_SEGMENT_BYTES_MIN (32 + QWP_CONFIG_FRAME_BYTES_MIN)

struct qwp_config {
  struct qwp_endpoint *endpoints;
  size_t endpoint_count;
  char *authorization; /* value of the header, or NULL */
  char *client_id;     /* never NULL */

  bool tls;        /* schema wss [TLS-001] */
  bool tls_verify; /* false: any certificate passes [TLS-003] */
  char *tls_roots; /* path of a PEM file, or NULL = the system's store */

  int64_t auto_flush_rows;        /* or QWP_CONFIG_OFF */
  int64_t auto_flush_interval_ms; /* or QWP_CONFIG_OFF */
  int64_t auto_flush_bytes;       /* or QWP_CONFIG_OFF; 0 = unset */
  int64_t max_name_bytes;

  enum qwp_initial_connect initial_connect;
  int64_t auth_timeout_ms;
  int64_t connect_timeout_ms; /* 0 = the operating system's */
  int64_t reconnect_max_duration_ms;
  int64_t reconnect_initial_backoff_ms;
  int64_t reconnect_max_backoff_ms;
  int64_t max_frame_rejections;
  int64_t poison_window_ms;
  int64_t close_flush_timeout_ms; /* <= 0: no wait */

  int64_t sf_max_segment_bytes;
  int64_t sf_max_total_bytes;
  int64_t sf_append_deadline_ms;
};

/* Fills *out from text; on failure *out is empty and needs no free. text is the
 * whole connect string; at most 64 KiB. Of ops only the memory table is used.
 * QWP_CONFIG, QWP_NOMEM. */
enum qwp_status qwp_config_parse(const char *text, const struct qwp_ops *ops, struct qwp_config *out,
                                 struct qwp_error *err);
/* Wipes the credentials and frees all; ops as for the parse. An empty *c is fine. */
void qwp_config_free(struct qwp_config *c, const struct qwp_ops *ops);

/* Milliseconds to nanoseconds, saturating at QWP_NEVER. */
int64_t qwp_config_ns(int64_t ms);

#endif
