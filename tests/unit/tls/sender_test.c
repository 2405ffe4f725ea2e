/* A whole sender with schema wss, in virtual time, against the mock behind its own TLS. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/mock.h"
#include "fail_mem.h"
#include "qwp/sender.h"
#include "sim/sim.h"
#include "tls/filter.h"

static struct mock_identity *identity;
static char ca_path[256];
static struct qwp_ops posix; /* the file table: the simulated world has no disk */

struct world {
  struct sim *sim;
  struct mock *m;
  struct mock_tls *filter;
  struct mock_events events;
  struct qwp_ops ops;
  struct fail_mem mem;
  char log[8192];
  size_t log_n;
};

/* ---- the mock's transport ------------------------------------------------------------------ */

static long peer_write(void *ctx, void *peer, const uint8_t *p, size_t n) { return sim_peer_write(ctx, peer, p, n); }
static void peer_shutdown(void *ctx, void *peer) { sim_peer_shutdown(ctx, peer); }
static void peer_close(void *ctx, void *peer) { sim_peer_close(ctx, peer); }
static void peer_reset(void *ctx, void *peer) { sim_peer_reset(ctx, peer); }
static void peer_pause(void *ctx, void *peer, bool paused) { sim_peer_pause(ctx, peer, paused); }
static void peer_limit(void *ctx, void *peer, size_t max_bytes) { sim_peer_limit_read(ctx, peer, max_bytes); }
static void wake_at(void *ctx, int64_t at_ns) { sim_wake_server_at(ctx, at_ns); }
static void open_listener(void *ctx, bool open) { sim_listen(ctx, open); }
static int64_t now_ns(void *ctx) { return sim_now_ns(ctx); }
static int64_t wall_ns(void *ctx) { return sim_wall_ns(ctx); }

static void *accept_peer(void *ctx, void *peer) {
  struct world *w = ctx;
  return w->events.accept(w->events.ctx, peer);
}
static bool take_bytes(void *ctx, void *conn, const uint8_t *p, size_t n) {
  return ((struct world *)ctx)->events.received(conn, p, n);
}
static bool take_room(void *ctx, void *conn) { return ((struct world *)ctx)->events.writable(conn); }
static void take_end(void *ctx, void *conn, bool reset) { ((struct world *)ctx)->events.ended(conn, reset); }
static void take_tick(void *ctx) {
  struct world *w = ctx;
  w->events.tick(w->events.ctx);
}

/* The client waits for what never comes. */
static void stuck(void *ctx, const char *why) {
  (void)ctx;
  fail_msg("stuck: %s", why);
}

/* ---- life -------------------------------------------------------------------------------------- */

static void begin(struct world *w, const struct sim_options *how, const struct mock_script *script) {
  memset(w, 0, sizeof *w);
  struct sim_options so = how ? *how : (struct sim_options){.seed = 1};
  so.stuck = stuck;
  so.stuck_ctx = w;
  w->sim = sim_new(&so);
  sim_set_wall(w->sim, (int64_t)time(NULL) * INT64_C(1000000000)); /* the certificates are of today */
  sim_ops(w->sim, &w->ops);
  const struct qwp_ops counted = fail_mem_ops(&w->mem);
  w->ops.mem = counted.mem;
  w->ops.mem_ctx = counted.mem_ctx;
  w->ops.file = posix.file;
  w->ops.file_ctx = posix.file_ctx;
  const struct mock_transport under = {.ctx = w->sim, .write = peer_write, .shutdown = peer_shutdown,
                                       .close = peer_close, .reset = peer_reset, .pause = peer_pause,
                                       .wake_at = wake_at, .listen = open_listener, .limit_read = peer_limit};
  const struct mock_clock clock = {w->sim, now_ns, wall_ns};
  w->filter = mock_tls_new(identity, &under, &clock);
  assert_non_null(w->filter);
  const struct mock_options mo = {.clock = clock, .transport = mock_tls_transport(w->filter), .script = script,
                                  .rows = MOCK_ROWS_FULL};
  w->m = mock_new(&mo);
  assert_non_null(w->m);
  mock_tls_serve(w->filter, w->m);
  w->events = mock_tls_events(w->filter);
  const struct sim_server server = {w, accept_peer, take_bytes, take_room, take_end, take_tick};
  sim_serve(w->sim, &server);
}

static void come_to_rest(struct world *w) {
  for (int i = 0; i < 1000000 && sim_step(w->sim, sim_now_ns(w->sim) + 5000 * QWP_NS_PER_MS); i++) continue;
}

static void end(struct world *w) {
  come_to_rest(w);
  assert_int_equal(sim_open_sockets(w->sim), 0);
  assert_int_equal(w->mem.live, 0);
  mock_del(w->m);
  mock_tls_del(w->filter);
  sim_del(w->sim);
}

