#include "core/pieces.h"

void mock_pieces_init(struct mock_pieces *p, const struct mock_entry *e) {
  *p = (struct mock_pieces){.at_ns = INT64_MAX};
  if (!e || (e->upgrade_cut_bytes <= 0 && e->upgrade_piece_bytes <= 0)) return;
  p->armed = true;
  p->once = e->upgrade_cut_bytes > 0;
  p->size = (size_t)(p->once ? e->upgrade_cut_bytes : e->upgrade_piece_bytes);
  p->pause_ns = e->upgrade_pause_ns;
}

size_t mock_pieces_allow(struct mock_pieces *p, size_t n, int64_t now_ns) {
  if (p->armed && n > 0) {
    p->armed = false;
    p->left = p->once && p->size < n ? p->size : n;
  }
  if (p->at_ns != INT64_MAX && p->at_ns > now_ns) return 0;
  p->at_ns = INT64_MAX;
  if (p->left == 0) return n;
  const size_t most = p->size < p->left ? p->size : p->left;
  return n < most ? n : most;
}

void mock_pieces_took(struct mock_pieces *p, size_t n, int64_t now_ns) {
  if (p->left == 0 || n == 0) return;
  p->left = n < p->left ? p->left - n : 0;
  if (p->pause_ns <= 0 || (p->left == 0 && !p->once)) return;
  p->at_ns = p->pause_ns > INT64_MAX - 1 - now_ns ? INT64_MAX - 1 : now_ns + p->pause_ns;
}
