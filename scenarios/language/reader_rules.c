/* What happens on a connection later: actions, each hanging on a trigger. */
#include <string.h>

#include "language/reader.h"
#include "language/values.h"
#include "language/words.h"

#define RAW_BYTES_MAX 1048576
#define CONTROL_PAYLOAD_MAX 125 /* RFC 6455, 5.5 */

/* ---- triggers ----------------------------------------------------------------------- */

static bool read_trigger(struct scn_reader *r, scn_node *map, const char *action, bool needed, struct mock_rule *rule) {
  static const enum mock_trigger words[] = {MOCK_ON_UPGRADE, MOCK_ON_PING, MOCK_ON_CLOSE};
  int on = 0, frames = 0;
  if (!scn_get_range(r, map, "at_frame", 1, INT64_MAX, &rule->n, &rule->n_to)) return false;
  if (!scn_get_range(r, map, "at_byte", 0, INT64_MAX, &rule->n, &rule->n_to)) return false;
  if (!scn_get_durations(r, map, "at_time", &rule->n, &rule->n_to)) return false;
  if (!scn_get_choice(r, map, "on", "upgrade|ping|close", &on, NULL)) return false;
  if (!scn_get_choice(r, map, "frames", SCN_WORDS_FRAMES, &frames, NULL)) return false;
  const bool frame = scn_get(r, map, "at_frame"), byte = scn_get(r, map, "at_byte"), time = scn_get(r, map, "at_time");
  const int given = frame + byte + time + (scn_get(r, map, "on") != NULL);
  if (given > 1 || (given == 0 && needed)) {
    return scn_wrong(r, map, action, "needs one of at_frame, at_byte, at_time and on, this has %d", given);
  }
  if (frames && !frame) return scn_wrong(r, map, "frames", "says what at_frame counts");
  rule->trigger = frame ? MOCK_AT_FRAME : byte ? MOCK_AT_BYTE : time ? MOCK_AT_TIME : words[on];
  rule->only_data = frames == 1;
  rule->only_catchup = frames == 2;
  return true;
}

/* ---- one reader for each action that has keys of its own ------------------------------ */

static bool read_code(struct scn_reader *r, scn_node *map, const char *key, int64_t standard, int64_t max,
                     struct mock_rule *rule) {
  if (!scn_get_int(r, map, key, 0, max, &standard)) return false;
  rule->code = (unsigned)standard;
  return true;
}

static bool read_nack(struct scn_reader *r, scn_node *map, struct mock_rule *rule) {
  if (rule->trigger != MOCK_AT_FRAME) return scn_wrong(r, map, "nack", "refuses a message: write at_frame");
  return read_code(r, map, "status", 0, 255, rule) && scn_get_text(r, map, "text", &rule->text);
}

static bool read_close(struct scn_reader *r, scn_node *map, struct mock_rule *rule) {
  if (!read_code(r, map, "code", 1000, 65535, rule) || !scn_get_text(r, map, "reason", &rule->text)) return false;
  if (!rule->text || strlen(rule->text) <= CONTROL_PAYLOAD_MAX - 2) return true;
  return scn_wrong(r, map, "reason", "longer than 123 bytes");
}

static bool read_stall(struct scn_reader *r, scn_node *map, struct mock_rule *rule) {
  rule->duration_ns = MOCK_ANY;
  return scn_get_duration(r, map, "for", &rule->duration_ns);
}

static bool read_drain(struct scn_reader *r, scn_node *map, struct mock_rule *rule) {
  return scn_get_size(r, map, "rate", 1, INT64_MAX, &rule->rate);
}

/* The bytes as often as asked, in one piece. */
static bool repeat_raw(struct scn_reader *r, scn_node *map, const uint8_t *once, size_t n, struct mock_rule *rule) {
  int64_t times = 1;
  if (!scn_get_int(r, map, "repeat", 1, RAW_BYTES_MAX, &times)) return false;
  if (n > RAW_BYTES_MAX / (size_t)times) return scn_wrong(r, map, "repeat", "makes more than %d bytes", RAW_BYTES_MAX);
  uint8_t *all = scn_arena_array(r->arena, n * (size_t)times, 1);
  if (!all) return scn_no_memory(r);
  for (size_t i = 0; i < (size_t)times && n > 0; i++) memcpy(all + i * n, once, n);
  rule->raw = all;
  rule->raw_n = n * (size_t)times;
  return true;
}

