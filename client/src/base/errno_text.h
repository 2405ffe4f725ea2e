/* errno_text - what an errno means, in words and safe in any thread. */
#ifndef QWP_BASE_ERRNO_TEXT_H
#define QWP_BASE_ERRNO_TEXT_H

#include <stddef.h>

#define QWP_ERRNO_TEXT_BYTES 128 /* room for every text there is */

/* Writes the system's text for the (positive) errno into out[0..cap), cut to fit, and returns out. strerror()
 * may not be called by two threads at once: this may. cap > 0. */
const char *qwp_errno_text(int sys_errno, char *out, size_t cap);

#endif
