/* said - whether what a program said on standard output has reached it. */
#ifndef SCN_SAID_H
#define SCN_SAID_H

/* At the end of main: hands out what is buffered. Returns code; or, if any of it was lost (a full disk, a closed
 * descriptor), 3 in place of a success, and standard error says why: an answer that nobody got is none. */
int said(const char *program, int code);

#endif
