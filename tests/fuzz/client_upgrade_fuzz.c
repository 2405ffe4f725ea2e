/* The client's reader of upgrade answers, from any bytes: read whole and one byte more at
 * a time, it must give the same answer at the same place, and take no more than there is. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ws/upgrade.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "does not hold: %s\n", what);
  abort();
}

static bool same(const struct qwp_upgrade_response *a, const struct qwp_upgrade_response *b) {
  return a->status == b->status && a->upgrade_websocket == b->upgrade_websocket &&
         a->connection_upgrade == b->connection_upgrade && a->unasked == b->unasked && a->version == b->version &&
         a->max_batch == b->max_batch && strcmp(a->accept, b->accept) == 0 && strcmp(a->role, b->role) == 0 &&
         strcmp(a->reason, b->reason) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct qwp_upgrade_response whole, part;
  const char *why;
  long used = qwp_upgrade_parse(data, size, 0, &whole, &why);
  require(used >= -1 && used <= (long)size && used <= (long)QWP_UPGRADE_HEAD_MAX, "used what there is");
  require(used != -1 || *why, "a refusal has a reason");

  long r = 0;
  for (size_t n = 0; n <= size && r == 0; n++) r = qwp_upgrade_parse(data, n, n ? n - 1 : 0, &part, &why);
  require(r == used, "the same answer in pieces");
  if (used <= 0) return 0;

  require(same(&whole, &part), "the same response in pieces");
  require(whole.status >= 100 && whole.status <= 999, "a status of three digits");
  require(whole.version >= -1 && whole.max_batch >= 0, "numbers in their range");
  const char *wrong = qwp_upgrade_check(&whole, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  require(wrong || (whole.status == 101 && whole.version == 1), "only a proper 101 is taken");
  return 0;
}
