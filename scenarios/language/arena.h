/* arena - memory of one scenario file: taken piece by piece, given back at once.
 *
 * Everything that a read file points to lives here, so that a half-read file is freed
 * like a whole one and no reader has an error path of its own for memory.
 */
#ifndef SCN_ARENA_H
#define SCN_ARENA_H

#include <stddef.h>

struct scn_arena; /* opaque */

/* max_bytes bounds all that is taken: a hostile file must not eat the machine. NULL = out of memory */
struct scn_arena *scn_arena_new(size_t max_bytes);
void scn_arena_del(struct scn_arena *a); /* NULL is fine */

/* count zeroed objects of `size` bytes, aligned for any type. NULL = out of memory, the
 * product overflows, or the bound is reached. A count of 0 gives a valid pointer to nothing. */
void *scn_arena_array(struct scn_arena *a, size_t count, size_t size);

/* A copy of n bytes with a NUL behind them; NULL likewise. */
char *scn_arena_text(struct scn_arena *a, const char *text, size_t n);

#endif
