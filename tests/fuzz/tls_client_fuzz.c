/* The client's TLS table, from any server: OpenSSL's own end, whose bytes the input tampers with, and records that no
 * library would write, sealed under the connection's keys.
 *
 * Input: three bytes that say what the network and the client are like (struct rules), then one act after the other
 * (acts[]): what the client tries, what the server says, what happens to the bytes on their way.
 *
 * What must hold
 *  - Each end reads a prefix of what the other has sent; with an honest server and an open stream, all of it.
 *  - Under a name that the certificate does not have, not one byte of plaintext leaves or comes.
 *  - Every result is one of ops.h; -EPROTO stays, has a reason in words, and QWP_CONN_TLS.
 *  - One read below in a call, and one wait that says "ready" leads somewhere: no busy loop, no hang.
 *  - Memory: one block of the table's a connection; what OpenSSL holds does not grow with what the server says. */
#include "fuzz_tls.h"
#include "tls_forge.h"
#include "tls_kit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
  STREAM_BYTES = 1 << 18, /* of plaintext in each direction */
  FLOOD_BYTES = 1 << 17,  /* of one flood */
  OPENSSL_BYTES = 1 << 21,
  IDLE_ROUNDS = 24 /* "ready" that leads nowhere; a would-block before each call is one of two */
};

/* ---- what lives as long as the process -------------------------------------------------------- */

static struct tk kit;
static struct tk_identity identity;
static struct qwp_tls *checking, *trusting;
static uint8_t pem[4096];
static size_t pem_n;
static uint8_t stream[STREAM_BYTES]; /* what either end says */

static int memory_open(void *ctx, const char *path, unsigned flags, qwp_file *out) {
  (void)ctx;
  (void)path;
  (void)flags;
  *out = 1;
  return 0;
}

static void memory_close(void *ctx, qwp_file file) {
  (void)ctx;
  (void)file;
}

static ssize_t memory_read(void *ctx, qwp_file file, void *buf, size_t n, int64_t offset) {
  (void)ctx;
  (void)file;
  const size_t left = pem_n - (size_t)offset, take = left < n ? left : n;
  memcpy(buf, pem + offset, take);
  return (ssize_t)take;
}

static uint8_t pattern(size_t at) { return (uint8_t)(at * 167 + (at >> 8) * 13); }

