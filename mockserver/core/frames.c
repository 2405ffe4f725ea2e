/* frames - a receive pass (declared in connection.h).
 *
 * Method: frames that lie wholly in the bytes of the pass are handed on from there;
 * their payload is unmasked into one scratch buffer that stays in the cache (a zero key
 * needs not even that). Only a frame that is cut by the end of a pass is copied, into
 * `rx`, byte for byte as it came, until it is whole. So 1 000 frames in one pass and one
 * frame in 1 000 passes take the same road [P121-58]. Short binary messages, nearly all
 * of what comes, are told from the rest by two bytes (usual_frame) and take it sooner.
 */
#include <string.h>

#include "core/connection.h"
#include "core/profile.h"
#include "core/ws_server.h"
#include "qwp/wire.h"

/* ---- one frame ------------------------------------------------------------------ */

static void on_broken(struct mock_conn *c, const struct mock_ws_frame *f) {
  mock_conn_violation(c, f->requirement, -1, 0, f->wrong);
  mock_conn_ack(c, MOCK_ACK_AT_END); /* what is pending still leaves; no Close frame follows */
  mock_conn_close(c, "dropped");
}

/* The mask keys call for a closer look. Cold: it is due some 30 times in a milliard of frames. */
__attribute__((cold, noinline)) static void judge_mask_keys(struct mock_conn *c) {
  struct mock_mask_keys *k = &c->mask_keys;
  const char *wrong = mock_mask_keys_judge(k);
  if (!wrong && mock_mask_keys_first_pair(k) && mock_conn_seen_before(&c->m->first_masks, k->pair)) {
    wrong = "the first two mask keys are those of another connection";
    k->over = true;
  }
  if (wrong) mock_conn_violation(c, "WS-001", -1, 0, wrong);
}

static inline void take_mask_key(struct mock_conn *c, const struct mock_ws_frame *f) {
  if (mock_mask_keys_take(&c->mask_keys, f->key)) judge_mask_keys(c);
}

static void on_ping(struct mock_conn *c, const uint8_t *p, size_t n) {
  struct mock *m = c->m;
  struct mock_journal_place at;
  m->facts.pings++;
  c->director.pings++;
  mock_conn_place(c, &at);
  if (mock_journal_begin(&m->journal, &at, "ping", true)) {
    mock_journal_int(&m->journal, "bytes", (int64_t)n);
    mock_journal_end(&m->journal);
  }
  if (mock_conn_fire(c, MOCK_ON_PING, false, c->next_seq - 1)) return;

  mock_conn_ack(c, MOCK_ACK_AT_PING);
  if (c->blocked || c->mute) return; /* an earlier answer is still blocked: no Pong */
  mock_reply_pong(&c->out, p, n);
}

static void remember_pong(struct mock_record *r, const uint8_t *p, size_t n) {
  if (n >= sizeof r->pong) n = sizeof r->pong - 1; /* more than 125 bytes do not come here */
  for (size_t i = 0; i < n; i++) r->pong[i] = p[i] >= 0x20 && p[i] < 0x7f ? (char)p[i] : '?';
  r->pong[n] = '\0';
}

static void on_pong(struct mock_conn *c, const uint8_t *p, size_t n) {
  struct mock *m = c->m;
  struct mock_journal_place at;
  m->facts.pongs++;
  if (c->record) remember_pong(c->record, p, n);
  mock_conn_place(c, &at);
  if (!mock_journal_begin(&m->journal, &at, "pong", true)) return;
  mock_journal_int(&m->journal, "bytes", (int64_t)n);
  mock_journal_end(&m->journal);
}

static void on_close(struct mock_conn *c, const uint8_t *p, size_t n) {
  struct mock *m = c->m;
  struct mock_journal_place at;
  unsigned code = n >= 2 ? (unsigned)p[0] << 8 | p[1] : 0;
  m->facts.closes++;
  c->director.closes++;
  mock_conn_place(c, &at);
  if (mock_journal_begin(&m->journal, &at, "close", false)) {
    mock_journal_string(&m->journal, "from", "peer");
    mock_journal_int(&m->journal, "code", code);
    if (n > 2) mock_journal_text(&m->journal, "reason", (const char *)p + 2, n - 2);
    mock_journal_end(&m->journal);
  }
  if (mock_conn_fire(c, MOCK_ON_CLOSE, false, c->next_seq - 1)) return;

  struct mock_out label = {0};
  mock_out_text(&label, "close ");
  if (code) mock_out_decimal(&label, code);
  else mock_out_text(&label, "without code");
  mock_out_u8(&label, 0);
  const char *end = label.failed ? "close" : (const char *)label.p;
  /* With an earlier answer blocked there is no Close answer, only the end. */
  if (c->blocked) mock_conn_close(c, end);
  else mock_conn_close_frame(c, c->reader ? 1000 : mock_ws_close_echo(code), NULL, end);
  mock_out_free(&label);
}

