/* server_frame: whatever a client sends behind the 101, the mock server survives it, keeps its
 * counts in order, and answers the same however the bytes are cut into reads.
 *
 * Input: byte 0 picks a script and the size of the reads, the rest is what the client sends. */
#include "server_world.h"

static const struct mock_rule rules[] = {
  {.line = 1, .trigger = MOCK_AT_BYTE, .n = 40, .action = MOCK_DO_STALL, .duration_ns = 1000},
  {.line = 2, .trigger = MOCK_AT_FRAME, .n = 3, .action = MOCK_DO_NACK, .code = 9},
  {.line = 3, .trigger = MOCK_ON_PING, .n = MOCK_ANY, .action = MOCK_DO_OK, .value = 5},
  {.line = 4, .trigger = MOCK_AT_FRAME, .n = 6, .action = MOCK_DO_DRAIN, .rate = 10000},
  {.line = 5, .trigger = MOCK_AT_FRAME, .n = 9, .action = MOCK_DO_RESET},
};

static const struct mock_entry entries[] = {
  {.connection = MOCK_ANY},
  {.connection = MOCK_ANY, .ack = MOCK_ACK_BURST, .ack_value = 3, .process_after_error = true},
  {.connection = MOCK_ANY, .ack = MOCK_ACK_EACH, .rules = rules, .rule_count = 5},
  {.connection = MOCK_ANY, .ack = MOCK_ACK_PER_READ, .ack_delay_ns = 100, .ack_deferred = true},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  if (n < 1) return 0;
  struct mock_script script = {
    .entries = &entries[data[0] & 3], .entry_count = 1, .recv_buffer_bytes = 4096,
    .profile = data[0] & 4 ? MOCK_PROFILE_JUL2026 : MOCK_PROFILE_DOC, .strict_refuse = (data[0] & 8) != 0};
  struct world whole, cut;
  size_t piece = 1 + (data[0] >> 4);
  world_run(&whole, &script, WORLD_HEAD, sizeof WORLD_HEAD - 1, data + 1, n - 1, SIZE_MAX);
  world_run(&cut, &script, WORLD_HEAD, sizeof WORLD_HEAD - 1, data + 1, n - 1, piece);
  world_same(&whole.facts, &cut.facts);
  return 0;
}
