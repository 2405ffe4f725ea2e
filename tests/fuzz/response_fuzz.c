/* One answer of a server, any bytes. What is accepted must add up: an independent walk
 * over the accepted parts must use every byte, and the text for people must be one line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qwp/wire.h"
#include "send/response.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "does not hold: %s\n", what);
  abort();
}

static void check_tables(const struct qwp_response *r, const uint8_t *data, size_t size, size_t at) {
  for (unsigned i = 0; i < r->table_count; i++) {
    require(at + 2 <= size, "an entry has a name length");
    size_t name_bytes = (size_t)data[at] | (size_t)data[at + 1] << 8;
    require(name_bytes > 0, "a table has a name");
    at += 2 + name_bytes + 8;
  }
  require(at == size, "the entries fill the answer");
}

static void check_error(const struct qwp_response *r, size_t size) {
  require(11 + r->text_bytes == size, "the text fills the answer");
  char text[384];
  qwp_response_text(r, text, sizeof text);
  for (const char *p = text; *p; p++) require((unsigned char)*p >= 0x20, "no control character is shown");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct qwp_response r;
  const char *why = NULL;
  if (qwp_response_parse(data, size, &r, &why) != QWP_OK) {
    require(why != NULL, "a refusal says why");
    return 0;
  }
  require(r.status == data[0], "the status is the first byte");
  if (r.kind == QWP_RESPONSE_OK) check_tables(&r, data, size, 11);
  if (r.kind == QWP_RESPONSE_DURABLE) check_tables(&r, data, size, 3);
  if (r.kind == QWP_RESPONSE_ERROR) check_error(&r, size);
  return 0;
}
