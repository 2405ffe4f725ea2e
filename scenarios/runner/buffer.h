/* buffer - text that grows. Running out of memory ends the program. */
#ifndef SCN_BUFFER_H
#define SCN_BUFFER_H

#include <stddef.h>

struct buffer {
  char *at; /* NUL-terminated once anything was added */
  size_t n, cap;
};

void buffer_add(struct buffer *b, const char *p, size_t n);
void buffer_line(struct buffer *b, const char *p, size_t n); /* and a newline */
void buffer_printf(struct buffer *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* text as a JSON string, with its quotes. */
void buffer_json_text(struct buffer *b, const char *text);
void buffer_clear(struct buffer *b);
void buffer_free(struct buffer *b);

#endif
