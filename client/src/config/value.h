/* value - one value of the connect string against the row of its key. */
#ifndef QWP_CONFIG_VALUE_H
#define QWP_CONFIG_VALUE_H

#include <stdint.h>

#include "config/key_table.h"
#include "qwp/status.h"

/* Checks form, words and range of an applied key's value, and whether this version
 * of the client can do what it asks. *number: the value of a number or word;
 * QWP_CONFIG_OFF for the word off of a number; untouched for text. `name` is the
 * key as it was written. QWP_CONFIG, with the rule in err->text. */
enum qwp_status qwp_value_read(const struct qwp_key *key, const char *name, const char *value, int64_t *number,
                               struct qwp_error *err);

#endif
