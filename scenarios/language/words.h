/* words - the closed vocabularies of the language, each in the order of its enum.
 *
 * A choice list (scn_value_choice) and the enum it fills are kept side by side here,
 * so that an index is a value.
 */
#ifndef SCN_WORDS_H
#define SCN_WORDS_H

#define SCN_WORDS_WORLDS "sim|live|tls"                                    /* enum scn_world */
#define SCN_WORDS_ALLOW "loss|order|values|violations|unclean-end|leaks|doubles" /* bit i = SCN_ALLOW_* */
#define SCN_WORDS_SCHEMA "narrow|tiny|padded|symbols|types|tables"         /* enum workload_schema */
#define SCN_WORDS_FLUSH "each|end|none|acked|every N"                      /* enum scn_flush */
#define SCN_WORDS_ACK "server|each|per-read|hold"                          /* enum mock_ack, its first four */
#define SCN_WORDS_CERTIFICATE "good|other-name|expired|self-signed|no-intermediate" /* enum mock_certificate */
#define SCN_WORDS_FRAMES "any|data|catch-up"
#define SCN_WORDS_PROFILE "doc|jul2026"                                    /* enum mock_profile */
#define SCN_WORDS_PHASE "data|upgrade|any"                                 /* enum fault_phase */
#define SCN_WORDS_KIND "data|control|any"                                  /* enum fault_kind */

/* enum fault_point */
#define SCN_WORDS_POINT \
  "client.send|client.recv|client.connect|client.wait|client.close|client.clock|client.alloc|client.entropy|" \
  "client.sync|client.map|client.reserve|client.unlink|client.rename|client.lock"

/* First those of enum fault_do after FAULT_DO_ERRNO, then the errors, as reader_faults.c has them. */
#define SCN_WORDS_DO \
  "short N..|again|delay-before D..|delay-return D..|rst|fin|corrupt N..|chunk S..|" \
  "EPIPE|ECONNRESET|ENOBUFS|ENOMEM|EINTR|EAGAIN|ETIMEDOUT|ECONNREFUSED|EIO"

/* Names of enum qwp_status; words_test holds them against qwp_status_name. */
#define SCN_WORDS_STATUS \
  "QWP_AGAIN|QWP_TIMEOUT|QWP_BACKPRESSURE|QWP_CONN_LOST|QWP_CONN_PROTOCOL|QWP_CONN_UPGRADE|QWP_CONN_ROLE|" \
  "QWP_CONN_TIMEOUT|QWP_CONN_CLOSED|QWP_CONN_TLS|QWP_AUTH|QWP_REJECTED|QWP_POISONED|QWP_CONNECT|QWP_ROLE|QWP_TOO_LARGE|" \
  "QWP_DICT_FULL|QWP_RESEND|QWP_CONFIG|QWP_MISUSE|QWP_NAME|QWP_TYPE|QWP_VALUE|QWP_NOMEM"

#endif