/* A reader is served its SERVER_INFO and nothing more: CANCEL and CREDIT name no query
 * and are ignored, anything else ends it without a Close frame. */
static void on_reader_message(struct mock_conn *c, const uint8_t *p, size_t n) {
  enum { CANCEL = 0x14, CREDIT = 0x15 };
  if (n > 0 && (p[0] == CANCEL || p[0] == CREDIT)) return;
  mock_conn_close(c, "dropped");
}

static void on_frame(struct mock_conn *c, const struct mock_ws_frame *f, const uint8_t *p, size_t n) {
  bool strict = c->m->options.script && c->m->options.script->strict_refuse;
  take_mask_key(c, f);
  if (!f->minimal) mock_conn_violation(c, "WS-003", -1, 1, "length of a frame not in its shortest form");
  if (!f->minimal && strict) {
    mock_conn_close_frame(c, 1002, "length of a frame not in its shortest form", "sent close 1002");
    return;
  }
  switch (f->opcode) {
    case QWP_WS_PING: on_ping(c, p, n); return;
    case QWP_WS_PONG: on_pong(c, p, n); return;
    case QWP_WS_CLOSE: on_close(c, p, n); return;
    default: break;
  }
  bool text = f->opcode == QWP_WS_TEXT;
  bool fragment = !text && (!f->fin || f->opcode == QWP_WS_CONTINUATION);
  if (text) mock_conn_violation(c, "WS-002", -1, 0, "text message");
  if (fragment) mock_conn_violation(c, "WS-009", -1, 0, "fragmented message");

  if (c->reader) {
    if (text || fragment) mock_conn_close(c, "dropped");
    else on_reader_message(c, p, n);
  } else if (text) {
    mock_conn_close_frame(c, 1003, "text frames are not supported, QWP requires binary frames", "sent close 1003");
  } else if (fragment) {
    mock_conn_close_frame(c, 1002, "fragmented WebSocket frames are not supported", "sent close 1002");
  } else {
    mock_conn_message(c, p, n);
  }
}

static const uint8_t *unmasked(struct mock_conn *c, const struct mock_ws_frame *f, const uint8_t *p, size_t n) {
  static const uint8_t zero[4] = {0};
  if (n == 0 || memcmp(f->key, zero, 4) == 0) return p;
  mock_out_clear(&c->m->scratch);
  uint8_t *to = mock_out_reserve(&c->m->scratch, n);
  if (!to) return NULL;
  mock_ws_unmask(to, p, n, f->key);
  return to;
}

/* false: the header says more than the receive buffer holds; the payload is not awaited [CAP-007]. */
static bool fits(struct mock_conn *c, const struct mock_ws_frame *f) {
  if (f->payload_n <= c->frame_max && f->header_n + f->payload_n <= c->frame_max) return true;
  mock_conn_violation(c, "CAP-001", -1, 0, "frame larger than the receive buffer");
  mock_conn_close_frame(c, 1009, "frame payload exceeds maximum size", "sent close 1009");
  return false;
}

static bool goes_on(const struct mock_conn *c) {
  return !c->dead && c->stage == MOCK_STAGE_WS && !c->blackhole && !mock_conn_held(c);
}

/* Adds to the frame that an earlier pass left incomplete. Returns bytes used. */
static size_t complete_frame(struct mock_conn *c, const uint8_t *p, size_t n) {
  struct mock_ws_frame f;
  size_t used = 0;
  enum mock_ws_answer a;
  while ((a = mock_ws_parse(c->rx.p, c->rx.n, &f)) == MOCK_WS_MORE && used < n) mock_out_put(&c->rx, p + used++, 1);
  if (a == MOCK_WS_MORE) return used;
  if (a == MOCK_WS_BROKEN) {
    on_broken(c, &f);
    return n;
  }
  if (!fits(c, &f)) return n;

  size_t payload_n = (size_t)f.payload_n, missing = f.header_n + payload_n - c->rx.n;
  size_t take = missing < n - used ? missing : n - used;
  mock_out_put(&c->rx, p + used, take);
  if (c->rx.failed || take < missing) return used + take;

  mock_ws_unmask(c->rx.p + f.header_n, c->rx.p + f.header_n, payload_n, f.key);
  /* The frame leaves rx before it is looked at, for what it brings about may end the connection. */
  size_t whole = c->rx.n;
  c->rx.n = 0;
  on_frame(c, &f, c->rx.p + f.header_n, whole - f.header_n);
  return used + take;
}

