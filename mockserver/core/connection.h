/* connection - one client, from accept to the end.
 *
 * Split by what happens to it:
 *   connection.c  its life: answers out, pace of reading, the end, timers
 *   handshake.c   the request head and how it is answered
 *   frames.c      a receive pass: frames found, unmasked, handed on
 *   message.c     a binary message: numbered, decoded (or known by repeat.c), committed, acknowledged
 *   action.c      what a script makes happen
 *   secure.c      what a filter for TLS tells of it
 *
 * A pass collects its answers in `out`, which leaves in one write at its end. Called
 * from outside are only the functions of mock.h (mock.c, secure.c).
 */
#ifndef MOCK_CONNECTION_H
#define MOCK_CONNECTION_H

#include "core/acks.h"
#include "core/answers.h"
#include "core/decode.h"
#include "core/dict.h"
#include "core/director.h"
#include "core/id_set.h"
#include "core/journal.h"
#include "core/mask_keys.h"
#include "core/mock.h"
#include "core/out.h"
#include "core/pieces.h"
#include "core/repeat.h"
#include "core/tables.h"
#include "core/upgrade.h"
#include "core/violations.h"

#define MOCK_OUT_QUEUE_BYTES ((size_t)64 << 20) /* unsent answers beyond this stop the reading */

#define MOCK_SNI_BYTES 256

struct mock_record { /* of a numbered ingress connection; outlives it */
  struct mock_conn_facts facts;
  char pong[126];
  char end[48];
  char tls[8], sni[MOCK_SNI_BYTES], tls_end[16];
};

struct mock_entry_state {
  bool came;   /* a connection used the entry */
  bool *fired; /* its rules, on any connection */
  bool handshake_fired; /* what its `tls` does to the handshake has happened */
};

struct mock {
  struct mock_options options;
  struct mock_limits limits;
  struct mock_journal journal;
  struct mock_violations violations;
  struct mock_facts facts;
  struct mock_tables *tables;
  struct mock_decoder *decoder;
  struct mock_out scratch;          /* the payload of the frame at hand, unmasked */
  struct mock_entry_state *entries; /* beside script->entries */
  struct mock_record **records;     /* [number - 1] */
  size_t record_count, record_cap;
  struct mock_id_set upgrade_keys;  /* hashes of every Sec-WebSocket-Key so far */
  struct mock_id_set first_masks;   /* the first two mask keys of every connection */
  struct mock_id_set payloads;      /* hashes of every data message, with MOCK_ROWS_FULL */
  int readers;
  struct mock_conn *live;
  int64_t links;
  int64_t now_ns;                   /* of the call at hand */
  int64_t wall_ns;                  /* read once a pass, when wanted */
  bool wall_known;
  int64_t refuse_left;              /* connects still to be refused */
  int64_t listen_at_ns;             /* INT64_MAX = the listener is open, or closed for good */
  int64_t woken_for_ns;             /* what wake_at was last told */
};

enum mock_stage {
  MOCK_STAGE_HEAD,    /* collecting a request head */
  MOCK_STAGE_DELAYED, /* the head is in, the answer waits for its time */
  MOCK_STAGE_SILENT,  /* scripted: whatever comes is swallowed */
  MOCK_STAGE_WS,      /* behind the 101 */
  MOCK_STAGE_ENDING   /* closes once `out` is written; input is discarded */
};

struct mock_conn {
  struct mock *m;
  struct mock_conn *next, *prev;
  void *peer;
  int64_t link;
  enum mock_stage stage;
  bool dead;                /* released by the transport; freed at the end of the call */
  bool reader;
  int number;               /* among ingress connections, or among readers; 0 = no head yet */
  struct mock_record *record; /* NULL for a reader */
  const struct mock_entry *entry;
  struct mock_director director;
  char end[48];
  char tls[8], sni[MOCK_SNI_BYTES]; /* of its handshake */

  struct mock_out head;     /* the request head so far; after parsing, what the request points into */
  size_t head_seen;
  struct mock_request request;
  uint64_t body_left;       /* of a refused request, to be skipped */
  int64_t upgrade_at_ns;    /* INT64_MAX = not waiting */

  struct mock_out rx;       /* a frame that is not wholly here, as it came */
  struct mock_out held;     /* read but not to be looked at yet */
  struct mock_mask_keys mask_keys;
  uint64_t frame_max;
  int64_t cap;              /* advertised, <= 0 = none */

