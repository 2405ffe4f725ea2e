#include "config/refusal.h"

#include <stdarg.h>
#include <stdio.h>

enum qwp_status qwp_refuse(struct qwp_error *err, const char *key, const char *fmt, ...) {
  if (!err) return QWP_CONFIG;
  qwp_error_clear(err);
  err->code = QWP_CONFIG;
  snprintf(err->key, sizeof err->key, "%s", key);
  va_list args;
  va_start(args, fmt);
  vsnprintf(err->text, sizeof err->text, fmt, args);
  va_end(args);
  return QWP_CONFIG;
}
