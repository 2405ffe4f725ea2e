/* world - the places a scenario can run in. Each takes a scenario and fills an observation; none of them judges. */
#ifndef SCN_WORLD_H
#define SCN_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "language/scenario.h"
#include "runner/observation.h"

struct mock_identity;

struct world_options {
  uint64_t seed;          /* 0 = the scenario's own, else from its name */
  bool no_deadline;       /* for a debugger: nothing ends a wait */
  bool full_journal;      /* payload bytes in the journal */
  bool loop_first;        /* sim: the send loop runs before the producer goes on (sim.h) */
  int64_t client_limit_ns; /* live: real time the child may take before it counts as hanging */
  const char *client;     /* live: the child program and its arguments, split at blanks */
  bool own_client;        /* live: it is the built-in one, which knows and tells what it left open */
  const struct mock_identity *identity; /* tls: who the mock is, and a file with the CA that vouches for it */
  const char *ca;
};

/* One thread, virtual time, everything in this process. Runs twice; journals and facts must be equal. */
void world_sim_run(const struct scn_scenario *s, const struct world_options *w, struct observation *o);

/* The mock on a socket of 127.0.0.1, the client as a child process; over TLS in the world tls. */
void world_live_run(const struct scn_scenario *s, const struct world_options *w, struct observation *o);
void world_tls_run(const struct scn_scenario *s, const struct world_options *w, struct observation *o);

/* What the world tls needs, made once before anything runs in it: fills w->identity and w->ca. false: `why` tells. */
bool world_tls_prepare(struct world_options *w, char *why, size_t n);
/* Gives it back, and removes the CA's file. */
void world_tls_forget(struct world_options *w);

/* Worlds of this build; a scenario may claim more. */
bool world_exists(enum scn_world world);
/* Runs it there; in a world that this build lacks it says so in o->unsupported. */
void world_run_in(enum scn_world world, const struct scn_scenario *s, const struct world_options *w,
                  struct observation *o);

/* The seed of a run: what was asked for, what the file says, or the hash of the name. */
uint64_t world_seed(const struct scn_scenario *s, const struct world_options *w);

/* The first line of a run's journal: its version, and what ran where with which seed. */
void world_journal_header(const struct scn_scenario *s, const struct world_options *w, const char *world,
                          struct buffer *out);

/* `config` with each ${server} ("host:port"), ${port} and ${ca} replaced. With a CA a config of the schema ws becomes
 * one of wss that trusts it. false if it does not fit. */
bool world_config(const char *config, const char *server, const char *ca, char *out, size_t n);

#endif
