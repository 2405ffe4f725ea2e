/* gate - holds the threads that make net calls, so that a batch can be made exact.
 *
 * One flag, one lock, one condition. A call that enters counts itself, then looks at
 * the flag; hold() sets the flag, then looks at the count. In that order, on both sides,
 * either the call sees the flag and parks, or hold() sees the call and waits for its
 * thread's next one. Passing an open gate takes no lock.
 */
#ifndef FAULT_GATE_H
#define FAULT_GATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gate {
  atomic_bool shut;
  atomic_bool entered; /* some call came here once */
  pthread_mutex_t lock;
  pthread_cond_t moved;
  int parked;          /* under the lock, as `shut` is changed */
};

void gate_init(struct gate *g);
void gate_free(struct gate *g);
void gate_pass(struct gate *g);
void gate_shut(struct gate *g);       /* from now on calls park */
void gate_await(struct gate *g);      /* until one is parked, if any ever came */
void gate_open(struct gate *g);

#endif
