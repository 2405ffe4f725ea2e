#include "sweep/point.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_TAKES_NS 1000000

static const struct {
  const char *name;
  enum fault_point point;
} calls[] = {{"send", FAULT_SEND},   {"recv", FAULT_RECV},   {"connect", FAULT_CONNECT},
             {"wait", FAULT_WAIT},   {"close", FAULT_CLOSE}, {"entropy", FAULT_ENTROPY}};

static const struct {
  const char *name;
  enum fault_do act;
} acts[] = {{"rst", FAULT_DO_RST}, {"fin", FAULT_DO_FIN}, {"short", FAULT_DO_SHORT}, {"again", FAULT_DO_AGAIN}};

/* ---- kinds ---- */

const char *sweep_kind_name(enum sweep_kind k) {
  static const char *const names[] = {
#define SWEEP_KIND(id, name) name,
      SWEEP_KINDS(SWEEP_KIND)
#undef SWEEP_KIND
  };
  return names[k];
}

enum sweep_kind sweep_point_kind(const struct sweep_point *p) {
  if (p->site == SWEEP_ALLOC) return p->ever ? SWEEP_KIND_ALLOC_EVER : SWEEP_KIND_ALLOC;
  if (p->site == SWEEP_CALL) return p->ever ? SWEEP_KIND_CALL_EVER : SWEEP_KIND_CALL;
  if (p->site == SWEEP_SERVER) return p->act == FAULT_DO_RST ? SWEEP_KIND_SERVER_RST : SWEEP_KIND_SERVER_FIN;
  switch (p->act) {
    case FAULT_DO_RST: return SWEEP_KIND_RST;
    case FAULT_DO_FIN: return SWEEP_KIND_FIN;
    case FAULT_DO_SHORT: return SWEEP_KIND_SHORT;
    case FAULT_DO_AGAIN: return SWEEP_KIND_AGAIN;
    default: return SWEEP_KIND_ERRNO;
  }
}

bool sweep_point_harmless(const struct sweep_point *p) {
  if (p->site == SWEEP_ALLOC || p->site == SWEEP_SERVER || p->ever) return false;
  if (p->act == FAULT_DO_SHORT || p->act == FAULT_DO_AGAIN) return true;
  if (p->act != FAULT_DO_ERRNO) return false;
  enum fault_point call = p->site == SWEEP_SEND ? FAULT_SEND : p->site == SWEEP_RECV ? FAULT_RECV : p->call;
  if (call == FAULT_WAIT) return true;
  if (call == FAULT_SEND) return p->err == EINTR || p->err == ENOBUFS || p->err == ENOMEM;
  return call == FAULT_RECV && p->err == EINTR;
}

/* ---- names ---- */

static const char *call_name(enum fault_point point) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (calls[i].point == point) return calls[i].name;
  return "?";
}

static const char *act_name(const struct sweep_point *p) {
  for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
    if (acts[i].act == p->act) return acts[i].name;
  const char *name = fault_errno_name(p->err);
  return name ? name : "?";
}

void sweep_point_text(const struct sweep_point *p, char out[SWEEP_POINT_TEXT]) {
  char behind[24] = "";
  if (p->head_bytes > 0) snprintf(behind, sizeof behind, "@%" PRId64, p->head_bytes);
  switch (p->site) {
    case SWEEP_SEND:
    case SWEEP_RECV:
      snprintf(out, SWEEP_POINT_TEXT, "%s/%d/%c%" PRId64 "%s/%s", p->site == SWEEP_SEND ? "send" : "recv",
               p->connection, p->upgrade ? 'u' : 'd', p->at, behind, act_name(p));
      return;
    case SWEEP_SERVER:
      snprintf(out, SWEEP_POINT_TEXT, "server/%d/%" PRId64 "/%s", p->connection, p->at, act_name(p));
      return;
    case SWEEP_CALL:
      snprintf(out, SWEEP_POINT_TEXT, "call/%s/%" PRId64 "/%s%s", call_name(p->call), p->at, act_name(p),
               p->ever ? "/ever" : "");
      return;
    case SWEEP_ALLOC: snprintf(out, SWEEP_POINT_TEXT, "alloc/%" PRId64 "%s", p->at, p->ever ? "/ever" : ""); return;
  }
}

static bool read_number(const char **at, int64_t least, int64_t *out) {
  char *end;
  errno = 0;
  long long v = strtoll(*at, &end, 10);
  if (errno || end == *at || **at == '+' || **at == '-' || **at == ' ' || v < least) return false;
  *at = end;
  *out = v;
  return true;
}

static bool read_word(const char **at, const char *word) {
  size_t n = strlen(word);
  if (strncmp(*at, word, n) != 0) return false;
  *at += n;
  return true;
}

