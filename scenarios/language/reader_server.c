/* The server's half: settings for all connections, and an entry for each. */
#include <string.h>

#include "language/reader.h"
#include "language/values.h"
#include "language/words.h"

/* ---- one entry: upgrade, advertise, ack -------------------------------------------- */

static const char *or_left_out(const char *text) { return text && strcmp(text, "none") == 0 ? "" : text; }

static bool read_headers(struct scn_reader *r, scn_node *map, struct mock_entry *e) {
  if (!map) return true;
  struct mock_header *headers = scn_arena_array(r->arena, scn_size(map), sizeof *headers);
  if (!headers) return scn_no_memory(r);
  for (size_t i = 0; i < scn_size(map); i++) {
    scn_node *key, *value;
    scn_pair(r, map, i, &key, &value);
    if (!scn_text(r, key, &headers[i].name) || !scn_text(r, value, &headers[i].value)) return false;
    if (strcmp(headers[i].value, "none") == 0) headers[i].value = NULL;
  }
  e->headers = headers;
  e->header_count = scn_size(map);
  return true;
}

/* How the answer leaves, whatever it is. */
static bool read_pieces(struct scn_reader *r, scn_node *map, struct mock_entry *e) {
  if (!scn_get_size(r, map, "cut", 1, INT32_MAX, &e->upgrade_cut_bytes)) return false;
  if (!scn_get_size(r, map, "pieces", 1, INT32_MAX, &e->upgrade_piece_bytes)) return false;
  const bool cut = e->upgrade_cut_bytes > 0, pieces = e->upgrade_piece_bytes > 0;
  if (cut && pieces) return scn_wrong(r, map, "upgrade", "cut and pieces exclude each other");
  if ((cut || pieces) && scn_get(r, map, "die_after")) {
    return scn_wrong(r, map, "upgrade", "an answer that dies has no cut and no pieces: die_after says where it ends");
  }
  if (!cut && !pieces && scn_get(r, map, "pause")) {
    return scn_wrong(r, scn_get(r, map, "pause"), "pause",
                     "belongs to cut or pieces; delay is the time before an answer");
  }
  e->upgrade_pause_ns = 1000000;
  return scn_get_duration(r, map, "pause", &e->upgrade_pause_ns);
}

/* The mapping's keys exclude each other where they are different answers. */
static bool read_upgrade_map(struct scn_reader *r, scn_node *map, struct mock_entry *e) {
  int64_t status = 0;
  const char *raw = NULL;
  if (!scn_get_int(r, map, "status", 100, 599, &status)) return false;
  if (!scn_get_text(r, map, "reason", &e->reason) || !scn_get_text(r, map, "body", &e->body)) return false;
  if (!read_headers(r, scn_get(r, map, "headers"), e)) return false;
  if (!scn_get_duration(r, map, "delay", &e->upgrade_delay_ns)) return false;
  if (!scn_get_size(r, map, "die_after", 0, INT32_MAX, &e->die_after_bytes)) return false;
  if (!scn_get_text(r, map, "raw", &raw) || !read_pieces(r, map, e)) return false;
  const bool die = scn_get(r, map, "die_after") != NULL;
  if ((status != 0) + (raw != NULL) + die > 1) {
    return scn_wrong(r, map, "upgrade", "status, die_after and raw exclude each other");
  }
  if (status == 0 && (e->reason || e->body)) {
    return scn_wrong(r, map, "upgrade", "reason and body belong to an answer with status");
  }
  e->status = (int)status;
  if (status) e->upgrade = MOCK_UPGRADE_STATUS;
  if (die) e->upgrade = MOCK_UPGRADE_DIE;
  if (!raw) return true;
  e->upgrade = MOCK_UPGRADE_RAW;
  e->raw = (const uint8_t *)raw;
  e->raw_n = strlen(raw);
  return true;
}

static bool read_upgrade(struct scn_reader *r, scn_node *node, struct mock_entry *e) {
  static const enum mock_upgrade words[] = {MOCK_UPGRADE_ACCEPT, MOCK_UPGRADE_DIE, MOCK_UPGRADE_HANG};
  scn_node *value = scn_get(r, node, "upgrade");
  if (!value) return true;
  if (scn_is_map(value)) return read_upgrade_map(r, value, e);
  int word = 0;
  if (!scn_get_choice(r, node, "upgrade", "accept|die|hang", &word, NULL)) return false;
  e->upgrade = words[word];
  return true;
}

