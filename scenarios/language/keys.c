#include "language/keys.h"

#include <string.h>

#include "language/values.h"
#include "language/words.h"

/* Keys that say when an action of the server happens; the same for each. */
#define TRIGGER(section) \
  {section, "at_frame", SCN_IS_INT | SCN_IS_RANGE, NULL, NULL, "", \
   "After reading this many whole messages and before answering the last, from 1, catch-up included; of a range each " \
   "connection takes one, seeded.", "at_frame: 5"}, \
  {section, "at_byte", SCN_IS_INT | SCN_IS_RANGE, NULL, NULL, "", \
   "After reading exactly this many bytes behind the request head, or one of a range, seeded.", "at_byte: 30000"}, \
  {section, "at_time", SCN_IS_DURATION | SCN_IS_RANGE, NULL, NULL, "", \
   "This long after the 101, or one of a range, seeded.", "at_time: 50ms"}, \
  {section, "on", SCN_IS_CHOICE, "upgrade|ping|close", NULL, "", \
   "Right behind the 101 in the same write, on a ping of the client, or on its Close.", "on: ping"}, \
  {section, "frames", SCN_IS_CHOICE, SCN_WORDS_FRAMES, NULL, "any", \
   "Which messages at_frame counts: all, only those with rows, or only dictionary catch-up.", "frames: data"}