/* A frame at p, or the beginning of one. Returns bytes used. */
static size_t any_frame(struct mock_conn *c, const uint8_t *p, size_t n) {
  struct mock_ws_frame f;
  enum mock_ws_answer a = mock_ws_parse(p, n, &f);
  if (a == MOCK_WS_BROKEN) {
    on_broken(c, &f);
    return n;
  }
  if (a == MOCK_WS_HEADER && !fits(c, &f)) return n;
  if (a == MOCK_WS_MORE || f.payload_n > n - f.header_n) {
    mock_out_put(&c->rx, p, n);
    return n;
  }
  const size_t payload_n = (size_t)f.payload_n;
  const uint8_t *payload = unmasked(c, &f, p + f.header_n, payload_n);
  if (!payload) {
    c->rx.failed = true;
    return n;
  }
  on_frame(c, &f, payload, payload_n);
  return f.header_n + payload_n;
}

/* The same for a short binary message of an ingress connection, wholly here: most frames by far. Returns bytes
 * used, 0 = it is something else. */
static inline size_t usual_frame(struct mock_conn *c, const uint8_t *p, size_t n) {
  struct mock_ws_frame f;
  if (c->reader || !mock_ws_parse_usual(p, n, &f)) return 0;
  const size_t payload_n = (size_t)f.payload_n, whole = f.header_n + payload_n;
  if (payload_n == 0 || whole > c->frame_max) return 0;
  mock_out_clear(&c->m->scratch);
  uint8_t *payload = mock_out_reserve(&c->m->scratch, payload_n);
  if (!payload) return 0;
  mock_ws_unmask(payload, p + f.header_n, payload_n, f.key);
  take_mask_key(c, &f);
  mock_conn_message(c, payload, payload_n);
  return whole;
}

/* Returns how many of the n bytes were used: all, unless the connection stopped looking. */
static size_t feed(struct mock_conn *c, const uint8_t *p, size_t n) {
  size_t used = 0;
  while (used < n && goes_on(c)) {
    if (c->rx.n > 0) {
      used += complete_frame(c, p + used, n - used);
      continue;
    }
    const size_t usual = usual_frame(c, p + used, n - used);
    used += usual ? usual : any_frame(c, p + used, n - used);
  }
  return used;
}

/* ---- one pass ------------------------------------------------------------------- */

/* How many of n bytes may be looked at before something scripted is due. */
static size_t portion(const struct mock_conn *c, size_t n) {
  int64_t left = mock_director_bytes_left(&c->director);
  if (left >= 0 && (uint64_t)left < n) n = (size_t)left;
  if (c->drain_rate > 0 && c->read_limit > 0 && n > c->read_limit) n = c->read_limit;
  return n;
}

/* A drained connection waits as long as its bytes would take. */
static void drain(struct mock_conn *c, size_t used) {
  if (used == 0) return;
  int64_t from = c->drain_at_ns > c->m->now_ns ? c->drain_at_ns : c->m->now_ns;
  int64_t pause = (int64_t)((double)used * 1e9 / (double)c->drain_rate);
  c->drain_at_ns = pause > INT64_MAX - from ? INT64_MAX : from + pause;
}

static size_t consume_ws(struct mock_conn *c, const uint8_t *p, size_t n) {
  size_t take = portion(c, n);
  bool draining = c->drain_rate > 0; /* what was read before the rule came costs nothing */
  size_t used = c->blackhole ? take : feed(c, p, take);
  c->director.bytes += (int64_t)used;
  if (c->record) c->record->facts.bytes_in += (int64_t)used; /* those that ended the connection count too */
  if (c->dead) return n;
  if (draining) drain(c, used);
  mock_conn_fire(c, MOCK_AT_BYTE, false, c->next_seq - 1);
  if (!c->dead) mock_conn_pace(c);
  return used;
}

void mock_conn_consume(struct mock_conn *c, const uint8_t *p, size_t n) {
  while (n > 0 && !c->dead) {
    size_t used = n; /* DELAYED is handled below; SILENT and ENDING swallow */
    if (c->stage == MOCK_STAGE_HEAD) {
      used = mock_conn_head(c, p, n);
    } else if (c->stage == MOCK_STAGE_DELAYED) {
      mock_conn_violation(c, "WS-009", -1, 0, "bytes behind the request head before the 101");
      mock_conn_close(c, "dropped");
    } else if (c->stage == MOCK_STAGE_WS) {
      if (mock_conn_held(c)) {
        mock_out_put(&c->held, p, n);
        return;
      }
      used = consume_ws(c, p, n);
    }
    p += used;
    n -= used;
  }
}

void mock_conn_pass_end(struct mock_conn *c) {
  if (c->dead) return;
  if (c->stage == MOCK_STAGE_WS && !c->reader) mock_conn_ack(c, MOCK_ACK_AT_PASS);
  if (!c->dead) mock_conn_flush(c);
  if (!c->dead && (c->rx.failed || c->held.failed || c->head.failed)) mock_conn_reset(c, "out of memory");
  if (!c->dead) mock_conn_pace(c);
}
