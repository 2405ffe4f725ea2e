/* observation - everything that one run of a scenario left behind, before anyone judges it. */
#ifndef SCN_OBSERVATION_H
#define SCN_OBSERVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/facts.h"
#include "core/mock.h"
#include "language/scenario.h"
#include "runner/buffer.h"

struct observation {
  struct facts facts;        /* client, fault layer and mock together */
  bool client_ok;            /* every step ended as the scenario says */
  int client_line;
  char client_why[512];
  char unfired[2048];        /* fault rules and script rules that never fired, one a line */
  char unsupported[256];     /* what this client or world lacks; "" = nothing: the run can be judged */
  char harness[512];         /* why there is no verdict: dead child, no port ...; "" = all well */
  char rows_why[256];        /* what is wrong with the rows at the mock, "" = nothing (oracle.h) */
  char violation[256];       /* the first violation the scenario does not expect, "" = none */
  enum scn_world world;      /* where it ran */
  bool own_client;           /* the built-in one, whose counters are ours: it must tell what it left open */
  size_t reader_count;       /* connections to the reader endpoint */
  struct buffer journal;     /* JSON lines */
};

void observation_init(struct observation *o);
void observation_free(struct observation *o);

/* Takes facts, rows, violations and unfired rules out of a mock that has come to rest. */
void observe_mock(struct observation *o, const struct scn_scenario *s, const struct mock *m);

/* Adds one line to o->unfired. */
void observe_unfired(void *o, const char *text);

/* Two runs of one seed: journals and facts must be the same, to the byte and the number. false: `why` says where they
 * part first. */
bool observations_equal(const struct observation *a, const struct observation *b, char *why, size_t why_n);

#endif