static bool read_act(const char **at, struct sweep_point *p) {
  char word[24];
  size_t n = strcspn(*at, "/");
  if (n == 0 || n >= sizeof word) return false;
  memcpy(word, *at, n);
  word[n] = '\0';
  *at += n;
  for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
    if (strcmp(acts[i].name, word) != 0) continue;
    p->act = acts[i].act;
    return true;
  }
  p->act = FAULT_DO_ERRNO;
  p->err = fault_errno_named(word);
  return p->err != 0;
}

static bool read_connection(const char **at, struct sweep_point *p) {
  int64_t connection;
  if (!read_number(at, 1, &connection) || connection > 1000 || !read_word(at, "/")) return false;
  p->connection = (int)connection;
  return true;
}

static bool read_byte(const char **at, struct sweep_point *p) {
  p->upgrade = read_word(at, "u");
  if (!p->upgrade && !read_word(at, "d")) return false;
  if (!read_number(at, 0, &p->at)) return false;
  if (read_word(at, "@") && (p->site != SWEEP_RECV || p->upgrade || !read_number(at, 1, &p->head_bytes))) return false;
  return read_word(at, "/") && read_act(at, p);
}

static bool read_call(const char **at, struct sweep_point *p) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    const char *rest = *at;
    if (!read_word(&rest, calls[i].name) || !read_word(&rest, "/")) continue;
    *at = rest;
    p->call = calls[i].point;
    if (!read_number(at, 1, &p->at) || !read_word(at, "/") || !read_act(at, p)) return false;
    p->ever = read_word(at, "/ever");
    return true;
  }
  return false;
}

static bool read_alloc(const char **at, struct sweep_point *p) {
  p->act = FAULT_DO_ERRNO;
  p->err = ENOMEM;
  if (!read_number(at, 1, &p->at)) return false;
  p->ever = read_word(at, "/ever");
  return true;
}

static bool read_point(const char **at, struct sweep_point *p) {
  if (read_word(at, "alloc/")) {
    p->site = SWEEP_ALLOC;
    return read_alloc(at, p);
  }
  if (read_word(at, "call/")) {
    p->site = SWEEP_CALL;
    return read_call(at, p);
  }
  if (read_word(at, "server/")) {
    p->site = SWEEP_SERVER;
    return read_connection(at, p) && read_number(at, 1, &p->at) && read_word(at, "/") && read_act(at, p) &&
           (p->act == FAULT_DO_RST || p->act == FAULT_DO_FIN);
  }
  if (read_word(at, "send/")) p->site = SWEEP_SEND;
  else if (read_word(at, "recv/")) p->site = SWEEP_RECV;
  else return false;
  return read_connection(at, p) && read_byte(at, p);
}

bool sweep_point_parse(const char *text, struct sweep_point *out) {
  struct fault_rule rules[SWEEP_RULES_MAX];
  *out = (struct sweep_point){0};
  if (!read_point(&text, out) || *text != '\0') return false;
  return sweep_point_rules(out, rules) == 0 || !fault_rule_problem(&rules[0]);
}

/* ---- rules ---- */

static size_t call_rules(const struct sweep_point *p, struct fault_rule *out) {
  out[0].point = p->site == SWEEP_ALLOC ? FAULT_ALLOC : p->call;
  out[0].nth = p->at;
  if (!p->ever || (p->call != FAULT_WAIT && p->err != EINTR) || p->site == SWEEP_ALLOC) return 1;
  out[1] = out[0];
  out[1].act = FAULT_DO_DELAY_BEFORE;
  out[1].value = CALL_TAKES_NS;
  return 2;
}

static size_t byte_rules(const struct sweep_point *p, struct fault_rule *out) {
  out[0].point = p->site == SWEEP_SEND ? FAULT_SEND : FAULT_RECV;
  out[0].connection = p->connection;
  out[0].phase = p->upgrade ? FAULT_PHASE_UPGRADE : FAULT_PHASE_DATA;
  out[0].byte = p->at;
  if (p->head_bytes == 0) return 1;
  /* The call that brings the head must end before the byte, or the byte is not the data phase's to meet. */
  out[1] = out[0];
  out[1].phase = FAULT_PHASE_UPGRADE;
  out[1].byte = p->head_bytes + p->at;
  out[1].act = FAULT_DO_SHORT;
  return 2;
}

size_t sweep_point_rules(const struct sweep_point *p, struct fault_rule out[SWEEP_RULES_MAX]) {
  if (p->site == SWEEP_SERVER) return 0;
  out[0] = (struct fault_rule){.byte = -1, .phase = FAULT_PHASE_ANY, .kind = FAULT_KIND_ANY, .act = p->act,
                               .err = p->err, .repeat = p->ever ? FAULT_FOREVER : FAULT_ONCE};
  return p->site == SWEEP_CALL || p->site == SWEEP_ALLOC ? call_rules(p, out) : byte_rules(p, out);
}
