/* proc - what the kernel tells of a process, from /proc. */
#ifndef SCN_PROC_H
#define SCN_PROC_H

#include <stdint.h>
#include <sys/types.h>

/* Each returns -1 where /proc is hidden or the process is gone: nothing was seen, which is not the same as 0. */
int64_t proc_rss_bytes(pid_t pid); /* memory in use: resident pages */
int64_t proc_fds(pid_t pid);       /* open descriptors; of the caller itself without the one that looks */
int64_t proc_threads(pid_t pid);

#endif