static void prepare(void) {
  static const struct qwp_file_ops memory = {.open = memory_open, .close = memory_close, .read = memory_read};
  fuzz_tls_init();
  for (size_t i = 0; i < STREAM_BYTES; i++) stream[i] = pattern(i);
  identity = tk_issue(NULL, &(struct tk_claim){.names = "DNS:db"});
  BIO *bio = BIO_new(BIO_s_mem());
  require(bio && PEM_write_bio_X509(bio, identity.cert) == 1, "a certificate in PEM form");
  const int n = BIO_read(bio, pem, sizeof pem);
  require(n > 0, "it fits");
  pem_n = (size_t)n;
  BIO_free(bio);
  tk_init(&kit, &identity);
  SSL_CTX_set_num_tickets(kit.server, 0); /* they are forged */
  SSL_CTX_set_options(kit.server, SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(kit.server, SSL_SESS_CACHE_OFF);
  tf_tap(kit.server);
  kit.ops.file = &memory;
  checking = qwp_tls_new(&(struct qwp_tls_options){.verify = true, .roots = "memory"}, &kit.ops, NULL);
  trusting = qwp_tls_new(&(struct qwp_tls_options){.verify = false}, &kit.ops, NULL);
  require(checking && trusting, "the tables");
}

/* ---- one life ------------------------------------------------------------------------------------ */

struct life {
  struct fuzz_input in;
  struct tk_client c;
  struct tk_conn *s;
  struct tf forge;
  bool forging;      /* the server's direction is forged from here on */
  bool wrong_name;
  bool honest;       /* nobody has tampered, and nothing unlawful was forged */
  bool over;         /* the client has met an end */
  bool failed;       /* ... by -EPROTO */
  bool shut;
  size_t taken;      /* plaintext of the client's that send has taken */
  size_t offered;    /* ... that it has seen: at most so much may arrive */
  size_t least;      /* the last send was not taken: the next offers no less */
  size_t own_records; /* of the server's, before its direction was forged */
  size_t said;       /* plaintext of the server's */
  size_t heard;
  size_t openssl_base;
};

static const struct qwp_net_ops *net(const struct life *l) { return l->c.ops.net; }

static void check_result(struct life *l, ssize_t r) {
  if (r >= 0 || r == -EAGAIN || r == -EINTR || r == -ENOBUFS || r == -ENOMEM) return;
  l->over = true;
  require(r == -EPROTO || r == -EPIPE || r == -ECONNRESET, "an error of ops.h");
  require(r == -EPROTO || !l->failed || l->shut, "what has failed stays so");
  if (r != -EPROTO) return;
  l->failed = true;
  char text[600];
  require(tk_explained(&l->c, text, sizeof text) == QWP_CONN_TLS && strncmp(text, "TLS: ", 5) == 0 && text[5], "a reason");
}

static ssize_t client_send(struct life *l, size_t n) {
  if (n < l->least) n = l->least;
  if (n > STREAM_BYTES - l->taken) n = STREAM_BYTES - l->taken;
  if (n == 0 || l->shut) return 0;
  const size_t recvs = kit.recvs;
  const ssize_t r = net(l)->send(l->c.ops.net_ctx, l->c.sock, stream + l->taken, n);
  require(kit.recvs <= recvs + 1, "one read below in a send");
  const size_t most = n < QWP_TLS_SEND_MAX ? n : QWP_TLS_SEND_MAX;
  require(r != 0 && r <= (ssize_t)most, "a send takes what there is");
  require(!(r > 0 && (l->wrong_name || l->failed)), "nothing is taken for the wrong server");
  if (l->taken + most > l->offered) l->offered = l->taken + most;
  l->least = r < 0 ? n : 0;
  if (r > 0) l->taken += (size_t)r;
  check_result(l, r);
  return r;
}

static ssize_t client_recv(struct life *l, size_t n) {
  static uint8_t buf[1 << 16];
  const size_t recvs = kit.recvs;
  const ssize_t r = net(l)->recv(l->c.ops.net_ctx, l->c.sock, buf, n < sizeof buf ? n : sizeof buf);
  require(kit.recvs <= recvs + 1, "one read below in a recv");
  require(r <= (ssize_t)n, "no more than there is room for");
  if (r == 0) l->over = true;
  require(!(r > 0 && (l->wrong_name || l->failed)), "nothing is heard from the wrong server");
  for (ssize_t i = 0; i < r; i++) require(buf[i] == stream[l->heard + (size_t)i], "the plaintext is the server's");
  if (r > 0) l->heard += (size_t)r;
  require(l->heard <= l->said, "no more than was said");
  check_result(l, r);
  return r;
}

/* All that moves when something moves. */
static size_t progress(const struct life *l) {
  return l->taken + l->heard + l->s->to_client.at + l->s->to_server.n + (size_t)(l->s->client_fin ? 1 : 0);
}

/* A caller that wants both, until nothing is ready any more. The server runs inside the waits. */
static void live_on(struct life *l, bool sends) {
  for (int idle = 0; !l->over;) {
    const bool out = sends && !l->shut && l->taken < STREAM_BYTES && l->least > 0;
    const size_t before = progress(l);
    kit.wait_count = 0;
    const int ready = net(l)->wait(l->c.ops.net_ctx, l->c.sock, out ? QWP_READABLE | QWP_WRITABLE : QWP_READABLE, 1);
    require(ready >= 0, "a wait that fails");
    require(kit.wait_count <= 1, "a wait waits once");
    if (ready == 0) return;
    if ((unsigned)ready & QWP_WRITABLE) client_send(l, l->least);
    if (!l->over && (unsigned)ready & QWP_READABLE) client_recv(l, 4096);
    idle = progress(l) == before ? idle + 1 : 0;
    if (idle == IDLE_ROUNDS && kit.send_result < 0) return; /* a kernel without buffers: the caller waits */
    require(idle < IDLE_ROUNDS, "ready leads somewhere");
  }
}

/* ---- what the server says ---------------------------------------------------------------------------- */

static void to_client(struct life *l, const void *p, size_t n) { tk_put(&l->s->to_client, p, n); }

static void forge(struct life *l, uint8_t type, const uint8_t *p, size_t n, size_t padding) {
  static uint8_t record[65535 + 65536 + TF_OVERHEAD];
  if (!l->forging) {
    tf_begin(&l->forge, l->s->ssl, true);
    l->forge.seq += l->own_records;
  }
  l->forging = true;
  to_client(l, record, tf_seal(&l->forge, type, p, n, padding, record));
}

static bool may_forge(const struct life *l) { return l->s->finished && !l->s->server_error; }

static void say(struct life *l, size_t n) {
  if (n > STREAM_BYTES - l->said) n = STREAM_BYTES - l->said;
  if (n == 0 || !may_forge(l) || l->s->server_fin) return;
  const uint8_t *p = stream + l->said;
  if (l->forging) {
    for (size_t at = 0; at < n; at += 16384) forge(l, 23, p + at, tk_least(n - at, 16384), 0);
  } else {
    tk_say(&kit, 0, p, n);
    l->own_records += (n + 16383) / 16384;
  }
  l->said += n;
}

/* Of one kind after the other, as many as the flood has room for. */
static void flood(struct life *l, unsigned kind, size_t bytes) {
  static const uint8_t key_update[5] = {24, 0, 0, 1, 1}, hello_request[4] = {0}, warning[2] = {1, 90};
  static const uint8_t ticket[4 + 4 + 4 + 1 + 1 + 2 + 1 + 2] = {4, 0, 0, 15, 0, 0, 1, 0, 0, 0, 0, 1, 1, 7, 0, 1, 9, 0, 0};
  if (!may_forge(l)) return;
  l->honest = false;
  uint8_t many[16384] = {0};
  for (size_t done = 0; done < bytes; done += 22) {
    switch (kind % 6) {
      case 0:
        forge(l, 22, key_update, sizeof key_update, 0);
        if (!l->forge.old) tf_new_keys(&l->forge);
        break;
      case 1: forge(l, 22, hello_request, sizeof hello_request, 0); break;
      case 2: forge(l, 22, ticket, sizeof ticket, 0); break;
      case 3: forge(l, 21, warning, sizeof warning, 0); break;
      case 4: forge(l, 23, NULL, 0, 0); break;
      default: /* thousands of questions in one record */
        forge(l, 22, many, sizeof many, 0);
        done += sizeof many;
        break;
    }
  }
}

/* ---- acts ----------------------------------------------------------------------------------------------- */

static size_t unread(const struct life *l) { return l->s->to_client.n - l->s->to_client.at; }

static void act_send(struct life *l) { client_send(l, 1 + fuzz_number(&l->in) % 70000); }
static void act_recv(struct life *l) { client_recv(l, 1 + fuzz_number(&l->in)); }
static void act_live(struct life *l) { live_on(l, fuzz_byte(&l->in) & 1); }
static void act_serve(struct life *l) {
  (void)l;
  tk_serve(&kit, 0);
}
static void act_say(struct life *l) { say(l, 1 + fuzz_number(&l->in)); }

static void act_raw(struct life *l) {
  const uint8_t *p;
  const size_t n = fuzz_bytes(&l->in, fuzz_byte(&l->in), &p);
  l->honest = false;
  to_client(l, p, n);
}

static void act_flip(struct life *l) {
  const size_t at = fuzz_number(&l->in), n = unread(l);
  const uint8_t mask = fuzz_byte(&l->in);
  if (n == 0 || mask == 0) return;
  l->honest = false;
  l->s->to_client.p[l->s->to_client.at + at % n] ^= mask;
}

static void act_remove(struct life *l) {
  const size_t n = unread(l), at = fuzz_number(&l->in), count = fuzz_number(&l->in);
  if (n == 0 || count == 0) return;
  l->honest = false;
  uint8_t *p = l->s->to_client.p + l->s->to_client.at + at % n;
  const size_t behind = n - at % n, gone = tk_least(count, behind);
  memmove(p, p + gone, behind - gone);
  l->s->to_client.n -= gone;
}

static void act_repeat(struct life *l) {
  const size_t n = unread(l), count = fuzz_number(&l->in);
  if (n == 0 || n > FLOOD_BYTES) return;
  l->honest = false;
  uint8_t *copy = malloc(n);
  require(copy, "memory");
  memcpy(copy, l->s->to_client.p + l->s->to_client.at, n);
  to_client(l, copy + (count < n ? n - count : 0), tk_least(count, n));
  free(copy);
}

static void act_forge(struct life *l) {
  const uint8_t type = fuzz_byte(&l->in);
  const size_t padding = fuzz_byte(&l->in);
  const uint8_t *p;
  const size_t n = fuzz_bytes(&l->in, fuzz_byte(&l->in), &p);
  if (!may_forge(l) || type == 23) return; /* data is act_forge_data's */
  l->honest = false;
  forge(l, type, p, n, padding);
}

static void act_forge_data(struct life *l) {
  const size_t n = tk_least(fuzz_number(&l->in) % 32768, STREAM_BYTES - l->said), padding = fuzz_number(&l->in) % 20000;
  if (!may_forge(l) || l->s->server_fin) return;
  forge(l, 23, stream + l->said, n, padding);
  if (n == 0 || n + padding > 16384) l->honest = false; /* too long, or one of too many without data */
  l->said += n;
}

static void act_flood(struct life *l) {
  const unsigned kind = fuzz_byte(&l->in);
  flood(l, kind, fuzz_number(&l->in) * 4 % FLOOD_BYTES);
}

static void act_end(struct life *l) {
  const unsigned how = fuzz_byte(&l->in);
  l->honest = false;
  if (how % 3 == 2) l->s->reset = true;
  else if (!l->s->server_error) tk_server_closes(&kit, 0, how % 3 == 0 && !l->forging && l->s->finished);
}

static void act_shutdown(struct life *l) {
  l->shut = true;
  l->honest = false;
  const int r = net(l)->shutdown(l->c.ops.net_ctx, l->c.sock);
  require(r <= 0, "0 or -errno");
}

static void act_shortage(struct life *l) {
  static const int results[] = {0, -ENOBUFS, -EINTR, -EPIPE, 0, -EAGAIN, -ENOMEM, -ECONNRESET};
  kit.send_result = results[fuzz_byte(&l->in) % 8];
  l->honest = l->honest && kit.send_result == 0;
}

static void act_stop(struct life *l) {
  kit.server_stopped = fuzz_byte(&l->in) & 1;
}

static void (*const acts[])(struct life *l) = {
    act_send, act_recv, act_live, act_serve, act_say, act_live, act_send, act_forge, act_forge_data, act_flood, act_flip,
    act_remove, act_repeat, act_raw, act_end, act_shutdown, act_shortage, act_stop};

/* ---- a life's begin and end ------------------------------------------------------------------------------ */

/* Bit by bit: checks, the wrong name, TLS 1.2, would-blocks out and in, an upside-down start (no send first). */
static void begin(struct life *l) {
  const unsigned how = fuzz_byte(&l->in), piece = fuzz_byte(&l->in), room = fuzz_byte(&l->in);
  SSL_CTX_set_max_proto_version(kit.server, how & 4 ? TLS1_2_VERSION : 0);
  kit.block_sends = how & 8;
  kit.block_recvs = how & 16;
  kit.send_max = (piece & 15) * (piece & 15) * 7;
  kit.recv_max = (piece >> 4) * (piece >> 4) * 5;
  kit.socket_bytes = room * 97;
  kit.send_result = 0;
  kit.server_stopped = false;
  kit.blocked_send = kit.blocked_recv = false;
  l->wrong_name = (how & 3) == 3;
  l->honest = true;
  l->c = (struct tk_client){.k = &kit, .tls = how & 1 ? checking : trusting, .sock = -1};
  qwp_tls_ops(l->c.tls, &l->c.ops);
  l->openssl_base = fuzz_tls_live_bytes();
  tk_dial(&l->c, l->wrong_name ? "elsewhere" : "db");
  l->s = &kit.conns[0];
  if (!(how & 32)) client_send(l, 5);
}

static void check_arrived(const struct life *l) {
  require(l->s->plain.n <= l->offered, "no more arrives than was sent");
  for (size_t i = 0; i < l->s->plain.n; i++) require(l->s->plain.p[i] == stream[i], "it arrives as it was sent");
  require(!l->wrong_name || l->s->plain.n == 0, "nothing arrives at the wrong server");
}

/* Whoever is honest on an open stream gets everything through. */
static void finish(struct life *l) {
  kit.send_result = 0;
  kit.server_stopped = false;
  live_on(l, true);
  tk_serve(&kit, 0);
  check_arrived(l);
  if (!l->honest || l->wrong_name) return;
  require(!l->over, "nothing ends of itself");
  require(l->heard == l->said, "all of it is heard");
  require(l->taken == l->s->plain.n && l->least == 0, "all of it has arrived");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool prepared;
  if (!prepared) prepare();
  prepared = true;
  fuzz_tls_seed();
  struct life l = {.in = {.p = data, .n = size}};
  const int64_t blocks = kit.mem.live;
  begin(&l);
  for (int i = 0; i < 60 && l.in.n > 0; i++) {
    acts[fuzz_byte(&l.in) % (sizeof acts / sizeof *acts)](&l);
    require(kit.mem.live == blocks + 1, "one block of the table's");
    require(fuzz_tls_live_bytes() < l.openssl_base + OPENSSL_BYTES, "OpenSSL's memory is bounded");
  }
  finish(&l);
  tk_hang_up(&l.c);
  require(kit.mem.live == blocks, "all of it is given back");
  tk_forget_conns(&kit);
  return 0;
}
