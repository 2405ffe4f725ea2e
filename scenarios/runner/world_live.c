/* world_live - the mock on a real socket in this process, the client as a child of its own.
 *
 * The child gets one request line and answers one reply line (client/request.h); a crash of it has a name. When it
 * has ended, the mock is left alone until it has seen the end of every connection; then facts are taken.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/request.h"
#include "core/mock.h"
#include "lws/transport.h"
#include "qwp/ops.h"
#include "runner/process.h"
#include "runner/world.h"

#define REST_LIMIT_MS 10000                        /* for the last bytes to reach the mock */

static void journal_line(void *ctx, const char *line, size_t n) {
  struct observation *o = ctx;
  buffer_line(&o->journal, line, n);
}

static struct mock_lws *start_mock(const struct scn_scenario *s, const struct world_options *w, struct observation *o) {
  struct mock_options mo = {.script = &s->server,
                            .seed = world_seed(s, w),
                            .rows = MOCK_ROWS_FULL,
                            .journal = MOCK_JOURNAL_FULL,
                            .journal_hex = w->full_journal,
                            .journal_line = journal_line,
                            .journal_ctx = o};
  return mock_lws_start_tls(&mo, 0, o->world == SCN_TLS ? w->identity : NULL);
}

/* What the child's end means when it did not answer, or died of something behind its answer: then it is no answer. */
static void tell_death(struct observation *o, const struct process_result *r, int64_t limit_ns) {
  int n = (int)(r->err.n < 300 ? r->err.n : 300);
  const char *behind = r->out.n ? " behind its answer" : "";
  const char *err = r->err.at ? r->err.at + (r->err.n - (size_t)n) : "";
  if (r->timed_out)
    snprintf(o->harness, sizeof o->harness, "the client hangs%s: it was ended after %" PRId64 " s. %s", behind,
             limit_ns / 1000000000, err);
  else if (r->signal)
    snprintf(o->harness, sizeof o->harness, "the client died of signal %d (%s)%s. %s", r->signal,
             strsignal(r->signal), behind, err);
  else
    snprintf(o->harness, sizeof o->harness, "the client ended with exit code %d and %s answer. %s", r->exit_code,
             r->out.n ? "an" : "no", err);
}

static void take_reply(struct observation *o, const struct process_result *r, int64_t limit_ns) {
  struct reply rp;
  char why[256];
  if (r->exit_code != 0 || r->out.n == 0) {
    tell_death(o, r, limit_ns);
    return;
  }
  if (!reply_read(r->out.at, &rp, why, sizeof why)) {
    snprintf(o->harness, sizeof o->harness, "%s", why);
    return;
  }
  snprintf(o->unsupported, sizeof o->unsupported, "%s", rp.unsupported);
  o->client_ok = rp.ok;
  o->client_line = rp.line;
  snprintf(o->client_why, sizeof o->client_why, "%s", rp.why);
  if (rp.unfired[0]) observe_unfired(o, rp.unfired);
  facts_merge(&o->facts, &rp.facts);
  reply_free(&rp);
}

static void run_child(const struct scn_scenario *s, const struct world_options *w, int port, struct observation *o) {
  char server[32], config[4096];
  snprintf(server, sizeof server, "127.0.0.1:%d", port);
  const char *ca = o->world == SCN_TLS ? w->ca : NULL;
  if (!world_config(s->config, server, ca, config, sizeof config)) {
    snprintf(o->harness, sizeof o->harness, "the connect string is longer than %zu bytes", sizeof config - 1);
    return;
  }
  char *line = request_write(s, config, world_seed(s, w), w->no_deadline);
  struct buffer input = {0};
  if (line) buffer_line(&input, line, strlen(line));
  free(line);
  struct process_result r;
  const int64_t limit_ns = w->no_deadline ? INT64_MAX : w->client_limit_ns;
  if (!input.n || !process_run(w->client, input.at, limit_ns, &r)) {
    snprintf(o->harness, sizeof o->harness, "%s cannot be started: %s", w->client, strerror(errno));
    buffer_free(&input);
    return;
  }
  take_reply(o, &r, limit_ns);
  process_result_free(&r);
  buffer_free(&input);
}

struct look {
  struct observation *o;
  const struct scn_scenario *s;
};

/* On the mock's own thread, so that nothing moves under the look. */
static void take_facts(struct mock *m, void *arg) {
  struct look *l = arg;
  observe_mock(l->o, l->s, m);
}

/* The client is gone; its last bytes and its FIN may still be on their way. */
static bool come_to_rest(struct mock_lws *server) {
  for (int ms = 0; ms < REST_LIMIT_MS; ms++) {
    if (mock_lws_open(server) == 0) return true;
    poll(NULL, 0, 1);
  }
  return false;
}

static void run_over_loopback(enum scn_world world, const struct scn_scenario *s, const struct world_options *w,
                              struct observation *o) {
  world_journal_header(s, w, scn_world_name(world), &o->journal);
  o->world = world;
  o->own_client = w->own_client;
  struct mock_lws *server = start_mock(s, w, o);
  if (!server) {
    snprintf(o->harness, sizeof o->harness, "the mock cannot listen on 127.0.0.1");
    return;
  }
  run_child(s, w, mock_lws_port(server), o);
  if (!come_to_rest(server) && !o->harness[0])
    snprintf(o->harness, sizeof o->harness, "the mock still holds a connection %d ms after the client ended",
             REST_LIMIT_MS);
  struct look look = {o, s};
  mock_lws_call(server, take_facts, &look);
  /* Before all else: what the client met behind it says nothing about the client. */
  char trouble[128];
  if (mock_lws_trouble(server, trouble, sizeof trouble))
    snprintf(o->harness, sizeof o->harness, "the mock broke: %s", trouble);
  mock_lws_stop(server);
}

void world_live_run(const struct scn_scenario *s, const struct world_options *w, struct observation *o) {
  run_over_loopback(SCN_LIVE, s, w, o);
}

void world_tls_run(const struct scn_scenario *s, const struct world_options *w, struct observation *o) {
  if (w->identity) run_over_loopback(SCN_TLS, s, w, o);
  else snprintf(o->harness, sizeof o->harness, "the world tls was not prepared");
}
