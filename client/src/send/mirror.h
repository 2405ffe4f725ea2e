/* mirror - the symbol dictionary as the loop has told it to servers.
 *
 * Extended by the delta of each data frame as it is appended, before the batch is
 * written; a failed write takes nothing back. The next connection opens with a catch-up
 * of the whole mirror, so the new server knows at least what the old one may have known
 * (P121-33). Entries are kept in wire form, | length varint | text |, one behind the
 * other, ready to be sent.
 *
 * Owned by the loop thread: the producer's dictionary is not to be read from here.
 */
#ifndef QWP_SEND_MIRROR_H
#define QWP_SEND_MIRROR_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "encode/message.h"
#include "qwp/ops.h"
#include "qwp/status.h"

/* Entries in wire form at most: the largest 32-bit array index less 8 bytes (P121-34). */
#define QWP_MIRROR_BYTES_MAX ((size_t)INT32_MAX - 8)

/* What an admitted section adds: so many entries, at this offset of the section, so many bytes. */
struct qwp_mirror_part {
  size_t count, at, bytes;
};

struct qwp_mirror {
  struct qwp_bytes entries;
  uint32_t *ends; /* ends[i] = offset behind entry i; behind `count` those of what is admitted */
  size_t count, ends_cap;
  struct qwp_mirror_part admitted; /* by the last admit, until it is extended */
  const struct qwp_ops *ops;
};

void qwp_mirror_init(struct qwp_mirror *m, const struct qwp_ops *ops);
void qwp_mirror_free(struct qwp_mirror *m);

/* May a frame with this dictionary section be sent after what the mirror holds? Takes the
 * memory that extending will need and notes where the new entries end, so that the extension
 * itself cannot fail and is one copy. What is known is compared, only what is new is walked.
 *   QWP_OK
 *   QWP_RESEND     it starts above the last id told (P121-19), or gives a known id another
 *                  text [WIRE-DICT-015]: never to be sent
 *   QWP_DICT_FULL  the ceiling
 *   QWP_NOMEM */
enum qwp_status qwp_mirror_admit(struct qwp_mirror *m, const struct qwp_delta_view *delta);

/* Adds what is new in the section that the last admit said OK to; without one: no effect. */
void qwp_mirror_extend(struct qwp_mirror *m, const struct qwp_delta_view *delta);

/* Offset of entry i in entries.data; i = count gives the end. */
size_t qwp_mirror_offset(const struct qwp_mirror *m, size_t i);

#endif
