/* The mock behind its TLS, from any client: OpenSSL's own end, whose bytes the input tampers with, and records that no
 * library would write, sealed under the connection's keys.
 *
 * Input: one byte that says which script is served and which version is spoken, then one act after the other (acts[]).
 * All plaintext of the client's is an upgrade and whole frames of rows behind it, without end.
 *
 * What must hold
 *  - The mock counts no byte more than the client has said, and finds no violation: plaintext is never wrong.
 *  - With an honest client, a transport that takes all and no end, all of it arrives, and what the mock says is read.
 *  - Nothing is written behind the end (the rig sees to it), and time goes on: no wake-up follows itself for ever.
 *  - What OpenSSL holds does not grow with what the client says. */
#include "fuzz_tls.h"
#include "tls_forge.h"
#include "tls_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD_BYTES = sizeof RIG_WRITE_HEAD - 1 };
enum { STREAM_BYTES = 1 << 17, FLOOD_BYTES = 1 << 16, OPENSSL_BYTES = 1 << 21, TICKS = 4096, MS = 1000000 };

static struct mock_identity *identity;
static SSL_CTX *trusting;
static struct rig_bytes stream; /* the upgrade's head, then rows: fewer than may be in flight, padded */

static void prepare(void) {
  fuzz_tls_init();
  identity = mock_identity_new();
  require(identity, "certificates");
  trusting = tr_trusting(identity);
  tf_tap(trusting);
  memcpy(stream.p, RIG_WRITE_HEAD, HEAD_BYTES);
  stream.n = HEAD_BYTES;
  static const uint8_t most[125];
  for (int64_t i = 0; stream.n + 64 + 8 * (125 + 6) < STREAM_BYTES; i++) {
    rig_row(&stream, 0, i);
    for (int k = 0; k < 8; k++) rig_frame(&stream, 0x8A, most, sizeof most); /* Pongs that nobody asked for */
  }
}

struct life {
  struct fuzz_input in;
  struct tls_rig t;
  struct tr_client *c;
  struct tf forge;
  bool forging;
  bool honest; /* nobody has tampered, cut or filled anything */
  bool answered; /* the upgrade was */
  size_t said, own_records; /* the second: before they were forged */
};

/* ---- what the client says ------------------------------------------------------------------- */

static bool secured(const struct life *l) { return SSL_is_init_finished(l->c->ssl) && !l->c->broken; }

static void forge(struct life *l, uint8_t type, const uint8_t *p, size_t n, size_t padding) {
  static uint8_t record[65536 + 65536 + TF_OVERHEAD];
  if (!l->forging) {
    tf_begin(&l->forge, l->c->ssl, false);
    l->forge.seq += l->own_records;
  }
  l->forging = true;
  tr_feed(l->c, record, tf_seal(&l->forge, type, p, n, padding, record));
}

static void act_shake(struct life *l) {
  ERR_clear_error();
  SSL_do_handshake(l->c->ssl);
  ERR_clear_error();
  tr_flush(l->c);
}

static void act_hear(struct life *l) {
  l->c->heard_n = 0;
  tr_hear(l->c);
  l->answered = l->answered || l->c->heard_n > 0;
  ERR_clear_error();
}

static void act_say(struct life *l) {
  const size_t want = 1 + fuzz_number(&l->in), left = (l->said < HEAD_BYTES ? HEAD_BYTES : stream.n) - l->said;
  const size_t n = want < left ? want : left;
  if (!secured(l) || n == 0 || (l->said >= HEAD_BYTES && !l->answered)) return; /* rows wait for the 101 */
  if (l->forging) {
    for (size_t at = 0, piece; at < n; at += piece) {
      piece = n - at < 16384 ? n - at : 16384;
      forge(l, 23, stream.p + l->said + at, piece, 0);
    }
  } else if (SSL_write(l->c->ssl, stream.p + l->said, (int)n) == (int)n) {
    l->said += n;
    l->own_records += (n + 16383) / 16384;
    tr_flush(l->c);
    return;
  } else {
    ERR_clear_error(); /* the client has failed: it says nothing more */
    l->c->broken = true;
    return;
  }
  l->said += n;
}

