/* catalogue - what the ids of rules say: requirements, items of the seeds, cases, and conflicts of the sources.
 *
 * The texts stand in the source tree (tests/data); an installed program that no longer has it knows ids only.
 */
#ifndef SCN_CATALOGUE_H
#define SCN_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct catalogue;

/* Reads what is there. Never NULL: without files it is empty. Free with catalogue_free. */
struct catalogue *catalogue_load(void);
void catalogue_free(struct catalogue *c);

/* The title of a seed item or case, the first sentence of a requirement; NULL: not known. */
const char *catalogue_title(const struct catalogue *c, const char *id);

/* Prints all that is known of one id. false: nothing is, and nothing was printed. */
bool catalogue_explain(const struct catalogue *c, FILE *out, const char *id);

#endif