static bool read_raw(struct scn_reader *r, scn_node *map, struct mock_rule *rule) {
  const char *hex = NULL, *text = NULL;
  if (!scn_get_text(r, map, "hex", &hex) || !scn_get_text(r, map, "text", &text)) return false;
  if (!hex == !text) return scn_wrong(r, map, "raw", "needs one of hex and text");
  if (text) return repeat_raw(r, map, (const uint8_t *)text, strlen(text), rule);
  size_t n = strlen(hex) / 2;
  uint8_t *bytes = scn_arena_array(r->arena, n, 1);
  if (!bytes) return scn_no_memory(r);
  if (!scn_value_hex(hex, bytes, n, &n)) return scn_wrong(r, map, "hex", "expected pairs of hex digits");
  return repeat_raw(r, map, bytes, n, rule);
}

static bool read_ping(struct scn_reader *r, scn_node *map, struct mock_rule *rule) {
  const char *payload = "";
  if (!scn_get_text(r, map, "payload", &payload)) return false;
  rule->raw = (const uint8_t *)payload;
  rule->raw_n = strlen(payload);
  return rule->raw_n <= CONTROL_PAYLOAD_MAX || scn_wrong(r, map, "payload", "longer than 125 bytes");
}

static bool read_ok(struct scn_reader *r, scn_node *map, struct mock_rule *rule) {
  return scn_get_int(r, map, "seq", INT64_MIN, INT64_MAX, &rule->value);
}

static bool read_refuse(struct scn_reader *r, scn_node *map, struct mock_rule *rule) {
  if (!scn_get_int(r, map, "connects", 1, INT32_MAX, &rule->value)) return false;
  if (!scn_get_duration(r, map, "for", &rule->duration_ns)) return false;
  if (!scn_get(r, map, "connects") != !scn_get(r, map, "for")) return true;
  return scn_wrong(r, map, "refuse", "needs one of connects and for");
}

/* In the order in which they happen where their triggers coincide: what is said, then what is
 * done to the connection, last what ends it. Actions that describe a state may begin with the
 * connection; a blow must say when it falls. */
static const struct action {
  const char *key;
  enum mock_action action;
  bool trigger_needed;
  bool (*read)(struct scn_reader *r, scn_node *map, struct mock_rule *rule); /* NULL = no keys of its own */
} actions[] = {
  {"refuse", MOCK_DO_REFUSE, true, read_refuse},   {"release", MOCK_DO_RELEASE, true, NULL},
  {"ticket", MOCK_DO_TICKET, true, NULL},          {"key_update", MOCK_DO_KEY_UPDATE, true, NULL},
  {"ok", MOCK_DO_OK, true, read_ok},               {"ping", MOCK_DO_PING, true, read_ping},
  {"raw", MOCK_DO_RAW, true, read_raw},            {"nack", MOCK_DO_NACK, true, read_nack},
  {"drain", MOCK_DO_DRAIN, false, read_drain},     {"stall", MOCK_DO_STALL, false, read_stall},
  {"blackhole", MOCK_DO_BLACKHOLE, false, NULL},  {"close", MOCK_DO_CLOSE, true, read_close},
  {"fin", MOCK_DO_FIN, true, NULL},               {"reset", MOCK_DO_RESET, true, NULL},
};
#define ACTIONS (sizeof actions / sizeof *actions)

static bool read_rule(struct scn_reader *r, scn_node *map, const struct action *a, struct mock_rule *rule) {
  *rule = (struct mock_rule){.line = scn_line(map), .action = a->action};
  if (!read_trigger(r, map, a->key, a->trigger_needed, rule)) return false;
  return !a->read || a->read(r, map, rule);
}

/* The value of an action is one mapping or a list of them. */
static size_t rule_count(scn_node *value) { return !value ? 0 : scn_is_list(value) ? scn_size(value) : 1; }

bool scn_read_rules(struct scn_reader *r, scn_node *node, struct mock_entry *e) {
  size_t count = e->rule_count;
  for (size_t i = 0; i < ACTIONS; i++) count += rule_count(scn_get(r, node, actions[i].key));
  if (count == e->rule_count) return true;
  struct mock_rule *rules = scn_arena_array(r->arena, count, sizeof *rules);
  if (!rules) return scn_no_memory(r);
  if (e->rule_count) memcpy(rules, e->rules, e->rule_count * sizeof *rules);
  size_t n = e->rule_count;
  for (size_t i = 0; i < ACTIONS; i++) {
    scn_node *value = scn_get(r, node, actions[i].key);
    for (size_t j = 0; j < rule_count(value); j++) {
      if (!read_rule(r, scn_is_list(value) ? scn_item(r, value, j) : value, &actions[i], &rules[n++])) return false;
    }
  }
  e->rules = rules;
  e->rule_count = count;
  return true;
}
