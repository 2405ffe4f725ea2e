/* head - finds the end of the answer to an upgrade in what a client receives, and tells a 101 from a refusal.
 *
 * It counts and judges nothing else: whether the head is a proper one is the client's question.
 */
#ifndef FAULT_HEAD_H
#define FAULT_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct head {          /* all zero to begin with */
  unsigned blank_line; /* bytes of CRLFCRLF seen in a row */
  unsigned have;
  char line[12];       /* "HTTP/1.1 101" */
  bool complete;
};

/* Takes the part of p that belongs to the head; how many bytes that is. */
size_t head_scan(struct head *h, const uint8_t *p, size_t n);
bool head_is_101(const struct head *h);

#endif
