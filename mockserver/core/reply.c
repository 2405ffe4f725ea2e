#include "core/reply.h"

#include <string.h>

#include "qwp/wire.h"

enum { CONTROL_MAX = 125, REASON_MAX = 123 };

void mock_reply_frame(struct mock_out *o, unsigned opcode, size_t n) {
  mock_out_u8(o, 0x80u | opcode);
  if (n <= 125) {
    mock_out_u8(o, (unsigned)n);
    return;
  }
  size_t bytes = n <= 0xFFFF ? 2 : 8;
  mock_out_u8(o, bytes == 2 ? 126 : 127);
  for (size_t i = bytes; i-- > 0;) mock_out_u8(o, (unsigned)((uint64_t)n >> (8 * i)) & 0xFFu);
}

/* Little-endian, one move each; they return what follows. */
static uint8_t *put16(uint8_t *p, unsigned v) {
  p[0] = (uint8_t)v;
  p[1] = (uint8_t)(v >> 8);
  return p + 2;
}

static uint8_t *put64(uint8_t *p, uint64_t v) {
  p[0] = (uint8_t)v;
  p[1] = (uint8_t)(v >> 8);
  p[2] = (uint8_t)(v >> 16);
  p[3] = (uint8_t)(v >> 24);
  p[4] = (uint8_t)(v >> 32);
  p[5] = (uint8_t)(v >> 40);
  p[6] = (uint8_t)(v >> 48);
  p[7] = (uint8_t)(v >> 56);
  return p + 8;
}

void mock_reply_ok(struct mock_out *o, int64_t seq, const struct mock_committed *tables, size_t count) {
  if (count > QWP_MAX_TABLES) count = QWP_MAX_TABLES; /* the field is a u16 */
  size_t n = 1 + 8 + 2;
  for (size_t i = 0; i < count; i++) n += 2 + tables[i].name_n + 8;

  mock_reply_frame(o, QWP_WS_BINARY, n);
  uint8_t *at = mock_out_reserve(o, n);
  if (!at) return;
  *at++ = QWP_ST_OK;
  at = put64(at, (uint64_t)seq);
  at = put16(at, (unsigned)count);
  for (size_t i = 0; i < count; i++) {
    at = put16(at, (unsigned)tables[i].name_n);
    memcpy(at, tables[i].name, tables[i].name_n);
    at = put64(at + tables[i].name_n, (uint64_t)tables[i].seq_txn);
  }
}

size_t mock_reply_cut(const char *text, size_t n, size_t max) {
  if (n <= max) return n;
  size_t cut = max;
  while (cut > 0 && ((uint8_t)text[cut] & 0xC0) == 0x80) cut--;
  return cut;
}

void mock_reply_error(struct mock_out *o, unsigned status, int64_t seq, const char *text, size_t n) {
  n = mock_reply_cut(text, n, QWP_MAX_ERROR_TEXT_BYTES);
  mock_reply_frame(o, QWP_WS_BINARY, 1 + 8 + 2 + n);
  mock_out_u8(o, status);
  mock_out_le(o, (uint64_t)seq, 8);
  mock_out_le(o, n, 2);
  mock_out_put(o, text, n);
}

void mock_reply_close(struct mock_out *o, unsigned code, const char *reason) {
  if (code == 0) {
    mock_reply_frame(o, QWP_WS_CLOSE, 0);
    return;
  }
  size_t n = reason ? mock_reply_cut(reason, strlen(reason), REASON_MAX) : 0;
  mock_reply_frame(o, QWP_WS_CLOSE, 2 + n);
  mock_out_u8(o, (code >> 8) & 0xFFu);
  mock_out_u8(o, code & 0xFFu);
  mock_out_put(o, reason, n);
}

static void control(struct mock_out *o, unsigned opcode, const uint8_t *p, size_t n) {
  if (n > CONTROL_MAX) n = CONTROL_MAX;
  mock_reply_frame(o, opcode, n);
  mock_out_put(o, p, n);
}

void mock_reply_ping(struct mock_out *o, const uint8_t *p, size_t n) { control(o, QWP_WS_PING, p, n); }
void mock_reply_pong(struct mock_out *o, const uint8_t *p, size_t n) { control(o, QWP_WS_PONG, p, n); }

void mock_reply_server_info(struct mock_out *o, int64_t wall_ns) {
  static const char cluster[] = "questdb";
  const size_t cluster_n = sizeof cluster - 1;
  const size_t body = 1 + 1 + 8 + 4 + 8 + 2 + cluster_n + 2;

  mock_reply_frame(o, QWP_WS_BINARY, QWP_HEADER_BYTES + body);
  mock_out_le(o, QWP_MAGIC, 4);
  mock_out_u8(o, QWP_VERSION);
  mock_out_u8(o, 0);        /* flags */
  mock_out_le(o, 0, 2);     /* table_count */
  mock_out_le(o, body, 4);
  mock_out_u8(o, QWP_KIND_SERVER_INFO);
  mock_out_u8(o, 0);        /* role: standalone */
  mock_out_le(o, 0, 8);     /* epoch */
  mock_out_le(o, 2, 4);     /* capabilities; no zone, so bit 0 is clear */
  mock_out_le(o, (uint64_t)wall_ns, 8);
  mock_out_le(o, cluster_n, 2);
  mock_out_text(o, cluster);
  mock_out_le(o, 0, 2);     /* node id */
}
