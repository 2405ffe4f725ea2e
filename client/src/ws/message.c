#include "ws/message.h"

#include "base/utf8.h"
#include "qwp/wire.h"
#include "ws/frame.h"

void qwp_messages_init(struct qwp_messages *m, const struct qwp_ops *ops, size_t max_bytes) {
  *m = (struct qwp_messages){.max_bytes = max_bytes};
  qwp_bytes_init(&m->body, ops, max_bytes);
}

void qwp_messages_free(struct qwp_messages *m) { qwp_bytes_free(&m->body); }

void qwp_messages_reset(struct qwp_messages *m) {
  m->open = false;
  m->body.len = 0;
}

bool qwp_close_code_valid(unsigned code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

static enum qwp_status violation(struct qwp_item *item, unsigned answer_code, const char *why) {
  item->why = why;
  item->answer_code = answer_code;
  return QWP_CONN_PROTOCOL;
}

static enum qwp_status take_close(struct qwp_item *item) {
  item->kind = QWP_ITEM_CLOSE;
  item->close_code = QWP_CLOSE_NO_CODE;
  if (item->n == 0) return QWP_OK;
  if (item->n == 1) return violation(item, QWP_CLOSE_PROTOCOL, "Close with a payload of one byte");
  item->close_code = (unsigned)(item->payload[0] << 8 | item->payload[1]);
  if (!qwp_close_code_valid(item->close_code)) {
    return violation(item, QWP_CLOSE_PROTOCOL, "Close with a code that is not for the wire");
  }
  item->payload += 2;
  item->n -= 2;
  if (!qwp_utf8_valid(item->payload, item->n)) {
    return violation(item, QWP_CLOSE_BAD_TEXT, "Close with a reason that is not UTF-8");
  }
  return QWP_OK;
}

static enum qwp_status take_control(struct qwp_item *item) {
  if (item->opcode == QWP_WS_CLOSE) return take_close(item);
  item->kind = item->opcode == QWP_WS_PING ? QWP_ITEM_PING : QWP_ITEM_PONG;
  return QWP_OK;
}

/* A fragment's payload goes behind those before it; the last one completes the message. */
static enum qwp_status join(struct qwp_messages *m, bool fin, struct qwp_item *item) {
  enum qwp_status st = qwp_bytes_append(&m->body, item->payload, item->n);
  if (st == QWP_TOO_LARGE) {
    return violation(item, QWP_CLOSE_TOO_BIG, "fragments add up to more than the largest message");
  }
  if (st != QWP_OK) return st;
  if (!fin) return QWP_OK;
  m->open = false;
  item->kind = QWP_ITEM_MESSAGE;
  item->opcode = m->opcode;
  item->payload = m->body.data ? m->body.data : (const uint8_t *)""; /* all fragments may be empty */
  item->n = m->body.len;
  return QWP_OK;
}

static enum qwp_status take_data(struct qwp_messages *m, bool fin, struct qwp_item *item) {
  if (item->opcode == QWP_WS_CONTINUATION) {
    if (!m->open) return violation(item, QWP_CLOSE_PROTOCOL, "continuation of no message");
    return join(m, fin, item);
  }
  if (m->open) return violation(item, QWP_CLOSE_PROTOCOL, "a new message inside a fragmented one");
  if (fin) { /* the common case: handed over in place */
    item->kind = QWP_ITEM_MESSAGE;
    return QWP_OK;
  }
  m->open = true;
  m->opcode = item->opcode;
  m->body.len = 0;
  return join(m, fin, item);
}

enum qwp_status qwp_messages_next(struct qwp_messages *m, const uint8_t *p, size_t n, struct qwp_item *item) {
  struct qwp_frame frame;
  *item = (struct qwp_item){.kind = QWP_ITEM_NONE};
  int header = qwp_frame_decode(p, n, &frame, &item->why);
  if (header < 0) return violation(item, QWP_CLOSE_PROTOCOL, item->why);
  if (header == 0) return QWP_AGAIN;
  if (frame.masked) return violation(item, QWP_CLOSE_PROTOCOL, "masked frame from a server"); /* WS-001 */
  if ((size_t)header > m->max_bytes || frame.length > m->max_bytes - (size_t)header) {
    return violation(item, QWP_CLOSE_TOO_BIG, "frame larger than the receive limit");
  }
  if (frame.length > n - (size_t)header) return QWP_AGAIN;

  item->opcode = frame.opcode;
  item->payload = p + header;
  item->n = (size_t)frame.length;
  item->used = (size_t)header + item->n;
  return qwp_frame_is_control(frame.opcode) ? take_control(item) : take_data(m, frame.fin, item);
}