static void keep_line(void *ctx, enum qwp_log_level level, const char *line) {
  struct world *w = ctx;
  int n = snprintf(w->log + w->log_n, sizeof w->log - w->log_n, "%d %s\n", (int)level, line);
  if (n > 0 && (size_t)n < sizeof w->log - w->log_n) w->log_n += (size_t)n;
}

static qwp_sender *create(struct world *w, const char *keys, struct qwp_error *err) {
  char config[512];
  snprintf(config, sizeof config, "wss::%sauto_flush_rows=off;auto_flush_interval=off;%s%s;", keys,
           strstr(keys, "unsafe_off") ? "client_id=x" : "tls_roots=", strstr(keys, "unsafe_off") ? "" : ca_path);
  const struct qwp_sender_options opt = {.ops = &w->ops, .driver = sim_driver(w->sim), .log = keep_line, .log_ctx = w};
  return qwp_sender_create(config, &opt, err);
}

static bool append(qwp_sender *s, int64_t id, size_t text_bytes, struct qwp_error *err) {
  static char text[40000];
  memset(text, 'x', sizeof text);
  return qwp_table(s, "t", err) && qwp_long(s, "id", id, err) && qwp_varchar_n(s, "text", text, text_bytes, err) &&
         qwp_at_us(s, id + 1, err);
}

/* Flushes `frames` frames of one row and drains. */
static bool publish(qwp_sender *s, int64_t from, int64_t frames, size_t text_bytes, struct qwp_error *err) {
  for (int64_t i = from; i < from + frames; i++) {
    if (!append(s, i, text_bytes, err) || !qwp_sender_flush(s, NULL, err)) return false;
  }
  return qwp_sender_drain(s, 60000, err);
}

static struct mock_facts facts_of(struct world *w) {
  struct mock_facts f;
  mock_facts(w->m, &f);
  return f;
}

/* ---- the tests ------------------------------------------------------------------------------------ */

/* Whatever the network does to the pieces: every row once, an orderly end. */
static void rows_arrive(void **state) {
  (void)state;
  const struct sim_options networks[] = {
      {.seed = 1},
      {.seed = 2, .delay_ns = 3 * QWP_NS_PER_MS},
      {.seed = 3, .chunk_max = 7},
      {.seed = 4, .send_buffer_bytes = 300, .recv_buffer_bytes = 200},
      {.seed = 5, .chunk_max = 50, .send_buffer_bytes = 64, .recv_buffer_bytes = 64, .delay_ns = 1000},
      {.seed = 6, .peer_inside_send = true},
  };
  for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
    struct world w;
    struct qwp_error err;
    begin(&w, &networks[i], NULL);
    qwp_sender *s = create(&w, "addr=a.test:1;", &err);
    if (!s) fail_msg("%zu: %s", i, err.text);
    if (!publish(s, 0, 50, 10, &err) || !publish(s, 50, 5, 30000, &err)) fail_msg("%zu: %s", i, err.text);
    struct qwp_metrics m;
    qwp_sender_metrics(s, &m);
    assert_int_equal(m.loop_connects, 1);
    assert_int_equal(m.loop_sent, 55);
    assert_true(qwp_sender_close(s, &err));
    come_to_rest(&w);
    struct mock_facts f = facts_of(&w);
    assert_int_equal(f.rows_unique, 55);
    assert_int_equal(f.rows, 55);
    assert_int_equal(f.violations, 0);
    struct mock_conn_facts c;
    assert_true(mock_conn_facts(w.m, 1, &c));
    assert_string_equal(c.tls, "1.3");
    assert_string_equal(c.sni, "a.test");
    assert_string_equal(c.end, "close 1000");
    assert_string_equal(c.tls_end, "close_notify");
    end(&w);
  }
}

/* The server's stream is cut anywhere: replayed over a new handshake, nothing lost, nothing doubled in the store. */
static void resets_are_survived(void **state) {
  (void)state;
  for (int64_t at = 1; at < 2000; at += 211) {
    struct mock_rule reset = {.trigger = MOCK_AT_BYTE, .n = at, .action = MOCK_DO_RESET};
    struct mock_entry entry = {.connection = 1, .rules = &reset, .rule_count = 1};
    struct mock_script script = {.entries = &entry, .entry_count = 1};
    struct world w;
    struct qwp_error err;
    begin(&w, NULL, &script);
    qwp_sender *s = create(&w, "addr=a.test:1;", &err);
    if (!s || !publish(s, 0, 40, 20, &err)) fail_msg("%s", err.text);
    struct qwp_metrics m;
    qwp_sender_metrics(s, &m);
    assert_int_equal(m.loop_reconnects, 1);
    assert_true(qwp_sender_close(s, &err));
    come_to_rest(&w);
    assert_int_equal(facts_of(&w).rows_unique, 40);
    assert_int_equal(facts_of(&w).violations, 0);
    end(&w);
  }
}

