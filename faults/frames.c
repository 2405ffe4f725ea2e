#include "frames.h"

static unsigned header_bytes(const uint8_t *h, unsigned have) {
  if (have < 2) return 2;
  unsigned len7 = h[1] & 0x7f;
  return 2 + (len7 == 126 ? 2u : len7 == 127 ? 8u : 0u) + ((h[1] & 0x80) ? 4u : 0u);
}

static uint64_t payload_bytes(const uint8_t *h) {
  unsigned len7 = h[1] & 0x7f;
  if (len7 < 126) return len7;
  uint64_t n = 0;
  for (unsigned i = 0; i < (len7 == 126 ? 2u : 8u); i++) n = n << 8 | h[2 + i];
  return n;
}

static void note(const struct frames *f, struct frames_seen *seen) {
  if (f->control) seen->control = true;
  else seen->data = true;
}

static void begin(struct frames *f, uint8_t first, size_t at, int64_t target, struct frames_seen *seen) {
  f->control = (first & 0x08) != 0;
  if (f->control) return;
  f->data_frames++;
  if (seen->first_data == 0) seen->first_data = f->data_frames;
  if (f->data_frames == target) seen->target_at = (int64_t)at;
}

/* Takes header bytes from p; returns how many. */
static size_t take_header(struct frames *f, const uint8_t *p, size_t n) {
  size_t used = 0;
  while (used < n && f->have < header_bytes(f->header, f->have)) f->header[f->have++] = p[used++];
  if (f->have >= 2 && f->have == header_bytes(f->header, f->have)) {
    f->payload_left = payload_bytes(f->header);
    f->have = 0;
  }
  return used;
}

void frames_walk(struct frames *f, const uint8_t *p, size_t n, int64_t target, struct frames_seen *seen) {
  *seen = (struct frames_seen){.target_at = -1};
  size_t at = 0;
  while (at < n) {
    if (f->payload_left > 0) {
      size_t skip = f->payload_left < n - at ? (size_t)f->payload_left : n - at;
      note(f, seen);
      f->payload_left -= skip;
      at += skip;
      continue;
    }
    if (f->have == 0) begin(f, p[at], at, target, seen);
    note(f, seen);
    at += take_header(f, p + at, n - at);
  }
}