static bool read_advertise(struct scn_reader *r, scn_node *map, struct mock_entry *e) {
  if (!map) return true;
  if (!scn_get_size(r, map, "cap", 1, INT32_MAX, &e->cap)) return false;
  if (!scn_get_text(r, map, "version", &e->version) || !scn_get_text(r, map, "role", &e->role)) return false;
  e->has_cap = scn_get(r, map, "cap") != NULL;
  e->version = or_left_out(e->version);
  e->role = or_left_out(e->role);
  return true;
}

static bool read_ack_map(struct scn_reader *r, scn_node *map, struct mock_entry *e) {
  static const struct { const char *key; enum mock_ack ack; int64_t least; } counted[] = {
    {"up-to", MOCK_ACK_UPTO, 0}, {"burst", MOCK_ACK_BURST, 1}, {"lag", MOCK_ACK_LAG, 0},
    {"lie", MOCK_ACK_LIE, INT64_MIN},
  };
  int mode = MOCK_ACK_SERVER, given = scn_get(r, map, "mode") != NULL;
  if (!scn_get_choice(r, map, "mode", SCN_WORDS_ACK, &mode, NULL)) return false;
  e->ack = (enum mock_ack)mode;
  for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
    if (!scn_get(r, map, counted[i].key)) continue;
    given++;
    e->ack = counted[i].ack;
    if (!scn_get_int(r, map, counted[i].key, counted[i].least, INT64_MAX, &e->ack_value)) return false;
  }
  if (given > 1) return scn_wrong(r, map, "ack", "mode, up-to, burst, lag and lie exclude each other");
  return scn_get_duration(r, map, "delay", &e->ack_delay_ns) && scn_get_bool(r, map, "deferred", &e->ack_deferred);
}

static bool read_ack(struct scn_reader *r, scn_node *node, struct mock_entry *e) {
  scn_node *value = scn_get(r, node, "ack");
  if (!value) return true;
  if (scn_is_map(value)) return read_ack_map(r, value, e);
  int mode = MOCK_ACK_SERVER;
  if (!scn_get_choice(r, node, "ack", SCN_WORDS_ACK, &mode, NULL)) return false;
  e->ack = (enum mock_ack)mode;
  return true;
}

bool scn_read_entry(struct scn_reader *r, scn_node *node, struct mock_entry *e) {
  return read_upgrade(r, node, e) && scn_read_tls(r, node, e) &&
         read_advertise(r, scn_get(r, node, "advertise"), e) && read_ack(r, node, e) &&
         scn_get_bool(r, node, "process_after_error", &e->process_after_error);
}

/* ---- entries by connection ----------------------------------------------------------- */

#define ENTRIES_MAX 1000 /* connections that a script speaks of */

struct subject { /* whom an item of the list speaks of */
  bool reader;
  int from, to; /* MOCK_ANY both, or numbers */
};

static bool read_subject(struct scn_reader *r, scn_node *node, struct subject *out) {
  scn_node *connection = scn_get(r, node, "connection"), *of_reader = scn_get(r, node, "reader");
  if (!connection == !of_reader) return scn_wrong(r, node, "server", "an entry has one of connection and reader");
  int64_t from = MOCK_ANY, to = MOCK_ANY;
  const char *key = of_reader ? "reader" : "connection";
  if (!scn_get_range(r, node, key, 1, INT32_MAX, &from, &to)) return false;
  if (to - from >= ENTRIES_MAX) return scn_wrong(r, node, key, "more than %d connections", ENTRIES_MAX);
  *out = (struct subject){.reader = of_reader != NULL, .from = (int)from, .to = (int)to};
  return true;
}

static bool read_subjects(struct scn_reader *r, scn_node *list, struct subject *out, size_t *entries) {
  *entries = 0;
  for (size_t i = 0; i < scn_size(list); i++) {
    scn_node *node = scn_item(r, list, i);
    if (!read_subject(r, node, &out[i])) return false;
    *entries += (size_t)(out[i].to - out[i].from) + 1;
    if (*entries > ENTRIES_MAX) return scn_wrong(r, node, "server", "more than %d connections", ENTRIES_MAX);
  }
  return true;
}

