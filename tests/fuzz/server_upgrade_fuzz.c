/* server_upgrade: any request head is answered or given up, the same whole or byte by byte.
 *
 * Input: what the client sends from its first byte on. */
#include "server_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  struct world whole, cut;
  /* Only up to the end of the head: what lies behind it is lost with a whole read and not with single bytes. */
  for (size_t i = 2; i < n; i++) {
    bool empty_line = data[i - 1] == '\n' || (data[i - 1] == '\r' && data[i - 2] == '\n');
    if (data[i] == '\n' && empty_line) n = i + 1;
  }
  world_run(&whole, NULL, data, n, NULL, 0, SIZE_MAX);
  world_run(&cut, NULL, data, n, NULL, 0, 1);
  world_same(&whole.facts, &cut.facts);
  if (whole.out_n != cut.out_n || whole.out_sum != cut.out_sum) abort();
  return 0;
}
