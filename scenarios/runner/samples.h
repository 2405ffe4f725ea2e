/* samples - a series of looks at one value over time, and its file.
 *
 * The file has a header line "# NAME KIND" (kind: bytes or descriptors), then one line a look: "t_ns value fault",
 * separated by blanks, where fault is 1 inside a fault window, else 0. Other lines with '#' are remarks.
 */
#ifndef SCN_SAMPLES_H
#define SCN_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum sample_kind { SAMPLE_BYTES, SAMPLE_DESCRIPTORS };

struct sample {
  int64_t t_ns, value;
  bool in_fault; /* the peer was away, or what it missed was not made good yet: the value says nothing about a trend */
};

struct samples {
  char name[64]; /* "client.rss" */
  enum sample_kind kind;
  struct sample *at;
  size_t count, cap;
};

void samples_init(struct samples *s, const char *name, enum sample_kind kind);
void samples_free(struct samples *s);

/* Adds a look that found something; a value below 0 means that nothing was seen, and is left out. false: no memory. */
bool samples_add(struct samples *s, int64_t t_ns, int64_t value, bool in_fault);

/* Reads a whole file into *s (init or not; free it). false: why says which line is none, at most 1 000 000 lines and
 * times that do not go back. */
bool samples_read(struct samples *s, FILE *f, char *why, size_t why_n);
bool samples_write(const struct samples *s, FILE *f);

#endif
