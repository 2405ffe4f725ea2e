#include "head.h"

#include <string.h>

size_t head_scan(struct head *h, const uint8_t *p, size_t n) {
  static const char end[] = "\r\n\r\n";
  size_t i = 0;
  for (; i < n && !h->complete; i++) {
    char c = (char)p[i];
    if (h->have < sizeof h->line) h->line[h->have++] = c;
    if (c == end[h->blank_line]) h->blank_line++;
    else h->blank_line = c == '\r';
    h->complete = h->blank_line == 4;
  }
  return i;
}

bool head_is_101(const struct head *h) {
  return h->complete && h->have == sizeof h->line && memcmp(h->line, "HTTP/1.", 7) == 0 &&
         memcmp(h->line + 8, " 101", 4) == 0;
}
