#include "core/profile.h"

#include "qwp/wire.h"

static int64_t recv_buffer(const struct mock_script *s) {
  return s && s->recv_buffer_bytes > 0 ? s->recv_buffer_bytes : MOCK_RECV_BUFFER_BYTES;
}

const char *mock_profile_name(const struct mock_script *s) {
  return s && s->profile == MOCK_PROFILE_JUL2026 ? "jul2026" : "doc";
}

struct mock_limits mock_profile_limits(const struct mock_script *s) {
  bool july = s && s->profile == MOCK_PROFILE_JUL2026;
  struct mock_limits l = {
    .max_rows = QWP_MAX_ROWS,
    .max_columns = QWP_MAX_COLUMNS,
    .max_symbols = july ? MOCK_SYMBOLS_JUL2026 : QWP_MAX_SYMBOLS_DOC,
    .max_tables = MOCK_MAX_TABLES,
    .gap_is_error = !july,
  };
  if (s && s->max_symbols > 0) l.max_symbols = (uint64_t)s->max_symbols;
  return l;
}

int64_t mock_profile_cap(const struct mock_script *s, const struct mock_entry *e) {
  if (e && e->has_cap) return e->cap;
  int64_t cap = recv_buffer(s) - MOCK_CAP_MARGIN_BYTES;
  return cap < QWP_MAX_PAYLOAD_BYTES ? cap : (int64_t)QWP_MAX_PAYLOAD_BYTES;
}

uint64_t mock_profile_frame_max(const struct mock_script *s, const struct mock_entry *e) {
  uint64_t max = (uint64_t)recv_buffer(s);
  if (e && e->has_cap && e->cap > 0 && (uint64_t)e->cap + MOCK_CAP_MARGIN_BYTES > max)
    max = (uint64_t)e->cap + MOCK_CAP_MARGIN_BYTES;
  return max;
}
