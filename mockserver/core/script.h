/* script - what a mock server has been told to do, as typed data.
 *
 * A script is a list of entries, each for one connection (the N-th ingress
 * connection, the N-th reader, or every connection without an entry of its own). An
 * entry says how the upgrade goes, what is advertised, how frames are acknowledged,
 * and which actions hang on which triggers. Entries carry the line of the file they
 * came from, so that an action that never fired can be named.
 *
 * Pure data and its matching; no I/O, no YAML (scenarios/language reads it).
 */
#ifndef MOCK_SCRIPT_H
#define MOCK_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOCK_ANY (-1)

enum mock_upgrade {
  MOCK_UPGRADE_ACCEPT,
  MOCK_UPGRADE_STATUS, /* answer `status` with `headers` and close */
  MOCK_UPGRADE_RAW,    /* answer `raw` instead of anything of ours, keep the connection */
  MOCK_UPGRADE_DIE,    /* RST once the head is in (or after `die_after_bytes` of our answer) */
  MOCK_UPGRADE_HANG    /* never answer */
};

enum mock_ack {
  MOCK_ACK_SERVER,   /* as the real server: 8 unacknowledged, end of pass, ping, close, group commit */
  MOCK_ACK_EACH,     /* each non-deferred message on its own */
  MOCK_ACK_PER_READ, /* one at the end of each receive pass */
  MOCK_ACK_HOLD,     /* none */
  MOCK_ACK_UPTO,     /* OK(ack_value) once it is reached, then none */
  MOCK_ACK_BURST,    /* collect ack_value single OKs, emit them in one write (what is left: at ping and close) */
  MOCK_ACK_LAG,      /* each message brings the OK of the one ack_value before it; the rest at ping and close */
  MOCK_ACK_LIE       /* OK(ack_value) after the first message, whatever was received; then as server */
};

enum mock_trigger {
  MOCK_AT_FRAME,   /* n whole messages read on this connection, catch-up included, before answering n */
  MOCK_AT_BYTE,    /* n bytes read after the request head, exactly */
  MOCK_ON_UPGRADE, /* right behind the 101, in the same write */
  MOCK_ON_PING,
  MOCK_ON_CLOSE,
  MOCK_AT_TIME     /* n nanoseconds after the 101 */
};

enum mock_action {
  MOCK_DO_NACK,      /* error answer `code` for the frame of the trigger, text `text` */
  MOCK_DO_CLOSE,     /* Close frame with `code` (0 = empty payload) and reason `text`, then FIN */
  MOCK_DO_RESET,     /* RST */
  MOCK_DO_FIN,       /* FIN without Close; go on reading */
  MOCK_DO_STALL,     /* stop reading for `duration_ns` (MOCK_ANY = for ever) */
  MOCK_DO_DRAIN,     /* from now on read at most `rate` bytes a second */
  MOCK_DO_BLACKHOLE, /* read and swallow, answer nothing, no FIN */
  MOCK_DO_RAW,       /* write `raw` as it is */
  MOCK_DO_PING,      /* ping with payload `raw` */
  MOCK_DO_OK,        /* OK(`value`), whatever was received */
  MOCK_DO_REFUSE,    /* close the listener for the next `value` connects, or `duration_ns` */
  MOCK_DO_RELEASE,   /* end a hold: acknowledge what is committed, then as server */
  MOCK_DO_KEY_UPDATE, /* TLS 1.3: new keys for what the mock sends, and the client is asked for new ones of its own */
  MOCK_DO_TICKET     /* TLS 1.3: a session ticket, a record without data */
};

struct mock_rule {
  int line;
  enum mock_trigger trigger;
  int64_t n;
  int64_t n_to;           /* > n: each connection takes one of n..n_to, chosen by mock_options.seed and its number */
  enum mock_action action;
  unsigned code;
  int64_t value, rate, duration_ns;
  const char *text;       /* or NULL */
  const uint8_t *raw;     /* or NULL */
  size_t raw_n;
  bool only_catchup, only_data; /* AT_FRAME counts only these */
};

