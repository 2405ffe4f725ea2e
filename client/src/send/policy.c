#include "send/policy.h"

#include "qwp/wire.h"

#define NONE (-1)
#define CLOSE_NORMAL 1000
#define CLOSE_GOING_AWAY 1001

const char *qwp_policy_category(uint8_t status) {
  switch (status) {
    case QWP_ST_SCHEMA_MISMATCH: return "SCHEMA_MISMATCH";
    case QWP_ST_PARSE_ERROR: return "PARSE_ERROR";
    case QWP_ST_INTERNAL_ERROR: return "INTERNAL_ERROR";
    case QWP_ST_SECURITY_ERROR: return "SECURITY_ERROR";
    case QWP_ST_WRITE_ERROR: return "WRITE_ERROR";
    case QWP_ST_NOT_WRITABLE: return "NOT_WRITABLE";
    case QWP_ST_DICTIONARY_GAP: return "DICTIONARY_GAP";
    default: return "UNKNOWN";
  }
}

enum qwp_policy qwp_policy_of(uint8_t status) {
  switch (status) {
    case QWP_ST_SCHEMA_MISMATCH: return QWP_POLICY_TERMINAL;
    case QWP_ST_PARSE_ERROR: return QWP_POLICY_TERMINAL;
    case QWP_ST_SECURITY_ERROR: return QWP_POLICY_TERMINAL;
    case QWP_ST_NOT_WRITABLE: return QWP_POLICY_RETRIABLE_OTHER;
    default: return QWP_POLICY_RETRIABLE;
  }
}

bool qwp_policy_orderly_close(int close_code) {
  return close_code == CLOSE_NORMAL || close_code == CLOSE_GOING_AWAY;
}

void qwp_poison_init(struct qwp_poison *p, int64_t strikes_max, int64_t window_ns) {
  *p = (struct qwp_poison){.fsn = NONE, .strikes_max = strikes_max, .window_ns = window_ns};
}

bool qwp_poison_strike(struct qwp_poison *p, int64_t fsn, int64_t now_ns) {
  if (fsn != p->fsn) {
    p->fsn = fsn;
    p->strikes = 0;
    p->first_ns = now_ns;
  }
  p->strikes++;
  if (p->strikes < p->strikes_max) return false;
  return now_ns - p->first_ns >= p->window_ns;
}

void qwp_poison_acked(struct qwp_poison *p, int64_t fsn) {
  if (p->fsn == NONE || fsn < p->fsn) return;
  p->fsn = NONE;
  p->strikes = 0;
}
