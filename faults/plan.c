#include "plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ACT(a) (1u << FAULT_DO_##a)
#define DELAYS (ACT(DELAY_BEFORE) | ACT(DELAY_AFTER))
#define TRANSFER (ACT(ERRNO) | ACT(SHORT) | ACT(AGAIN) | DELAYS | ACT(RST) | ACT(FIN) | ACT(CORRUPT))

static const struct {
  const char *name;
  unsigned acts; /* what can be done to such a call */
} points[FAULT_POINTS] = {
    [FAULT_SEND] = {"client.send", TRANSFER},
    [FAULT_RECV] = {"client.recv", TRANSFER | ACT(CHUNK)},
    [FAULT_CONNECT] = {"client.connect", ACT(ERRNO) | DELAYS | ACT(RST)},
    [FAULT_WAIT] = {"client.wait", ACT(ERRNO) | ACT(AGAIN) | DELAYS | ACT(RST) | ACT(FIN)},
    [FAULT_CLOSE] = {"client.close", DELAYS | ACT(RST)},
    [FAULT_CLOCK] = {"client.clock", DELAYS},
    [FAULT_ALLOC] = {"client.alloc", ACT(ERRNO) | DELAYS},
    [FAULT_ENTROPY] = {"client.entropy", ACT(ERRNO) | DELAYS | ACT(CORRUPT)},
    [FAULT_SYNC] = {"client.sync", ACT(ERRNO) | DELAYS},
    [FAULT_MAP] = {"client.map", ACT(ERRNO) | DELAYS},
    [FAULT_RESERVE] = {"client.reserve", ACT(ERRNO) | DELAYS},
    [FAULT_UNLINK] = {"client.unlink", ACT(ERRNO) | DELAYS},
    [FAULT_RENAME] = {"client.rename", ACT(ERRNO) | DELAYS},
    [FAULT_LOCK] = {"client.lock", ACT(ERRNO) | ACT(AGAIN) | DELAYS},
};

const char *fault_point_name(enum fault_point p) { return (unsigned)p < FAULT_POINTS ? points[p].name : NULL; }

enum fault_point fault_point_named(const char *name) {
  for (unsigned p = 0; p < FAULT_POINTS; p++) {
    if (strcmp(points[p].name, name) == 0) return (enum fault_point)p;
  }
  return FAULT_POINTS;
}

static const struct {
  const char *name;
  int err;
} errnos[] = {
#define ERR(e) {#e, e}
    ERR(EPIPE), ERR(ECONNRESET), ERR(ETIMEDOUT), ERR(ECONNREFUSED), ERR(ECONNABORTED), ERR(ENOTCONN),
    ERR(ENOBUFS), ERR(ENOMEM), ERR(EINTR), ERR(EAGAIN), ERR(ENETUNREACH), ERR(ENETDOWN), ERR(EHOSTUNREACH),
    ERR(EADDRNOTAVAIL), ERR(EMFILE), ERR(ENFILE), ERR(EPERM), ERR(EACCES), ERR(ENOSPC), ERR(EDQUOT),
    ERR(EIO), ERR(EROFS), ERR(EFBIG), ERR(EEXIST), ERR(ENOENT), ERR(EBADF), ERR(EINVAL), ERR(EBUSY), ERR(ENOLCK),
#undef ERR
};

const char *fault_errno_name(int err) {
  for (size_t i = 0; i < sizeof errnos / sizeof *errnos; i++) {
    if (errnos[i].err == err) return errnos[i].name;
  }
  return NULL;
}

int fault_errno_named(const char *name) {
  for (size_t i = 0; i < sizeof errnos / sizeof *errnos; i++) {
    if (strcmp(errnos[i].name, name) == 0) return errnos[i].err;
  }
  return 0;
}

/* ---- does a rule make sense? -------------------------------------------------------- */

static bool on_net(enum fault_point p) {
  return p == FAULT_SEND || p == FAULT_RECV || p == FAULT_CONNECT || p == FAULT_WAIT || p == FAULT_CLOSE;
}

static const char *place_problem(const struct fault_rule *r) {
  if (r->byte < -1 || r->frame < 0 || r->nth < 0 || r->connection < 0) return "a count below zero";
  bool transfer = r->point == FAULT_SEND || r->point == FAULT_RECV;
  if (r->byte >= 0 && !transfer) return "a byte is a place in what is sent or received";
  if (r->frame > 0 && r->point != FAULT_SEND) return "a frame is a place in what is sent";
  if (r->frame > 0 && r->phase == FAULT_PHASE_UPGRADE) return "no frame is sent in the upgrade";
  if (r->frame > 0 && r->byte >= 0) return "a byte and a frame are two places";
  if (r->connection > 0 && !on_net(r->point)) return "this call belongs to no connection";
  if (r->kind == FAULT_KIND_CONTROL && r->point != FAULT_SEND) return "only a send has a kind";
  if (r->least_bytes < 0) return "a count below zero";
  if (r->least_bytes > 0 && r->point != FAULT_ALLOC) return "only an allocation is picked by its size";
  return NULL;
}

