/* world_sim - client, fault layer, simulated network and mock in one thread.
 *
 *   sender -> fault layer -> sim (client side)  ~~bytes~~  sim (peer side) -> mock
 *
 * The sim's clock is everybody's clock. Time moves only in sim_step, which the client reaches through its
 * driver's wait and through the stage's pass.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "core/mock.h"
#include "faults.h"
#include "runner/world_sim.h"

#define SIM_SERVER "127.0.0.1:9000"
/* A life in the simulation takes thousands of steps; one that takes this many goes round in circles. */
#define SIM_MAX_STEPS UINT64_C(50000000)
#define SIM_END_NS (INT64_C(400) * 24 * 3600 * 1000000000) /* no claim speaks of more than a day */

struct world {
  struct sim *sim;
  struct faults *layer;
  struct mock *mock;
  struct observation *o;
  const struct world_guest *guest; /* NULL = an ordinary run */
  size_t calls;  /* of the client on the net table */
  jmp_buf hangs; /* the way out of a client that would wait for ever */
};

/* ---- the mock's transport is the peer side of the simulated network ---- */

static long peer_write(void *ctx, void *peer, const uint8_t *p, size_t n) { return sim_peer_write(ctx, peer, p, n); }
static void peer_shutdown(void *ctx, void *peer) { sim_peer_shutdown(ctx, peer); }
static void peer_close(void *ctx, void *peer) { sim_peer_close(ctx, peer); }
static void peer_reset(void *ctx, void *peer) { sim_peer_reset(ctx, peer); }
static void peer_pause(void *ctx, void *peer, bool paused) { sim_peer_pause(ctx, peer, paused); }
static void peer_limit(void *ctx, void *peer, size_t max_bytes) { sim_peer_limit_read(ctx, peer, max_bytes); }
static void wake_at(void *ctx, int64_t at_ns) { sim_wake_server_at(ctx, at_ns); }
static void open_listener(void *ctx, bool open) { sim_listen(ctx, open); }

static void *server_accept(void *ctx, void *peer) {
  struct world *w = ctx;
  struct mock_conn *c = mock_accept(w->mock, peer);
  if (w->guest && c) w->guest->accepted(w->guest->ctx, peer, c);
  return c;
}
static bool server_received(void *ctx, void *conn, const uint8_t *p, size_t n) {
  struct world *w = ctx;
  if (w->guest) return w->guest->received(w->guest->ctx, conn, p, n);
  return mock_received(conn, p, n);
}
static bool server_writable(void *ctx, void *conn) {
  (void)ctx;
  return mock_writable(conn);
}
static void server_ended(void *ctx, void *conn, bool reset) {
  (void)ctx;
  mock_ended(conn, reset);
}
static void server_tick(void *ctx) { mock_tick(((struct world *)ctx)->mock); }

static int64_t sim_now(void *ctx) { return sim_now_ns(ctx); }
static int64_t sim_wall(void *ctx) { return sim_wall_ns(ctx); }

static void journal_line(void *ctx, const char *line, size_t n) {
  struct world *w = ctx;
  buffer_line(&w->o->journal, line, n);
}

/* The client's calls stand in the journal where they happened, among the mock's lines. A client that goes round in
 * circles does not fill the memory: the journal ends where a trace would. */
static void journal_call(void *ctx, const struct fault_trace *t) {
  struct world *w = ctx;
  if (++w->calls > FAULT_TRACE_MAX) return;
  buffer_printf(&w->o->journal,
                "{\"t_ns\":%" PRId64 ",\"side\":\"client\",\"conn\":%d,\"event\":\"%s\",\"asked\":%zu,\"result\":%" PRId64
                ",\"frame\":%" PRId64 ",\"interest\":%u}\n",
                sim_now_ns(w->sim), t->connection, fault_point_name(t->point), t->asked, t->result, t->first_frame,
                t->interest);
}

static bool has_journal(const struct world *w) { return !w->guest || w->guest->journal; }

static struct mock *make_mock(struct world *w, const struct scn_scenario *s, const struct world_options *opt) {
  struct mock_options mo = {
      .clock = {w->sim, sim_now, sim_wall},
      .transport = {.ctx = w->sim,
                    .write = peer_write,
                    .shutdown = peer_shutdown,
                    .close = peer_close,
                    .reset = peer_reset,
                    .pause = peer_pause,
                    .wake_at = wake_at,
                    .listen = open_listener,
                    .limit_read = peer_limit},
      .script = &s->server,
      .seed = world_seed(s, opt),
      .rows = MOCK_ROWS_FULL,
      .journal = has_journal(w) ? MOCK_JOURNAL_FULL : MOCK_JOURNAL_OFF,
      .journal_hex = opt->full_journal,
      .journal_line = journal_line,
      .journal_ctx = w,
  };
  return mock_new(&mo);
}

/* ---- the client's stage ---- */

static void stage_hold(void *ctx, bool held) {
  sim_hold(((struct world *)ctx)->sim, held);
}

static bool stage_pass(void *ctx, int64_t until_ns) {
  struct world *w = ctx;
  return sim_steps(w->sim) < SIM_MAX_STEPS && sim_step(w->sim, until_ns);
}

static int64_t stage_now(void *ctx) { return sim_now_ns(((struct world *)ctx)->sim); }

/* Nothing the client waits for can come any more. Its call cannot be made to return, so it is left where it is, with
 * all it holds: the verdict is red, and the process ends soon. */