/* Entries for one connection merge; a key that two of them have would hide one of its values. */
static bool check_merge(struct scn_reader *r, scn_node *list, size_t first, size_t again) {
  scn_node *a = scn_item(r, list, first), *b = scn_item(r, list, again);
  for (size_t i = 0; i < scn_size(b); i++) {
    scn_node *key, *value;
    scn_pair(r, b, i, &key, &value);
    const char *name = (const char *)key->data.scalar.value;
    if (strcmp(name, "connection") == 0 || strcmp(name, "reader") == 0) continue;
    if (scn_get(r, a, name)) {
      return scn_wrong(r, key, name, "given for this connection already, in the entry of line %d", scn_line(a));
    }
  }
  return true;
}

/* Items before this one that speak of the same connection must not have a key of it. */
static bool check_merges(struct scn_reader *r, scn_node *list, const struct subject *subjects, size_t i, int number) {
  for (size_t j = 0; j < i; j++) {
    const struct subject *s = &subjects[j];
    if (++r->visited > SCN_NODES_MAX) {
      return scn_wrong(r, scn_item(r, list, i), "server", "more than %d values", SCN_NODES_MAX);
    }
    if (s->reader != subjects[i].reader || number < s->from || number > s->to) continue;
    if (!check_merge(r, list, j, i)) return false;
  }
  return true;
}

/* What the item says goes to the entry of that connection. */
static bool read_into(struct scn_reader *r, scn_node *node, bool reader, int number, struct mock_entry *entries,
                      struct mock_script *script) {
  size_t at = 0;
  while (at < script->entry_count && (entries[at].reader != reader || entries[at].connection != number)) at++;
  if (at == script->entry_count) {
    entries[at] = (struct mock_entry){.line = scn_line(node), .connection = number, .reader = reader};
    script->entry_count++;
  }
  return scn_read_entry(r, node, &entries[at]) && scn_read_rules(r, node, &entries[at]);
}

static bool read_entries(struct scn_reader *r, scn_node *list, struct mock_script *script) {
  const size_t n = scn_size(list);
  size_t most = 0;
  struct subject *subjects = scn_arena_array(r->arena, n, sizeof *subjects);
  if (!subjects) return scn_no_memory(r);
  if (!read_subjects(r, list, subjects, &most)) return false;
  struct mock_entry *entries = scn_arena_array(r->arena, most, sizeof *entries);
  if (!entries) return scn_no_memory(r);
  for (size_t i = 0; i < n; i++) {
    scn_node *node = scn_item(r, list, i);
    for (int number = subjects[i].from; number <= subjects[i].to; number++) {
      if (!check_merges(r, list, subjects, i, number)) return false;
      if (!read_into(r, node, subjects[i].reader, number, entries, script)) return false;
    }
  }
  script->entries = entries;
  return true;
}

/* ---- settings --------------------------------------------------------------------------- */

static bool read_settings(struct scn_reader *r, scn_node *map, struct mock_script *s) {
  int profile = MOCK_PROFILE_DOC, strict = 0;
  int64_t refuse = 0;
  if (!scn_get_choice(r, map, "profile", SCN_WORDS_PROFILE, &profile, NULL)) return false;
  if (!scn_get_choice(r, map, "strict", "note|refuse", &strict, NULL)) return false;
  if (!scn_get_size(r, map, "recv_buffer", 1, INT32_MAX, &s->recv_buffer_bytes)) return false;
  if (!scn_get_size(r, map, "send_buffer", 1, INT32_MAX, &s->send_buffer_bytes)) return false;
  if (!scn_get_int(r, map, "max_symbols", 1, INT32_MAX, &s->max_symbols)) return false;
  if (!scn_get_bool(r, map, "blocking_acks", &s->blocking_acks)) return false;
  if (!scn_get_int(r, map, "refuse_connects", 0, INT32_MAX, &refuse)) return false;
  s->profile = (enum mock_profile)profile;
  s->strict_refuse = strict == 1;
  s->refuse_connects = (int)refuse;
  return true;
}

bool scn_read_server_part(struct scn_reader *r, scn_node *root, struct mock_script *script) {
  scn_node *list = scn_get(r, root, "server");
  return read_settings(r, scn_get(r, root, "server_settings"), script) && (!list || read_entries(r, list, script));
}
