/* scenario - one scenario file, read and checked, as typed values.
 *
 * A file makes one scenario, or one a `matrix:` line. Everything is parsed before
 * anything runs; every part remembers its line. Memory belongs to the file.
 */
#ifndef SCN_SCENARIO_H
#define SCN_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/script.h"
#include "plan.h"
#include "workload/workload.h"

enum scn_world { SCN_SIM, SCN_LIVE, SCN_TLS, SCN_WORLDS };
const char *scn_world_name(enum scn_world w);

enum scn_step_kind {
  SCN_HOLD,      /* freeze the send loop */
  SCN_RELEASE,
  SCN_PUBLISH,   /* rows of a schema, flushed as told */
  SCN_FLUSH,     /* one flush call of the application */
  SCN_DRAIN,     /* until all is acknowledged; `within` is total time of its world */
  SCN_WAIT,      /* until every named counter compares true (facts[]), within */
  SCN_ADVANCE,   /* let time pass: virtual in sim, refused elsewhere */
  SCN_CLOSE,     /* close now rather than at the end */
  SCN_EXPECT,    /* counters must compare true at this moment */
  SCN_RECEIVE,   /* of a receiver: wait for so many messages in the blocking receive call */
  SCN_PROBE      /* a connection beside the sender that sends a text and goes; before all other steps: before it */
};
#define SCN_STEP_KINDS (SCN_PROBE + 1)
const char *scn_step_name(enum scn_step_kind k); /* the word of the file: "publish" */

enum scn_flush {
  SCN_FLUSH_EACH,
  SCN_FLUSH_END,
  SCN_FLUSH_NONE,
  SCN_FLUSH_ACKED, /* each row, and the next one only when it is acknowledged */
  SCN_FLUSH_EVERY
};

enum scn_compare { SCN_EQ, SCN_NE, SCN_LT, SCN_LE, SCN_GT, SCN_GE, SCN_RANGE, SCN_MATCH };

/* Where a fact comes from; the reader has checked that such a name exists. */
enum scn_source {
  SCN_FROM_METRICS,  /* QWP_METRICS */
  SCN_FROM_MOCK,     /* MOCK_COUNTERS */
  SCN_FROM_FAULTS,   /* FAULT_COUNTERS */
  SCN_FROM_CONN,     /* srv.conn[index].field */
  SCN_FROM_TABLE,    /* srv.rows[selector]: rows of one table */
  SCN_FROM_VIOLATION,/* srv.violation[selector]: how often this requirement was violated */
  SCN_FROM_DICT,     /* srv.dict[index]: symbols the server holds for this connection */
  SCN_FROM_CLIENT,   /* client.error, client.error.text, .key, client.http_status, client.close */
  SCN_FROM_TRACE,    /* io.trace, io.max_send_run */
  SCN_FROM_SAMPLES,  /* client.rss, client.rss_max, client.sigpipe: of a client in a process of its own */
  SCN_FROM_WORLD     /* time.virtual_ns: the simulated world alone has it */
};

/* One expectation: `name` compared with a value. Names are those of seed section 0:
 * loop.sent, srv.frames, io.send ... `scenarios/README.md` lists them. A text is
 * compared with SCN_EQ or SCN_NE, or, as SCN_MATCH, must be contained. */
struct scn_fact {
  int line;
  const char *name;        /* as written: "srv.conn[2].frames" */
  enum scn_source source;
  const char *field;       /* of SCN_FROM_CONN: "frames"; else the whole name */
  int64_t index;           /* N of srv.conn[N], srv.dict[N]; else 0 */
  const char *selector;    /* the table, or the violated requirement; else NULL */
  enum scn_compare op;
  int64_t value, to;       /* SCN_RANGE: value..to, inclusive */
  const char *text;        /* for names that are text, else NULL */
  const char *const *items; size_t item_count; /* io.trace: lines in order, "send(100)->40" */
  bool only_sim;           /* of `expect_sim`: judged in the simulated world alone */
};

