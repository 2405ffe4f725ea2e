/* Fault rules: which call of the client to the outside world fails, and how. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "language/reader.h"
#include "language/values.h"
#include "language/words.h"

/* The choices of SCN_WORDS_DO, in their order. */
static const struct { enum fault_do act; int err; } deeds[] = {
  {FAULT_DO_SHORT, 0}, {FAULT_DO_AGAIN, 0}, {FAULT_DO_DELAY_BEFORE, 0}, {FAULT_DO_DELAY_AFTER, 0},
  {FAULT_DO_RST, 0}, {FAULT_DO_FIN, 0}, {FAULT_DO_CORRUPT, 0}, {FAULT_DO_CHUNK, 0},
  {FAULT_DO_ERRNO, EPIPE}, {FAULT_DO_ERRNO, ECONNRESET}, {FAULT_DO_ERRNO, ENOBUFS}, {FAULT_DO_ERRNO, ENOMEM},
  {FAULT_DO_ERRNO, EINTR}, {FAULT_DO_ERRNO, EAGAIN}, {FAULT_DO_ERRNO, ETIMEDOUT}, {FAULT_DO_ERRNO, ECONNREFUSED},
  {FAULT_DO_ERRNO, EIO},
};

static bool read_deed(struct scn_reader *r, scn_node *map, struct fault_rule *rule) {
  int deed = 0;
  if (!scn_get_choice_range(r, map, "do", SCN_WORDS_DO, &deed, &rule->value, &rule->value_to)) return false;
  rule->act = deeds[deed].act;
  rule->err = deeds[deed].err;
  if (rule->act == FAULT_DO_CHUNK && rule->value < 1) return scn_wrong(r, map, "do", "chunk needs at least 1 byte");
  const bool moves = rule->point == FAULT_SEND || rule->point == FAULT_RECV;
  const bool needs_bytes = rule->act == FAULT_DO_SHORT || rule->act == FAULT_DO_CORRUPT || rule->act == FAULT_DO_CHUNK;
  return !needs_bytes || moves || scn_wrong(r, map, "do", "this call carries no bytes: at client.send or client.recv");
}

static bool read_repeat(struct scn_reader *r, scn_node *map, struct fault_rule *rule) {
  int forever = -1;
  const char *until = NULL;
  rule->times = 1;
  if (!scn_get_int(r, map, "every", 1, INT64_MAX, &rule->every)) return false;
  if (!scn_get_int(r, map, "times", 1, INT64_MAX, &rule->times)) return false;
  if (!scn_get_choice(r, map, "times", "forever", &forever, NULL)) return false;
  if (!scn_get_text(r, map, "until", &until)) return false;
  if (until && scn_get(r, map, "times")) return scn_wrong(r, map, "until", "stands in place of times");
  if (rule->every > 1 && !scn_get(r, map, "times")) forever = 0; /* a pattern goes on */
  rule->repeat = until ? FAULT_UNTIL : forever == 0 ? FAULT_FOREVER : rule->times > 1 ? FAULT_TIMES : FAULT_ONCE;
  if (until) snprintf(rule->until, sizeof rule->until, "%s", until);
  return true;
}

/* Which call: by number, by a byte of the stream, or by a frame in it. */
static bool read_place(struct scn_reader *r, scn_node *map, struct fault_rule *rule) {
  rule->byte = -1;
  if (!scn_get_int(r, map, "nth", 1, INT64_MAX, &rule->nth)) return false;
  if (!scn_get_int(r, map, "byte", 0, INT64_MAX, &rule->byte)) return false;
  if (!scn_get_int(r, map, "frame", 1, INT64_MAX, &rule->frame)) return false;
  if (!scn_get_size(r, map, "bytes", 1, INT64_MAX, &rule->least_bytes)) return false;
  if (rule->least_bytes && rule->point != FAULT_ALLOC) {
    return scn_wrong(r, map, "bytes", "is the size of an allocation: at client.alloc; a place in a stream is byte");
  }
  if (rule->byte >= 0 && rule->frame) return scn_wrong(r, map, "faults", "byte and frame exclude each other");
  if (rule->byte >= 0 && rule->point != FAULT_SEND && rule->point != FAULT_RECV) {
    return scn_wrong(r, map, "byte", "this call carries no bytes: at client.send or client.recv");
  }
  if (!rule->frame || rule->point == FAULT_SEND) return true;
  return scn_wrong(r, map, "frame", "only client.send carries data frames");
}

static bool read_rule(struct scn_reader *r, scn_node *map, struct fault_rule *rule) {
  int point = 0, phase = FAULT_PHASE_DATA, kind = FAULT_KIND_DATA;
  int64_t connection = 0;
  *rule = (struct fault_rule){.line = scn_line(map)};
  if (!scn_get_choice(r, map, "at", SCN_WORDS_POINT, &point, NULL)) return false;
  if (!scn_get_int(r, map, "connection", 1, INT32_MAX, &connection)) return false;
  if (!scn_get_choice(r, map, "phase", SCN_WORDS_PHASE, &phase, NULL)) return false;
  if (!scn_get_choice(r, map, "kind", SCN_WORDS_KIND, &kind, NULL)) return false;
  rule->point = (enum fault_point)point;
  rule->connection = (int)connection;
  rule->phase = (enum fault_phase)phase;
  rule->kind = (enum fault_kind)kind;
  return read_place(r, map, rule) && read_deed(r, map, rule) && read_repeat(r, map, rule);
}

bool scn_read_faults(struct scn_reader *r, scn_node *list, struct fault_plan *plan) {
  if (!list) return true;
  const size_t n = scn_size(list);
  struct fault_rule *rules = scn_arena_array(r->arena, n, sizeof *rules);
  if (!rules) return scn_no_memory(r);
  for (size_t i = 0; i < n; i++) {
    if (!read_rule(r, scn_item(r, list, i), &rules[i])) return false;
  }
  plan->rules = rules;
  plan->rule_count = n;
  return true;
}
