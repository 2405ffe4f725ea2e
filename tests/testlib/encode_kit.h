/* encode_kit.h - rows_kit.h, and the message its batch makes. */
#ifndef TESTLIB_ENCODE_KIT_H
#define TESTLIB_ENCODE_KIT_H

#include "rows_kit.h"

#include "encode/message.h"

/* The message of the batch in this encoding; *out is the caller's to free with qwp_bytes_free. Whatever
 * the encoding, its size is what was foretold. */
static inline void kit_encode(struct rows_kit *k, const struct qwp_encoding *e, struct qwp_bytes *out) {
  qwp_bytes_init(out, &k->ops, 1u << 25);
  KIT_OK(qwp_message_encode(k->batch, k->symbols, e, out, &k->err));
  assert_int_equal(out->len, qwp_message_size(k->batch, k->symbols, e));
}

static inline void kit_encode_default(struct rows_kit *k, struct qwp_bytes *out) {
  struct qwp_encoding e;
  qwp_encoding_default(&e, k->batch, k->symbols);
  kit_encode(k, &e, out);
}

#endif
