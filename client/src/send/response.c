#include "send/response.h"

#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "qwp/wire.h"

/* A cursor that cannot leave the payload; once short, it stays short. */
struct reader {
  const uint8_t *p;
  size_t left;
  bool failed;
};

static const uint8_t *take(struct reader *r, size_t n) {
  if (r->failed || n > r->left) {
    r->failed = true;
    return NULL;
  }
  const uint8_t *at = r->p;
  r->p += n;
  r->left -= n;
  return at;
}

static uint64_t take_u64(struct reader *r) {
  const uint8_t *at = take(r, 8);
  return at ? qwp_get_u64(at) : 0;
}

static uint16_t take_u16(struct reader *r) {
  const uint8_t *at = take(r, 2);
  return at ? qwp_get_u16(at) : 0;
}

static enum qwp_status refuse(const char **why, const char *reason) {
  if (why) *why = reason;
  return QWP_CONN_PROTOCOL;
}

static enum qwp_status read_tables(struct reader *r, struct qwp_response *out, const char **why) {
  out->table_count = take_u16(r);
  for (unsigned i = 0; i < out->table_count && !r->failed; i++) {
    uint16_t length = take_u16(r);
    const uint8_t *name = take(r, length);
    take_u64(r);
    if (r->failed) break;
    if (length == 0) return refuse(why, "empty table name in an acknowledgement");
    if (!qwp_utf8_valid(name, length)) return refuse(why, "table name in an acknowledgement is not UTF-8");
  }
  if (r->failed) return refuse(why, "acknowledgement cut short");
  if (r->left > 0) return refuse(why, "bytes behind an acknowledgement");
  return QWP_OK;
}

static enum qwp_status read_error(struct reader *r, struct qwp_response *out, const char **why) {
  out->sequence = (int64_t)take_u64(r);
  uint16_t length = take_u16(r);
  out->text = take(r, length);
  out->text_bytes = length;
  if (r->failed) return refuse(why, "error answer cut short");
  if (r->left > 0) return refuse(why, "bytes behind an error answer");
  return QWP_OK;
}

enum qwp_status qwp_response_parse(const uint8_t *payload, size_t n, struct qwp_response *out, const char **why) {
  *out = (struct qwp_response){.sequence = -1};
  struct reader r = {.p = payload, .left = n};
  const uint8_t *status = take(&r, 1);
  if (!status) return refuse(why, "empty answer");
  out->status = *status;
  if (*status == QWP_ST_OK) {
    out->kind = QWP_RESPONSE_OK;
    out->sequence = (int64_t)take_u64(&r);
    return read_tables(&r, out, why);
  }
  if (*status == QWP_ST_DURABLE_ACK) {
    out->kind = QWP_RESPONSE_DURABLE;
    return read_tables(&r, out, why);
  }
  out->kind = QWP_RESPONSE_ERROR;
  return read_error(&r, out, why);
}

void qwp_response_text(const struct qwp_response *r, char *out, size_t cap) {
  size_t len = 0;
  for (size_t at = 0; at < r->text_bytes;) {
    size_t step = qwp_utf8_char(r->text + at, r->text_bytes - at);
    bool shown = step > 1 || (step == 1 && r->text[at] >= 0x20 && r->text[at] != 0x7F);
    size_t n = shown ? step : 1;
    if (len + n >= cap) break;
    if (shown)
      memcpy(out + len, r->text + at, n);
    else
      out[len] = '?';
    len += n;
    at += step ? step : 1;
  }
  out[len] = '\0';
}
