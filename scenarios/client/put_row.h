/* put_row - one row of a workload into a sender. */
#ifndef SCN_PUT_ROW_H
#define SCN_PUT_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qwp/sender.h"
#include "workload/workload.h"

/* Gives the sender row k. false: err tells. Either a column was refused, and the row is cancelled; or the row is the
 * sender's and only the flush that its end triggered failed. */
bool put_row(qwp_sender *s, const struct workload *w, int64_t k, char *scratch, size_t scratch_n,
             struct qwp_error *err);

#endif