/* CASE-57: a host with the wrong certificate hears no HTTP, the reason is told, the next one is tried, with its own
 * name; and the same host again after a pause. */
static void a_bad_certificate_is_passed_by(void **state) {
  (void)state;
  struct mock_entry entry = {.connection = MOCK_ANY, .tls = {.given = true, .certificate = MOCK_CERT_OTHER_NAME}};
  struct mock_script script = {.entries = &entry, .entry_count = 1};
  struct world w;
  struct qwp_error err;
  begin(&w, NULL, &script);
  assert_null(create(&w, "addr=a.test:1,b.test:1;token=secret;", &err));
  assert_int_equal(err.code, QWP_CONNECT);
  assert_non_null(strstr(err.text, "2 of 2 endpoints"));
  static const char reason[] = "TLS: the server's certificate is valid, but not for ";
  char line[128];
  for (const char *host = "ab"; *host; host++) {
    snprintf(line, sizeof line, "cannot connect to %c.test:1: %s%c.test\n", *host, reason, *host);
    assert_non_null(strstr(w.log, line));
  }
  assert_null(strstr(w.log, "secret"));
  come_to_rest(&w);
  struct mock_conn_facts c;
  for (int i = 1; i <= 2; i++) {
    assert_true(mock_conn_facts(w.m, i, &c));
    assert_string_equal(c.sni, i == 1 ? "a.test" : "b.test");
    assert_string_equal(c.tls, ""); /* no handshake was completed, so no head can have come */
    assert_int_equal(c.bytes_in, 0);
  }
  assert_int_equal(facts_of(&w).upgrades + facts_of(&w).refused, 0);
  end(&w);

  entry.connection = 1;
  begin(&w, NULL, &script);
  qwp_sender *s = create(&w, "addr=a.test:1;token=secret;initial_connect_retry=on;", &err);
  if (!s || !publish(s, 0, 3, 5, &err)) fail_msg("%s", err.text);
  assert_true(mock_conn_facts(w.m, 1, &c));
  assert_int_equal(c.bytes_in, 0);
  assert_true(mock_conn_facts(w.m, 2, &c));
  assert_string_equal(c.sni, "a.test");
  assert_true(qwp_sender_close(s, &err));
  end(&w);
}

/* Every reason ends the one attempt of mode off, typed, with the reason in its text; and unsafe_off passes them all,
 * with a warning. */
