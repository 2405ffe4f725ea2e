/* The client: its connect string and the steps of its application. */
#include <string.h>

#include "language/reader.h"
#include "language/values.h"
#include "language/words.h"

#define MESSAGES_MAX 10000000
#define ROWS_MAX INT64_C(1000000000)
#define FRAME_BYTES_MAX (16777216 + 12 + 14)
#define WITHIN_NS INT64_C(10000000000)

const char *scn_step_name(enum scn_step_kind k) {
  static const char *const names[] = {"hold", "release", "publish", "flush", "drain",
                                      "wait", "advance", "close",   "expect", "receive", "probe"};
  return (size_t)k < sizeof names / sizeof *names ? names[k] : "?";
}

/* The status name a step must fail with. */
static bool read_error(struct scn_reader *r, scn_node *map, struct scn_step *step) {
  if (!scn_get_text(r, map, "error", &step->error)) return false;
  step->expect_error = step->error != NULL;
  return true;
}

/* Sizes belong to the one schema that they shape. */
static bool check_sizes(struct scn_reader *r, scn_node *map, const struct scn_step *step) {
  const struct workload *w = &step->work;
  const bool padded = w->schema == WORKLOAD_PADDED;
  scn_node *frame = scn_get(r, map, "frame_bytes"), *symbol = scn_get(r, map, "symbol_bytes");
  if (frame && !padded) return scn_wrong(r, frame, "frame_bytes", "needs schema: padded");
  if (symbol && w->schema != WORKLOAD_SYMBOLS) return scn_wrong(r, symbol, "symbol_bytes", "needs schema: symbols");
  if (!padded) return true;
  if (!frame) return scn_wrong(r, map, "frame_bytes", "missing: schema padded makes frames of this wire size");
  if (workload_pad_bytes(w->frame_bytes) < 0) {
    return scn_wrong(r, frame, "frame_bytes", "no frame of this schema has %lld wire bytes: at least 51, and not 132, "
                     "133 or 65544 to 65549", (long long)w->frame_bytes);
  }
  if (step->flush == SCN_FLUSH_EACH || step->flush == SCN_FLUSH_ACKED) return true;
  return scn_wrong(r, map, "flush", "schema padded is one row a frame: write flush: each or acked");
}

static bool read_publish(struct scn_reader *r, scn_node *map, struct scn_step *step) {
  int schema = WORKLOAD_NARROW, flush = SCN_FLUSH_END;
  if (!scn_get_int(r, map, "rows", 1, ROWS_MAX, &step->work.rows)) return false;
  if (!scn_get_choice(r, map, "schema", SCN_WORDS_SCHEMA, &schema, NULL)) return false;
  if (!scn_get_choice(r, map, "flush", SCN_WORDS_FLUSH, &flush, &step->every)) return false;
  if (!scn_get_size(r, map, "frame_bytes", 1, FRAME_BYTES_MAX, &step->work.frame_bytes)) return false;
  if (!scn_get_size(r, map, "symbol_bytes", 1, 1048576, &step->work.symbol_bytes)) return false;
  step->work.schema = (enum workload_schema)schema;
  step->flush = (enum scn_flush)flush;
  if (step->flush == SCN_FLUSH_EVERY && step->every < 1) {
    return scn_wrong(r, scn_get(r, map, "flush"), "flush", "every N needs an N of at least 1");
  }
  return check_sizes(r, map, step) && read_error(r, map, step);
}

static bool read_drain(struct scn_reader *r, scn_node *map, struct scn_step *step) {
  int64_t timeout_ns = 0;
  if (!scn_get_duration(r, map, "within", &step->within_ns)) return false;
  if (!scn_get_duration(r, map, "timeout", &timeout_ns)) return false;
  if (timeout_ns % 1000000) return scn_wrong(r, scn_get(r, map, "timeout"), "timeout", "is whole milliseconds");
  step->timeout_ms = timeout_ns / 1000000;
  return read_error(r, map, step);
}

static bool read_wait(struct scn_reader *r, scn_node *map, struct scn_step *step) {
  if (!scn_get_duration(r, map, "within", &step->within_ns)) return false;
  if (!scn_read_client_facts(r, map, "within", &step->facts, &step->fact_count)) return false;
  return step->fact_count > 0 || scn_wrong(r, map, "wait", "names no counter to wait for");
}

/* A whole request head would make it a client, and use up an entry. */
static bool read_probe(struct scn_reader *r, scn_node *map, struct scn_step *step) {
  step->text = "";
  if (!scn_get_text(r, map, "send", &step->text)) return false;
  return !strstr(step->text, "\r\n\r\n") ||
         scn_wrong(r, scn_get(r, map, "send"), "send", "a whole request head is no probe: leave out the blank line");
}

