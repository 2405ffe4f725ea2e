#include "qwp/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *qwp_status_name(enum qwp_status code) {
  switch (code) {
#define NAME(c) case c: return #c
    NAME(QWP_OK);
    NAME(QWP_AGAIN);
    NAME(QWP_TIMEOUT);
    NAME(QWP_BACKPRESSURE);
    NAME(QWP_CONN_LOST);
    NAME(QWP_CONN_PROTOCOL);
    NAME(QWP_CONN_UPGRADE);
    NAME(QWP_CONN_ROLE);
    NAME(QWP_CONN_TIMEOUT);
    NAME(QWP_CONN_CLOSED);
    NAME(QWP_AUTH);
    NAME(QWP_REJECTED);
    NAME(QWP_POISONED);
    NAME(QWP_CONNECT);
    NAME(QWP_ROLE);
    NAME(QWP_TOO_LARGE);
    NAME(QWP_DICT_FULL);
    NAME(QWP_RESEND);
    NAME(QWP_CONFIG);
    NAME(QWP_MISUSE);
    NAME(QWP_NAME);
    NAME(QWP_TYPE);
    NAME(QWP_VALUE);
    NAME(QWP_NOMEM);
#undef NAME
  }
  return "unknown status";
}

void qwp_error_clear(struct qwp_error *err) {
  if (!err) return;
  memset(err, 0, sizeof *err);
  err->server_status = -1;
  err->close_code = -1;
  err->message_seq = -1;
  err->from_fsn = -1;
  err->to_fsn = -1;
}

enum qwp_status qwp_fail(struct qwp_error *err, enum qwp_status code, const char *fmt, ...) {
  if (!err) return code;
  qwp_error_clear(err);
  err->code = code;
  va_list args;
  va_start(args, fmt);
  vsnprintf(err->text, sizeof err->text, fmt, args);
  va_end(args);
  return code;
}