static void hangs(void *ctx, const char *why) {
  struct world *w = ctx;
  snprintf(w->o->harness, sizeof w->o->harness, "the client hangs: %s", why);
  faults_unfired(w->layer, observe_unfired, w->o); /* what did not happen may be why */
  longjmp(w->hangs, 1);
}

/* ---- one run ---- */

static bool build(struct world *w, const struct scn_scenario *s, const struct world_options *opt, struct qwp_ops *ops) {
  uint64_t seed = world_seed(s, opt);
  struct sim_options so = {.seed = seed,
                           .delay_ns = s->net.delay_ns,
                           .jitter_ns = s->net.jitter_ns,
                           .send_buffer_bytes = (size_t)s->net.send_buffer_bytes,
                           .recv_buffer_bytes = (size_t)s->net.recv_buffer_bytes,
                           .chunk_max = (size_t)s->net.chunk_max,
                           .peer_inside_send = s->net.peer_inside_send,
                           .loop_first = opt->loop_first,
                           .stuck = hangs,
                           .stuck_ctx = w,
                           .end_ns = opt->no_deadline ? 0 : SIM_END_NS,
                           .step_limit = w->guest ? w->guest->step_limit : 0};
  w->sim = sim_new(&so);
  if (!w->sim) return false;
  sim_ops(w->sim, ops);
  struct faults_options fo = {.under = ops, .plan = w->guest ? w->guest->plan : &s->faults, .trace = has_journal(w),
                              .seed = seed, .reset = sim_reset_hook, .reset_ctx = w->sim, .delay = sim_delay_hook,
                              .delay_ctx = w->sim, .on_call = has_journal(w) ? journal_call : NULL, .on_call_ctx = w};
  w->layer = faults_new(&fo);
  w->mock = make_mock(w, s, opt);
  if (!w->layer || !w->mock) return false;
  struct sim_server server = {w, server_accept, server_received, server_writable, server_ended, server_tick};
  sim_serve(w->sim, &server);
  return true;
}

static void tear_down(struct world *w) {
  if (w->mock) mock_del(w->mock);
  if (w->layer) faults_del(w->layer);
  if (w->sim) sim_del(w->sim);
}

/* The client's life in a world that stands. */
static void live(struct world *w, const struct scn_scenario *s, const struct client_task *task) {
  struct observation *o = w->o;
  struct qwp_ops beside;
  sim_client_ops(w->sim, SIM_CLIENTS - 1, &beside);
  struct client_stage stage = {w,          faults_ops(w->layer), sim_driver(w->sim), w->layer, stage_hold,
                               stage_pass, stage_now,            &beside};
  if (w->guest) {
    stage.ops = w->guest->ops(w->guest->ctx, w->sim, w->layer, stage.ops);
    stage.driver = w->guest->driver(w->guest->ctx, stage.driver);
  }
  o->client_ok = client_run(task, &stage, &o->facts, &o->client_line, o->client_why, sizeof o->client_why);
  facts_number(&o->facts, "time.virtual_ns", sim_now_ns(w->sim) - SIM_START_NS);
  while (sim_steps(w->sim) < SIM_MAX_STEPS && sim_step(w->sim, sim_now_ns(w->sim) + 1000 * QWP_NS_PER_MS)) continue;
  if (sim_steps(w->sim) >= SIM_MAX_STEPS)
    snprintf(o->harness, sizeof o->harness, "the simulated world does not come to rest");
  facts_of_rules(&o->facts, w->layer, s->faults.rule_count);
  faults_unfired(w->layer, observe_unfired, o);
  if (w->guest) w->guest->at_rest(w->guest->ctx, &o->facts);
  observe_mock(o, s, w->mock);
}

static void run_once(const struct scn_scenario *s, const struct world_options *opt, const struct world_guest *guest,
                     struct observation *o) {
  struct world w = {.o = o, .guest = guest};
  struct qwp_ops ops;
  char config[4096];
  world_journal_header(s, opt, "sim", &o->journal);
  o->world = SCN_SIM;
  o->own_client = true;
  if (!world_config(s->config, SIM_SERVER, NULL, config, sizeof config))
    snprintf(o->harness, sizeof o->harness, "the connect string is longer than %zu bytes", sizeof config - 1);
  else if (!build(&w, s, opt, &ops))
    snprintf(o->harness, sizeof o->harness, "out of memory");
  if (!o->harness[0]) {
    struct client_task task = {.config = config,
                               .dense_dictionary = s->dense_dictionary,
                               .receiver = s->receiver,
                               .create_error = s->create_error,
                               .steps = s->steps,
                               .step_count = s->step_count,
                               .no_deadline = opt->no_deadline};
    if (setjmp(w.hangs) != 0) return;
    live(&w, s, &task);
  }
  tear_down(&w);
}

void world_sim_run(const struct scn_scenario *s, const struct world_options *opt, struct observation *o) {
  struct observation twin;
  observation_init(&twin);
  run_once(s, opt, NULL, &twin);
  if (!twin.harness[0]) run_once(s, opt, NULL, o);
  if (twin.harness[0]) {
    snprintf(o->harness, sizeof o->harness, "%s", twin.harness);
    snprintf(o->unfired, sizeof o->unfired, "%s", twin.unfired);
  }
  if (!o->harness[0]) (void)observations_equal(&twin, o, o->harness, sizeof o->harness);
  observation_free(&twin);
}

void world_sim_visit(const struct scn_scenario *s, const struct world_options *opt, const struct world_guest *guest,
                     struct observation *o) {
  run_once(s, opt, guest, o);
}