const struct scn_key scn_keys[] = {
  /* ---- the file ---- */
  {"", "claim", SCN_IS_TEXT, NULL, NULL, NULL, "One sentence: what holds, and why it must.",
   "claim: A failed batch counts neither as sent nor as replayed."},
  {"", "cites", SCN_IS_TEXTS, NULL, NULL, NULL, "Requirements, seed items or cases that the claim comes from.",
   "cites: [P121-27, OBS-003]"},
  {"", "kills", SCN_IS_TEXTS, NULL, NULL, NULL, "Mutants (files in tests/mutants) this scenario must go red on.",
   "kills: [frames-counted-before-flush]"},
  {"", "worlds", SCN_IS_TEXTS, SCN_WORDS_WORLDS, NULL, "[sim, live]", "Where the scenario runs.", "worlds: [sim]"},
  {"", "allow", SCN_IS_TEXTS, SCN_WORDS_ALLOW, NULL, "[]", "Always-on checks that this scenario lifts.",
   "allow: [doubles]"},
  {"", "profile", SCN_IS_TEXT, NULL, NULL, "", "Reading of a disputed point that the client under test follows.",
   "profile: jul2026"},
  {"", "disputed", SCN_IS_TEXT, NULL, NULL, "", "Why texts disagree here: a failure is then reported as disputed.",
   "disputed: C-17 gives two defaults of the close timeout."},
  {"", "worlds_may_differ", SCN_IS_TEXT, NULL, NULL, "",
   "Why scheduling decides how far a connection comes here: --compare-worlds then looks at what it cannot change.",
   "worlds_may_differ: How many frames stand on a connection when it drops is up to the scheduler."},
  {"", "connections", SCN_IS_CHOICE, "scripted|any", NULL, "scripted",
   "any: a connection without an entry under server is no failure.", "connections: any"},
  {"", "seed", SCN_IS_INT, NULL, NULL, "0", "Seed of everything random; 0 takes it from the scenario's name.",
   "seed: 7"},
  {"", "net", SCN_IS_MAP, NULL, "net", "", "The network of the simulated world.", "net: {delay: 10us}"},
  {"", "matrix", SCN_IS_MATRIX, NULL, NULL, "",
   "One scenario for each line: lists by name (their cross product) or a list of lines; ${name} stands for the value.",
   "matrix: {errno: [ENOBUFS, ENOMEM], byte: [0..107]}"},
  {"", "client", SCN_IS_MAP, NULL, "client", NULL, "The client under test: its connect string and what it does.",
   "client: {config: \"ws::addr=${server};\", steps: [...]}"},
  {"", "server", SCN_IS_MAPS, NULL, "server", "[]", "What the server does, by connection.",
   "server:\n    - {connection: 1, upgrade: accept, ack: each}"},
  {"", "server_settings", SCN_IS_MAP, NULL, "server_settings", "", "What the server is, for all connections.",
   "server_settings: {profile: jul2026}"},
  {"", "faults", SCN_IS_MAPS, NULL, "fault", "[]", "Calls of the client to the outside world that fail.",
   "faults:\n    - {at: client.send, connection: 1, nth: 1, do: EPIPE}"},
  {"", "expect", SCN_IS_FACTS, NULL, NULL, NULL, "Counters and facts that must hold after close.",
   "expect: {loop.sent: 8, srv.conns: \"<= 2\"}"},
  {"", "expect_sim", SCN_IS_FACTS, NULL, NULL, "",
   "The same, judged in the simulated world only: writes, waits, and virtual time, which are exact there.",
   "expect_sim: {time.virtual_ns: \">= 5000000\"}"},

  /* ---- a file with a server's script only, as qwp-mock --script takes ---- */
  {"script", "server", SCN_IS_MAPS, NULL, "server", NULL, "What the server does, by connection.",
   "server: [{connection: any, ack: each}]"},
  {"script", "server_settings", SCN_IS_MAP, NULL, "server_settings", "", "What the server is, for all connections.",
   "server_settings: {profile: jul2026}"},

  /* ---- net ---- */
  {"net", "delay", SCN_IS_DURATION, NULL, NULL, "0", "Time bytes are under way, each direction.", "delay: 10us"},
  {"net", "jitter", SCN_IS_DURATION | SCN_IS_RANGE, NULL, NULL, "0",
   "Segments are late by up to this much more, seeded; none is lost, none overtakes another.", "jitter: 0..2ms"},
  {"net", "send_buffer", SCN_IS_SIZE, NULL, NULL, "256KiB", "Send buffer of the client's socket.", "send_buffer: 4KiB"},
  {"net", "recv_buffer", SCN_IS_SIZE, NULL, NULL, "256KiB", "Receive buffer of the client's socket.",
   "recv_buffer: 4KiB"},
  {"net", "chunk_max", SCN_IS_SIZE, NULL, NULL, "0", "Deliveries carry 1 to this many bytes, seeded; 0: as sent.",
   "chunk_max: 7"},
  {"net", "peer_inside_send", SCN_IS_BOOL, NULL, NULL, "false",
   "The server runs inside the client's send call, so its answer is there before the call returns.",
   "peer_inside_send: true"},

  /* ---- client ---- */
  {"client", "config", SCN_IS_TEXT, NULL, NULL, NULL,
   "Connect string; ${server} stands for host:port of the mock, ${port} for its port, ${ca} for the file with its CA in"
   " the world tls, where a string that begins with ws:: becomes one of wss that trusts it.",
   "config: ws::addr=${server};auto_flush_interval=off;"},
  {"client", "dense_dictionary", SCN_IS_BOOL, NULL, NULL, "false",
   "Every frame carries the dictionary from id 0, as some clients do.", "dense_dictionary: true"},
  {"client", "receiver", SCN_IS_BOOL, NULL, NULL, "false",
   "A bare WebSocket client instead of a sender: it connects, upgrades, and receives by the blocking call.",
   "receiver: true"},
  {"client", "create_error", SCN_IS_CHOICE, SCN_WORDS_STATUS, NULL, "",
   "Creating the sender must fail with this status.",
   "create_error: QWP_AUTH"},
  {"client", "steps", SCN_IS_MAPS, NULL, "step", "[]", "What the application does, in order, one key a step.",
   "steps: [{publish: {rows: 8, schema: narrow}}, {drain: {}}]"},

  /* ---- client steps ---- */
  {"step", "hold", SCN_IS_CHOICE, "loop", NULL, "",
   "Freezes the send loop, so that what is published next is one batch.",
   "hold: loop"},
  {"step", "release", SCN_IS_CHOICE, "loop", NULL, "", "Lets the send loop go on.", "release: loop"},
  {"step", "publish", SCN_IS_MAP, NULL, "publish", "", "Makes rows by the workload's rule and flushes as told.",
   "publish: {rows: 8, schema: narrow, flush: each}"},
  {"step", "flush", SCN_IS_MAP, NULL, "flush", "", "One flush call.", "flush: {}"},
  {"step", "drain", SCN_IS_MAP, NULL, "drain", "", "Flushes and waits until all is acknowledged.",
   "drain: {within: 5s}"},
  {"step", "wait", SCN_IS_MAP, NULL, "wait", "", "Waits until every counter named compares true.",
   "wait: {loop.acks: 3, within: 5s}"},
  {"step", "advance", SCN_IS_DURATION, NULL, NULL, "", "Lets virtual time pass; needs worlds: [sim].", "advance: 24h"},
  {"step", "expect", SCN_IS_FACTS, NULL, NULL, "", "Counters that must hold at this moment.",
   "expect: {ring.acked: -1}"},
  {"step", "close", SCN_IS_MAP, NULL, "close", "", "Closes the sender now rather than after the last step.",
   "close: {}"},

  {"step", "probe", SCN_IS_MAP, NULL, "probe", "",
   "Somebody else connects to the server, sends a text and goes; before all other steps: before the sender is made.",
   "probe: {send: \"GET /wr\"}"},
  {"step", "receive", SCN_IS_MAP, NULL, "receive", "", "Of a receiver: takes so many messages of the server.",
   "receive: {messages: 5100, within: 1s}"},
  {"probe", "send", SCN_IS_TEXT, NULL, NULL, "", "What is sent, if anything; no whole request head.",
   "send: \"GET /wr\""},
  {"receive", "messages", SCN_IS_INT, NULL, NULL, NULL, "How many messages must come.", "messages: 5100"},
  {"receive", "within", SCN_IS_DURATION, NULL, NULL, "10s", "What each blocking receive call is given at most.",
   "within: 1s"},

  {"publish", "rows", SCN_IS_INT, NULL, NULL, NULL, "How many rows; their numbers go on from the publish before.",
   "rows: 500"},
  {"publish", "schema", SCN_IS_CHOICE, SCN_WORDS_SCHEMA, NULL, "narrow",
   "Rule of the rows; tiny makes the smallest frame, 36 bytes on the wire.", "schema: tiny"},
  {"publish", "flush", SCN_IS_CHOICE, SCN_WORDS_FLUSH, NULL, "end",
   "After each row, once at the end, not at all, each row and wait until it is acknowledged, or every N and at the end.",
   "flush: each"},
  {"publish", "frame_bytes", SCN_IS_SIZE, NULL, NULL, "", "Exact wire size of each frame; schema padded only.",
   "frame_bytes: 64"},
  {"publish", "symbol_bytes", SCN_IS_SIZE, NULL, NULL, "", "Length of each symbol; schema symbols only.",
   "symbol_bytes: 100"},
  {"publish", "error", SCN_IS_CHOICE, SCN_WORDS_STATUS, NULL, "",
   "The step must fail with this status; it ends at the call that fails.", "error: QWP_TOO_LARGE"},
  {"flush", "error", SCN_IS_CHOICE, SCN_WORDS_STATUS, NULL, "", "The call must fail with this status.",
   "error: QWP_TOO_LARGE"},
  {"drain", "within", SCN_IS_DURATION, NULL, NULL, "10s", "Total time, in the time of the world it runs in.",
   "within: 5s"},
  {"drain", "timeout", SCN_IS_DURATION, NULL, NULL, "0",
   "Deadline without progress that the call is given; 0 is for ever.",
   "timeout: 100ms"},
  {"drain", "error", SCN_IS_CHOICE, SCN_WORDS_STATUS, NULL, "", "The call must fail with this status.",
   "error: QWP_TIMEOUT"},
  {"wait", "within", SCN_IS_DURATION, NULL, NULL, "10s", "Total time, in the time of the world it runs in.",
   "within: 5s"},
  {"wait", "*", SCN_IS_FACTS, NULL, NULL, "", "A counter and what it must come to.", "loop.reconnects: \">= 1\""},
  {"close", "error", SCN_IS_CHOICE, SCN_WORDS_STATUS, NULL, "", "The call must fail with this status.",
   "error: QWP_TIMEOUT"},

  /* ---- server entries ---- */
  {"server", "connection", SCN_IS_INT | SCN_IS_RANGE | SCN_IS_CHOICE, "any", NULL, "",
   "Number of the ingress connection, from 1, or a range of them, each of which must come, or any: each without an "
   "entry of its own.", "connection: 1..50"},
  {"server", "reader", SCN_IS_INT | SCN_IS_CHOICE, "any", NULL, "", "The same for connections to the reader endpoint.",
   "reader: 1"},
  {"server", "upgrade", SCN_IS_CHOICE | SCN_IS_MAP, "accept|die|hang", "upgrade", "accept",
   "How the upgrade is answered: 101, RST, never, or as the mapping says.", "upgrade: {status: 503}"},
  {"server", "advertise", SCN_IS_MAP, NULL, "advertise", "", "What the 101 tells the client.",
   "advertise: {cap: 16384}"},
  {"server", "ack", SCN_IS_CHOICE | SCN_IS_MAP, SCN_WORDS_ACK, "ack", "server",
   "How messages are acknowledged: as the real server does, each, one for each read, or none.", "ack: {up-to: 2}"},
  {"server", "process_after_error", SCN_IS_BOOL, NULL, NULL, "false",
   "Goes on taking messages after an error answer: not what the real server does (C-48).", "process_after_error: true"},
#define ACTION(name, section, help, example) \
  {"server", name, SCN_IS_MAP | SCN_IS_MAPS, NULL, section, "", help, example}
  ACTION("nack", "nack", "Error answer for the message of the trigger.", "nack: {status: 0x06, at_frame: 3}"),
  ACTION("close", "server.close", "Close frame, then FIN.", "close: {code: 1001, at_frame: 5}"),
  ACTION("reset", "trigger", "RST.", "reset: {at_frame: 5}"),
  ACTION("fin", "trigger", "FIN without a Close frame; goes on reading.", "fin: {at_frame: 5}"),
  ACTION("stall", "stall", "Stops reading.", "stall: {at_frame: 2, for: 2s}"),
  ACTION("drain", "server.drain", "Reads at a bounded rate from then on.", "drain: {rate: 108}"),
  ACTION("blackhole", "trigger", "Reads and swallows, answers nothing, sends no FIN.", "blackhole: {at_frame: 3}"),
  ACTION("raw", "raw", "Writes bytes as they are.", "raw: {hex: \"8900\", at_frame: 1}"),
  ACTION("ping", "ping", "Ping of the server.", "ping: {payload: hello, at_frame: 1}"),
  ACTION("ok", "ok", "OK answer with this sequence, whatever was received.", "ok: {seq: 100, at_frame: 8}"),
  ACTION("refuse", "refuse", "Closes the listener for connects or a time.", "refuse: {connects: 50, at_frame: 5}"),
  ACTION("release", "trigger", "Ends a hold: acknowledges what is committed, then acts as the real server.",
         "release: {at_time: 2s}"),
  ACTION("key_update", "trigger", "TLS 1.3: new keys for the answers, and the client is asked for new ones of its own.",
         "key_update: {at_frame: 10}"),
  ACTION("ticket", "trigger", "TLS 1.3: a session ticket, a record without data.", "ticket: {at_frame: 1}"),
#undef ACTION
  {"server", "tls", SCN_IS_MAP, NULL, "tls", "",
   "What the client meets before its first byte of HTTP; needs worlds: [tls]. A handshake that fails counts as this"
   " connection.", "tls: {certificate: expired}"},

  {"tls", "certificate", SCN_IS_CHOICE, SCN_WORDS_CERTIFICATE, NULL, "good",
   "good is for 127.0.0.1, localhost, a.test to d.test, and comes with its intermediate; each other has one fault.",
   "certificate: other-name"},
  {"tls", "handshake", SCN_IS_CHOICE | SCN_IS_MAP, "accept|hang|die", "handshake", "accept",
   "hang: the ClientHello is never answered; die: RST at it.", "handshake: hang"},
  {"tls", "record_bytes", SCN_IS_SIZE, NULL, NULL, "16384",
   "Plaintext in one record at most; the records of a write leave together.", "record_bytes: 7"},
  {"tls", "close_notify", SCN_IS_BOOL, NULL, NULL, "true", "false: the answers end in a bare FIN, a truncation.",
   "close_notify: false"},
  {"tls", "tickets", SCN_IS_INT, NULL, NULL, "2", "Session tickets behind the handshake, of TLS 1.3.", "tickets: 0"},
  {"tls", "ask_certificate", SCN_IS_BOOL, NULL, NULL, "false",
   "Asks the client for a certificate; one that it offers violates TLS-006.", "ask_certificate: true"},
  {"tls", "version", SCN_IS_CHOICE, "1.2|1.3", NULL, "", "The only version taken; default: both.", "version: \"1.2\""},
  {"handshake", "die_after", SCN_IS_SIZE, NULL, NULL, NULL, "RST behind so many bytes of the server's handshake.",
   "die_after: 40"},

  {"upgrade", "status", SCN_IS_INT, NULL, NULL, "", "HTTP status of the answer.", "status: 421"},
  {"upgrade", "reason", SCN_IS_TEXT, NULL, NULL, "", "Reason phrase, if not the usual one.", "reason: Go Away"},
  {"upgrade", "headers", SCN_IS_HEADERS, NULL, NULL, "", "Headers added or replaced; none leaves one out.",
   "headers: {X-QuestDB-Role: REPLICA}"},
  {"upgrade", "body", SCN_IS_TEXT, NULL, NULL, "", "Body of a refusal.", "body: Unauthorized"},
  {"upgrade", "delay", SCN_IS_DURATION, NULL, NULL, "0", "Answers this much later.", "delay: 100ms"},
  {"upgrade", "die_after", SCN_IS_SIZE, NULL, NULL, "", "RST after so many bytes of the answer.", "die_after: 20"},
  {"upgrade", "cut", SCN_IS_SIZE, NULL, NULL, "", "The answer's first so many bytes, the pause, then the rest.",
   "cut: 90"},
  {"upgrade", "pieces", SCN_IS_SIZE, NULL, NULL, "", "The answer leaves so many bytes a write, a pause between two.",
   "pieces: 1"},
  {"upgrade", "pause", SCN_IS_DURATION, NULL, NULL, "1ms", "The pause of cut and pieces; 0: only the writes are cut.",
   "pause: 5ms"},
  {"upgrade", "raw", SCN_IS_TEXT, NULL, NULL, "", "Answers this instead; the connection stays.",
   "raw: \"HTTP/1.1 200 OK\\r\\n\\r\\n\""},

  {"advertise", "cap", SCN_IS_SIZE | SCN_IS_CHOICE, "none", NULL, "none", "X-QWP-Max-Batch-Size; none leaves it out.",
   "cap: 16384"},
  {"advertise", "version", SCN_IS_TEXT, NULL, NULL, "1", "X-QWP-Version; none leaves it out.", "version: 2"},
  {"advertise", "role", SCN_IS_TEXT, NULL, NULL, "STANDALONE", "X-QuestDB-Role; none leaves it out.", "role: PRIMARY"},

  {"ack", "mode", SCN_IS_CHOICE, SCN_WORDS_ACK, NULL, "server", "The mode by its word.", "mode: each"},
  {"ack", "up-to", SCN_IS_INT, NULL, NULL, "", "Acknowledges up to this sequence (from 0), then nothing.", "up-to: 2"},
  {"ack", "burst", SCN_IS_INT, NULL, NULL, "", "Collects so many single OKs and emits them in one write.",
   "burst: 5100"},
  {"ack", "lag", SCN_IS_INT, NULL, NULL, "",
   "Each message brings the OK of the one so many before it; the rest is acknowledged on Ping, Close, error and "
   "release.",
   "lag: 20"},
  {"ack", "lie", SCN_IS_INT, NULL, NULL, "", "After the first message an OK of this sequence, then as the real server.",
   "lie: 100"},
  {"ack", "delay", SCN_IS_DURATION, NULL, NULL, "0", "Each OK leaves this much later.", "delay: 5ms"},
  {"ack", "deferred", SCN_IS_BOOL, NULL, NULL, "false", "Acknowledges deferred messages too: a deviation (C-07).",
   "deferred: true"},

  TRIGGER("trigger"),
  {"nack", "status", SCN_IS_INT, NULL, NULL, NULL, "Status byte of the answer.", "status: 0x06"},
  {"nack", "text", SCN_IS_TEXT, NULL, NULL, "", "Message of the answer.", "text: disk full"},
  TRIGGER("nack"),
  {"server.close", "code", SCN_IS_INT, NULL, NULL, "1000", "Close code; 0 sends an empty payload.", "code: 1001"},
  {"server.close", "reason", SCN_IS_TEXT, NULL, NULL, "", "Reason text, at most 123 bytes.", "reason: bye"},
  TRIGGER("server.close"),
  {"stall", "for", SCN_IS_DURATION | SCN_IS_CHOICE, "forever", NULL, "forever", "How long.", "for: 2s"},
  TRIGGER("stall"),
  {"server.drain", "rate", SCN_IS_SIZE, NULL, NULL, NULL, "Bytes a second.", "rate: 108"},
  TRIGGER("server.drain"),
  {"raw", "hex", SCN_IS_HEX, NULL, NULL, "", "The bytes in hex.", "hex: \"8900\""},
  {"raw", "text", SCN_IS_TEXT, NULL, NULL, "", "The bytes as text.", "text: \"HTTP/1.1 200 OK\\r\\n\\r\\n\""},
  {"raw", "repeat", SCN_IS_INT, NULL, NULL, "1", "How often, in one write; at most 1 MiB in all.", "repeat: 5100"},
  TRIGGER("raw"),
  {"ping", "payload", SCN_IS_TEXT, NULL, NULL, "", "At most 125 bytes.", "payload: hello"},
  TRIGGER("ping"),
  {"ok", "seq", SCN_IS_INT, NULL, NULL, NULL, "Sequence of the answer.", "seq: 100"},
  TRIGGER("ok"),
  {"refuse", "connects", SCN_IS_INT, NULL, NULL, "", "So many connects.", "connects: 50"},
  {"refuse", "for", SCN_IS_DURATION, NULL, NULL, "", "All connects for this long.", "for: 2s"},
  TRIGGER("refuse"),

  /* ---- server settings ---- */
  {"server_settings", "profile", SCN_IS_CHOICE, SCN_WORDS_PROFILE, NULL, "doc",
   "Whose limits and answers the server has.",
   "profile: jul2026"},
  {"server_settings", "strict", SCN_IS_CHOICE, "note|refuse", NULL, "note", "What becomes of a violation.",
   "strict: refuse"},
  {"server_settings", "recv_buffer", SCN_IS_SIZE, NULL, NULL, "2MiB", "Bounds a message with its header (Close 1009).",
   "recv_buffer: 64KiB"},
  {"server_settings", "send_buffer", SCN_IS_SIZE, NULL, NULL, "", "Send buffer of the server's sockets.",
   "send_buffer: 4KiB"},
  {"server_settings", "max_symbols", SCN_IS_INT, NULL, NULL, "", "Symbols a connection may have, if not the profile's.",
   "max_symbols: 1000"},
  {"server_settings", "blocking_acks", SCN_IS_BOOL, NULL, NULL, "false",
   "Reads nothing while an answer is not wholly written.", "blocking_acks: true"},
  {"server_settings", "refuse_connects", SCN_IS_INT, NULL, NULL, "0", "Refuses so many connects first.",
   "refuse_connects: 3"},

  /* ---- faults ---- */
  {"fault", "at", SCN_IS_CHOICE, SCN_WORDS_POINT, NULL, NULL, "Which call.", "at: client.send"},
  {"fault", "connection", SCN_IS_INT | SCN_IS_CHOICE, "any", NULL, "any", "N-th connection of the client, from 1.",
   "connection: 1"},
  {"fault", "phase", SCN_IS_CHOICE, SCN_WORDS_PHASE, NULL, "data", "After the 101, before it, or both.",
   "phase: upgrade"},
  {"fault", "kind", SCN_IS_CHOICE, SCN_WORDS_KIND, NULL, "data", "What the bytes of a send are.", "kind: control"},
  {"fault", "nth", SCN_IS_INT, NULL, NULL, "",
   "The n-th matching call, from 1; with byte or frame the n-th call that begins there.", "nth: 2"},
  {"fault", "bytes", SCN_IS_SIZE, NULL, NULL, "",
   "Of client.alloc: only allocations, or growths, to at least so many bytes; nth counts those.", "bytes: 8KiB"},
  {"fault", "byte", SCN_IS_INT, NULL, NULL, "",
   "Exactly before this byte of the direction after the 101, from 0; the call is cut there.",
   "byte: 90"},
  {"fault", "frame", SCN_IS_INT, NULL, NULL, "",
   "Exactly before the n-th data frame of the connection, from 1; the call is cut there.",
   "frame: 3"},
  {"fault", "do", SCN_IS_CHOICE, SCN_WORDS_DO, NULL, NULL,
   "What the call does: an error, a short transfer, would-block, a delay, RST, FIN, a flipped bit, small reads; "
   "of a range each call takes one value, seeded.",
   "do: short 1..7"},
  {"fault", "every", SCN_IS_INT, NULL, NULL, "1",
   "At each such matching call only, from the nth on: 2 without nth is the 2nd, the 4th, ...; for ever, unless times "
   "says.",
   "every: 2"},
  {"fault", "times", SCN_IS_INT | SCN_IS_CHOICE, "forever", NULL, "1", "How often in a row.", "times: 20"},
  {"fault", "until", SCN_IS_CHOICE, "connected|released", NULL, "", "Event that ends it, in place of times.",
   "until: released"},
};
const size_t scn_key_count = sizeof scn_keys / sizeof *scn_keys;

