/* matrix - one file, many scenarios that differ in a value.
 *
 *   matrix: {errno: [ENOBUFS, ENOMEM], byte: [0..107]}    every pair: 216 scenarios
 *   matrix: [{frames: 3, writes: 1}, {frames: 9, writes: 2}]   two, as told
 *
 * A value `a..b` in a list stands for all whole numbers from a to b. ${errno} anywhere
 * in the file's values is then the value of the line.
 */
#ifndef SCN_MATRIX_H
#define SCN_MATRIX_H

#include "language/reader.h"

struct scn_matrix {
  const char *const *names;         /* of the columns */
  size_t columns;
  const char *const *cells;         /* lines x columns */
  size_t lines;                     /* 1 without a matrix */
};

/* Reads the `matrix` key of the file (NULL = none) into the arena of r. */
bool scn_matrix_read(struct scn_reader *r, scn_node *node, struct scn_matrix *out);

/* The values of one line, to be put into r->vars. */
struct scn_vars scn_matrix_line(const struct scn_matrix *m, size_t line);

/* `stem` plus "[name=value,...]" of the line; just a copy of it without a matrix. NULL = no memory. */
const char *scn_matrix_name(struct scn_arena *a, const char *stem, struct scn_vars line);

#endif