static void reasons(void **state) {
  (void)state;
  static const struct {
    enum mock_certificate certificate;
    const char *why;
  } cases[] = {
      {MOCK_CERT_OTHER_NAME, "but not for a.test"},
      {MOCK_CERT_EXPIRED, "has expired"},
      {MOCK_CERT_SELF_SIGNED, "self-signed"},
      {MOCK_CERT_NO_INTERMEDIATE, "leaves out an intermediate"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct mock_entry entry = {.connection = MOCK_ANY, .tls = {.given = true, .certificate = cases[i].certificate}};
    struct mock_script script = {.entries = &entry, .entry_count = 1};
    struct world w;
    struct qwp_error err;
    begin(&w, NULL, &script);
    assert_null(create(&w, "addr=a.test:1;", &err));
    assert_int_equal(err.code, QWP_CONNECT);
    if (!strstr(err.text, cases[i].why)) fail_msg("\"%s\" is not in \"%s\"", cases[i].why, err.text);
    assert_null(strstr(w.log, "unsafe_off"));
    qwp_sender *s = create(&w, "addr=a.test:1;tls_verify=unsafe_off;", &err);
    if (!s) fail_msg("%s", err.text);
    assert_non_null(strstr(w.log, "2 tls_verify=unsafe_off: the server's certificate is not checked"));
    assert_true(qwp_sender_close(s, &err));
    end(&w);
  }
}

/* A server that never answers the ClientHello holds a host up for auth_timeout_ms, no longer. */
static void a_silent_handshake_is_bounded(void **state) {
  (void)state;
  struct mock_entry entry = {.connection = MOCK_ANY, .tls = {.given = true, .handshake = MOCK_TLS_HANG}};
  struct mock_script script = {.entries = &entry, .entry_count = 1};
  struct world w;
  struct qwp_error err;
  begin(&w, NULL, &script);
  int64_t begun_ns = sim_now_ns(w.sim);
  assert_null(create(&w, "addr=a.test:1;auth_timeout_ms=700;", &err));
  assert_int_equal(err.code, QWP_CONNECT);
  assert_int_equal(sim_now_ns(w.sim) - begun_ns, 700 * QWP_NS_PER_MS);
  assert_non_null(strstr(err.text, "did not take the upgrade request within auth_timeout_ms"));
  end(&w);
}

/* CASE-131, the third run: close while the handshake of a reconnect hangs. It takes its own timeout, not auth_timeout_ms,
 * and both connections are closed: end() counts the sockets. */
static void close_in_a_silent_handshake(void **state) {
  (void)state;
  struct mock_rule reset = {.trigger = MOCK_AT_FRAME, .n = 1, .action = MOCK_DO_RESET};
  struct mock_entry entries[] = {
      {.connection = 1, .rules = &reset, .rule_count = 1},
      {.connection = 2, .tls = {.given = true, .handshake = MOCK_TLS_HANG}},
  };
  struct mock_script script = {.entries = entries, .entry_count = 2};
  struct world w;
  struct qwp_error err;
  begin(&w, NULL, &script);
  qwp_sender *s = create(&w, "addr=a.test:1;auth_timeout_ms=60000;close_flush_timeout_millis=200;", &err);
  if (!s || !append(s, 0, 5, &err) || !qwp_sender_flush(s, NULL, &err)) fail_msg("%s", err.text);
  struct qwp_metrics m;
  do qwp_sender_metrics(s, &m);
  while (m.loop_attempts < 2 && sim_step(w.sim, INT64_MAX));
  assert_int_equal(m.loop_attempts, 2);
  int64_t begun_ns = sim_now_ns(w.sim);
  assert_false(qwp_sender_close(s, &err));
  assert_int_equal(err.code, QWP_TIMEOUT);
  assert_int_equal(sim_now_ns(w.sim) - begun_ns, 200 * QWP_NS_PER_MS);
  come_to_rest(&w);
  struct mock_conn_facts c;
  assert_true(mock_conn_facts(w.m, 2, &c));
  assert_string_equal(c.tls, "");
  assert_int_equal(c.bytes_in, 0);
  end(&w);
}

/* Connected and idle, the loop takes no turn: neither tickets nor an hour wake it twice. */
static void quiet_when_idle(void **state) {
  (void)state;
  struct world w;
  struct qwp_error err;
  begin(&w, NULL, NULL);
  qwp_sender *s = create(&w, "addr=a.test:1;", &err);
  if (!s || !publish(s, 0, 1, 5, &err)) fail_msg("%s", err.text);
  come_to_rest(&w);
  struct qwp_metrics before, after;
  qwp_sender_metrics(s, &before);
  while (sim_step(w.sim, sim_now_ns(w.sim) + 3600 * 1000 * QWP_NS_PER_MS)) continue;
  qwp_sender_metrics(s, &after);
  assert_int_equal(after.loop_steps, before.loop_steps);
  assert_true(qwp_sender_close(s, &err));
  end(&w);
}

/* Each allocation of a whole life fails once: a typed error or recovery, and everything is given back. */
static void each_allocation_fails_once(void **state) {
  (void)state;
  size_t refused = 0, recovered = 0;
  for (uint64_t n = 1;; n++) {
    struct world w;
    struct qwp_error err;
    begin(&w, NULL, NULL);
    w.mem.fail_at = n;
    qwp_sender *s = create(&w, "addr=a.test:1;initial_connect_retry=on;", &err);
    if (!s) {
      assert_int_equal(err.code, QWP_NOMEM);
      refused++;
    } else {
      bool ok = publish(s, 0, 4, 100, &err);
      if (!ok) assert_int_equal(err.code, QWP_NOMEM);
      qwp_sender_close(s, &err);
      come_to_rest(&w);
      if (ok) assert_int_equal(facts_of(&w).rows_unique, 4);
      recovered += ok && w.mem.failed > 0;
    }
    bool over = w.mem.failed == 0;
    end(&w);
    if (over) break;
  }
  assert_true(refused >= 10);
  assert_true(recovered >= 1);
}

static int make_identity(void **state) {
  (void)state;
  if (qwp_ops_posix_init(&posix) != 0) return -1;
  identity = mock_identity_new();
  return identity && mock_identity_temporary_ca(identity, ca_path, sizeof ca_path) ? 0 : -1;
}

static int drop_identity(void **state) {
  (void)state;
  mock_identity_del(identity);
  qwp_ops_posix_free(&posix);
  return unlink(ca_path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bad_certificate_is_passed_by), cmocka_unit_test(a_silent_handshake_is_bounded),
      cmocka_unit_test(close_in_a_silent_handshake),    cmocka_unit_test(each_allocation_fails_once),
      cmocka_unit_test(quiet_when_idle),                cmocka_unit_test(reasons),
      cmocka_unit_test(resets_are_survived),            cmocka_unit_test(rows_arrive),
  };
  return cmocka_run_group_tests(tests, make_identity, drop_identity);
}
