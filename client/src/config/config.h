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

#include "qwp/status.h"

struct qwp_endpoint {
  char *host; /* without brackets */
  int port;
};

enum qwp_initial_connect { QWP_CONNECT_OFF, QWP_CONNECT_SYNC, QWP_CONNECT_ASYNC };

#define QWP_CONFIG_OFF INT64_C(-1) /* a trigger that is off */

struct qwp_config {
  bool tls; /* schema wss */
  struct qwp_endpoint *endpoints;
  size_t endpoint_count;
  char *authorization; /* value of the header, or NULL */
  char *client_id;     /* never NULL */

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
 * whole connect string; at most 64 KiB. */
enum qwp_status qwp_config_parse(const char *text, struct qwp_config *out, struct qwp_error *err);
void qwp_config_free(struct qwp_config *c);

/* Milliseconds to nanoseconds, saturating at QWP_NEVER. */
int64_t qwp_config_ns(int64_t ms);

#endif
