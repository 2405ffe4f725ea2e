/* normal - what a run's journal says about the protocol, without what scheduling may change.
 *
 * The same scenario must come to the same normal form in every world it claims. A line of it is one of
 *
 *   connection 1: upgrade 101 /write/v4
 *   connection 1: frame 0 89deb0750ec033b3 ok           wireSeq, hash of the payload, what became of it
 *   connection 1: error 3 status 9                      and what else the script answered or did
 *   connection 1: rule of line 21: reset at_frame: 4
 *   connection 1: close from mock 1001 going away
 *   connection 1: end: script reset
 *   connection 1: acknowledged up to 3                  the last number an OK named; -1 = none
 *
 * connection by connection. Not in it: times, how reads and writes were grouped, how many OKs said it, pings and
 * pongs (a pong may overtake or follow a frame), accepts of connections that said nothing, and the client's calls.
 */
#ifndef SCN_NORMAL_H
#define SCN_NORMAL_H

#include <stdbool.h>
#include <stddef.h>

#include "runner/buffer.h"
#include "runner/observation.h"

/* Adds the normal form of a run to *out. false: a line of the journal is no JSON object; what came before is there. */
bool normal_write(const struct observation *o, struct buffer *out);

/* Adds the part of it that stays when connections may part at different frames: the payloads that came, each once and
 * in the order of their hashes, catch-up frames left out; how connections ended, each cause once; what the client
 * holds acknowledged at its end, and its error. */
bool normal_write_union(const struct observation *o, struct buffer *out);

/* Are two equal? If not, `why` has the line of each where they part first, behind the names of their worlds. */
bool normal_equal(const char *a_name, const struct buffer *a, const char *b_name, const struct buffer *b, char *why,
                  size_t n);

#endif
