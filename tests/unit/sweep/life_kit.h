/* A life of two frames, read from text. */
#ifndef LIFE_KIT_H
#define LIFE_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sweep/judge.h"

#define LIFE_CONFIG \
  "ws::addr=${server};auto_flush_rows=off;auto_flush_interval=off;initial_connect_retry=on;" \
  "reconnect_initial_backoff_millis=1;reconnect_max_backoff_millis=20;reconnect_max_duration_millis=2000;" \
  "close_flush_timeout_millis=1000;"
#define LIFE_HEAD "claim: It holds.\ncites: [P121-27]\nkills: [a-mutant]\nworlds: [sim]\n"
#define LIFE_TEXT(steps, server) \
  LIFE_HEAD "client:\n  config: " LIFE_CONFIG "\n  steps:\n" steps "server:\n" server "expect: {loop.sent: 1}\n"

#define TWO_FRAMES \
  LIFE_TEXT("    - publish: {rows: 2, schema: tiny, flush: each}\n    - drain: {within: 5s}\n", \
            "  - {connection: 1, ack: each}\n")

struct kit_life {
  struct scn_file file;
  struct sweep_life life;
};

static inline bool kit_read(struct kit_life *k, const char *text, char *why, size_t n) {
  struct scn_problem problem;
  memset(k, 0, sizeof *k);
  if (!scn_read("lives/x.yaml", text, strlen(text), &k->file, &problem)) fail_msg("%s", problem.text);
  return life_of(&k->file.scenarios[0], &k->life, why, n);
}

static inline void kit_life(struct kit_life *k, const char *text) {
  char why[256];
  if (!kit_read(k, text, why, sizeof why)) fail_msg("%s", why);
}

static inline void kit_life_end(struct kit_life *k) { scn_file_free(&k->file); }

#endif
