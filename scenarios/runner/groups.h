/* groups - counts what is alike, in the order it first came: one fault in a matrix of hundreds is told once. */
#ifndef SCN_GROUPS_H
#define SCN_GROUPS_H

#include <stddef.h>

struct job;

struct group {
  char *key;
  const struct job *first; /* borrowed */
  size_t count;
};

struct groups {
  struct group *at;
  size_t count;
};

/* Counts j under key; returns how many stand there now, j included. */
size_t groups_add(struct groups *g, const char *key, const struct job *j);
void groups_free(struct groups *g);

/* What the verdict says, without the file and line before it. */
const char *groups_sentence(const struct job *j);

/* The key of reds that have one cause: verdict, world, file, and the sentence with every number in it left open. */
void groups_red_key(const struct job *j, char *out, size_t n);
/* The key of runs that were not judged: the first sentence of the reason, at most 80 bytes, without the file's name; of
 * a disputed one the reason is what its file says. */
void groups_reason_key(const struct job *j, char *out, size_t n);

#endif
