#include "runner/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void room(struct buffer *b, size_t n) {
  if (b->cap - b->n > n) return;
  size_t cap = b->cap ? b->cap : 4096;
  while (cap - b->n <= n) cap *= 2;
  char *grown = realloc(b->at, cap);
  if (!grown) {
    fputs("out of memory\n", stderr);
    exit(3);
  }
  b->at = grown;
  b->cap = cap;
}

void buffer_add(struct buffer *b, const char *p, size_t n) {
  room(b, n);
  memcpy(b->at + b->n, p, n);
  b->n += n;
  b->at[b->n] = '\0';
}

void buffer_line(struct buffer *b, const char *p, size_t n) {
  buffer_add(b, p, n);
  buffer_add(b, "\n", 1);
}

void buffer_printf(struct buffer *b, const char *fmt, ...) {
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, fmt, args);
  if (n > 0) {
    room(b, (size_t)n);
    vsnprintf(b->at + b->n, (size_t)n + 1, fmt, again);
    b->n += (size_t)n;
  }
  va_end(again);
  va_end(args);
}

void buffer_json_text(struct buffer *b, const char *text) {
  buffer_add(b, "\"", 1);
  for (; *text; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c < 0x20)
      buffer_printf(b, "\\u%04x", c);
    else if (c == '"' || c == '\\')
      buffer_printf(b, "\\%c", c);
    else
      buffer_add(b, text, 1);
  }
  buffer_add(b, "\"", 1);
}

void buffer_clear(struct buffer *b) { b->n = 0; }

void buffer_free(struct buffer *b) {
  free(b->at);
  *b = (struct buffer){0};
}
