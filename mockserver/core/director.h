/* director - which rules of a script fall due on one connection.
 *
 * A rule fires once a connection. Counting: at_frame counts whole messages read (all,
 * or only dictionary-only ones, or only the others), at_byte counts bytes behind the
 * request head, on ping and on close count those frames (n <= 1: the first; MOCK_ANY:
 * every one), at_time counts from the 101.
 *
 * Rules that fall due together fire in the order in which they stand.
 */
#ifndef MOCK_DIRECTOR_H
#define MOCK_DIRECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/script.h"

struct mock_turn {
  bool fired;  /* on this connection */
  int64_t n;   /* of the rule, or what was chosen of its range */
};

struct mock_director {
  const struct mock_entry *entry; /* NULL = no rules */
  struct mock_turn *turns;        /* beside entry->rules */
  bool *ever;                     /* on any connection; borrowed */
  int64_t frames, catchup, data;  /* whole messages read so far */
  int64_t bytes;                  /* behind the request head */
  int64_t pings, closes;
  int64_t upgraded_ns;            /* when the 101 left, -1 = not yet */
};

/* false: out of memory. entry may be NULL. `draw`: whatever tells this connection from others and this run from one
 * of another seed; rules with a range choose by it. */
bool mock_director_init(struct mock_director *d, const struct mock_entry *entry, bool *ever, uint64_t draw);
void mock_director_free(struct mock_director *d);

/* Nothing is scripted for the connection: none of the questions below has an answer. */
static inline bool mock_director_idle(const struct mock_director *d) {
  return !d->entry || d->entry->rule_count == 0;
}

/* Takes the next rule, from index *at on, whose trigger of that kind is due now, marks
 * it fired and moves *at behind it; NULL = none. The counters above must be up to date. */
const struct mock_rule *mock_director_take(struct mock_director *d, enum mock_trigger t, bool is_catchup,
                                           int64_t now_ns, size_t *at);

/* Whether take would give a rule whose action `want` is true of. */
bool mock_director_expects(const struct mock_director *d, enum mock_trigger t, bool is_catchup, int64_t now_ns,
                           bool (*want)(enum mock_action action));

/* Bytes to read until the next at_byte rule is due; -1 = there is none. */
int64_t mock_director_bytes_left(const struct mock_director *d);
/* When the next at_time rule is due; INT64_MAX = there is none. */
int64_t mock_director_next_time(const struct mock_director *d);

/* The trigger's number on this connection: the rule's own, or what was chosen of its range. */
int64_t mock_director_number(const struct mock_director *d, const struct mock_rule *r);

/* Rules as words for a person: "reset at frame 5", "reset at frame 40..400". Returns bytes written, NUL not counted. */
size_t mock_rule_text(const struct mock_rule *r, char *out, size_t cap);

#endif