struct scn_step {
  int line;
  enum scn_step_kind kind;
  /* SCN_PUBLISH */
  struct workload work;    /* rows, schema, tables, sizes */
  enum scn_flush flush;
  int64_t every;
  bool expect_error;       /* the step must fail; the code is checked by `error` below */
  const char *error;       /* status name expected from this step, for example QWP_TOO_LARGE; NULL = success */
  int64_t within_ns;       /* SCN_DRAIN, SCN_WAIT; 0 = the default 10 s */
  int64_t timeout_ms;      /* SCN_DRAIN: the API's no-progress deadline, 0 = for ever */
  int64_t advance_ns;
  int64_t messages;        /* SCN_RECEIVE */
  const char *text;        /* SCN_PROBE: what is sent, "" = nothing */
  const struct scn_fact *facts;
  size_t fact_count;
};

/* Does a publish step flush behind its i-th row, from 1? */
static inline bool scn_flush_is_due(const struct scn_step *s, int64_t i) {
  switch (s->flush) {
    case SCN_FLUSH_EACH:
    case SCN_FLUSH_ACKED: return true;
    case SCN_FLUSH_END: return i == s->work.rows;
    case SCN_FLUSH_EVERY: return i == s->work.rows || i % s->every == 0;
    case SCN_FLUSH_NONE: break;
  }
  return false;
}

/* Always-on checks that `allow:` lifts. */
#define SCN_ALLOW_LOSS (1u << 0)
#define SCN_ALLOW_ORDER (1u << 1)
#define SCN_ALLOW_VALUES (1u << 2)
#define SCN_ALLOW_VIOLATIONS (1u << 3)
#define SCN_ALLOW_UNCLEAN_END (1u << 4)
#define SCN_ALLOW_LEAKS (1u << 5)
#define SCN_ALLOW_DOUBLES (1u << 6) /* a doubled row is a fault unless replay happened or this is set */

struct scn_net {           /* of the simulated world; in live only buffer sizes are applied */
  int64_t delay_ns;
  int64_t jitter_ns;       /* segments are late by another 0..jitter_ns */
  int64_t send_buffer_bytes, recv_buffer_bytes, chunk_max;
  bool peer_inside_send;
};

struct scn_scenario {
  const char *path;        /* as given */
  const char *name;        /* path without extension, plus "[key=value,key=value]" for a matrix line */
  const char *claim;
  const char *const *cites; size_t cite_count;
  const char *const *kills; size_t kill_count;
  bool worlds[SCN_WORLDS];
  const char *profile;     /* of the client under test; NULL = none */
  const char *disputed;    /* reason, or NULL */
  const char *worlds_may_differ; /* why scheduling may change frames and watermarks here, or NULL */
  unsigned allow;
  bool any_connections;    /* connections: any */

  const char *config;      /* connect string with ${server} */
  int config_line;
  bool dense_dictionary;
  bool receiver;           /* a bare WebSocket client instead of a sender */
  const char *create_error;/* status name that create must end with, NULL = success */
  const struct scn_step *steps; size_t step_count;

  struct mock_script server;
  struct fault_plan faults;
  struct scn_net net;
  const struct scn_fact *expect; size_t expect_count; /* `expect`, then `expect_sim` */
  uint64_t seed;           /* 0 = from the name */
};

struct scn_file {
  struct scn_scenario *scenarios; /* one, or one a matrix line */
  size_t count;
  void *arena;             /* owns everything */
};

struct scn_problem {
  int line, column;
  char key[64];
  char text[320];          /* "path:line: key: what is wrong, nearest valid key" */
};

/* Reads a file. false: *problem tells the first thing wrong, as one line for a person. */
bool scn_read_file(const char *path, struct scn_file *out, struct scn_problem *problem);
/* The same from memory; name is used in messages. For fuzzing and tests. */
bool scn_read(const char *name, const char *text, size_t n, struct scn_file *out, struct scn_problem *problem);
/* Only a `server:` list (and `server_settings:`), as qwp-mock --script takes: one scenario
 * of which only `server` is filled. A whole scenario is taken too; its other keys are checked. */
bool scn_read_server(const char *path, struct scn_file *out, struct scn_problem *problem);
void scn_file_free(struct scn_file *f); /* a zeroed one is fine */

#endif