  struct mock_dict *dict;
  struct mock_pending *pending;
  struct mock_repeat repeat;
  int64_t next_seq;
  struct mock_acks acks;
  bool group_open;          /* a deferred message since the last commit */
  bool failed;              /* a message was refused: all later ones are dropped */

  struct mock_answers answers;
  struct mock_out out;
  struct mock_pieces pieces; /* of the answer to the upgrade */
  bool blocked;             /* the transport took less than `out` */
  bool mute;                /* nothing is answered any more (FIN sent, or a black hole) */
  bool blackhole;
  bool fin_wanted;

  int64_t stalled_until_ns; /* 0 = not stalled */
  int64_t drain_rate;       /* bytes a second, 0 = as they come */
  int64_t drain_at_ns;      /* reading goes on then */
  bool paused;
  size_t read_limit;
};

/* mock.c: every call from outside begins and ends with these */
void mock_enter(struct mock *m);
void mock_leave(struct mock *m);

/* connection.c */
struct mock_conn *mock_conn_new(struct mock *m, void *peer);
void mock_conn_del(struct mock_conn *c);
void mock_conn_violation(struct mock_conn *c, const char *requirement, int64_t wire_seq, int64_t offset,
                         const char *text);
void mock_conn_flush(struct mock_conn *c);            /* writes `out`; may end the connection */
void mock_conn_pace(struct mock_conn *c);             /* tells the transport what may be read */
void mock_conn_resume(struct mock_conn *c);           /* looks at what was held, if it may */
void mock_conn_close(struct mock_conn *c, const char *label);  /* politely, once `out` is written */
void mock_conn_reset(struct mock_conn *c, const char *label);  /* RST now */
void mock_conn_ended(struct mock_conn *c, const char *label);  /* the transport is done with it */
void mock_conn_close_frame(struct mock_conn *c, unsigned code, const char *reason, const char *label);
int64_t mock_conn_due(const struct mock_conn *c);     /* INT64_MAX = never */
void mock_conn_tick(struct mock_conn *c);

/* What its handshake settled outlives the connection. */
static inline void mock_record_secured(struct mock_record *r, const struct mock_conn *c) {
  memcpy(r->tls, c->tls, sizeof c->tls);
  memcpy(r->sni, c->sni, sizeof c->sni);
}

static inline void mock_conn_place(const struct mock_conn *c, struct mock_journal_place *at) {
  *at = (struct mock_journal_place){.t_ns = c->m->now_ns, .number = c->number, .reader = c->reader, .link = c->link};
}

/* Nothing more may be looked at now. Asked before every frame. */
static inline bool mock_conn_held(const struct mock_conn *c) {
  const struct mock_script *s = c->m->options.script;
  if (c->stage != MOCK_STAGE_WS) return false;
  if (c->stalled_until_ns > c->m->now_ns) return true;
  if (c->drain_rate > 0 && c->drain_at_ns > c->m->now_ns) return true;
  return c->blocked && ((s && s->blocking_acks) || c->out.n > MOCK_OUT_QUEUE_BYTES);
}

/* Says that a connection brought these 64 bits. True: another one had brought them before. */
bool mock_conn_seen_before(struct mock_id_set *set, uint64_t bits);

/* handshake.c */
bool mock_conn_take_number(struct mock_conn *c);                        /* the next one, and its entry */
size_t mock_conn_head(struct mock_conn *c, const uint8_t *p, size_t n); /* returns bytes used */
void mock_conn_answer_head(struct mock_conn *c);                        /* a delayed answer's time has come */

/* frames.c */
void mock_conn_consume(struct mock_conn *c, const uint8_t *p, size_t n);
void mock_conn_pass_end(struct mock_conn *c);

/* message.c */
void mock_conn_message(struct mock_conn *c, const uint8_t *p, size_t n);
void mock_conn_refuse(struct mock_conn *c, int64_t seq, unsigned status, const char *text);
void mock_conn_ack(struct mock_conn *c, enum mock_ack_moment moment);
void mock_conn_ok(struct mock_conn *c, int64_t seq, bool with_tables);
void mock_conn_release_answers(struct mock_conn *c, int64_t now_ns); /* those that are due by then */

/* action.c */
/* Fires what is due; seq is the frame of the trigger. true = the event is used up
 * (refused, swallowed, or the connection is ending): it gets no ordinary treatment. */
bool mock_conn_fire(struct mock_conn *c, enum mock_trigger t, bool is_catchup, int64_t seq);
bool mock_action_uses_up(enum mock_action a);

#endif
