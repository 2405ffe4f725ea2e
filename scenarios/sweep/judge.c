#include "sweep/judge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define RECOVERY_NS (INT64_C(3000) * 1000000) /* the pauses of a life are a tenth of it */

struct judging {
  const struct sweep_life *life;
  const struct sweep_measure *reference;
  const struct sweep_point *point;
  const struct observation *o;
  char *why;
  size_t why_n;
};

static bool fails(const struct judging *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool fails(const struct judging *j, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  vsnprintf(j->why, j->why_n, fmt, args);
  va_end(args);
  return false;
}

static const char *text_of(const struct facts *f, const char *name) {
  const struct fact *fact = facts_find(f, name);
  return fact && fact->is_text ? fact->text : "?";
}

static bool by_the_script(const char *end) {
  return strncmp(end, "script ", 7) == 0 || strncmp(end, "refused ", 8) == 0;
}

void sweep_measure(const struct facts *f, struct sweep_measure *out) {
  *out = (struct sweep_measure){.connections = facts_get(f, "srv.conns", 0),
                                .unclean = facts_get(f, "srv.unmatched", 0),
                                .strikes = facts_get(f, "loop.strikes", 0),
                                .virtual_ns = facts_get(f, "time.virtual_ns", 0)};
  for (int64_t n = 1; n <= out->connections; n++) {
    char name[48];
    snprintf(name, sizeof name, "srv.conn[%" PRId64 "].end", n);
    const char *end = text_of(f, name);
    out->unclean += strcmp(end, "close 1000") != 0 && !by_the_script(end);
  }
}

/* ---- always ---- */

static bool came_to_rest(const struct judging *j) { return !j->o->harness[0] || fails(j, "%s", j->o->harness); }
static bool no_violation(const struct judging *j) { return !j->o->violation[0] || fails(j, "%s", j->o->violation); }
static bool rows_right(const struct judging *j) { return !j->o->rows_why[0] || fails(j, "%s", j->o->rows_why); }

static bool nothing_left(const struct judging *j) {
  static const char *const names[] = {"mem.live", "net.open"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    int64_t left = facts_get(&j->o->facts, names[i], -1);
    if (left != 0) return fails(j, "%s is %" PRId64 " after the close, not 0", names[i], left);
  }
  return true;
}

/* What a fault can make of a call. Anything else speaks of a mistake that nobody made. */
static bool fits_a_fault(const char *status) {
  static const char *const fitting[] = {"ok", "none", "QWP_TIMEOUT", "QWP_BACKPRESSURE", "QWP_CONN_LOST",
                                        "QWP_CONN_UPGRADE", "QWP_CONN_TIMEOUT", "QWP_CONN_CLOSED", "QWP_CONNECT",
                                        "QWP_NOMEM"};
  for (size_t i = 0; i < sizeof fitting / sizeof *fitting; i++)
    if (strcmp(status, fitting[i]) == 0) return true;
  return false;
}

static bool errors_fit(const struct judging *j) {
  static const char *const names[] = {"client.create", "client.error", "client.close"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *status = text_of(&j->o->facts, names[i]);
    if (!fits_a_fault(status) && strcmp(text_of(&j->o->facts, "client.create"), "ok") == 0)
      return fails(j, "%s is %s: %s", names[i], status, j->o->client_why);
    if (i == 0 && !fits_a_fault(status)) return fails(j, "the sender could not be made: %s", j->o->client_why);
  }
  return true;
}

static bool told(const struct judging *j) {
  const struct facts *f = &j->o->facts;
  return strcmp(text_of(f, "client.create"), "ok") != 0 || strcmp(text_of(f, "client.error"), "none") != 0 ||
         strcmp(text_of(f, "client.close"), "ok") != 0;
}

/* Success means that the server has said so. */
static bool success_is_true(const struct judging *j) {
  const struct facts *f = &j->o->facts;
  if (told(j)) return true;
  int64_t published = facts_get(f, "ring.published", -1), acked = facts_get(f, "ring.acked", -1);
  return acked == published || fails(j, "the close succeeded, and of the frames up to %" PRId64 " those up to %" PRId64
                                     " are acknowledged", published, acked);
}

/* An answer may come before the write that carried its frame is over, and waits for it (P121-25): so who is
 * acknowledged was counted as sent. */
static bool acked_was_sent(const struct judging *j) {
  int64_t sent = facts_get(&j->o->facts, "loop.sent", 0), acked = facts_get(&j->o->facts, "ring.acked", -1);
  return sent > acked || fails(j, "frames up to %" PRId64 " are acknowledged, and %" PRId64 " were sent", acked, sent);
}

/* What breaks on the way is no word of a server against a frame. */
static bool no_strike(const struct judging *j) {
  int64_t seen = facts_get(&j->o->facts, "loop.strikes", 0);
  return !j->point || seen <= j->reference->strikes ||
         fails(j, "%" PRId64 " strikes against frames, without the fault %" PRId64, seen, j->reference->strikes);
}

/* ---- behind one fault ---- */

/* Who has no memory, or no random bytes, may fail, and says so. */
static bool may_fail(const struct sweep_point *p) {
  return p && (p->ever || p->site == SWEEP_ALLOC || (p->site == SWEEP_CALL && p->call == FAULT_ENTROPY));
}

static bool recovered(const struct judging *j) {
  if (j->o->client_ok) return true;
  if (j->life->tells_errors && j->point) return true;
  if (!may_fail(j->point)) return fails(j, "%s", j->o->client_why);
  if (told(j)) return true;
  /* A wait of the scenario gave up, and then the close had time to succeed. */
  return facts_get(&j->o->facts, "ring.acked", -1) == facts_get(&j->o->facts, "ring.published", -1) ||
         fails(j, "a step failed without a status: %s", j->o->client_why);
}

static bool costs_no_more(const struct judging *j) {
  if (!j->point || j->point->ever) return true;
  struct sweep_measure seen;
  const struct sweep_measure *r = j->reference;
  sweep_measure(&j->o->facts, &seen);
  if (sweep_point_harmless(j->point) && (seen.connections != r->connections || seen.unclean != r->unclean))
    return fails(j, "a fault that a connection outlives: %" PRId64 " connections, %" PRId64 " of them ended badly; "
                 "without it %" PRId64 " and %" PRId64, seen.connections, seen.unclean, r->connections, r->unclean);
  if (seen.unclean > r->unclean + 1)
    return fails(j, "%" PRId64 " connections ended badly, without the fault %" PRId64, seen.unclean, r->unclean);
  if (!may_fail(j->point) && seen.virtual_ns > r->virtual_ns + RECOVERY_NS)
    return fails(j, "it took %" PRId64 " ms, without the fault %" PRId64, seen.virtual_ns / 1000000,
                 r->virtual_ns / 1000000);
  return true;
}

bool sweep_judge(const struct sweep_life *life, const struct sweep_measure *reference, const struct sweep_point *point,
                 const struct life_run *run, char *why, size_t why_n) {
  struct judging j = {life, reference, point, &run->o, why, why_n};
  why[0] = '\0';
  return came_to_rest(&j) && no_violation(&j) && rows_right(&j) && nothing_left(&j) && errors_fit(&j) &&
         success_is_true(&j) && acked_was_sent(&j) && no_strike(&j) && recovered(&j) &&
         costs_no_more(&j);
}