static void act_raw(struct life *l) {
  const uint8_t *p;
  const size_t n = fuzz_bytes(&l->in, 1 + fuzz_byte(&l->in), &p);
  l->honest = false;
  if (n > 0) tr_feed(l->c, p, n);
}

/* What the client has to send, altered: one byte, or cut short, in pieces. */
static void act_tamper(struct life *l) {
  const size_t at = fuzz_number(&l->in), piece = 1 + fuzz_byte(&l->in);
  const uint8_t mask = fuzz_byte(&l->in);
  uint8_t *p, copy[8192];
  ERR_clear_error();
  if (!SSL_is_init_finished(l->c->ssl)) SSL_do_handshake(l->c->ssl);
  ERR_clear_error();
  size_t n = (size_t)BIO_get_mem_data(SSL_get_wbio(l->c->ssl), &p);
  if (n == 0 || n > sizeof copy) return;
  memcpy(copy, p, n);
  (void)BIO_reset(SSL_get_wbio(l->c->ssl));
  if (mask) l->honest = false;
  if (mask == 255) n = at % n + 1;
  else copy[at % n] ^= mask;
  for (size_t done = 0; done < n; done += piece) tr_feed(l->c, copy + done, n - done < piece ? n - done : piece);
}

static void act_forge(struct life *l) {
  const uint8_t type = fuzz_byte(&l->in);
  const size_t padding = fuzz_byte(&l->in);
  const uint8_t *p;
  const size_t n = fuzz_bytes(&l->in, fuzz_byte(&l->in), &p);
  if (!secured(l) || type == 23) return;
  l->honest = false;
  forge(l, type, p, n, padding);
}

static void act_flood(struct life *l) {
  static const uint8_t key_update[5] = {24, 0, 0, 1, 1}, warning[2] = {1, 90}, hello[4] = {1, 0, 0, 0};
  static const uint8_t zeros[16385] = {0};
  const unsigned kind = fuzz_byte(&l->in) % 5;
  const size_t bytes = fuzz_number(&l->in) * 2 % FLOOD_BYTES;
  if (!secured(l)) return;
  l->honest = false;
  for (size_t done = 0; done < bytes; done += 22) {
    if (kind == 0) forge(l, 22, key_update, sizeof key_update, 0);
    if (kind == 0 && !l->forge.old) tf_new_keys(&l->forge);
    if (kind == 1) forge(l, 21, warning, sizeof warning, 0);
    if (kind == 2) forge(l, 23, NULL, 0, 0);
    if (kind == 3) forge(l, 22, hello, sizeof hello, 0);
    if (kind == 4) forge(l, 22, zeros, sizeof zeros, 0), done += sizeof zeros;
  }
}

static void act_close(struct life *l) {
  l->honest = false;
  if (!secured(l) || l->forging) return;
  SSL_shutdown(l->c->ssl);
  ERR_clear_error();
  l->c->broken = true;
  tr_flush(l->c);
}

/* ---- what the transport does -------------------------------------------------------------------- */

static void act_room(struct life *l) {
  const size_t room = fuzz_number(&l->in);
  l->honest = false;
  if (l->c->conn) tr_writable(l->c, room);
}

static void act_eof(struct life *l) {
  l->honest = false;
  tr_eof(l->c, fuzz_byte(&l->in) & 1);
}

static void act_gone(struct life *l) {
  l->honest = false;
  l->c->p->gone = true;
}

static void advance(struct life *l, int64_t ns) {
  struct rig *r = &l->t.r;
  const int64_t to = r->now_ns + ns;
  for (int ticks = 0; r->wake_ns <= to; ticks++) {
    require(ticks < TICKS, "time goes on");
    if (r->wake_ns > r->now_ns) r->now_ns = r->wake_ns;
    r->wake_ns = INT64_MAX;
    l->t.events.tick(l->t.events.ctx);
    if (l->c->conn && tr_gone(l->c)) l->c->conn = NULL; /* the filter let go of it */
  }
  r->now_ns = to;
}

static void act_time(struct life *l) { advance(l, (int64_t)fuzz_number(&l->in) * MS); }

static void (*const acts[])(struct life *l) = {act_shake, act_hear, act_say,  act_say,   act_time, act_tamper, act_forge,
                                               act_flood, act_raw,  act_room, act_close, act_eof,  act_gone,   act_time};