static bool read_step_value(struct scn_reader *r, scn_node *item, scn_node *value, struct scn_step *step) {
  switch (step->kind) {
    case SCN_PUBLISH: return read_publish(r, value, step);
    case SCN_DRAIN: return read_drain(r, value, step);
    case SCN_WAIT: return read_wait(r, value, step);
    case SCN_ADVANCE: return scn_get_duration(r, item, "advance", &step->advance_ns);
    case SCN_EXPECT: return scn_read_client_facts(r, value, NULL, &step->facts, &step->fact_count);
    case SCN_FLUSH:
    case SCN_CLOSE: return read_error(r, value, step);
    case SCN_RECEIVE:
      return scn_get_int(r, value, "messages", 1, MESSAGES_MAX, &step->messages) &&
             scn_get_duration(r, value, "within", &step->within_ns);
    case SCN_PROBE: return read_probe(r, value, step);
    case SCN_HOLD:
    case SCN_RELEASE: return true;
  }
  return false;
}

static bool read_step(struct scn_reader *r, scn_node *item, struct scn_step *step) {
  if (scn_size(item) != 1) return scn_wrong(r, item, "steps", "a step has one key, this has %zu", scn_size(item));
  scn_node *key, *value;
  scn_pair(r, item, 0, &key, &value);
  *step = (struct scn_step){.line = scn_line(item), .within_ns = WITHIN_NS};
  for (int k = 0; k < SCN_STEP_KINDS; k++) {
    if (strcmp(scn_step_name((enum scn_step_kind)k), (const char *)key->data.scalar.value) == 0) {
      step->kind = (enum scn_step_kind)k;
    }
  }
  return read_step_value(r, item, value, step);
}

static bool only_sim(const struct scn_scenario *s) {
  return s->worlds[SCN_SIM] && !s->worlds[SCN_LIVE] && !s->worlds[SCN_TLS];
}

/* A receiver receives and does nothing else; a sender does everything but that. */
static bool check_receiver(struct scn_reader *r, scn_node *list, const struct scn_scenario *s) {
  for (size_t i = 0; i < s->step_count; i++) {
    const enum scn_step_kind kind = s->steps[i].kind;
    if ((kind == SCN_RECEIVE) == s->receiver) continue;
    return scn_wrong(r, scn_item(r, list, i), scn_step_name(kind),
                     s->receiver ? "a receiver has the step receive only" : "needs receiver: true beside config");
  }
  return true;
}

/* Rules about the order of steps: a hold has its release, nothing comes after close. */
static bool check_order(struct scn_reader *r, scn_node *list, const struct scn_scenario *s) {
  bool held = false;
  for (size_t i = 0; i < s->step_count; i++) {
    const struct scn_step *step = &s->steps[i];
    scn_node *item = scn_item(r, list, i);
    if (step->kind == SCN_HOLD && held) return scn_wrong(r, item, "hold", "the loop is held already");
    if (step->kind == SCN_RELEASE && !held) return scn_wrong(r, item, "release", "the loop is not held");
    if (step->kind == SCN_HOLD) held = true;
    if (step->kind == SCN_RELEASE) held = false;
    if (step->kind == SCN_ADVANCE && !only_sim(s)) {
      return scn_wrong(r, item, "advance", "only virtual time can be moved: write worlds: [sim]");
    }
    if (i > 0 && s->steps[i - 1].kind == SCN_CLOSE && step->kind != SCN_EXPECT) {
      return scn_wrong(r, item, scn_step_name(step->kind), "comes after close");
    }
  }
  if (held) return scn_wrong(r, list, "hold", "the loop is never released");
  return true;
}

static bool read_steps(struct scn_reader *r, scn_node *client, struct scn_scenario *s) {
  scn_node *list = scn_get(r, client, "steps");
  if (!list) return true;
  const size_t n = scn_size(list);
  struct scn_step *steps = scn_arena_array(r->arena, n, sizeof *steps);
  if (!steps) return scn_no_memory(r);
  for (size_t i = 0; i < n; i++) {
    if (!read_step(r, scn_item(r, list, i), &steps[i])) return false;
  }
  s->steps = steps;
  s->step_count = n;
  return check_receiver(r, list, s) && check_order(r, list, s);
}

bool scn_read_client(struct scn_reader *r, scn_node *client, struct scn_scenario *s) {
  if (!scn_get_text(r, client, "config", &s->config)) return false;
  s->config_line = scn_line(scn_get(r, client, "config"));
  if (!scn_get_bool(r, client, "dense_dictionary", &s->dense_dictionary)) return false;
  if (!scn_get_bool(r, client, "receiver", &s->receiver)) return false;
  if (!scn_get_text(r, client, "create_error", &s->create_error)) return false;
  if (!read_steps(r, client, s)) return false;
  if (!s->create_error || s->step_count == 0) return true;
  return scn_wrong(r, scn_get(r, client, "steps"), "steps", "a sender that must not be created has no steps");
}