static const char *value_problem(const struct fault_rule *r) {
  bool placed = r->byte >= 0 || r->frame > 0;
  int64_t most = r->value_to > r->value ? r->value_to : r->value;
  switch (r->act) {
    case FAULT_DO_ERRNO: return r->err > 0 ? NULL : "an errno is missing";
    case FAULT_DO_SHORT: return r->value > 0 || (placed && r->value == 0) ? NULL : "how many bytes?";
    case FAULT_DO_CHUNK: return r->value > 0 ? NULL : "how many bytes?";
    case FAULT_DO_DELAY_BEFORE: case FAULT_DO_DELAY_AFTER: return r->value >= 0 && most > 0 ? NULL : "how long?";
    case FAULT_DO_CORRUPT: return r->value >= 0 && most < INT64_MAX / 16 ? NULL : "which bit?";
    default: return NULL;
  }
}

const char *fault_rule_problem(const struct fault_rule *r) {
  if ((unsigned)r->point >= FAULT_POINTS) return "no such point";
  if ((unsigned)r->act > FAULT_DO_CHUNK) return "no such action";
  if (!(points[r->point].acts & (1u << r->act))) return "this cannot be done to this call";
  if (r->repeat == FAULT_TIMES && r->times <= 0) return "how many times?";
  if (r->every < 0) return "a count below zero";
  if (r->repeat == FAULT_UNTIL && r->until[0] == '\0') return "until what?";
  const char *problem = place_problem(r);
  return problem ? problem : value_problem(r);
}

/* ---- a rule as text ------------------------------------------------------------------ */

struct text {
  char *out;
  size_t n, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...) {
  if (t->used >= t->n) return;
  va_list args;
  va_start(args, format);
  int n = vsnprintf(t->out + t->used, t->n - t->used, format, args);
  va_end(args);
  if (n > 0) t->used += (size_t)n;
}

/* " short 4", " short 1..7". */
static void add_value(struct text *t, const struct fault_rule *r, const char *what, const char *unit) {
  add(t, " %s %lld", what, (long long)r->value);
  if (r->value_to > r->value) add(t, "..%lld", (long long)r->value_to);
  add(t, "%s", unit);
}

static void add_act(struct text *t, const struct fault_rule *r) {
  const char *name = fault_errno_name(r->err);
  switch (r->act) {
    case FAULT_DO_ERRNO:
      if (name) add(t, " %s", name);
      else add(t, " errno %d", r->err);
      return;
    case FAULT_DO_SHORT: add_value(t, r, "short", ""); return;
    case FAULT_DO_AGAIN: add(t, " again"); return;
    case FAULT_DO_DELAY_BEFORE: add_value(t, r, "delay-before", " ns"); return;
    case FAULT_DO_DELAY_AFTER: add_value(t, r, "delay-after", " ns"); return;
    case FAULT_DO_RST: add(t, " rst"); return;
    case FAULT_DO_FIN: add(t, " fin"); return;
    case FAULT_DO_CORRUPT: add_value(t, r, "corrupt bit", ""); return;
    case FAULT_DO_CHUNK: add_value(t, r, "chunk", ""); return;
  }
}

void fault_rule_text(const struct fault_rule *r, char *out, size_t n) {
  struct text t = {.out = out, .n = n};
  if (n == 0) return;
  const char *point = fault_point_name(r->point);
  add(&t, "%s", point ? point : "?");
  if (r->phase == FAULT_PHASE_UPGRADE) add(&t, " upgrade");
  if (r->kind == FAULT_KIND_CONTROL) add(&t, " control");
  if (r->least_bytes > 0) add(&t, " of %lld bytes or more", (long long)r->least_bytes);
  if (r->nth > 0) add(&t, " nth %lld", (long long)r->nth);
  if (r->byte >= 0) add(&t, " byte %lld", (long long)r->byte);
  if (r->frame > 0) add(&t, " frame %lld", (long long)r->frame);
  if (r->connection > 0) add(&t, " connection %d", r->connection);
  add_act(&t, r);
  if (r->every > 1) add(&t, " every %lld", (long long)r->every);
  if (r->repeat == FAULT_TIMES) add(&t, " x%lld", (long long)r->times);
  if (r->repeat == FAULT_FOREVER) add(&t, " for ever");
  if (r->repeat == FAULT_UNTIL) add(&t, " until %s", r->until);
}