struct mock_header { const char *name, *value; };

/* What a client meets before its first byte of HTTP, where the mock speaks TLS (mockserver/tls). */
enum mock_certificate {
  MOCK_CERT_GOOD,            /* 127.0.0.1, localhost, a.test to d.test; with its intermediate */
  MOCK_CERT_OTHER_NAME,      /* for other.invalid */
  MOCK_CERT_EXPIRED,         /* since yesterday */
  MOCK_CERT_SELF_SIGNED,     /* by itself */
  MOCK_CERT_NO_INTERMEDIATE, /* the good one, sent without the certificate that signed it */
  MOCK_CERTS
};

enum mock_tls_handshake {
  MOCK_TLS_ACCEPT,
  MOCK_TLS_HANG, /* never answer the ClientHello */
  MOCK_TLS_DIE   /* RST at the ClientHello, or behind `die_after_bytes` of what the server sends */
};

struct mock_tls_script {
  bool given; /* the entry speaks of TLS: a connection that fails in its handshake is the entry's */
  int line;
  enum mock_certificate certificate;
  enum mock_tls_handshake handshake;
  int64_t die_after_bytes;
  int64_t record_bytes;   /* plaintext in one record at most, 0 = 16384 */
  bool no_close_notify;   /* the end of the answers is a bare FIN: a truncation */
  bool tickets_given;
  int64_t tickets;        /* session tickets behind the handshake */
  bool ask_certificate;   /* of the client; one that offers it violates TLS-006 */
  int version;            /* 12 or 13: only this one; 0 = both */
};

struct mock_entry {
  int line;
  int connection; /* 1.., or MOCK_ANY = every ingress connection without an entry of its own */
  bool reader;    /* counts readers instead */

  enum mock_upgrade upgrade;
  int status;
  const char *reason; /* reason phrase or NULL = the usual one */
  const struct mock_header *headers; /* extra or replaced headers of the answer; value NULL = leave it out */
  size_t header_count;
  const uint8_t *raw; size_t raw_n;
  const char *body;
  int64_t upgrade_delay_ns;
  int64_t die_after_bytes;
  int64_t upgrade_cut_bytes;   /* the answer's first so many bytes, the pause, the rest; 0 = no cut */
  int64_t upgrade_piece_bytes; /* the answer leaves so many bytes a write, a pause between; 0 = in one write */
  int64_t upgrade_pause_ns;

  bool has_cap; int64_t cap;           /* X-QWP-Max-Batch-Size; <= 0 = leave the header out */
  const char *version;                 /* value of X-QWP-Version, NULL = 1, "" = leave it out */
  const char *role;                    /* NULL = STANDALONE, "" = leave it out */

  enum mock_ack ack;
  int64_t ack_value;
  int64_t ack_delay_ns;                /* each OK leaves this much later */
  bool ack_deferred;                   /* OK deferred messages too: a deviation (C-07) */
  bool process_after_error;            /* deviation (C-48) */

  struct mock_tls_script tls;

  const struct mock_rule *rules;
  size_t rule_count;
};

enum mock_profile { MOCK_PROFILE_DOC, MOCK_PROFILE_JUL2026 };

struct mock_script {
  const struct mock_entry *entries;
  size_t entry_count;
  enum mock_profile profile;
  bool strict_refuse;      /* refuse what is only a violation */
  int64_t recv_buffer_bytes; /* 0 = 2097152: bounds a frame with its header (Close 1009) */
  int64_t send_buffer_bytes; /* 0 = the system's; else SO_SNDBUF, where the transport has one */
  int64_t max_symbols;     /* 0 = the profile's */
  bool blocking_acks;      /* read nothing while an answer is not wholly written (CASE-31) */
  int refuse_connects;     /* refuse that many connects first */
};

/* The entry for an ingress connection (or reader) number, or the MOCK_ANY one, or NULL. */
const struct mock_entry *mock_script_entry(const struct mock_script *s, bool reader, int number);

#endif