const struct scn_key *scn_key_find(const char *section, const char *name) {
  if (strcmp(name, "*") == 0) return NULL;
  for (size_t i = 0; i < scn_key_count; i++) {
    if (strcmp(scn_keys[i].section, section) == 0 && strcmp(scn_keys[i].name, name) == 0) return &scn_keys[i];
  }
  return NULL;
}

bool scn_section_takes_facts(const char *section) {
  for (size_t i = 0; i < scn_key_count; i++) {
    if (strcmp(scn_keys[i].section, section) == 0 && strcmp(scn_keys[i].name, "*") == 0) return true;
  }
  return false;
}

bool scn_is_near(const char *name, size_t distance) {
  const size_t third = strlen(name) / 3;
  return distance <= (third > 2 ? third : 2);
}

const char *scn_key_nearest(const char *section, const char *name) {
  const char *best = NULL;
  size_t best_distance = SIZE_MAX;
  for (size_t i = 0; i < scn_key_count; i++) {
    if (strcmp(scn_keys[i].section, section) != 0 || strcmp(scn_keys[i].name, "*") == 0) continue;
    const size_t distance = scn_distance(name, scn_keys[i].name);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = scn_keys[i].name;
  }
  return best && scn_is_near(name, best_distance) ? best : NULL;
}
