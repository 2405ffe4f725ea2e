#include "qwp/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

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
    NAME(QWP_CONN_TLS);
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

/* Ends the text before a character whose bytes are not all there. */
static void end_at_character(char *text) {
  size_t n = strlen(text), begin = n;
  while (begin > 0 && n - begin < 3 && ((unsigned char)text[begin - 1] & 0xC0) == 0x80) begin--;
  if (begin > 0) begin--; /* now at the last byte that begins a character */
  if (begin < n && qwp_utf8_char(text + begin, n - begin) != n - begin) text[begin] = '\0';
}

static void say(struct qwp_error *err, const char *fmt, va_list args) {
  int n = vsnprintf(err->text, sizeof err->text, fmt, args);
  if (n < 0 || (size_t)n >= sizeof err->text) end_at_character(err->text);
}

void qwp_error_say(struct qwp_error *err, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  say(err, fmt, args);
  va_end(args);
}

enum qwp_status qwp_fail(struct qwp_error *err, enum qwp_status code, const char *fmt, ...) {
  if (!err) return code;
  qwp_error_clear(err);
  err->code = code;
  va_list args;
  va_start(args, fmt);
  say(err, fmt, args);
  va_end(args);
  return code;
}