/* ---- one life ------------------------------------------------------------------------------------ */

static const struct mock_rule stall = {.trigger = MOCK_AT_FRAME, .n = 3, .action = MOCK_DO_STALL, .duration_ns = 20 * MS};
static const struct mock_rule new_keys = {.trigger = MOCK_AT_FRAME, .n = 2, .action = MOCK_DO_KEY_UPDATE};
static const struct mock_rule ticket = {.trigger = MOCK_AT_FRAME, .n = 2, .action = MOCK_DO_TICKET};
static const struct mock_rule reset = {.trigger = MOCK_AT_BYTE, .n = 300, .action = MOCK_DO_RESET};
static const struct mock_entry entries[] = {
    {.connection = 1, .ack = MOCK_ACK_EACH, .tls = {.given = true, .record_bytes = 3}},
    {.connection = 1, .rules = &stall, .rule_count = 1},
    {.connection = 1, .ack = MOCK_ACK_EACH, .rules = &new_keys, .rule_count = 1},
    {.connection = 1, .ack = MOCK_ACK_EACH, .rules = &ticket, .rule_count = 1},
    {.connection = 1, .rules = &reset, .rule_count = 1},
    {.connection = 1, .tls = {.given = true, .handshake = MOCK_TLS_HANG}},
    {.connection = 1, .tls = {.given = true, .handshake = MOCK_TLS_DIE, .die_after_bytes = 700}},
    {.connection = 1, .tls = {.given = true, .ask_certificate = true, .no_close_notify = true}}};

enum { ENTRIES = sizeof entries / sizeof *entries, LAWFUL_FROM_RESET = 4 };

/* The mock counts from behind the head. */
static int64_t said(const struct life *l) { return l->said > HEAD_BYTES ? (int64_t)(l->said - HEAD_BYTES) : 0; }

static void check(struct life *l) {
  struct mock_conn_facts f;
  if (mock_conn_facts(l->t.r.m, 1, &f)) require(f.bytes_in <= said(l), "no more comes than was said");
  if (mock_violation_count(l->t.r.m) > 0) fprintf(stderr, "%s\n", mock_violation_at(l->t.r.m, 0)->requirement);
  require(mock_violation_count(l->t.r.m) == 0, "plaintext is never wrong");
}

static void finish(struct life *l) {
  if (!l->honest) return;
  for (int i = 0; i < 8; i++) {
    act_shake(l);
    act_hear(l);
  }
  advance(l, 1000 * MS);
  act_hear(l);
  require(secured(l), "the handshake comes to its end");
  struct mock_conn_facts f;
  if (l->said < HEAD_BYTES) return;
  require(mock_conn_facts(l->t.r.m, 1, &f), "the upgrade arrives");
  require(f.bytes_in == said(l), "all of it arrives");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct life l; /* large */
  if (!identity) prepare();
  fuzz_tls_seed();
  memset(&l, 0, sizeof l);
  l.in = (struct fuzz_input){.p = data, .n = size};
  const unsigned how = fuzz_byte(&l.in), which = how % (ENTRIES + 1);
  const struct mock_script script = {.entries = which < ENTRIES ? &entries[which] : NULL, .entry_count = which < ENTRIES};
  SSL_CTX_set_max_proto_version(trusting, how & 128 ? TLS1_2_VERSION : 0);
  l.honest = which < LAWFUL_FROM_RESET || which == ENTRIES;
  const size_t base = fuzz_tls_live_bytes();
  tr_start_as(&l.t, &script, identity, trusting);
  l.c = tr_connect(&l.t, "localhost");
  for (int i = 0; i < 80 && l.in.n > 0; i++) {
    acts[fuzz_byte(&l.in) % (sizeof acts / sizeof *acts)](&l);
    if (l.c->conn && tr_gone(l.c)) l.c->conn = NULL;
    check(&l);
    require(fuzz_tls_live_bytes() < base + OPENSSL_BYTES, "OpenSSL's memory is bounded");
  }
  finish(&l);
  check(&l);
  tr_eof(l.c, true);
  tr_halt(&l.t);
  require(fuzz_tls_live_bytes() < base + OPENSSL_BYTES / 16, "all of it is given back");
  return 0;
}
