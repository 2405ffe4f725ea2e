#include "core/ws_server.h"

#include <string.h>

static enum mock_ws_answer broken(struct mock_ws_frame *f, const char *requirement, const char *wrong) {
  f->requirement = requirement;
  f->wrong = wrong;
  return MOCK_WS_BROKEN;
}

static uint64_t big_endian(const uint8_t *p, size_t n) {
  uint64_t v = 0;
  for (size_t i = 0; i < n; i++) v = v << 8 | p[i];
  return v;
}

static bool opcode_known(unsigned opcode) {
  return opcode <= QWP_WS_BINARY || (opcode >= QWP_WS_CLOSE && opcode <= QWP_WS_PONG);
}

enum mock_ws_answer mock_ws_parse(const uint8_t *p, size_t n, struct mock_ws_frame *f) {
  if (n < 1) return MOCK_WS_MORE;
  f->fin = (p[0] & 0x80) != 0;
  f->opcode = p[0] & 0x0F;
  if (p[0] & 0x70) return broken(f, "MAL-ING-014", "reserved bit set in a frame header");
  if (!opcode_known(f->opcode)) return broken(f, "MAL-ING-014", "reserved opcode");
  bool control = (f->opcode & 0x8) != 0;
  if (control && !f->fin) return broken(f, "MAL-ING-014", "fragmented control frame");

  if (n < 2) return MOCK_WS_MORE;
  if (!(p[1] & 0x80)) return broken(f, "WS-001", "unmasked frame");
  unsigned form = p[1] & 0x7F;

  size_t length_n = form < 126 ? 0 : form == 126 ? 2 : 8;
  if (n < 2 + length_n) return MOCK_WS_MORE;
  f->payload_n = length_n ? big_endian(p + 2, length_n) : form;
  f->minimal = form < 126 || (form == 126 ? f->payload_n > 125 : f->payload_n > 0xFFFF);
  if (f->payload_n >> 63) return broken(f, "MAL-ING-014", "64-bit length with the top bit set");
  if (control && f->payload_n > 125) return broken(f, "MAL-ING-014", "control frame of more than 125 bytes");
  if (f->opcode == QWP_WS_CLOSE && f->payload_n == 1)
    return broken(f, "MAL-ING-014", "Close frame with a payload of one byte");

  f->header_n = (uint8_t)(2 + length_n + 4);
  if (n < f->header_n) return MOCK_WS_MORE;
  memcpy(f->key, p + 2 + length_n, 4);
  return MOCK_WS_HEADER;
}

unsigned mock_ws_close_echo(unsigned code) {
  if (code < 1000 || code > 4999) return 1000;
  if (code == 1005 || code == 1006 || code == 1015) return 1000;
  if (code == 1004 || (code >= 2000 && code <= 2999)) return 1002;
  return code;
}
