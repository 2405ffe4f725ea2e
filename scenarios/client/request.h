/* request - the one JSON line a runner gives a client of another process, and the one it gets back.
 *
 * This is the adapter protocol: whoever writes an adapter in another language reads the first line on standard
 * input and writes the second on standard output. scenarios/client/README.md describes both, field by field.
 */
#ifndef SCN_REQUEST_H
#define SCN_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "client/client.h"
#include "client/facts.h"
#include "language/scenario.h"

#define REQUEST_VERSION 1

/* What a child is asked to do; after request_read it owns its memory. */
struct request {
  struct client_task task;
  struct fault_plan plan;
  int64_t send_buffer_bytes, recv_buffer_bytes; /* of the client's sockets; 0 = the system's */
  uint64_t seed; /* of what fault rules with a range choose */
  void *json;
  struct scn_step *steps;
  struct scn_fact *facts;
  struct fault_rule *rules;
};

/* What a child answers. */
struct reply {
  char unsupported[256]; /* what this client cannot do of what was asked; "" = it did it. The rest is then unset. */
  bool ok;          /* every step ended as the scenario says */
  int line;         /* of the first that did not, 0 = none in particular */
  char why[512];
  struct facts facts;
  char unfired[1024]; /* fault rules that never fired, one a line */
};

/* One line without a newline; the caller frees it. `config` has ${server} replaced. */
char *request_write(const struct scn_scenario *s, const char *config, uint64_t seed, bool no_deadline);
/* false: `why` tells what is wrong with the line. */
bool request_read(const char *line, struct request *out, char *why, size_t why_n);
void request_free(struct request *r);

char *reply_write(const struct reply *r);
/* Silence is no consent: a reply without `unsupported` must say `ok`, `unfired` and `facts`. */
bool reply_read(const char *line, struct reply *out, char *why, size_t why_n);
void reply_free(struct reply *r);

#endif
