/* refusal - how a connect string is refused: one code, the key, one sentence. */
#ifndef QWP_CONFIG_REFUSAL_H
#define QWP_CONFIG_REFUSAL_H

#include "qwp/status.h"

/* Fills *err (may be NULL) with QWP_CONFIG, the key concerned and the sentence;
 * returns QWP_CONFIG. The sentence says rule and remedy, and no secret. */
enum qwp_status qwp_refuse(struct qwp_error *err, const char *key, const char *fmt, ...) QWP_PRINTF(3, 4);

#endif
